// SPDX-License-Identifier: GPL-2.0-only
#include "host/change.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"
#include "host/cpulist.h"
#include "host/ethtool.h"
#include "host/facts.h"

static const char *const kinds[] = { "file", "ethtool", "feature", "service" };

const char *change_kind_name(enum change_kind kind)
{
	return kinds[kind];
}

int change_kind_find(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i], name))
			return (int)i;
	return -1;
}

void changer_close(struct changer *changer)
{
	ethtool_close(changer->ethtool);
	changer->ethtool = NULL;
}

static int need_ethtool(struct changer *changer, struct error *err)
{
	if (!changer->ethtool)
		changer->ethtool = ethtool_open(err);
	return changer->ethtool ? 0 : -1;
}

/* "always [madvise] never": the chosen word stands in brackets. */
static void keep_choice(char *text)
{
	char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;

	if (!close)
		return;
	*close = '\0';
	memmove(text, open + 1, strlen(open + 1) + 1);
}

struct name_search {
	const char *name;
	bool found;
};

static bool search_name(const struct thread_fact *thread, void *context)
{
	struct name_search *search = context;

	search->found = !strcmp(thread->name, search->name);
	return !search->found;
}

static bool is_running(const char *root, const char *name)
{
	struct name_search search = { name, false };

	fact_threads(root, false, search_name, &search);
	return search.found;
}

int change_read(struct changer *changer, const struct change *change, char value[CHANGE_TEXT],
		struct error *err)
{
	uint32_t number;
	bool on, fixed;
	int result;

	value[0] = '\0';
	switch (change->kind) {
	case CHANGE_FILE:
		result = fact_text(changer->root, value, CHANGE_TEXT, "%s", change->target);
		if (result == -ENOENT)
			return CHANGE_ABSENT;
		if (result < 0)
			return error_errno(err, -result, "cannot read %s", change->target);
		keep_choice(value);
		return 0;
	case CHANGE_ETHTOOL:
		result = ethtool_setting_find(change->key);
		if (result < 0)
			return error_system(err, "%s: no setting is called %s", change->target,
					    change->key);
		if (need_ethtool(changer, err) < 0)
			return -1;
		result = ethtool_get(changer->ethtool, change->target, (enum ethtool_setting)result,
				     &number, NULL, err);
		if (!result)
			snprintf(value, CHANGE_TEXT, "%u", number);
		return result;
	case CHANGE_FEATURE:
		if (need_ethtool(changer, err) < 0)
			return -1;
		result = ethtool_feature(changer->ethtool, change->target, change->key, &on, &fixed,
					 err);
		if (!result)
			snprintf(value, CHANGE_TEXT, "%s", on ? "on" : "off");
		return result;
	case CHANGE_SERVICE:
		snprintf(value, CHANGE_TEXT, "%s",
			 is_running(changer->root, change->target) ? "running" : "stopped");
		return 0;
	}
	return CHANGE_ABSENT;
}

static int write_file(const char *root, const char *path, const char *value, struct error *err)
{
	char name[FACT_PATH_MAX];
	size_t length = strlen(value);
	ssize_t wrote;
	int fd, reason;

	if (snprintf(name, sizeof(name), "%s%s", root, path) >= (int)sizeof(name))
		return error_system(err, "path too long: %.200s", path);
	fd = open(name, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return error_errno(err, errno, "cannot write %s", path);
	wrote = write(fd, value, length);
	reason = errno;
	if (close(fd) < 0 && wrote == (ssize_t)length) {
		wrote = -1;
		reason = errno;
	}
	if (wrote == (ssize_t)length)
		return 0;
	return error_errno(err, wrote < 0 ? reason : EIO, "the kernel refuses '%s' in %s", value,
			   path);
}

static int switch_service(const char *root, const char *name, bool run, struct error *err)
{
	char *const arguments[] = { "systemctl", run ? "start" : "stop", (char *)(uintptr_t)name,
				    NULL };
	char *const environment[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL };
	const struct timespec pause = { .tv_nsec = 50 * NSEC_PER_MSEC };
	int status, result;
	pid_t pid;

	if (*root)
		return CHANGE_ABSENT;
	result = posix_spawnp(&pid, "systemctl", NULL, NULL, arguments, environment);
	if (result)
		return error_errno(err, result, "systemctl %s %s", arguments[1], name);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_errno(err, errno, "systemctl %s %s", arguments[1], name);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return error_system(err, "systemctl %s %s failed with status %d", arguments[1],
				    name, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	for (int i = 0; i < 40 && is_running(root, name) != run; i++)
		nanosleep(&pause, NULL);
	return 0;
}

int change_write(struct changer *changer, const struct change *change, const char *value,
		 struct error *err)
{
	char now[CHANGE_TEXT];
	uint64_t number;
	int result = CHANGE_ABSENT;

	switch (change->kind) {
	case CHANGE_FILE:
		if (!fact_exists(changer->root, "%s", change->target))
			return CHANGE_ABSENT;
		result = write_file(changer->root, change->target, value, err);
		break;
	case CHANGE_ETHTOOL:
		result = ethtool_setting_find(change->key);
		if (result < 0 || parse_number(change->key, value, 0, UINT32_MAX, &number, err) < 0)
			return error_system(err, "%s: cannot set %s to '%s'", change->target,
					    change->key, value);
		if (need_ethtool(changer, err) < 0)
			return -1;
		return ethtool_set(changer->ethtool, change->target, (enum ethtool_setting)result,
				   (uint32_t)number, err);
	case CHANGE_FEATURE:
		if (need_ethtool(changer, err) < 0)
			return -1;
		return ethtool_feature_set(changer->ethtool, change->target, change->key,
					   !strcmp(value, "on"), err);
	case CHANGE_SERVICE:
		result = switch_service(changer->root, change->target, !strcmp(value, "running"),
					err);
		break;
	}
	if (result)
		return result;
	result = change_read(changer, change, now, err);
	if (result)
		return result;
	if (!change_same(change, now, value))
		return error_system(err, "%s%s%s: wrote '%s', but it reads '%.64s'", change->target,
				    change->key[0] ? " " : "", change->key, value, now);
	return 0;
}

static bool ends_in(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);

	return length >= tail && !strcmp(text + length - tail, end);
}

bool change_same(const struct change *change, const char *a, const char *b)
{
	struct cpulist first, second;

	if (!strcmp(a, b))
		return true;
	if (change->kind != CHANGE_FILE)
		return false;
	if (ends_in(change->target, "_list"))
		return !cpulist_parse(a, &first) && !cpulist_parse(b, &second) &&
		       cpulist_equal(&first, &second);
	if (ends_in(change->target, "affinity") || ends_in(change->target, "/cpumask"))
		return !cpulist_parse_mask(a, &first) && !cpulist_parse_mask(b, &second) &&
		       cpulist_equal(&first, &second);
	if (ends_in(change->target, "_cpumask")) /* a sysctl: written and read as a list */
		return !cpulist_parse(a, &first) && !cpulist_parse(b, &second) &&
		       cpulist_equal(&first, &second);
	return false;
}

char *change_command(const struct change *change, char *buffer, size_t size)
{
	uint64_t number;
	struct error ignored = ERROR_INIT;
	int setting;

	buffer[0] = '\0';
	switch (change->kind) {
	case CHANGE_FILE:
		snprintf(buffer, size, "echo %s > %s", change->value, change->target);
		break;
	case CHANGE_ETHTOOL:
		setting = ethtool_setting_find(change->key);
		if (setting >= 0 &&
		    !parse_number(change->key, change->value, 0, UINT32_MAX, &number, &ignored))
			ethtool_setting_command(change->target, (enum ethtool_setting)setting,
						(uint32_t)number, buffer, size);
		break;
	case CHANGE_FEATURE:
		snprintf(buffer, size, "ethtool -K %s %s %s", change->target, change->key,
			 change->value);
		break;
	case CHANGE_SERVICE:
		snprintf(buffer, size, "systemctl %s %s",
			 !strcmp(change->value, "running") ? "start" : "stop", change->target);
		break;
	}
	return buffer;
}

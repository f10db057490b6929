// SPDX-License-Identifier: GPL-2.0-only
#include "host/facts.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define CONFIG_MAX (4 * 1024 * 1024)
#define THREADS_MAX 1000000
/* No kernel has such a setting, and what is multiplied into nanoseconds stays in 64 bits. */
#define NUMBER_MAX (INT64_MAX / 1000000)

static int read_whole(const char *path, char *buffer, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	size_t used = 0;

	buffer[0] = '\0';
	if (fd < 0)
		return -errno;
	while (used < size - 1) {
		ssize_t got = read(fd, buffer + used, size - 1 - used);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			int result = -errno;

			close(fd);
			buffer[0] = '\0';
			return result;
		}
		if (!got)
			break;
		used += (size_t)got;
	}
	close(fd);
	buffer[used] = '\0';
	return (int)used;
}

static int text_of(const char *path, char *buffer, size_t size)
{
	int length = read_whole(path, buffer, size);

	if (length < 0)
		return length;
	while (length && isspace((unsigned char)buffer[length - 1]))
		length--;
	buffer[length] = '\0';
	for (int i = 0; i < length; i++) {
		unsigned char c = (unsigned char)buffer[i];

		if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7f)
			buffer[i] = '?';
	}
	return length;
}

/* "ROOT" "PATH": false where it is too long. */
static bool path_of(const char *root, const char *format, va_list args, char path[FACT_PATH_MAX])
{
	int prefix = snprintf(path, FACT_PATH_MAX, "%s", root);
	int length;

	if (prefix < 0 || prefix >= FACT_PATH_MAX)
		return false;
	length = vsnprintf(path + prefix, (size_t)(FACT_PATH_MAX - prefix), format, args);
	return length >= 0 && length < FACT_PATH_MAX - prefix;
}

#define PATH(root, format)                                         \
	({                                                         \
		va_list args_;                                     \
		bool fits_;                                        \
		va_start(args_, format);                           \
		fits_ = path_of(root, format, args_, path_buffer); \
		va_end(args_);                                     \
		fits_;                                             \
	})

int fact_text(const char *root, char *buffer, size_t size, const char *path, ...)
{
	char path_buffer[FACT_PATH_MAX];

	buffer[0] = '\0';
	if (!PATH(root, path))
		return -ENAMETOOLONG;
	return text_of(path_buffer, buffer, size);
}

int fact_number(const char *root, int64_t *value, const char *path, ...)
{
	char path_buffer[FACT_PATH_MAX], text[64], *end;
	long long number;
	int length;

	if (!PATH(root, path))
		return -ENAMETOOLONG;
	length = text_of(path_buffer, text, sizeof(text));
	if (length < 0)
		return length;
	errno = 0;
	number = strtoll(text, &end, 10);
	if (errno || end == text || *end || number > NUMBER_MAX || number < -NUMBER_MAX)
		return -EINVAL;
	*value = number;
	return 0;
}

int fact_cpulist(const char *root, struct cpulist *list, const char *path, ...)
{
	char path_buffer[FACT_PATH_MAX], text[4096];
	int length;

	memset(list, 0, sizeof(*list));
	if (!PATH(root, path))
		return -ENAMETOOLONG;
	length = text_of(path_buffer, text, sizeof(text));
	if (length < 0)
		return length;
	return cpulist_parse(text, list) ? -EINVAL : 0;
}

bool fact_exists(const char *root, const char *path, ...)
{
	char path_buffer[FACT_PATH_MAX];

	return PATH(root, path) && !access(path_buffer, F_OK);
}

char *fact_file(const char *root, const char *path, size_t max)
{
	char name[FACT_PATH_MAX];
	size_t size = 65536;
	char *text = NULL;

	if (snprintf(name, sizeof(name), "%s%s", root, path) >= (int)sizeof(name))
		return NULL;
	/* files of /proc have no size: read again with more room until it fits */
	for (;;) {
		char *grown = realloc(text, size);
		int length;

		if (!grown) {
			free(text);
			return NULL;
		}
		text = grown;
		length = read_whole(name, text, size);
		if (length < 0) {
			free(text);
			return NULL;
		}
		if ((size_t)length < size - 1 || size >= max)
			return text;
		size *= 2;
	}
}

bool cmdline_find(const char *cmdline, const char *name, char *value, size_t size)
{
	size_t length = strlen(name);
	bool found = false, quoted = false;

	if (value)
		value[0] = '\0';
	while (*cmdline) {
		const char *word, *end;

		while (isspace((unsigned char)*cmdline))
			cmdline++;
		word = cmdline;
		for (end = word; *end && (quoted || !isspace((unsigned char)*end)); end++)
			if (*end == '"')
				quoted = !quoted;
		cmdline = end;
		quoted = false;
		/* what follows "--" belongs to init */
		if (end - word == 2 && !strncmp(word, "--", 2))
			break;
		if ((size_t)(end - word) < length || strncmp(word, name, length))
			continue;
		if (word + length == end) {
			found = true;
			if (value)
				value[0] = '\0';
		} else if (word[length] == '=') {
			found = true;
			if (value)
				snprintf(value, size, "%.*s", (int)(end - word - (long)length - 1),
					 word + length + 1);
		}
	}
	return found;
}

static char *config_at(const char *path)
{
	/* not to wait for the writer of a pipe */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), length;
	gzFile file;
	char *text;

	if (fd < 0)
		return NULL;
	/* this also reads what is not compressed */
	file = gzdopen(fd, "r");
	if (!file) {
		close(fd);
		return NULL;
	}
	text = malloc(CONFIG_MAX + 1);
	if (!text) {
		gzclose(file);
		return NULL;
	}
	length = gzread(file, text, CONFIG_MAX);
	gzclose(file);
	if (length <= 0) {
		free(text);
		return NULL;
	}
	text[length] = '\0';
	return text;
}

char *kernel_config_load(const char *root)
{
	char path[FACT_PATH_MAX], release[128];
	char *text;

	if (snprintf(path, sizeof(path), "%s/proc/config.gz", root) >= (int)sizeof(path))
		return NULL;
	text = config_at(path);
	if (text)
		return text;
	if (fact_text(root, release, sizeof(release), "/proc/sys/kernel/osrelease") <= 0 ||
	    strchr(release, '/'))
		return NULL;
	if (snprintf(path, sizeof(path), "%s/boot/config-%s", root, release) < (int)sizeof(path))
		text = config_at(path);
	if (!text && snprintf(path, sizeof(path), "%s/lib/modules/%s/config", root, release) <
			     (int)sizeof(path))
		text = config_at(path);
	return text;
}

char kernel_config(const char *config, const char *option)
{
	size_t length = strlen(option);

	if (!config)
		return '?';
	for (const char *at = config; (at = strstr(at, option)); at += length) {
		if (at != config && at[-1] != '\n')
			continue;
		if (at[length] == '=')
			return at[length + 1] == 'm' ? 'm' : 'y';
	}
	return 'n';
}

bool kernel_version(const char *root, int *major, int *minor)
{
	char release[128];

	if (fact_text(root, release, sizeof(release), "/proc/sys/kernel/osrelease") <= 0)
		return false;
	return sscanf(release, "%9d.%9d", major, minor) == 2;
}

bool parse_thread_stat(const char *text, struct thread_fact *thread)
{
	/* pid (name) state ppid ...: the name may hold anything, so its end is the last ')' */
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	const char *at;
	size_t length;

	memset(thread, 0, sizeof(*thread));
	if (!open || !close || close < open || sscanf(text, "%9d", &thread->tid) != 1)
		return false;
	length = (size_t)(close - open - 1);
	if (length >= sizeof(thread->name))
		length = sizeof(thread->name) - 1;
	memcpy(thread->name, open + 1, length);
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)thread->name[i] < ' ' || thread->name[i] == 0x7f)
			thread->name[i] = '?';
	/* proc(5): the state is field 3, flags 9, rt_priority 40, policy 41 */
	at = close + 1;
	for (int field = 3; field <= 41; field++) {
		unsigned long long value;
		char *end;

		at += strspn(at, " ");
		if (!*at)
			return false;
		value = strtoull(at, &end, 10);
		if (field == 9)
			thread->kernel = value & 0x00200000; /* PF_KTHREAD */
		if (field == 40 && value <= 99)
			thread->rt_priority = (int)value;
		if (field == 41 && value <= 7)
			thread->policy = (int)value;
		at += strcspn(at, " ");
	}
	return true;
}

static bool one_thread(const char *root, const char *pid, const char *tid,
		       bool (*each)(const struct thread_fact *, void *), void *context, int *count)
{
	struct thread_fact thread;
	char text[1024];
	int length;

	length = tid ? fact_text(root, text, sizeof(text), "/proc/%.16s/task/%.16s/stat", pid, tid)
		     : fact_text(root, text, sizeof(text), "/proc/%.16s/stat", pid);
	/* it may have ended meanwhile */
	if (length <= 0 || !parse_thread_stat(text, &thread))
		return true;
	thread.pid = atoi(pid);
	(*count)++;
	return each(&thread, context);
}

int fact_threads(const char *root, bool threads, bool (*each)(const struct thread_fact *, void *),
		 void *context)
{
	char path[FACT_PATH_MAX];
	struct dirent *entry, *task;
	bool go_on = true;
	int count = 0;
	DIR *proc;

	if (snprintf(path, sizeof(path), "%s/proc", root) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	proc = opendir(path);
	if (!proc)
		return -errno;
	while (go_on && count < THREADS_MAX && (entry = readdir(proc))) {
		DIR *tasks;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		if (!threads) {
			go_on = one_thread(root, entry->d_name, NULL, each, context, &count);
			continue;
		}
		if (snprintf(path, sizeof(path), "%s/proc/%.16s/task", root, entry->d_name) >=
		    (int)sizeof(path))
			continue;
		tasks = opendir(path);
		if (!tasks)
			continue;
		while (go_on && count < THREADS_MAX && (task = readdir(tasks)))
			if (isdigit((unsigned char)task->d_name[0]))
				go_on = one_thread(root, entry->d_name, task->d_name, each, context,
						   &count);
		closedir(tasks);
	}
	closedir(proc);
	return count;
}

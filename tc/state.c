// SPDX-License-Identifier: GPL-2.0-only
#include "tc/state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define VERSION 1
#define SIZE_MAX_BYTES (8 << 20)
#define PREFIX "schedule-"
#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

static const char *const step_names[] = {
	[STATE_APPLYING] = "applying",
	[STATE_APPLIED] = "applied",
	[STATE_UNCONFIRMED] = "unconfirmed",
	[STATE_BROKEN] = "broken",
};

/* Of the network namespace. Its inode will not do alone: a later namespace gets the number of one that is gone. */
static unsigned long long namespace_number(void)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint64_t cookie = 0;
	socklen_t size = sizeof(cookie);
	struct stat st;

	if (fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &size))
		cookie = 0; /* Linux before 5.14 */
	if (fd >= 0)
		close(fd);
	if (cookie)
		return cookie;
	return stat("/proc/self/ns/net", &st) ? 0 : (unsigned long long)st.st_ino;
}

static void path_of(const char *interface, const char *suffix, char path[128])
{
	snprintf(path, 128, STATE_DIRECTORY "/" PREFIX "%llu-%s%s", namespace_number(), interface,
		 suffix);
}

/* A record holds names of files as they were typed, which JSON, or a terminal, may not take. */
static json_t *text_json(const char *text)
{
	json_t *json = json_string(text);
	char copy[256];
	size_t i;

	if (json)
		return json;
	for (i = 0; i < sizeof(copy) - 1 && text[i]; i++)
		copy[i] = (char)((unsigned char)text[i] < 0x80 ? text[i] : '?');
	copy[i] = '\0';
	return json_string(copy);
}

void state_free(struct state *state)
{
	snapshot_free(&state->before);
	snapshot_free(&state->original);
	json_decref(state->deployment);
	json_decref(state->preemption);
	json_decref(state->previous);
	state->deployment = state->preemption = state->previous = NULL;
}

static json_t *process_json(struct process process)
{
	return json_pack("{s:i, s:I}", "pid", (int)process.pid, "start", (json_int_t)process.start);
}

static json_t *or_null(json_t *json)
{
	return json ? json_incref(json) : json_null();
}

json_t *state_to_json(const struct state *state)
{
	return json_pack(
		"{s:i, s:s, s:i, s:s, s:s, s:o, s:o, s:I, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:o}",
		"version", VERSION, "interface", state->interface, "ifindex", state->ifindex,
		"step", step_names[state->step], "detail", state->detail, "process",
		process_json(state->process), "guard", process_json(state->guard), "deadline_ns",
		(json_int_t)state->deadline_ns, "file", text_json(state->file), "base_ns",
		(json_int_t)state->base_ns, "carrier_changes", (json_int_t)state->carrier_changes,
		"deployment", or_null(state->deployment), "preemption", or_null(state->preemption),
		"before", snapshot_to_json(&state->before), "original",
		snapshot_to_json(&state->original), "previous", or_null(state->previous));
}

static int read_process(const json_t *json, struct process *process)
{
	json_int_t pid, start;

	if (json_unpack((json_t *)json, "{s:I, s:I}", "pid", &pid, "start", &start) || pid < 0 ||
	    pid > INT32_MAX)
		return -1;
	*process = (struct process){ (pid_t)pid, (uint64_t)start };
	return 0;
}

static json_t *own(const json_t *json, const char *key)
{
	json_t *value = json_object_get(json, key);

	return json_is_object(value) ? json_incref(value) : NULL;
}

int state_parse(const json_t *json, struct state *state)
{
	json_int_t deadline = 0, base = 0, changes = -1;
	const char *interface, *step, *detail, *file;
	int version;

	memset(state, 0, sizeof(*state));
	if (json_unpack((json_t *)json, "{s:i, s:s, s:i, s:s, s:s, s:I, s:s, s:I, s?I}", "version",
			&version, "interface", &interface, "ifindex", &state->ifindex, "step",
			&step, "detail", &detail, "deadline_ns", &deadline, "file", &file,
			"base_ns", &base, "carrier_changes", &changes) ||
	    version != VERSION || read_process(json_object_get(json, "process"), &state->process) ||
	    read_process(json_object_get(json, "guard"), &state->guard))
		return -1;
	state->step = STATE_BROKEN;
	for (size_t i = 0; i < sizeof(step_names) / sizeof(step_names[0]); i++)
		if (!strcmp(step, step_names[i]))
			state->step = (enum state_step)i;
	snprintf(state->interface, sizeof(state->interface), "%s", interface);
	snprintf(state->detail, sizeof(state->detail), "%s", detail);
	snprintf(state->file, sizeof(state->file), "%s", file);
	printable(state->detail);
	printable(state->file);
	state->deadline_ns = deadline;
	state->base_ns = base;
	state->carrier_changes = changes;
	if (snapshot_from_json(json_object_get(json, "before"), &state->before))
		return -1;
	if (snapshot_from_json(json_object_get(json, "original"), &state->original)) {
		snapshot_free(&state->before);
		return -1;
	}
	state->deployment = own(json, "deployment");
	state->preemption = own(json, "preemption");
	state->previous = own(json, "previous");
	return 0;
}

bool state_is_held(const struct state *state)
{
	return state->step == STATE_UNCONFIRMED && !state->deadline_ns &&
	       process_lives(state->guard);
}

bool state_link_changed(const struct state *state, uint32_t changes)
{
	return state->step != STATE_APPLYING && state->carrier_changes >= 0 &&
	       state->carrier_changes != changes;
}

static int make_directory(struct error *err)
{
	if (mkdir(STATE_DIRECTORY, 0755) && errno != EEXIST)
		return error_file(err, errno, STATE_DIRECTORY, STATE_DIRECTORY ": cannot be made");
	return 0;
}

static int write_json(const char *interface, const json_t *json, struct error *err)
{
	char path[128], temporary[128];
	FILE *out;
	int fd;

	if (make_directory(err))
		return -1;
	path_of(interface, ".json", path);
	path_of(interface, ".tmp", temporary);
	unlink(temporary);
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return error_file(err, errno, temporary, "%s: cannot be written", temporary);
	/* with a buffer: json_dumpfd() writes each token by itself, some 600 calls a record */
	out = fdopen(fd, "w");
	if (!out || json_dumpf(json, out, JSON_COMPACT) || fflush(out) || fsync(fd)) {
		error_file(err, errno, temporary, "%s: cannot be written", temporary);
		if (out)
			fclose(out);
		else
			close(fd);
		unlink(temporary);
		return -1;
	}
	fclose(out);
	if (rename(temporary, path)) {
		error_errno(err, errno, "%s: cannot be written", path);
		unlink(temporary);
		return -1;
	}
	return 0;
}

int state_write(const struct state *state, struct error *err)
{
	json_t *json = state_to_json(state);
	int result;

	if (!json)
		return error_system(err, "%s: no memory for the record", state->interface);
	result = write_json(state->interface, json, err);
	json_decref(json);
	return result;
}

int state_read_former(const char *interface, struct state *state, struct error *err)
{
	json_error_t reason;
	char path[128];
	struct stat st;
	json_t *json;
	int result;

	memset(state, 0, sizeof(*state));
	path_of(interface, ".json", path);
	if (stat(path, &st))
		return errno == ENOENT ? 1 : error_errno(err, errno, "%s: cannot be read", path);
	if (!S_ISREG(st.st_mode) || st.st_size > SIZE_MAX_BYTES)
		return error_system(err, "%s: %s; remove it", path,
				    S_ISREG(st.st_mode) ? "too large for a record" : "not a file");
	if (access(path, R_OK))
		return error_errno(err, errno, "%s: cannot be read; only root may", path);
	json = json_load_file(path, JSON_REJECT_DUPLICATES, &reason);
	if (!json)
		return error_system(err,
				    "%s: damaged (%s); remove it, then `tsnpub schedule clear %s` "
				    "brings the kernel's default back",
				    path, reason.text, interface);
	result = state_parse(json, state);
	json_decref(json);
	if (result)
		return error_system(err,
				    "%s: not a record of this version; remove it, then `tsnpub "
				    "schedule clear %s` brings the kernel's default back",
				    path, interface);
	return 0;
}

int state_read(const char *interface, struct state *state, struct error *err)
{
	int result = state_read_former(interface, state, err);

	if (result || state->ifindex == (int)if_nametoindex(interface))
		return result;
	state_free(state);
	return 1;
}

int state_remove(const char *interface, struct error *err)
{
	char path[128];

	path_of(interface, ".json", path);
	if (unlink(path) && errno != ENOENT)
		return error_errno(err, errno, "%s: cannot be removed", path);
	return 0;
}

int state_revert(const struct state *state, struct error *err)
{
	if (state->previous)
		return write_json(state->interface, state->previous, err);
	return state_remove(state->interface, err);
}

unsigned state_list(char names[][16], unsigned room)
{
	DIR *directory = opendir(STATE_DIRECTORY);
	char prefix[64];
	struct dirent *entry;
	unsigned count = 0;
	int length;

	if (!directory)
		return 0;
	length = snprintf(prefix, sizeof(prefix), PREFIX "%llu-", namespace_number());
	while (count < room && (entry = readdir(directory))) {
		const char *name = entry->d_name + length;
		size_t size;

		if (strncmp(entry->d_name, prefix, (size_t)length) != 0)
			continue;
		size = strlen(name);
		if (size <= 5 || size - 5 >= 16 || strcmp(name + size - 5, ".json") != 0)
			continue;
		memcpy(names[count], name, size - 5);
		names[count][size - 5] = '\0';
		count += if_nametoindex(names[count]) != 0;
	}
	closedir(directory);
	return count;
}

int state_lock(const char *interface, struct error *err)
{
	char path[128], text[32] = "";
	ssize_t n;
	int fd;

	if (make_directory(err))
		return -1;
	path_of(interface, ".lock", path);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return error_errno(err, errno, "%s: cannot be opened", path);
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		n = read(fd, text, sizeof(text) - 1);
		text[n > 0 ? n : 0] = '\0';
		text[strcspn(text, "\n")] = '\0';
		close(fd);
		return error_system(err,
				    "%s: another tsnpub schedule is at work on it (process %s); "
				    "wait until it is done",
				    interface, text[0] ? text : "unknown");
	}
	if (ftruncate(fd, 0) || dprintf(fd, "%d\n", getpid()) < 0) {
		error_errno(err, errno, "%s: cannot be written", path);
		close(fd);
		return -1;
	}
	return fd;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "host/process.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STAT_MAX 1024

/* The fields of /proc/PID/stat from the third one on; NULL when there is no such process. */
static const char *read_stat(pid_t pid, char text[STAT_MAX])
{
	char path[40];
	FILE *file;
	char *end;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return NULL;
	/* the name may hold anything, also spaces and parentheses: what counts follows the last one */
	end = fgets(text, STAT_MAX, file) ? strrchr(text, ')') : NULL;
	fclose(file);
	return end ? end + 1 : NULL;
}

/* Field 22; 0 when there is no such process, or it has ended. */
static uint64_t start_of(pid_t pid)
{
	unsigned long long start = 0;
	char text[STAT_MAX], state;
	const char *fields = read_stat(pid, text);

	if (!fields || sscanf(fields,
			      " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
			      "%*d %*d %*d %llu",
			      &state, &start) != 2)
		return 0;
	/* ended, and its parent does not ask: in a container the first process often does not */
	return state == 'Z' || state == 'X' ? 0 : start;
}

struct process process_of(pid_t pid)
{
	return (struct process){ pid, start_of(pid) };
}

struct process process_self(void)
{
	return process_of(getpid());
}

bool process_lives(struct process process)
{
	return process.pid > 0 && process.start && start_of(process.pid) == process.start;
}

pid_t process_parent(pid_t pid)
{
	char text[STAT_MAX];
	const char *fields = read_stat(pid, text);
	int parent = 0;

	return fields && sscanf(fields, " %*c %d", &parent) == 1 ? parent : 0;
}

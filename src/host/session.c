// SPDX-License-Identifier: GPL-2.0-only
#include "host/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/process.h"

#define PARENTS_MAX 64
#define ENVIRONMENT_MAX (256 << 10)

/* The first word of "CLIENT PORT SERVER PORT". */
static bool take_client(const char *value, size_t size, char client[SESSION_CLIENT])
{
	size_t length = 0;

	while (length < size && value[length] != ' ' && value[length])
		length++;
	if (!length || length >= SESSION_CLIENT)
		return false;
	memcpy(client, value, length);
	client[length] = '\0';
	return true;
}

bool session_client_of(const char *environment, size_t size, char client[SESSION_CLIENT])
{
	static const char *const names[] = { "SSH_CONNECTION=", "SSH_CLIENT=" };
	const char *end = environment + size;

	for (const char *at = environment; at < end;) {
		size_t length = strnlen(at, (size_t)(end - at));

		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			size_t name = strlen(names[i]);

			if (length > name && !strncmp(at, names[i], name) &&
			    take_client(at + name, length - name, client))
				return true;
		}
		at += length + 1;
	}
	return false;
}

static bool client_of_process(pid_t pid, char client[SESSION_CLIENT])
{
	char path[40], *text = malloc(ENVIRONMENT_MAX);
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	file = text ? fopen(path, "re") : NULL;
	if (file) {
		found = session_client_of(text, fread(text, 1, ENVIRONMENT_MAX, file), client);
		fclose(file);
	}
	free(text);
	return found;
}

bool session_ssh_client(char client[SESSION_CLIENT])
{
	const char *own = getenv("SSH_CONNECTION");
	pid_t pid = getppid();

	if (!own)
		own = getenv("SSH_CLIENT");
	if (own)
		return take_client(own, strlen(own), client);
	for (int i = 0; i < PARENTS_MAX && pid > 1; i++, pid = process_parent(pid))
		if (client_of_process(pid, client))
			return true;
	return false;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* From where this session came, when it came over ssh. */
#ifndef HOST_SESSION_H
#define HOST_SESSION_H

#include <stdbool.h>
#include <stddef.h>

#define SESSION_CLIENT 64

/*
 * The address of the ssh client: from this process's environment, else from those of its parents, since sudo does not pass it
 * on (to read these takes the privileges that a schedule takes). An IPv6 address may end in %INTERFACE. False: none is known.
 */
bool session_ssh_client(char client[SESSION_CLIENT]);

/*
 * Pure: the same from an environment as /proc/PID/environ has it, `size` bytes, entries that end in NUL; the last one may be
 * cut off.
 */
bool session_client_of(const char *environment, size_t size, char client[SESSION_CLIENT]);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A load that runs beside a measurement: a command of the user's, or a modest one of our own. It lives in
 * processes of its own that die with this one, however it ends.
 */
#ifndef HOST_LOAD_H
#define HOST_LOAD_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

#define LOAD_BUILTIN "builtin"

struct load {
	pid_t pid; /* 0: none */
	bool contained; /* in a PID namespace; else `pid` is a process that ends all of it */
};

/*
 * Starts `command` through the shell, with its output thrown away, or the built-in load: one process each
 * for CPU, memory, I/O, timers and context switches. Call it before memory is locked and threads are started.
 * 0 or -1.
 */
int load_start(struct load *load, const char *command, struct error *err);

/* Has it ended by itself? Then *status is its exit status (128 + signal), and load_stop() has no more to do. */
bool load_ended(struct load *load, int *status);

/* Ends all of it. Harmless where none runs. */
void load_stop(struct load *load);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* Processes, as /proc tells of them. */
#ifndef HOST_PROCESS_H
#define HOST_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A process, told apart from a later one with the same number. */
struct process {
	pid_t pid; /* 0: none */
	uint64_t start; /* clock ticks after boot */
};

struct process process_self(void);
struct process process_of(pid_t pid);
bool process_lives(struct process process);

/* 0 where there is none. */
pid_t process_parent(pid_t pid);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The real-time set-up of a process and of its cyclic thread: memory locked and touched, one CPU, a
 * real-time policy, all signals blocked, no sleep states. Each setting is read back; what could not be
 * had is a shortfall, one line with its fix, and the caller decides whether that is a warning or an end.
 *
 *	struct realtime rt;
 *
 *	realtime_init(&rt, &request);
 *	realtime_process(&rt);                       in the main thread, before other threads exist
 *	realtime_thread_create(&thread, loop, arg, 0);
 *	        realtime_thread(&rt);                first thing in the cyclic thread
 *	realtime_release(&rt);                       at the end, after the threads have been joined
 */
#ifndef HOST_REALTIME_H
#define HOST_REALTIME_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum realtime_policy {
	REALTIME_OTHER, /* SCHED_OTHER: no real-time policy */
	REALTIME_FIFO,
	REALTIME_RR,
	REALTIME_DEADLINE, /* SCHED_DEADLINE: cannot be pinned (sched_setattr(2)) */
};

#define REALTIME_CPU_ANY (-1) /* choose one: realtime_choose_cpu() */
#define REALTIME_CPU_NONE (-2) /* do not pin */

struct realtime_request {
	enum realtime_policy policy;
	int priority; /* FIFO, RR: 1 to 99 */
	int cpu; /* number, REALTIME_CPU_ANY or REALTIME_CPU_NONE */
	int64_t cycle_ns; /* DEADLINE: period and deadline follow from it */
};

#define REALTIME_SHORTFALLS_MAX 8
#define REALTIME_TEXT 400

struct realtime {
	struct realtime_request request;
	/* in force, as read back from the kernel */
	enum realtime_policy policy;
	int priority;
	int cpu; /* the one CPU, or REALTIME_CPU_NONE */
	bool memory_locked;
	bool latency_held; /* /dev/cpu_dma_latency holds 0 us */
	int64_t runtime_ns, period_ns; /* DEADLINE only */
	/* what was asked for and is not in force: one line each, with its fix */
	unsigned shortfalls;
	char shortfall[REALTIME_SHORTFALLS_MAX][REALTIME_TEXT];
	int latency_fd;
};

void realtime_init(struct realtime *rt, const struct realtime_request *request);

/* Locks memory (present and future) and holds the CPUs out of their sleep states until release. */
void realtime_process(struct realtime *rt);

/*
 * Makes the calling thread the cyclic one: blocks all signals, touches its stack, sets timer slack, CPU
 * and policy, and reads CPU and policy back. Fills in `rt`, which no other thread may read meanwhile.
 */
void realtime_thread(struct realtime *rt);

/*
 * glibc registers each thread for restartable sequences, which it uses for sched_getcpu() alone; the kernel then writes the
 * CPU's number into the thread's memory after each sleep. Of the calling thread no more: its wake-ups are cheaper, and
 * earlier by some 100 ns, than those of other programs. So it is not for a thread that measures what theirs would be.
 */
void realtime_leave_restartable_sequences(void);

/*
 * Undoes realtime_process(). Harmless after realtime_init() alone, and twice. `rt` still tells what was in force, for
 * the summary.
 */
void realtime_release(struct realtime *rt);

/*
 * pthread_create with all signals blocked in the new thread and a stack of `stack_size` bytes (0: 256
 * KiB): under locked memory the default of 8 MiB would be resident. Returns 0 or an errno value.
 */
int realtime_thread_create(pthread_t *thread, void *(*run)(void *), void *arg, size_t stack_size);

/*
 * The CPU for REALTIME_CPU_ANY: the first isolated one (isolcpus), else the last that this process may use, since
 * the first ones serve most interrupts. Never fails: the only CPU there is, at worst.
 */
int realtime_choose_cpu(void);

/* "SCHED_FIFO 80 on CPU 3, memory locked, CPU sleep states held off". Returns `buffer`. */
char *realtime_describe(const struct realtime *rt, char buffer[REALTIME_TEXT]);

/* "fifo", "rr", "deadline", "other"; -1 with an error (status 2) for any other text. */
int realtime_parse_policy(const char *what, const char *text, enum realtime_policy *policy,
			  struct error *err);

/* A CPU number as people write it, checked against the CPUs that are online. */
int realtime_parse_cpu(const char *what, const char *text, int *cpu, struct error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who is to blame for one late wake-up: the time from when it was due to when the thread ran, split
 * completely into parts that add up to the whole. Pure.
 *
 * Before the timer's expiry was handled, time in a thread is time with interrupts off: else the timer would
 * have interrupted it. It is charged to that thread if the timer's interrupt came in kernel code, and to
 * nobody the kernel knows (SMI, hypervisor) if it came in user code or while idle. After the expiry, time in
 * another thread is that thread's. What the way from interrupt to thread takes in any case is "waking",
 * up to BLAME_WAKING_NS at a stretch; a longer stretch in which nothing ran is not seen by the kernel.
 *
 * A thread that is busy until the time comes has its timer's expiry before it, or none at all: what another one
 * takes then is that one's, and what nobody takes was not seen by the kernel.
 *
 * A thread that wants to run, while the scheduler gives the CPU to an ordinary one or lets it idle, is throttled: real-time
 * threads have used up their share.
 *
 * With PREEMPT_RT a soft interrupt is part of a thread: while another one has preempted that, the time is the
 * other's.
 *
 * A late frame is split likewise, up to its stamp in the receive path. That is mostly a soft interrupt, which no
 * thread keeps waiting: time in which no interrupt held the CPU is the frame's way to it, "away". Where the path
 * runs in a thread (ksoftirqd; the interrupt's own with PREEMPT_RT or threadirqs; threaded NAPI), a thread of its
 * priority or a higher one may have kept it waiting, and is charged.
 */
#ifndef ENGINE_BLAME_SPLIT_H
#define ENGINE_BLAME_SPLIT_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/blame.h"

enum blame_category {
	BLAME_PART_IRQ, /* an interrupt handler */
	BLAME_PART_VECTOR, /* an interrupt of the architecture: timer, IPI */
	BLAME_PART_TIMER, /* the callback of another high-resolution timer */
	BLAME_PART_SOFTIRQ,
	BLAME_PART_THREAD, /* another thread ran */
	BLAME_PART_IRQS_OFF, /* a thread ran with interrupts off */
	BLAME_PART_ARMED_LATE, /* its timer was set for a later time */
	BLAME_PART_THROTTLED, /* it wanted to run, and the CPU was given to ordinary threads, or to none */
	BLAME_PART_OWN, /* the cyclic thread had not gone to sleep yet */
	BLAME_PART_WAKING, /* timer interrupt to thread: the way itself */
	BLAME_PART_AWAY, /* a frame was not there yet: sender, network, or interrupts off */
	BLAME_PART_LOST, /* more happened than the history holds */
	BLAME_PART_UNSEEN, /* nothing that the kernel saw: SMI, hypervisor, sleep state */
	BLAME_CATEGORIES
};

const char *blame_category_name(enum blame_category category);

/* A stretch of at most this length without a handler is the way itself. */
#define BLAME_WAKING_NS 10000
/* Timers whose expiry is this close to the time that was due are taken for the cyclic thread's. */
#define BLAME_TIMER_NEAR_NS 1000

struct blame_part {
	enum blame_category category;
	uint32_t number; /* interrupt, vector, or thread id */
	char name[BLAME_NAME + 1]; /* of handler or thread; "" */
	uint8_t policy; /* THREAD, IRQS_OFF: SCHED_* */
	int16_t priority; /* real-time priority 1 to 99; 0: not real-time */
	/* IRQS_OFF: kernel address at which interrupts came on again; TIMER: the callback; 0: not known */
	uint64_t ip;
	int64_t ns;
};

#define BLAME_PARTS_MAX 64

struct blame_case {
	int64_t due, awake; /* CLOCK_MONOTONIC ns */
	int64_t armed; /* what its sleep was to end at: `due`, or earlier where it is then busy; 0: it did not sleep */
	uint32_t tid; /* of the cyclic thread */
	const struct blame_event *events; /* in the order of time */
	size_t count;
	bool begins_in_thread; /* the cyclic thread ran when the first event came */
	bool cut; /* there were events before the first one that were not kept */
	bool ordinary; /* the cyclic thread has no real-time policy: it shares the CPU with its like */
	bool frame; /* a frame: `awake` is its stamp on this CPU, there is no thread and no timer */
};

/*
 * Splits; the parts come largest first, and their sum is awake - due exactly. Returns how many, at most
 * BLAME_PARTS_MAX (the rest is added to the last one, as unseen). 0 when awake <= due.
 */
size_t blame_split(const struct blame_case *late, struct blame_part parts[BLAME_PARTS_MAX]);

/* Are these the same culprit? */
bool blame_same(const struct blame_part *a, const struct blame_part *b);

/* "IRQ 89 mmc0", "softirq NET_RX", "thread hog[7] SCHED_FIFO 99" ... Returns `buffer`. */
#define BLAME_TEXT 128
char *blame_part_text(const struct blame_part *part, char buffer[BLAME_TEXT]);

const char *blame_vector_name(uint32_t vector);
const char *blame_softirq_name(uint32_t vector);

#endif

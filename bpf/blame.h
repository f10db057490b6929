/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What bpf/blame.bpf.c notes about one CPU, and user space reads: a short history of what ran there, and a
 * histogram for each interrupt of the time that it held the CPU. Include <linux/types.h> before it.
 *
 * There are several histories. The BPF programs write into the active one; when a wake-up was late, the
 * cyclic thread itself makes another one active, so that nothing is overwritten, copied or waited for.
 */
#ifndef BPF_BLAME_H
#define BPF_BLAME_H

#define BLAME_HISTORIES \
	64 /* powers of two; one is written to, the others wait to be collected, at worst until the run is over */
#define BLAME_EVENTS 1024
#define BLAME_NAME 16
#define BLAME_NO_CPU 0xffffffffU

enum blame_kind {
	BLAME_NONE,
	BLAME_IRQ_ENTER, /* number: of the interrupt; name: of the handler */
	BLAME_IRQ_EXIT,
	BLAME_VECTOR_ENTER, /* number: enum blame_vector; value: instruction pointer that it interrupted */
	BLAME_VECTOR_EXIT,
	BLAME_SOFTIRQ_ENTER, /* number: vector */
	BLAME_SOFTIRQ_EXIT,
	BLAME_SWITCH, /* number: thread that runs from now on; name, priority, policy */
	BLAME_WAKEUP, /* the cyclic thread became runnable */
	BLAME_TIMER, /* a high-resolution timer's callback begins; value: when it should have expired */
};

/* Interrupts of the architecture that have no number. */
enum blame_vector {
	BLAME_LOCAL_TIMER,
	BLAME_RESCHEDULE,
	BLAME_CALL_FUNCTION,
	BLAME_CALL_FUNCTION_SINGLE,
	BLAME_IRQ_WORK,
	BLAME_THERMAL,
	BLAME_IPI, /* arm64: the name tells which */
	BLAME_VECTORS
};

#define BLAME_FROM_USER 1 /* flags of VECTOR_ENTER: it interrupted user space */
#define BLAME_FROM_KNOWN 2 /* flags of VECTOR_ENTER: `value` and BLAME_FROM_USER are valid */

struct blame_event {
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u32 number;
	__u8 kind;
	__u8 flags; /* SWITCH: the scheduling policy */
	__s16 priority; /* SWITCH: the kernel's; below 100 is real-time: 99 - rt_priority */
	union {
		char name[BLAME_NAME]; /* not always terminated */
		struct {
			__u64 value;
			__u64 function; /* TIMER: address of the callback */
		};
	};
};

struct blame_history {
	struct blame_event events[BLAME_EVENTS];
};

/* All that is read and written with each event: one cache line. */
struct blame_control {
	__u32 cpu; /* that is followed; BLAME_NO_CPU: none */
	__u32 tid; /* the cyclic thread */
	__u32 active; /* history that is written to */
	__u32 holds_lost; /* interrupts that found no room in the table */
	__u64 head; /* events written in all; event n stands at n % BLAME_EVENTS */
	__u64 irq_since, vector_since, softirq_since; /* begin of what is running now; 0: nothing */
	__u64 due_ns; /* what the cyclic thread sleeps for, CLOCK_MONOTONIC; it writes this itself */
	__u32 own_timer; /* its timer is what was noted last */
	__u32 put_off; /* entries of put_off_holds[] */
} __attribute__((aligned(64)));

/* Counting what an interrupt held takes as long as noting it: it is put off until the cyclic thread does not wait for it. */
#define BLAME_PUT_OFF 4
struct blame_put_off {
	__u32 key;
	__u32 reserved;
	__u64 held_ns;
};

/* A timer's interrupt that is later than this notes what it has interrupted. */
#define BLAME_TIMER_LATE_NS 2000

/* Time held by one interrupt, vector or soft interrupt. */
#define BLAME_HOLDS 256 /* power of two */
#define BLAME_HOLD_PROBES 8
#define BLAME_HOLD_BUCKETS 32 /* bucket n: [2^n, 2^(n+1)) ns, the first from 0 */

struct blame_hold {
	__u32 key; /* BLAME_KEY(); 0: free */
	__u32 reserved;
	__u64 count, total_ns, max_ns;
	__u64 buckets[BLAME_HOLD_BUCKETS];
	char name[BLAME_NAME];
};

/* kind: BLAME_IRQ_ENTER, BLAME_VECTOR_ENTER or BLAME_SOFTIRQ_ENTER */
#define BLAME_KEY(kind, number) ((__u32)(kind) << 24 | ((number)&0xffffff))

#endif

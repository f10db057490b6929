/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Wake-up latency: the publisher's cyclic loop and real-time set-up with nothing to send. Each wake-up
 * becomes one wake_record: when it was due, and the time read after it.
 *
 *	latency_start(&latency, &settings, &err)
 *	while (latency_collect(latency, take, context))	every 20 ms or so, while it returns true
 *		...
 *	latency_free(latency)
 *
 * A wake-up that comes more than a cycle late swallows the ones that fell due meanwhile: they are
 * no wake-ups (nobody slept), as with cyclictest.
 */
#ifndef ENGINE_LATENCY_H
#define ENGINE_LATENCY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "data/record.h"
#include "host/realtime.h"
#include "host/wakeup.h"

enum latency_timer {
	LATENCY_NANOSLEEP, /* clock_nanosleep(TIMER_ABSTIME): the publisher's */
	LATENCY_TIMERFD, /* read(2) of a timerfd */
	LATENCY_EPOLL, /* epoll_wait(2) with its timeout in ms, as event loops do */
	LATENCY_SPIN, /* no sleep at all */
	LATENCY_TIMERS
};

const char *latency_timer_name(enum latency_timer timer);
/* -1 for an unknown name. */
int latency_timer_find(const char *name);

struct latency_settings {
	int64_t cycle_ns;
	uint64_t cycles; /* UINT64_MAX: until stopped */
	enum latency_timer timer;
	struct realtime_request realtime; /* a definite CPU, or REALTIME_CPU_NONE */
	int64_t start_delay_ns; /* to the first wake-up, at least */
	int64_t stop_over_ns; /* ends at the first wake-up later than this; 0: at none */
	/*
	 * Wraps the clock that the loop sleeps by, to watch it (blame); NULL: nothing does. The result
	 * must live until latency_free().
	 */
	const struct wake_clock *(*wrap)(void *context, const struct wake_clock *inner);
	void *wrap_context;
};

struct latency;

/* Sets the process and the cyclic thread up and starts it. 0 or -1. */
int latency_start(struct latency **latency, const struct latency_settings *settings,
		  struct error *err);

/* Asks the loop to end; it takes at most 100 ms. */
void latency_stop(struct latency *latency);

/*
 * record.seq counts cycles: a gap in it is a wake-up that was slept through. Calls `take` for each wake-up since the last call. False when the loop has ended and all was taken.
 * One thread at a time.
 */
bool latency_collect(struct latency *latency,
		     void (*take)(void *context, const struct wake_record *record), void *context);

/* What is in force for the cyclic thread; valid from latency_start() on. */
const struct realtime *latency_realtime(const struct latency *latency);

struct latency_counts {
	uint64_t lost; /* wake-ups that the ring had no room for */
	uint64_t steps; /* of the clock */
	int64_t overhead_ns; /* what the measurement itself takes in each wake-up, measured */
};

void latency_counts(const struct latency *latency, struct latency_counts *counts);

/* Ends the loop, waits for it, and undoes the set-up. NULL is allowed. */
void latency_free(struct latency *latency);

#endif

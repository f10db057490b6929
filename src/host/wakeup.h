/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sleeping until an absolute TAI time, by a clock that may be stepped meanwhile.
 *
 * The sleep itself is on CLOCK_MONOTONIC, which no one can step: a TAI sleep would last an hour longer
 * when the clock goes back by an hour. TAI - CLOCK_MONOTONIC is constant between steps (both run at the
 * same rate), so each look at the clocks narrows an interval that holds it; a look that contradicts the
 * interval is a step. The clocks are handed in, so that the cyclic loops run in simulated time in tests.
 */
#ifndef HOST_WAKEUP_H
#define HOST_WAKEUP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Looks on while a thread waits (blame). All are called in that thread, which may be the only one that gets to run: nothing
 * that they need may come from another one meanwhile. Times are CLOCK_MONOTONIC ns.
 */
struct wake_watch {
	/* the loop has warmed up, and ends: what is waited for outside of these is none of the run's */
	void (*begin)(void *context);
	void (*end)(void *context);
	/* what waker_until() waits for, before it sleeps or is busy until then */
	void (*aim)(void *context, int64_t due);
	/* it sleeps for that, at first until then */
	void (*sleep)(void *context, int64_t until);
	/* it has come, so much later than it was due: what waker_until() returns */
	void (*awake)(void *context, int64_t due, int64_t awake);
	void *context;
};

/* Times in ns. `sleep` may return early (a signal, a test); it never needs to return late. */
struct wake_clock {
	int64_t (*tai)(void *context);
	int64_t (*monotonic)(void *context);
	void (*sleep)(void *context, int64_t until_monotonic_ns);
	void *context;
	const struct wake_watch *watch; /* NULL: nobody looks on */
};

/* CLOCK_TAI, CLOCK_MONOTONIC and clock_nanosleep. */
extern const struct wake_clock wake_clock_system;

struct waker {
	const struct wake_clock *clock;
	int64_t spin_ns; /* the last part of the wait is busy, for release without wake-up latency */
	const atomic_uint *stop; /* nonzero: return at once; looked at every 100 ms at least */
	int64_t offset_low_ns, offset_high_ns; /* TAI - CLOCK_MONOTONIC lies between them */
	int64_t seen_tai_ns, seen_monotonic_ns; /* read last; TAI may be a caller's reading */
	int64_t step_ns; /* of the last WAKE_STEPPED: forwards is positive */
};

enum wake {
	WAKE_ON_TIME, /* `until` has been reached; how late: *now - until */
	WAKE_STEPPED, /* the clock was stepped by step_ns: what `until` was computed from is void */
	WAKE_STOPPED,
};

/* Steps below this are taken up silently: the launch times stay right, they are absolute. */
#define WAKE_STEP_MIN_NS 1000

/* Reads the clocks a few times. `clock` and `stop` (NULL: never) must outlive the waker. */
void waker_init(struct waker *waker, const struct wake_clock *clock, int64_t spin_ns,
		const atomic_uint *stop);

/*
 * Waits until TAI reaches `until_tai_ns`; returns at once when it has. *now_tai_ns is the time as it was
 * read first after the wake-up. No allocation, no locks: for the cyclic thread.
 */
enum wake waker_until(struct waker *waker, int64_t until_tai_ns, int64_t *now_tai_ns);

/*
 * A TAI time that the caller has read itself. waker_until() then needs no reading of its own before it
 * sleeps: what lies ahead of the last reading is slept for, and a sleep whose end has passed ends at once.
 */
static inline void waker_saw(struct waker *waker, int64_t tai_ns)
{
	waker->seen_tai_ns = tai_ns;
}

/* The time now, and whether the clock was stepped since the last look (WAKE_ON_TIME or WAKE_STEPPED). */
enum wake waker_look(struct waker *waker, int64_t *now_tai_ns);

#endif

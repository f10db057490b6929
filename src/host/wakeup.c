// SPDX-License-Identifier: GPL-2.0-only
#include "host/wakeup.h"

#include <stddef.h>

#include "base/clock.h"
#include "base/cyclic.h"

/* a stop is noticed within this time, however long the cycle */
#define SLICE_NS (100 * NSEC_PER_MSEC)

/* so long two readings of the clocks are apart, where nothing comes between; a third one then tells nothing new */
#define PLAIN_NS 200

CYCLIC static int64_t system_tai(void *context)
{
	(void)context;
	return clock_now_ns(CLOCK_TAI);
}

CYCLIC static int64_t system_monotonic(void *context)
{
	(void)context;
	return clock_now_ns(CLOCK_MONOTONIC);
}

CYCLIC static void system_sleep(void *context, int64_t until_monotonic_ns)
{
	struct timespec until = ns_to_timespec(until_monotonic_ns);

	(void)context;
	/* EINTR: the caller looks at the clock and comes back */
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

const struct wake_clock wake_clock_system = { system_tai, system_monotonic, system_sleep, NULL,
					      NULL };

CYCLIC static enum wake look(struct waker *waker)
{
	const struct wake_clock *clock = waker->clock;
	int64_t before = clock->tai(clock->context);
	int64_t monotonic = clock->monotonic(clock->context);
	int64_t low = before - monotonic, high, after;

	/* the first reading after a sleep is the wake-up */
	waker->seen_tai_ns = before;
	waker->seen_monotonic_ns = monotonic;
	/* as nearly always: what is well known already is read again */
	if ((uint64_t)waker->offset_high_ns - (uint64_t)waker->offset_low_ns <= PLAIN_NS &&
	    low <= waker->offset_high_ns && low >= waker->offset_low_ns - PLAIN_NS) {
		if (low > waker->offset_low_ns)
			waker->offset_low_ns = low;
		return WAKE_ON_TIME;
	}
	after = clock->tai(clock->context);
	high = after - monotonic;
	if (after < before) { /* stepped back between the two readings */
		waker->seen_tai_ns = after;
		low = high = after - monotonic;
	} else if (low <= waker->offset_high_ns && high >= waker->offset_low_ns) {
		if (low > waker->offset_low_ns)
			waker->offset_low_ns = low;
		if (high < waker->offset_high_ns)
			waker->offset_high_ns = high;
		return WAKE_ON_TIME;
	}
	int64_t step = low > waker->offset_high_ns ? low - waker->offset_high_ns
						   : high - waker->offset_low_ns;

	waker->offset_low_ns = low;
	waker->offset_high_ns = high;
	if (step < WAKE_STEP_MIN_NS && step > -WAKE_STEP_MIN_NS)
		return WAKE_ON_TIME;
	waker->step_ns = step;
	waker->seen_tai_ns = after;
	return WAKE_STEPPED;
}

void waker_init(struct waker *waker, const struct wake_clock *clock, int64_t spin_ns,
		const atomic_uint *stop)
{
	*waker = (struct waker){ .clock = clock,
				 .spin_ns = spin_ns,
				 .stop = stop,
				 .offset_low_ns = INT64_MIN,
				 .offset_high_ns = INT64_MAX };
	for (int i = 0; i < 16; i++)
		look(waker);
	waker->step_ns = 0;
}

CYCLIC enum wake waker_look(struct waker *waker, int64_t *now_tai_ns)
{
	enum wake result = look(waker);

	*now_tai_ns = waker->seen_tai_ns;
	return result;
}

CYCLIC static void sleep_until(struct waker *waker, int64_t until_monotonic_ns)
{
	const struct wake_clock *clock = waker->clock;

	if (clock->watch)
		clock->watch->sleep(clock->watch->context, until_monotonic_ns);
	clock->sleep(clock->context, until_monotonic_ns);
}

CYCLIC enum wake waker_until(struct waker *waker, int64_t until_tai_ns, int64_t *now_tai_ns)
{
	/* what has passed already is not waited for */
	const struct wake_watch *watch = until_tai_ns > waker->seen_tai_ns ? waker->clock->watch
									   : NULL;
	int64_t due = until_tai_ns - waker->offset_low_ns;

	if (watch)
		watch->aim(watch->context, due);
	for (bool slept = false;; slept = true) {
		int64_t left = until_tai_ns - waker->seen_tai_ns;

		if (slept || left <= waker->spin_ns) {
			if (waker_look(waker, now_tai_ns) == WAKE_STEPPED)
				return WAKE_STEPPED;
			left = until_tai_ns - *now_tai_ns;
			if (left <= 0) {
				if (watch)
					watch->awake(watch->context, due, due - left);
				return WAKE_ON_TIME;
			}
		}
		if (waker->stop && atomic_load_explicit(waker->stop, memory_order_relaxed)) {
			*now_tai_ns = waker->seen_tai_ns;
			return WAKE_STOPPED;
		}
		if (left <= waker->spin_ns)
			continue; /* busy: every round looks for a step, so that it cannot hang */
		/* by the lower bound, so that the sleep never ends before its time */
		if (left - waker->spin_ns > SLICE_NS)
			sleep_until(waker, waker->seen_monotonic_ns + SLICE_NS);
		else
			sleep_until(waker, until_tai_ns - waker->spin_ns - waker->offset_low_ns);
	}
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* Time as the kernel gives it. All times are signed 64-bit nanoseconds. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "base/units.h"

/* The clock's time in ns. The clocks in use here always exist, so it cannot fail. */
int64_t clock_now_ns(clockid_t clock);

/* CLOCK_TAI: the base of launch times, wake-ups and stamps. */
static inline int64_t tai_now_ns(void)
{
	return clock_now_ns(CLOCK_TAI);
}

static inline struct timespec ns_to_timespec(int64_t ns)
{
	struct timespec ts = { ns / NSEC_PER_SEC, ns % NSEC_PER_SEC };

	if (ts.tv_nsec < 0) {
		ts.tv_sec--;
		ts.tv_nsec += NSEC_PER_SEC;
	}
	return ts;
}

static inline int64_t timespec_to_ns(struct timespec ts)
{
	return (int64_t)ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* The first base + n * cycle (n of any sign) that is at or after `now`. cycle > 0. */
int64_t next_in_phase(int64_t base, int64_t cycle, int64_t now);

/* The kernel's TAI - UTC offset in seconds: 0 until someone sets it (adjtimex). */
int tai_offset_seconds(void);

#endif

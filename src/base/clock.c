// SPDX-License-Identifier: GPL-2.0-only
#include "base/clock.h"

#include <sys/timex.h>

#include "base/cyclic.h"

CYCLIC int64_t clock_now_ns(clockid_t clock)
{
	struct timespec ts = { 0, 0 };

	clock_gettime(clock, &ts);
	return timespec_to_ns(ts);
}

int64_t next_in_phase(int64_t base, int64_t cycle, int64_t now)
{
	int64_t past = (int64_t)(((__int128)now - base) % cycle);

	if (past < 0)
		past += cycle;
	return past ? now + (cycle - past) : now;
}

int tai_offset_seconds(void)
{
	struct timex tx = { 0 };

	return adjtimex(&tx) < 0 ? 0 : tx.tai;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "cli/blame_session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/units.h"

/* Before so many wake-ups nothing is known about their distribution. */
#define SETTLED 1000
/* What is later than the median by less than this is no lateness that anyone hunts. */
#define WORTH_NS (20 * NSEC_PER_USEC)

void blame_session_open(struct blame_session *s)
{
	struct error err = ERROR_INIT;
	bool without;

	if (s->cpu < 0) {
		message_warn("--blame is not available: the cyclic thread is not pinned; name its "
			     "CPU with --cpu");
		return;
	}
	s->tally = calloc(1, sizeof(*s->tally));
	without = !blame_cost_lateness(s->cpu, NULL, &s->without_ns);
	s->blame = s->tally ? blame_open(s->cpu, &err) : NULL;
	if (!s->blame) {
		message_warn("--blame is not available: %s", err.text[0] ? err.text : "no memory");
		return;
	}
	s->measured = without && !blame_cost_lateness(s->cpu, s->blame, &s->with_ns);
	blame_forget(s->blame);
	s->tally->cpu = s->cpu;
	s->tally->follows = !s->over_ns;
	if (*blame_missing(s->blame))
		message_note("--blame: this kernel does not show %s", blame_missing(s->blame));
}

const struct wake_clock *blame_session_clock(void *context, const struct wake_clock *inner)
{
	struct blame_session *s = context;

	return s->blame ? blame_clock(s->blame, inner) : inner;
}

static int64_t lower(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void set_threshold(struct blame_session *s, int64_t threshold)
{
	if (s->stop_over_ns)
		threshold = lower(threshold, s->stop_over_ns);
	s->tally->threshold_ns = threshold;
	blame_set_threshold(s->blame, threshold);
}

void blame_session_start(struct blame_session *s, int tid)
{
	if (!s->blame)
		return;
	blame_follow(s->blame, (uint32_t)tid);
	set_threshold(s, s->over_ns ? s->over_ns : INT64_MAX);
}

void blame_session_tick(struct blame_session *s, const struct cycle *cycle,
			const struct histogram *latency)
{
	int64_t top, middle;

	if (!s->blame)
		return;
	s->tally->begin_ns = atomic_load(&cycle->begin_ns);
	s->tally->end_ns = atomic_load(&cycle->end_ns);
	if (!s->tally->begin_ns)
		s->tally->begin_ns = INT64_MAX;
	blame_collect(s->blame, s->tally);
	if (!s->over_ns && latency->count >= SETTLED && histogram_percentile(latency, 1000, &top) &&
	    histogram_percentile(latency, 2, &middle))
		set_threshold(s, top > middle + WORTH_NS ? top : middle + WORTH_NS);
}

void blame_session_end(struct blame_session *s, const struct cycle *cycle,
		       const struct histogram *latency)
{
	if (!s->blame)
		return;
	blame_stop(s->blame);
	blame_session_tick(s, cycle, latency);
}

void blame_session_print(const struct blame_session *s)
{
	if (!s->blame)
		return;
	blame_print(stdout, s->tally, s->blame);
	if (s->measured)
		printf("\nBlame makes a wake-up %" PRId64 " ns later%s: P10 %" PRId64
		       " instead of %" PRId64 " ns (%d wake-ups each, before the run)\n",
		       s->with_ns > s->without_ns ? s->with_ns - s->without_ns : 0,
		       s->with_ns > s->without_ns ? "" : ", less than this machine's noise",
		       s->with_ns, s->without_ns, BLAME_COST_WAKES);
}

json_t *blame_session_json(const struct blame_session *s)
{
	json_t *o = s->blame ? blame_json(s->tally, s->blame) : NULL;

	if (o && s->measured)
		json_object_set_new(o, "cost",
				    json_pack("{s:I,s:I,s:I,s:i}", "wakeup_later_ns",
					      (json_int_t)(s->with_ns - s->without_ns), "with_ns",
					      (json_int_t)s->with_ns, "without_ns",
					      (json_int_t)s->without_ns, "wakeups",
					      BLAME_COST_WAKES));
	return o;
}

void blame_session_close(struct blame_session *s)
{
	blame_close(s->blame);
	free(s->tally);
	s->blame = NULL;
	s->tally = NULL;
}

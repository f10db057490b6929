// SPDX-License-Identifier: GPL-2.0-only
#include "cli/blame_session.h"

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

	if (s->cpu < 0) {
		message_warn("--blame is not available: the cyclic thread is not pinned; name its "
			     "CPU with --cpu");
		return;
	}
	s->tally = calloc(1, sizeof(*s->tally));
	s->blame = s->tally ? blame_open(s->cpu, &err) : NULL;
	if (!s->blame) {
		message_warn("--blame is not available: %s", err.text[0] ? err.text : "no memory");
		return;
	}
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

void blame_session_measure(struct blame_session *s)
{
	if (s->blame && !s->measured)
		s->measured = !blame_measure(s->blame, &s->cost);
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
	double runs;

	if (!s->blame)
		return;
	blame_print(stdout, s->tally, s->blame);
	if (!s->measured) {
		printf("\nWhat blame costs was not measured: that needs CAP_SYS_ADMIN, which is "
		       "given "
		       "up here;\n`tsnpub latency --blame` states it\n");
		return;
	}
	runs = s->cost.events_per_second * (double)s->cycle_ns / (double)NSEC_PER_SEC;
	printf("\nBlame takes %.0f ns of each cycle on this CPU: %.1f events of %.0f ns (the "
	       "kernel's\n"
	       "run-time statistics of BPF in the first 0.2 s, less the %.0f ns that an empty "
	       "program "
	       "takes in them)\n",
	       runs * s->cost.ns_per_event, runs, s->cost.ns_per_event, s->cost.idle_ns);
}

json_t *blame_session_json(const struct blame_session *s)
{
	json_t *o = s->blame ? blame_json(s->tally, s->blame) : NULL;
	double runs = s->cost.events_per_second * (double)s->cycle_ns / (double)NSEC_PER_SEC;

	if (o && s->measured)
		json_object_set_new(o, "cost",
				    json_pack("{s:f,s:f,s:f,s:f}", "empty_program_ns",
					      s->cost.idle_ns, "ns_per_event", s->cost.ns_per_event,
					      "events_per_cycle", runs, "ns_per_cycle",
					      runs * s->cost.ns_per_event));
	return o;
}

void blame_session_close(struct blame_session *s)
{
	blame_close(s->blame);
	free(s->tally);
	s->blame = NULL;
	s->tally = NULL;
}

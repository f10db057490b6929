// SPDX-License-Identifier: GPL-2.0-only
#include "cli/blame_session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/units.h"

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
	without = !blame_cost_lateness(s->cpu, s->spin_ns, NULL, &s->without);
	s->blame = s->tally ? blame_open(s->cpu, &err) : NULL;
	if (!s->blame) {
		message_warn("--blame is not available: %s", err.text[0] ? err.text : "no memory");
		return;
	}
	s->measured = without && !blame_cost_lateness(s->cpu, s->spin_ns, s->blame, &s->with);
	blame_forget(s->blame);
	blame_set_threshold(s->blame, s->over_ns, s->stop_over_ns);
	s->tally->cpu = s->cpu;
	s->tally->follows = !s->over_ns;
	if (*blame_missing(s->blame))
		message_note("--blame: this kernel does not show %s", blame_missing(s->blame));
}

const struct wake_clock *blame_session_clock(void *context, const struct wake_clock *inner)
{
	struct blame_session *s = context;

	if (!s->blame)
		return inner;
	s->clock = *inner;
	s->clock.watch = blame_watch(s->blame);
	return &s->clock;
}

void blame_session_tick(struct blame_session *s)
{
	if (!s->blame)
		return;
	blame_collect(s->blame, s->tally);
	s->tally->threshold_ns = blame_threshold(s->blame);
}

void blame_session_print(const struct blame_session *s)
{
	char cost[BLAME_COST_TEXT];

	if (!s->blame)
		return;
	blame_print(stdout, s->tally, s->blame);
	if (s->measured)
		printf("\nBlame makes a wake-up %s (%d wake-ups each%s, before the run)\n",
		       blame_cost_text(&s->with, &s->without, cost), BLAME_COST_WAKES,
		       s->other_timer ? ", by clock_nanosleep" : "");
}

json_t *blame_session_json(const struct blame_session *s)
{
	json_t *o = s->blame ? blame_json(s->tally, s->blame) : NULL;

	if (o && s->measured)
		json_object_set_new(o, "cost",
				    json_pack("{s:I,s:I,s:I,s:I,s:i}", "wakeup_later_ns",
					      (json_int_t)(s->with.ns - s->without.ns), "with_ns",
					      (json_int_t)s->with.ns, "without_ns",
					      (json_int_t)s->without.ns, "noise_ns",
					      (json_int_t)blame_cost_noise(&s->with, &s->without),
					      "wakeups", BLAME_COST_WAKES));
	return o;
}

void blame_session_close(struct blame_session *s)
{
	blame_close(s->blame);
	free(s->tally);
	s->blame = NULL;
	s->tally = NULL;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* --blame in the commands that have a cyclic thread: from the options to the report. */
#ifndef CLI_BLAME_SESSION_H
#define CLI_BLAME_SESSION_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/blame.h"
#include "engine/blame_report.h"
#include "host/wakeup.h"

struct blame_session {
	/* set by the command */
	int cpu; /* of the cyclic thread; negative: not pinned */
	int64_t spin_ns; /* the last part of its waits is busy */
	bool other_timer; /* it sleeps by something else than clock_nanosleep, by which the cost is measured */
	int64_t over_ns; /* what counts as late; 0: follow the measured P99.9 */
	int64_t stop_over_ns; /* the run ends at the first one later than this, so that is looked at; 0: never */
	/* the session's own */
	struct blame *blame; /* NULL: not available, which was said */
	struct blame_tally *tally;
	struct wake_clock clock;
	bool measured; /* the cost */
	struct blame_tenth without, with; /* how late a thread wakes up without blame and with it */
};

/*
 * Makes blame ready. Where it is not to be had a warning says why and what to do, and the command goes on
 * without it. Measures what it costs, which takes 0.3 s. Before memory is locked.
 */
void blame_session_open(struct blame_session *session);

/*
 * For latency_settings.wrap: `context` is the session. The clock itself where there is no blame. All that it takes to follow
 * the thread is done by the thread itself, through this clock.
 */
const struct wake_clock *blame_session_clock(void *context, const struct wake_clock *inner);

/* Takes what was kept: now and then, and when the run is over. */
void blame_session_tick(struct blame_session *session);

void blame_session_print(const struct blame_session *session);
json_t *blame_session_json(const struct blame_session *session); /* NULL where there is no blame */

void blame_session_close(struct blame_session *session); /* harmless on a zeroed session */

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* --blame in the commands that have a cyclic thread: from the options to the report. */
#ifndef CLI_BLAME_SESSION_H
#define CLI_BLAME_SESSION_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "data/histogram.h"
#include "engine/cycle.h"
#include "engine/blame.h"
#include "engine/blame_report.h"

struct blame_session {
	/* set by the command */
	int cpu; /* of the cyclic thread; negative: not pinned */
	int64_t over_ns; /* what counts as late; 0: follow the measured P99.9 */
	int64_t stop_over_ns; /* the run ends at the first one later than this, so that is looked at; 0: never */
	/* the session's own */
	struct blame *blame; /* NULL: not available, which was said */
	struct blame_tally *tally;
	bool measured; /* the cost */
	int64_t without_ns, with_ns; /* how late a thread wakes up without blame and with it, P10 */
};

/*
 * Makes blame ready. Where it is not to be had a warning says why and what to do, and the command goes on
 * without it. Measures what it costs, which takes 0.3 s. Before memory is locked.
 */
void blame_session_open(struct blame_session *session);

/* For latency_settings.wrap: `context` is the session. The clock itself where there is no blame. */
const struct wake_clock *blame_session_clock(void *context, const struct wake_clock *inner);

/* The cyclic thread runs: follows it. */
void blame_session_start(struct blame_session *session, int tid);

/*
 * Takes what was kept of the run itself (`cycle` tells when that is), and moves the threshold with the
 * latency so far. A few times a second at least.
 */
void blame_session_tick(struct blame_session *session, const struct cycle *cycle,
			const struct histogram *latency);

/* The cyclic thread has ended: what runs on its CPU now does not count any more. */
void blame_session_end(struct blame_session *session, const struct cycle *cycle,
		       const struct histogram *latency);

void blame_session_print(const struct blame_session *session);
json_t *blame_session_json(const struct blame_session *session); /* NULL where there is no blame */

void blame_session_close(struct blame_session *session); /* harmless on a zeroed session */

#endif

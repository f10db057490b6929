/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a run is judged by (--deadline, --sla): how many frames or wake-ups were due, and how many of them were
 * not in time. Whoever has to prove an SLA needs more than that nothing was seen to be late: what cannot be judged, since the
 * clock was not in sync or there is no stamp, is counted apart, and where it decides, the verdict is not known. Pure.
 */
#ifndef REPORT_VERDICT_H
#define REPORT_VERDICT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "data/metrics.h"

/* Whose bar it is. */
enum limit_from {
	LIMIT_OPTIONS, /* this run's own, or asked for */
	LIMIT_RX_LOG,
	LIMIT_TX_LOG,
	LIMIT_WAKE_LOG,
};

enum limit_of {
	LIMIT_OF_LATENCY,
	LIMIT_OF_LAUNCH_ERROR,
	LIMIT_OF_WAKEUP,
};

struct verdict_limit {
	enum limit_from from;
	enum limit_of of; /* what the deadline is a limit of */
	int64_t deadline_ns; /* 0: none */
	double sla; /* fraction; 0: none */
};

struct verdict {
	bool judged; /* a deadline or an SLA was set */
	bool known; /* met or missed, whatever was not judged: else, and where nothing was due, `met` is false */
	uint64_t due;
	uint64_t missed; /* late, lost, or not sent */
	uint64_t late; /* of them, late */
	uint64_t unjudged; /* came or left, and whether in time cannot be told */
	uint64_t unlogged; /* of a log that lacks records: may have come */
	enum stamp_source source; /* of the stamps that late was judged by; SOURCE_COUNT: none */
	double miss_rate;
	double required; /* fraction in time that is demanded: the SLA, else 1 */
	bool met;
	struct verdict_limit limit; /* in a report, else zero */
	struct verdict_limit
		other; /* one that the sender's log has beside it and that says something else, else zero */
};

/*
 * The rest, from `due`, `missed`, `late`, `unjudged` and `unlogged`. `deadline_ns` 0: none; `sla` is a fraction, 0: none. With a deadline alone
 * all must be in time.
 */
void verdict_finish(struct verdict *verdict, int64_t deadline_ns, double sla);

/*
 * Of a sender's log or run: every frame that was due and not sent, missed its launch, or whose launch error (of the
 * best stamps) is above the deadline. Frames without such a stamp (1 in N is stamped) count as those that have one:
 * `late` is then scaled up. Frames marked as unsynced are not judged.
 */
struct verdict verdict_of_tx(const struct tx_metrics *metrics, double sla);

/*
 * Of what a receiver got: every frame that is missing among the others, or whose latency (of the best stamps) is above the
 * deadline. Frames marked as unsynced, and those without such a stamp, are not judged.
 */
struct verdict verdict_of_rx(const struct rx_stream *total, int64_t deadline_ns, double sla);

/* "met", "missed" or "not known". */
const char *verdict_word(const struct verdict *verdict);

/* One line, and a second one about a limit that is a log's; nothing where nothing was judged. */
void verdict_print(FILE *out, const struct verdict *verdict);

/* A new reference; NULL without memory. */
json_t *verdict_json(const struct verdict *verdict);

#endif

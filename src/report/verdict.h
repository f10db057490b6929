/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a run is judged by (--deadline, --sla): how many frames or wake-ups were due, and how many of them were
 * not in time. Pure.
 */
#ifndef REPORT_VERDICT_H
#define REPORT_VERDICT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "data/metrics.h"

struct verdict {
	bool judged; /* a deadline or an SLA was set, and there is something to judge */
	uint64_t due;
	uint64_t missed; /* late, lost, or not sent */
	uint64_t late; /* of them, late */
	enum stamp_source source; /* of the stamps that late was judged by; SOURCE_COUNT: none */
	double miss_rate;
	double required; /* fraction in time that is demanded: the SLA, else 1 */
	bool met;
};

/*
 * The rest, from `due`, `missed` and `late`. `deadline_ns` 0: none; `sla` is a fraction, 0: none. With a deadline alone
 * all must be in time.
 */
void verdict_finish(struct verdict *verdict, int64_t deadline_ns, double sla);

/*
 * Of a sender's log or run: every frame that was due and not sent, missed its launch, or whose launch error (of the
 * best stamps) is above the deadline. Frames without such a stamp (1 in N is stamped) count as those that have one:
 * `late` is then scaled up.
 */
struct verdict verdict_of_tx(const struct tx_metrics *metrics, double sla);

/*
 * Of what a receiver got: every frame that is missing among the others, or whose latency (of the best stamps) is above the
 * deadline. Without any stamp none can be said to have been in time.
 */
struct verdict verdict_of_rx(const struct rx_stream *total, int64_t deadline_ns, double sla);

/* One line; nothing where nothing was judged. */
void verdict_print(FILE *out, const struct verdict *verdict);

/* A new reference; NULL without memory. */
json_t *verdict_json(const struct verdict *verdict);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* What a receiver shows at its end: text or JSON, and the verdict on its bars. */
#ifndef ENGINE_RX_SUMMARY_H
#define ENGINE_RX_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "data/metrics.h"
#include "data/sync_metrics.h"
#include "engine/receiver.h"
#include "engine/rx_blame.h"
#include "engine/rx_explain.h"
#include "report/verdict.h"

/*
 * Replaces what user space counted of a stream by what the kernel counted, where records were lost:
 * frames, sequence and the latency of the statistics' source. Late ones whose records were lost are counted as far as the
 * kernel's histogram tells, the rest as `unsure`.
 */
void rx_correct(struct rx_metrics *metrics, enum stamp_source source,
		const struct receiver_exact *exact);

struct rx_summary {
	const struct rx_facts *facts;
	const struct rx_metrics *metrics;
	const struct verdict *verdict;
	int64_t elapsed_ns;
	const char *ended; /* "last frame", "duration", "count", "interrupted", "interface gone" */
	const char *log_path; /* NULL: none */
	uint64_t log_lost; /* records that could not be written */
	const char *sync; /* the verdict on the clocks at the start */
	const struct sync_metrics *clocks; /* of this side */
	uint64_t sync_losses;
	int64_t unsynced_ns;
	uint64_t unjudged; /* frames that count as good before it was known */
	const struct rx_blame *blame; /* NULL: none */
};

void rx_summary_text(FILE *out, const struct rx_summary *summary);

/* Returns 0, or -1 with the error filled in. */
int rx_summary_json(FILE *out, const struct rx_summary *summary, struct error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* The receiver's live line: what came in during the last second, and the sender's cycle as its frames tell it. */
#ifndef ENGINE_RX_LIVE_H
#define ENGINE_RX_LIVE_H

#include "data/metrics.h"
#include "data/record.h"
#include "engine/receiver.h"
#include "report/live.h"

/* Zeroed, but for the line, which is live_init()'s. */
struct rx_live {
	struct live line;
	struct rx_record former; /* the latest */
	int64_t step_ns; /* from the launch before to that of the latest */
};

struct rx_live_facts {
	const struct receiver *receiver;
	struct rx_metrics *metrics;
	int64_t elapsed_ns;
	int64_t duration_ns, deadline_ns; /* 0: none */
	uint64_t taken, count; /* frames, and how many are wanted; 0: no limit */
};

/* Frames in the order in which they came. */
void rx_live_seen(struct rx_live *live, const struct rx_record *records, size_t count);

/* Prints the line, and begins the next one's statistics. */
void rx_live_show(struct rx_live *live, const struct rx_live_facts *facts);

#endif

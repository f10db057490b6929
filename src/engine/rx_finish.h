/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When a receiver is done: the last frame of every stream that still sends has been seen, and late ones
 * have had a moment to arrive. Pure; a zeroed struct knows of no finished stream.
 */
#ifndef ENGINE_RX_FINISH_H
#define ENGINE_RX_FINISH_H

#include <stdbool.h>
#include <stdint.h>

#include "data/metrics.h"

#define RX_GRACE_NS 200000000LL /* for frames that were overtaken by the last one */
#define RX_PATIENCE_MIN_NS 1000000000LL /* a stream silent for three intervals has died */
#define RX_PATIENCE_MAX_NS 35000000000LL

struct rx_finish {
	unsigned int finished; /* streams whose last frame was seen */
	int64_t finished_ns; /* when the latest of them was */
	bool overflow; /* more finished than there is room for: they are forgotten */
	struct rx_finished {
		uint32_t run;
		uint16_t stream;
	} streams[METRICS_STREAMS];
	/* activity, as of the check before: one for each of the metrics' streams */
	struct rx_activity {
		uint32_t run;
		uint16_t stream;
		bool known;
		uint64_t frames;
		int64_t changed_ns;
	} activity[METRICS_STREAMS];
};

/* The last frame of a stream has been seen. Not to be called for strays and duplicates. */
void rx_finish_last(struct rx_finish *finish, uint32_t run, uint16_t stream, int64_t now_ns);

/*
 * True when nothing more is to be expected. Call it some times a second. Streams with fewer than three
 * frames count only if they belong to a run of which a stream has finished: forged frames must not keep
 * the receiver waiting.
 */
bool rx_finish_check(struct rx_finish *finish, const struct rx_metrics *metrics, int64_t now_ns);

#endif

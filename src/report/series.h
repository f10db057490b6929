/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a page shows of the frames themselves: how the figure went over time, in SERIES_BINS bins, and
 * the worst frames. Bounded: one pass, a few 100 KB.
 */
#ifndef REPORT_SERIES_H
#define REPORT_SERIES_H

#include "report/analysis.h"

#define SERIES_BINS 500
#define WORST_FRAMES 20

struct series_bin {
	uint64_t count;
	int64_t min, max, first_time; /* of the first frame in the bin: its own stamp, TAI ns */
	double sum;
};

/* All that is known of a bad frame, in ns; `known` bits tell which parts are. */
struct worst_frame {
	int64_t value; /* what it is sorted by: latency, launch error or wake-up latency */
	uint64_t seq;
	uint32_t run;
	uint16_t stream;
	bool has_launch_error, has_path, has_wakeup;
	int64_t launch_error, path, wakeup;
};

struct series {
	enum stamp_source rx_stamp;
	bool received; /* of the receiver's log: what is only in the sender's does not count */
	int64_t lead_ns; /* negative: not known */
	uint64_t expected, seen; /* records in the log: a bin is a share of them */
	struct series_bin bins[SOURCE_COUNT][SERIES_BINS];
	size_t worst_count[SOURCE_COUNT];
	struct worst_frame worst[SOURCE_COUNT][WORST_FRAMES]; /* largest first */
};

/* Makes an empty one for the logs. NULL without memory; free() gives it back. */
struct series *series_new(const struct analysis_logs *logs);

/* A frame_sink; `context` is a struct series. Never fails. */
int series_frame(void *context, const struct joined_frame *frame, struct error *err);

#endif

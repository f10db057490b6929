/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One pass over the logs of one run: whatever of RX, TX, wake and sync logs is there is measured, RX
 * and TX are joined, and each frame is shown to the sinks (CSV, pcapng, plots).
 */
#ifndef REPORT_ANALYSIS_H
#define REPORT_ANALYSIS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "data/join.h"
#include "data/logfile.h"
#include "data/metrics.h"
#include "data/selection.h"
#include "data/sync_metrics.h"
#include "report/verdict.h"

/* One frame, or one wake-up, as far as the logs know it. */
struct joined_frame {
	const struct rx_record *rx; /* NULL: not received, or there is no RX log */
	const struct tx_record *tx; /* NULL: not in the TX log, or there is none */
	const struct wake_record *wake; /* alone */
	enum sequence_verdict verdict; /* of a received frame */
	bool lost; /* sent, and not received */
};

struct frame_sink {
	/* Returns 0, or -1 with the error: the analysis then ends. */
	int (*frame)(void *context, const struct joined_frame *frame, struct error *err);
	void *context;
};

#define SINKS_MAX 4

struct analysis_options {
	int64_t deadline_ns; /* 0: the one in the logs, if any */
	double sla; /* fraction that must be in time; 0: that of the logs, unless a deadline is given */
	struct frame_sink sinks[SINKS_MAX];
	size_t sink_count;
};

/* The opened logs, at most one of each kind (two of sync); NULL: not given. Borrowed. */
struct analysis_logs {
	struct log_reader *rx, *tx, *wake, *sync[2];
};

struct analysis {
	struct analysis_options options;
	struct rx_metrics *rx; /* NULL: no RX log */
	struct tx_metrics *tx; /* NULL: no TX log */
	struct wake_metrics *wake; /* NULL: no wake log */
	struct sync_metrics rx_sync, tx_sync; /* of the receiver's and the sender's log */
	struct sync_metrics sync[2]; /* of logs of their own */
	char pacing[16]; /* as the sender's log has it; "": not known */
	/* What it is judged by, and another one of the sender's log. Zero in an analysis that no analysis_run() made. */
	struct verdict_limit limit, other_limit;
	struct selection
		taken; /* by the receiver: the others of the sender's frames are not joined */
	bool joined; /* RX and TX log, with a run in common */
	uint64_t lost_late
		[SOURCE_COUNT]; /* not received, and beyond the sender's deadline by this stamp */
	struct join_counts join;
	uint64_t rx_lacks; /* records that the receiver's log says are missing in it */
};

/*
 * Reads the logs once. Returns 0, or -1 with the error. The caller frees the result with
 * analysis_free() in both cases.
 */
int analysis_run(struct analysis *analysis, const struct analysis_options *options,
		 const struct analysis_logs *logs, struct error *err);

void analysis_free(struct analysis *analysis);

/* What rx_record.rx_xdp holds in this log ("stamps" of its description). */
enum stamp_source analysis_rx_stamp(const struct log_reader *log);

/* The deadline that was asked for, else the one in the log's description; 0: none. */
int64_t analysis_deadline(const struct analysis_options *options, const struct log_reader *log);

/*
 * What the run is judged by: what was received if there is such a log, else what was sent, else the wake-ups. The bar is the one
 * asked for, else the receiver's own, else the sender's: a deadline of the sender's log is a limit of the launch error also where
 * both are joined, and frames that were not received count as missed.
 */
struct verdict analysis_verdict(const struct analysis *analysis);

#endif

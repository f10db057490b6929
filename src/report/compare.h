/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Before and after: the same figure of several logs of one kind side by side (latency of RX logs, launch
 * error of TX logs, wake-up latency), and whether a change is more than noise.
 *
 * Noise is judged by a bootstrap over blocks: each log is cut into up to COMPARE_BLOCKS
 * consecutive blocks (neighbouring samples are not independent, blocks nearly are), which are drawn
 * with replacement COMPARE_RESAMPLES times (Efron and Tibshirani, An Introduction to the Bootstrap,
 * chapters 8 and 13: percentile interval). A change is real when its 95 % interval leaves out zero. The
 * largest value is one sample: it has no interval. Nor has a percentile above which fewer than
 * COMPARE_TAIL_SAMPLES values lie: those few are drawn again and again, and the interval comes out too narrow.
 */
#ifndef REPORT_COMPARE_H
#define REPORT_COMPARE_H

#include <jansson.h>
#include <stdio.h>

#include "base/error.h"
#include "data/logfile.h"
#include "report/analysis.h"

#define COMPARE_LOGS 16
#define COMPARE_BLOCKS 100
#define COMPARE_BLOCKS_MIN 10 /* fewer: no interval is given */
#define COMPARE_BLOCK_SAMPLES 10 /* a block has at least so many */
#define COMPARE_RESAMPLES 1000
#define COMPARE_TAIL_SAMPLES 10 /* above a percentile, in each log, for an interval */

enum compare_stat {
	COMPARE_MEAN,
	COMPARE_P99,
	COMPARE_P99_9,
	COMPARE_MISS_RATE, /* beyond the deadline, of those that have a stamp */
	COMPARE_STATS,
};

struct compare_source {
	struct histogram whole;
	uint64_t late;
	/* [stat][resample], NULL: too few samples */
	double (*resampled)[COMPARE_RESAMPLES];
};

struct compare_log {
	char *name; /* of the file */
	enum record_kind kind;
	int64_t deadline_ns; /* 0: none */
	struct verdict verdict;
	struct compare_source sources[SOURCE_COUNT];
};

struct compare {
	struct compare_log logs[COMPARE_LOGS];
	size_t count;
	enum stamp_source source; /* the best one that all logs have; set by compare_finish() */
};

/* Measures one log; the first is what the others are compared with. Returns 0, or -1 with the error. */
int compare_add(struct compare *compare, const char *name, struct log_reader *log,
		const struct analysis_options *options, struct error *err);

/* Picks the source; logs that have none in common, or fewer than two logs, are an error. */
int compare_finish(struct compare *compare, struct error *err);

struct compare_change {
	double change; /* value - value of the first log */
	bool known; /* both logs have enough samples for an interval */
	double low, high; /* 95 % interval of the change */
	bool real; /* the interval leaves out zero */
};

/* How log `index` differs from the first. False when one of them lacks the figure. */
bool compare_change(const struct compare *compare, size_t index, enum compare_stat stat,
		    struct compare_change *change);

void compare_print(FILE *out, const struct compare *compare);
json_t *compare_json(const struct compare *compare); /* new reference */
void compare_free(struct compare *compare);

#endif

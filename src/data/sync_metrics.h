/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How far the clocks were apart, from the sync records of any log: offset from the master and PHC
 * against CLOCK_TAI. Bounded: the series for the stability figures stops at SYNC_SERIES_MAX values
 * (12 days at one a second), the rest is counted.
 */
#ifndef DATA_SYNC_METRICS_H
#define DATA_SYNC_METRICS_H

#include "data/histogram.h"
#include "data/record.h"
#include "data/source.h"
#include "data/stability.h"

#define SYNC_SERIES_MAX (1U << 20)
#define STABILITY_ROWS 24

struct sync_series {
	struct histogram offsets; /* ns; seq of its extremes: number of the record */
	size_t count, room;
	uint64_t cut; /* not in the series: it is full, or memory is */
	int64_t *time, *offset;
};

/* The largest amounts, ns. */
struct sync_errors {
	bool has_master, has_phc;
	bool is_master; /* the grandmaster, at times at least: its own offset from it is 0 */
	int64_t master_ns, phc_ns; /* of each offset */
	int64_t window_ns; /* of a reading of the PHC */
};

struct sync_metrics {
	uint64_t records;
	uint64_t not_good; /* records without SYNC_GOOD */
	struct sync_series master; /* offset from the master */
	struct sync_series phc; /* PHC - CLOCK_TAI */
	struct sync_errors counted,
		marked; /* while frames counted, and while they did not (SYNC_MARKED) */
};

/* A zeroed struct is empty. A record without both marks of a sync record is left out. */
void sync_metrics_add(struct sync_metrics *metrics, const struct sync_record *record);
void sync_metrics_free(struct sync_metrics *metrics);

/* Root mean square of the offsets: their mean and deviation combined. */
double sync_rms_ns(const struct histogram *offsets);

/*
 * The stability of the longest stretch without a gap (a step of more than 1.5 of the usual interval,
 * the median); *used values of it, *interval_s apart. Returns the number of rows, 0 for fewer than 3.
 */
size_t sync_stability(const struct sync_series *series, struct stability rows[STABILITY_ROWS],
		      size_t *used, double *interval_s);

/*
 * The largest error, ns, that this side's clock showed in stamps of `source`: a hw stamp is the PHC's
 * time, off by the offset from the master; the others are CLOCK_TAI's, off by the PHC's offset from it
 * too, and by half of the reading window. What it showed while frames were marked is left out, as they
 * are of the figures, unless all of them were. -1: no record tells, or it followed no master and was none.
 */
int64_t clock_uncertainty_ns(const struct sync_metrics *metrics, enum stamp_source source);

/* Was this clock a grandmaster? Two of them may be any time apart. */
bool clock_is_master(const struct sync_metrics *metrics);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* The sync verdict for people and for programs. */
#ifndef PTP_SYNC_TEXT_H
#define PTP_SYNC_TEXT_H

#include <jansson.h>
#include <stdio.h>

#include "data/histogram.h"
#include "ptp/sync.h"

/* The table of checks and the verdict; with reasons and fixes under the rows that have them. */
void sync_print_table(FILE *out, const struct sync_snapshot *snapshot,
		      const struct sync_report *report);

/*
 * One document: verdict, iface, the figures of the snapshot with their units in the names, and the checks.
 * Returns a new reference, NULL without memory.
 */
json_t *sync_to_json(const struct sync_snapshot *snapshot, const struct sync_report *report);

/*
 * "offset from master: too far from the master (+5us, limit 1us); fix: wait ...": one line, for publisher and receiver:
 * the fix names their options (--sync-limit ...), not those of `tsnpub sync`.
 */
void sync_first_wrong(const struct sync_report *report, char *text, size_t size);

/* An offset over the seconds of --watch. Zeroed to begin with; sync_course_free() gives it back. */
#define SYNC_COURSE_RECENT 64

struct sync_course {
	struct histogram values; /* signed */
	struct histogram magnitudes;
	int64_t recent[SYNC_COURSE_RECENT]; /* ring */
	uint64_t total;
};

void sync_course_add(struct sync_course *course, int64_t value);
void sync_course_free(struct sync_course *course);

/* {"count", "min_ns", "mean_ns", "p99_magnitude_ns" (absent below 100 values), "max_ns"} */
json_t *sync_course_to_json(const struct sync_course *course);

/*
 * The last `width` (at most SYNC_COURSE_RECENT) values as bars of one line, the largest magnitude being full height; `text` holds
 * 3 * width + 1 bytes (UTF-8).
 */
void sync_course_sparkline(const struct sync_course *course, int width, char *text);

/* One line of --watch: state, offsets, their statistics, sparkline. No newline. */
void sync_watch_line(const struct sync_snapshot *snapshot, const struct sync_report *report,
		     const struct sync_course *master, const struct sync_course *phc, char *text,
		     size_t size);

#endif

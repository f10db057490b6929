/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Puts together what is known about each frame: the cyclic loop's event, then TX stamps and reports of
 * missed launches from the error queue, in any order, late, twice, or never. When all has come that was
 * asked for, or the time for it is over, the frame becomes one record. Pure: time is handed in.
 */
#ifndef ENGINE_COLLECTOR_H
#define ENGINE_COLLECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/stream.h"
#include "data/record.h"
#include "engine/cycle.h"
#include "engine/feedback.h"

struct collector;

#define COLLECTOR_EARLY 4096 /* stamps that may wait for the events of their frames */

struct collector_settings {
	const struct stream *streams; /* borrowed */
	const int64_t *wire_ns; /* as the cyclic loop has it; borrowed */
	unsigned count;
	int64_t base_ns, cycle_ns;
	uint32_t run;
	unsigned stamps; /* STAMP_... bits that a stamped frame waits for */
	bool launch_time; /* misses may be reported until the launch */
	int64_t patience_ns; /* how long stamps may come after submission and launch */
	size_t room; /* frames that wait at the same time */
	void (*record)(void *context,
		       const struct tx_record *record); /* takes the finished ones, in order */
	void *context;
};

struct collector_counts {
	uint64_t late_stamps; /* came when the record was finished */
	uint64_t duplicate_stamps;
	uint64_t missing_stamps; /* asked for, and did not come in time; per frame and kind */
	uint64_t
		foreign; /* of another run, of unknown streams, or of frames not known (any more) */
	uint64_t untold; /* withheld frames beyond COLLECTOR_GAP_MAX of one gap: no records */
};

#define COLLECTOR_GAP_MAX 1000000

struct collector *
collector_new(const struct collector_settings *settings); /* NULL without memory */
void collector_free(struct collector *collector);

/* `now_ns` is CLOCK_MONOTONIC. Events that are no frames (steps) are not for it. */
void collector_event(struct collector *collector, const struct cycle_event *event, int64_t now_ns);

/* Returns the stream's index, or -1 where it is not of this run. */
int collector_feedback(struct collector *collector, const struct feedback *feedback);

/*
 * The clock was stepped: the times of frames that still wait may be of before and of after it. They are marked
 * TX_UNSYNCED, which keeps them out of the statistics. So are those whose events come later, but whose wake-up was no later
 * than `until_ns` (CLOCK_MONOTONIC): what they were sent by is the clock of before the step.
 */
void collector_stepped(struct collector *collector, int64_t until_ns);

/* Hands on what is complete, or waited long enough. */
void collector_settle(struct collector *collector, int64_t now_ns);

/* Hands on everything. */
void collector_flush(struct collector *collector);

/* Frames that still wait. */
size_t collector_waiting(const struct collector *collector);

const struct collector_counts *collector_counts(const struct collector *collector);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* The planner's inner part: places for streams, by heuristics and by complete search. */
#ifndef TC_PLANNER_PLACE_H
#define TC_PLANNER_PLACE_H

#include "tc/occupancy.h"
#include "tc/planner.h"

#define NOWHERE INT64_MAX

struct planner {
	const struct schedule *schedule; /* as given */
	const struct deployment *limits;
	struct stream *streams; /* a copy that is worked on */
	unsigned count;
	int64_t *length_ns; /* slot of each stream, with its margin */
	int *class;
	bool *fixed;
	unsigned *order;
	struct occupancy occupancy;
	struct window *windows[SCHEDULE_CLASSES_MAX]; /* layout given: of the gates */
	unsigned window_count[SCHEDULE_CLASSES_MAX];
	uint64_t visits; /* of cycles, by the complete search: its bound */
	bool search_cut_off;
};

/* A stream whose offset the file gives: takes its place if that is free. */
bool place_fixed(struct planner *p, unsigned i, int64_t from, int64_t limit);

/* Places one free stream as early as it goes, in the phase in which that is earliest. 0, or -1: there is none. */
int place_free(struct planner *p, unsigned i, int64_t from, int64_t limit);

/* Sorts p->order; `try` 0: by rate, then by length, 1: the other way round. */
void place_sort(struct planner *p, int try);

/*
 * All streams of `class` (-1: all) between `from` and `limit` of the cycle: heuristics, then the complete search.
 * Returns where the last one ends, or NOWHERE (none of them has a place then).
 */
int64_t place_class(struct planner *p, int class, int64_t from, int64_t limit);

/* As place_class, but the earliest end there is, where there are few enough streams for a complete search. */
int64_t place_class_best(struct planner *p, int class, int64_t from, int64_t limit);

#endif

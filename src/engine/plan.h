/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which streams are due in a cycle, in the order of their launch. Pure. Streams with the same repetition
 * form one class that is sorted once, so that a cycle looks at the classes, not at all streams.
 */
#ifndef ENGINE_PLAN_H
#define ENGINE_PLAN_H

#include <stdint.h>

#include "base/stream.h"

struct plan_class {
	uint32_t every, phase;
	int64_t next; /* first cycle, at or after the last one asked for, in which it is due */
	const uint16_t *members; /* stream indexes in launch order */
	unsigned count;
};

struct plan {
	const struct stream *streams; /* borrowed */
	unsigned count;
	struct plan_class *classes;
	unsigned class_count;
	uint16_t *rank; /* of each stream in launch order, for merging */
	uint16_t *order; /* all stream indexes in launch order (offset, then as given) */
	uint16_t *storage; /* the classes' members */
};

/* `streams` (1 to STREAMS_MAX, checked before) must outlive the plan. Returns 0 or -ENOMEM. */
int plan_init(struct plan *plan, const struct stream *streams, unsigned count);
void plan_free(struct plan *plan);

/* The first cycle at or after `cycle` in which a stream is due. */
int64_t plan_next(struct plan *plan, int64_t cycle);

/* The streams due in `cycle`, in launch order, into `due` (room for plan->count). Returns how many. */
unsigned plan_due(struct plan *plan, int64_t cycle, uint16_t *due);

/* In how many of the `count` cycles from `first` on the stream is due. */
uint64_t plan_occurrences(const struct stream *stream, int64_t first, uint64_t count);

/* The first cycle at or after `cycle` in which the stream is due. */
int64_t plan_stream_next(const struct stream *stream, int64_t cycle);

#endif

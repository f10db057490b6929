/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds offsets and phases for streams, and the gates that go with them. Pure.
 *
 * Model: one link, no frame over the end of a stream cycle, two streams that share a cycle never overlap, each slot as
 * long as its frames take on the wire plus the schedule's margin. Three layouts, in this order:
 *
 *	given		the file has gates: offsets are sought in the windows of the class
 *	contiguous	each class has one window in the cycle, one behind the other (what igc can do)
 *	interleaved	slots of all classes in any order; gates over the hyperperiod where one cycle is not enough
 *
 * A heuristic first; where it fails on few streams a complete search, so that "cannot fit" is then proven.
 */
#ifndef TC_PLANNER_H
#define TC_PLANNER_H

#include "base/stream.h"
#include "tc/deployment.h"
#include "tc/findings.h"

#define PLANNER_CYCLES_MAX 20000 /* longest hyperperiod, in stream cycles */
#define PLANNER_SEARCH_STREAMS 8 /* complete search up to so many streams without an offset */

enum plan_layout {
	PLAN_GIVEN,
	PLAN_CONTIGUOUS,
	PLAN_INTERLEAVED
};

struct plan_result {
	enum plan_layout layout;
	uint64_t hyperperiod; /* in stream cycles */
	bool proven; /* failure: a complete search found nothing */
	unsigned unplaced; /* failure: streams that did not fit */
};

/*
 * Gives every stream with offset STREAM_ANYWHERE an offset and a phase, and the schedule its gates where it has none
 * (plan_gates; in mode mqprio it stays without). `limits` says what the NIC can: the deployment of the schedule as it
 * is, for its mode and speed. Returns 0, or -1 with a finding for each stream that cannot fit, saying by how much;
 * schedule and streams are then unchanged.
 */
int plan_schedule(struct schedule *schedule, struct stream *streams, unsigned count,
		  const struct deployment *limits, struct plan_result *result,
		  struct findings *findings);

/* True when there is something to plan: a stream without offset, or streams without gates in a mode that has them. */
bool plan_needed(const struct deployment *deployment, const struct stream *streams, unsigned count);

#endif

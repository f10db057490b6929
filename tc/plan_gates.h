/* SPDX-License-Identifier: GPL-2.0-only */
/* From places found for streams to the gates that go with them. Pure; the planner's last step. */
#ifndef TC_PLAN_GATES_H
#define TC_PLAN_GATES_H

#include "tc/occupancy.h"
#include "tc/schedule.h"

/*
 * One window a class, where `of_class[c]` is not empty; windows follow one another from 0. What is left of the cycle is
 * open for all classes without a window. No gate becomes shorter than `shortest_ns`.
 */
void plan_gates_contiguous(struct schedule *schedule,
			   const struct window of_class[SCHEDULE_CLASSES_MAX], int64_t shortest_ns);

/*
 * Each class open for its slots, the classes without slots in between. Over one stream cycle where the slots of
 * different classes leave room for each other there, else over the hyperperiod. Returns 0, or -1 when that makes too
 * many gates, one below `shortest_ns`, or a cycle above `cycle_max_ns`.
 */
int plan_gates_interleaved(struct schedule *schedule, const struct occupancy *occupancy,
			   int64_t shortest_ns, int64_t cycle_max_ns);

#endif

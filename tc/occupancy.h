/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which times of which cycles of the hyperperiod are taken. Pure; the planner's data.
 */
#ifndef TC_OCCUPANCY_H
#define TC_OCCUPANCY_H

#include <stdint.h>

#include "tc/schedule.h"

struct slot {
	int64_t start_ns;
	int64_t end_ns;
	unsigned class;
	unsigned stream;
};

struct occupancy_cycle {
	struct slot *slots; /* in order of start */
	unsigned count, room;
};

struct occupancy {
	struct occupancy_cycle *cycles;
	uint64_t count; /* cycles in the hyperperiod */
	int64_t cycle_ns;
};

/* 0, or -1 when memory is short. occupancy_free() may be called after either. */
int occupancy_init(struct occupancy *occupancy, uint64_t cycles, int64_t cycle_ns);
void occupancy_free(struct occupancy *occupancy);
void occupancy_clear(struct occupancy *occupancy);

/*
 * The first offset at or after `from_ns` at which `length_ns` are free in all cycles phase, phase + every, ... Not
 * limited by the cycle's end: the caller compares.
 */
int64_t occupancy_earliest(const struct occupancy *occupancy, uint32_t every, uint32_t phase,
			   int64_t from_ns, int64_t length_ns);

/* Takes the slot in all these cycles. 0, or -1 when memory is short (then none is taken). */
int occupancy_take(struct occupancy *occupancy, uint32_t every, uint32_t phase,
		   const struct slot *slot);

/* Gives back what was taken for the stream in these cycles. */
void occupancy_give(struct occupancy *occupancy, uint32_t every, uint32_t phase, unsigned stream);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Do streams fall into the slots of their classes? Pure. The publisher asks it of the installed schedule, the validator
 * of the file's.
 */
#ifndef TC_FIT_H
#define TC_FIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/stream.h"
#include "tc/schedule.h"

/* How one stream lies in the windows of its class; times within the gate cycle, of its worst instance. */
struct fit {
	int class; /* -1: no class carries its priority */
	bool never_open;
	bool fits;
	int64_t start_ns; /* launch */
	int64_t length_ns; /* on the wire: preamble, frames, FCS and gaps */
	struct window window; /* the window it starts in; else the next one that opens */
	int64_t margin_ns; /* from its last bit's gap to the window's end; negative: by how much it is too long */
};

/*
 * Looks at all instances of the stream in the gate cycle. The cycles of gates and streams must be multiples of one
 * another (schedule_cycles_agree). 0 and *fit filled.
 */
void fit_stream(const struct schedule *schedule, const struct stream *stream, uint32_t mbps,
		struct fit *fit);

/* One line without the stream's name: "leaves at 61.2us, its class 'control' is open from 0ns to 50us". */
#define FIT_TEXT 200
char *fit_text(const struct schedule *schedule, const struct fit *fit, char buffer[FIT_TEXT]);

/* The gate cycle is a multiple of the streams' cycle, or the other way round. */
bool schedule_cycles_agree(const struct schedule *schedule);

/* Two streams whose frames would be on the wire at the same time. */
struct collision {
	unsigned first, second; /* indices into the streams; second waits */
	int64_t at_ns; /* since the hyperperiod's start */
	int64_t overlap_ns;
};

/*
 * The first collision in time over the hyperperiod of all streams. Returns 1 and fills *collision in, 0 when there is
 * none, -1 when the hyperperiod holds more than FIT_INSTANCES_MAX launches (not looked at) or memory is short.
 */
#define FIT_INSTANCES_MAX 2000000
int fit_collision(const struct stream *streams, unsigned count, int64_t cycle_ns, uint32_t mbps,
		  struct collision *collision);

/* Least common multiple of all `every`, in cycles; 0 when it is above `limit`. */
uint64_t fit_hyperperiod(const struct stream *streams, unsigned count, uint64_t limit);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The publisher's cyclic loop: when to wake up, which frames to hand over, what to skip. Clock and
 * transmission are handed in, so that tests run it in simulated time with stepping clocks, late wake-ups
 * and refused sends. Nothing in it allocates, prints, or waits for anyone.
 *
 * Cycle k of the run starts at base + k * cycle (k is counted from the base time, so that it goes on in the
 * same phase after a step of the clock). Its frames launch at start + offset of their stream. Frames that
 * launch within `span` of each other are one group: one wake-up, `lead` before the first launch, and one
 * call to send().
 *
 * A frame is handed over only while that still makes sense (up to `late_max` after its launch; negative:
 * before it). What comes later is skipped and counted, never sent afterwards. A skipped or withheld frame
 * takes no sequence number: on the wire nothing is missing.
 */
#ifndef ENGINE_CYCLE_H
#define ENGINE_CYCLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/spsc.h"
#include "base/stream.h"
#include "engine/plan.h"
#include "host/wakeup.h"

/* One frame to be handed over. */
struct cycle_frame {
	uint64_t seq;
	int64_t launch; /* TAI ns */
	uint16_t stream; /* index, not id */
	uint16_t status; /* by send(): TX_SENT, TX_REFUSED or TX_LINK_DOWN */
	bool last;
	bool stamped; /* by send(): TX stamps were asked for */
};

/*
 * Hands the frames of one group over, in this order, without waiting, and fills in each status.
 * TX_LINK_DOWN: it was not sent, and its sequence number is used again.
 */
typedef void (*cycle_send)(void *context, struct cycle_frame *frames, unsigned count);

/* What happened, through a ring to the thread that collects it. */
enum cycle_event_kind {
	CYCLE_FRAME, /* one frame: all fields but `count` and `step_ns` */
	CYCLE_GAP, /* `count` whole cycles from `cycle` on were not sent; status says why */
	CYCLE_STEP, /* the clock was stepped by step_ns; goes on with the cycle that starts at `launch` */
};

struct cycle_event {
	uint64_t seq; /* FRAME: its number, or the one it would have had */
	int64_t launch;
	int64_t wake; /* STAMP_NONE: not after a wake-up of its own */
	int64_t submit; /* STAMP_NONE: not handed over */
	union {
		int64_t cycle;
		int64_t step_ns;
	};
	union {
		uint64_t count; /* GAP */
		int64_t woken_ns; /* FRAME that was handed over: CLOCK_MONOTONIC of its wake-up */
	};
	uint16_t stream; /* index */
	uint16_t status; /* TX_... of data/record.h */
	uint8_t kind;
	bool stamped; /* FRAME: TX stamps were asked for */
};

/* Set by other threads while the loop runs. */
struct cycle_control {
	atomic_uint stop; /* 1: finish with a flagged last frame of each stream; 2: end at once */
	atomic_uint abort; /* 1 together with stop 2 */
	atomic_uint link_down; /* withhold frames: TX_LINK_DOWN */
	atomic_uint unsynced; /* send, but mark them: TX_UNSYNCED */
	atomic_uint paused; /* withhold frames: TX_PAUSED */
};

void cycle_control_stop(struct cycle_control *control); /* a second call: at once */

struct cycle_settings {
	int64_t cycle_ns;
	int64_t base_ns; /* TAI; start of cycle 0. May lie in the future: nothing is sent before it */
	int64_t lead_ns;
	int64_t late_max_ns;
	int64_t span_ns; /* at most 1 s */
	int64_t spin_ns;
	uint64_t cycles; /* how many, skipped ones included; UINT64_MAX: until stopped */
	int64_t start_delay_ns; /* from the start of the loop to the first wake-up, at least */
	int64_t stop_over_ns; /* a wake-up later than this is the last one, nothing is closed then; 0: none is */
};

struct cycle {
	struct cycle_settings settings;
	const struct stream *streams; /* borrowed */
	const int64_t
		*wire_ns; /* per stream: launch distance of its frames within a cycle; borrowed */
	unsigned count;
	const struct wake_clock *clock;
	cycle_send send;
	void *send_context;
	struct cycle_control *control;
	struct spsc *events; /* of struct cycle_event; the loop is its producer */
	/* the loop's own */
	struct plan plan;
	struct waker waker;
	uint64_t *seq; /* next number of each stream */
	bool *ended; /* the flagged last frame of the stream is out */
	uint16_t *due;
	struct cycle_frame *frames;
	int64_t last_launch; /* latest launch handed over */
	uint64_t left; /* cycles still to go */
	bool refused; /* the frame handed over last */
	atomic_bool done; /* no more events will come */
};

/* Frames in one cycle at most: sum over all streams. */
#define CYCLE_FRAMES_MAX 65536

/*
 * Fills the loop's own part; the caller has set what stands above it. Returns 0 or -ENOMEM (also for more
 * than CYCLE_FRAMES_MAX frames in a cycle).
 */
int cycle_init(struct cycle *cycle);
void cycle_free(struct cycle *cycle);

/* Runs until the cycles are done or it is stopped; then sets cycle->done. */
void cycle_run(struct cycle *cycle);

#endif

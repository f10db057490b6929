/* SPDX-License-Identifier: GPL-2.0-only */
/* The cyclic loop in simulated time: a clock that can be stepped, wake-ups that come late, frames that are refused. */
#ifndef CYCLE_WORLD_H
#define CYCLE_WORLD_H

#include "cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "data/record.h"
#include "engine/cycle.h"

#define US 1000LL
#define MS 1000000LL
#define HOUR 3600000000000LL
#define EPOCH 1790000000000000000LL
#define SENT_MAX 20000

struct sent {
	int64_t at; /* monotonic: what the wire sees */
	int64_t tai;
	struct cycle_frame frame;
};

struct world {
	int64_t monotonic, offset;
	/* at step_at the clock is stepped */
	int64_t step_at, step;
	/* the sleep that ends at or after late_at ends late by `late`, once */
	int64_t late_at, late;
	int64_t late_again_at, late_again; /* and another one */
	int64_t send_cost;
	/* at these times another thread sets a flag */
	int64_t stop_at, abort_at, link_down_at, link_up_at, pause_at, resume_at;
	uint16_t
		refuse; /* status of the frames while refuse_from <= n < refuse_to, n counts frames */
	unsigned refuse_from, refuse_to, offered;
	struct cycle_control control;
	struct cycle cycle;
	struct wake_clock clock;
	struct spsc events;
	struct sent sent[SENT_MAX];
	unsigned sent_count;
	int64_t wire_ns[STREAMS_MAX];
};

static inline void reach(const int64_t *at, int64_t now, atomic_uint *flag, unsigned value)
{
	if (*at && now >= *at)
		atomic_store(flag, value);
}

static inline void pass(struct world *w, int64_t ns)
{
	w->monotonic += ns;
	if (w->step && w->monotonic >= w->step_at) {
		w->offset += w->step;
		w->step = 0;
	}
	if (w->stop_at && w->monotonic >= w->stop_at) {
		w->stop_at = 0;
		cycle_control_stop(&w->control);
	}
	if (w->abort_at && w->monotonic >= w->abort_at) {
		w->abort_at = 0;
		cycle_control_stop(&w->control);
	}
	reach(&w->link_down_at, w->monotonic, &w->control.link_down, 1);
	reach(&w->link_up_at, w->monotonic, &w->control.link_down, 0);
	reach(&w->pause_at, w->monotonic, &w->control.paused, 1);
	reach(&w->resume_at, w->monotonic, &w->control.paused, 0);
}

static inline int64_t tai(void *context)
{
	struct world *w = context;

	pass(w, 20);
	return w->monotonic + w->offset;
}

static inline int64_t monotonic(void *context)
{
	struct world *w = context;

	pass(w, 20);
	return w->monotonic;
}

static inline void sleep_until(void *context, int64_t until)
{
	struct world *w = context;

	if (until <= w->monotonic)
		return;
	pass(w, until - w->monotonic + 1 * US);
	if (w->late && w->monotonic >= w->late_at) {
		int64_t late = w->late;

		w->late = 0;
		pass(w, late);
	} else if (w->late_again && w->monotonic >= w->late_again_at) {
		int64_t late = w->late_again;

		w->late_again = 0;
		pass(w, late);
	}
}

static inline void take(void *context, struct cycle_frame *frames, unsigned count)
{
	struct world *w = context;

	for (unsigned i = 0; i < count; i++, w->offered++) {
		frames[i].status = TX_SENT;
		if (w->offered >= w->refuse_from && w->offered < w->refuse_to)
			frames[i].status = w->refuse;
		if (frames[i].status == TX_SENT && w->sent_count < SENT_MAX)
			w->sent[w->sent_count++] =
				(struct sent){ w->monotonic, w->monotonic + w->offset, frames[i] };
	}
	pass(w, w->send_cost ? w->send_cost : 2 * US);
}

static inline struct world *world_new(const struct stream *streams, unsigned count,
				      const struct cycle_settings *settings)
{
	struct world *w = calloc(1, sizeof(*w));

	w->monotonic = 123456;
	w->offset = EPOCH;
	w->clock = (struct wake_clock){ tai, monotonic, sleep_until, w, NULL };
	assert_int_equal(spsc_init(&w->events, 1 << 17, sizeof(struct cycle_event)), 0);
	w->cycle = (struct cycle){ .settings = *settings,
				   .streams = streams,
				   .wire_ns = w->wire_ns,
				   .count = count,
				   .clock = &w->clock,
				   .send = take,
				   .send_context = w,
				   .control = &w->control,
				   .events = &w->events };
	assert_int_equal(cycle_init(&w->cycle), 0);
	return w;
}

static inline void world_free(struct world *w)
{
	cycle_free(&w->cycle);
	spsc_free(&w->events);
	free(w);
}

struct tally {
	uint64_t sent, skipped, refused, link_down, paused, steps, last, late_wakes,
		marked_late_wakes;
	int64_t step_ns;
};

static inline struct tally run(struct world *w)
{
	struct cycle_event event;
	struct tally tally = { 0 };

	cycle_run(&w->cycle);
	assert_true(w->cycle.done);
	assert_int_equal(w->events.dropped, 0);
	while (spsc_pop(&w->events, &event)) {
		uint64_t n = 1;

		if (event.kind == CYCLE_STEP) {
			tally.steps++;
			tally.step_ns = event.step_ns;
			continue;
		}
		if (event.kind == CYCLE_GAP) {
			n = 0;
			for (unsigned i = 0; i < w->cycle.count; i++)
				n += plan_occurrences(&w->cycle.streams[i], event.cycle,
						      event.count) *
				     w->cycle.streams[i].frames;
		}
		tally.sent += event.status & TX_SENT ? n : 0;
		tally.skipped += event.status & TX_SKIPPED ? n : 0;
		tally.refused += event.status & TX_REFUSED ? n : 0;
		tally.link_down += event.status & TX_LINK_DOWN ? n : 0;
		tally.paused += event.status & TX_PAUSED ? n : 0;
		tally.last += event.status & TX_LAST ? n : 0;
		if (event.status & TX_SKIPPED && event.wake != STAMP_NONE) {
			tally.late_wakes++;
			tally.marked_late_wakes += !!(event.status & TX_UNSYNCED);
		}
	}
	return tally;
}

static inline struct stream one(void)
{
	return (struct stream){
		.id = 1, .every = 1, .frames = 1, .vlan = STREAM_NO_VLAN, .size = 64
	};
}

static inline struct cycle_settings timer(int64_t cycle, uint64_t cycles)
{
	return (struct cycle_settings){
		.cycle_ns = cycle, .late_max_ns = cycle / 2, .cycles = cycles, .start_delay_ns = MS
	};
}

/* On the wire two frames of a stream must never be closer than half a cycle. */
static inline void assert_no_burst(const struct world *w, int64_t cycle)
{
	for (unsigned i = 1; i < w->sent_count; i++)
		if (w->sent[i].at - w->sent[i - 1].at < cycle / 2)
			fail_msg("frames %u and %u are only %lld ns apart", i - 1, i,
				 (long long)(w->sent[i].at - w->sent[i - 1].at));
}

static inline void assert_in_sequence(const struct world *w)
{
	for (unsigned i = 0; i < w->sent_count; i++)
		assert_int_equal(w->sent[i].frame.seq, i);
}

#endif

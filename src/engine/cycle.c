// SPDX-License-Identifier: GPL-2.0-only
#include "engine/cycle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/cyclic.h"
#include "data/record.h"

/* attempts to get the flagged last frames out, when wake-ups come too late for them */
#define CLOSING_ATTEMPTS 16
/* and for how long, where the kernel refuses them: sixteen long cycles would be minutes */
#define CLOSING_NS NSEC_PER_SEC

#define WARM_UP_WAKES 16
#define WARM_UP_NS (100 * NSEC_PER_USEC)

enum outcome {
	GOES_ON,
	STOP_ASKED, /* before the first group of a cycle */
	REALIGNED, /* the clock was stepped: the rest of the cycle is void */
	ABORTED,
};

void cycle_control_stop(struct cycle_control *control)
{
	if (atomic_fetch_add(&control->stop, 1))
		atomic_store(&control->abort, 1);
}

static void end_at_once(struct cycle_control *control)
{
	atomic_store(&control->stop, 2);
	atomic_store(&control->abort, 1);
}

static bool is_set(const atomic_uint *flag)
{
	return atomic_load_explicit(flag, memory_order_relaxed) != 0;
}

int cycle_init(struct cycle *c)
{
	uint64_t frames = 0;

	for (unsigned i = 0; i < c->count; i++)
		frames += c->streams[i].frames;
	c->seq = calloc(c->count, sizeof(*c->seq));
	c->ended = calloc(c->count, sizeof(*c->ended));
	c->due = calloc(c->count, sizeof(*c->due));
	c->frames = frames <= CYCLE_FRAMES_MAX ? calloc(frames, sizeof(*c->frames)) : NULL;
	if (!c->seq || !c->ended || !c->due || !c->frames ||
	    plan_init(&c->plan, c->streams, c->count) < 0) {
		cycle_free(c);
		return -ENOMEM;
	}
	c->last_launch = INT64_MIN;
	c->left = c->settings.cycles;
	return 0;
}

void cycle_free(struct cycle *c)
{
	free(c->seq);
	free(c->ended);
	free(c->due);
	free(c->frames);
	plan_free(&c->plan);
	c->seq = NULL;
	c->ended = NULL;
	c->due = NULL;
	c->frames = NULL;
}

static int64_t start_of(const struct cycle *c, int64_t k)
{
	return c->settings.base_ns + k * c->settings.cycle_ns;
}

/* The first cycle for which all is still to come: its wake-up lies at or after `now`. */
static int64_t first_to_come(const struct cycle *c, int64_t now)
{
	int64_t cycle = c->settings.cycle_ns;
	int64_t start = next_in_phase(c->settings.base_ns, cycle, now + c->settings.lead_ns);
	int64_t k = (start - c->settings.base_ns) / cycle;

	return k < 0 ? 0 : k;
}

/* The first cycle whose frames can all still be handed over, if at once. */
static int64_t first_to_meet(const struct cycle *c, int64_t now)
{
	int64_t cycle = c->settings.cycle_ns;
	int64_t start = next_in_phase(c->settings.base_ns, cycle, now - c->settings.late_max_ns);
	int64_t k = (start - c->settings.base_ns) / cycle;

	return k < 0 ? 0 : k;
}

static void tell_gap(struct cycle *c, int64_t k, uint64_t count, uint16_t status)
{
	struct cycle_event event = {
		.kind = CYCLE_GAP, .cycle = k, .count = count, .status = status
	};

	if (count)
		spsc_push(c->events, &event);
}

/* Frames of the group that are not handed over; `wake` only with the first one after a wake-up. */
static void tell_withheld(struct cycle *c, int64_t k, const uint16_t *due, unsigned count,
			  int64_t wake, uint16_t status)
{
	for (unsigned i = 0; i < count; i++) {
		const struct stream *stream = &c->streams[due[i]];
		struct cycle_event event = {
			.kind = CYCLE_FRAME,
			.seq = c->seq[due[i]],
			.launch = start_of(c, k) + stream->offset_ns,
			.wake = wake,
			.cycle = k,
			.stream = due[i],
			.status = status,
		};

		for (uint32_t f = 0; f < stream->frames; f++) {
			spsc_push(c->events, &event);
			event.launch += c->wire_ns[due[i]];
		}
	}
}

CYCLIC static bool is_last(const struct cycle *c, const struct stream *stream, int64_t k)
{
	if (c->left > stream->every)
		return false;
	/* c->left counts this cycle: the next one in which it is due is beyond the end */
	return (uint64_t)(plan_stream_next(stream, k + 1) - k) >= c->left;
}

/* Of what is told while the clocks are not in sync: wake-ups of frames that came too late are no figures either. */
static uint16_t mark_of(const struct cycle *c)
{
	return is_set(&c->control->unsynced) ? TX_UNSYNCED : 0;
}

/* Hands over those frames of the group that can still make it. */
CYCLIC static void send_group(struct cycle *c, int64_t k, const uint16_t *due, unsigned count,
			      int64_t wake, bool closing)
{
	uint16_t mark = mark_of(c);
	int64_t woken_ns = c->waker.seen_monotonic_ns;
	unsigned frames = 0;
	int64_t submit;

	for (unsigned i = 0; i < count; i++) {
		const struct stream *stream = &c->streams[due[i]];
		int64_t launch = start_of(c, k) + stream->offset_ns;
		bool last = closing || is_last(c, stream, k);

		if (wake > launch + c->settings.late_max_ns) {
			tell_withheld(c, k, &due[i], 1, wake, TX_SKIPPED | mark);
			continue;
		}
		for (uint32_t f = 0; f < stream->frames; f++)
			c->frames[frames++] = (struct cycle_frame){
				.seq = c->seq[due[i]] + f,
				.launch = launch + f * c->wire_ns[due[i]],
				.stream = due[i],
				.last = last && f == stream->frames - 1,
			};
	}
	if (!frames)
		return;
	c->send(c->send_context, c->frames, frames);
	submit = c->clock->tai(c->clock->context);
	waker_saw(&c->waker, submit);
	for (unsigned i = 0; i < frames; i++) {
		const struct cycle_frame *frame = &c->frames[i];
		bool taken = frame->status & TX_SENT;
		struct cycle_event event = {
			.kind = CYCLE_FRAME,
			.seq = frame->seq,
			.launch = frame->launch,
			.wake = wake,
			.submit = submit,
			.cycle = k,
			.woken_ns = woken_ns,
			.stream = frame->stream,
			.stamped = taken && frame->stamped,
			.status = frame->status | mark | (taken && frame->last ? TX_LAST : 0),
		};

		if (!(frame->status & TX_LINK_DOWN))
			c->seq[frame->stream] = frame->seq + 1;
		if (taken && frame->launch > c->last_launch)
			c->last_launch = frame->launch;
		if (taken && frame->last)
			c->ended[frame->stream] = true;
		c->refused = frame->status & TX_REFUSED;
		spsc_push(c->events, &event);
	}
}

/*
 * One cycle, group by group. `closing`: the streams in `due` get their flagged last frame, due or not.
 */
CYCLIC static enum outcome run_cycle(struct cycle *c, int64_t k, const uint16_t *due,
				     unsigned count, bool closing)
{
	int64_t told_wake = STAMP_NONE;

	for (unsigned i = 0, j; i < count; i = j) {
		int64_t offset = c->streams[due[i]].offset_ns, now;
		int64_t launch = start_of(c, k) + offset;
		int64_t until = launch - c->settings.lead_ns;
		bool waits = until > c->waker.seen_tai_ns;

		for (j = i + 1; j < count; j++)
			if (c->streams[due[j]].offset_ns - offset > c->settings.span_ns)
				break;
		/* a stop is obeyed between cycles; what was begun is finished */
		c->waker.stop = closing || i ? &c->control->abort : &c->control->stop;
		switch (waker_until(&c->waker, until, &now)) {
		case WAKE_STOPPED:
			return is_set(&c->control->abort) ? ABORTED : STOP_ASKED;
		case WAKE_STEPPED:
			tell_withheld(c, k, &due[i], count - i, STAMP_NONE, TX_SKIPPED);
			return REALIGNED;
		case WAKE_ON_TIME:
			break;
		}
		/* here, since no other thread may get to run */
		if (waits && c->settings.stop_over_ns && now - until > c->settings.stop_over_ns)
			end_at_once(c->control);
		if (is_set(&c->control->link_down)) {
			tell_withheld(c, k, &due[i], j - i, STAMP_NONE, TX_LINK_DOWN);
		} else if (is_set(&c->control->paused)) {
			tell_withheld(c, k, &due[i], j - i, STAMP_NONE, TX_PAUSED);
		} else if (now > c->streams[due[j - 1]].offset_ns - offset + launch +
					 c->settings.late_max_ns) {
			/* one late wake-up is told once, though groups that came due meanwhile were all too late */
			if (told_wake == STAMP_NONE || until > told_wake)
				told_wake = now;
			tell_withheld(c, k, &due[i], 1, told_wake, TX_SKIPPED | mark_of(c));
			tell_withheld(c, k, &due[i + 1], j - i - 1, STAMP_NONE, TX_SKIPPED);
		} else {
			send_group(c, k, &due[i], j - i, now, closing);
		}
	}
	return GOES_ON;
}

/*
 * After a step. The cycle number follows from the time, so the phase is kept. A small step back leads into
 * cycles whose frames were already handed over: they are not sent again.
 */
static int64_t realign(struct cycle *c)
{
	const struct cycle_settings *s = &c->settings;
	struct cycle_event event = { .kind = CYCLE_STEP, .step_ns = c->waker.step_ns };
	int64_t now, k;

	waker_look(&c->waker, &now);
	k = first_to_come(c, now);
	if (c->last_launch != INT64_MIN && c->last_launch >= start_of(c, k) &&
	    c->last_launch - now <= 2 * s->cycle_ns + s->lead_ns + s->span_ns)
		k = (c->last_launch - s->base_ns) / s->cycle_ns + 1;
	event.launch = start_of(c, k);
	spsc_push(c->events, &event);
	return k;
}

/* Gives every stream that is not ended its flagged last frame, in the next cycle that can be met. */
static void close_streams(struct cycle *c, int64_t k)
{
	int64_t begun = c->waker.seen_monotonic_ns;

	for (int attempt = 0; attempt < CLOSING_ATTEMPTS; attempt++) {
		unsigned count = 0;
		int64_t now, first;

		if (waker_look(&c->waker, &now) == WAKE_STEPPED)
			k = realign(c);
		first = first_to_come(c, now);
		if (k < first)
			k = first;
		/* the base time lies ahead and nothing was sent: there is nothing to end, and no wait for it */
		if (c->last_launch == INT64_MIN &&
		    start_of(c, k) - now > 2 * c->settings.cycle_ns + c->settings.lead_ns)
			return;
		for (unsigned i = 0; i < c->count; i++)
			if (!c->ended[c->plan.order[i]])
				c->due[count++] = c->plan.order[i];
		if (!count || is_set(&c->control->link_down) || is_set(&c->control->paused))
			return;
		switch (run_cycle(c, k, c->due, count, true)) {
		case ABORTED:
		case STOP_ASKED:
			return;
		case REALIGNED:
			k = realign(c);
			break;
		case GOES_ON:
			if (c->refused && c->waker.seen_monotonic_ns - begun > CLOSING_NS)
				return;
			k++;
		}
	}
}

/* Cycles passed over, as far as there are so many left. Returns the next one. */
CYCLIC static int64_t pass(struct cycle *c, int64_t k, int64_t to)
{
	uint64_t count = (uint64_t)(to - k);

	if (c->left != UINT64_MAX) {
		if (count > c->left)
			count = c->left;
		c->left -= count;
	}
	return k + (int64_t)count;
}

/* The first wake-ups are slow, with cold caches and idle clocks: they are not spent on frames. */
static void warm_up(struct cycle *c)
{
	int64_t now;

	for (int i = 0; i < WARM_UP_WAKES; i++) {
		waker_look(&c->waker, &now);
		waker_until(&c->waker, now + WARM_UP_NS, &now);
	}
}

CYCLIC void cycle_run(struct cycle *c)
{
	const struct wake_watch *watch = c->clock->watch;
	enum outcome outcome = GOES_ON;
	int64_t now, k;

	waker_init(&c->waker, c->clock, c->settings.spin_ns, &c->control->stop);
	warm_up(c);
	waker_look(&c->waker, &now);
	if (watch)
		watch->begin(watch->context);
	k = first_to_come(c, now + c->settings.start_delay_ns);
	while (outcome == GOES_ON) {
		k = pass(c, k, plan_next(&c->plan, k));
		if (!c->left)
			break;
		outcome = run_cycle(c, k, c->due, plan_due(&c->plan, k, c->due), false);
		if (outcome == STOP_ASKED || outcome == ABORTED)
			break;
		k = pass(c, k, k + 1);
		if (outcome == REALIGNED) {
			k = realign(c);
			outcome = GOES_ON;
			continue;
		}
		/* far behind: the cycles that were slept through are not looked at one by one */
		now = c->waker.seen_tai_ns;
		if (now - c->settings.late_max_ns <= start_of(c, k + 1))
			continue;
		/* of the cycle before the first that can be met whole, some frames may still make it */
		int64_t from = k;

		k = pass(c, k, first_to_meet(c, now) - 1);
		tell_gap(c, from, (uint64_t)(k - from), TX_SKIPPED);
	}
	if (watch)
		watch->end(watch->context);
	if (outcome != ABORTED)
		close_streams(c, k);
	atomic_store_explicit(&c->done, true, memory_order_release);
}

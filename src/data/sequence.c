// SPDX-License-Identifier: GPL-2.0-only
#include "data/sequence.h"

#include <string.h>

static bool seen(const struct sequence *s, uint64_t seq)
{
	uint64_t bit = seq % SEQUENCE_WINDOW;

	return s->window[bit / 64] >> (bit % 64) & 1;
}

static void mark(struct sequence *s, uint64_t seq)
{
	uint64_t bit = seq % SEQUENCE_WINDOW;

	s->window[bit / 64] |= 1ULL << (bit % 64);
}

static uint64_t lost_in_span(const struct sequence_span *span)
{
	/* wraps to the right value even for the span 0 to 2^64 - 1 */
	return span->unique ? span->highest - span->first + 1 - span->unique : 0;
}

static void start_span(struct sequence *s, uint64_t seq)
{
	s->span.lost_before += lost_in_span(&s->span);
	s->span.unique_before += s->span.unique;
	s->span.first = s->span.highest = seq;
	s->span.unique = 1;
	memset(s->window, 0, sizeof(s->window));
	mark(s, seq);
}

static void advance(struct sequence *s, uint64_t seq)
{
	uint64_t step = seq - s->span.highest;

	if (step > 1) {
		s->span.gaps++;
		if (step - 1 > s->span.gap_max)
			s->span.gap_max = step - 1;
	}
	if (step >= SEQUENCE_WINDOW) {
		memset(s->window, 0, sizeof(s->window));
	} else {
		for (uint64_t i = s->span.highest + 1; i != seq;) {
			uint64_t bit = i % SEQUENCE_WINDOW;

			if (bit % 64 == 0 && seq - i >= 64) {
				s->window[bit / 64] = 0;
				i += 64;
			} else {
				s->window[bit / 64] &= ~(1ULL << (bit % 64));
				i++;
			}
		}
	}
	s->span.highest = seq;
	s->span.unique++;
	mark(s, seq);
}

/* A frame within the window. */
static enum sequence_verdict add_plausible(struct sequence *s, uint64_t seq)
{
	if (seq > s->span.highest) {
		advance(s, seq);
		return SEQUENCE_IN_ORDER;
	}
	if (seq >= s->span.first && seen(s, seq)) {
		s->duplicate++;
		return SEQUENCE_DUPLICATE;
	}
	if (seq < s->span.first)
		s->span.first = seq;
	if (s->span.highest - seq > s->reorder_max)
		s->reorder_max = s->span.highest - seq;
	s->reordered++;
	s->span.unique++;
	mark(s, seq);
	return SEQUENCE_REORDERED;
}

static bool plausible(const struct sequence_span *span, uint64_t seq)
{
	return seq > span->highest ? seq - span->highest <= SEQUENCE_JUMP
				   : span->highest - seq < SEQUENCE_WINDOW;
}

/* The held frames are believed: the sequence goes on from them. */
static void follow_jump(struct sequence *s)
{
	uint64_t seq = s->candidates[0];

	s->stray -= s->held;
	if (s->jumped && plausible(&s->before_jump, seq)) {
		/* back to where it was: the jump was false, and its frames were strays */
		s->stray += s->span.unique + s->span.unique_before -
			    (s->before_jump.unique + s->before_jump.unique_before);
		s->span = s->before_jump;
		s->restarts = s->restarts_before_jump;
		s->jumped = false;
		/* what is not known any more counts as seen, so that no loss is undone twice */
		memset(s->window, 0xff, sizeof(s->window));
		for (uint8_t i = 0; i < s->held; i++)
			add_plausible(s, s->candidates[i]);
		return;
	}
	s->before_jump = s->span;
	s->restarts_before_jump = s->restarts;
	s->jumped = true;
	if (seq > s->span.highest && seq - s->span.highest <= SEQUENCE_GAP_MAX) {
		advance(s, seq);
	} else {
		s->restarts++;
		start_span(s, seq);
	}
	for (uint8_t i = 1; i < s->held; i++)
		advance(s, s->candidates[i]);
}

static enum sequence_verdict add_stray(struct sequence *s, uint64_t seq)
{
	s->stray++;
	if (s->held && seq - s->candidates[s->held - 1] != 1)
		s->held = 0;
	s->candidates[s->held++] = seq;
	if (s->held < SEQUENCE_CONFIRM)
		return SEQUENCE_STRAY;
	follow_jump(s);
	s->held = 0;
	return SEQUENCE_IN_ORDER;
}

enum sequence_verdict sequence_add(struct sequence *s, uint64_t seq)
{
	if (!s->received++) {
		start_span(s, seq);
		return SEQUENCE_IN_ORDER;
	}
	if (!plausible(&s->span, seq))
		return add_stray(s, seq);
	s->held = 0;
	return add_plausible(s, seq);
}

uint64_t sequence_before_first(uint64_t first, uint64_t restarts)
{
	return restarts || first >= SEQUENCE_BELIEVABLE ? 0 : first;
}

struct sequence_counts sequence_counts(const struct sequence *s)
{
	return (struct sequence_counts){
		.received = s->received,
		.unique = s->span.unique_before + s->span.unique,
		.lost = s->span.lost_before + lost_in_span(&s->span),
		.duplicate = s->duplicate,
		.reordered = s->reordered,
		.stray = s->stray,
		.restarts = s->restarts,
		.reorder_max = s->reorder_max,
		.gaps = s->span.gaps,
		.gap_max = s->span.gap_max,
		.before_first = sequence_before_first(s->span.first, s->restarts),
	};
}

// SPDX-License-Identifier: GPL-2.0-only
#include "report/series.h"

#include <stdlib.h>
#include <string.h>

#include "data/description.h"

struct series *series_new(const struct analysis_logs *logs)
{
	const struct log_reader *log = logs->rx ? logs->rx : logs->tx ? logs->tx : logs->wake;
	struct series *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->received = logs->rx;
	s->rx_stamp = logs->rx ? analysis_rx_stamp(logs->rx) : SOURCE_XDP;
	s->lead_ns = logs->tx ? description_number(log_description(logs->tx), "lead_ns", -1) : -1;
	s->expected = log && log_count(log) ? log_count(log) : 1;
	return s;
}

static void keep_worst(struct series *s, enum stamp_source source, const struct worst_frame *frame)
{
	struct worst_frame *worst = s->worst[source];
	size_t *count = &s->worst_count[source], i;

	if (*count == WORST_FRAMES && frame->value <= worst[WORST_FRAMES - 1].value)
		return;
	if (*count < WORST_FRAMES)
		++*count;
	for (i = *count - 1; i > 0 && worst[i - 1].value < frame->value; i--)
		worst[i] = worst[i - 1];
	worst[i] = *frame;
}

static void add(struct series *s, enum stamp_source source, int64_t stamp, int64_t due,
		struct worst_frame *frame)
{
	size_t bin = (size_t)((unsigned __int128)s->seen * SERIES_BINS / s->expected);
	struct series_bin *b = &s->bins[source][bin < SERIES_BINS ? bin : SERIES_BINS - 1];

	if (stamp == STAMP_NONE || due == STAMP_NONE ||
	    __builtin_sub_overflow(stamp, due, &frame->value))
		return;
	if (!b->count++) {
		b->first_time = stamp;
		b->min = b->max = frame->value;
	}
	if (frame->value < b->min)
		b->min = frame->value;
	if (frame->value > b->max)
		b->max = frame->value;
	b->sum += (double)frame->value;
	keep_worst(s, source, frame);
}

/* The sender's stamp of a frame, the better source first. */
static int64_t tx_stamp(const struct tx_record *r)
{
	return r->tx_hw != STAMP_NONE ? r->tx_hw : r->tx_sw;
}

static void explain(const struct series *s, const struct joined_frame *f, struct worst_frame *w)
{
	const struct tx_record *tx = f->tx;

	if (!tx)
		return;
	w->has_launch_error = tx_stamp(tx) != STAMP_NONE &&
			      !__builtin_sub_overflow(tx_stamp(tx), tx->launch, &w->launch_error);
	w->has_wakeup = s->lead_ns >= 0 && tx->wake != STAMP_NONE &&
			!__builtin_sub_overflow(tx->wake, tx->launch, &w->wakeup) &&
			!__builtin_add_overflow(w->wakeup, s->lead_ns, &w->wakeup);
}

static void add_received(struct series *s, const struct joined_frame *f)
{
	const struct rx_record *r = f->rx;
	int64_t stamps[SOURCE_COUNT] = { 0 };

	stamps[SOURCE_HW] = r->rx_hw;
	stamps[s->rx_stamp] = r->rx_xdp;
	stamps[SOURCE_USER] = r->rx_user;
	for (int i = 0; i < SOURCE_COUNT; i++) {
		struct worst_frame w = { .seq = (uint64_t)r->seq, .run = r->run };

		w.stream = r->stream;
		explain(s, f, &w);
		w.has_path = f->tx && tx_stamp(f->tx) != STAMP_NONE && stamps[i] != STAMP_NONE &&
			     !__builtin_sub_overflow(stamps[i], tx_stamp(f->tx), &w.path);
		add(s, (enum stamp_source)i, stamps[i], r->launch, &w);
	}
}

static void add_sent(struct series *s, const struct joined_frame *f)
{
	const struct tx_record *r = f->tx;
	struct worst_frame w = { .seq = (uint64_t)r->seq, .run = r->run, .stream = r->stream };

	explain(s, f, &w);
	w.has_launch_error = false; /* it is the value itself */
	add(s, SOURCE_HW, r->tx_hw, r->launch, &w);
	add(s, SOURCE_SW, r->tx_sw, r->launch, &w);
	add(s, SOURCE_USER, r->submit, r->launch, &w);
}

int series_frame(void *context, const struct joined_frame *f, struct error *err)
{
	struct series *s = context;

	(void)err;
	if (s->received && !f->rx)
		return 0;
	if (f->rx && !(f->rx->flags & RX_UNSYNCED) &&
	    (f->verdict == SEQUENCE_IN_ORDER || f->verdict == SEQUENCE_REORDERED)) {
		add_received(s, f);
	} else if (f->wake && !(f->wake->status & TX_UNSYNCED)) {
		struct worst_frame w = { .seq = (uint64_t)f->wake->seq, .run = f->wake->run };

		add(s, SOURCE_USER, f->wake->wake, f->wake->expected, &w);
	} else if (f->tx && !f->rx && (f->tx->status & (TX_SENT | TX_UNSYNCED)) == TX_SENT) {
		add_sent(s, f);
	}
	s->seen++;
	return 0;
}

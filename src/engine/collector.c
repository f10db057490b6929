// SPDX-License-Identifier: GPL-2.0-only
#include "engine/collector.h"

#include <stdlib.h>
#include <string.h>

#include "engine/plan.h"
#include "engine/transmit.h"

#define NONE UINT32_MAX
#define STREAM_STRIDE 0x9e3779b9ULL /* odd and large: streams that count alike keep apart */

struct waiting {
	struct tx_record record;
	int64_t until_ns; /* CLOCK_MONOTONIC */
	uint32_t next; /* in its hash chain */
	uint16_t stream; /* index */
	uint8_t missing; /* STAMP_... bits */
	bool complete;
};

struct collector {
	struct collector_settings settings;
	struct collector_counts counts;
	/* a ring in the order of sending */
	struct waiting *ring;
	uint64_t head, tail;
	uint32_t mask;
	/* (stream, seq) to place in the ring */
	uint32_t *chains;
	uint16_t *index_of; /* stream id to index + 1 */
	uint64_t *next_seq; /* by stream: for the records of withheld frames */
	/* stamps that overtook their frame's event */
	struct feedback *early;
	unsigned early_count;
	int64_t void_until_ns; /* CLOCK_MONOTONIC: wake-ups up to then may be of before a step */
};

struct collector *collector_new(const struct collector_settings *settings)
{
	struct collector *c = calloc(1, sizeof(*c));
	size_t room = 16;

	if (!c)
		return NULL;
	c->settings = *settings;
	c->void_until_ns = INT64_MIN;
	while (room < settings->room && room < 1U << 24)
		room *= 2;
	c->mask = (uint32_t)(room - 1);
	c->ring = calloc(room, sizeof(*c->ring));
	c->chains = malloc(room * sizeof(*c->chains));
	c->index_of = calloc(65536, sizeof(*c->index_of));
	c->next_seq = calloc(settings->count, sizeof(*c->next_seq));
	c->early = calloc(COLLECTOR_EARLY, sizeof(*c->early));
	if (!c->ring || !c->chains || !c->index_of || !c->next_seq || !c->early) {
		collector_free(c);
		return NULL;
	}
	memset(c->chains, 0xff, room * sizeof(*c->chains));
	for (unsigned i = 0; i < settings->count; i++)
		c->index_of[settings->streams[i].id] = (uint16_t)(i + 1);
	return c;
}

void collector_free(struct collector *c)
{
	if (!c)
		return;
	free(c->ring);
	free(c->chains);
	free(c->index_of);
	free(c->next_seq);
	free(c->early);
	free(c);
}

static uint32_t *chain_of(struct collector *c, unsigned stream, uint64_t seq)
{
	/* numbers that follow each other lie side by side: sixteen frames share a line of the cache */
	return &c->chains[(seq + stream * STREAM_STRIDE) & c->mask];
}

/* Out of its chain, on to the taker. */
static void finish(struct collector *c)
{
	struct waiting *w = &c->ring[c->tail & c->mask];
	uint32_t *link = chain_of(c, w->stream, (uint64_t)w->record.seq);

	while (*link != NONE && *link != (uint32_t)(c->tail & c->mask))
		link = &c->ring[*link].next;
	if (*link != NONE)
		*link = w->next;
	if (w->missing)
		c->counts.missing_stamps += (uint64_t)__builtin_popcount(w->missing);
	c->tail++;
	c->settings.record(c->settings.context, &w->record);
}

static void tell_withheld(struct collector *c, uint16_t stream, int64_t launch, uint16_t status)
{
	struct tx_record record = {
		.seq = (int64_t)c->next_seq[stream],
		.launch = launch,
		.stream = c->settings.streams[stream].id,
		.status = status,
		.run = c->settings.run,
	};

	c->settings.record(c->settings.context, &record);
}

/* One record for each frame that the gap swallowed, stream by stream. */
static void tell_gap(struct collector *c, const struct cycle_event *event)
{
	uint64_t told = 0;

	for (unsigned i = 0; i < c->settings.count; i++) {
		const struct stream *stream = &c->settings.streams[i];
		uint64_t count = plan_occurrences(stream, event->cycle, event->count);
		int64_t k = plan_stream_next(stream, event->cycle);

		for (uint64_t n = 0; n < count; n++, k += stream->every) {
			int64_t launch = c->settings.base_ns + k * c->settings.cycle_ns +
					 stream->offset_ns;

			if (told >= COLLECTOR_GAP_MAX) {
				c->counts.untold += (count - n) * stream->frames;
				break;
			}
			for (uint32_t f = 0; f < stream->frames; f++, told++)
				tell_withheld(c, (uint16_t)i, launch + f * c->settings.wire_ns[i],
					      event->status);
		}
	}
}

/* Gives a frame, which is in the ring, the stamps that came before its event. */
static void take_early(struct collector *c, uint16_t id, uint64_t seq)
{
	unsigned kept = 0, count = c->early_count;

	for (unsigned i = 0; i < count; i++) {
		struct feedback f = c->early[i];

		if (f.stream == id && f.seq == seq)
			collector_feedback(c, &f);
		else if (f.stream == id && f.seq < seq)
			c->counts.late_stamps++; /* its event was lost: it would wait for ever */
		else
			c->early[kept++] = f;
	}
	c->early_count = kept;
}

void collector_event(struct collector *c, const struct cycle_event *event, int64_t now_ns)
{
	bool launch_time = c->settings.launch_time;
	struct waiting *w;
	uint32_t *chain;

	if (event->kind == CYCLE_GAP) {
		tell_gap(c, event);
		return;
	}
	if (event->kind != CYCLE_FRAME || event->stream >= c->settings.count)
		return;
	if (c->head - c->tail > c->mask)
		finish(c);
	w = &c->ring[c->head & c->mask];
	*w = (struct waiting){
		.record = { .seq = (int64_t)event->seq,
			    .launch = event->launch,
			    .wake = event->wake,
			    .submit = event->submit,
			    .stream = c->settings.streams[event->stream].id,
			    .status = event->status,
			    .run = c->settings.run },
		.stream = event->stream,
		.missing = (uint8_t)(event->stamped ? c->settings.stamps : 0),
		.until_ns = now_ns + c->settings.patience_ns,
	};
	/* the launch may lie ahead, and what is reported then */
	if (launch_time && event->launch > event->submit && event->submit != STAMP_NONE)
		w->until_ns += event->launch - event->submit;
	/* why a frame was refused, the error queue or the end of the link may still tell */
	if (event->status & TX_SENT && event->woken_ns <= c->void_until_ns)
		w->record.status |= TX_UNSYNCED;
	w->complete = event->status & TX_SENT ? !w->missing && !launch_time
					      : !(event->status & TX_REFUSED);
	c->next_seq[event->stream] = event->seq + (event->status & (TX_SENT | TX_REFUSED) ? 1 : 0);
	/* withheld frames share the number of the one that is sent next: nothing is ever matched to them */
	w->next = NONE;
	if (event->status & (TX_SENT | TX_REFUSED)) {
		chain = chain_of(c, event->stream, event->seq);
		w->next = *chain;
		*chain = (uint32_t)(c->head & c->mask);
	}
	c->head++;
	/* only now it can be found; a withheld frame never is */
	if (c->early_count && (event->status & (TX_SENT | TX_REFUSED)))
		take_early(c, w->record.stream, event->seq);
}

int collector_feedback(struct collector *c, const struct feedback *f)
{
	static const struct {
		uint8_t bit;
		size_t at;
	} stamps[] = {
		[FEEDBACK_SCHED] = { STAMP_SCHED, offsetof(struct tx_record, tx_sched) },
		[FEEDBACK_SW] = { STAMP_SW, offsetof(struct tx_record, tx_sw) },
		[FEEDBACK_HW] = { STAMP_HW, offsetof(struct tx_record, tx_hw) },
	};
	int stream = c->index_of[f->stream] - 1;
	struct waiting *w = NULL;

	if (stream < 0 || f->run != c->settings.run) {
		c->counts.foreign++;
		return -1;
	}
	for (uint32_t at = *chain_of(c, (unsigned)stream, f->seq); at != NONE;
	     at = c->ring[at].next)
		if (c->ring[at].stream == stream && (uint64_t)c->ring[at].record.seq == f->seq) {
			w = &c->ring[at];
			break;
		}
	if (!w) {
		/* the number after the newest may be on its way through the events' ring */
		if (f->seq < c->next_seq[stream])
			c->counts.late_stamps++;
		else if (c->early_count < COLLECTOR_EARLY)
			c->early[c->early_count++] = *f;
		else
			c->counts.foreign++;
		return stream;
	}
	if (f->kind == FEEDBACK_MISSED || f->kind == FEEDBACK_INVALID) {
		w->record.status |= f->kind == FEEDBACK_MISSED ? TX_MISSED : TX_INVALID;
		w->missing = 0; /* it never left: no stamp will come */
		w->complete = true;
		return stream;
	}
	int64_t *stamp = (int64_t *)((uint8_t *)&w->record + stamps[f->kind].at);

	if (*stamp != STAMP_NONE) {
		c->counts.duplicate_stamps++;
		return stream;
	}
	*stamp = f->time;
	w->missing &= (uint8_t)~stamps[f->kind].bit;
	/* only a stamp of leaving says that no miss will be reported */
	if (!w->missing && (!c->settings.launch_time || w->record.tx_sw != STAMP_NONE ||
			    w->record.tx_hw != STAMP_NONE))
		w->complete = true;
	return stream;
}

void collector_stepped(struct collector *c, int64_t until_ns)
{
	if (until_ns > c->void_until_ns)
		c->void_until_ns = until_ns;
	for (uint64_t at = c->tail; at != c->head; at++) {
		struct waiting *w = &c->ring[at & c->mask];

		if (w->record.status & TX_SENT)
			w->record.status |= TX_UNSYNCED;
	}
}

void collector_settle(struct collector *c, int64_t now_ns)
{
	while (c->tail != c->head) {
		const struct waiting *w = &c->ring[c->tail & c->mask];

		if (!w->complete && now_ns < w->until_ns)
			return;
		finish(c);
	}
}

void collector_flush(struct collector *c)
{
	while (c->tail != c->head)
		finish(c);
}

size_t collector_waiting(const struct collector *c)
{
	return (size_t)(c->head - c->tail);
}

const struct collector_counts *collector_counts(const struct collector *c)
{
	return &c->counts;
}

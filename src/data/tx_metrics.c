// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "data/metrics.h"
#include "data/pairs.h"

#define SLOTS (2 * METRICS_STREAMS)

_Static_assert(offsetof(struct tx_stream, stream) == offsetof(struct pair_key, stream), "pair");

struct tx_metrics *tx_metrics_new(const struct tx_options *options)
{
	struct tx_metrics *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->options = *options;
	if (m->options.steady) {
		histogram_reserve(&m->wake);
		histogram_reserve(&m->submit);
	}
	return m;
}

void tx_stream_free(struct tx_stream *s)
{
	if (!s)
		return;
	for (int i = 0; i < SOURCE_COUNT; i++) {
		if (s->launch_error[i])
			histogram_free(s->launch_error[i]);
		free(s->launch_error[i]);
	}
	free(s);
}

static struct tx_stream *find_or_make(struct tx_metrics *m, uint32_t run, uint16_t stream)
{
	size_t index = pairs_find(m->slots, SLOTS, (void *const *)m->streams, run, stream);
	struct tx_stream *s;

	if (index != PAIR_NONE)
		return m->streams[index];
	if (m->count == METRICS_STREAMS)
		return NULL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->run = run;
	s->stream = stream;
	m->streams[m->count] = s;
	pairs_enter(m->slots, SLOTS, (void *const *)m->streams, m->count);
	m->count++;
	return s;
}

static void add_error(struct tx_metrics *m, struct tx_stream *s, enum stamp_source source,
		      int64_t stamp, const struct tx_record *r)
{
	struct histogram *h = s->launch_error[source];
	int64_t error;

	if (stamp == STAMP_NONE || __builtin_sub_overflow(stamp, r->launch, &error))
		return;
	if (!h) {
		h = histogram_at(&s->launch_error[source]);
		if (h && m->options.steady &&
		    m->steady_bytes + HISTOGRAM_RESERVED_BYTES <= METRICS_STEADY_BYTES) {
			histogram_reserve(h);
			m->steady_bytes += HISTOGRAM_RESERVED_BYTES;
		}
	}
	if (h)
		histogram_add(h, error, (uint64_t)r->seq, r->stream);
	s->counts.late[source] += m->options.deadline_ns && error > m->options.deadline_ns;
}

static void count_status(struct tx_counts *c, uint16_t status)
{
	c->records++;
	if (status == TX_SENT) { /* nearly all */
		c->sent++;
		return;
	}
	c->sent += !!(status & TX_SENT);
	c->skipped += !!(status & TX_SKIPPED);
	c->refused += !!(status & TX_REFUSED);
	c->missed += !!(status & TX_MISSED);
	c->invalid += !!(status & TX_INVALID);
	c->unsynced += (status & (TX_UNSYNCED | TX_SKIPPED)) == TX_UNSYNCED;
	c->untimed += (status & (TX_UNSYNCED | TX_SENT | TX_MISSED | TX_INVALID)) ==
		      (TX_UNSYNCED | TX_SENT);
	c->link_down += !!(status & TX_LINK_DOWN);
	c->paused += !!(status & TX_PAUSED);
}

/* All frames of a cycle bear the same wake: it is taken with the first of them. */
static void add_wake(struct tx_metrics *m, const struct tx_record *r)
{
	int64_t value;

	if (r->wake == STAMP_NONE || r->wake == m->last_wake)
		return;
	m->last_wake = r->wake;
	if (m->options.lead_ns >= 0 && r->launch != STAMP_NONE &&
	    !__builtin_sub_overflow(r->wake, r->launch, &value) &&
	    !__builtin_add_overflow(value, m->options.lead_ns, &value))
		histogram_add(&m->wake, value, (uint64_t)r->seq, r->stream);
	if (r->submit != STAMP_NONE && !__builtin_sub_overflow(r->submit, r->wake, &value))
		histogram_add(&m->submit, value, (uint64_t)r->seq, r->stream);
}

/* All of a frame but its wake-up. False: there is no room for its stream. */
static bool add_frame(struct tx_metrics *m, struct tx_stream **former, const struct tx_record *r)
{
	struct tx_stream *s = *former;

	if (!s || s->run != r->run || s->stream != r->stream)
		s = find_or_make(m, r->run, r->stream);
	if (!s) {
		m->other_frames++;
		return false;
	}
	*former = s;
	if (!s->counts.records)
		s->first_launch = r->launch;
	s->last_launch = r->launch;
	count_status(&s->counts, r->status);
	if (r->status & TX_UNSYNCED || !(r->status & TX_SENT) || r->launch == STAMP_NONE)
		return true;
	add_error(m, s, SOURCE_HW, r->tx_hw, r);
	add_error(m, s, SOURCE_SW, r->tx_sw, r);
	add_error(m, s, SOURCE_USER, r->submit, r);
	return true;
}

void tx_metrics_add(struct tx_metrics *m, const struct tx_record *r)
{
	if (r->stream == RECORD_STREAM_SYNC || !add_frame(m, &m->former, r))
		return;
	if (!(r->status & TX_UNSYNCED))
		add_wake(m, r);
}

void tx_metrics_add_block(struct tx_metrics *m, const struct tx_record *records, size_t count)
{
	struct tx_stream *former = NULL;
	uint16_t order[TX_BLOCK];

	/* wake-ups first, in their order: the frames of one cycle follow each other there */
	for (size_t i = 0; i < count; i++)
		if (records[i].stream != RECORD_STREAM_SYNC && !(records[i].status & TX_UNSYNCED))
			add_wake(m, &records[i]);
	pairs_group(records, sizeof(*records), offsetof(struct tx_record, stream), count, order);
	for (size_t k = 0; k < count; k++) {
		__builtin_prefetch(&records[order[k + 4 < count ? k + 4 : k]]);
		if (records[order[k]].stream != RECORD_STREAM_SYNC)
			add_frame(m, &former, &records[order[k]]);
	}
}

static void merge(struct tx_stream *into, const struct tx_stream *from)
{
	struct tx_counts *a = &into->counts;
	const struct tx_counts *b = &from->counts;

	if (!a->records || from->first_launch < into->first_launch)
		into->first_launch = from->first_launch;
	if (!a->records || from->last_launch > into->last_launch)
		into->last_launch = from->last_launch;
	a->records += b->records;
	a->sent += b->sent;
	a->skipped += b->skipped;
	a->refused += b->refused;
	a->link_down += b->link_down;
	a->paused += b->paused;
	a->missed += b->missed;
	a->invalid += b->invalid;
	a->unsynced += b->unsynced;
	a->untimed += b->untimed;
	for (int i = 0; i < SOURCE_COUNT; i++) {
		struct histogram *h;

		a->late[i] += b->late[i];
		if (!from->launch_error[i])
			continue;
		h = histogram_at(&into->launch_error[i]);
		if (h)
			histogram_merge(h, from->launch_error[i]);
	}
}

struct tx_stream *tx_metrics_total(const struct tx_metrics *m, const uint32_t *run)
{
	struct tx_stream *total = calloc(1, sizeof(*total));

	if (!total)
		return NULL;
	total->total = true;
	total->run = run ? *run : 0;
	for (size_t i = 0; i < m->count; i++)
		if (!run || m->streams[i]->run == *run)
			merge(total, m->streams[i]);
	return total;
}

enum stamp_source tx_best_source(const struct tx_stream *s)
{
	for (int i = 0; i < SOURCE_COUNT; i++)
		if (s->launch_error[i] && s->launch_error[i]->count)
			return (enum stamp_source)i;
	return SOURCE_COUNT;
}

void tx_metrics_free(struct tx_metrics *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->count; i++)
		tx_stream_free(m->streams[i]);
	histogram_free(&m->wake);
	histogram_free(&m->submit);
	free(m);
}

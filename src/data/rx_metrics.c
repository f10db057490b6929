// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/metrics.h"
#include "data/pairs.h"

#define SLOTS (2 * METRICS_STREAMS)
#define GIVE_UP_LOOKS 8
#define PEER_FIRST 256 /* frames; grows to what the stamp distance needs */
#define PEER_STEADY \
	8192 /* where memory is taken beforehand: a sender's threads may be kept waiting for a second */
#define PEER_BYTES_MAX (8U << 20)

_Static_assert(offsetof(struct rx_stream, stream) == offsetof(struct pair_key, stream), "pair");

struct rx_peer {
	size_t frames; /* a power of two */
	struct rx_peer_frame {
		uint64_t seq;
		int64_t rx[SOURCE_COUNT];
	} frame[];
};

struct rx_metrics *rx_metrics_new(const struct rx_options *options)
{
	struct rx_metrics *m = calloc(1, sizeof(*m));

	if (m)
		m->options = *options;
	return m;
}

static void free_histogram(struct histogram *h)
{
	if (h)
		histogram_free(h);
	free(h);
}

void rx_stream_free(struct rx_stream *s)
{
	if (!s)
		return;
	for (int i = 0; i < SOURCE_COUNT; i++) {
		free_histogram(s->latency[i]);
		free_histogram(s->variation[i]);
		for (int j = 0; j < SOURCE_COUNT; j++)
			free_histogram(s->path[i][j]);
	}
	free(s->sequence);
	free(s->peer);
	free(s);
}

static size_t peer_size(size_t frames)
{
	return sizeof(struct rx_peer) + frames * sizeof(struct rx_peer_frame);
}

static void merge(struct rx_stream *into, const struct rx_stream *from);

/* Its figures go into the total of those that were before. False without memory. */
static bool retire(struct rx_metrics *m, const struct rx_stream *s)
{
	if (!m->former)
		m->former = calloc(1, sizeof(*m->former));
	if (!m->former)
		return false;
	m->former->total = true;
	merge(m->former, s);
	m->former_pairs++;
	return true;
}

/*
 * The place in `streams` for a new pair: a free one, or that of the pair that is given up or makes room. Not all are looked at,
 * only the next few: the next frame of the pair comes here again.
 */
static size_t find_room(struct rx_metrics *m, int64_t now)
{
	size_t fewest = PAIR_NONE, silent = PAIR_NONE;
	struct rx_stream *s;

	if (m->count < METRICS_STREAMS)
		return m->count++;
	for (int i = 0; i < GIVE_UP_LOOKS; i++) {
		size_t index = m->hand;
		int64_t silence;

		m->hand = (m->hand + 1) % METRICS_STREAMS;
		s = m->streams[index];
		if (s->frames < METRICS_SETTLED &&
		    (fewest == PAIR_NONE || s->frames < m->streams[fewest]->frames))
			fewest = index;
		if (fewest == PAIR_NONE && s->last_user &&
		    !__builtin_sub_overflow(now, s->last_user, &silence) &&
		    silence > METRICS_SILENT_NS) {
			silent = index;
			break;
		}
	}
	if (fewest != PAIR_NONE) {
		m->other_frames += m->streams[fewest]->frames;
		m->other_pairs++;
	} else {
		if (silent == PAIR_NONE || !retire(m, m->streams[silent]))
			return PAIR_NONE;
		fewest = silent;
	}
	s = m->streams[fewest];
	pairs_remove(m->slots, SLOTS, (void *const *)m->streams, fewest);
	if (s->peer)
		m->peer_bytes -= peer_size(s->peer->frames);
	rx_stream_free(s);
	return fewest;
}

static struct rx_stream *find_or_make(struct rx_metrics *m, uint32_t run, uint16_t stream,
				      int64_t now)
{
	size_t index = pairs_find(m->slots, SLOTS, (void *const *)m->streams, run, stream);
	struct rx_stream *s;

	if (index != PAIR_NONE)
		return m->streams[index];
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	index = find_room(m, now);
	if (index == PAIR_NONE) {
		m->other_pairs++;
		rx_stream_free(s);
		return NULL;
	}
	s->run = run;
	s->stream = stream;
	m->streams[index] = s;
	pairs_enter(m->slots, SLOTS, (void *const *)m->streams, index);
	return s;
}

static void take_stamps(const struct rx_options *options, const struct rx_record *r,
			int64_t rx[SOURCE_COUNT])
{
	memset(rx, 0, SOURCE_COUNT * sizeof(*rx));
	rx[SOURCE_HW] = r->rx_hw;
	rx[options->stamp] = r->rx_xdp;
	rx[SOURCE_USER] = r->rx_user;
}

/*
 * What a better source tells, the moment at which user space took the frame does not tell better: of
 * `user` only the latency is kept then.
 */
static bool outdone(const int64_t rx[SOURCE_COUNT], int source)
{
	if (source != SOURCE_USER)
		return false;
	for (int i = 0; i < SOURCE_USER; i++)
		if (rx[i] != STAMP_NONE)
			return true;
	return false;
}

static void reserve(struct rx_metrics *m, struct histogram *h)
{
	if (!h || m->steady_bytes + HISTOGRAM_RESERVED_BYTES > METRICS_STEADY_BYTES)
		return;
	histogram_reserve(h);
	m->steady_bytes += HISTOGRAM_RESERVED_BYTES;
}

static void add_to(struct rx_metrics *m, const struct rx_stream *s, struct histogram **slot,
		   int64_t value, uint64_t seq)
{
	bool made = !*slot;
	struct histogram *h = histogram_at(slot);

	if (!h)
		return;
	if (made && s->steady)
		reserve(m, h);
	histogram_add(h, value, seq, s->stream);
}

static struct rx_peer *grow_peer(struct rx_metrics *m, struct rx_stream *s, size_t distance)
{
	size_t frames = s->peer ? s->peer->frames : PEER_FIRST;
	size_t old = s->peer ? peer_size(s->peer->frames) : 0;
	struct rx_peer *peer;

	if (s->steady && distance < PEER_STEADY &&
	    m->peer_bytes - old + peer_size(PEER_STEADY) < PEER_BYTES_MAX / 2)
		distance = PEER_STEADY - 1;
	if (s->peer && distance < frames)
		return s->peer;
	while (frames <= distance)
		frames *= 2;
	if (m->peer_bytes - old + peer_size(frames) > PEER_BYTES_MAX)
		return s->peer;
	peer = memory_touched(peer_size(frames));
	if (!peer)
		return s->peer;
	peer->frames = frames;
	if (s->peer)
		for (size_t i = 0; i < s->peer->frames; i++)
			peer->frame[s->peer->frame[i].seq & (frames - 1)] = s->peer->frame[i];
	m->peer_bytes += peer_size(frames) - old;
	free(s->peer);
	s->peer = peer;
	return peer;
}

/* One that is no passer-by: what it has, and what it gets later, takes its memory at once. */
static void make_steady(struct rx_metrics *m, struct rx_stream *s)
{
	s->steady = true;
	if (s->peer)
		grow_peer(m, s, 0);
	for (int i = 0; i < SOURCE_COUNT; i++) {
		reserve(m, s->latency[i]);
		reserve(m, s->variation[i]);
		for (int j = 0; j < SOURCE_COUNT; j++)
			reserve(m, s->path[i][j]);
	}
}

static void add_recent(struct rx_metrics *m, struct histogram *h, int64_t value,
		       const struct rx_record *r)
{
	if (m->options.steady && !h->count)
		histogram_reserve(h);
	histogram_add(h, value, (uint64_t)r->seq, r->stream);
}

/*
 * The live line shows a frame's best source alone, and the variation of the moment at which user space
 * took the frame says nothing about the network: what is not looked at is not computed, since this is
 * most of what a received frame costs.
 */
static void add_latency(struct rx_metrics *m, struct rx_stream *s, const struct rx_record *r,
			const int64_t rx[SOURCE_COUNT], bool in_order)
{
	uint64_t seq = (uint64_t)r->seq;
	bool follows = in_order && s->last_valid && seq - s->last_seq == 1;
	uint8_t valid = 0;

	for (int i = 0; i < SOURCE_COUNT; i++) {
		int64_t latency, variation;
		/* the first source that the frame has is its best */
		bool best = !valid, recent = best && !m->options.no_recent;

		if (rx[i] == STAMP_NONE || r->launch == STAMP_NONE ||
		    __builtin_sub_overflow(rx[i], r->launch, &latency))
			continue;
		add_to(m, s, &s->latency[i], latency, seq);
		if (recent)
			add_recent(m, &m->recent.latency[i], latency, r);
		if (m->options.deadline_ns && latency > m->options.deadline_ns) {
			s->counts.late[i]++;
			m->recent.late += best;
		}
		if (follows && s->last_valid >> i & 1 && (best || i != SOURCE_USER) &&
		    !__builtin_sub_overflow(latency, s->last_latency[i], &variation)) {
			add_to(m, s, &s->variation[i], variation, seq);
			if (recent)
				add_recent(m, &m->recent.variation[i], variation, r);
		}
		if (in_order)
			s->last_latency[i] = latency;
		valid |= (uint8_t)(1U << i);
	}
	if (in_order) {
		s->last_seq = seq;
		s->last_valid = valid;
	}
}

/* The stamp in this frame belongs to one that came before: RX - TX of that one. */
static void add_peer_path(struct rx_metrics *m, struct rx_stream *s, const struct rx_record *r,
			  const int64_t rx[SOURCE_COUNT])
{
	enum stamp_source tx = r->flags & RX_STAMP_HW ? SOURCE_HW : SOURCE_SW;
	uint64_t seq = (uint64_t)r->seq, stamped = seq - r->stamp_distance;
	struct rx_peer_frame *frame;
	struct rx_peer *peer = s->peer;

	/* not for the first frame: a forged pair has no other */
	if (r->flags & RX_STAMP && s->frames > 1)
		peer = grow_peer(m, s, r->stamp_distance);
	if (!peer)
		return;
	frame = &peer->frame[seq & (peer->frames - 1)];
	frame->seq = seq;
	memcpy(frame->rx, rx, sizeof(frame->rx));
	if (!(r->flags & RX_STAMP) || r->peer_tx == STAMP_NONE || r->stamp_distance > seq)
		return;
	frame = &peer->frame[stamped & (peer->frames - 1)];
	if (frame->seq != stamped)
		return;
	for (int i = 0; i < SOURCE_COUNT; i++) {
		int64_t path;

		if (frame->rx[i] != STAMP_NONE && !outdone(frame->rx, i) &&
		    !__builtin_sub_overflow(frame->rx[i], r->peer_tx, &path))
			add_to(m, s, &s->path[i][tx], path, stamped);
	}
	/* a duplicate of this frame must not count it twice */
	memset(frame->rx, 0, sizeof(frame->rx));
}

/*
 * The tracker is made with the second frame: most pairs of a flood of forged runs have one, and are
 * given up again soon.
 */
static enum sequence_verdict track(struct rx_stream *s, uint64_t seq)
{
	if (s->frames == 1) {
		s->first_seq = seq;
		return SEQUENCE_IN_ORDER;
	}
	if (!s->sequence) {
		s->sequence = calloc(1, sizeof(*s->sequence));
		if (!s->sequence)
			return SEQUENCE_STRAY;
		sequence_add(s->sequence, s->first_seq);
	}
	return sequence_add(s->sequence, seq);
}

struct rx_stream *rx_metrics_add(struct rx_metrics *m, const struct rx_record *r,
				 enum sequence_verdict *verdict)
{
	enum sequence_verdict what;
	int64_t rx[SOURCE_COUNT];
	struct rx_stream *s;

	if (r->stream == RECORD_STREAM_SYNC)
		return NULL;
	s = find_or_make(m, r->run, r->stream, r->rx_user);
	m->recent.frames++;
	if (!s) {
		m->other_frames++;
		return NULL;
	}
	if (!s->frames++) {
		s->first_launch = r->launch;
		s->size_min = s->size_max = r->size;
	}
	s->last_launch = r->launch;
	s->last_user = r->rx_user;
	if (r->size < s->size_min)
		s->size_min = r->size;
	if (r->size > s->size_max)
		s->size_max = r->size;
	what = track(s, (uint64_t)r->seq);
	if (verdict)
		*verdict = what;
	if (m->options.steady && !s->steady && s->frames >= METRICS_SETTLED)
		make_steady(m, s);
	if (what == SEQUENCE_DUPLICATE || what == SEQUENCE_STRAY)
		return s;
	if (r->flags & RX_UNSYNCED) {
		s->counts.unsynced++;
		s->last_valid = 0;
		return s;
	}
	take_stamps(&m->options, r, rx);
	add_latency(m, s, r, rx, what == SEQUENCE_IN_ORDER);
	if (!m->options.no_peer_path)
		add_peer_path(m, s, r, rx);
	return s;
}

struct rx_stream *rx_metrics_unseen(struct rx_metrics *m, uint32_t run, uint16_t stream,
				    uint64_t frames)
{
	struct rx_stream *s = find_or_make(m, run, stream, 0);

	if (!s)
		m->other_frames += frames;
	return s;
}

void rx_stream_add_path(struct rx_metrics *m, struct rx_stream *s, const struct rx_record *r,
			const struct tx_record *t)
{
	int64_t rx[SOURCE_COUNT], tx[SOURCE_COUNT] = { 0 };

	take_stamps(&m->options, r, rx);
	tx[SOURCE_HW] = t->tx_hw;
	tx[SOURCE_SW] = t->tx_sw;
	for (int i = 0; i < SOURCE_COUNT; i++)
		for (int j = 0; j < SOURCE_COUNT; j++) {
			int64_t path;

			if (rx[i] != STAMP_NONE && tx[j] != STAMP_NONE && !outdone(rx, i) &&
			    !__builtin_sub_overflow(rx[i], tx[j], &path))
				add_to(m, s, &s->path[i][j], path, (uint64_t)r->seq);
		}
}

struct rx_counts rx_stream_counts(const struct rx_stream *s)
{
	struct rx_counts counts = s->counts;

	if (s->sequence) {
		counts.sequence = sequence_counts(s->sequence);
	} else if (!s->total && !counts.sequence.received) {
		counts.sequence.received = counts.sequence.unique = s->frames ? 1 : 0;
	}
	return counts;
}

uint64_t rx_expected(const struct rx_counts *counts)
{
	return counts->sequence.unique + counts->sequence.lost;
}

static void merge_histogram(struct histogram **into, const struct histogram *from)
{
	struct histogram *h;

	if (!from)
		return;
	h = histogram_at(into);
	if (h)
		histogram_merge(h, from);
}

static void merge_counts(struct rx_stream *into, const struct rx_stream *from)
{
	struct rx_counts *a = &into->counts, b = rx_stream_counts(from);

	if (!into->frames || from->first_launch < into->first_launch)
		into->first_launch = from->first_launch;
	if (!into->frames || from->last_launch > into->last_launch)
		into->last_launch = from->last_launch;
	if (!into->frames || from->size_min < into->size_min)
		into->size_min = from->size_min;
	if (!into->frames || from->size_max > into->size_max)
		into->size_max = from->size_max;
	into->frames += from->frames;
	a->sequence.received += b.sequence.received;
	a->sequence.unique += b.sequence.unique;
	a->sequence.lost += b.sequence.lost;
	a->sequence.duplicate += b.sequence.duplicate;
	a->sequence.reordered += b.sequence.reordered;
	a->sequence.stray += b.sequence.stray;
	a->sequence.restarts += b.sequence.restarts;
	a->sequence.gaps += b.sequence.gaps;
	if (b.sequence.gap_max > a->sequence.gap_max)
		a->sequence.gap_max = b.sequence.gap_max;
	/* a stream that has just begun may be a forged one, with any number */
	if (from->frames >= METRICS_SETTLED)
		a->sequence.before_first += b.sequence.before_first;
	if (b.sequence.reorder_max > a->sequence.reorder_max)
		a->sequence.reorder_max = b.sequence.reorder_max;
	a->unsynced += b.unsynced;
	for (int i = 0; i < SOURCE_COUNT; i++) {
		a->late[i] += b.late[i];
		a->unsure[i] += b.unsure[i];
	}
}

static void merge(struct rx_stream *into, const struct rx_stream *from)
{
	merge_counts(into, from);
	for (int i = 0; i < SOURCE_COUNT; i++) {
		merge_histogram(&into->latency[i], from->latency[i]);
		merge_histogram(&into->variation[i], from->variation[i]);
		for (int j = 0; j < SOURCE_COUNT; j++)
			merge_histogram(&into->path[i][j], from->path[i][j]);
	}
}

struct rx_stream *rx_metrics_total(const struct rx_metrics *m, const uint32_t *run)
{
	struct rx_stream *total = calloc(1, sizeof(*total));

	if (!total)
		return NULL;
	total->total = true;
	total->run = run ? *run : 0;
	if (!run && m->former)
		merge(total, m->former);
	for (size_t i = 0; i < m->count; i++)
		if (!run || m->streams[i]->run == *run)
			merge(total, m->streams[i]);
	return total;
}

struct rx_counts rx_metrics_counts(const struct rx_metrics *m)
{
	struct rx_stream total = { .total = true };

	if (m->former)
		merge_counts(&total, m->former);
	for (size_t i = 0; i < m->count; i++)
		merge_counts(&total, m->streams[i]);
	return total.counts;
}

void rx_metrics_reset_recent(struct rx_metrics *m)
{
	m->recent.frames = 0;
	m->recent.late = 0;
	for (int i = 0; i < SOURCE_COUNT; i++) {
		histogram_reset(&m->recent.latency[i]);
		histogram_reset(&m->recent.variation[i]);
	}
}

void rx_metrics_free(struct rx_metrics *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->count; i++)
		rx_stream_free(m->streams[i]);
	rx_stream_free(m->former);
	for (int i = 0; i < SOURCE_COUNT; i++) {
		histogram_free(&m->recent.latency[i]);
		histogram_free(&m->recent.variation[i]);
	}
	free(m);
}

enum stamp_source rx_best_source(const struct rx_stream *s)
{
	struct rx_counts counts = rx_stream_counts(s);
	uint64_t timed = counts.sequence.unique - counts.unsynced;
	enum stamp_source most = SOURCE_COUNT;

	for (int i = 0; i < SOURCE_COUNT; i++) {
		uint64_t n = s->latency[i] ? s->latency[i]->count : 0;

		if (n && n >= timed - timed / 2)
			return (enum stamp_source)i;
		if (n && (most == SOURCE_COUNT || n > s->latency[most]->count))
			most = (enum stamp_source)i;
	}
	return most;
}

const struct histogram *rx_best_path(const struct rx_stream *s, enum stamp_source *rx,
				     enum stamp_source *tx)
{
	for (int i = 0; i < SOURCE_COUNT; i++)
		for (int j = 0; j < SOURCE_COUNT; j++)
			if (s->path[i][j] && s->path[i][j]->count) {
				*rx = (enum stamp_source)i;
				*tx = (enum stamp_source)j;
				return s->path[i][j];
			}
	return NULL;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The statistics of one stream on one CPU: sequence and latency histogram. No loops without a bound,
 * no division, no memory but the struct. The same code runs in XDP and in user space.
 */
#ifndef BPF_RECEIVE_TRACK_H
#define BPF_RECEIVE_TRACK_H

#include "bpf/receive.h"
#include "bpf/receive_parse.h"

#define RX_WINDOW_WORDS (RX_WINDOW / 64)

RX_INLINE void rx_window_fill(struct rx_stream_stats *stats, __u64 word)
{
	for (int i = 0; i < RX_WINDOW_WORDS; i++)
		stats->window[i] = word;
}

RX_INLINE void rx_window_set(struct rx_stream_stats *stats, __u64 seq)
{
	stats->window[(seq / 64) % RX_WINDOW_WORDS] |= 1ULL << (seq % 64);
}

/* The lowest `count` bits; none below 0. No branches: the verifier would follow each for each word. */
RX_INLINE __u64 rx_low_bits(__s64 count)
{
	__u64 none = (__u64)(count >> 63), all = (__u64)((63 - count) >> 63);

	return (((1ULL << (count & 63)) - 1) | all) & ~none;
}

/* The numbers above `highest`, up to `seq`, have not been seen. 0 < seq - highest. */
RX_INLINE void rx_window_advance(struct rx_stream_stats *stats, __u64 seq)
{
	__u64 step = seq - stats->span.highest, first = (stats->span.highest + 1) % RX_WINDOW;

	if (step == 1) {
		stats->window[(seq / 64) % RX_WINDOW_WORDS] &= ~(1ULL << (seq % 64));
		return;
	}
	if (step >= RX_WINDOW) {
		rx_window_fill(stats, 0);
		return;
	}
	/* of each word the bits whose distance from `first`, around the ring, is below `step` */
	RX_UNROLL
	for (__u64 word = 0; word < RX_WINDOW_WORDS; word++) {
		__s64 distance = (__s64)((word * 64 - first) % RX_WINDOW);
		__u64 is_first = (__u64)((__s64)((word ^ first / 64) - 1) >> 63);

		stats->window[word] &= ~(rx_low_bits((__s64)step - distance) |
					 (rx_low_bits((__s64)step) << (first % 64) & is_first));
	}
}

RX_INLINE int rx_plausible(const struct rx_span *span, __u64 seq)
{
	return seq > span->highest ? seq - span->highest <= RX_JUMP
				   : span->highest - seq < RX_WINDOW;
}

/* `seq` is above the highest. */
RX_INLINE void rx_note_gap(struct rx_span *span, __u64 seq)
{
	__u64 missed = seq - span->highest - 1;

	if (!missed)
		return;
	span->gaps++;
	if (missed > span->gap_max)
		span->gap_max = missed;
}

/* A jump is taken back: the frames since were strays, and RX_CONFIRM from `from` on continue from before it. */
RX_INLINE void rx_jump_back(struct rx_stream_stats *stats, __u64 from)
{
	struct rx_span *span = &stats->span;
	__u64 seen = 0;

	stats->stray += span->unique + span->unique_before -
			(stats->before_jump.unique + stats->before_jump.unique_before);
	*span = stats->before_jump;
	stats->jumped = 0;
	/* what is not known any more counts as seen, so that no loss is undone twice */
	rx_window_fill(stats, ~0ULL);
	if (from > span->highest) {
		rx_window_advance(stats, from);
		rx_note_gap(span, from);
	} else {
		seen = span->highest - from + 1;
		if (seen > RX_CONFIRM)
			seen = RX_CONFIRM;
	}
	stats->duplicate += seen;
	span->unique += RX_CONFIRM - seen;
	if (from + (RX_CONFIRM - 1) > span->highest)
		span->highest = from + (RX_CONFIRM - 1);
}

/* Believed: RX_CONFIRM frames in a row from `from` on. */
RX_INLINE void rx_jump(struct rx_stream_stats *stats, __u64 from)
{
	struct rx_span *span = &stats->span;

	stats->before_jump = *span;
	stats->jumped = 1;
	rx_window_fill(stats, 0);
	if (from > span->highest && from - span->highest <= RX_GAP_MAX) {
		rx_note_gap(span, from);
		span->unique += RX_CONFIRM;
	} else {
		span->restarts++;
		span->lost_before += span->highest - span->first + 1 - span->unique;
		span->unique_before += span->unique;
		span->first = from;
		span->unique = RX_CONFIRM;
	}
	span->highest = from + (RX_CONFIRM - 1);
}

RX_INLINE int rx_track_stray(struct rx_stream_stats *stats, __u64 seq)
{
	stats->stray++;
	stats->stray_row = stats->stray_row && seq == stats->stray_next ? stats->stray_row + 1 : 1;
	stats->stray_next = seq + 1;
	if (stats->stray_row < RX_CONFIRM)
		return 0;
	stats->stray -= RX_CONFIRM;
	stats->stray_row = 0;
	if (stats->jumped && rx_plausible(&stats->before_jump, seq - (RX_CONFIRM - 1)))
		rx_jump_back(stats, seq - (RX_CONFIRM - 1));
	else
		rx_jump(stats, seq - (RX_CONFIRM - 1));
	RX_UNROLL
	for (__u64 i = 0; i < RX_CONFIRM; i++)
		rx_window_set(stats, seq - i);
	return 1;
}

/* Returns 0 for a duplicate and a stray: nothing of such a frame counts. */
RX_INLINE int rx_track_sequence(struct rx_stream_stats *stats, __u64 seq)
{
	struct rx_span *span = &stats->span;

	if (!span->unique) {
		span->first = span->highest = seq;
		span->unique = 1;
		rx_window_set(stats, seq);
		return 1;
	}
	if (!rx_plausible(span, seq))
		return rx_track_stray(stats, seq);
	stats->stray_row = 0;
	if (seq > span->highest) {
		rx_window_advance(stats, seq);
		rx_note_gap(span, seq);
		span->highest = seq;
	} else {
		__u64 behind = span->highest - seq;

		if (stats->window[(seq / 64) % RX_WINDOW_WORDS] & 1ULL << (seq % 64)) {
			stats->duplicate++;
			return 0;
		}
		stats->reordered++;
		if (behind > stats->reorder_max)
			stats->reorder_max = behind;
		if (seq < span->first)
			span->first = seq;
	}
	span->unique++;
	rx_window_set(stats, seq);
	return 1;
}

/* `stamp` 0: there is none of the histogram's source; `launch` 0: no launch time. */
RX_INLINE void rx_track_latency(struct rx_stream_stats *stats, __u64 seq, __u64 launch, __u64 stamp)
{
	__s64 latency = (__s64)(stamp - launch);
	__u32 bucket;

	if (!stamp || !launch)
		return;
	if (!stats->latency_count || latency < stats->latency_min) {
		stats->latency_min = latency;
		stats->latency_min_seq = seq;
	}
	if (!stats->latency_count || latency > stats->latency_max) {
		stats->latency_max = latency;
		stats->latency_max_seq = seq;
	}
	stats->latency_count++;
	stats->latency_sum += (__u64)latency;
	stats->latency_sum_high += (latency >> 63) + (stats->latency_sum < (__u64)latency);
	bucket = bucket_of_signed(latency, RX_HISTOGRAM_BITS);
	if (bucket < RX_HISTOGRAM_BUCKETS) /* always: for the verifier */
		stats->histogram[bucket]++;
}

/* The record of a frame of ours; the stamps and the queue are the caller's to fill in. */
RX_INLINE void rx_fill_event(struct rx_event *event, const struct rx_parsed *parsed, __u32 size)
{
	const struct wire_payload *payload = parsed->payload;
	__u16 flags = payload->flags & (WIRE_FLAG_STAMP | WIRE_FLAG_LAST);

	event->seq = rx_get64(payload->seq);
	event->launch = rx_get64(payload->launch);
	event->peer_tx = flags & WIRE_FLAG_STAMP ? rx_get64(payload->stamp) : 0;
	event->run = rx_get32(payload->run);
	event->stream = rx_be16(payload->stream);
	if (payload->flags & WIRE_FLAG_STAMP_HW)
		flags |= RX_EVENT_STAMP_HW;
	if (parsed->tags)
		flags |= RX_EVENT_VLAN;
	if (size > 0xffff) {
		flags |= RX_EVENT_CUT;
		size = 0xffff;
	}
	event->flags = flags;
	event->size = (__u16)size;
	event->stamp_distance = rx_be16(payload->stamp_distance);
	event->reserved = 0;
}

/* All of it. `stamp` as for rx_track_latency(). */
RX_INLINE void rx_track(struct rx_stream_stats *stats, const struct rx_event *event, __u64 stamp)
{
	stats->frames++;
	stats->bytes += event->size;
	stats->last_ns = event->rx_xdp;
	if (!rx_track_sequence(stats, event->seq))
		return;
	stats->flags |= event->flags;
	rx_track_latency(stats, event->seq, event->launch, stamp);
}

#endif

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

RX_INLINE void rx_window_clear(struct rx_stream_stats *stats)
{
	for (int i = 0; i < RX_WINDOW_WORDS; i++)
		stats->window[i] = 0;
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

/* The numbers above `highest`, up to `seq`, have not been seen. 0 < seq - highest <= RX_JUMP. */
RX_INLINE void rx_window_advance(struct rx_stream_stats *stats, __u64 seq)
{
	__u64 step = seq - stats->highest, first = (stats->highest + 1) % RX_WINDOW;

	if (step == 1) {
		stats->window[(seq / 64) % RX_WINDOW_WORDS] &= ~(1ULL << (seq % 64));
		return;
	}
	if (step >= RX_WINDOW) {
		rx_window_clear(stats);
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

RX_INLINE void rx_track_stray(struct rx_stream_stats *stats, __u64 seq)
{
	stats->stray++;
	stats->stray_row = stats->stray_row && seq == stats->stray_next ? stats->stray_row + 1 : 1;
	stats->stray_next = seq + 1;
	if (stats->stray_row < RX_CONFIRM)
		return;
	/* believed: a numbering of its own begins with the first of them */
	stats->lost_before += stats->highest - stats->first + 1 - stats->unique;
	stats->unique_before += stats->unique;
	stats->stray -= RX_CONFIRM;
	stats->restarts++;
	stats->first = seq - (RX_CONFIRM - 1);
	stats->highest = seq;
	stats->unique = RX_CONFIRM;
	stats->stray_row = 0;
	rx_window_clear(stats);
	RX_UNROLL
	for (__u64 i = 0; i < RX_CONFIRM; i++)
		rx_window_set(stats, seq - i);
}

RX_INLINE void rx_track_sequence(struct rx_stream_stats *stats, __u64 seq)
{
	__u64 ahead = seq - stats->highest, behind = stats->highest - seq, bit = 1ULL << (seq % 64);

	if (!stats->unique) {
		stats->first = stats->highest = seq;
		stats->unique = 1;
		rx_window_set(stats, seq);
		return;
	}
	if (seq > stats->highest && ahead <= RX_JUMP) {
		rx_window_advance(stats, seq);
		stats->highest = seq;
		if (ahead > 1) {
			stats->gaps++;
			if (ahead - 1 > stats->gap_max)
				stats->gap_max = ahead - 1;
		}
	} else if (seq <= stats->highest && behind < RX_WINDOW) {
		if (stats->window[(seq / 64) % RX_WINDOW_WORDS] & bit) {
			stats->duplicate++;
			return;
		}
		stats->reordered++;
		if (behind > stats->reorder_max)
			stats->reorder_max = behind;
		if (seq < stats->first)
			stats->first = seq;
	} else {
		rx_track_stray(stats, seq);
		return;
	}
	stats->stray_row = 0;
	stats->unique++;
	rx_window_set(stats, seq);
}

/* `stamp` 0: there is none of the histogram's source. */
RX_INLINE void rx_track_latency(struct rx_stream_stats *stats, __u64 seq, __u64 launch, __u64 stamp)
{
	__s64 latency = (__s64)(stamp - launch);
	__u32 bucket;

	if (!stamp)
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
	stats->latency_sum += latency;
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
	stats->flags |= event->flags;
	rx_track_sequence(stats, event->seq);
	rx_track_latency(stats, event->seq, event->launch, stamp);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the receiver's XDP program and user space share. The socket receiver runs the same parser and
 * keeps the same statistics. Include <linux/bpf.h> before it.
 */
#ifndef BPF_RECEIVE_H
#define BPF_RECEIVE_H

#include "bpf/bucket.h"

#define RX_HISTOGRAM_BITS 5 /* sub-buckets in the kernel: 1/32 of the value wide */
#define RX_HISTOGRAM_BUCKETS BUCKETS_SIGNED(RX_HISTOGRAM_BITS)
#define RX_STREAM_FILTERS 64 /* --stream, at most */
#define RX_ETHERTYPES 8 /* other EtherTypes remembered for each CPU */

/* Set before the program is loaded, constant from then on. */
struct rx_config {
	__u16 ethertype; /* host order */
	__u8 pass; /* matched frames go on to the network stack */
	__u8 histogram_hw; /* histogram of hardware stamps, else of the program's own */
	__u8 clock_tai; /* bpf_ktime_get_tai_ns() exists (6.1); else monotonic + rx_shared.tai_offset */
	__u8 frags; /* bpf_xdp_get_buff_len() exists (5.18) */
	__u8 filter_run; /* only frames of `run` */
	__u8 reserved;
	__u32 run;
	__u32 stream_filters; /* entries of `streams` in use; 0: all streams */
	__u32 streams_max; /* entries of the map of streams */
	__u32 streams_open; /* up to here a new stream is taken at once; above it has to prove itself */
	__u32 candidates_mask; /* entries of the map of candidates - 1 */
	__u64 secret; /* so that nobody outside can aim at one candidate */
	__u64 wakeup_ns; /* user space is woken at most once in this time (each CPU) */
	__u16 streams[RX_STREAM_FILTERS];
};

/* Written by both sides while the program runs (one element of a mapped array). */
struct rx_shared {
	__u64 tai_offset; /* TAI - CLOCK_MONOTONIC, ns; for kernels without a TAI clock in BPF */
	__u32 streams_used; /* entries of the map of streams: added to here, subtracted by user space */
	__u32 reserved;
};

/* One for each CPU; each frame that the program saw is in exactly one of the first group. */
struct rx_counters {
	__u64 ours; /* handed over, or counted in records_lost */
	__u64 ignored_stream; /* not in --stream */
	__u64 ignored_run; /* not --run */
	__u64 ignored_many; /* too many runs or streams */
	__u64 too_short; /* our EtherType, and less than a payload behind it */
	__u64 wrong_version;
	__u64 wrong_magic; /* our EtherType, and somebody else's payload */
	__u64 wrong_ethertype; /* our magic behind another EtherType */
	__u64 all_zero; /* as igc inserts them */
	__u64 foreign;
	/* facts beside it */
	__u64 bytes; /* of `ours` */
	__u64 tagged; /* of `ours`, with a VLAN tag */
	__u64 records_lost; /* of `ours`: the ring was full */
	__u64 no_hw_stamp; /* of `ours`: the driver gave none */
	__u64 wakeups;
	__u64 last_wakeup;
	__u16 last_wrong_ethertype; /* host order */
	__u8 last_wrong_version;
	__u8 reserved;
	__u32 last_ignored_run;
	__u16 last_ignored_stream;
	__u16 ethertype[RX_ETHERTYPES]; /* first ones of `foreign`, host order */
	__u64 ethertype_frames[RX_ETHERTYPES];
} __attribute__((aligned(64)));

/* rx_event.flags: those of struct rx_record (data/record.h) */
#define RX_EVENT_STAMP 1
#define RX_EVENT_LAST 2
#define RX_EVENT_VLAN 4
#define RX_EVENT_CUT 16
#define RX_EVENT_STAMP_HW 32

/* One frame in the ring: 56 bytes, so that it fills a cache line with the ring's own 8. Host order. */
struct rx_event {
	__u64 seq;
	__u64 launch;
	__u64 rx_hw; /* 0: none */
	__u64 rx_xdp;
	__u64 peer_tx;
	__u32 run;
	__u16 stream;
	__u16 flags;
	__u16 size;
	__u16 queue;
	__u16 stamp_distance;
	__u16 reserved;
};

struct rx_stream_key {
	__u32 run;
	__u16 stream;
	__u16 reserved;
};

#define RX_WINDOW 1024 /* frames behind the highest that can be told apart */
#define RX_JUMP 65536 /* a larger step is believed only when frames in a row continue from it */
#define RX_CONFIRM 16
#define RX_GAP_MAX (1ULL << 32) /* a larger confirmed step is a restart, not loss */

/* Where a numbering stands. */
struct rx_span {
	__u64 first, highest; /* of those believed in */
	__u64 unique;
	__u64 lost_before, unique_before; /* of numberings that a restart ended */
	__u64 restarts; /* strays that were confirmed, and no loss: the numbering began anew */
	__u64 gaps, gap_max; /* steps over missing numbers, and the most that one step missed */
};

/*
 * Kept in the kernel, exact whether or not the record found room in the ring. All CPUs share it: a stream
 * comes in on one queue, so that the lock is free but where the queue moves to another CPU, and only so
 * are duplicates and reordering exact there.
 */
struct rx_stream_stats {
	struct bpf_spin_lock lock;
	__u32 reserved;
	__u64 frames;
	__u64 bytes;
	__u64 records_lost;
	__u64 last_ns; /* stamp of the last frame */
	__u64 flags; /* RX_EVENT_* of all frames together but duplicates and strays */
	/* sequence */
	struct rx_span span;
	struct rx_span before_jump; /* in case it proves to be false */
	__u64 jumped; /* before_jump is valid */
	__u64 duplicate;
	__u64 reordered;
	__u64 stray; /* implausible numbers, and those too late for the window */
	__u64 reorder_max; /* largest distance, in numbers, behind the highest */
	__u64 stray_next,
		stray_row; /* number that would continue the stray, how many did in a row */
	__u64 window[RX_WINDOW / 64]; /* seen: bit seq % RX_WINDOW */
	/* latency: stamp - launch, ns; of neither duplicates nor strays */
	__u64 latency_count;
	__s64 latency_min, latency_max;
	__u64 latency_sum; /* lower half of 128 bits: with clocks 37 s apart 64 are full after some hours */
	__s64 latency_sum_high;
	__u64 latency_min_seq, latency_max_seq;
	__u64 histogram[RX_HISTOGRAM_BUCKETS];
};

/*
 * A run or stream that is new while many are known already: it gets an entry when RX_PROOF frames
 * with plausible numbers have come before another one took its place here.
 */
#define RX_PROOF 3
#define RX_CANDIDATES 65536

struct rx_candidate {
	__u32 run;
	__u16 stream;
	__u16 frames;
	__u64 seq;
};

#endif

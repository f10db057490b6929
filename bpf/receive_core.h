/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The XDP receiver. It exists twice: receive.bpf.c for any driver, and receive_hw.bpf.c, which calls the
 * driver for the hardware's stamp and is bound to one interface. RX_HARDWARE tells which.
 *
 * For each frame of ours: stamp, statistics of its stream (run and stream), one record into the ring.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/receive.h"
#include "bpf/receive_parse.h"
#include "bpf/receive_track.h"

#define RX_CPUS 4096 /* resized to the possible CPUs at load time */

const volatile struct rx_config config = { 0 };

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, RX_CPUS);
	__type(key, __u32);
	__type(value, struct rx_counters);
} counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct rx_shared);
} shared SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, struct rx_stream_key);
	__type(value, struct rx_stream_stats);
} streams SEC(".maps");

/* An all-zero entry: too large for the stack. As bytes, since a lock may not be copied. */
struct rx_blank {
	__u8 bytes[sizeof(struct rx_stream_stats)];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct rx_blank);
} blank SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RX_CANDIDATES);
	__type(key, __u32);
	__type(value, struct rx_candidate);
} candidates SEC(".maps");

/* Has this new stream shown enough plausible frames? */
static __always_inline int proven(const struct rx_event *event)
{
	__u64 hash = (((__u64)event->run << 16) | event->stream) ^ config.secret;
	struct rx_candidate *candidate;
	__u32 index;

	hash *= 0x9e3779b97f4a7c15ULL; /* 2^64 / golden ratio: multiplicative hashing */
	index = (hash >> 40) & config.candidates_mask;
	candidate = bpf_map_lookup_elem(&candidates, &index);
	if (!candidate)
		return 0;
	if (candidate->run != event->run || candidate->stream != event->stream ||
	    !candidate->frames || event->seq - candidate->seq - 1 > 64) {
		candidate->run = event->run;
		candidate->stream = event->stream;
		candidate->frames = 1;
		candidate->seq = event->seq;
		return 0;
	}
	candidate->seq = event->seq;
	return ++candidate->frames >= RX_PROOF;
}

static __always_inline struct rx_stream_stats *stats_of(const struct rx_event *event)
{
	struct rx_stream_key key = { .run = event->run, .stream = event->stream };
	struct rx_stream_stats *stats = bpf_map_lookup_elem(&streams, &key);
	struct rx_shared *state;
	__u32 zero = 0;
	void *empty;

	if (stats)
		return stats;
	state = bpf_map_lookup_elem(&shared, &zero);
	empty = bpf_map_lookup_elem(&blank, &zero);
	if (!state || !empty || state->streams_used >= config.streams_max)
		return 0;
	if (state->streams_used >= config.streams_open && !proven(event))
		return 0;
	if (bpf_map_update_elem(&streams, &key, empty, BPF_NOEXIST))
		return 0;
	__sync_fetch_and_add(&state->streams_used, 1);
	return bpf_map_lookup_elem(&streams, &key);
}

static __always_inline __u64 now_tai(void)
{
	struct rx_shared *state;
	__u32 zero = 0;

	if (config.clock_tai)
		return bpf_ktime_get_tai_ns();
	state = bpf_map_lookup_elem(&shared, &zero);
	return bpf_ktime_get_ns() + (state ? state->tai_offset : 0);
}

static __always_inline int wanted_stream(__u16 stream)
{
	__u32 count = config.stream_filters;

	if (!count)
		return 1;
	for (__u32 i = 0; i < RX_STREAM_FILTERS; i++) {
		if (i >= count)
			break;
		if (config.streams[i] == stream)
			return 1;
	}
	return 0;
}

/* Waking user space costs more than a frame does: never more often than every wakeup_ns. */
static __always_inline __u64 wakeup_flag(struct rx_counters *count, __u64 now)
{
	if (now - count->last_wakeup < config.wakeup_ns)
		return BPF_RB_NO_WAKEUP;
	count->last_wakeup = now;
	count->wakeups++;
	return BPF_RB_FORCE_WAKEUP;
}

static __always_inline int receive(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u32 cpu = bpf_get_smp_processor_id();
	struct rx_stream_stats *stats;
	struct rx_event event, *record;
	struct rx_counters *count;
	enum rx_verdict verdict;
	struct rx_parsed parsed;

	count = bpf_map_lookup_elem(&counters, &cpu);
	if (!count)
		return XDP_PASS;
	verdict = rx_parse(data, end, config.ethertype, &parsed);
	if (verdict != RX_OURS) {
		rx_count_other(count, verdict, &parsed);
		return XDP_PASS;
	}
	event.rx_xdp = now_tai();
	event.rx_hw = 0;
#ifdef RX_HARDWARE
	if (bpf_xdp_metadata_rx_timestamp(ctx, &event.rx_hw))
		event.rx_hw = 0;
#endif
	rx_fill_event(&event, &parsed,
		      config.frags ? (__u32)bpf_xdp_get_buff_len(ctx) : (__u32)(end - data));
	event.queue = (__u16)ctx->rx_queue_index;
	if (!wanted_stream(event.stream)) {
		count->ignored_stream++;
		count->last_ignored_stream = event.stream;
		return XDP_PASS;
	}
	if (config.filter_run && event.run != config.run) {
		count->ignored_run++;
		count->last_ignored_run = event.run;
		return XDP_PASS;
	}
	stats = stats_of(&event);
	if (!stats) {
		count->ignored_many++;
		return config.pass ? XDP_PASS : XDP_DROP;
	}
	count->ours++;
	count->bytes += event.size;
	if (parsed.tags)
		count->tagged++;
	if (!event.rx_hw)
		count->no_hw_stamp++;
	record = bpf_ringbuf_reserve(&records, sizeof(*record), 0);
	bpf_spin_lock(&stats->lock);
	rx_track(stats, &event, config.histogram_hw ? event.rx_hw : event.rx_xdp);
	if (!record)
		stats->records_lost++;
	bpf_spin_unlock(&stats->lock);
	if (record) {
		*record = event;
		bpf_ringbuf_submit(record, wakeup_flag(count, event.rx_xdp));
	} else {
		count->records_lost++;
	}
	return config.pass ? XDP_PASS : XDP_DROP;
}

char _license[] SEC("license") = "GPL";

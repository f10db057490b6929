// SPDX-License-Identifier: GPL-2.0-only
/* The receiver in XDP: loads and attaches the program, reads its ring and its statistics. */
#include "engine/receiver_private.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "bpf/receive.skel.h"
#include "bpf/receive_hw.skel.h"
#include "host/capability.h"

#ifndef BPF_F_XDP_HAS_FRAGS
#define BPF_F_XDP_HAS_FRAGS (1U << 5) /* Linux 5.18 */
#endif
#ifndef BPF_F_XDP_DEV_BOUND_ONLY
#define BPF_F_XDP_DEV_BOUND_ONLY (1U << 6) /* Linux 6.3 */
#endif

#define STREAMS_MAX_KERNEL 1024
#define WAKEUP_NS 200000
#define STAMP_EVERY 16 /* records that share one reading of the clock (rx_user) */
/* making room: streams with few frames, and silent for so long, are forgotten when space gets tight */
#define FEW_FRAMES 16
#define SILENT_NS (2 * NSEC_PER_SEC)
#define FINISHED_NS (60 * NSEC_PER_SEC)

struct xdp_receiver {
	struct receive_bpf *plain; /* one of the two */
	struct receive_hw_bpf *hw;
	struct bpf_object *object;
	struct xdp_attachment attachment;
	int ifindex;
	struct ring_buffer *ring;
	int ring_fd, streams_fd;
	uint64_t counters_size;
	const struct rx_counters *counters; /* mapped; one for each CPU */
	unsigned int cpus;
	uint64_t *ours_before; /* of each CPU, for busiest_cpu(); NULL: not asked yet */
	struct rx_shared *shared; /* mapped */
	bool clock_tai;
	struct rx_stream_stats *stats; /* scratch: one entry */

	/* of the drain under way */
	receiver_handler *handler;
	void *context;
	int64_t handed, limit;
	int64_t rx_user;
	unsigned int until_stamp;
	size_t count;
	struct rx_record batch[RECEIVER_BATCH];
};

/*
 * libbpf explains failures to its print function only, with the verifier's log in it: what the verifier
 * said last is kept for the error, else the first warning.
 */
static _Thread_local char libbpf_words[256];

static int keep_words(enum libbpf_print_level level, const char *format, va_list args)
{
	static const char mark[] =
		"\nprocessed "; /* the log's last line; the reason stands before it */
	char *text = NULL, *end, *start;

	if (level != LIBBPF_WARN || vasprintf(&text, format, args) < 0)
		return 0;
	end = strstr(text, mark);
	start = text;
	if (end) {
		*end = 0;
		start = strrchr(text, '\n');
		start = start ? start + 1 : text;
	}
	if (end || !libbpf_words[0])
		snprintf(libbpf_words, sizeof(libbpf_words), "%.*s", (int)strcspn(start, "\n"),
			 start);
	free(text);
	return 0;
}

static void flush(struct xdp_receiver *xdp)
{
	if (xdp->count)
		xdp->handler(xdp->context, xdp->batch, xdp->count);
	xdp->count = 0;
}

static int take(void *context, void *data, size_t size)
{
	struct xdp_receiver *xdp = context;
	const struct rx_event *event = data;
	struct rx_record *record;

	if (size < sizeof(*event))
		return 0;
	/* a frame that came in since is not older than its own arrival */
	if (!xdp->until_stamp-- || (int64_t)event->rx_xdp > xdp->rx_user) {
		xdp->rx_user = tai_now_ns();
		xdp->until_stamp = STAMP_EVERY - 1;
	}
	record = &xdp->batch[xdp->count++];
	record->seq = (int64_t)event->seq;
	record->launch = (int64_t)event->launch;
	record->rx_hw = (int64_t)event->rx_hw;
	record->rx_xdp = (int64_t)event->rx_xdp;
	record->rx_user = xdp->rx_user;
	record->peer_tx = (int64_t)event->peer_tx;
	record->stream = event->stream;
	record->flags = event->flags;
	record->size = event->size;
	record->queue = event->queue;
	record->run = event->run;
	record->stamp_distance = event->stamp_distance;
	record->reserved = 0;
	if (xdp->count == RECEIVER_BATCH)
		flush(xdp);
	/* libbpf goes on as long as frames come in: a flood must not keep it for ever */
	return ++xdp->handed >= xdp->limit ? -EINTR : 0;
}

static int64_t drain(void *way, int64_t limit, receiver_handler *handler, void *context,
		     struct error *err)
{
	struct xdp_receiver *xdp = way;
	int ret;

	xdp->handler = handler;
	xdp->context = context;
	xdp->limit = limit;
	xdp->handed = 0;
	xdp->until_stamp = 0;
	ret = ring_buffer__consume(xdp->ring);
	flush(xdp);
	if (ret < 0 && ret != -EINTR)
		return error_errno(err, -ret, "cannot read the XDP program's ring");
	return xdp->handed;
}

static int ring_fd(const void *way)
{
	const struct xdp_receiver *xdp = way;

	return xdp->ring_fd;
}

static uint64_t capabilities(const void *way)
{
	const struct xdp_receiver *xdp = way;

	/* kernels without a TAI clock in BPF (before 6.1) may also ask for it in map look-ups (before 5.19) */
	return xdp->clock_tai ? 0 : 1ULL << CAP_BPF;
}

static void counters(const void *way, struct rx_counters *sum)
{
	const struct xdp_receiver *xdp = way;

	memset(sum, 0, sizeof(*sum));
	for (unsigned int cpu = 0; cpu < xdp->cpus; cpu++) {
		const struct rx_counters *one = &xdp->counters[cpu];

		sum->ours += one->ours;
		sum->ignored_stream += one->ignored_stream;
		sum->ignored_run += one->ignored_run;
		sum->ignored_many += one->ignored_many;
		sum->too_short += one->too_short;
		sum->wrong_version += one->wrong_version;
		sum->wrong_magic += one->wrong_magic;
		sum->wrong_ethertype += one->wrong_ethertype;
		sum->all_zero += one->all_zero;
		sum->foreign += one->foreign;
		sum->bytes += one->bytes;
		sum->tagged += one->tagged;
		sum->records_lost += one->records_lost;
		sum->no_hw_stamp += one->no_hw_stamp;
		sum->wakeups += one->wakeups;
		if (one->last_wrong_ethertype)
			sum->last_wrong_ethertype = one->last_wrong_ethertype;
		if (one->last_wrong_version)
			sum->last_wrong_version = one->last_wrong_version;
		if (one->ignored_run)
			sum->last_ignored_run = one->last_ignored_run;
		if (one->ignored_stream)
			sum->last_ignored_stream = one->last_ignored_stream;
		for (int i = 0; i < RX_ETHERTYPES && one->ethertype_frames[i]; i++)
			for (int at = 0; at < RX_ETHERTYPES; at++) {
				if (!sum->ethertype_frames[at])
					sum->ethertype[at] = one->ethertype[i];
				if (sum->ethertype[at] != one->ethertype[i])
					continue;
				sum->ethertype_frames[at] += one->ethertype_frames[i];
				break;
			}
	}
}

static int busiest_cpu(void *way)
{
	struct xdp_receiver *xdp = way;
	uint64_t most = 0;
	int busiest = -1;

	if (!xdp->ours_before)
		xdp->ours_before = calloc(xdp->cpus, sizeof(*xdp->ours_before));
	for (unsigned int cpu = 0; xdp->ours_before && cpu < xdp->cpus; cpu++) {
		uint64_t ours = xdp->counters[cpu].ours, came = ours - xdp->ours_before[cpu];

		xdp->ours_before[cpu] = ours;
		if (came <= most)
			continue;
		most = came;
		busiest = (int)cpu;
	}
	return busiest;
}

static uint64_t no_drops(const void *way)
{
	(void)way;
	return 0;
}

/* All keys of the map. NULL: none, or no memory; the caller frees them. */
static struct rx_stream_key *all_keys(const struct xdp_receiver *xdp, size_t *count)
{
	struct rx_stream_key *keys = calloc(STREAMS_MAX_KERNEL, sizeof(*keys));

	*count = 0;
	if (!keys)
		return NULL;
	while (*count < STREAMS_MAX_KERNEL &&
	       !bpf_map_get_next_key(xdp->streams_fd, *count ? &keys[*count - 1] : NULL,
				     &keys[*count]))
		(*count)++;
	return keys;
}

static void tell_exact(const struct rx_stream_key *key, const struct rx_stream_stats *stats,
		       void (*each)(void *context, const struct receiver_exact *exact),
		       void *context)
{
	struct receiver_exact exact = {
		.run = key->run,
		.stream = key->stream,
		.frames = stats->frames,
		.bytes = stats->bytes,
		.records_lost = stats->records_lost,
		.first = stats->span.first,
		.unique = stats->span.unique + stats->span.unique_before,
		.lost = stats->span.lost_before,
		.duplicate = stats->duplicate,
		.reordered = stats->reordered,
		.stray = stats->stray,
		.restarts = stats->span.restarts,
		.gaps = stats->span.gaps,
		.gap_max = stats->span.gap_max,
		.reorder_max = stats->reorder_max,
		.last = stats->flags & RX_EVENT_LAST,
	};
	struct histogram_exact beside = {
		.min = stats->latency_min,
		.max = stats->latency_max,
		.sum = (__int128)((unsigned __int128)(uint64_t)stats->latency_sum_high << 64 |
				  stats->latency_sum),
		.min_seq = stats->latency_min_seq,
		.max_seq = stats->latency_max_seq,
		.min_stream = key->stream,
		.max_stream = key->stream,
	};

	if (stats->span.unique)
		exact.lost += stats->span.highest - stats->span.first + 1 - stats->span.unique;
	if (stats->latency_count)
		histogram_import(&exact.latency, (const uint64_t *)stats->histogram,
				 RX_HISTOGRAM_BITS, &beside);
	each(context, &exact);
	histogram_free(&exact.latency);
}

static void each_exact(const void *way,
		       void (*each)(void *context, const struct receiver_exact *exact),
		       void *context)
{
	const struct xdp_receiver *xdp = way;
	size_t count;
	struct rx_stream_key *keys = all_keys(xdp, &count);

	for (size_t i = 0; keys && i < count; i++)
		if (!bpf_map_lookup_elem(xdp->streams_fd, &keys[i], xdp->stats))
			tell_exact(&keys[i], xdp->stats, each, context);
	free(keys);
}

/* Forgets streams that a flood of forged runs left behind; those with more frames only when long silent. */
static void make_room(struct xdp_receiver *xdp)
{
	uint32_t used = __atomic_load_n(&xdp->shared->streams_used, __ATOMIC_RELAXED);
	int64_t now = tai_now_ns();
	struct rx_stream_key *keys;
	size_t count;

	if (used < STREAMS_MAX_KERNEL / 2)
		return;
	keys = all_keys(xdp, &count);
	for (size_t i = 0; keys && i < count; i++) {
		int64_t silent;

		if (bpf_map_lookup_elem(xdp->streams_fd, &keys[i], xdp->stats))
			continue;
		silent = now - (int64_t)xdp->stats->last_ns;
		if ((xdp->stats->frames < FEW_FRAMES && silent > SILENT_NS) ||
		    (used > STREAMS_MAX_KERNEL * 3 / 4 && silent > FINISHED_NS)) {
			if (!bpf_map_delete_elem(xdp->streams_fd, &keys[i]))
				used = __atomic_sub_fetch(&xdp->shared->streams_used, 1,
							  __ATOMIC_RELAXED);
		}
	}
	free(keys);
}

static void tick(void *way)
{
	struct xdp_receiver *xdp = way;

	xdp->shared->tai_offset = (uint64_t)(tai_now_ns() - clock_now_ns(CLOCK_MONOTONIC));
	make_room(xdp);
}

static bool alive(const void *way)
{
	const struct xdp_receiver *xdp = way;

	return xdp_is_attached(xdp->ifindex, &xdp->attachment);
}

static void xdp_close(void *way)
{
	struct xdp_receiver *xdp = way;

	xdp_detach(&xdp->attachment);
	ring_buffer__free(xdp->ring);
	if (xdp->counters)
		munmap((void *)xdp->counters, xdp->counters_size);
	if (xdp->shared)
		munmap(xdp->shared, (size_t)sysconf(_SC_PAGESIZE));
	receive_bpf__destroy(xdp->plain);
	receive_hw_bpf__destroy(xdp->hw);
	free(xdp->stats);
	free(xdp->ours_before);
	free(xdp);
}

static bool has_tai_clock(void)
{
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_XDP, BPF_FUNC_ktime_get_tai_ns, NULL) == 1;
}

static bool has_frags(void)
{
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_XDP, BPF_FUNC_xdp_get_buff_len, NULL) == 1;
}

static void configure(const struct receiver_options *options, bool hardware, bool clock_tai,
		      bool frags, struct rx_config *config)
{
	config->ethertype = options->ethertype;
	config->pass = options->pass;
	config->histogram_hw = hardware;
	config->clock_tai = clock_tai;
	config->frags = frags;
	config->filter_run = options->has_run;
	config->run = options->run;
	config->stream_filters = options->stream_count;
	for (unsigned int i = 0; i < options->stream_count; i++)
		config->streams[i] = options->streams[i];
	config->streams_max = STREAMS_MAX_KERNEL;
	config->streams_open = STREAMS_MAX_KERNEL / 2;
	config->candidates_mask = RX_CANDIDATES - 1;
	config->wakeup_ns = WAKEUP_NS;
	if (getrandom(&config->secret, sizeof(config->secret), GRND_NONBLOCK) < 0)
		config->secret = (uint64_t)tai_now_ns();
}

static struct bpf_map *map_of(struct xdp_receiver *xdp, const char *name)
{
	return bpf_object__find_map_by_name(xdp->object, name);
}

static int load(struct xdp_receiver *xdp, const struct receiver_options *options, int ifindex,
		bool hardware, struct error *err)
{
	struct bpf_program *program;
	bool frags = has_frags();
	uint32_t flags = 0;
	int ret;

	xdp->clock_tai = has_tai_clock();
	ret = libbpf_num_possible_cpus();
	if (ret < 0)
		return error_errno(err, -ret,
				   "cannot tell how many CPUs there are (is /sys mounted?)");
	xdp->cpus = (unsigned int)ret;
	if (hardware) {
		xdp->hw = receive_hw_bpf__open();
		if (!xdp->hw)
			return error_errno(err, errno, "cannot open the XDP program");
		xdp->object = xdp->hw->obj;
		program = xdp->hw->progs.receive_xdp;
		configure(options, true, xdp->clock_tai, frags,
			  (struct rx_config *)&xdp->hw->rodata->config);
		bpf_program__set_ifindex(program, (uint32_t)ifindex);
		flags |= BPF_F_XDP_DEV_BOUND_ONLY;
	} else {
		xdp->plain = receive_bpf__open();
		if (!xdp->plain)
			return error_errno(err, errno, "cannot open the XDP program");
		xdp->object = xdp->plain->obj;
		program = xdp->plain->progs.receive_xdp;
		configure(options, false, xdp->clock_tai, frags,
			  (struct rx_config *)&xdp->plain->rodata->config);
	}
	if (frags)
		flags |= BPF_F_XDP_HAS_FRAGS;
	bpf_program__set_flags(program, bpf_program__flags(program) | flags);
	bpf_map__set_max_entries(map_of(xdp, "records"), (uint32_t)options->ring_bytes);
	bpf_map__set_max_entries(map_of(xdp, "counters"), xdp->cpus);
	bpf_map__set_max_entries(map_of(xdp, "streams"), STREAMS_MAX_KERNEL);
	libbpf_words[0] = 0;
	ret = bpf_object__load(xdp->object);
	if (ret == -EPERM)
		return error_errno(err, EPERM,
				   "the kernel refuses to load the XDP program (a security module "
				   "or lockdown?)");
	if (ret)
		return error_errno(err, -ret, "the kernel refuses to load the XDP program [%s]",
				   libbpf_words);
	return bpf_program__fd(program);
}

static int map_memory(struct xdp_receiver *xdp, struct error *err)
{
	long page = sysconf(_SC_PAGESIZE);
	void *memory;

	xdp->counters_size = sizeof(struct rx_counters) * xdp->cpus;
	xdp->counters_size = (xdp->counters_size + (size_t)page - 1) / (size_t)page * (size_t)page;
	memory = mmap(NULL, xdp->counters_size, PROT_READ, MAP_SHARED,
		      bpf_map__fd(map_of(xdp, "counters")), 0);
	if (memory == MAP_FAILED)
		return error_errno(err, errno, "cannot map the XDP program's counters");
	xdp->counters = memory;
	memory = mmap(NULL, (size_t)page, PROT_READ | PROT_WRITE, MAP_SHARED,
		      bpf_map__fd(map_of(xdp, "shared")), 0);
	if (memory == MAP_FAILED)
		return error_errno(err, errno, "cannot map the XDP program's state");
	xdp->shared = memory;
	xdp->streams_fd = bpf_map__fd(map_of(xdp, "streams"));
	xdp->stats = malloc(sizeof(*xdp->stats));
	xdp->ring = ring_buffer__new(bpf_map__fd(map_of(xdp, "records")), take, xdp, NULL);
	if (!xdp->ring || !xdp->stats)
		return error_errno(err, errno, "cannot map the XDP program's ring");
	xdp->ring_fd = ring_buffer__epoll_fd(xdp->ring);
	memset(xdp->stats, 0, sizeof(*xdp->stats));
	return 0;
}

void *xdp_receiver_open(const struct receiver_options *options, int ifindex, bool hardware,
			struct receiver_setup *setup, struct error *err)
{
	struct xdp_receiver *xdp = memory_touched(sizeof(*xdp));
	libbpf_print_fn_t print = libbpf_set_print(keep_words);
	int program_fd;

	if (!xdp) {
		error_errno(err, ENOMEM, "receiver");
		goto out;
	}
	xdp->attachment.link_fd = -1;
	xdp->ifindex = ifindex;
	program_fd = load(xdp, options, ifindex, hardware, err);
	if (program_fd < 0 || map_memory(xdp, err))
		goto fail;
	tick(xdp);
	if (xdp_attach(ifindex, options->ifname, program_fd,
		       hardware ? XDP_MODE_NATIVE : options->xdp_mode, &xdp->attachment, err))
		goto fail;
	setup->xdp = true;
	setup->native = xdp->attachment.native;
	setup->program_id = xdp->attachment.program_id;
	setup->software = SOURCE_XDP;
	setup->source = hardware ? SOURCE_HW : SOURCE_XDP;
	snprintf(setup->text, sizeof(setup->text), "XDP %s (program %u), stamps: %s",
		 setup->native ? "native" : "generic", setup->program_id,
		 hardware         ? "hw (the NIC's clock, taken as TAI)"
		 : xdp->clock_tai ? "xdp (bpf_ktime_get_tai_ns)"
				  : "xdp (bpf_ktime_get_ns + TAI offset)");
	if (!setup->native && options->xdp_mode == XDP_MODE_AUTO)
		receiver_note(setup,
			      "%s: native XDP is not to be had here (%s): generic mode, with later "
			      "stamps and more CPU time",
			      options->ifname, xdp->attachment.refusal);
	if (!xdp->clock_tai)
		receiver_note(setup, "this kernel has no TAI clock in BPF (Linux 6.1): monotonic "
				     "stamps are converted once a second");
	goto out;
fail:
	xdp_close(xdp);
	xdp = NULL;
out:
	libbpf_set_print(print);
	return xdp;
}

const struct receiver_way xdp_receiver_way = {
	.capabilities = capabilities,
	.fd = ring_fd,
	.drain = drain,
	.tick = tick,
	.counters = counters,
	.busiest_cpu = busiest_cpu,
	.drops = no_drops,
	.each_exact = each_exact,
	.alive = alive,
	.close = xdp_close,
};

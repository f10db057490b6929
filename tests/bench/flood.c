// SPDX-License-Identifier: GPL-2.0-only
/*
 * A sender that is faster than any socket: frames of ours, numbered from 0, through the kernel's own means to
 * run an XDP program on live frames (BPF_PROG_TEST_RUN, Linux 5.18). Where RATE is not 0, that many a second:
 * each waits until it is due, BATCH leave together.
 *
 *	flood IFACE FRAMES [RATE]
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <limits.h>
#include <linux/types.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/units.h"
#include "bpf/flood.skel.h"
#include "bpf/wire.h"

#define BATCH 16 /* veth has room for 256 */

static int fail(const char *what, int error)
{
	fprintf(stderr, "flood: %s: %s\n", what, strerror(error));
	return 3;
}

int main(int argc, char **argv)
{
	uint8_t frame[60] = { 0x91,
			      0xe0,
			      0xf0,
			      0x00,
			      0xfe,
			      0x01,
			      0x02,
			      0,
			      0,
			      0,
			      0,
			      1,
			      WIRE_ETHERTYPE >> 8,
			      WIRE_ETHERTYPE & 0xff };
	struct wire_payload payload = { .magic = htonl(WIRE_MAGIC),
					.version = WIRE_VERSION,
					.stream = htons(1),
					.run = htonl((uint32_t)clock_now_ns(CLOCK_MONOTONIC)) };
	struct bpf_test_run_opts opts = { .sz = sizeof(opts),
					  .data_in = frame,
					  .data_size_in = sizeof(frame),
					  .flags = BPF_F_TEST_XDP_LIVE_FRAMES,
					  .batch_size = BATCH };
	uint64_t frames, rate;
	struct flood_bpf *flood;
	int64_t begin, elapsed;
	struct timespec cpu;
	int ret;

	if (argc < 3) {
		fputs("usage: flood IFACE FRAMES [RATE]\n", stderr);
		return 2;
	}
	frames = strtoull(argv[2], NULL, 0);
	if (!frames || frames > INT_MAX)
		return fail("FRAMES", ERANGE);
	opts.repeat = (int)frames;
	rate = argc > 3 ? strtoull(argv[3], NULL, 0) : 0;
	memcpy(frame + 14, &payload, sizeof(payload));
	flood = flood_bpf__open();
	if (!flood)
		return fail("open", errno);
	flood->rodata->out_ifindex = if_nametoindex(argv[1]);
	if (!flood->rodata->out_ifindex)
		return fail(argv[1], errno);
	flood->rodata->interval_ns = rate ? (uint32_t)(NSEC_PER_SEC / (int64_t)rate) : 0;
	if (flood_bpf__load(flood))
		return fail("load", errno);
	begin = clock_now_ns(CLOCK_MONOTONIC);
	/* in one call: setting one up takes some 20 ms */
	ret = bpf_prog_test_run_opts(bpf_program__fd(flood->progs.flood_xdp), &opts);
	if (ret)
		return fail("BPF_PROG_TEST_RUN", -ret);
	elapsed = clock_now_ns(CLOCK_MONOTONIC) - begin;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	printf("flood: %llu frames in %.3f s, %.0f frames/s, %.3f s of CPU\n",
	       (unsigned long long)frames, (double)elapsed / 1e9,
	       (double)frames * 1e9 / (double)elapsed, (double)timespec_to_ns(cpu) / 1e9);
	flood_bpf__destroy(flood);
	return 0;
}

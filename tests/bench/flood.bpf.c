// SPDX-License-Identifier: GPL-2.0-only
/*
 * What tests/bench/flood.c lets the kernel run again and again: waits until the frame is due, numbers it, writes
 * its launch time (now) and sends it out of an interface, without a socket buffer.
 */
#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "bpf/wire.h"

#define WAITS 4096 /* looks at the clock for one frame: some 100 us */

__u64 next_seq, next_ns;
const volatile __u32 out_ifindex;
const volatile __u32 interval_ns; /* 0: as fast as it goes */

/* A sender that was held up goes on from there: it does not make up for what was missed. */
static void wait_until_due(void)
{
	__u64 now = bpf_ktime_get_ns();

	for (int i = 0; i < WAITS && now < next_ns; i++)
		now = bpf_ktime_get_ns();
	next_ns = (now - next_ns < 1000000 ? next_ns : now) + interval_ns;
}

SEC("xdp")
int flood_xdp(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct wire_payload *payload = data + 14;

	if ((void *)(payload + 1) > end)
		return XDP_ABORTED;
	if (interval_ns)
		wait_until_due();
	payload->seq = bpf_cpu_to_be64(next_seq++);
	payload->launch = bpf_cpu_to_be64(bpf_ktime_get_tai_ns());
	return (int)bpf_redirect(out_ifindex, 0);
}

char _license[] SEC("license") = "GPL";

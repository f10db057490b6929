// SPDX-License-Identifier: GPL-2.0-only
/*
 * The receiver for a driver with the rx_timestamp kfunc (Documentation/networking/xdp-rx-metadata.rst,
 * Linux 6.3): loaded for one interface (BPF_F_XDP_DEV_BOUND_ONLY), stamps of the NIC beside the
 * kernel's own. An object of its own, since older kernels cannot load anything that names the kfunc.
 */
#define RX_HARDWARE 1
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

extern int bpf_xdp_metadata_rx_timestamp(const struct xdp_md *ctx, __u64 *timestamp) __ksym;

#include "bpf/receive_core.h"

SEC("xdp")
int receive_xdp(struct xdp_md *ctx)
{
	return receive(ctx);
}

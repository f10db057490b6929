// SPDX-License-Identifier: GPL-2.0-only
/* The receiver for any driver: stamps with the kernel's clock in the driver's receive path. */
#include "bpf/receive_core.h"

SEC("xdp")
int receive_xdp(struct xdp_md *ctx)
{
	return receive(ctx);
}

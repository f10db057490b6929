/* SPDX-License-Identifier: GPL-2.0-only */
/* What an interface can do in XDP: the kernel's generic netlink family "netdev" (Linux 6.3). */
#ifndef HOST_XDP_FEATURES_H
#define HOST_XDP_FEATURES_H

#include <stdbool.h>
#include <stdint.h>

struct xdp_features {
	bool known; /* the kernel told; else all below is false */
	bool native; /* XDP in the driver */
	bool metadata_known; /* it also told the following (Linux 6.7) */
	bool rx_timestamp; /* kfunc bpf_xdp_metadata_rx_timestamp() */
	bool rx_vlan_tag; /* kfunc bpf_xdp_metadata_rx_vlan_tag() */
};

/* Never fails: what cannot be found out is not known. Needs no privilege. */
struct xdp_features xdp_features(int ifindex);

#endif

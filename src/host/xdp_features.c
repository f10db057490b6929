// SPDX-License-Identifier: GPL-2.0-only
#include "host/xdp_features.h"

#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "host/netlink.h"

/* linux/netdev.h, which bookworm's headers lack */
#define NETDEV_CMD_DEV_GET 1
#define NETDEV_A_DEV_IFINDEX 1
#define NETDEV_A_DEV_XDP_FEATURES 3
#define NETDEV_A_DEV_XDP_RX_METADATA_FEATURES 5
#define NETDEV_A_DEV_MAX NETDEV_A_DEV_XDP_RX_METADATA_FEATURES
#define NETDEV_XDP_ACT_BASIC 1
#define NETDEV_XDP_RX_METADATA_TIMESTAMP 1
#define NETDEV_XDP_RX_METADATA_VLAN_TAG 4

static int take_device(const struct nlmsghdr *answer, void *context)
{
	const struct nlattr *table[NETDEV_A_DEV_MAX + 1] = { 0 };
	struct xdp_features *features = context;
	const uint64_t *bits;

	if (mnl_nlmsg_get_payload_len(answer) < sizeof(struct genlmsghdr))
		return 0;
	netlink_attributes(mnl_nlmsg_get_payload_offset(answer, sizeof(struct genlmsghdr)),
			   mnl_nlmsg_get_payload_len(answer) - sizeof(struct genlmsghdr), table,
			   NETDEV_A_DEV_MAX);
	bits = netlink_payload(table[NETDEV_A_DEV_XDP_FEATURES], sizeof(*bits));
	if (bits) {
		features->known = true;
		features->native = *bits & NETDEV_XDP_ACT_BASIC;
	}
	bits = netlink_payload(table[NETDEV_A_DEV_XDP_RX_METADATA_FEATURES], sizeof(*bits));
	if (bits) {
		features->metadata_known = true;
		features->rx_timestamp = *bits & NETDEV_XDP_RX_METADATA_TIMESTAMP;
		features->rx_vlan_tag = *bits & NETDEV_XDP_RX_METADATA_VLAN_TAG;
	}
	return 0;
}

struct xdp_features xdp_features(int ifindex)
{
	struct xdp_features features = { 0 };
	struct error ignored = ERROR_INIT;
	struct netlink *nl = netlink_open(NETLINK_GENERIC, &ignored);
	struct genlmsghdr *genl;
	struct nlmsghdr *nlh;
	int family;

	if (!nl)
		return features;
	family = netlink_family(nl, "netdev");
	if (family >= 0) {
		nlh = netlink_request(nl, (uint16_t)family, 0);
		genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
		genl->cmd = NETDEV_CMD_DEV_GET;
		genl->version = 1;
		mnl_attr_put_u32(nlh, NETDEV_A_DEV_IFINDEX, (uint32_t)ifindex);
		netlink_talk(nl, nlh, take_device, &features);
	}
	netlink_close(nl);
	return features;
}

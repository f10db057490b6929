// SPDX-License-Identifier: GPL-2.0-only
#include "host/nic_facts.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "host/netlink.h"
#include "host/qdisc.h"

static const char *const names[NIC_FEATURES] = {
	[NIC_GSO] = "tx-generic-segmentation",
	[NIC_TSO] = "tx-tcp-segmentation",
	[NIC_TSO6] = "tx-tcp6-segmentation",
	[NIC_GRO] = "rx-gro",
	[NIC_GRO_HW] = "rx-gro-hw",
	[NIC_LRO] = "rx-lro",
};

const char *nic_feature_name(enum nic_feature feature)
{
	return names[feature];
}

/* The netdev family (6.3 and later), which the headers of Linux 6.1 do not have. */
#define NETDEV_FAMILY "netdev"
#define NETDEV_CMD_DEV_GET 1
#define NETDEV_A_DEV_IFINDEX 1
#define NETDEV_A_DEV_XDP_FEATURES 3
#define NETDEV_A_DEV_XDP_RX_METADATA_FEATURES 5
#define NETDEV_A_DEV_LAST 6

static int keep_xdp(const struct nlmsghdr *answer, void *context)
{
	const struct nlattr *table[NETDEV_A_DEV_LAST + 1];
	struct nic_facts *facts = context;
	const void *value;

	if (mnl_nlmsg_get_payload_len(answer) < GENL_HDRLEN)
		return -EBADMSG;
	netlink_attributes(mnl_nlmsg_get_payload_offset(answer, GENL_HDRLEN),
			   mnl_nlmsg_get_payload_len(answer) - GENL_HDRLEN, table,
			   NETDEV_A_DEV_LAST);
	value = netlink_payload(table[NETDEV_A_DEV_XDP_FEATURES], sizeof(uint64_t));
	if (value) {
		memcpy(&facts->xdp_features, value, sizeof(uint64_t));
		facts->xdp_known = true;
	}
	value = netlink_payload(table[NETDEV_A_DEV_XDP_RX_METADATA_FEATURES], sizeof(uint64_t));
	if (value)
		memcpy(&facts->xdp_metadata, value, sizeof(uint64_t));
	return 0;
}

/* Leaves xdp_known false where the kernel cannot tell. */
static void gather_xdp(const char *name, struct nic_facts *facts)
{
	struct error ignored = ERROR_INIT;
	struct netlink *nl = netlink_open(NETLINK_GENERIC, &ignored);
	unsigned index = if_nametoindex(name);
	int family = nl ? netlink_family(nl, NETDEV_FAMILY) : -1;

	if (family > 0 && index) {
		struct nlmsghdr *nlh = netlink_request(nl, (uint16_t)family, 0);
		struct genlmsghdr *genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));

		genl->cmd = NETDEV_CMD_DEV_GET;
		genl->version = 1;
		mnl_attr_put_u32(nlh, NETDEV_A_DEV_IFINDEX, index);
		netlink_talk(nl, nlh, keep_xdp, facts);
	}
	netlink_close(nl);
}

static void gather_qdiscs(const char *name, struct nic_facts *facts)
{
	struct error ignored = ERROR_INIT;
	struct netlink *nl = netlink_open(NETLINK_ROUTE, &ignored);
	struct qdisc_list list;

	if (nl && qdisc_list_read(nl, (int)if_nametoindex(name), name, &list, &ignored) == 0) {
		facts->qdiscs_known = true;
		facts->etf_priorities = qdisc_etf_priorities(&list);
		facts->mqprio_launch = qdisc_mqprio_launch(&list);
		qdisc_list_free(&list);
	}
	netlink_close(nl);
}

int nic_facts_gather(const char *name, struct nic_facts *facts, struct error *err)
{
	struct ethtool *ethtool;
	int result = -1;

	memset(facts, 0, sizeof(*facts));
	facts->launch_time = '?';
	facts->taprio = '?';
	facts->stamping.phc_index = -1;
	if (strlen(name) >= sizeof(facts->name))
		return error_input(err, "interface name '%.64s' is too long", name);
	ethtool = ethtool_open(err);
	if (!ethtool)
		return -1;
	/* the first question also finds out whether there is such a device */
	if (ethtool_link(ethtool, name, &facts->link, err) < 0)
		goto out;
	facts->link_known = true;
	snprintf(facts->name, sizeof(facts->name), "%s", name);
	for (int i = 0; i < ETHTOOL_SETTINGS; i++) {
		struct nic_setting *s = &facts->settings[i];
		int got = ethtool_get(ethtool, name, (enum ethtool_setting)i, &s->value, &s->max,
				      err);

		if (got < 0)
			goto out;
		s->known = !got;
	}
	for (int i = 0; i < NIC_FEATURES; i++) {
		int got = ethtool_feature(ethtool, name, names[i], &facts->features[i].on,
					  &facts->features[i].fixed, err);

		if (got < 0)
			goto out;
		facts->features[i].known = !got;
	}
	if (ethtool_stamping(ethtool, name, &facts->stamping, err) < 0)
		goto out;
	if (ethtool_driver(name, &facts->driver, err) < 0)
		goto out;
	gather_xdp(name, facts);
	gather_qdiscs(name, facts);
	result = 0;
out:
	ethtool_close(ethtool);
	return result;
}

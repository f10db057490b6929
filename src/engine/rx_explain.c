// SPDX-License-Identifier: GPL-2.0-only
#include "engine/rx_explain.h"

#include <inttypes.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdarg.h>
#include <string.h>

#include "bpf/wire.h"
#include "engine/xdp_attach.h"
#include "host/ethtool.h"
#include "host/link.h"
#include "host/netlink.h"

struct nic_counts {
	bool known;
	uint64_t frames, missed;
};

static int take_stats(const struct nlmsghdr *answer, void *context)
{
	const struct nlattr *table[IFLA_STATS64 + 1] = { 0 };
	const struct rtnl_link_stats64 *stats;
	struct nic_counts *counts = context;

	if (mnl_nlmsg_get_payload_len(answer) < sizeof(struct ifinfomsg))
		return 0;
	netlink_attributes(mnl_nlmsg_get_payload_offset(answer, sizeof(struct ifinfomsg)),
			   mnl_nlmsg_get_payload_len(answer) -
				   NLMSG_ALIGN(sizeof(struct ifinfomsg)),
			   table, IFLA_STATS64);
	stats = netlink_payload(table[IFLA_STATS64],
				offsetof(struct rtnl_link_stats64, rx_compressed));
	if (stats) {
		counts->known = true;
		counts->frames = stats->rx_packets;
		counts->missed = stats->rx_dropped + stats->rx_missed_errors + stats->rx_errors;
	}
	return 0;
}

bool rx_nic_counts(int ifindex, uint64_t *frames, uint64_t *missed)
{
	struct error ignored = ERROR_INIT;
	struct netlink *nl = netlink_open(NETLINK_ROUTE, &ignored);
	struct nic_counts counts = { 0 };
	struct ifinfomsg *info;
	struct nlmsghdr *nlh;

	*frames = *missed = 0;
	if (!nl)
		return false;
	nlh = netlink_request(nl, RTM_GETLINK, 0);
	info = mnl_nlmsg_put_extra_header(nlh, sizeof(*info));
	info->ifi_family = AF_UNSPEC;
	info->ifi_index = ifindex;
	if (ifindex)
		netlink_talk(nl, nlh, take_stats, &counts);
	netlink_close(nl);
	*frames = counts.frames;
	*missed = counts.missed;
	return counts.known;
}

void rx_facts_gather(struct rx_facts *facts, int ifindex, uint64_t frames, uint64_t missed)
{
	char *ifname = facts->ifname;
	struct error ignored = ERROR_INIT;
	struct netlink *nl = netlink_open(NETLINK_ROUTE, &ignored);
	struct ethtool *ethtool = ethtool_open(&ignored);
	struct link_info link;
	bool fixed;

	facts->gone = !nl || !if_indextoname((unsigned int)ifindex, ifname) ||
		      link_get(nl, ifname, &link, &ignored);
	facts->up = !facts->gone && link.up;
	facts->running = !facts->gone && link.running;
	if (facts->gone)
		strcpy(ifname, facts->options->ifname);
	facts->nic_counts = rx_nic_counts(ifindex, &facts->nic_frames, &facts->nic_missed);
	if (!facts->gone && !facts->setup->xdp)
		facts->foreign_program = xdp_program_on(link.index);
	facts->nic_frames -= frames;
	facts->nic_missed -= missed;
	if (ethtool) {
		if (ethtool_feature(ethtool, ifname, "rx-vlan-filter", &facts->vlan_filter, &fixed,
				    &ignored))
			facts->vlan_filter = false;
		if (ethtool_feature(ethtool, ifname, "rx-vlan-hw-parse", &facts->vlan_strip, &fixed,
				    &ignored))
			facts->vlan_strip = false;
	}
	ethtool_close(ethtool);
	netlink_close(nl);
}

static void line(FILE *out, uint64_t count, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void line(FILE *out, uint64_t count, const char *format, ...)
{
	va_list args;

	if (!count)
		return;
	fprintf(out, "  %-14" PRIu64 " ", count);
	va_start(args, format);
	vfprintf(out, format, args);
	va_end(args);
	fputc('\n', out);
}

void rx_explain_drops(FILE *out, const struct rx_facts *facts)
{
	const struct rx_counters *c = &facts->counters;
	const uint16_t ethertype = facts->options->ethertype;

	line(out, c->records_lost,
	     "records lost: the ring was full (--ring-size); counts and latency are the kernel's "
	     "and exact, the log, path and variation lack them");
	line(out, facts->socket_drops,
	     "frames lost: the socket's buffer was full; they are in no statistic");
	line(out, c->ignored_many + facts->other_frames,
	     "frames ignored: too many runs and streams at once (a flood?); --run and --stream "
	     "pick the wanted");
	line(out, c->ignored_stream,
	     "frames ignored: of other streams (the last: %u): --stream %u takes it, no --stream "
	     "all",
	     c->last_ignored_stream, c->last_ignored_stream);
	line(out, c->ignored_run,
	     "frames ignored: of other runs (the last: %08x): --run %08x takes it, no --run all",
	     c->last_ignored_run, c->last_ignored_run);
	line(out, c->too_short, "frames ignored: too short for a payload behind EtherType 0x%04x",
	     ethertype);
	line(out, c->wrong_version,
	     "frames ignored: version %u of the frame format, this program knows %d",
	     c->last_wrong_version, WIRE_VERSION);
	line(out, c->wrong_magic, "frames ignored: EtherType 0x%04x with somebody else's payload",
	     ethertype);
	line(out, c->wrong_ethertype,
	     "frames ignored: our payload behind EtherType 0x%04x (--ethertype 0x%04x)",
	     c->last_wrong_ethertype, c->last_wrong_ethertype);
	line(out, c->all_zero, "frames ignored: all zero (igc sends them to fill a cycle)");
	if (facts->setup->source == SOURCE_HW)
		line(out, c->no_hw_stamp,
		     "frames without a hardware stamp: not in the statistics of time");
}

/* The EtherTypes of what else was seen: proof that the link works. */
static void list_ethertypes(FILE *out, const struct rx_counters *c)
{
	const char *comma = "";

	for (int i = 0; i < RX_ETHERTYPES && c->ethertype_frames[i]; i++) {
		fprintf(out, "%s0x%04x %" PRIu64 "x", comma, c->ethertype[i],
			(uint64_t)c->ethertype_frames[i]);
		comma = ", ";
	}
}

void rx_explain_nothing(FILE *out, const struct rx_facts *facts)
{
	const struct rx_counters *c = &facts->counters;
	const char *ifname = facts->ifname;
	uint64_t near = c->ignored_many + c->ignored_stream + c->ignored_run + c->too_short +
			c->wrong_version + c->wrong_magic + c->wrong_ethertype +
			facts->other_frames;

	if (facts->gone) {
		fprintf(out, "  %s no longer exists\n", ifname);
		return;
	}
	if (strcmp(ifname, facts->options->ifname))
		fprintf(out, "  %s is called %s now\n", facts->options->ifname, ifname);
	if (!facts->up) {
		fprintf(out, "  %s is down: `ip link set dev %s up`\n", ifname, ifname);
		return;
	}
	if (!facts->running) {
		fprintf(out, "  %s has no carrier: is the cable in, and the peer up?\n", ifname);
		return;
	}
	if (near) /* the lines above tell */
		return;
	if (c->foreign) {
		fprintf(out, "  the link works: %" PRIu64 " frames of others came in (EtherType ",
			(uint64_t)c->foreign);
		list_ethertypes(out, c);
		fputs(")\n", out);
	} else if (facts->nic_counts && facts->nic_frames) {
		fprintf(out, "  %s counted %" PRIu64 " frames, none of them ours\n", ifname,
			facts->nic_frames);
	} else {
		fprintf(out,
			"  not a single frame came in at %s: does the publisher run, on the other "
			"end of this cable?\n",
			ifname);
	}
	if (facts->foreign_program)
		fprintf(out,
			"  XDP program %u on %s comes before any socket: frames that it takes do "
			"not get "
			"here; of another receiver: start that one with --pass\n",
			facts->foreign_program, ifname);
	if (facts->nic_counts && facts->nic_missed)
		fprintf(out, "  the NIC dropped %" PRIu64 " frames (`ethtool -S %s`)\n",
			facts->nic_missed, ifname);
	if (facts->vlan_filter && !facts->options->promiscuous)
		fprintf(out,
			"  VLAN filter: the NIC drops tagged frames of VLANs it does not know: "
			"--promisc, or `ip link add link %s name %s.5 type vlan id 5`\n",
			ifname, ifname);
	if (!facts->options->promiscuous)
		fprintf(out,
			"  destination filter: a NIC drops frames to addresses that it does not "
			"know (the streams' default ones it knows): --dest MAC or --promisc "
			"lets them in\n");
}

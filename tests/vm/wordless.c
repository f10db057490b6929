// SPDX-License-Identifier: GPL-2.0-only
/*
 * wordless IFACE etf-clock CLOCKID | gate-command COMMAND | single-entry: asks for what tc has no word for, and prints the
 * kernel's answer: "ERRNO WORDS", "0 " when it is taken. etf goes on class 1:2, taprio with full offload to the root.
 */
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/netlink.h"
#include "tc/etf.h"

static void put_entry(struct nlmsghdr *request, uint8_t command, uint32_t mask)
{
	struct nlattr *entry = mnl_attr_nest_start(request, TCA_TAPRIO_SCHED_ENTRY);

	mnl_attr_put_u8(request, TCA_TAPRIO_SCHED_ENTRY_CMD, command);
	mnl_attr_put_u32(request, TCA_TAPRIO_SCHED_ENTRY_GATE_MASK, mask);
	mnl_attr_put_u32(request, TCA_TAPRIO_SCHED_ENTRY_INTERVAL, 500000);
	mnl_attr_nest_end(request, entry);
}

static void put_taprio(struct nlmsghdr *request, uint8_t command, bool single)
{
	const struct tc_mqprio_qopt map = {
		.num_tc = 2, .prio_tc_map = { 0, 1 }, .count = { 1, 1 }, .offset = { 0, 1 }
	};
	struct nlattr *options = mnl_attr_nest_start(request, TCA_OPTIONS), *list;

	mnl_attr_put(request, TCA_TAPRIO_ATTR_PRIOMAP, sizeof(map), &map);
	mnl_attr_put_u32(request, TCA_TAPRIO_ATTR_FLAGS, TCA_TAPRIO_ATTR_FLAG_FULL_OFFLOAD);
	list = mnl_attr_nest_start(request, single ? TCA_TAPRIO_ATTR_SCHED_SINGLE_ENTRY
						   : TCA_TAPRIO_ATTR_SCHED_ENTRY_LIST);
	put_entry(request, command, 1);
	put_entry(request, TC_TAPRIO_CMD_SET_GATES, 2);
	mnl_attr_nest_end(request, list);
	mnl_attr_nest_end(request, options);
}

int main(int argc, char **argv)
{
	struct error err = ERROR_INIT;
	struct netlink *nl = netlink_open(NETLINK_ROUTE, &err);
	const char *what = argc > 2 ? argv[2] : "";
	int value = argc > 3 ? atoi(argv[3]) : 0, result;
	bool is_etf = !strcmp(what, "etf-clock");
	struct nlmsghdr *request;
	struct tcmsg *tcm;

	if (!nl || argc < 3)
		return 2;
	request = netlink_request(nl, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE);
	tcm = mnl_nlmsg_put_extra_header(request, sizeof(*tcm));
	tcm->tcm_family = AF_UNSPEC;
	tcm->tcm_ifindex = (int)if_nametoindex(argv[1]);
	tcm->tcm_parent = is_etf ? 0x10002 : TC_H_ROOT;
	mnl_attr_put_strz(request, TCA_KIND, is_etf ? "etf" : "taprio");
	if (is_etf)
		etf_put(request, &(struct etf_state){ .clockid = value, .delta_ns = 100000 });
	else
		put_taprio(request, (uint8_t)value, !strcmp(what, "single-entry"));
	result = netlink_talk(nl, request, NULL, NULL);
	printf("%d %s\n", -result, netlink_extack(nl));
	netlink_close(nl);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "tc/request.h"

#include <stdio.h>
#include <time.h>

#include "tc/attr.h"
#include "tc/etf.h"
#include "tc/mqprio.h"
#include "tc/taprio.h"
#include "tc/tc_headers.h"

static void put_head(struct nlmsghdr *nlh, int ifindex, uint32_t parent, uint32_t handle,
		     const char *kind)
{
	struct tcmsg *tcm = mnl_nlmsg_put_extra_header(nlh, sizeof(*tcm));

	tcm->tcm_family = AF_UNSPEC;
	tcm->tcm_ifindex = ifindex;
	tcm->tcm_parent = parent;
	tcm->tcm_handle = handle;
	mnl_attr_put_strz(nlh, TCA_KIND, kind);
}

/* A size table that only adds: what a frame takes on the wire beside its own bytes. */
static void put_overhead(struct nlmsghdr *nlh)
{
	struct tc_sizespec size = { .overhead = WIRE_OVERHEAD };
	struct nlattr *stab = attr_nest_plain(nlh, TCA_STAB);

	mnl_attr_put(nlh, TCA_STAB_BASE, sizeof(size), &size);
	mnl_attr_nest_end(nlh, stab);
}

int deployment_request(const struct deployment *deployment, int ifindex, int64_t base_ns,
		       unsigned index, struct nlmsghdr *nlh, struct request_info *info)
{
	const struct schedule *schedule = &deployment->schedule;
	struct request_info ignored;
	unsigned n = 1;

	if (!info)
		info = &ignored;
	if (index == 0) {
		bool gates = deployment_has_gates(deployment);

		*info = (struct request_info){ .name = "" };
		snprintf(info->name, sizeof(info->name), "%s", gates ? "taprio" : "mqprio");
		put_head(nlh, ifindex, TC_H_ROOT, DEPLOYMENT_HANDLE << 16, info->name);
		if (gates) {
			taprio_put(nlh, deployment, base_ns);
			put_overhead(nlh);
		} else {
			mqprio_put(nlh, deployment);
		}
		return 1;
	}
	for (unsigned c = 0; c < schedule->class_count; c++) {
		const struct traffic_class *class = &schedule->classes[c];

		for (unsigned q = 0; class->launch_time && q < class->queue_count; q++, n++) {
			unsigned queue = class->queue_first + q;
			struct etf_state etf = {
				.clockid = CLOCK_TAI,
				.delta_ns = (int32_t) class->delta_ns,
				.offload = deployment->etf_offload[c],
				.skip_sock_check = deployment->mode == SCHEDULE_TXTIME_ASSIST,
			};

			if (n != index)
				continue;
			*info = (struct request_info){ .class = c, .queue = queue };
			snprintf(info->name, sizeof(info->name), "etf on queue %u", queue);
			put_head(nlh, ifindex, DEPLOYMENT_HANDLE << 16 | (queue + 1),
				 (DEPLOYMENT_HANDLE + 1 + queue) << 16, "etf");
			etf_put(nlh, &etf);
			return 1;
		}
	}
	return 0;
}

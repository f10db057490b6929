// SPDX-License-Identifier: GPL-2.0-only
#include "tc/mqprio.h"

#include <string.h>

#include "host/netlink.h"
#include "tc/tc_headers.h"

void mqprio_put(struct nlmsghdr *nlh, const struct deployment *deployment)
{
	struct nlattr *options = mnl_nlmsg_get_payload_tail(nlh);
	struct tc_mqprio_qopt qopt;

	class_map_fill(deployment, &qopt);
	/* the struct first, attributes behind it */
	mnl_attr_put(nlh, TCA_OPTIONS, sizeof(qopt), &qopt);
	for (unsigned c = 0; deployment->preemption && c < deployment->schedule.class_count; c++) {
		struct nlattr *entry = mnl_attr_nest_start(nlh, MQPRIO_TC_ENTRY);

		mnl_attr_put_u32(nlh, MQPRIO_TC_ENTRY_INDEX, c);
		mnl_attr_put_u32(nlh, MQPRIO_TC_ENTRY_FP,
				 deployment->schedule.classes[c].preemptible ? FP_PREEMPTIBLE
									     : FP_EXPRESS);
		mnl_attr_nest_end(nlh, entry);
	}
	mnl_attr_nest_end(nlh, options);
}

void mqprio_parse_preemption(const struct nlattr *options, uint8_t preemption[SCHEDULE_CLASSES_MAX])
{
	size_t size = mnl_attr_get_payload_len(options),
	       head = MNL_ALIGN(sizeof(struct tc_mqprio_qopt));
	const void *tail = (const char *)mnl_attr_get_payload(options) + head;
	const struct nlattr *attr;

	memset(preemption, 0, SCHEDULE_CLASSES_MAX);
	if (size <= head)
		return;
	mnl_attr_for_each_payload(tail, size - head)
	{
		const struct nlattr *attrs[MQPRIO_TC_ENTRY_FP + 1];
		const uint32_t *class, *fp;

		if (mnl_attr_get_type(attr) != MQPRIO_TC_ENTRY)
			continue;
		netlink_attributes(mnl_attr_get_payload(attr), mnl_attr_get_payload_len(attr),
				   attrs, MQPRIO_TC_ENTRY_FP);
		class = netlink_payload(attrs[MQPRIO_TC_ENTRY_INDEX], sizeof(*class));
		fp = netlink_payload(attrs[MQPRIO_TC_ENTRY_FP], sizeof(*fp));
		if (class && fp && *class < SCHEDULE_CLASSES_MAX)
			preemption[*class] = (uint8_t)*fp;
	}
}

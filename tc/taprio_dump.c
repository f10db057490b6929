// SPDX-License-Identifier: GPL-2.0-only
#include "tc/taprio_dump.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "host/netlink.h"
#include "tc/attr.h"
#include "tc/tc_headers.h"

static const struct nlattr *find(const struct nlattr *nest, uint16_t type)
{
	const struct nlattr *attr;

	if (!nest)
		return NULL;
	mnl_attr_for_each_nested(attr, nest)
	{
		if (mnl_attr_get_type(attr) == type)
			return attr;
	}
	return NULL;
}

bool taprio_dump_has_admin(const struct nlattr *options)
{
	return find(options, TCA_TAPRIO_ATTR_ADMIN_SCHED) != NULL;
}

bool taprio_dump_has_oper(const struct nlattr *options)
{
	return find(options, TCA_TAPRIO_ATTR_SCHED_ENTRY_LIST) != NULL;
}

static void copy(struct nlmsghdr *request, const struct nlattr *attr)
{
	mnl_attr_put(request, attr->nla_type, mnl_attr_get_payload_len(attr),
		     mnl_attr_get_payload(attr));
}

static void put(struct nlmsghdr *request, const struct nlattr *options, bool admin, bool classes)
{
	const struct nlattr *attr, *coming = find(options, TCA_TAPRIO_ATTR_ADMIN_SCHED);
	struct nlattr *nest = attr_nest_plain(request, TCA_OPTIONS);

	admin = admin && coming;
	mnl_attr_for_each_nested(attr, options)
	{
		unsigned type = mnl_attr_get_type(attr);
		bool of_schedule = type == TCA_TAPRIO_ATTR_SCHED_ENTRY_LIST ||
				   type == TCA_TAPRIO_ATTR_SCHED_BASE_TIME ||
				   type == TCA_TAPRIO_ATTR_SCHED_CYCLE_TIME ||
				   type == TCA_TAPRIO_ATTR_SCHED_CYCLE_TIME_EXTENSION;

		if (type != TCA_TAPRIO_ATTR_ADMIN_SCHED && type != TCA_TAPRIO_PAD &&
		    !(admin && of_schedule) && (classes || type != TCA_TAPRIO_ATTR_TC_ENTRY))
			copy(request, attr);
	}
	if (admin)
		mnl_attr_for_each_nested(attr, coming)
		{
			if (mnl_attr_get_type(attr) != TCA_TAPRIO_PAD)
				copy(request, attr);
		}
	mnl_attr_nest_end(request, nest);
}

void taprio_dump_put(struct nlmsghdr *request, const struct nlattr *options, bool admin)
{
	put(request, options, admin, true);
}

clockid_t taprio_dump_clock(const struct nlattr *options)
{
	const int32_t *clockid = netlink_payload(find(options, TCA_TAPRIO_ATTR_SCHED_CLOCKID),
						 sizeof(*clockid));

	return clockid && *clockid >= 0 ? *clockid : CLOCK_TAI;
}

static int64_t number(const struct nlattr *nest, uint16_t type)
{
	const void *payload = netlink_payload(find(nest, type), sizeof(int64_t));
	int64_t value = 0;

	if (payload)
		memcpy(&value, payload, sizeof(value));
	return value;
}

int64_t taprio_dump_begins_in_ns(const struct nlattr *options, int64_t now_ns)
{
	const struct nlattr *coming = find(options, TCA_TAPRIO_ATTR_ADMIN_SCHED);
	int64_t base = number(coming, TCA_TAPRIO_ATTR_SCHED_BASE_TIME);
	int64_t cycle = number(coming, TCA_TAPRIO_ATTR_SCHED_CYCLE_TIME);

	if (!coming)
		return 0;
	if (base > now_ns)
		return base - now_ns;
	return cycle > 0 ? next_in_phase(base, cycle, now_ns + 1) - now_ns : 0;
}

int64_t taprio_dump_cycle_ns(const struct nlattr *options)
{
	return number(options, TCA_TAPRIO_ATTR_SCHED_CYCLE_TIME);
}

/* As it will be told once the schedule to come runs. To be freed; NULL without memory. */
static struct nlmsghdr *settled(const struct nlattr *options, bool classes)
{
	/* what a dump tells is never longer as a request, but for the padding of a damaged one */
	struct nlmsghdr *request = calloc(1, MNL_NLMSG_HDRLEN + MNL_ATTR_HDRLEN + 4 * MNL_ALIGNTO +
						     mnl_attr_get_payload_len(options));

	if (request)
		put(mnl_nlmsg_put_header(request), options, true, classes);
	return request;
}

bool taprio_dump_same(const struct nlattr *a, const struct nlattr *b)
{
	/* the largest frames are told as they are under the schedule that runs, another one's may be others */
	bool classes = (taprio_dump_has_admin(a) && taprio_dump_has_oper(a)) ==
		       (taprio_dump_has_admin(b) && taprio_dump_has_oper(b));
	struct nlmsghdr *first = settled(a, classes), *second = settled(b, classes);
	bool same = first && second && first->nlmsg_len == second->nlmsg_len &&
		    !memcmp(mnl_nlmsg_get_payload(first), mnl_nlmsg_get_payload(second),
			    mnl_nlmsg_get_payload_len(first));

	free(first);
	free(second);
	return same;
}

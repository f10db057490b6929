// SPDX-License-Identifier: GPL-2.0-only
#include "tc/taprio.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "host/netlink.h"
#include "tc/attr.h"
#include "tc/tc_headers.h"

void class_map_fill(const struct deployment *deployment, struct tc_mqprio_qopt *qopt)
{
	const struct schedule *schedule = &deployment->schedule;

	memset(qopt, 0, sizeof(*qopt));
	qopt->num_tc = (uint8_t)schedule->class_count;
	for (unsigned p = 0; p <= TC_QOPT_BITMASK; p++)
		qopt->prio_tc_map[p] = (uint8_t)schedule_class_of(schedule, p);
	for (unsigned c = 0; c < schedule->class_count; c++) {
		qopt->count[c] = schedule->classes[c].queue_count;
		qopt->offset[c] = schedule->classes[c].queue_first;
	}
	qopt->hw = deployment->mqprio_hw;
}

static void put_s64(struct nlmsghdr *nlh, uint16_t type, int64_t value)
{
	mnl_attr_put(nlh, type, sizeof(value), &value);
}

static void put_gates(struct nlmsghdr *nlh, const struct schedule *schedule)
{
	struct nlattr *list = mnl_attr_nest_start(nlh, TCA_TAPRIO_ATTR_SCHED_ENTRY_LIST);

	for (unsigned i = 0; i < schedule->gate_count; i++) {
		struct nlattr *entry = attr_nest_plain(nlh, TCA_TAPRIO_SCHED_ENTRY);

		mnl_attr_put_u8(nlh, TCA_TAPRIO_SCHED_ENTRY_CMD, TC_TAPRIO_CMD_SET_GATES);
		mnl_attr_put_u32(nlh, TCA_TAPRIO_SCHED_ENTRY_GATE_MASK, schedule->gates[i].open);
		mnl_attr_put_u32(nlh, TCA_TAPRIO_SCHED_ENTRY_INTERVAL,
				 (uint32_t)schedule->gates[i].duration_ns);
		mnl_attr_nest_end(nlh, entry);
	}
	mnl_attr_nest_end(nlh, list);
}

static void put_class_entries(struct nlmsghdr *nlh, const struct deployment *deployment)
{
	const struct schedule *schedule = &deployment->schedule;
	bool limited = false;

	for (unsigned c = 0; c < schedule->class_count; c++)
		limited |= schedule->classes[c].max_frame != 0;
	if (!limited && !deployment->preemption)
		return;
	for (unsigned c = 0; c < schedule->class_count; c++) {
		const struct traffic_class *class = &schedule->classes[c];
		struct nlattr *entry = mnl_attr_nest_start(nlh, TCA_TAPRIO_ATTR_TC_ENTRY);

		mnl_attr_put_u32(nlh, TCA_TAPRIO_TC_ENTRY_INDEX, c);
		if (limited)
			mnl_attr_put_u32(nlh, TCA_TAPRIO_TC_ENTRY_MAX_SDU,
					 deployment_max_sdu(deployment, c));
		if (deployment->preemption)
			mnl_attr_put_u32(nlh, TAPRIO_TC_ENTRY_FP,
					 class->preemptible ? FP_PREEMPTIBLE : FP_EXPRESS);
		mnl_attr_nest_end(nlh, entry);
	}
}

void taprio_put(struct nlmsghdr *nlh, const struct deployment *deployment, int64_t base_ns)
{
	const struct schedule *schedule = &deployment->schedule;
	struct nlattr *options = attr_nest_plain(nlh, TCA_OPTIONS);
	struct tc_mqprio_qopt qopt;

	if (deployment->mode != SCHEDULE_FULL_OFFLOAD)
		mnl_attr_put_u32(nlh, TCA_TAPRIO_ATTR_SCHED_CLOCKID, CLOCK_TAI);
	/* omitted flags mean 0, also at a change: they are always sent where they are not */
	if (deployment->mode == SCHEDULE_FULL_OFFLOAD)
		mnl_attr_put_u32(nlh, TCA_TAPRIO_ATTR_FLAGS, TCA_TAPRIO_ATTR_FLAG_FULL_OFFLOAD);
	if (deployment->mode == SCHEDULE_TXTIME_ASSIST)
		mnl_attr_put_u32(nlh, TCA_TAPRIO_ATTR_FLAGS, TCA_TAPRIO_ATTR_FLAG_TXTIME_ASSIST);
	class_map_fill(deployment, &qopt);
	mnl_attr_put(nlh, TCA_TAPRIO_ATTR_PRIOMAP, sizeof(qopt), &qopt);
	if (deployment->txtime_delay_ns)
		mnl_attr_put_u32(nlh, TCA_TAPRIO_ATTR_TXTIME_DELAY,
				 (uint32_t)deployment->txtime_delay_ns);
	if (base_ns)
		put_s64(nlh, TCA_TAPRIO_ATTR_SCHED_BASE_TIME, base_ns);
	put_s64(nlh, TCA_TAPRIO_ATTR_SCHED_CYCLE_TIME, schedule->cycle_ns);
	if (schedule->extension_ns)
		put_s64(nlh, TCA_TAPRIO_ATTR_SCHED_CYCLE_TIME_EXTENSION, schedule->extension_ns);
	put_class_entries(nlh, deployment);
	put_gates(nlh, schedule);
	mnl_attr_nest_end(nlh, options);
}

static int64_t read_s64(const struct nlattr *attr)
{
	const void *payload = netlink_payload(attr, sizeof(int64_t));
	int64_t value = 0;

	if (payload)
		memcpy(&value, payload, sizeof(value));
	return value;
}

static uint32_t read_u32(const struct nlattr *attr, uint32_t fallback)
{
	const void *payload = netlink_payload(attr, sizeof(uint32_t));

	if (payload)
		memcpy(&fallback, payload, sizeof(fallback));
	return fallback;
}

static void read_gates(const struct nlattr *list, struct gate_list *gates)
{
	const struct nlattr *entry;

	mnl_attr_for_each_nested(entry, list)
	{
		const struct nlattr *attrs[TCA_TAPRIO_SCHED_ENTRY_MAX + 1];
		const uint8_t *command;

		if (mnl_attr_get_type(entry) != TCA_TAPRIO_SCHED_ENTRY)
			continue;
		if (gates->count == SCHEDULE_GATES_MAX) {
			gates->truncated = true;
			return;
		}
		netlink_attributes(mnl_attr_get_payload(entry), mnl_attr_get_payload_len(entry),
				   attrs, TCA_TAPRIO_SCHED_ENTRY_MAX);
		command = netlink_payload(attrs[TCA_TAPRIO_SCHED_ENTRY_CMD], 1);
		gates->truncated |= command && *command != TC_TAPRIO_CMD_SET_GATES;
		gates->gates[gates->count++] =
			(struct gate){ read_u32(attrs[TCA_TAPRIO_SCHED_ENTRY_GATE_MASK], 0),
				       read_u32(attrs[TCA_TAPRIO_SCHED_ENTRY_INTERVAL], 0) };
	}
}

static bool read_schedule(const struct nlattr *const *attrs, struct gate_list *gates)
{
	if (!attrs[TCA_TAPRIO_ATTR_SCHED_ENTRY_LIST])
		return false;
	gates->base_ns = read_s64(attrs[TCA_TAPRIO_ATTR_SCHED_BASE_TIME]);
	gates->cycle_ns = read_s64(attrs[TCA_TAPRIO_ATTR_SCHED_CYCLE_TIME]);
	gates->extension_ns = read_s64(attrs[TCA_TAPRIO_ATTR_SCHED_CYCLE_TIME_EXTENSION]);
	read_gates(attrs[TCA_TAPRIO_ATTR_SCHED_ENTRY_LIST], gates);
	return true;
}

static void read_class_entry(const struct nlattr *entry, struct taprio_state *state)
{
	const struct nlattr *attrs[TAPRIO_TC_ENTRY_FP + 1];
	uint32_t class;

	netlink_attributes(mnl_attr_get_payload(entry), mnl_attr_get_payload_len(entry), attrs,
			   TAPRIO_TC_ENTRY_FP);
	class = read_u32(attrs[TCA_TAPRIO_TC_ENTRY_INDEX], SCHEDULE_CLASSES_MAX);
	if (class >= SCHEDULE_CLASSES_MAX)
		return;
	state->has_max_sdu[class] = attrs[TCA_TAPRIO_TC_ENTRY_MAX_SDU] != NULL;
	state->max_sdu[class] = read_u32(attrs[TCA_TAPRIO_TC_ENTRY_MAX_SDU], 0);
	state->preemption[class] = (uint8_t)read_u32(attrs[TAPRIO_TC_ENTRY_FP], 0);
}

int taprio_parse(const void *options, size_t size, struct taprio_state *state)
{
	const struct nlattr *attrs[TCA_TAPRIO_ATTR_MAX + 1], *attr;

	memset(state, 0, sizeof(*state));
	if (netlink_attributes(options, size, attrs, TCA_TAPRIO_ATTR_MAX))
		return -EBADMSG;
	state->clockid = (int32_t)read_u32(attrs[TCA_TAPRIO_ATTR_SCHED_CLOCKID], (uint32_t)-1);
	state->txtime_delay_ns = read_u32(attrs[TCA_TAPRIO_ATTR_TXTIME_DELAY], 0);
	mnl_attr_for_each_payload(options, size)
	{
		if (mnl_attr_get_type(attr) == TCA_TAPRIO_ATTR_TC_ENTRY)
			read_class_entry(attr, state);
	}
	state->has_oper = read_schedule(attrs, &state->oper);
	attr = attrs[TCA_TAPRIO_ATTR_ADMIN_SCHED];
	if (!attr)
		return 0;
	if (netlink_attributes(mnl_attr_get_payload(attr), mnl_attr_get_payload_len(attr), attrs,
			       TCA_TAPRIO_ATTR_MAX))
		return -EBADMSG;
	state->has_admin = read_schedule(attrs, &state->admin);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "tc/installed.h"

#include <errno.h>
#include <linux/gen_stats.h>
#include <stdio.h>
#include <string.h>

#include "tc/mqprio.h"
#include "tc/tc_headers.h"

static void read_app_stats(const struct nlattr *app, struct queue_stats *stats)
{
	const struct nlattr *attrs[TAPRIO_STATS_TX_OVERRUNS + 1];
	const void *payload;

	netlink_attributes(mnl_attr_get_payload(app), mnl_attr_get_payload_len(app), attrs,
			   TAPRIO_STATS_TX_OVERRUNS);
	payload = netlink_payload(attrs[TAPRIO_STATS_WINDOW_DROPS], sizeof(uint64_t));
	if (payload) {
		memcpy(&stats->window_drops, payload, sizeof(uint64_t));
		stats->has_window_drops = true;
	}
	payload = netlink_payload(attrs[TAPRIO_STATS_TX_OVERRUNS], sizeof(uint64_t));
	if (payload) {
		memcpy(&stats->overruns, payload, sizeof(uint64_t));
		stats->has_overruns = true;
	}
}

static void read_stats(const struct nlattr *nest, bool taprio, struct queue_stats *stats)
{
	const struct nlattr *attrs[TCA_STATS_MAX + 1];
	struct gnet_stats_queue queue;
	const void *payload;

	if (!nest)
		return;
	netlink_attributes(mnl_attr_get_payload(nest), mnl_attr_get_payload_len(nest), attrs,
			   TCA_STATS_MAX);
	payload = netlink_payload(attrs[TCA_STATS_BASIC], 12);
	if (payload) {
		uint32_t packets;

		memcpy(&stats->bytes, payload, sizeof(uint64_t));
		memcpy(&packets, (const char *)payload + 8, sizeof(packets));
		stats->packets = packets;
		stats->known = true;
	}
	payload = netlink_payload(attrs[TCA_STATS_QUEUE], sizeof(queue));
	if (payload) {
		memcpy(&queue, payload, sizeof(queue));
		stats->drops = queue.drops;
		stats->overlimits = queue.overlimits;
		stats->backlog_packets = queue.qlen;
	}
	if (taprio && attrs[TCA_STATS_APP])
		read_app_stats(attrs[TCA_STATS_APP], stats);
}

static void take_root(struct installed *installed, const struct qdisc_message *message)
{
	const struct nlattr *options = message->options;
	const struct qdisc *qdisc = &message->qdisc;

	installed->has_root = true;
	memcpy(installed->kind, qdisc->kind, sizeof(installed->kind));
	installed->handle = qdisc->handle;
	installed->offloaded = qdisc->offloaded;
	if (message->stab) {
		const struct nlattr *stab[TCA_STAB_MAX + 1];
		const struct tc_sizespec *size_table;

		netlink_attributes(mnl_attr_get_payload(message->stab),
				   mnl_attr_get_payload_len(message->stab), stab, TCA_STAB_MAX);
		size_table = netlink_payload(stab[TCA_STAB_BASE], sizeof(*size_table));
		installed->has_stab = size_table != NULL;
		installed->stab_overhead = size_table ? size_table->overhead : 0;
	}
	if (!strcmp(qdisc->kind, "taprio") && options &&
	    !taprio_parse(mnl_attr_get_payload(options), mnl_attr_get_payload_len(options),
			  &installed->taprio)) {
		installed->is_taprio = true;
		installed->taprio_flags = qdisc->taprio_flags;
	} else if (!strcmp(qdisc->kind, "mqprio") && qdisc->has_map) {
		installed->is_mqprio = true;
		installed->mqprio_hw = qdisc->mqprio_hw;
		mqprio_parse_preemption(options, installed->taprio.preemption);
	}
	installed->map = qdisc->map;
	read_stats(message->stats, installed->is_taprio, &installed->stats);
}

static void take_child(struct installed *installed, const struct qdisc_message *message)
{
	const struct qdisc *qdisc = &message->qdisc;
	unsigned queue = TC_H_MIN(qdisc->parent) - 1;
	struct installed_queue *entry;

	if (queue >= SCHEDULE_QUEUES_MAX)
		return;
	entry = &installed->queues[queue];
	memcpy(entry->kind, qdisc->kind, sizeof(entry->kind));
	entry->handle = qdisc->handle;
	entry->has_etf = etf_of(qdisc, &entry->etf);
	read_stats(message->stats, false, &entry->stats);
}

static bool is_foreign(const struct qdisc *qdisc)
{
	static const char *const ours[] = { "taprio", "mqprio", "etf", "mq", "ingress", "clsact" };

	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (!strcmp(qdisc->kind, ours[i]))
			return false;
	/* handle 0: the kernel put it there by itself */
	return qdisc->handle != 0;
}

void installed_take(struct installed *installed, const struct nlmsghdr *message)
{
	struct qdisc_message parts;
	const struct qdisc *qdisc = &parts.qdisc;

	if (qdisc_message_parse(message, &parts))
		return;
	if (message->nlmsg_type == RTM_NEWTCLASS) {
		unsigned queue = TC_H_MIN(qdisc->handle) - 1;

		if (queue < SCHEDULE_QUEUES_MAX && !strcmp(qdisc->kind, "taprio"))
			read_stats(parts.stats, true, &installed->queues[queue].class_stats);
		return;
	}
	if (message->nlmsg_type != RTM_NEWQDISC)
		return;
	if (qdisc->parent == TC_H_ROOT)
		take_root(installed, &parts);
	else if (qdisc->parent != TC_H_INGRESS)
		take_child(installed, &parts);
	if (is_foreign(qdisc) && installed->foreign_count < FOREIGN_MAX) {
		struct foreign_qdisc *foreign = &installed->foreign[installed->foreign_count++];

		memcpy(foreign->kind, qdisc->kind, sizeof(foreign->kind));
		foreign->handle = qdisc->handle;
		foreign->parent = qdisc->parent;
	}
}

static void restart_qdiscs(void *context)
{
	memset(context, 0, sizeof(struct installed));
}

/* what the classes tell is written over what an earlier attempt told */
static void restart_classes(void *context)
{
	(void)context;
}

static int take(const struct nlmsghdr *answer, void *context)
{
	installed_take(context, answer);
	return 0;
}

int installed_read(struct netlink *nl, int ifindex, const char *name, struct installed *installed,
		   struct error *err)
{
	int result = qdisc_dump(nl, RTM_GETQDISC, ifindex, restart_qdiscs, take, installed);

	/* of no other one are the classes read */
	if (!result && !strcmp(installed->kind, "taprio"))
		result = qdisc_dump(nl, RTM_GETTCLASS, ifindex, restart_classes, take, installed);
	if (result)
		return netlink_error(err, nl, result, "%s: cannot read what is installed", name);
	return 0;
}

enum schedule_mode installed_mode(const struct installed *installed)
{
	if (installed->is_mqprio)
		return SCHEDULE_MQPRIO;
	if (!installed->is_taprio)
		return SCHEDULE_AUTO;
	if (installed->taprio_flags & TCA_TAPRIO_ATTR_FLAG_FULL_OFFLOAD)
		return SCHEDULE_FULL_OFFLOAD;
	if (installed->taprio_flags & TCA_TAPRIO_ATTR_FLAG_TXTIME_ASSIST)
		return SCHEDULE_TXTIME_ASSIST;
	return SCHEDULE_SOFTWARE;
}

bool installed_launch_ignored(const struct installed *installed, const struct nic *nic)
{
	if (!nic->mqprio_ends_launch || !installed->is_mqprio || !installed->mqprio_hw)
		return false;
	for (unsigned q = 0; q < SCHEDULE_QUEUES_MAX; q++)
		if (installed->queues[q].has_etf && installed->queues[q].etf.offload)
			return true;
	return false;
}

static void name_class(const struct installed *installed, const struct schedule *names, unsigned c,
		       struct traffic_class *class)
{
	snprintf(class->name, sizeof(class->name), "class %u", c);
	if (names && names->class_count == installed->map.classes &&
	    names->classes[c].queue_first == class->queue_first &&
	    names->classes[c].queue_count == class->queue_count)
		snprintf(class->name, sizeof(class->name), "%s", names->classes[c].name);
}

int installed_schedule(const struct installed *installed, bool admin, const struct schedule *names,
		       struct schedule *schedule)
{
	const struct gate_list *gates = admin ? &installed->taprio.admin : &installed->taprio.oper;
	const struct class_map *map = &installed->map;

	if (!map->classes || (installed->is_taprio &&
			      !(admin ? installed->taprio.has_admin : installed->taprio.has_oper)))
		return -1;
	memset(schedule, 0, sizeof(*schedule));
	schedule->mode = installed_mode(installed);
	schedule->class_count = map->classes;
	for (unsigned c = 0; c < map->classes; c++) {
		struct traffic_class *class = &schedule->classes[c];
		unsigned first = map->queue_first[c], count = map->queue_count[c];

		class->queue_first = (uint16_t)first;
		class->queue_count = (uint16_t)count;
		for (unsigned p = 0; p < PRIORITIES; p++)
			if (map->class_of[p] == c)
				class->priorities |= (uint8_t)(1 << p);
		class->launch_time = count > 0;
		for (unsigned q = first; q < first + count; q++)
			class->launch_time &= q < SCHEDULE_QUEUES_MAX &&
					      installed->queues[q].has_etf;
		if (class->launch_time && first < SCHEDULE_QUEUES_MAX) {
			class->delta_ns = installed->queues[first].etf.delta_ns;
			class->etf_offload = installed->queues[first].etf.offload ? CHOICE_ON
										  : CHOICE_OFF;
		}
		class->max_frame = installed->taprio.max_sdu[c]
					   ? installed->taprio.max_sdu[c] + ETH_HEADER
					   : 0;
		class->preemptible = installed->taprio.preemption[c] == FP_PREEMPTIBLE;
		name_class(installed, names, c, class);
	}
	if (!installed->is_taprio)
		return 0;
	schedule->base_kind = BASE_ABSOLUTE;
	schedule->base_ns = gates->base_ns;
	schedule->cycle_ns = schedule->stream_cycle_ns = gates->cycle_ns;
	schedule->extension_ns = gates->extension_ns;
	schedule->txtime_delay_ns = installed->taprio.txtime_delay_ns;
	schedule->gate_count = gates->count;
	memcpy(schedule->gates, gates->gates, gates->count * sizeof(*gates->gates));
	return gates->cycle_ns > 0 ? 0 : -1;
}

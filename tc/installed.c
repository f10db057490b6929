// SPDX-License-Identifier: GPL-2.0-only
#include "tc/installed.h"

#include <errno.h>
#include <linux/gen_stats.h>
#include <stdio.h>
#include <string.h>

#include "tc/mqprio.h"
#include "tc/tc_headers.h"

#define TRIES 5 /* of a dump that changes while it is read */

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

static void take_root(struct installed *installed, const struct tcmsg *tcm, const char *kind,
		      const struct nlattr *const *attrs)
{
	const struct nlattr *options = attrs[TCA_OPTIONS];
	const void *bytes = options ? mnl_attr_get_payload(options) : NULL;
	size_t size = options ? mnl_attr_get_payload_len(options) : 0;
	const uint8_t *offloaded = netlink_payload(attrs[TCA_HW_OFFLOAD], 1);
	struct mqprio_state mqprio;

	installed->has_root = true;
	snprintf(installed->kind, sizeof(installed->kind), "%s", kind);
	installed->handle = tcm->tcm_handle;
	installed->offloaded = offloaded && *offloaded;
	if (attrs[TCA_STAB]) {
		const struct nlattr *stab[TCA_STAB_MAX + 1];
		const struct tc_sizespec *size_table;

		netlink_attributes(mnl_attr_get_payload(attrs[TCA_STAB]),
				   mnl_attr_get_payload_len(attrs[TCA_STAB]), stab, TCA_STAB_MAX);
		size_table = netlink_payload(stab[TCA_STAB_BASE], sizeof(*size_table));
		installed->has_stab = size_table != NULL;
		installed->stab_overhead = size_table ? size_table->overhead : 0;
	}
	if (!strcmp(kind, "taprio") && options && !taprio_parse(bytes, size, &installed->taprio)) {
		installed->is_taprio = true;
		installed->map = installed->taprio.map;
	} else if (!strcmp(kind, "mqprio") && options && !mqprio_parse(bytes, size, &mqprio)) {
		installed->is_mqprio = true;
		installed->mqprio_hw = mqprio.hw;
		installed->map = mqprio.map;
		memcpy(installed->taprio.preemption, mqprio.preemption, sizeof(mqprio.preemption));
	}
	read_stats(attrs[TCA_STATS2], installed->is_taprio, &installed->stats);
}

static void take_child(struct installed *installed, const struct tcmsg *tcm, const char *kind,
		       const struct nlattr *const *attrs)
{
	unsigned queue = TC_H_MIN(tcm->tcm_parent) - 1;
	const struct nlattr *options = attrs[TCA_OPTIONS];
	struct installed_queue *entry;

	if (queue >= SCHEDULE_QUEUES_MAX)
		return;
	entry = &installed->queues[queue];
	snprintf(entry->kind, sizeof(entry->kind), "%s", kind);
	entry->handle = tcm->tcm_handle;
	if (!strcmp(kind, "etf") && options &&
	    !etf_parse(mnl_attr_get_payload(options), mnl_attr_get_payload_len(options),
		       &entry->etf))
		entry->has_etf = true;
	read_stats(attrs[TCA_STATS2], false, &entry->stats);
}

static bool is_foreign(const struct tcmsg *tcm, const char *kind)
{
	static const char *const ours[] = { "taprio", "mqprio", "etf", "mq", "ingress", "clsact" };

	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (!strcmp(kind, ours[i]))
			return false;
	/* handle 0: the kernel put it there by itself */
	return tcm->tcm_handle != 0;
}

void installed_take(struct installed *installed, const struct nlmsghdr *message)
{
	const struct nlattr *attrs[TCA_MAX + 1];
	const struct tcmsg *tcm;
	char kind[16];

	if (message->nlmsg_len < NLMSG_LENGTH(sizeof(*tcm)))
		return;
	tcm = NLMSG_DATA(message);
	netlink_attributes((const char *)tcm + NLMSG_ALIGN(sizeof(*tcm)),
			   message->nlmsg_len - NLMSG_SPACE(sizeof(*tcm)), attrs, TCA_MAX);
	netlink_string(attrs[TCA_KIND], kind, sizeof(kind));
	if (message->nlmsg_type == RTM_NEWTCLASS) {
		unsigned queue = TC_H_MIN(tcm->tcm_handle) - 1;

		if (queue < SCHEDULE_QUEUES_MAX && !strcmp(kind, "taprio"))
			read_stats(attrs[TCA_STATS2], true, &installed->queues[queue].class_stats);
		return;
	}
	if (message->nlmsg_type != RTM_NEWQDISC)
		return;
	if (tcm->tcm_parent == TC_H_ROOT)
		take_root(installed, tcm, kind, attrs);
	else if (tcm->tcm_parent != TC_H_INGRESS)
		take_child(installed, tcm, kind, attrs);
	if (is_foreign(tcm, kind) && installed->foreign_count < FOREIGN_MAX) {
		struct foreign_qdisc *foreign = &installed->foreign[installed->foreign_count++];

		snprintf(foreign->kind, sizeof(foreign->kind), "%s", kind);
		foreign->handle = tcm->tcm_handle;
		foreign->parent = tcm->tcm_parent;
	}
}

struct reading {
	struct installed *installed;
	int ifindex;
};

static int take(const struct nlmsghdr *answer, void *context)
{
	struct reading *reading = context;
	const struct tcmsg *tcm = NLMSG_DATA(answer);

	/* the kernel may list other interfaces too */
	if (answer->nlmsg_len >= NLMSG_LENGTH(sizeof(*tcm)) && tcm->tcm_ifindex == reading->ifindex)
		installed_take(reading->installed, answer);
	return 0;
}

int installed_read(struct netlink *nl, int ifindex, const char *name, struct installed *installed,
		   struct error *err)
{
	struct reading reading = { installed, ifindex };
	int result = 0;

	for (int try = 0; try < TRIES; try++) {
		static const uint16_t types[] = { RTM_GETQDISC, RTM_GETTCLASS };

		memset(installed, 0, sizeof(*installed));
		for (unsigned i = 0; i < 2; i++) {
			struct nlmsghdr *request = netlink_request(nl, types[i], NLM_F_DUMP);
			struct tcmsg *tcm = mnl_nlmsg_put_extra_header(request, sizeof(*tcm));

			tcm->tcm_family = AF_UNSPEC;
			tcm->tcm_ifindex = ifindex;
			result = netlink_talk(nl, request, take, &reading);
			if (result)
				break;
		}
		if (result != -EINTR)
			break;
	}
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
	if (installed->taprio.flags & TCA_TAPRIO_ATTR_FLAG_FULL_OFFLOAD)
		return SCHEDULE_FULL_OFFLOAD;
	if (installed->taprio.flags & TCA_TAPRIO_ATTR_FLAG_TXTIME_ASSIST)
		return SCHEDULE_TXTIME_ASSIST;
	return SCHEDULE_SOFTWARE;
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

// SPDX-License-Identifier: GPL-2.0-only
#include "host/qdisc.h"

#include <errno.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define ATTEMPTS 5 /* at a dump that changes while it is read */

static void parse_etf(const struct nlattr *options, struct qdisc *qdisc)
{
	const struct nlattr *attrs[TCA_ETF_MAX + 1];
	const struct tc_etf_qopt *etf;

	netlink_attributes(mnl_attr_get_payload(options), mnl_attr_get_payload_len(options), attrs,
			   TCA_ETF_MAX);
	etf = netlink_payload(attrs[TCA_ETF_PARMS], sizeof(*etf));
	if (!etf)
		return;
	qdisc->has_etf = true;
	qdisc->clockid = etf->clockid;
	qdisc->delta_ns = etf->delta;
	qdisc->etf_flags = etf->flags;
}

static void take_map(const struct tc_mqprio_qopt *qopt, struct qdisc *qdisc)
{
	struct class_map *map = &qdisc->map;

	if (!qopt || qopt->num_tc > TC_QOPT_MAX_QUEUE)
		return;
	qdisc->has_map = true;
	qdisc->mqprio_hw = qopt->hw;
	map->classes = qopt->num_tc;
	for (unsigned p = 0; p <= TC_QOPT_BITMASK; p++)
		map->class_of[p] = qopt->prio_tc_map[p] & TC_QOPT_BITMASK;
	for (unsigned c = 0; c < map->classes; c++) {
		map->queue_first[c] = qopt->offset[c];
		map->queue_count[c] = qopt->count[c];
	}
}

static void parse_taprio(const struct nlattr *options, struct qdisc *qdisc)
{
	const struct nlattr *attrs[TCA_TAPRIO_ATTR_MAX + 1];
	const uint32_t *flags;

	netlink_attributes(mnl_attr_get_payload(options), mnl_attr_get_payload_len(options), attrs,
			   TCA_TAPRIO_ATTR_MAX);
	take_map(netlink_payload(attrs[TCA_TAPRIO_ATTR_PRIOMAP], sizeof(struct tc_mqprio_qopt)),
		 qdisc);
	flags = netlink_payload(attrs[TCA_TAPRIO_ATTR_FLAGS], sizeof(*flags));
	qdisc->taprio_flags = flags ? *flags : 0;
}

int qdisc_message_parse(const struct nlmsghdr *message, struct qdisc_message *parts)
{
	const struct nlattr *attrs[TCA_MAX + 1];
	struct qdisc *qdisc = &parts->qdisc;
	const struct tcmsg *tcm;
	const uint8_t *offloaded;

	memset(parts, 0, sizeof(*parts));
	if (message->nlmsg_len < NLMSG_LENGTH(sizeof(*tcm)))
		return -EBADMSG;
	tcm = NLMSG_DATA(message);
	netlink_attributes((const char *)tcm + NLMSG_ALIGN(sizeof(*tcm)),
			   message->nlmsg_len - NLMSG_SPACE(sizeof(*tcm)), attrs, TCA_MAX);
	parts->ifindex = tcm->tcm_ifindex;
	parts->options = attrs[TCA_OPTIONS];
	parts->stab = attrs[TCA_STAB];
	parts->stats = attrs[TCA_STATS2];
	qdisc->handle = tcm->tcm_handle;
	qdisc->parent = tcm->tcm_parent;
	netlink_string(attrs[TCA_KIND], qdisc->kind, sizeof(qdisc->kind));
	offloaded = netlink_payload(attrs[TCA_HW_OFFLOAD], 1);
	qdisc->offloaded = offloaded && *offloaded;
	if (!parts->options)
		return 0;
	if (!strcmp(qdisc->kind, "etf"))
		parse_etf(parts->options, qdisc);
	else if (!strcmp(qdisc->kind, "taprio"))
		parse_taprio(parts->options, qdisc);
	else if (!strcmp(qdisc->kind, "mqprio"))
		/* the structure itself, then attributes */
		take_map(netlink_payload(parts->options, sizeof(struct tc_mqprio_qopt)), qdisc);
	return 0;
}

int qdisc_parse(const struct nlmsghdr *message, struct qdisc *qdisc)
{
	struct qdisc_message parts;
	int result = qdisc_message_parse(message, &parts);

	*qdisc = parts.qdisc;
	return result;
}

struct dump {
	int ifindex;
	int (*each)(const struct nlmsghdr *answer, void *context);
	void *context;
};

static int take_of_interface(const struct nlmsghdr *answer, void *context)
{
	const struct dump *dump = context;
	const struct tcmsg *tcm = NLMSG_DATA(answer);

	/* the kernel may list other interfaces too */
	if (answer->nlmsg_len < NLMSG_LENGTH(sizeof(*tcm)) || tcm->tcm_ifindex != dump->ifindex)
		return 0;
	return dump->each(answer, dump->context);
}

int qdisc_dump(struct netlink *nl, uint16_t type, int ifindex, void (*restart)(void *context),
	       int (*each)(const struct nlmsghdr *answer, void *context), void *context)
{
	struct dump dump = { ifindex, each, context };
	int result = -EINTR;

	for (int attempt = 0; attempt < ATTEMPTS && result == -EINTR; attempt++) {
		struct nlmsghdr *request = netlink_request(nl, type, NLM_F_DUMP);
		struct tcmsg *tcm = mnl_nlmsg_put_extra_header(request, sizeof(*tcm));

		tcm->tcm_family = AF_UNSPEC;
		tcm->tcm_ifindex = ifindex;
		restart(context);
		result = netlink_talk(nl, request, take_of_interface, &dump);
	}
	return result;
}

static void restart_list(void *context)
{
	struct qdisc_list *list = context;

	list->count = 0;
}

static int take_qdisc(const struct nlmsghdr *answer, void *context)
{
	struct qdisc_list *list = context;

	if (answer->nlmsg_type == RTM_NEWQDISC && list->count < QDISCS_MAX &&
	    qdisc_parse(answer, &list->list[list->count]) == 0)
		list->count++;
	return 0;
}

int qdisc_list_read(struct netlink *nl, int ifindex, const char *name, struct qdisc_list *list,
		    struct error *err)
{
	int result;

	list->count = 0;
	list->list = calloc(QDISCS_MAX, sizeof(*list->list));
	if (!list->list)
		return error_errno(err, ENOMEM, "%s: cannot list the qdiscs", name);
	result = qdisc_dump(nl, RTM_GETQDISC, ifindex, restart_list, take_qdisc, list);
	if (result < 0) {
		qdisc_list_free(list);
		return netlink_error(err, nl, result, "%s: cannot list the qdiscs", name);
	}
	return 0;
}

void qdisc_list_free(struct qdisc_list *list)
{
	free(list->list);
	list->list = NULL;
	list->count = 0;
}

static const struct qdisc *on_queue(const struct qdisc_list *list, const struct qdisc *root,
				    unsigned queue, const char *kind)
{
	for (unsigned i = 0; i < list->count; i++)
		if (list->list[i].parent == (root->handle | (queue + 1)) &&
		    !strcmp(list->list[i].kind, kind))
			return &list->list[i];
	return NULL;
}

struct qdisc_path qdisc_path_of(const struct qdisc_list *list, unsigned priority)
{
	struct qdisc_path path = { .class = -1, .queue_count = 1 };

	for (unsigned i = 0; i < list->count; i++) {
		if (list->list[i].parent == TC_H_ROOT)
			path.root = &list->list[i];
		if (!strcmp(list->list[i].kind, "etf"))
			path.etf_somewhere = true;
	}
	if (!path.root)
		return path;
	if (!strcmp(path.root->kind, "etf")) {
		path.etf = path.root;
		return path;
	}
	if (!path.root->has_map)
		return path;
	if (!strcmp(path.root->kind, "taprio"))
		path.taprio = path.root;
	path.class = path.root->map.class_of[priority & 15];
	path.queue_first = path.root->map.queue_first[path.class];
	path.queue_count = path.root->map.queue_count[path.class];
	for (unsigned q = 0; q < path.queue_count; q++) {
		const struct qdisc *etf = on_queue(list, path.root, path.queue_first + q, "etf");

		if (!etf) {
			path.etf = NULL;
			break;
		}
		path.etf = etf;
	}
	return path;
}

uint16_t qdisc_etf_priorities(const struct qdisc_list *list)
{
	uint16_t mask = 0;

	for (unsigned i = 0; i < list->count; i++) {
		const struct qdisc *etf = &list->list[i];
		unsigned queue = TC_H_MIN(etf->parent) - 1;

		if (!etf->has_etf || etf->etf_flags & TC_ETF_SKIP_SOCK_CHECK)
			continue;
		for (unsigned p = 0; p < 16; p++) {
			struct qdisc_path path = qdisc_path_of(list, p);

			/* without classes any frame may come to any queue */
			if (path.class < 0 || etf == path.root ||
			    queue - path.queue_first < path.queue_count)
				mask |= (uint16_t)(1 << p);
		}
	}
	return mask;
}

bool qdisc_mqprio_launch(const struct qdisc_list *list)
{
	bool classes = false, launch = false;

	for (unsigned i = 0; i < list->count; i++) {
		const struct qdisc *qdisc = &list->list[i];

		classes |= qdisc->parent == TC_H_ROOT && !strcmp(qdisc->kind, "mqprio") &&
			   qdisc->mqprio_hw;
		launch |= qdisc->parent != TC_H_ROOT && qdisc->has_etf &&
			  qdisc->etf_flags & TC_ETF_OFFLOAD_ON;
	}
	return classes && launch;
}

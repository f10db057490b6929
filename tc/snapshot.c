// SPDX-License-Identifier: GPL-2.0-only
#include "tc/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "host/link.h"
#include "host/qdisc.h"
#include "tc/attr.h"
#include "tc/taprio_dump.h"
#include "tc/tc_headers.h"

#define TRIES 5
#define BEGIN_WAIT_NS (3 * NSEC_PER_SEC) /* a cycle is no longer than 2.1 s */
#define SWITCH_NS 100000 /* from a schedule's base time until the kernel has changed to it */

/* The message in its parts: 0, or -1 when it is none. */
static int split(const struct snapshot_message *message, struct qdisc_message *parts)
{
	const struct nlmsghdr *nlh = (const struct nlmsghdr *)message->bytes;

	if (message->size < sizeof(*nlh) || nlh->nlmsg_len != message->size)
		return -1;
	return qdisc_message_parse(nlh, parts) ? -1 : 0;
}

struct taking {
	struct snapshot *snapshot;
	bool overflow;
	size_t bytes;
};

static int take(const struct nlmsghdr *answer, void *context)
{
	struct taking *taking = context;
	struct snapshot *snapshot = taking->snapshot;
	const struct tcmsg *tcm = NLMSG_DATA(answer);
	struct snapshot_message *message;

	if (tcm->tcm_parent == TC_H_INGRESS || answer->nlmsg_type != RTM_NEWQDISC)
		return 0;
	taking->bytes += answer->nlmsg_len;
	if (snapshot->count == SNAPSHOT_MESSAGES_MAX || taking->bytes > SNAPSHOT_BYTES_MAX) {
		taking->overflow = true;
		return 0;
	}
	message = &snapshot->list[snapshot->count];
	message->bytes = malloc(answer->nlmsg_len);
	if (!message->bytes)
		return -ENOMEM;
	memcpy(message->bytes, answer, answer->nlmsg_len);
	message->size = answer->nlmsg_len;
	snapshot->count++;
	return 0;
}

static void restart(void *context)
{
	struct taking *taking = context;

	snapshot_free(taking->snapshot);
	taking->overflow = false;
	taking->bytes = 0;
}

static int read_qdiscs(struct netlink *nl, int ifindex, const char *name, struct snapshot *snapshot,
		       struct error *err)
{
	struct taking taking = { snapshot, false, 0 };
	int result = qdisc_dump(nl, RTM_GETQDISC, ifindex, restart, take, &taking);

	if (result)
		return netlink_error(err, nl, result, "%s: cannot list the qdiscs", name);
	if (taking.overflow)
		return error_system(err,
				    "%s: more than %d qdiscs are installed; they could not be put "
				    "back",
				    name, SNAPSHOT_MESSAGES_MAX);
	return 0;
}

/* Waits until a schedule that begins after `begins_in` runs, if that is soon. Tells whether it waited. */
static bool wait_begin(int64_t begins_in)
{
	struct timespec pause = ns_to_timespec(begins_in + SWITCH_NS);

	if (!begins_in || begins_in > BEGIN_WAIT_NS)
		return false;
	nanosleep(&pause, NULL);
	return true;
}

static int64_t begins_in_ns(const struct nlattr *options)
{
	return taprio_dump_begins_in_ns(options, clock_now_ns(taprio_dump_clock(options)));
}

/*
 * A schedule without offload is one to come until its base time, or the next cycle. Until a first one runs the kernel tells
 * neither the largest frames nor which classes are preemptible. What is kept is what runs, if it does within seconds.
 */
static bool wait_schedule(const struct snapshot *snapshot)
{
	for (unsigned i = 0; i < snapshot->count; i++) {
		struct qdisc_message parts;
		int64_t begins_in;

		if (split(&snapshot->list[i], &parts) || strcmp(parts.qdisc.kind, "taprio") != 0)
			continue;
		begins_in = begins_in_ns(parts.options);
		if (!taprio_dump_has_oper(parts.options) ||
		    begins_in <= taprio_dump_cycle_ns(parts.options))
			return wait_begin(begins_in);
	}
	return false;
}

int snapshot_take(struct netlink *nl, int ifindex, const char *name, struct snapshot *snapshot,
		  struct error *err)
{
	struct link_info link;

	memset(snapshot, 0, sizeof(*snapshot));
	if (link_get(nl, name, &link, err))
		return -1;
	snapshot->was_up = link.up;
	for (int try = 0; try < TRIES; try++) {
		if (read_qdiscs(nl, ifindex, name, snapshot, err))
			return -1;
		if (!wait_schedule(snapshot))
			break;
	}
	return 0;
}

void snapshot_free(struct snapshot *snapshot)
{
	for (unsigned i = 0; i < snapshot->count; i++)
		free(snapshot->list[i].bytes);
	snapshot->count = 0;
}

const char *snapshot_obstacle(const struct snapshot *snapshot)
{
	/* without classes and filters, and with options that the kernel takes back as it tells them */
	static const char *const good[] = { "noqueue",    "mq",       "mqprio", "taprio",
					    "etf",        "pfifo",    "bfifo",  "pfifo_head_drop",
					    "pfifo_fast", "fq_codel", "codel",  "fq",
					    "sfq" };
	static _Thread_local char bad[16];

	for (unsigned i = 0; i < snapshot->count; i++) {
		struct qdisc_message parts;
		bool known = false;

		if (split(&snapshot->list[i], &parts) || !parts.qdisc.handle)
			continue;
		for (size_t k = 0; k < sizeof(good) / sizeof(good[0]); k++)
			known |= !strcmp(good[k], parts.qdisc.kind);
		if (!known) {
			memcpy(bad, parts.qdisc.kind, sizeof(bad));
			return bad;
		}
	}
	return NULL;
}

int qdisc_delete_root(struct netlink *nl, int ifindex)
{
	struct nlmsghdr *request = netlink_request(nl, RTM_DELQDISC, 0);
	struct tcmsg *tcm = mnl_nlmsg_put_extra_header(request, sizeof(*tcm));
	int result;

	tcm->tcm_family = AF_UNSPEC;
	tcm->tcm_ifindex = ifindex;
	tcm->tcm_parent = TC_H_ROOT;
	result = netlink_talk(nl, request, NULL, NULL);
	/* nothing there, or only the kernel's default, which has no handle and cannot be deleted */
	return result == -ENOENT || result == -EINVAL ? 0 : result;
}

/*
 * CoDel keeps its times in units of 1024 ns and tells them in us, rounded down: what it told, given back, would be rounded
 * down once more. One us more gives the same unit again, for every value.
 */
static void put_codel(struct nlmsghdr *request, const struct nlattr *options, bool plain)
{
	struct nlattr *nest = attr_nest_plain(request, TCA_OPTIONS);
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, options)
	{
		unsigned type = mnl_attr_get_type(attr);
		const uint32_t *value = netlink_payload(attr, sizeof(*value));
		bool is_time = type == TCA_FQ_CODEL_TARGET || type == TCA_FQ_CODEL_INTERVAL ||
			       type == (plain ? TCA_CODEL_CE_THRESHOLD : TCA_FQ_CODEL_CE_THRESHOLD);

		if (is_time && value)
			mnl_attr_put_u32(request, (uint16_t)type, *value + 1);
		else
			mnl_attr_put(request, attr->nla_type, mnl_attr_get_payload_len(attr),
				     mnl_attr_get_payload(attr));
	}
	mnl_attr_nest_end(request, nest);
}

/* The options as a request takes them: a dump of taprio also tells the schedule to come, one of mqprio too much. */
static void put_options(struct nlmsghdr *request, const struct qdisc_message *parts, bool admin)
{
	if (!parts->options)
		return;
	if (!strcmp(parts->qdisc.kind, "mqprio")) {
		size_t size = mnl_attr_get_payload_len(parts->options);
		const struct tc_mqprio_qopt *qopt = mnl_attr_get_payload(parts->options);

		if (size >= sizeof(*qopt) && !qopt->hw)
			size = sizeof(*qopt);
		mnl_attr_put(request, TCA_OPTIONS, size, qopt);
		return;
	}
	if (!strcmp(parts->qdisc.kind, "fq_codel") || !strcmp(parts->qdisc.kind, "codel")) {
		put_codel(request, parts->options, !strcmp(parts->qdisc.kind, "codel"));
		return;
	}
	if (strcmp(parts->qdisc.kind, "taprio") != 0) {
		mnl_attr_put(request, TCA_OPTIONS, mnl_attr_get_payload_len(parts->options),
			     mnl_attr_get_payload(parts->options));
		return;
	}
	taprio_dump_put(request, parts->options, admin);
}

static int put_one(struct netlink *nl, int ifindex, const struct qdisc_message *parts, bool admin)
{
	struct nlmsghdr *request = netlink_request(nl, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE);
	struct tcmsg *tcm = mnl_nlmsg_put_extra_header(request, sizeof(*tcm));

	tcm->tcm_family = AF_UNSPEC;
	tcm->tcm_ifindex = ifindex;
	tcm->tcm_handle = parts->qdisc.handle;
	tcm->tcm_parent = parts->qdisc.parent;
	mnl_attr_put_strz(request, TCA_KIND, parts->qdisc.kind);
	put_options(request, parts, admin);
	if (parts->stab)
		mnl_attr_put(request, TCA_STAB, mnl_attr_get_payload_len(parts->stab),
			     mnl_attr_get_payload(parts->stab));
	return netlink_talk(nl, request, NULL, NULL);
}

static int put_root(struct netlink *nl, int ifindex, const struct qdisc_message *parts)
{
	bool both = parts->options && taprio_dump_has_oper(parts->options);

	return put_one(nl, ifindex, parts, !both);
}

/*
 * Without offload it is a timer of the kernel's that moves the gates, and the kernel stops it whenever a qdisc is put on one
 * of the queues: the schedule is given once more. Then the one to come, once the other runs, else it would take its place.
 */
static int start_gates(struct netlink *nl, int ifindex, const struct qdisc_message *root,
		       bool has_children)
{
	int64_t cycle;
	int result = 0;

	if (strcmp(root->qdisc.kind, "taprio") != 0 || !root->options)
		return 0;
	cycle = taprio_dump_cycle_ns(root->options);
	if (has_children && !root->qdisc.taprio_flags)
		result = put_root(nl, ifindex, root);
	if (result || !taprio_dump_has_admin(root->options) || !taprio_dump_has_oper(root->options))
		return result;
	if (begins_in_ns(root->options) > cycle)
		wait_begin(cycle);
	return put_one(nl, ifindex, root, true);
}

static int put_back(struct netlink *nl, int ifindex, const char *name,
		    const struct snapshot *snapshot, void (*settle)(void *context), void *context,
		    struct error *err)
{
	struct qdisc_message parts, root = { .options = NULL };
	bool has_children = false;
	int result;

	/* the root first: the others hang on it */
	for (int round = 0; round < 2; round++) {
		settle(context);
		for (unsigned i = 0; i < snapshot->count; i++) {
			bool is_root;

			if (split(&snapshot->list[i], &parts))
				continue;
			is_root = parts.qdisc.parent == TC_H_ROOT;
			/* without a handle the kernel made it by itself, and does so again */
			if (is_root != !round || !parts.qdisc.handle)
				continue;
			if (is_root)
				root = parts;
			has_children |= !is_root;
			result = is_root ? put_root(nl, ifindex, &parts)
					 : put_one(nl, ifindex, &parts, false);
			if (result)
				return netlink_error(err, nl, result, "%s: cannot put %s %x: back",
						     name, parts.qdisc.kind,
						     parts.qdisc.handle >> 16);
		}
	}
	if (root.options || has_children)
		settle(context);
	result = start_gates(nl, ifindex, &root, has_children);
	if (result)
		return netlink_error(err, nl, result, "%s: cannot start the gates of %s %x: again",
				     name, root.qdisc.kind, root.qdisc.handle >> 16);
	return 0;
}

int snapshot_restore(struct netlink *nl, int ifindex, const char *name,
		     const struct snapshot *snapshot, void (*settle)(void *context), void *context,
		     struct error *err)
{
	struct snapshot now;
	const char *difference;
	char text[160];
	int result = qdisc_delete_root(nl, ifindex);

	if (result)
		return netlink_error(err, nl, result, "%s: cannot remove the root qdisc", name);
	if (put_back(nl, ifindex, name, snapshot, settle, context, err))
		return -1;
	if (snapshot_take(nl, ifindex, name, &now, err)) {
		snapshot_free(&now);
		return -1;
	}
	difference = snapshot_difference(snapshot, &now, text);
	snapshot_free(&now);
	if (difference)
		return error_system(err, "%s: put back, but it is not as it was: %s", name,
				    difference);
	return 0;
}

static const struct snapshot_message *find(const struct snapshot *snapshot,
					   const struct qdisc_message *wanted)
{
	for (unsigned i = 0; i < snapshot->count; i++) {
		struct qdisc_message parts;

		if (!split(&snapshot->list[i], &parts) &&
		    parts.qdisc.handle == wanted->qdisc.handle &&
		    parts.qdisc.parent == wanted->qdisc.parent)
			return &snapshot->list[i];
	}
	return NULL;
}

static bool same_payload(const struct nlattr *a, const struct nlattr *b)
{
	size_t size = a ? mnl_attr_get_payload_len(a) : 0;

	return size == (b ? mnl_attr_get_payload_len(b) : 0) &&
	       !memcmp(a ? mnl_attr_get_payload(a) : "", b ? mnl_attr_get_payload(b) : "", size);
}

static bool same_options(const struct qdisc_message *a, const struct qdisc_message *b)
{
	if (!strcmp(a->qdisc.kind, "taprio") && a->options && b->options)
		return taprio_dump_same(a->options, b->options);
	return same_payload(a->options, b->options);
}

const char *snapshot_difference(const struct snapshot *a, const struct snapshot *b,
				char buffer[160])
{
	/* an interface that is down has none of the qdiscs that the kernel makes by itself */
	bool own = a->was_up && b->was_up;

	for (int turn = 0; turn < 2; turn++) {
		const struct snapshot *from = turn ? b : a, *to = turn ? a : b;

		for (unsigned i = 0; i < from->count; i++) {
			const struct snapshot_message *other;
			struct qdisc_message parts, others;

			if (split(&from->list[i], &parts) || (!parts.qdisc.handle && !own))
				continue;
			other = find(to, &parts);
			if (!other) {
				snprintf(buffer, 160, "%s %x: on %x:%x %s", parts.qdisc.kind,
					 parts.qdisc.handle >> 16, parts.qdisc.parent >> 16,
					 parts.qdisc.parent & 0xffff,
					 turn ? "is new" : "is missing");
				return buffer;
			}
			split(other, &others);
			if (strcmp(parts.qdisc.kind, others.qdisc.kind) != 0) {
				snprintf(buffer, 160, "on %x:%x there was %s, now there is %s",
					 parts.qdisc.parent >> 16, parts.qdisc.parent & 0xffff,
					 turn ? others.qdisc.kind : parts.qdisc.kind,
					 turn ? parts.qdisc.kind : others.qdisc.kind);
				return buffer;
			}
			if (parts.qdisc.handle && (!same_options(&parts, &others) ||
						   !same_payload(parts.stab, others.stab))) {
				snprintf(buffer, 160, "the options of %s %x: differ",
					 parts.qdisc.kind, parts.qdisc.handle >> 16);
				return buffer;
			}
		}
	}
	return NULL;
}

char *snapshot_text(const struct snapshot *snapshot, char buffer[160])
{
	unsigned etf = 0;

	snprintf(buffer, 160, "nothing (noqueue)");
	for (unsigned i = 0; i < snapshot->count; i++) {
		struct qdisc_message parts;

		if (split(&snapshot->list[i], &parts))
			continue;
		if (parts.qdisc.parent == TC_H_ROOT && parts.qdisc.handle)
			snprintf(buffer, 160, "%s %x:", parts.qdisc.kind, parts.qdisc.handle >> 16);
		else if (parts.qdisc.parent == TC_H_ROOT)
			snprintf(buffer, 160, "%s (the kernel's default)", parts.qdisc.kind);
		else
			etf += !strcmp(parts.qdisc.kind, "etf");
	}
	if (etf)
		snprintf(buffer + strlen(buffer), 160 - strlen(buffer), " with etf on %u queue%s",
			 etf, etf > 1 ? "s" : "");
	return buffer;
}

json_t *snapshot_to_json(const struct snapshot *snapshot)
{
	static const char digits[] = "0123456789abcdef";
	json_t *list = json_array();

	for (unsigned i = 0; i < snapshot->count; i++) {
		const struct snapshot_message *message = &snapshot->list[i];
		char *text = malloc(2 * message->size + 1);

		for (size_t k = 0; text && k < message->size; k++) {
			text[2 * k] = digits[message->bytes[k] >> 4];
			text[2 * k + 1] = digits[message->bytes[k] & 15];
		}
		json_array_append_new(list,
				      json_stringn(text ? text : "", text ? 2 * message->size : 0));
		free(text);
	}
	return json_pack("{s:b, s:o}", "was_up", snapshot->was_up, "qdiscs", list);
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int snapshot_from_json(const json_t *json, struct snapshot *snapshot)
{
	const json_t *list = json_object_get(json, "qdiscs");
	const json_t *was_up = json_object_get(json, "was_up");
	size_t count = json_array_size(list);

	memset(snapshot, 0, sizeof(*snapshot));
	if (!json_is_array(list) || !json_is_boolean(was_up) || count > SNAPSHOT_MESSAGES_MAX)
		return -1;
	snapshot->was_up = json_is_true(was_up);
	for (size_t i = 0; i < count; i++) {
		const char *text = json_string_value(json_array_get(list, i));
		size_t size = text ? strlen(text) / 2 : 0;
		struct snapshot_message *message = &snapshot->list[snapshot->count];
		struct qdisc_message parts;

		if (!size || size > SNAPSHOT_BYTES_MAX)
			goto bad;
		message->bytes = malloc(size);
		if (!message->bytes)
			goto bad;
		message->size = size;
		snapshot->count++;
		for (size_t k = 0; k < size; k++) {
			int high = digit(text[2 * k]), low = digit(text[2 * k + 1]);

			if (high < 0 || low < 0)
				goto bad;
			message->bytes[k] = (uint8_t)(high << 4 | low);
		}
		if (split(message, &parts))
			goto bad;
	}
	return 0;
bad:
	snapshot_free(snapshot);
	return -1;
}

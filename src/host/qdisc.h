/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The queueing disciplines of an interface, as far as they decide when a frame leaves: which queue a
 * priority goes to (mqprio, taprio), and whether etf stands on it. The socket option SO_TXTIME is accepted
 * whether or not anything honours it: only this tells.
 */
#ifndef HOST_QDISC_H
#define HOST_QDISC_H

#include <libmnl/libmnl.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "host/netlink.h"

#define QDISCS_MAX 1024 /* of one interface; further ones are left out */

/* Classes and queues, as mqprio and taprio have them both. */
struct class_map {
	unsigned classes; /* at most 16 */
	uint8_t class_of[16]; /* by priority */
	uint16_t queue_first[16], queue_count[16]; /* by class */
};

struct qdisc {
	uint32_t handle;
	uint32_t parent; /* TC_H_ROOT, or handle of the parent + (queue number + 1) */
	char kind[16];
	bool offloaded; /* TCA_HW_OFFLOAD */
	bool has_etf; /* it is etf, and the kernel told its parameters: */
	int32_t clockid;
	int32_t delta_ns; /* handed to the driver at txtime - delta */
	uint32_t etf_flags; /* TC_ETF_... */
	bool has_map; /* mqprio, taprio: */
	struct class_map map;
	bool mqprio_hw;
	uint32_t taprio_flags; /* TCA_TAPRIO_ATTR_FLAG_... */
};

struct qdisc_list {
	unsigned count;
	struct qdisc *list;
};

/* Reads those of the interface; qdisc_list_free() gives them back. No privileges needed. 0 or -1. */
int qdisc_list_read(struct netlink *nl, int ifindex, const char *name, struct qdisc_list *list,
		    struct error *err);
void qdisc_list_free(struct qdisc_list *list);

/* Pure: one RTM_NEWQDISC message. Returns 0, or -EBADMSG. */
int qdisc_parse(const struct nlmsghdr *message, struct qdisc *qdisc);

/* The same, with the parts that are read by who needs more. They point into the message; NULL: absent. Pure. */
struct qdisc_message {
	struct qdisc qdisc;
	int ifindex;
	const struct nlattr *options, *stab, *stats;
};

int qdisc_message_parse(const struct nlmsghdr *message, struct qdisc_message *parts);

/*
 * Dumps what the kernel has of `type` (RTM_GETQDISC, RTM_GETTCLASS) on the interface to `each`. Before each attempt, also
 * the first, `restart` is called: a dump that changes while it is read is begun again. Returns as netlink_talk().
 */
int qdisc_dump(struct netlink *nl, uint16_t type, int ifindex, void (*restart)(void *context),
	       int (*each)(const struct nlmsghdr *answer, void *context), void *context);

/* What a frame of one priority passes. Pure. */
struct qdisc_path {
	const struct qdisc *root; /* NULL: none (noqueue, or nothing listed) */
	int class; /* traffic class, -1 without classes */
	unsigned queue_first, queue_count; /* its TX queues */
	const struct qdisc *etf; /* on all of these queues; NULL: not on each of them */
	bool etf_somewhere; /* etf on some of the queues, or on others */
	const struct qdisc *taprio; /* NULL: no gates */
};

struct qdisc_path qdisc_path_of(const struct qdisc_list *list, unsigned priority);

/*
 * Bit p: frames of priority p meet an etf that drops those without a launch time, on one of their queues at least. An etf
 * that taprio gives launch times to (txtime-assist) does not count. Pure.
 */
uint16_t qdisc_etf_priorities(const struct qdisc_list *list);

/* Mqprio in hardware at the root, and etf with offload on one of its queues: not every NIC does both. Pure. */
bool qdisc_mqprio_launch(const struct qdisc_list *list);

#endif

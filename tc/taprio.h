/* SPDX-License-Identifier: GPL-2.0-only */
/* taprio's netlink attributes: written for a request, read from a dump. Pure, over buffers. */
#ifndef TC_TAPRIO_H
#define TC_TAPRIO_H

#include <libmnl/libmnl.h>

#include "tc/deployment.h"

struct gate_list {
	int64_t base_ns;
	int64_t cycle_ns;
	int64_t extension_ns;
	unsigned count;
	struct gate gates[SCHEDULE_GATES_MAX];
	bool truncated; /* the dump had more, or commands other than SetGateStates */
};

/* What is read beside struct qdisc. */
struct taprio_state {
	int32_t clockid; /* -1: none (full offload) */
	uint32_t txtime_delay_ns;
	bool has_max_sdu[SCHEDULE_CLASSES_MAX];
	uint32_t max_sdu[SCHEDULE_CLASSES_MAX]; /* bytes behind the Ethernet header; 0: no limit */
	uint8_t preemption[SCHEDULE_CLASSES_MAX]; /* 0: not said, 1 express, 2 preemptible */
	bool has_oper, has_admin;
	struct gate_list oper, admin;
};

/* Adds TCA_OPTIONS for the deployment's gates. The message needs about 40 bytes of room a gate, and 600. */
void taprio_put(struct nlmsghdr *nlh, const struct deployment *deployment, int64_t base_ns);

/* Reads TCA_OPTIONS of a dump (payload and its size). Returns 0, or -EBADMSG. */
int taprio_parse(const void *options, size_t size, struct taprio_state *state);

/* The classes and queues of a deployment, as taprio and mqprio take them. */
struct tc_mqprio_qopt;
void class_map_fill(const struct deployment *deployment, struct tc_mqprio_qopt *qopt);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* mqprio's netlink attributes. Pure, over buffers. */
#ifndef TC_MQPRIO_H
#define TC_MQPRIO_H

#include <libmnl/libmnl.h>

#include "tc/taprio.h"

struct mqprio_state {
	struct class_map map;
	bool hw;
	uint8_t preemption[SCHEDULE_CLASSES_MAX]; /* as in struct taprio_state */
};

/* Adds TCA_OPTIONS for the deployment's classes. */
void mqprio_put(struct nlmsghdr *nlh, const struct deployment *deployment);

/* Reads TCA_OPTIONS of a dump. Returns 0, or -EBADMSG. */
int mqprio_parse(const void *options, size_t size, struct mqprio_state *state);

#endif

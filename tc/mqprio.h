/* SPDX-License-Identifier: GPL-2.0-only */
/* mqprio's netlink attributes. Pure, over buffers. */
#ifndef TC_MQPRIO_H
#define TC_MQPRIO_H

#include <libmnl/libmnl.h>

#include "tc/taprio.h"

/* Adds TCA_OPTIONS for the deployment's classes. */
void mqprio_put(struct nlmsghdr *nlh, const struct deployment *deployment);

/* Reads from TCA_OPTIONS of a dump which classes are preemptible: as in struct taprio_state. */
void mqprio_parse_preemption(const struct nlattr *options,
			     uint8_t preemption[SCHEDULE_CLASSES_MAX]);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* The netlink requests that install a deployment, one by one, as the commands of tc/commands.h. Pure. */
#ifndef TC_REQUEST_H
#define TC_REQUEST_H

#include <libmnl/libmnl.h>

#include "tc/deployment.h"

#define REQUEST_MAX (65536 + 4096) /* bytes of the largest: TCA_OPTIONS has 16 bits of length */
#define REQUEST_NAME 64

struct request_info {
	char name[REQUEST_NAME]; /* "taprio", "etf on queue 0" */
	unsigned class; /* of an etf */
	unsigned queue;
};

/*
 * Fills request `index` (from 0) for the interface into `nlh`, which points to REQUEST_MAX bytes with its header
 * (RTM_NEWQDISC) set. `base_ns`: base time of the gates. `info` may be NULL. Returns 1, or 0 when there are no more.
 */
int deployment_request(const struct deployment *deployment, int ifindex, int64_t base_ns,
		       unsigned index, struct nlmsghdr *nlh, struct request_info *info);

/* Type and flags for the header: tc's "replace". */
#define REQUEST_FLAGS (NLM_F_CREATE | NLM_F_REPLACE)

/* Largest number of gates whose attributes fit into one message. */
#define REQUEST_GATES_MAX SCHEDULE_GATES_MAX

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* etf's netlink attributes. Pure, over buffers. */
#ifndef TC_ETF_H
#define TC_ETF_H

#include <libmnl/libmnl.h>
#include <stdbool.h>
#include <stdint.h>

#include "host/qdisc.h"

struct etf_state {
	int32_t clockid;
	int32_t delta_ns;
	bool deadline; /* deadline mode */
	bool offload;
	bool skip_sock_check;
};

/* Adds TCA_OPTIONS. */
void etf_put(struct nlmsghdr *nlh, const struct etf_state *state);

/* As it is installed. False: the qdisc is no etf. */
bool etf_of(const struct qdisc *qdisc, struct etf_state *state);

#endif

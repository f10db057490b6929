/* SPDX-License-Identifier: GPL-2.0-only */
/* etf's netlink attributes. Pure, over buffers. */
#ifndef TC_ETF_H
#define TC_ETF_H

#include <libmnl/libmnl.h>
#include <stdbool.h>
#include <stdint.h>

struct etf_state {
	int32_t clockid;
	int32_t delta_ns;
	bool deadline; /* deadline mode */
	bool offload;
	bool skip_sock_check;
};

/* Adds TCA_OPTIONS. */
void etf_put(struct nlmsghdr *nlh, const struct etf_state *state);

/* Reads TCA_OPTIONS of a dump. Returns 0, or -EBADMSG. */
int etf_parse(const void *options, size_t size, struct etf_state *state);

#endif

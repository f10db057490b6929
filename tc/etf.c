// SPDX-License-Identifier: GPL-2.0-only
#include "tc/etf.h"

#include <errno.h>
#include <string.h>

#include "host/netlink.h"
#include "tc/attr.h"
#include "tc/tc_headers.h"

void etf_put(struct nlmsghdr *nlh, const struct etf_state *state)
{
	struct tc_etf_qopt qopt = {
		.delta = state->delta_ns,
		.clockid = state->clockid,
		.flags = (state->deadline ? TC_ETF_DEADLINE_MODE_ON : 0) |
			 (state->offload ? TC_ETF_OFFLOAD_ON : 0) |
			 (state->skip_sock_check ? TC_ETF_SKIP_SOCK_CHECK : 0),
	};
	struct nlattr *options = attr_nest_plain(nlh, TCA_OPTIONS);

	mnl_attr_put(nlh, TCA_ETF_PARMS, sizeof(qopt), &qopt);
	mnl_attr_nest_end(nlh, options);
}

int etf_parse(const void *options, size_t size, struct etf_state *state)
{
	const struct nlattr *attrs[TCA_ETF_MAX + 1];
	const void *payload;
	struct tc_etf_qopt qopt;

	memset(state, 0, sizeof(*state));
	if (netlink_attributes(options, size, attrs, TCA_ETF_MAX))
		return -EBADMSG;
	payload = netlink_payload(attrs[TCA_ETF_PARMS], sizeof(qopt));
	if (!payload)
		return -EBADMSG;
	memcpy(&qopt, payload, sizeof(qopt));
	*state = (struct etf_state){
		.clockid = qopt.clockid,
		.delta_ns = qopt.delta,
		.deadline = qopt.flags & TC_ETF_DEADLINE_MODE_ON,
		.offload = qopt.flags & TC_ETF_OFFLOAD_ON,
		.skip_sock_check = qopt.flags & TC_ETF_SKIP_SOCK_CHECK,
	};
	return 0;
}

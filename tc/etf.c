// SPDX-License-Identifier: GPL-2.0-only
#include "tc/etf.h"

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

bool etf_of(const struct qdisc *qdisc, struct etf_state *state)
{
	*state = (struct etf_state){
		.clockid = qdisc->clockid,
		.delta_ns = qdisc->delta_ns,
		.deadline = qdisc->etf_flags & TC_ETF_DEADLINE_MODE_ON,
		.offload = qdisc->etf_flags & TC_ETF_OFFLOAD_ON,
		.skip_sock_check = qdisc->etf_flags & TC_ETF_SKIP_SOCK_CHECK,
	};
	return qdisc->has_etf;
}

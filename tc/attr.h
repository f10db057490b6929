/* SPDX-License-Identifier: GPL-2.0-only */
/* Netlink attributes the way tc writes them. */
#ifndef TC_ATTR_H
#define TC_ATTR_H

#include <libmnl/libmnl.h>

/* As mnl_attr_nest_start(), but without the nested flag, which tc leaves out in most places. */
static inline struct nlattr *attr_nest_plain(struct nlmsghdr *nlh, uint16_t type)
{
	struct nlattr *nest = mnl_nlmsg_get_payload_tail(nlh);

	mnl_attr_put(nlh, type, 0, NULL);
	return nest;
}

#endif

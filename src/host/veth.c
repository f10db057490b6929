// SPDX-License-Identifier: GPL-2.0-only
#include "host/veth.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sched.h>
#include <unistd.h>

#include "host/netlink.h"

/* The calling thread's, not the process's first thread's. */
static int open_own_netns(void)
{
	return open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
}

static int no_own_netns(struct error *err)
{
	return error_errno(err, errno, "/proc/thread-self/ns/net%s",
			   errno == ENOENT ? " (is /proc mounted?)" : "");
}

int netns_create(struct error *err)
{
	int own = open_own_netns(), created = -1;

	if (own < 0)
		return no_own_netns(err);
	if (unshare(CLONE_NEWNET)) {
		error_errno(err, errno, "cannot make a network namespace%s",
			    errno == EPERM ? " (needs CAP_SYS_ADMIN: run as root, or with sudo)"
					   : "");
		goto out;
	}
	created = open_own_netns();
	if (created < 0)
		no_own_netns(err);
	if (setns(own, CLONE_NEWNET)) {
		error_errno(err, errno, "cannot go back to the former network namespace");
		if (created >= 0)
			close(created);
		created = -1;
	}
out:
	close(own);
	return created;
}

int netns_enter(int netns, struct error *err)
{
	if (setns(netns, CLONE_NEWNET))
		return error_errno(err, errno, "cannot enter the network namespace");
	return 0;
}

static int set_up(const char *name, int netns, struct error *err)
{
	int own = open_own_netns(), result = -1;
	struct netlink *nl = NULL;
	struct ifinfomsg *info;
	struct nlmsghdr *nlh;

	if (own < 0)
		return no_own_netns(err);
	if (netns_enter(netns, err))
		goto out;
	nl = netlink_open(NETLINK_ROUTE, err);
	if (nl) {
		nlh = netlink_request(nl, RTM_NEWLINK, 0);
		info = mnl_nlmsg_put_extra_header(nlh, sizeof(*info));
		info->ifi_flags = info->ifi_change = IFF_UP;
		mnl_attr_put_strz(nlh, IFLA_IFNAME, name);
		result = netlink_talk(nl, nlh, NULL, NULL);
		if (result < 0)
			result = netlink_error(err, nl, result, "cannot set %s up", name);
	}
	netlink_close(nl);
	if (setns(own, CLONE_NEWNET))
		result = error_errno(err, errno, "cannot go back to the former network namespace");
out:
	close(own);
	return result;
}

int veth_create(const char *name, int netns, const char *peer, int peer_netns, struct error *err)
{
	struct netlink *nl = netlink_open(NETLINK_ROUTE, err);
	struct nlattr *linkinfo, *data, *peer_info;
	struct nlmsghdr *nlh;
	int result;

	if (!nl)
		return -1;
	nlh = netlink_request(nl, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
	mnl_nlmsg_put_extra_header(nlh, sizeof(struct ifinfomsg));
	mnl_attr_put_strz(nlh, IFLA_IFNAME, name);
	mnl_attr_put_u32(nlh, IFLA_NET_NS_FD, (uint32_t)netns);
	linkinfo = mnl_attr_nest_start(nlh, IFLA_LINKINFO);
	mnl_attr_put_strz(nlh, IFLA_INFO_KIND, "veth");
	data = mnl_attr_nest_start(nlh, IFLA_INFO_DATA);
	/* the peer: an ifinfomsg of its own, then its attributes */
	peer_info = mnl_attr_nest_start(nlh, VETH_INFO_PEER);
	mnl_nlmsg_put_extra_header(nlh, sizeof(struct ifinfomsg));
	mnl_attr_put_strz(nlh, IFLA_IFNAME, peer);
	mnl_attr_put_u32(nlh, IFLA_NET_NS_FD, (uint32_t)peer_netns);
	mnl_attr_nest_end(nlh, peer_info);
	mnl_attr_nest_end(nlh, data);
	mnl_attr_nest_end(nlh, linkinfo);
	result = netlink_talk(nl, nlh, NULL, NULL);
	if (result < 0)
		netlink_error(err, nl, result, "cannot create the veth pair %s, %s%s", name, peer,
			      result == -EOPNOTSUPP ? " (modprobe veth)" : "");
	netlink_close(nl);
	/* a veth end can only come up once its peer is there, so not in the request above */
	if (result < 0 || set_up(name, netns, err) || set_up(peer, peer_netns, err))
		return -1;
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "host/link.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static uint32_t get_u32(const struct nlattr *attr)
{
	const uint32_t *value = netlink_payload(attr, sizeof(*value));

	return value ? *value : 0;
}

int link_parse(const struct nlmsghdr *message, struct link_info *link)
{
	const struct nlattr *attrs[IFLA_MAX + 1], *info[IFLA_INFO_MAX + 1], *xdp[IFLA_XDP_MAX + 1];
	const struct ifinfomsg *ifi;
	const uint8_t *mac, *carrier;

	memset(link, 0, sizeof(*link));
	if (message->nlmsg_len < NLMSG_LENGTH(sizeof(*ifi)))
		return -EBADMSG;
	ifi = NLMSG_DATA(message);
	netlink_attributes((const char *)ifi + NLMSG_ALIGN(sizeof(*ifi)),
			   message->nlmsg_len - NLMSG_SPACE(sizeof(*ifi)), attrs, IFLA_MAX);
	link->index = ifi->ifi_index;
	link->type = ifi->ifi_type;
	link->up = ifi->ifi_flags & IFF_UP;
	link->running = link->up && (ifi->ifi_flags & IFF_RUNNING);
	/* the flag is up to a second behind the carrier */
	carrier = netlink_payload(attrs[IFLA_CARRIER], sizeof(*carrier));
	if (carrier && !*carrier)
		link->running = false;
	netlink_string(attrs[IFLA_IFNAME], link->name, sizeof(link->name));
	mac = netlink_payload(attrs[IFLA_ADDRESS], sizeof(link->mac));
	if (mac)
		memcpy(link->mac, mac, sizeof(link->mac));
	link->mtu = get_u32(attrs[IFLA_MTU]);
	link->carrier_changes = get_u32(attrs[IFLA_CARRIER_CHANGES]);
	link->carrier_losses = get_u32(attrs[IFLA_CARRIER_DOWN_COUNT]);
	link->tx_queues = get_u32(attrs[IFLA_NUM_TX_QUEUES]);
	link->tx_queue_length = get_u32(attrs[IFLA_TXQLEN]);
	link->promiscuity = get_u32(attrs[IFLA_PROMISCUITY]);
	if (attrs[IFLA_LINKINFO]) {
		netlink_attributes(mnl_attr_get_payload(attrs[IFLA_LINKINFO]),
				   mnl_attr_get_payload_len(attrs[IFLA_LINKINFO]), info,
				   IFLA_INFO_MAX);
		netlink_string(info[IFLA_INFO_KIND], link->kind, sizeof(link->kind));
	}
	if (attrs[IFLA_XDP]) {
		netlink_attributes(mnl_attr_get_payload(attrs[IFLA_XDP]),
				   mnl_attr_get_payload_len(attrs[IFLA_XDP]), xdp, IFLA_XDP_MAX);
		link->xdp_program = get_u32(xdp[IFLA_XDP_PROG_ID]);
	}
	return 0;
}

static int take_link(const struct nlmsghdr *answer, void *context)
{
	return link_parse(answer, context);
}

bool link_name_is_good(const char *name)
{
	size_t length = strlen(name);

	for (const char *at = name; *at; at++) {
		unsigned char c = (unsigned char)*at;

		if (c <= ' ' || c == 0x7f || c == '/')
			return false;
		/* U+0080 to U+009F are control characters too */
		if (c == 0xc2 && (unsigned char)at[1] >= 0x80 && (unsigned char)at[1] <= 0x9f)
			return false;
	}
	return length && length < LINK_NAME;
}

int link_not_there(const char *name, struct error *err)
{
	return error_input(err,
			   "interface '%s': there is none of that name in this network "
			   "namespace; `ip link` lists them",
			   name);
}

int link_get(struct netlink *nl, const char *name, struct link_info *link, struct error *err)
{
	struct nlmsghdr *request;
	struct ifinfomsg *ifi;
	int result;

	if (!link_name_is_good(name))
		return error_input(
			err,
			"interface '%.64s': not an interface name (1 to %d characters, no "
			"'/', no blanks and control characters); `ip link` lists them",
			name, LINK_NAME - 1);
	request = netlink_request(nl, RTM_GETLINK, 0);
	ifi = mnl_nlmsg_put_extra_header(request, sizeof(*ifi));
	ifi->ifi_family = AF_UNSPEC;
	mnl_attr_put_strz(request, IFLA_IFNAME, name);
	memset(link, 0, sizeof(*link));
	result = netlink_talk(nl, request, take_link, link);
	if (result == -ENODEV)
		return link_not_there(name, err);
	if (result < 0)
		return netlink_error(err, nl, result, "interface '%s': cannot read it", name);
	if (!link->index)
		return error_system(err, "interface '%s': the kernel gave no answer", name);
	return 0;
}

bool link_runs(int index)
{
	struct ethtool_value carrier = { .cmd = ETHTOOL_GLINK };
	struct ifreq request = { .ifr_ifindex = index };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool runs;

	/* the kernel asks any kind of socket for no more than its network namespace */
	runs = fd >= 0 && !ioctl(fd, SIOCGIFNAME, &request) && !ioctl(fd, SIOCGIFFLAGS, &request) &&
	       (request.ifr_flags & IFF_UP) && (request.ifr_flags & IFF_RUNNING);
	/* the flag is up to a second behind the carrier; drivers that cannot tell are believed */
	request.ifr_data = (void *)&carrier;
	if (runs && !ioctl(fd, SIOCETHTOOL, &request))
		runs = carrier.data;
	if (fd >= 0)
		close(fd);
	return runs;
}

struct link_monitor {
	struct mnl_socket *socket;
	struct netlink *nl; /* for reading afresh */
	struct link_info last; /* reported */
	struct link_info seen;
	uint32_t unseen; /* losses of the carrier that no report tells */
	enum link_change state;
	bool overrun;
	bool requeued; /* another qdisc */
	/* messages received and not yet looked at */
	size_t size, at;
	_Alignas(NLMSG_ALIGNTO) char buffer[32768];
};

struct link_monitor *link_monitor_open(const struct link_info *now, struct error *err)
{
	struct link_monitor *monitor = calloc(1, sizeof(*monitor));

	if (!monitor) {
		error_errno(err, ENOMEM, "cannot follow interface %s", now->name);
		return NULL;
	}
	monitor->last = monitor->seen = *now;
	monitor->state = now->running ? LINK_UP : LINK_DOWN;
	monitor->overrun = true; /* what changed between reading `now` and here */
	monitor->nl = netlink_open(NETLINK_ROUTE, err);
	if (!monitor->nl)
		goto failed;
	netlink_trim(monitor->nl);
	monitor->socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (!monitor->socket ||
	    mnl_socket_bind(monitor->socket, RTMGRP_LINK | 1U << (RTNLGRP_TC - 1),
			    MNL_SOCKET_AUTOPID) < 0) {
		error_errno(err, errno, "cannot follow interface %s", now->name);
		goto failed;
	}
	return monitor;
failed:
	link_monitor_close(monitor);
	return NULL;
}

void link_monitor_close(struct link_monitor *monitor)
{
	if (!monitor)
		return;
	if (monitor->socket)
		mnl_socket_close(monitor->socket);
	netlink_close(monitor->nl);
	free(monitor);
}

int link_monitor_fd(const struct link_monitor *monitor)
{
	return mnl_socket_get_fd(monitor->socket);
}

uint32_t link_unseen_losses(const struct link_info *before, const struct link_info *now)
{
	/* wraps around; a message that was queued before the interface was read has less */
	int32_t losses = (int32_t)(now->carrier_losses - before->carrier_losses);

	if (before->index != now->index || !before->up || losses <= 0)
		return 0;
	return (uint32_t)losses - (before->running && !now->running);
}

uint32_t link_monitor_unseen(struct link_monitor *monitor)
{
	uint32_t unseen = monitor->unseen;

	monitor->unseen = 0;
	return unseen;
}

bool link_monitor_requeued(struct link_monitor *monitor)
{
	bool requeued = monitor->requeued;

	monitor->requeued = false;
	return requeued;
}

void link_monitor_look(struct link_monitor *monitor)
{
	monitor->overrun = true;
}

static void count_losses(struct link_monitor *monitor, const struct link_info *link)
{
	uint32_t former = monitor->seen.carrier_losses;
	bool same = monitor->seen.index == link->index;

	monitor->unseen += link_unseen_losses(&monitor->seen, link);
	monitor->seen = *link;
	if (same && (int32_t)(link->carrier_losses - former) < 0)
		monitor->seen.carrier_losses = former;
}

/* Reports only what differs from the last report; a new index of a running link does. */
static enum link_change changed(struct link_monitor *monitor, enum link_change state,
				const struct link_info *link)
{
	if (state == monitor->state && (state == LINK_GONE || link->index == monitor->last.index))
		return LINK_NO_CHANGE;
	monitor->state = state;
	if (state != LINK_GONE)
		monitor->last = *link;
	return state;
}

/* While it lives it may have got another name. */
static bool get_by_index(struct link_monitor *monitor, struct link_info *link)
{
	struct nlmsghdr *request = netlink_request(monitor->nl, RTM_GETLINK, 0);
	struct ifinfomsg *ifi = mnl_nlmsg_put_extra_header(request, sizeof(*ifi));

	ifi->ifi_family = AF_UNSPEC;
	ifi->ifi_index = monitor->last.index;
	memset(link, 0, sizeof(*link));
	return netlink_talk(monitor->nl, request, take_link, link) >= 0 && link->index;
}

static enum link_change read_afresh(struct link_monitor *monitor, struct link_info *link)
{
	struct error err = ERROR_INIT;

	monitor->overrun = false;
	if ((monitor->state == LINK_GONE || !get_by_index(monitor, link)) &&
	    link_get(monitor->nl, monitor->last.name, link, &err) < 0)
		return err.status == STATUS_INPUT ? changed(monitor, LINK_GONE, link)
						  : LINK_NO_CHANGE;
	count_losses(monitor, link);
	return changed(monitor, link->running ? LINK_UP : LINK_DOWN, link);
}

static bool is_of_qdisc(const struct nlmsghdr *message, int index)
{
	const struct tcmsg *tcm = NLMSG_DATA(message);

	return (message->nlmsg_type == RTM_NEWQDISC || message->nlmsg_type == RTM_DELQDISC) &&
	       message->nlmsg_len >= NLMSG_LENGTH(sizeof(*tcm)) && tcm->tcm_ifindex == index;
}

static enum link_change look_at(struct link_monitor *monitor, const struct nlmsghdr *message,
				struct link_info *link)
{
	monitor->requeued |= is_of_qdisc(message, monitor->last.index);
	if ((message->nlmsg_type != RTM_NEWLINK && message->nlmsg_type != RTM_DELLINK) ||
	    link_parse(message, link) < 0)
		return LINK_NO_CHANGE;
	if (message->nlmsg_type == RTM_DELLINK)
		return link->index == monitor->last.index ? changed(monitor, LINK_GONE, link)
							  : LINK_NO_CHANGE;
	/* by index while it lives, so that a new name does not matter; by name once it is gone */
	if (monitor->state == LINK_GONE ? strcmp(link->name, monitor->last.name) != 0
					: link->index != monitor->last.index)
		return LINK_NO_CHANGE;
	/* it was on its way while the interface was read afresh, which then said something newer */
	if (link->index == monitor->seen.index &&
	    (int32_t)(link->carrier_changes - monitor->seen.carrier_changes) < 0)
		return LINK_NO_CHANGE;
	count_losses(monitor, link);
	return changed(monitor, link->running ? LINK_UP : LINK_DOWN, link);
}

enum link_change link_monitor_next(struct link_monitor *monitor, struct link_info *link)
{
	for (;;) {
		enum link_change change = LINK_NO_CHANGE;

		if (monitor->overrun) {
			change = read_afresh(monitor, link);
			if (change != LINK_NO_CHANGE)
				return change;
		}
		while (monitor->at < monitor->size) {
			const struct nlmsghdr *message =
				(const struct nlmsghdr *)(monitor->buffer + monitor->at);
			size_t left = monitor->size - monitor->at;

			if (left < sizeof(*message) || message->nlmsg_len < sizeof(*message) ||
			    message->nlmsg_len > left) {
				monitor->at = monitor->size;
				break;
			}
			monitor->at += NLMSG_ALIGN(message->nlmsg_len);
			change = look_at(monitor, message, link);
			if (change != LINK_NO_CHANGE)
				return change;
		}
		ssize_t size = mnl_socket_recvfrom(monitor->socket, monitor->buffer,
						   sizeof(monitor->buffer));
		if (size < 0 && (errno == ENOBUFS || errno == ENOSPC)) {
			monitor->overrun = true;
			continue;
		}
		if (size < 0 && errno == EINTR)
			continue;
		if (size <= 0)
			return LINK_NO_CHANGE;
		monitor->size = (size_t)size;
		monitor->at = 0;
	}
}

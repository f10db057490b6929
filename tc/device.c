// SPDX-License-Identifier: GPL-2.0-only
#include "tc/device.h"

#include <arpa/inet.h>
/* before the kernel's, which then leave its flags out */
#include <net/if.h>

#include <errno.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

#define UPPERS_MAX 256 /* VLANs, bonds and bridges above one interface */

/* Where an interface stands among others. */
struct place {
	int index;
	int lower;
	int master;
	bool lower_elsewhere; /* in another network namespace: the peer of a veth */
	char name[LINK_NAME];
	char kind[16];
};

static uint32_t get_u32(const struct nlattr *attr)
{
	const uint32_t *value = netlink_payload(attr, sizeof(*value));

	return value ? *value : 0;
}

static int take_place(const struct nlmsghdr *answer, void *context)
{
	const struct nlattr *attrs[IFLA_MAX + 1], *info[IFLA_INFO_MAX + 1];
	const struct ifinfomsg *ifi = NLMSG_DATA(answer);
	struct place *place = context;

	if (answer->nlmsg_len < NLMSG_LENGTH(sizeof(*ifi)))
		return -EBADMSG;
	netlink_attributes((const char *)ifi + NLMSG_ALIGN(sizeof(*ifi)),
			   answer->nlmsg_len - NLMSG_SPACE(sizeof(*ifi)), attrs, IFLA_MAX);
	*place = (struct place){ .index = ifi->ifi_index,
				 .lower = (int)get_u32(attrs[IFLA_LINK]),
				 .master = (int)get_u32(attrs[IFLA_MASTER]),
				 .lower_elsewhere = attrs[IFLA_LINK_NETNSID] != NULL };
	netlink_string(attrs[IFLA_IFNAME], place->name, sizeof(place->name));
	if (attrs[IFLA_LINKINFO]) {
		netlink_attributes(mnl_attr_get_payload(attrs[IFLA_LINKINFO]),
				   mnl_attr_get_payload_len(attrs[IFLA_LINKINFO]), info,
				   IFLA_INFO_MAX);
		netlink_string(info[IFLA_INFO_KIND], place->kind, sizeof(place->kind));
	}
	return 0;
}

static int read_place(struct netlink *nl, int index, struct place *place)
{
	struct nlmsghdr *request = netlink_request(nl, RTM_GETLINK, 0);
	struct ifinfomsg *ifi = mnl_nlmsg_put_extra_header(request, sizeof(*ifi));

	ifi->ifi_family = AF_UNSPEC;
	ifi->ifi_index = index;
	memset(place, 0, sizeof(*place));
	return netlink_talk(nl, request, take_place, place);
}

static void read_pci_id(struct device *device)
{
	unsigned vendor = 0, part = 0;
	char path[128];

	for (int i = 0; i < 2; i++) {
		FILE *file;

		snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/%s", device->driver.bus,
			 i ? "device" : "vendor");
		file = device->driver.bus[0] && !strchr(device->driver.bus, '/') ? fopen(path, "re")
										 : NULL;
		if (!file)
			return;
		if (fscanf(file, "%x", i ? &part : &vendor) != 1)
			part = 0;
		fclose(file);
	}
	if (vendor && part)
		snprintf(device->pci_id, sizeof(device->pci_id), "%04x:%04x", vendor & 0xffff,
			 part & 0xffff);
}

static void read_ethtool(struct ethtool *ethtool, struct device *device)
{
	struct error ignored = ERROR_INIT;
	const char *name = device->link.name;
	struct ethtool_stamping stamping;
	uint32_t combined = 0, tx = 0, max;
	struct ethtool_link link;

	if (!ethtool_link(ethtool, name, &link, &ignored))
		device->speed_mbps = link.speed_mbps;
	if (!ethtool_stamping(ethtool, name, &stamping, &ignored))
		device->phc_index = stamping.phc_index;
	if (ethtool_get(ethtool, name, ETHTOOL_CHANNELS_COMBINED, &combined, &max, &ignored))
		combined = 0;
	if (ethtool_get(ethtool, name, ETHTOOL_CHANNELS_TX, &tx, &max, &ignored))
		tx = 0;
	if (combined + tx)
		device->tx_queues = combined + tx;
}

int device_read(struct netlink *nl, const char *name, struct device *device, struct error *err)
{
	struct error ignored = ERROR_INIT;
	struct ethtool *ethtool;
	struct place place;

	memset(device, 0, sizeof(*device));
	device->phc_index = -1;
	if (link_get(nl, name, &device->link, err))
		return -1;
	device->tx_queues = device->link.tx_queues;
	if (!read_place(nl, device->link.index, &place)) {
		device->lower = place.lower_elsewhere ? 0 : place.lower;
		device->master = place.master;
	}
	ethtool_driver(name, &device->driver, &ignored);
	read_pci_id(device);
	ethtool = ethtool_open(&ignored);
	if (ethtool) {
		read_ethtool(ethtool, device);
		ethtool_close(ethtool);
	}
	device->nic = nic_find(device->driver.name, device->driver.firmware, device->pci_id);
	return 0;
}

/* Names of the ports of a bond or bridge. */
struct ports {
	int master;
	char names[128];
};

static int take_port(const struct nlmsghdr *answer, void *context)
{
	struct ports *ports = context;
	struct place place;

	if (take_place(answer, &place) || place.master != ports->master)
		return 0;
	if (strlen(ports->names) + strlen(place.name) + 3 < sizeof(ports->names)) {
		if (ports->names[0])
			strcat(ports->names, ", ");
		strcat(ports->names, place.name);
	}
	return 0;
}

static const char *port_names(struct netlink *nl, int master, struct ports *ports)
{
	struct nlmsghdr *request = netlink_request(nl, RTM_GETLINK, NLM_F_DUMP);
	struct ifinfomsg *ifi = mnl_nlmsg_put_extra_header(request, sizeof(*ifi));

	ifi->ifi_family = AF_UNSPEC;
	*ports = (struct ports){ .master = master };
	netlink_talk(nl, request, take_port, ports);
	return ports->names[0] ? ports->names : "it has none";
}

int device_check(struct netlink *nl, const struct device *device, char advice[256],
		 struct error *err)
{
	const char *name = device->link.name, *kind = device->link.kind;
	struct place other = { .name = "?" };
	struct ports ports;

	if (advice)
		advice[0] = '\0';
	if (device->link.type != ARPHRD_ETHER)
		return error_input(
			err, "interface '%s': not Ethernet; a schedule needs an Ethernet port",
			name);
	if (device->lower)
		read_place(nl, device->lower, &other);
	if (!strcmp(kind, "vlan") || !strcmp(kind, "macvlan") || !strcmp(kind, "ipvlan"))
		return error_input(err,
				   "interface '%s': a %s device, its frames leave through '%s'; "
				   "use interface: %s",
				   name, kind, other.name, other.name);
	if (!strcmp(kind, "bond") || !strcmp(kind, "team"))
		return error_input(
			err,
			"interface '%s': a %s, frames leave through its ports; use one of them: %s",
			name, kind, port_names(nl, device->link.index, &ports));
	if (!strcmp(kind, "bridge"))
		return error_input(err,
				   "interface '%s': a bridge, frames leave through its ports; use "
				   "one of them: %s",
				   name, port_names(nl, device->link.index, &ports));
	if (!strcmp(kind, "tun") || !strcmp(kind, "dummy") || !strcmp(kind, "ifb"))
		return error_input(err,
				   "interface '%s': a %s device has no wire to schedule; use an "
				   "Ethernet port, or veth",
				   name, kind);
	if (!advice)
		return 0;
	if (!strcmp(kind, "dsa"))
		snprintf(advice, 256,
			 "'%s' is a port of a switch: it cannot stamp frames other than PTP's; "
			 "publish through '%s'",
			 name, other.name);
	if (device->master && !read_place(nl, device->master, &other))
		snprintf(advice, 256,
			 "'%s' is a port of %s '%s': the gates hold for all that leaves through "
			 "it, and streams have to be "
			 "sent through '%s' itself",
			 name, other.kind[0] ? other.kind : "master", other.name, name);
	return 0;
}

static int take_route(const struct nlmsghdr *answer, void *context)
{
	const struct nlattr *attrs[RTA_MAX + 1];
	const struct rtmsg *rtm = NLMSG_DATA(answer);

	if (answer->nlmsg_type != RTM_NEWROUTE || answer->nlmsg_len < NLMSG_LENGTH(sizeof(*rtm)))
		return 0;
	netlink_attributes((const char *)rtm + NLMSG_ALIGN(sizeof(*rtm)),
			   answer->nlmsg_len - NLMSG_SPACE(sizeof(*rtm)), attrs, RTA_MAX);
	*(int *)context = (int)get_u32(attrs[RTA_OIF]);
	return 0;
}

int device_of_route(struct netlink *nl, const char *address)
{
	struct nlmsghdr *request = netlink_request(nl, RTM_GETROUTE, 0);
	struct rtmsg *rtm = mnl_nlmsg_put_extra_header(request, sizeof(*rtm));
	const char *scope = strchr(address, '%');
	uint8_t bytes[16];
	int index = 0, result;

	/* a link-local address names its interface */
	if (scope)
		return if_nametoindex(scope + 1) ? (int)if_nametoindex(scope + 1) : -ENOENT;

	if (inet_pton(AF_INET, address, bytes) == 1) {
		rtm->rtm_family = AF_INET;
		rtm->rtm_dst_len = 32;
		mnl_attr_put(request, RTA_DST, 4, bytes);
	} else if (inet_pton(AF_INET6, address, bytes) == 1) {
		rtm->rtm_family = AF_INET6;
		rtm->rtm_dst_len = 128;
		mnl_attr_put(request, RTA_DST, 16, bytes);
	} else {
		return -EINVAL;
	}
	result = netlink_talk(nl, request, take_route, &index);
	return result ? result : index ? index : -ENOENT;
}

/* Interfaces whose frames leave through the first one. */
struct uppers {
	int indices[UPPERS_MAX];
	unsigned count;
};

static bool is_upper(const struct uppers *uppers, int index)
{
	for (unsigned i = 0; i < uppers->count; i++)
		if (uppers->indices[i] == index)
			return true;
	return false;
}

static void add_upper(struct uppers *uppers, int index)
{
	if (index && !is_upper(uppers, index) && uppers->count < UPPERS_MAX)
		uppers->indices[uppers->count++] = index;
}

static int take_upper(const struct nlmsghdr *answer, void *context)
{
	struct uppers *uppers = context;
	struct place place;

	if (take_place(answer, &place))
		return 0;
	/* a veth names its peer there, which is no way out of it */
	if (!place.lower_elsewhere && strcmp(place.kind, "veth") != 0 &&
	    is_upper(uppers, place.lower))
		add_upper(uppers, place.index);
	if (is_upper(uppers, place.index))
		add_upper(uppers, place.master);
	return 0;
}

bool device_carries(struct netlink *nl, int index, int upper)
{
	struct uppers uppers = { .indices = { index }, .count = 1 };
	unsigned before;

	/* each dump goes one storey up, or more */
	do {
		struct nlmsghdr *request = netlink_request(nl, RTM_GETLINK, NLM_F_DUMP);
		struct ifinfomsg *ifi = mnl_nlmsg_put_extra_header(request, sizeof(*ifi));

		ifi->ifi_family = AF_UNSPEC;
		before = uppers.count;
		netlink_talk(nl, request, take_upper, &uppers);
	} while (uppers.count > before);
	return is_upper(&uppers, upper);
}

int device_set_up(struct netlink *nl, const struct device *device, bool up, struct error *err)
{
	struct nlmsghdr *request = netlink_request(nl, RTM_NEWLINK, 0);
	struct ifinfomsg *ifi = mnl_nlmsg_put_extra_header(request, sizeof(*ifi));
	int result;

	ifi->ifi_family = AF_UNSPEC;
	ifi->ifi_index = device->link.index;
	ifi->ifi_change = IFF_UP;
	ifi->ifi_flags = up ? IFF_UP : 0;
	result = netlink_talk(nl, request, NULL, NULL);
	if (result)
		return netlink_error(err, nl, result, "%s: cannot be switched %s",
				     device->link.name, up ? "on" : "off");
	return 0;
}

int device_wait_carrier(struct netlink *nl, struct device *device, int64_t timeout_ns,
			struct error *err)
{
	int64_t end = clock_now_ns(CLOCK_MONOTONIC) + timeout_ns;
	struct link_monitor *monitor = NULL;
	char name[LINK_NAME], text[DURATION_TEXT];
	struct link_info now;
	int result = -1;

	memcpy(name, device->link.name, sizeof(name));
	if (link_get(nl, name, &now, err))
		return -1;
	if (now.index != device->link.index)
		return error_system(
			err, "%s: the interface was removed and made anew meanwhile; try again",
			device->link.name);
	monitor = link_monitor_open(&now, err);
	if (!monitor)
		return -1;
	/* it may have come between the two */
	if (!now.running && link_get(nl, device->link.name, &now, err))
		goto out;
	while (!now.running) {
		int64_t left = end - clock_now_ns(CLOCK_MONOTONIC);
		struct pollfd fd = { link_monitor_fd(monitor), POLLIN, 0 };
		enum link_change change;

		if (left <= 0) {
			error_system(err,
				     now.up ? "%s: no carrier within %s; plug the cable in and "
					      "look at the peer (ethtool %s)"
					    : "%s: switched off meanwhile, and not on again within "
					      "%s; ip link set %s up",
				     device->link.name, format_duration(timeout_ns, text),
				     device->link.name);
			goto out;
		}
		if (poll(&fd, 1, (int)(left / NSEC_PER_MSEC) + 1) < 0 && errno == EINTR) {
			error_system(err, "%s: interrupted while waiting for carrier",
				     device->link.name);
			goto out;
		}
		while ((change = link_monitor_next(monitor, &now)) != LINK_NO_CHANGE)
			if (change == LINK_GONE) {
				error_system(err, "%s: the interface is gone", device->link.name);
				goto out;
			}
	}
	/* speed and queues may be others than before */
	result = device_read(nl, name, device, err);
out:
	link_monitor_close(monitor);
	return result;
}

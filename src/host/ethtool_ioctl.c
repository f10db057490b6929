// SPDX-License-Identifier: GPL-2.0-only
/* What ethtool's netlink family does not carry: driver information and the driver's own counters. */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/ethtool.h"
#include "host/link.h"

#define STATISTICS_MAX 65536 /* far above what drivers have; bounds what is allocated */

static int ioctl_open(const char *ifname, struct ifreq *ifr, void *data, struct error *err)
{
	int fd;

	if (strlen(ifname) >= IFNAMSIZ)
		return error_input(err, "interface name '%.64s' is too long", ifname);
	memset(ifr, 0, sizeof(*ifr));
	strcpy(ifr->ifr_name, ifname);
	ifr->ifr_data = data;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 && errno == EAFNOSUPPORT)
		fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return error_errno(err, errno, "%s: socket for ethtool", ifname);
	return fd;
}

static int failed(const char *ifname, const char *what, struct error *err)
{
	if (errno == EOPNOTSUPP)
		return ETHTOOL_ABSENT;
	if (errno == ENODEV)
		return link_not_there(ifname, err);
	return error_errno(err, errno, "%s: cannot read its %s", ifname, what);
}

static void copy_text(char *to, size_t size, const char *from, size_t from_size)
{
	size_t length = strnlen(from, from_size < size ? from_size : size - 1);

	memcpy(to, from, length);
	to[length] = '\0';
}

int ethtool_driver(const char *ifname, struct ethtool_driver *driver, struct error *err)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	struct ifreq ifr;
	int fd = ioctl_open(ifname, &ifr, &info, err);
	int result = 0;

	memset(driver, 0, sizeof(*driver));
	if (fd < 0)
		return -1;
	if (ioctl(fd, SIOCETHTOOL, &ifr) < 0) {
		result = failed(ifname, "driver", err);
	} else {
		copy_text(driver->name, sizeof(driver->name), info.driver, sizeof(info.driver));
		copy_text(driver->version, sizeof(driver->version), info.version,
			  sizeof(info.version));
		copy_text(driver->firmware, sizeof(driver->firmware), info.fw_version,
			  sizeof(info.fw_version));
		copy_text(driver->bus, sizeof(driver->bus), info.bus_info, sizeof(info.bus_info));
	}
	close(fd);
	return result;
}

int ethtool_statistics(const char *ifname, struct ethtool_statistic **statistics, size_t *count,
		       struct error *err)
{
	union {
		struct ethtool_sset_info info;
		uint8_t room[sizeof(struct ethtool_sset_info) + sizeof(uint32_t)];
	} sizes = { .info = { .cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ULL << ETH_SS_STATS } };
	struct ethtool_gstrings *names = NULL;
	struct ethtool_stats *values = NULL;
	struct ethtool_statistic *list = NULL;
	struct ifreq ifr;
	int fd = ioctl_open(ifname, &ifr, &sizes, err);
	int result = -1;
	uint32_t n;

	if (fd < 0)
		return -1;
	if (ioctl(fd, SIOCETHTOOL, &ifr) < 0) {
		result = failed(ifname, "statistics", err);
		goto out;
	}
	n = sizes.info.sset_mask ? sizes.info.data[0] : 0;
	if (!n || n > STATISTICS_MAX) {
		result = ETHTOOL_ABSENT;
		goto out;
	}
	names = calloc(1, sizeof(*names) + (size_t)n * ETH_GSTRING_LEN);
	/* twice the room: the kernel writes as many as there are by then, whatever was asked for */
	values = calloc(1, sizeof(*values) + 2 * (size_t)n * sizeof(uint64_t));
	list = calloc(n, sizeof(*list));
	if (!names || !values || !list) {
		error_errno(err, ENOMEM, "%s: statistics", ifname);
		goto out;
	}
	names->cmd = ETHTOOL_GSTRINGS;
	names->string_set = ETH_SS_STATS;
	names->len = n;
	ifr.ifr_data = (void *)names;
	if (ioctl(fd, SIOCETHTOOL, &ifr) < 0) {
		result = failed(ifname, "statistics", err);
		goto out;
	}
	values->cmd = ETHTOOL_GSTATS;
	values->n_stats = n;
	ifr.ifr_data = (void *)values;
	if (ioctl(fd, SIOCETHTOOL, &ifr) < 0) {
		result = failed(ifname, "statistics", err);
		goto out;
	}
	if (names->len < n)
		n = names->len;
	if (values->n_stats < n)
		n = values->n_stats;
	for (uint32_t i = 0; i < n; i++) {
		copy_text(list[i].name, sizeof(list[i].name),
			  (const char *)names->data + (size_t)i * ETH_GSTRING_LEN, ETH_GSTRING_LEN);
		list[i].value = values->data[i];
	}
	*statistics = list;
	*count = n;
	list = NULL;
	result = 0;
out:
	free(names);
	free(values);
	free(list);
	close(fd);
	return result;
}

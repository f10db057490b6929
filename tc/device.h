/* SPDX-License-Identifier: GPL-2.0-only */
/* The interface that a schedule is for: what it is, what it can do, what stands on it or below it. */
#ifndef TC_DEVICE_H
#define TC_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/units.h"
#include "host/ethtool.h"
#include "host/link.h"
#include "tc/nic.h"

#define DEVICE_RESET_DELAY_NS \
	(50 * NSEC_PER_MSEC) /* until a reset of the adapter that a request caused has begun */

struct device {
	struct link_info link;
	struct ethtool_driver driver;
	char pci_id[16]; /* "8086:125b", or "" */
	const struct nic *nic; /* never NULL */
	uint32_t speed_mbps; /* 0: unknown */
	unsigned tx_queues; /* in use, not merely possible */
	int phc_index; /* -1: none */
	int lower; /* interface below a VLAN, or the conduit of a switch port; 0: none */
	int master; /* bridge or bond that it is a port of; 0: none */
};

/* Reads all of it. Needs no privileges. Returns 0 or -1. */
int device_read(struct netlink *nl, const char *name, struct device *device, struct error *err);

/*
 * Refuses what a schedule cannot stand on (VLAN, bond, bridge ...), naming the interface to use instead; returns -1
 * then. 0: good; `advice` (may be NULL) then holds a line of warning, or "" (switch port, member of a bridge).
 */
int device_check(struct netlink *nl, const struct device *device, char advice[256],
		 struct error *err);

/* Number of the interface that a packet to the address leaves through, or a negative errno. Text, IPv4 or IPv6[%INTERFACE]. */
int device_of_route(struct netlink *nl, const char *address);

/* Does traffic through interface `upper` leave through `index`? (itself, a VLAN or bridge or bond on it) */
bool device_carries(struct netlink *nl, int index, int upper);

/* Switches the interface on or off. Returns 0 or -1. */
int device_set_up(struct netlink *nl, const struct device *device, bool up, struct error *err);

/* Waits for carrier, at most `timeout_ns`; then reads the speed again. Returns 0, or -1 with the error. */
int device_wait_carrier(struct netlink *nl, struct device *device, int64_t timeout_ns,
			struct error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CLI_SCHEDULE_SHOW_H
#define CLI_SCHEDULE_SHOW_H

#include <linux/rtnetlink.h>

#include "host/netlink.h"
#include "host/qdisc.h"

/* Names of the interfaces with taprio, mqprio or etf, or a record of an apply; at most `room`. Returns their number. */
unsigned schedule_interfaces(struct netlink *nl, char names[][16], unsigned room);

#endif

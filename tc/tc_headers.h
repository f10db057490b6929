/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's definitions for traffic control, and those that headers older than Linux 6.12 lack. Whether the running
 * kernel knows them is found out by asking it.
 */
#ifndef TC_TC_HEADERS_H
#define TC_TC_HEADERS_H

#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

/* TCA_TAPRIO_TC_ENTRY_FP and TC_FP_* came with 6.5 */
#define TAPRIO_TC_ENTRY_FP 3
#define FP_EXPRESS 1
#define FP_PREEMPTIBLE 2

/* TCA_MQPRIO_TC_ENTRY, with its own two attributes */
#define MQPRIO_TC_ENTRY 5
#define MQPRIO_TC_ENTRY_INDEX 1
#define MQPRIO_TC_ENTRY_FP 2

/* inside TCA_STATS_APP of taprio, since 6.4 */
#define TAPRIO_STATS_WINDOW_DROPS 2
#define TAPRIO_STATS_TX_OVERRUNS 3

#define ETH_HEADER 14 /* max_sdu counts what follows it */

#endif

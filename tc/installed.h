/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is installed on an interface, read from dumps of its qdiscs and classes. Reading the messages is pure; only
 * installed_read() talks to the kernel.
 */
#ifndef TC_INSTALLED_H
#define TC_INSTALLED_H

#include "base/error.h"
#include "host/netlink.h"
#include "tc/deployment.h"
#include "tc/etf.h"
#include "tc/findings.h"
#include "tc/taprio.h"

#define FOREIGN_MAX 32

/* Counters of one queue or of the root. */
struct queue_stats {
	bool known;
	uint64_t packets, bytes;
	uint32_t drops, overlimits, backlog_packets;
	bool has_window_drops, has_overruns; /* absent is not 0 */
	uint64_t window_drops, overruns;
};

struct installed_queue {
	char kind[16]; /* of the qdisc on it; "" : nothing listed */
	uint32_t handle;
	bool has_etf;
	struct etf_state etf;
	struct queue_stats stats; /* of that qdisc */
	struct queue_stats class_stats; /* of the class of taprio or mqprio */
};

struct foreign_qdisc {
	char kind[16];
	uint32_t handle, parent;
};

struct installed {
	bool has_root;
	char kind[16];
	uint32_t handle;
	bool offloaded; /* as the kernel says it */
	bool has_stab;
	int stab_overhead;
	bool is_taprio, is_mqprio;
	bool mqprio_hw;
	uint32_t taprio_flags; /* TCA_TAPRIO_ATTR_FLAG_... */
	struct class_map map; /* of either */
	struct taprio_state taprio;
	struct queue_stats stats; /* of the root */
	struct installed_queue queues[SCHEDULE_QUEUES_MAX];
	unsigned foreign_count; /* qdiscs that are neither taprio, mqprio, etf nor their defaults */
	struct foreign_qdisc foreign[FOREIGN_MAX];
};

/* Takes one RTM_NEWQDISC or RTM_NEWTCLASS message in. Others, and malformed ones, are passed over. Pure. */
void installed_take(struct installed *installed, const struct nlmsghdr *message);

/* Reads both dumps of the interface; *installed is large: not for the stack. Returns 0 or -1. */
int installed_read(struct netlink *nl, int ifindex, const char *name, struct installed *installed,
		   struct error *err);

/*
 * The installed gates and classes as a schedule, to draw it and to see whether streams fit: classes are called
 * "class 0" ..., or by the names of `names` where its classes have the same queues (may be NULL). `admin`: the schedule
 * that is to come. Returns 0, or -1 when there are no classes, or no such schedule.
 */
int installed_schedule(const struct installed *installed, bool admin, const struct schedule *names,
		       struct schedule *schedule);

/* The mode that is in force. SCHEDULE_AUTO where there is neither taprio nor mqprio. */
enum schedule_mode installed_mode(const struct installed *installed);

/* Launch times are left to a NIC that ignores them beside this mqprio: see nic_launch_ignored. */
bool installed_launch_ignored(const struct installed *installed, const struct nic *nic);

/*
 * Adds an error to `differences` for each thing in which what is installed is not the deployment. `base_ns`: the base
 * time that was asked for; -1: any that has the same phase will do.
 */
void installed_compare(const struct installed *installed, const struct deployment *deployment,
		       int64_t base_ns, struct findings *differences);

#endif

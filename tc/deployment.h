/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a schedule becomes on one NIC: the mode in force, the gates with their guard bands, where etf goes. Pure.
 */
#ifndef TC_DEPLOYMENT_H
#define TC_DEPLOYMENT_H

#include "tc/nic.h"
#include "tc/schedule.h"

#define DEPLOYMENT_HANDLE \
	0x100 /* major number of the root qdisc; etf on queue q gets the one after q */
#define WIRE_OVERHEAD 24 /* bytes beside each frame: preamble and SFD 8, FCS 4, gap 12 */

struct deployment {
	const struct nic *nic;
	uint32_t speed_mbps;
	enum schedule_mode mode; /* never SCHEDULE_AUTO */
	char mode_reason[160]; /* one line */
	bool etf_offload[SCHEDULE_CLASSES_MAX];
	bool mqprio_hw;
	bool preemption; /* some class is preemptible */
	int64_t guard_ns[SCHEDULE_CLASSES_MAX]; /* worked into the gates */
	int64_t txtime_delay_ns; /* of taprio in txtime-assist; 0 otherwise */
	struct schedule schedule; /* gates with guard bands; mode, as the file had it */
};

/*
 * Decides. `speed_mbps` > 0. `schedule` may be one that does not validate. Returns 0, or -1 when guard bands make more
 * gates than fit (the only failure; *deployment then has the gates without them).
 */
int deployment_make(const struct schedule *schedule, const struct nic *nic, uint32_t speed_mbps,
		    struct deployment *deployment);

/* Time on the wire of the class's largest frame. */
int64_t deployment_frame_time_ns(const struct deployment *deployment, unsigned class);

/* queueMaxSDU of the class, in bytes behind the Ethernet header, as this NIC must be told it; 0: no limit. */
uint32_t deployment_max_sdu(const struct deployment *deployment, unsigned class);

/* taprio is used, not mqprio. */
bool deployment_has_gates(const struct deployment *deployment);

/* The mode without gates as it is called, and the words for whether gates are in the NIC or in the kernel. */
const char *deployment_where(const struct deployment *deployment);

#endif

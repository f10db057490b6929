/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Is this deployment right, on this NIC, for these streams? Pure; knows nothing of the planner.
 */
#ifndef TC_VALIDATE_H
#define TC_VALIDATE_H

#include "base/stream.h"
#include "tc/deployment.h"
#include "tc/findings.h"

/* What is known of the device, beside its row of the table. */
struct device_facts {
	unsigned tx_queues; /* 0: unknown */
	uint32_t mtu; /* 0: unknown */
	int64_t now_ns; /* TAI; 0: unknown */
};

/* Adds what it finds; findings->errors > 0 means: must not be deployed. */
void validate_schedule(const struct deployment *deployment, const struct device_facts *facts,
		       struct findings *findings);

/* The part of it that does not look at gates, for a schedule whose gates are still to be planned. */
void validate_before_plan(const struct deployment *deployment, const struct device_facts *facts,
			  struct findings *findings);

/* Every launch of every stream in a window of its class, none on the wire at the same time as another. */
void validate_streams(const struct deployment *deployment, const struct stream *streams,
		      unsigned count, struct findings *findings);

/* Shortest gate the kernel takes: the time of 60 bytes at the link's speed. */
int64_t validate_gate_min_ns(uint32_t mbps);

/* True when the class of this priority never opens, or drops frames without a launch time: such traffic would end. */
bool schedule_silences(const struct deployment *deployment, unsigned priority, const char **how);

#endif

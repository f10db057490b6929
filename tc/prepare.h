/* SPDX-License-Identifier: GPL-2.0-only */
/* From a file's schedule to a checked deployment: decide, plan where needed, validate. Pure. */
#ifndef TC_PREPARE_H
#define TC_PREPARE_H

#include "tc/planner.h"
#include "tc/validate.h"

struct preparation {
	struct deployment deployment;
	struct findings findings; /* errors > 0: must not be deployed */
	bool planned; /* offsets or gates were made */
	struct plan_result plan;
};

/*
 * Fills *preparation in (large: not for the stack). Planned gates and offsets are written into `schedule` and
 * `streams`. Returns 0, or -1 when there are errors among the findings.
 */
int prepare_deployment(struct schedule *schedule, struct stream *streams, unsigned count,
		       const struct nic *nic, uint32_t mbps, const struct device_facts *facts,
		       struct preparation *preparation);

#endif

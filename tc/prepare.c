// SPDX-License-Identifier: GPL-2.0-only
#include "tc/prepare.h"

#include <string.h>

#include "base/units.h"

static int make(const struct schedule *schedule, const struct nic *nic, uint32_t mbps,
		struct preparation *preparation)
{
	if (!deployment_make(schedule, nic, mbps, &preparation->deployment))
		return 0;
	finding_add(
		&preparation->findings, FINDING_ERROR, "schedule.guard",
		"with guard bands there are more than %d gates; use guard: none, or fewer gates",
		SCHEDULE_GATES_MAX);
	return -1;
}

static void note_plan(struct preparation *preparation, unsigned count)
{
	static const char *const layouts[] = {
		[PLAN_GIVEN] = "in the windows that are given",
		[PLAN_CONTIGUOUS] = "one window for each class",
		[PLAN_INTERLEAVED] = "slots of the classes interleaved",
	};
	char hyper[DURATION_TEXT];
	int64_t cycle = preparation->deployment.schedule.stream_cycle_ns;

	finding_add(&preparation->findings, FINDING_NOTE, "streams",
		    "planned: %u streams, %s, hyperperiod %s (%llu cycles)", count,
		    layouts[preparation->plan.layout],
		    format_duration(cycle * (int64_t)preparation->plan.hyperperiod, hyper),
		    (unsigned long long)preparation->plan.hyperperiod);
}

int prepare_deployment(struct schedule *schedule, struct stream *streams, unsigned count,
		       const struct nic *nic, uint32_t mbps, const struct device_facts *facts,
		       struct preparation *preparation)
{
	struct findings *findings = &preparation->findings;

	memset(preparation, 0, sizeof(*preparation));
	make(schedule, nic, mbps, preparation);
	if (!findings->errors && plan_needed(&preparation->deployment, streams, count)) {
		/* what is wrong beside the gates has to be known before the planner believes it */
		validate_before_plan(&preparation->deployment, facts, findings);
		if (findings->errors)
			return -1;
		if (plan_schedule(schedule, streams, count, &preparation->deployment,
				  &preparation->plan, findings))
			return -1;
		preparation->planned = true;
		note_plan(preparation, count);
		make(schedule, nic, mbps, preparation);
	}
	validate_schedule(&preparation->deployment, facts, findings);
	if (!findings->errors)
		validate_streams(&preparation->deployment, streams, count, findings);
	return findings->errors ? -1 : 0;
}

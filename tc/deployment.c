// SPDX-License-Identifier: GPL-2.0-only
#include "tc/deployment.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "tc/tc_headers.h"

/* A preempted frame still sends the rest of its fragment: at most 123 bytes and the fragment's check sum (802.3br). */
#define FRAGMENT_MAX 127

static bool wants_launch_offload(const struct schedule *schedule)
{
	for (unsigned c = 0; c < schedule->class_count; c++)
		if (schedule->classes[c].launch_time &&
		    schedule->classes[c].etf_offload != CHOICE_OFF)
			return true;
	return false;
}

static void decide_mode(const struct schedule *schedule, const struct nic *nic,
			struct deployment *deployment)
{
	const char *why;

	deployment->mode = schedule->mode;
	if (schedule->mode != SCHEDULE_AUTO) {
		why = "as the file says";
	} else if (!schedule->gate_count && !schedule->plan_gates) {
		deployment->mode = SCHEDULE_MQPRIO;
		why = "there are no gates";
	} else if (nic->etf_excludes_taprio && wants_launch_offload(schedule) &&
		   !schedule->gate_count) {
		deployment->mode = SCHEDULE_MQPRIO;
		why = "this NIC has launch times or gates in hardware, not both, and the file asks "
		      "for launch times";
	} else if (nic->taprio_offload == NIC_YES) {
		deployment->mode = SCHEDULE_FULL_OFFLOAD;
		why = "this NIC has gates in hardware";
	} else {
		deployment->mode = SCHEDULE_SOFTWARE;
		why = nic->taprio_offload == NIC_NO
			      ? "this NIC has no gates in hardware"
			      : "not known to have gates in hardware; mode: full-offload would try";
	}
	snprintf(deployment->mode_reason, sizeof(deployment->mode_reason), "%s", why);
}

int64_t deployment_frame_time_ns(const struct deployment *deployment, unsigned class)
{
	uint32_t size = deployment->schedule.classes[class].max_frame;

	return wire_time_ns(size ? size : FRAME_SIZE_DEFAULT, deployment->speed_mbps);
}

uint32_t deployment_max_sdu(const struct deployment *deployment, unsigned class)
{
	uint32_t size = deployment->schedule.classes[class].max_frame;

	if (!size)
		return 0;
	return size - ETH_HEADER +
	       (deployment->mode == SCHEDULE_FULL_OFFLOAD ? deployment->nic->max_sdu_short : 0);
}

static int64_t guard_of(const struct deployment *deployment, unsigned class)
{
	const struct schedule *schedule = &deployment->schedule;

	if (schedule->guard_kind == GUARD_TIME)
		return schedule->guard_ns;
	if (schedule->guard_kind == GUARD_NONE || deployment->nic->keeps_windows ||
	    deployment->mode != SCHEDULE_FULL_OFFLOAD)
		return 0;
	/* launch times already keep these frames inside */
	if (schedule->classes[class].launch_time)
		return 0;
	if (schedule->classes[class].preemptible && deployment->nic->preemption == NIC_YES)
		return wire_time_ns(FRAGMENT_MAX, deployment->speed_mbps);
	return deployment_frame_time_ns(deployment, class);
}

int deployment_make(const struct schedule *schedule, const struct nic *nic, uint32_t speed_mbps,
		    struct deployment *deployment)
{
	memset(deployment, 0, sizeof(*deployment));
	deployment->nic = nic;
	deployment->speed_mbps = speed_mbps;
	deployment->schedule = *schedule;
	decide_mode(schedule, nic, deployment);
	for (unsigned c = 0; c < schedule->class_count; c++) {
		const struct traffic_class *class = &schedule->classes[c];

		deployment->preemption |= class->preemptible;
		/* under software gates the kernel hands the frame over when the gate is open: the NIC must not wait */
		deployment->etf_offload[c] =
			class->launch_time &&
			(class->etf_offload == CHOICE_ON ||
			 (class->etf_offload == CHOICE_AUTO && nic->etf_offload == NIC_YES &&
			  deployment->mode != SCHEDULE_SOFTWARE));
		deployment->guard_ns[c] = guard_of(deployment, c);
	}
	deployment->mqprio_hw = deployment->mode == SCHEDULE_MQPRIO && nic->mqprio_hw;
	if (deployment->mode == SCHEDULE_TXTIME_ASSIST) {
		deployment->txtime_delay_ns = schedule->txtime_delay_ns;
		/* it has to be larger than etf's delta, else etf finds each frame too late */
		for (unsigned c = 0; c < schedule->class_count && !schedule->txtime_delay_ns; c++)
			if (schedule->classes[c].launch_time &&
			    schedule->classes[c].delta_ns + 100 * NSEC_PER_USEC >
				    deployment->txtime_delay_ns)
				deployment->txtime_delay_ns = schedule->classes[c].delta_ns +
							      100 * NSEC_PER_USEC;
	}
	if (!schedule_apply_guard(schedule, deployment->guard_ns, &deployment->schedule))
		return 0;
	deployment->schedule = *schedule;
	memset(deployment->guard_ns, 0, sizeof(deployment->guard_ns));
	return -1;
}

bool deployment_has_gates(const struct deployment *deployment)
{
	return deployment->mode != SCHEDULE_MQPRIO;
}

const char *deployment_where(const struct deployment *deployment)
{
	switch (deployment->mode) {
	case SCHEDULE_FULL_OFFLOAD:
		return "gates in the NIC, on its PHC";
	case SCHEDULE_TXTIME_ASSIST:
		return "launch times computed by the kernel from the gates, on CLOCK_TAI";
	case SCHEDULE_SOFTWARE:
		return "gates in the kernel, on CLOCK_TAI";
	default:
		return "classes without gates";
	}
}

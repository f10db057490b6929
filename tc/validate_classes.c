// SPDX-License-Identifier: GPL-2.0-only
#include "tc/validate_classes.h"

#include <stdio.h>

#include "base/units.h"

char *validate_class_path(unsigned class, const char *key, char buffer[64])
{
	snprintf(buffer, 64, "schedule.classes[%u].%s", class, key);
	return buffer;
}

static void check_launch_time(const struct deployment *deployment, unsigned c,
			      struct findings *findings)
{
	const struct traffic_class *class = &deployment->schedule.classes[c];
	const struct nic *nic = deployment->nic;
	int64_t cycle = deployment->schedule.cycle_ns;
	char path[64], a[DURATION_TEXT], b[DURATION_TEXT];

	validate_class_path(c, "launch-time", path);
	if (class->etf_offload == CHOICE_ON && nic->etf_offload == NIC_NO)
		finding_add(findings, FINDING_ERROR, path,
			    "%s cannot launch frames by time; write offload: off", nic->name);
	if (deployment->etf_offload[c] && nic->etf_excludes_taprio &&
	    deployment->mode == SCHEDULE_FULL_OFFLOAD)
		finding_add(
			findings, FINDING_ERROR, path,
			"%s cannot do launch times and gates in hardware at once (EBUSY): choose "
			"mode: mqprio without "
			"gates, or remove launch-time and let the publisher release in the slot",
			nic->name);
	for (unsigned q = class->queue_first; q < (unsigned)class->queue_first + class->queue_count;
	     q++)
		if (deployment->etf_offload[c] && nic->etf_queues &&
		    (q >= 64 || !(nic->etf_queues >> q & 1)))
			finding_add(findings, FINDING_ERROR, path,
				    "%s cannot launch on queue %u; give class '%s' queue 0",
				    nic->name, q, class->name);
	if (class->delta_ns < 10 * NSEC_PER_USEC)
		finding_add(findings, FINDING_WARNING, path,
			    "delta %s leaves the kernel no time to hand frames over: they will be "
			    "dropped as missed; "
			    "200us is a good start",
			    format_duration(class->delta_ns, a));
	if (deployment->etf_offload[c] && nic->launch_ahead_max_ns > 0 &&
	    class->delta_ns > nic->launch_ahead_max_ns)
		finding_add(findings, FINDING_ERROR, path,
			    "delta %s: launch times of %s reach %s ahead; make it shorter",
			    format_duration(class->delta_ns, a), nic->name,
			    format_duration(nic->launch_ahead_max_ns, b));
	if (deployment->etf_offload[c] && nic->launch_ahead_max_ns == 0 &&
	    deployment_has_gates(deployment) && class->delta_ns >= cycle)
		finding_add(findings, FINDING_ERROR, path,
			    "delta %s is not below the cycle (%s): %s would launch such frames in "
			    "the wrong cycle; make "
			    "it shorter",
			    format_duration(class->delta_ns, a), format_duration(cycle, b),
			    nic->name);
	if (deployment->mode == SCHEDULE_TXTIME_ASSIST &&
	    deployment->txtime_delay_ns <= class->delta_ns)
		finding_add(findings, FINDING_ERROR, "schedule.txtime-delay",
			    "txtime-delay %s must be longer than the delta of class '%s' (%s), "
			    "else etf drops every frame",
			    format_duration(deployment->txtime_delay_ns, a), class->name,
			    format_duration(class->delta_ns, b));
}

/* Are the gates of both ever open at once? */
static bool open_together(const struct deployment *deployment, unsigned a, unsigned b)
{
	const struct schedule *schedule = &deployment->schedule;
	uint32_t both = 1U << a | 1U << b;

	if (!deployment_has_gates(deployment))
		return true;
	for (unsigned i = 0; i < schedule->gate_count; i++)
		if ((schedule->gates[i].open & both) == both)
			return true;
	return false;
}

/* Launch times on a queue that has to wait for another one: the launch is late by a frame of that. */
static void check_urgency(const struct deployment *deployment, unsigned c,
			  struct findings *findings)
{
	const struct schedule *schedule = &deployment->schedule;
	const struct traffic_class *class = &schedule->classes[c];
	bool lowest = deployment->nic->urgent == NIC_URGENT_LOWEST;
	char path[64];

	if (!deployment->etf_offload[c] || deployment->nic->urgent == NIC_URGENT_UNKNOWN)
		return;
	for (unsigned d = 0; d < schedule->class_count; d++) {
		const struct traffic_class *other = &schedule->classes[d];
		bool first = lowest ? other->queue_first < class->queue_first
				    : other->queue_first > class->queue_first;

		if (d == c || other->launch_time || !first || !open_together(deployment, c, d))
			continue;
		finding_add(findings, FINDING_WARNING, validate_class_path(c, "queues", path),
			    "class '%s' has launch times, but %s, and queue %u is that of class "
			    "'%s': launches wait for its frames; exchange the queues, or open one "
			    "at a time",
			    class->name, deployment->nic->urgent_queue, other->queue_first,
			    other->name);
		return;
	}
}

/*
 * Drivers that keep the limit of class number N on queue N: another class may own that queue, and a class of several
 * queues has it on one of them only.
 */
static void check_max_frame_queue(const struct deployment *deployment, unsigned c,
				  struct findings *findings)
{
	const struct schedule *schedule = &deployment->schedule;
	const struct traffic_class *class = &schedule->classes[c];
	char path[64], queues[16];

	if (!class->max_frame || !deployment->nic->max_sdu_by_queue ||
	    deployment->mode != SCHEDULE_FULL_OFFLOAD)
		return;
	validate_class_path(c, "max-frame", path);
	schedule_queue_text(class, queues);
	if (c < class->queue_first || c >= (unsigned)class->queue_first + class->queue_count)
		finding_add(findings, FINDING_ERROR, path,
			    "%s would limit frames on queue %u instead, since class '%s' is number "
			    "%u in the list (it has "
			    "queue %s); list the classes in the order of their queues, or remove "
			    "max-frame",
			    deployment->nic->name, c, class->name, c, queues);
	else if (class->queue_count > 1)
		finding_add(findings, FINDING_WARNING, path,
			    "%s limits frames on queue %u alone, class '%s' has queues %s: give it "
			    "that one, or do not rely "
			    "on max-frame",
			    deployment->nic->name, c, class->name, queues);
}

void validate_classes(const struct deployment *deployment, struct findings *findings)
{
	struct window windows[SCHEDULE_GATES_MAX];
	const struct schedule *schedule = &deployment->schedule;
	const struct nic *nic = deployment->nic;
	char path[64], a[DURATION_TEXT], b[DURATION_TEXT];
	unsigned preemptible = 0;

	for (unsigned c = 0; c < schedule->class_count; c++) {
		const struct traffic_class *class = &schedule->classes[c];
		int64_t frame_ns = deployment_frame_time_ns(deployment, c), longest = 0;
		unsigned count = schedule_windows(schedule, c, windows, SCHEDULE_GATES_MAX);

		if (class->launch_time) {
			check_launch_time(deployment, c, findings);
			check_urgency(deployment, c, findings);
		}
		for (unsigned w = 0; w < count; w++)
			if (windows[w].end_ns - windows[w].start_ns > longest)
				longest = windows[w].end_ns - windows[w].start_ns;
		validate_class_path(c, "name", path);
		if (!count)
			finding_add(findings, FINDING_WARNING, path,
				    "class '%s' never opens: its frames %s", class->name,
				    nic->opens_once ? "are dropped by the driver" : "never leave");
		else if (longest < frame_ns)
			finding_add(findings, FINDING_WARNING, path,
				    "class '%s' opens for %s at most, a frame of %u bytes takes "
				    "%s: such frames are %s; "
				    "set max-frame, or open longer",
				    class->name, format_duration(longest, a),
				    class->max_frame ? class->max_frame : FRAME_SIZE_DEFAULT,
				    format_duration(frame_ns, b), "dropped or never leave");
		if (deployment->mode == SCHEDULE_TXTIME_ASSIST && !class->launch_time)
			finding_add(findings, FINDING_WARNING, path,
				    "class '%s' has no launch-time: under txtime-assist its gates "
				    "are not kept, frames leave "
				    "at once",
				    class->name);
		preemptible += class->preemptible;
		validate_class_path(c, "preemptible", path);
		if (class->preemptible && nic->preemption == NIC_NO)
			finding_add(findings, FINDING_ERROR, path,
				    "%s cannot preempt frames; remove preemptible", nic->name);
		if (class->preemptible && nic->preemption == NIC_UNKNOWN)
			finding_add(
				findings, FINDING_NOTE, path,
				"whether %s can preempt frames is the kernel's to say (igc: from "
				"Linux 6.15 on): apply asks it",
				nic->name);
		check_max_frame_queue(deployment, c, findings);
		validate_class_path(c, "max-frame", path);
		if (class->max_frame && deployment->mode == SCHEDULE_MQPRIO)
			finding_add(
				findings, FINDING_WARNING, path,
				"nothing enforces max-frame in mode mqprio; only the plan uses it");
		if (class->max_frame && nic->max_sdu == NIC_NO &&
		    deployment->mode == SCHEDULE_FULL_OFFLOAD)
			finding_add(findings, FINDING_ERROR, path,
				    "%s cannot limit frame sizes by class; remove it", nic->name);
	}
	if (preemptible && preemptible == schedule->class_count)
		finding_add(findings, FINDING_ERROR, "schedule.classes",
			    "all classes are preemptible; at least one must be express");
}

// SPDX-License-Identifier: GPL-2.0-only
#include "tc/validate.h"

#include <stdio.h>

#include "base/units.h"
#include "tc/fit.h"
#include "tc/validate_classes.h"

#define ETH_ZLEN_BYTES 60
#define ETH_HEADER_BYTES 14
#define BASE_AHEAD_MAX (24 * 3600 * NSEC_PER_SEC)
#define STREAM_CYCLES_MAX 10000 /* stream cycles in one gate cycle */

int64_t validate_gate_min_ns(uint32_t mbps)
{
	/* the kernel's own arithmetic: whole picoseconds a byte, rounded down */
	return ETH_ZLEN_BYTES * (8000000 / (int64_t)mbps) / 1000;
}

/* Guard bands renumber the gates: then only the list as a whole can be named. */
static char *gate_path(const struct deployment *deployment, unsigned gate, const char *key,
		       char buffer[64])
{
	snprintf(buffer, 64, "schedule.gates[%u].%s", gate, key);
	for (unsigned c = 0; c < deployment->schedule.class_count; c++)
		if (deployment->guard_ns[c])
			snprintf(buffer, 64, "schedule.gates");
	return buffer;
}

static void check_priorities(const struct schedule *schedule, struct findings *findings)
{
	char path[64];

	for (unsigned p = 0; p < PRIORITIES; p++) {
		int first = -1;

		for (unsigned c = 0; c < schedule->class_count; c++) {
			if (!(schedule->classes[c].priorities & 1 << p))
				continue;
			if (first >= 0)
				finding_add(findings, FINDING_ERROR,
					    validate_class_path(c, "priorities", path),
					    "priority %u belongs to class '%s' already; a priority "
					    "has one class: "
					    "remove it from one of them",
					    p, schedule->classes[first].name);
			else
				first = (int)c;
		}
	}
	if (schedule_class_of(schedule, 0) < 0)
		finding_add(findings, FINDING_ERROR, "schedule.classes",
			    "no class carries priority 0, that of best effort, ptp4l, ssh and ARP; "
			    "add it to one");
	for (unsigned c = 0; c < schedule->class_count; c++)
		if (!schedule->classes[c].priorities)
			finding_add(findings, FINDING_WARNING, validate_class_path(c, "name", path),
				    "class '%s' has no priorities: no frame can reach it; add "
				    "priorities: [5]",
				    schedule->classes[c].name);
}

static void check_queues(const struct deployment *deployment, const struct device_facts *facts,
			 struct findings *findings)
{
	const struct schedule *schedule = &deployment->schedule;
	unsigned queues = facts->tx_queues ? facts->tx_queues : deployment->nic->queues_max;
	char path[64], text[16];

	/* each of these two makes all queues wrong: one finding says enough */
	if (facts->tx_queues == 1 && deployment_has_gates(deployment)) {
		finding_add(findings, FINDING_ERROR, "interface",
			    "the interface has one TX queue, taprio needs at least two: ethtool -L "
			    "IFACE combined 4, or "
			    "create a veth pair with numtxqueues 4");
		return;
	}
	if (queues && schedule->class_count > queues) {
		finding_add(findings, FINDING_ERROR, "schedule.classes",
			    "%u classes, but %u TX queues%s; each class needs one of its own: use "
			    "fewer classes",
			    schedule->class_count, queues,
			    facts->tx_queues ? "" : " at most on this NIC");
		return;
	}
	if (deployment->nic->xdp_queues &&
	    schedule->class_count + deployment->nic->xdp_queues > deployment->nic->queues_max)
		finding_add(findings, FINDING_NOTE, "schedule.classes",
			    "with %u classes, native XDP finds no TX queues left on %s (it takes "
			    "one for each CPU): "
			    "start receivers on this port before the schedule is applied",
			    schedule->class_count, deployment->nic->name);
	for (unsigned c = 0; c < schedule->class_count; c++) {
		const struct traffic_class *class = &schedule->classes[c];
		unsigned end = class->queue_first + class->queue_count;

		if (queues && end > queues)
			finding_add(
				findings, FINDING_ERROR, validate_class_path(c, "queues", path),
				"class '%s' has queue %u, but the NIC has %u TX queues (0 to %u)%s",
				class->name, end - 1, queues, queues - 1,
				facts->tx_queues ? "; use these, or switch more on (ethtool -L)"
						 : "; use these");
		/* txtime-assist orders frames by time: there the kernel lets queues be shared */
		if (deployment->mode == SCHEDULE_TXTIME_ASSIST)
			continue;
		for (unsigned d = 0; d < c; d++) {
			const struct traffic_class *other = &schedule->classes[d];

			if (class->queue_first < other->queue_first + other->queue_count &&
			    other->queue_first < end)
				finding_add(findings, FINDING_ERROR,
					    validate_class_path(c, "queues", path),
					    "class '%s' shares queue %u with class '%s' (%s); give "
					    "each its own",
					    class->name,
					    class->queue_first > other->queue_first
						    ? class->queue_first
						    : other->queue_first,
					    other->name, schedule_queue_text(other, text));
		}
	}
}

static void check_gates(const struct deployment *deployment, struct findings *findings)
{
	const struct schedule *schedule = &deployment->schedule;
	int64_t total = schedule_gates_total(schedule),
		shortest = validate_gate_min_ns(deployment->speed_mbps);
	char a[DURATION_TEXT], b[DURATION_TEXT], c[DURATION_TEXT], path[64];
	bool empty = false;

	if (!schedule->gate_count) {
		finding_add(findings, FINDING_ERROR, "schedule",
			    "mode %s needs gates; write gates:, or streams: for the planner to "
			    "make them from",
			    schedule_mode_name(deployment->mode));
		return;
	}
	for (unsigned i = 0; i < schedule->gate_count; i++) {
		int64_t duration = schedule->gates[i].duration_ns;

		gate_path(deployment, i, "duration", path);
		empty |= duration <= 0;
		if (duration <= 0)
			finding_add(findings, FINDING_ERROR, path,
				    "gate %u has duration 0; remove it, or give it time", i);
		else if (duration < shortest)
			finding_add(findings, FINDING_ERROR, path,
				    "gate %u lasts %s, the shortest at %u Mb/s is %s (60 bytes); "
				    "make it longer%s",
				    i, format_duration(duration, a), deployment->speed_mbps,
				    format_duration(shortest, b),
				    deployment->guard_ns[0] ? " (guard bands are counted as gates)"
							    : "");
		else if (duration > UINT32_MAX)
			finding_add(findings, FINDING_ERROR, path,
				    "gate %u lasts %s, the kernel takes up to %s; write it as two",
				    i, format_duration(duration, a),
				    format_duration(UINT32_MAX, b));
	}
	/* of a gate without duration the sum says nothing new */
	if (total != schedule->cycle_ns && !empty)
		finding_add(findings, FINDING_ERROR, "schedule.gates",
			    "the gates add up to %s, %s %s than the cycle (%s); change a duration, "
			    "or the cycle",
			    format_duration(total, a),
			    format_duration(total > schedule->cycle_ns ? total - schedule->cycle_ns
								       : schedule->cycle_ns - total,
					    b),
			    total > schedule->cycle_ns ? "more" : "less",
			    format_duration(schedule->cycle_ns, c));
}

static void check_cycle(const struct deployment *deployment, const struct device_facts *facts,
			struct findings *findings)
{
	const struct schedule *schedule = &deployment->schedule;
	const struct nic *nic = deployment->nic;
	char a[DURATION_TEXT], b[DURATION_TEXT];

	if (schedule->cycle_ns > nic->cycle_max_ns)
		finding_add(findings, FINDING_ERROR,
			    schedule->cycle_ns == schedule->stream_cycle_ns ? "cycle"
									    : "schedule.cycle",
			    "cycle %s is over the limit of %s of %s; make it shorter",
			    format_duration(schedule->cycle_ns, a),
			    format_duration(nic->cycle_max_ns, b), nic->name);
	if (!schedule_cycles_agree(schedule))
		finding_add(findings, FINDING_ERROR, "schedule.cycle",
			    "the gates' cycle (%s) and the streams' (%s) are not multiples of one "
			    "another: streams would "
			    "drift through the gates; change one",
			    format_duration(schedule->cycle_ns, a),
			    format_duration(schedule->stream_cycle_ns, b));
	else if (schedule->cycle_ns / schedule->stream_cycle_ns > STREAM_CYCLES_MAX)
		finding_add(findings, FINDING_ERROR, "schedule.cycle",
			    "more than %d stream cycles in one gate cycle; make the streams' cycle "
			    "longer",
			    STREAM_CYCLES_MAX);
	if (schedule->extension_ns && nic->no_extension &&
	    deployment->mode == SCHEDULE_FULL_OFFLOAD)
		finding_add(findings, FINDING_ERROR, "schedule.cycle-extension",
			    "%s takes no cycle-time-extension; remove it", nic->name);
	if (schedule->extension_ns >= schedule->cycle_ns && schedule->extension_ns)
		finding_add(findings, FINDING_ERROR, "schedule.cycle-extension",
			    "the extension (%s) is as long as the cycle; make it shorter",
			    format_duration(schedule->extension_ns, a));
	if (schedule->base_kind != BASE_ABSOLUTE)
		return;
	if (schedule->base_ns < 0)
		finding_add(findings, FINDING_ERROR, "schedule.base-time",
			    "a negative base time; write auto");
	else if (facts->now_ns && schedule->base_ns > facts->now_ns + BASE_AHEAD_MAX)
		finding_add(findings, FINDING_ERROR, "schedule.base-time",
			    "base time %s lies %s ahead: until then no gate would move; write "
			    "auto, or a time within a "
			    "day",
			    format_duration(schedule->base_ns, a),
			    format_duration((schedule->base_ns - facts->now_ns) / NSEC_PER_SEC *
						    NSEC_PER_SEC,
					    b));
	else if (facts->now_ns && schedule->base_ns > facts->now_ns && nic->base_in_past &&
		 deployment->mode == SCHEDULE_FULL_OFFLOAD)
		finding_add(findings, FINDING_ERROR, "schedule.base-time",
			    "%s takes no base time in the future; write auto, or one in the past",
			    nic->name);
}

static void check_opens_once(const struct deployment *deployment, struct findings *findings)
{
	const struct schedule *schedule = &deployment->schedule;
	char path[64];

	if (!deployment->nic->opens_once || deployment->mode != SCHEDULE_FULL_OFFLOAD)
		return;
	/* as the driver counts: a window over the cycle's end is two openings */
	for (unsigned c = 0; c < schedule->class_count; c++) {
		unsigned openings = 0;

		for (unsigned i = 0; i < schedule->gate_count; i++) {
			bool open = schedule->gates[i].open & 1U << c;

			if (!open || (i && schedule->gates[i - 1].open & 1U << c))
				continue;
			if (++openings < 2)
				continue;
			gate_path(deployment, i, "open", path);
			finding_add(findings, FINDING_ERROR, path,
				    "class '%s' opens a second time in the cycle; %s opens each "
				    "queue once: join its "
				    "windows (the end of the cycle and its beginning do not join)",
				    schedule->classes[c].name, deployment->nic->name);
			break;
		}
	}
}

/* In its TSN mode igc sends no jumbo frames; only offloads bring that mode about. 0: no limit. */
static uint32_t largest_frame(const struct deployment *deployment)
{
	bool offloaded = deployment->mode == SCHEDULE_FULL_OFFLOAD;

	for (unsigned c = 0; c < deployment->schedule.class_count; c++)
		offloaded |= deployment->etf_offload[c];
	return offloaded ? deployment->nic->gated_frame_max : 0;
}

static void check_mtu(const struct deployment *deployment, const struct device_facts *facts,
		      struct findings *findings)
{
	uint32_t limit = largest_frame(deployment);

	if (limit && facts->mtu + ETH_HEADER_BYTES > limit)
		finding_add(findings, FINDING_WARNING, "interface",
			    "MTU %u, but with gates or launch times %s sends no frame above %u "
			    "bytes; ip link set IFACE mtu 1500",
			    facts->mtu, deployment->nic->name, limit);
}

static void check_mode(const struct deployment *deployment, struct findings *findings)
{
	const struct schedule *schedule = &deployment->schedule;
	const struct nic *nic = deployment->nic;
	bool launch = false;

	for (unsigned c = 0; c < schedule->class_count; c++)
		launch |= schedule->classes[c].launch_time;
	if (deployment->mode == SCHEDULE_FULL_OFFLOAD && nic->taprio_offload == NIC_NO)
		finding_add(findings, FINDING_ERROR, "schedule.mode",
			    "%s has no gates in hardware; write mode: software, or auto",
			    nic->name);
	if (deployment->mode == SCHEDULE_TXTIME_ASSIST && !launch)
		finding_add(findings, FINDING_ERROR, "schedule.mode",
			    "txtime-assist works through etf, but no class has launch-time; add "
			    "it, or write software");
	if (deployment->mode == SCHEDULE_MQPRIO && schedule->gate_count)
		finding_add(findings, FINDING_ERROR, "schedule.gates",
			    "mode mqprio has no gates; remove them, or choose another mode");
	if (schedule->txtime_delay_ns && deployment->mode != SCHEDULE_TXTIME_ASSIST)
		finding_add(findings, FINDING_ERROR, "schedule.txtime-delay",
			    "txtime-delay belongs to mode txtime-assist; the mode is %s; remove it",
			    schedule_mode_name(deployment->mode));
}

bool schedule_silences(const struct deployment *deployment, unsigned priority, const char **how)
{
	struct window first;
	int class = schedule_class_of(&deployment->schedule, priority);

	if (class < 0)
		return false;
	if (!schedule_windows(&deployment->schedule, (unsigned)class, &first, 1)) {
		*how = "never opens";
		return true;
	}
	/* under txtime-assist taprio gives the frames their launch time itself */
	if (deployment->schedule.classes[class].launch_time &&
	    deployment->mode != SCHEDULE_TXTIME_ASSIST) {
		*how = "drops frames without a launch time (etf)";
		return true;
	}
	return false;
}

void validate_before_plan(const struct deployment *deployment, const struct device_facts *facts,
			  struct findings *findings)
{
	check_mode(deployment, findings);
	check_priorities(&deployment->schedule, findings);
	check_queues(deployment, facts, findings);
	check_cycle(deployment, facts, findings);
}

void validate_schedule(const struct deployment *deployment, const struct device_facts *facts,
		       struct findings *findings)
{
	const struct schedule *schedule = &deployment->schedule;
	unsigned ptp = schedule->ptp_priority;
	const char *how;

	check_mode(deployment, findings);
	check_priorities(&deployment->schedule, findings);
	check_queues(deployment, facts, findings);
	if (deployment_has_gates(deployment))
		check_gates(deployment, findings);
	check_cycle(deployment, facts, findings);
	if (findings->errors)
		return; /* what follows reckons with windows */
	check_mtu(deployment, facts, findings);
	check_opens_once(deployment, findings);
	validate_classes(deployment, findings);
	if (schedule_silences(deployment, ptp, &how))
		finding_add(
			findings, FINDING_WARNING, "schedule.ptp-priority",
			"priority %u, that of ptp4l's frames, is in class '%s', which %s: ptp4l "
			"would go FAULTY",
			ptp, schedule->classes[schedule_class_of(schedule, ptp)].name, how);
	if (ptp != 0 && schedule_silences(deployment, 0, &how))
		finding_add(findings, FINDING_WARNING, "schedule.classes",
			    "priority 0, that of ARP, ssh and all other traffic, is in class '%s', "
			    "which %s",
			    schedule->classes[schedule_class_of(schedule, 0)].name, how);
}

/* Etf hands a frame over at its launch less the delta: some drivers then ask how much of the cycle is left. */
static void check_handover(const struct deployment *deployment, const struct stream *stream,
			   int class, const char *path, struct findings *findings)
{
	const struct schedule *schedule = &deployment->schedule;
	int64_t quiet = deployment->nic->handover_quiet_ns, cycle = schedule->cycle_ns, left;
	char a[DURATION_TEXT], b[DURATION_TEXT];

	if (class < 0 || !quiet || !deployment_has_gates(deployment) ||
	    !deployment->etf_offload[class])
		return;
	left = (schedule->classes[class].delta_ns - stream->offset_ns) % cycle;
	if (left < 0)
		left += cycle;
	if (left > 0 && left < quiet)
		finding_add(findings, FINDING_WARNING, path,
			    "stream %u is handed to the NIC %s before the end of a cycle (its "
			    "offset less the delta of "
			    "class '%s'), and %s does not promise the launch within the last %s; "
			    "change the delta",
			    stream->id, format_duration(left, a), schedule->classes[class].name,
			    deployment->nic->name, format_duration(quiet, b));
}

void validate_streams(const struct deployment *deployment, const struct stream *streams,
		      unsigned count, struct findings *findings)
{
	const struct schedule *schedule = &deployment->schedule;
	char path[64], text[FIT_TEXT], a[DURATION_TEXT], b[DURATION_TEXT];
	uint32_t largest = largest_frame(deployment);
	struct collision collision;
	int collides;

	if (!schedule_cycles_agree(schedule))
		return;
	for (unsigned i = 0; i < count; i++) {
		const struct stream *stream = &streams[i];
		struct fit fit;

		snprintf(path, sizeof(path), "streams[%u]", i);
		if (stream->offset_ns == STREAM_ANYWHERE) {
			finding_add(findings, FINDING_ERROR, path, "stream %u has no offset yet",
				    stream->id);
			continue;
		}
		fit_stream(schedule, stream, deployment->speed_mbps, &fit);
		if (fit.class >= 0 && schedule->classes[fit.class].max_frame &&
		    stream->size > schedule->classes[fit.class].max_frame)
			finding_add(findings, FINDING_ERROR, path,
				    "stream %u has frames of %u bytes, its class '%s' takes %u at "
				    "most; make them smaller, or raise max-frame",
				    stream->id, stream->size, schedule->classes[fit.class].name,
				    schedule->classes[fit.class].max_frame);
		if (largest && stream->size > largest)
			finding_add(findings, FINDING_ERROR, path,
				    "stream %u has frames of %u bytes, with gates or launch times "
				    "%s sends none "
				    "above %u; make them smaller",
				    stream->id, stream->size, deployment->nic->name, largest);
		check_handover(deployment, stream, fit.class, path, findings);
		if (fit.class < 0 || !fit.fits)
			finding_add(findings, FINDING_ERROR, path,
				    "stream %u %s; move its offset, or the gates", stream->id,
				    fit_text(schedule, &fit, text));
		else if (deployment_has_gates(deployment) && fit.margin_ns < schedule->margin_ns)
			finding_add(findings, FINDING_WARNING, path,
				    "stream %u %s; %s are wanted for jitter", stream->id,
				    fit_text(schedule, &fit, text),
				    format_duration(schedule->margin_ns, a));
	}
	if (findings->errors)
		return;
	collides = fit_collision(streams, count, schedule->stream_cycle_ns, deployment->speed_mbps,
				 &collision);
	if (collides < 0)
		finding_add(findings, FINDING_NOTE, "streams",
			    "the streams repeat only after more launches than are looked at (%d): "
			    "collisions not checked",
			    FIT_INSTANCES_MAX);
	if (collides > 0) {
		snprintf(path, sizeof(path), "streams[%u]", collision.second);
		finding_add(findings, FINDING_WARNING, path,
			    "stream %u is due at %s while stream %u is on the wire: it waits %s; "
			    "move its offset",
			    streams[collision.second].id,
			    format_duration(collision.at_ns % schedule->stream_cycle_ns, a),
			    streams[collision.first].id, format_duration(collision.overlap_ns, b));
	}
}

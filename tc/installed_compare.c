// SPDX-License-Identifier: GPL-2.0-only
/* Set, read back, compare: what is installed against what was asked for, attribute by attribute. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/units.h"
#include "tc/installed.h"
#include "tc/tc_headers.h"

static void differ(struct findings *differences, const char *path, const char *what,
		   const char *wanted, const char *found)
{
	finding_add(differences, FINDING_ERROR, path, "%s: wanted %s, installed is %s", what,
		    wanted, found);
}

static void compare_numbers(struct findings *differences, const char *path, const char *what,
			    int64_t wanted, int64_t found)
{
	char a[24], b[24];

	if (wanted == found)
		return;
	snprintf(a, sizeof(a), "%lld", (long long)wanted);
	snprintf(b, sizeof(b), "%lld", (long long)found);
	differ(differences, path, what, a, b);
}

static void compare_times(struct findings *differences, const char *path, const char *what,
			  int64_t wanted, int64_t found)
{
	char a[DURATION_TEXT], b[DURATION_TEXT];

	if (wanted != found)
		differ(differences, path, what, format_duration(wanted, a),
		       format_duration(found, b));
}

static void compare_map(const struct installed *installed, const struct deployment *deployment,
			struct findings *differences)
{
	const struct schedule *schedule = &deployment->schedule;
	const struct class_map *map = &installed->map;
	char path[64], a[16], b[16];

	compare_numbers(differences, "schedule.classes", "number of classes", schedule->class_count,
			map->classes);
	for (unsigned p = 0; p < 16; p++) {
		char what[32];

		snprintf(what, sizeof(what), "class of priority %u", p);
		compare_numbers(differences, "schedule.classes", what,
				schedule_class_of(schedule, p), map->class_of[p]);
	}
	for (unsigned c = 0; c < schedule->class_count && c < map->classes; c++) {
		struct traffic_class found = { .queue_first = map->queue_first[c],
					       .queue_count = map->queue_count[c] };
		char what[64];

		snprintf(path, sizeof(path), "schedule.classes[%u].queues", c);
		snprintf(what, sizeof(what), "queues of class '%s'", schedule->classes[c].name);
		if (found.queue_first != schedule->classes[c].queue_first ||
		    found.queue_count != schedule->classes[c].queue_count)
			differ(differences, path, what,
			       schedule_queue_text(&schedule->classes[c], a),
			       schedule_queue_text(&found, b));
	}
}

static void compare_gates(const struct gate_list *found, const struct schedule *schedule,
			  int64_t base_ns, struct findings *differences)
{
	char path[64], what[48];

	compare_times(differences, "cycle", "cycle", schedule->cycle_ns, found->cycle_ns);
	compare_times(differences, "schedule.cycle-extension", "cycle-time-extension",
		      schedule->extension_ns, found->extension_ns);
	if (base_ns >= 0) {
		compare_times(differences, "schedule.base-time", "base time", base_ns,
			      found->base_ns);
	} else if (schedule->base_kind == BASE_ABSOLUTE) {
		int64_t since = found->base_ns - schedule->base_ns;

		/* of two in the same phase the later one has the same gates */
		if (since < 0 || found->cycle_ns <= 0 || since % found->cycle_ns)
			compare_times(differences, "schedule.base-time", "base time",
				      schedule->base_ns, found->base_ns);
	} else if (found->cycle_ns == schedule->cycle_ns) {
		int64_t wanted = schedule->base_kind == BASE_PHASE ? schedule->base_ns : 0;
		int64_t phase = found->base_ns % found->cycle_ns;

		compare_times(differences, "schedule.base-time", "phase of the base time", wanted,
			      phase < 0 ? phase + found->cycle_ns : phase);
	}
	compare_numbers(differences, "schedule.gates", "number of gates", schedule->gate_count,
			found->count);
	for (unsigned i = 0; i < schedule->gate_count && i < found->count; i++) {
		char a[600], b[600];

		snprintf(path, sizeof(path), "schedule.gates[%u]", i);
		if (schedule->gates[i].open != found->gates[i].open) {
			snprintf(what, sizeof(what), "gate %u", i);
			differ(differences, path, what,
			       schedule_open_names(schedule, schedule->gates[i].open, a, 150),
			       schedule_open_names(schedule, found->gates[i].open, b, 150));
		}
		snprintf(what, sizeof(what), "duration of gate %u", i);
		compare_times(differences, path, what, schedule->gates[i].duration_ns,
			      found->gates[i].duration_ns);
	}
}

/* The kernel shows the smaller of what was asked for and what fits the gates. */
static void compare_class(const struct installed *installed, const struct deployment *deployment,
			  unsigned c, struct findings *differences)
{
	const struct traffic_class *class = &deployment->schedule.classes[c];
	char path[64], a[DURATION_TEXT], b[DURATION_TEXT];

	snprintf(path, sizeof(path), "schedule.classes[%u]", c);
	if (installed->is_taprio && class->max_frame && installed->taprio.has_max_sdu[c]) {
		uint32_t wanted = deployment_max_sdu(deployment, c),
			 header = class->max_frame - wanted, found = installed->taprio.max_sdu[c];

		if (!found || found > wanted)
			finding_add(differences, FINDING_ERROR, path,
				    "largest frame of class '%s': wanted %u bytes, installed is %u",
				    class->name, class->max_frame, found ? found + header : 0);
		else if (found < wanted)
			finding_add(differences, FINDING_NOTE, path,
				    "class '%s' takes frames up to %u bytes only: no longer one "
				    "fits its windows",
				    class->name, found + header);
	}
	if (class->preemptible != (installed->taprio.preemption[c] == FP_PREEMPTIBLE))
		finding_add(differences, FINDING_ERROR, path,
			    "class '%s': wanted %s, installed is %s", class->name,
			    class->preemptible ? "preemptible" : "express",
			    class->preemptible ? "express" : "preemptible");
	for (unsigned q = class->queue_first; q < (unsigned)class->queue_first + class->queue_count;
	     q++) {
		const struct installed_queue *queue = q < SCHEDULE_QUEUES_MAX
							      ? &installed->queues[q]
							      : NULL;
		bool has_etf = queue && queue->has_etf;

		if (class->launch_time != has_etf) {
			finding_add(differences, FINDING_ERROR, path,
				    "queue %u of class '%s': wanted %s, installed is %s", q,
				    class->name, class->launch_time ? "etf" : "no etf",
				    queue && queue->kind[0] ? queue->kind : "nothing");
			continue;
		}
		if (!has_etf)
			continue;
		if (queue->etf.delta_ns != class->delta_ns)
			finding_add(
				differences, FINDING_ERROR, path,
				"etf delta on queue %u of class '%s': wanted %s, installed is %s",
				q, class->name, format_duration(class->delta_ns, a),
				format_duration(queue->etf.delta_ns, b));
		if (queue->etf.offload != deployment->etf_offload[c])
			finding_add(
				differences, FINDING_ERROR, path,
				"etf on queue %u of class '%s': wanted offload %s, installed is %s",
				q, class->name, deployment->etf_offload[c] ? "on" : "off",
				queue->etf.offload ? "on" : "off");
		if (queue->etf.clockid != CLOCK_TAI)
			finding_add(differences, FINDING_ERROR, path,
				    "etf on queue %u of class '%s': wanted CLOCK_TAI, installed is "
				    "clock %d",
				    q, class->name, queue->etf.clockid);
	}
}

void installed_compare(const struct installed *installed, const struct deployment *deployment,
		       int64_t base_ns, struct findings *differences)
{
	const struct schedule *schedule = &deployment->schedule;
	const struct taprio_state *taprio = &installed->taprio;
	const char *wanted_kind = deployment_has_gates(deployment) ? "taprio" : "mqprio";

	if (strcmp(installed->has_root ? installed->kind : "nothing", wanted_kind) != 0) {
		differ(differences, "schedule", "root qdisc", wanted_kind,
		       installed->has_root ? installed->kind : "nothing");
		return;
	}
	compare_map(installed, deployment, differences);
	if (installed->is_mqprio)
		compare_numbers(differences, "schedule.mode", "mqprio in hardware",
				deployment->mqprio_hw, installed->mqprio_hw);
	if (installed_launch_ignored(installed, deployment->nic))
		finding_add(differences, FINDING_ERROR, "schedule.mode", "%s", nic_launch_ignored);
	if (installed->is_taprio) {
		enum schedule_mode mode = installed_mode(installed);

		if (mode != deployment->mode)
			differ(differences, "schedule.mode", "mode",
			       schedule_mode_name(deployment->mode), schedule_mode_name(mode));
		if (mode != SCHEDULE_FULL_OFFLOAD)
			compare_numbers(differences, "schedule.mode", "clock of the gates",
					CLOCK_TAI, taprio->clockid);
		if (mode == SCHEDULE_TXTIME_ASSIST)
			compare_times(differences, "schedule.txtime-delay", "txtime-delay",
				      deployment->txtime_delay_ns, taprio->txtime_delay_ns);
		if (!installed->has_stab || installed->stab_overhead != WIRE_OVERHEAD)
			compare_numbers(differences, "schedule", "size table's overhead in bytes",
					WIRE_OVERHEAD,
					installed->has_stab ? installed->stab_overhead : 0);
		/* the newest schedule is the one that was asked for: the one to come, where there is one */
		if (taprio->has_admin)
			compare_gates(&taprio->admin, schedule, base_ns, differences);
		else if (taprio->has_oper)
			compare_gates(&taprio->oper, schedule, base_ns, differences);
		else
			differ(differences, "schedule.gates", "gates", "a list", "none");
	}
	for (unsigned c = 0; c < schedule->class_count; c++)
		compare_class(installed, deployment, c, differences);
}

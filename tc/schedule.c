// SPDX-License-Identifier: GPL-2.0-only
#include "tc/schedule.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"

static const char *const mode_names[] = {
	[SCHEDULE_AUTO] = "auto",
	[SCHEDULE_FULL_OFFLOAD] = "full-offload",
	[SCHEDULE_TXTIME_ASSIST] = "txtime-assist",
	[SCHEDULE_SOFTWARE] = "software",
	[SCHEDULE_MQPRIO] = "mqprio",
};

const char *schedule_mode_name(enum schedule_mode mode)
{
	return mode_names[mode];
}

int schedule_mode_find(const char *name)
{
	for (size_t i = 0; i < sizeof(mode_names) / sizeof(mode_names[0]); i++)
		if (!strcmp(mode_names[i], name))
			return (int)i;
	return -1;
}

int schedule_class_of(const struct schedule *schedule, unsigned priority)
{
	for (int round = 0; round < 2; round++) {
		for (unsigned c = 0; c < schedule->class_count; c++)
			if (priority < PRIORITIES &&
			    schedule->classes[c].priorities & 1 << priority)
				return (int)c;
		priority = 0;
	}
	return -1;
}

int schedule_class_find(const struct schedule *schedule, const char *name)
{
	for (unsigned c = 0; c < schedule->class_count; c++)
		if (!strcmp(schedule->classes[c].name, name))
			return (int)c;
	return -1;
}

int64_t schedule_gates_total(const struct schedule *schedule)
{
	int64_t total = 0;

	for (unsigned i = 0; i < schedule->gate_count; i++)
		if (__builtin_add_overflow(total, schedule->gates[i].duration_ns, &total))
			return INT64_MAX;
	return total;
}

unsigned schedule_windows(const struct schedule *schedule, unsigned class, struct window *windows,
			  unsigned room)
{
	int64_t cycle = schedule->cycle_ns, at = 0;
	struct window open = { -1, 0 };
	bool first_wraps = false;
	unsigned count = 0;

	if (!schedule->gate_count) {
		if (room)
			windows[0] = (struct window){ 0, 2 * cycle };
		return 1;
	}
	/* entries beyond the cycle are cut off; the last one is stretched to its end, as the kernel does */
	for (unsigned i = 0; i < schedule->gate_count && at < cycle; i++) {
		const struct gate *gate = &schedule->gates[i];
		int64_t end = i + 1 == schedule->gate_count || gate->duration_ns > cycle - at
				      ? cycle
				      : at + gate->duration_ns;

		if (gate->open & 1U << class) {
			if (open.start_ns < 0)
				open.start_ns = at;
			open.end_ns = end;
		} else if (open.start_ns >= 0) {
			if (count < room)
				windows[count] = open;
			count++;
			open.start_ns = -1;
		}
		at = end;
	}
	first_wraps = schedule->gates[0].open & 1U << class;
	if (open.start_ns < 0)
		return count;
	if (open.start_ns == 0)
		open.end_ns = 2 * cycle;
	else if (first_wraps && count && count <= room) {
		/* the last window and the first one are the same: it is given once, at its start */
		open.end_ns = cycle + windows[0].end_ns;
		memmove(&windows[0], &windows[1], (count - 1) * sizeof(windows[0]));
		count--;
	}
	if (count < room)
		windows[count] = open;
	return count + 1;
}

static int append(struct schedule *to, uint32_t open, int64_t duration_ns)
{
	/* an entry of no duration is a mistake that the validator has to see */
	if (duration_ns && to->gate_count && to->gates[to->gate_count - 1].open == open) {
		to->gates[to->gate_count - 1].duration_ns += duration_ns;
		return 0;
	}
	if (to->gate_count == SCHEDULE_GATES_MAX)
		return -1;
	to->gates[to->gate_count++] = (struct gate){ open, duration_ns };
	return 0;
}

int schedule_apply_guard(const struct schedule *from, const int64_t guard_ns[SCHEDULE_CLASSES_MAX],
			 struct schedule *to)
{
	bool none = true;

	*to = *from;
	for (unsigned c = 0; c < from->class_count; c++)
		none &= guard_ns[c] == 0;
	if (none)
		return 0;
	to->gate_count = 0;
	for (unsigned i = 0; i < from->gate_count; i++) {
		const struct gate *gate = &from->gates[i];
		const struct gate *next = &from->gates[(i + 1) % from->gate_count];
		uint32_t closing = gate->open & ~next->open;
		int64_t left = gate->duration_ns;
		uint32_t open = gate->open;

		/* the classes that close, longest guard first */
		while (left > 0) {
			int64_t guard = 0;
			uint32_t which = 0;

			for (unsigned c = 0; c < from->class_count; c++) {
				if (!(open & closing & 1U << c))
					continue;
				if (guard_ns[c] > guard) {
					guard = guard_ns[c];
					which = 0;
				}
				if (guard_ns[c] == guard)
					which |= 1U << c;
			}
			if (!guard)
				break;
			if (left > guard && append(to, open, left - guard))
				return -1;
			if (left > guard)
				left = guard;
			open &= ~which;
		}
		if (append(to, open, left))
			return -1;
	}
	return 0;
}

int64_t schedule_base_time(const struct schedule *schedule, int64_t now_ns, int64_t lead_ns)
{
	if (schedule->base_kind == BASE_ABSOLUTE)
		return schedule->base_ns;
	return next_in_phase(schedule->base_kind == BASE_PHASE ? schedule->base_ns : 0,
			     schedule->cycle_ns, now_ns + lead_ns);
}

char *schedule_open_names(const struct schedule *schedule, uint32_t open, char *buffer, size_t size)
{
	size_t used = 0;

	snprintf(buffer, size, "(all closed)");
	for (unsigned c = 0; c < SCHEDULE_CLASSES_MAX; c++) {
		if (!(open & 1U << c))
			continue;
		if (c < schedule->class_count)
			snprintf(buffer + used, size - used, "%s%s", used ? "+" : "",
				 schedule->classes[c].name);
		else
			snprintf(buffer + used, size - used, "%sclass %u", used ? "+" : "", c);
		used = strlen(buffer);
	}
	return buffer;
}

char *schedule_queue_text(const struct traffic_class *class, char buffer[16])
{
	if (class->queue_count > 1)
		snprintf(buffer, 16, "%u-%u", class->queue_first,
			 class->queue_first + class->queue_count - 1u);
	else
		snprintf(buffer, 16, "%u", class->queue_first);
	return buffer;
}

char *schedule_priority_text(const struct traffic_class *class, char buffer[24])
{
	size_t used = 0;

	snprintf(buffer, 24, "none");
	for (unsigned p = 0; p < PRIORITIES; p++) {
		unsigned last = p;

		if (!(class->priorities & 1 << p))
			continue;
		while (last + 1 < PRIORITIES && class->priorities & 1 << (last + 1))
			last++;
		used += (size_t)snprintf(buffer + used, 24 - used, "%s%u", used ? "," : "", p);
		if (last > p)
			used += (size_t)snprintf(buffer + used, 24 - used, "%c%u",
						 last > p + 1 ? '-' : ',', last);
		p = last;
	}
	return buffer;
}

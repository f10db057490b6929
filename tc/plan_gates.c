// SPDX-License-Identifier: GPL-2.0-only
#include "tc/plan_gates.h"

#include <stdlib.h>
#include <string.h>

static int append(struct schedule *schedule, uint32_t open, int64_t duration_ns)
{
	struct gate *last = schedule->gate_count ? &schedule->gates[schedule->gate_count - 1]
						 : NULL;

	if (duration_ns <= 0)
		return 0;
	if (last && last->open == open) {
		last->duration_ns += duration_ns;
		return 0;
	}
	if (schedule->gate_count == SCHEDULE_GATES_MAX)
		return -1;
	schedule->gates[schedule->gate_count++] = (struct gate){ open, duration_ns };
	return 0;
}

/* Classes that have priorities and no slots. */
static uint32_t others(const struct schedule *schedule, uint32_t used)
{
	uint32_t rest = 0;

	for (unsigned c = 0; c < schedule->class_count; c++)
		if (schedule->classes[c].priorities && !(used & 1U << c))
			rest |= 1U << c;
	return rest;
}

void plan_gates_contiguous(struct schedule *schedule,
			   const struct window of_class[SCHEDULE_CLASSES_MAX], int64_t shortest_ns)
{
	uint32_t used = 0, rest;
	int64_t at = 0;

	schedule->gate_count = 0;
	schedule->cycle_ns = schedule->stream_cycle_ns;
	for (unsigned c = 0; c < schedule->class_count; c++)
		if (of_class[c].end_ns > of_class[c].start_ns)
			used |= 1U << c;
	rest = others(schedule, used);
	for (;;) {
		unsigned next = SCHEDULE_CLASSES_MAX;
		int64_t end;

		for (unsigned c = 0; c < schedule->class_count; c++)
			if (used & 1U << c && of_class[c].start_ns >= at &&
			    (next == SCHEDULE_CLASSES_MAX ||
			     of_class[c].start_ns < of_class[next].start_ns))
				next = c;
		if (next == SCHEDULE_CLASSES_MAX)
			break;
		end = of_class[next].end_ns;
		used &= ~(1U << next);
		/* what is left over must hold a gate, or nothing at all */
		if ((!rest && !used) || schedule->cycle_ns - end < shortest_ns)
			end = schedule->cycle_ns;
		append(schedule, 1U << next, end - at);
		at = end;
	}
	append(schedule, rest, schedule->cycle_ns - at);
}

static int by_start(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/*
 * Gates for slots in order of start within a cycle of `cycle_ns`. -1 when slots of different classes overlap, or the
 * result breaks a limit.
 */
static int from_slots(struct schedule *schedule, const struct slot *slots, size_t count,
		      int64_t cycle_ns, int64_t shortest_ns)
{
	uint32_t used = 0, rest;
	int64_t at = 0;

	schedule->gate_count = 0;
	schedule->cycle_ns = cycle_ns;
	for (size_t i = 0; i < count; i++)
		used |= 1U << slots[i].class;
	rest = others(schedule, used);
	for (size_t i = 0; i < count; i++) {
		int64_t start = slots[i].start_ns, end = slots[i].end_ns;
		uint32_t open = 1U << slots[i].class;

		if (start < at) {
			struct gate *last = &schedule->gates[schedule->gate_count - 1];

			if (last->open != open)
				return -1;
			start = at;
		}
		/* a gap that holds no frame of the rest goes to the class before it, or after it at the start */
		if (start - at < shortest_ns || !rest) {
			if (schedule->gate_count)
				schedule->gates[schedule->gate_count - 1].duration_ns += start - at;
			else
				start = at;
		} else if (append(schedule, rest, start - at)) {
			return -1;
		}
		if (append(schedule, open, end - start))
			return -1;
		if (end > at)
			at = end;
	}
	if (cycle_ns - at < shortest_ns || !rest)
		schedule->gates[schedule->gate_count - 1].duration_ns += cycle_ns - at;
	else if (append(schedule, rest, cycle_ns - at))
		return -1;
	for (unsigned i = 0; i < schedule->gate_count; i++)
		if (schedule->gates[i].duration_ns < shortest_ns)
			return -1;
	return 0;
}

int plan_gates_interleaved(struct schedule *schedule, const struct occupancy *occupancy,
			   int64_t shortest_ns, int64_t cycle_max_ns)
{
	size_t total = 0, n = 0;
	struct slot *slots;
	int result;

	for (uint64_t k = 0; k < occupancy->count; k++)
		total += occupancy->cycles[k].count;
	if (!total)
		return -1;
	slots = malloc(total * sizeof(*slots));
	if (!slots)
		return -1;
	for (uint64_t k = 0; k < occupancy->count; k++)
		for (unsigned i = 0; i < occupancy->cycles[k].count; i++)
			slots[n++] = occupancy->cycles[k].slots[i];
	qsort(slots, n, sizeof(*slots), by_start);
	result = from_slots(schedule, slots, n, occupancy->cycle_ns, shortest_ns);
	if (result && (__int128)occupancy->cycle_ns * occupancy->count <= cycle_max_ns) {
		n = 0;
		for (uint64_t k = 0; k < occupancy->count; k++)
			for (unsigned i = 0; i < occupancy->cycles[k].count; i++) {
				slots[n] = occupancy->cycles[k].slots[i];
				slots[n].start_ns += (int64_t)k * occupancy->cycle_ns;
				slots[n++].end_ns += (int64_t)k * occupancy->cycle_ns;
			}
		result = from_slots(schedule, slots, n,
				    (int64_t)occupancy->count * occupancy->cycle_ns, shortest_ns);
	}
	free(slots);
	return result;
}

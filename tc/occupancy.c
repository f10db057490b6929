// SPDX-License-Identifier: GPL-2.0-only
#include "tc/occupancy.h"

#include <stdlib.h>
#include <string.h>

int occupancy_init(struct occupancy *occupancy, uint64_t cycles, int64_t cycle_ns)
{
	occupancy->count = cycles;
	occupancy->cycle_ns = cycle_ns;
	occupancy->cycles = calloc(cycles, sizeof(*occupancy->cycles));
	return occupancy->cycles ? 0 : -1;
}

void occupancy_free(struct occupancy *occupancy)
{
	for (uint64_t k = 0; occupancy->cycles && k < occupancy->count; k++)
		free(occupancy->cycles[k].slots);
	free(occupancy->cycles);
	occupancy->cycles = NULL;
}

void occupancy_clear(struct occupancy *occupancy)
{
	for (uint64_t k = 0; k < occupancy->count; k++)
		occupancy->cycles[k].count = 0;
}

/* Index of the first slot that ends after `at`. Slots do not overlap, so their ends are in order too. */
static unsigned first_after(const struct occupancy_cycle *cycle, int64_t at)
{
	unsigned low = 0, high = cycle->count;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (cycle->slots[middle].end_ns > at)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

int64_t occupancy_earliest(const struct occupancy *occupancy, uint32_t every, uint32_t phase,
			   int64_t from_ns, int64_t length_ns)
{
	int64_t at = from_ns, before;

	do {
		before = at;
		for (uint64_t k = phase; k < occupancy->count; k += every) {
			const struct occupancy_cycle *cycle = &occupancy->cycles[k];

			for (unsigned i = first_after(cycle, at);
			     i < cycle->count && cycle->slots[i].start_ns < at + length_ns; i++)
				at = cycle->slots[i].end_ns;
		}
	} while (at != before);
	return at;
}

int occupancy_take(struct occupancy *occupancy, uint32_t every, uint32_t phase,
		   const struct slot *slot)
{
	for (uint64_t k = phase; k < occupancy->count; k += every) {
		struct occupancy_cycle *cycle = &occupancy->cycles[k];

		if (cycle->count == cycle->room) {
			unsigned room = cycle->room ? cycle->room * 2 : 4;
			struct slot *slots = realloc(cycle->slots, room * sizeof(*slots));

			if (!slots)
				return -1;
			cycle->slots = slots;
			cycle->room = room;
		}
	}
	for (uint64_t k = phase; k < occupancy->count; k += every) {
		struct occupancy_cycle *cycle = &occupancy->cycles[k];
		unsigned i = first_after(cycle, slot->start_ns);

		memmove(&cycle->slots[i + 1], &cycle->slots[i], (cycle->count - i) * sizeof(*slot));
		cycle->slots[i] = *slot;
		cycle->count++;
	}
	return 0;
}

void occupancy_give(struct occupancy *occupancy, uint32_t every, uint32_t phase, unsigned stream)
{
	for (uint64_t k = phase; k < occupancy->count; k += every) {
		struct occupancy_cycle *cycle = &occupancy->cycles[k];

		for (unsigned i = 0; i < cycle->count; i++)
			if (cycle->slots[i].stream == stream) {
				memmove(&cycle->slots[i], &cycle->slots[i + 1],
					(cycle->count - i - 1) * sizeof(*cycle->slots));
				cycle->count--;
				break;
			}
	}
}

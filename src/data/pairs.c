// SPDX-License-Identifier: GPL-2.0-only
#include "data/pairs.h"

#include <string.h>

static size_t home(size_t slot_count, uint32_t run, uint16_t stream)
{
	/* Fibonacci hashing: run is random, streams are small and consecutive */
	uint64_t key = ((uint64_t)run << 16 | stream) * 0x9e3779b97f4a7c15ULL;

	return (size_t)(key >> 32) & (slot_count - 1);
}

static const struct pair_key *key_of(void *const *items, uint16_t slot)
{
	return items[slot - 1];
}

size_t pairs_find(const uint16_t *slots, size_t slot_count, void *const *items, uint32_t run,
		  uint16_t stream)
{
	for (size_t i = home(slot_count, run, stream); slots[i]; i = (i + 1) & (slot_count - 1)) {
		const struct pair_key *key = key_of(items, slots[i]);

		if (key->run == run && key->stream == stream)
			return (size_t)slots[i] - 1;
	}
	return PAIR_NONE;
}

void pairs_enter(uint16_t *slots, size_t slot_count, void *const *items, size_t index)
{
	const struct pair_key *key = items[index];
	size_t i = home(slot_count, key->run, key->stream);

	while (slots[i])
		i = (i + 1) & (slot_count - 1);
	slots[i] = (uint16_t)(index + 1);
}

void pairs_remove(uint16_t *slots, size_t slot_count, void *const *items, size_t index)
{
	const struct pair_key *key = items[index];
	size_t mask = slot_count - 1, hole = home(slot_count, key->run, key->stream);

	while (slots[hole] != index + 1)
		hole = (hole + 1) & mask;
	/* move back what probed past the hole, so that no marker of deletion is needed */
	for (size_t i = (hole + 1) & mask; slots[i]; i = (i + 1) & mask) {
		const struct pair_key *other = key_of(items, slots[i]);
		size_t wanted = home(slot_count, other->run, other->stream);

		if (((i - wanted) & mask) >= ((i - hole) & mask)) {
			slots[hole] = slots[i];
			hole = i;
		}
	}
	slots[hole] = 0;
}

#define GROUPS 256

void pairs_group(const void *records, size_t size, size_t stream_at, size_t count, uint16_t *order)
{
	const uint8_t *stream = (const uint8_t *)records + stream_at;
	uint32_t start[GROUPS + 1] = { 0 };
	uint16_t value;

	for (size_t i = 0; i < count; i++) {
		memcpy(&value, stream + i * size, sizeof(value));
		start[value % GROUPS + 1]++;
	}
	for (size_t g = 0; g < GROUPS; g++)
		start[g + 1] += start[g];
	for (size_t i = 0; i < count; i++) {
		memcpy(&value, stream + i * size, sizeof(value));
		order[start[value % GROUPS]++] = (uint16_t)i;
	}
}

// SPDX-License-Identifier: GPL-2.0-only
#include "base/spsc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int spsc_init(struct spsc *ring, size_t count, size_t record_size)
{
	size_t size = 1;

	memset(ring, 0, sizeof(*ring));
	while (size < count && size < SIZE_MAX / 2 / record_size)
		size *= 2;
	if (size < count)
		return -ENOMEM;
	ring->records = malloc(size * record_size);
	if (!ring->records)
		return -ENOMEM;
	/* written, not only reserved: the first lap must not fault in the cyclic thread */
	memset(ring->records, 0xff, size * record_size);
	ring->record_size = record_size;
	ring->mask = size - 1;
	return 0;
}

void spsc_free(struct spsc *ring)
{
	free(ring->records);
	memset(ring, 0, sizeof(*ring));
}

bool spsc_push(struct spsc *ring, const void *record)
{
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

	if (head - ring->tail_seen > ring->mask) {
		ring->tail_seen = atomic_load_explicit(&ring->tail, memory_order_acquire);
		if (head - ring->tail_seen > ring->mask) {
			atomic_fetch_add_explicit(&ring->dropped, 1, memory_order_relaxed);
			return false;
		}
	}
	memcpy(ring->records + (head & ring->mask) * ring->record_size, record, ring->record_size);
	atomic_store_explicit(&ring->head, head + 1, memory_order_release);
	return true;
}

bool spsc_pop(struct spsc *ring, void *record)
{
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

	if (tail == ring->head_seen) {
		ring->head_seen = atomic_load_explicit(&ring->head, memory_order_acquire);
		if (tail == ring->head_seen)
			return false;
	}
	memcpy(record, ring->records + (tail & ring->mask) * ring->record_size, ring->record_size);
	atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A ring of fixed-size records between one producing and one consuming thread. The producer never
 * waits: a full ring drops the record and counts it. Neither side makes a system call.
 */
#ifndef BASE_SPSC_H
#define BASE_SPSC_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct spsc {
	uint8_t *records;
	size_t record_size;
	uint64_t mask;
	_Alignas(64) _Atomic uint64_t head; /* next to write; the producer's */
	uint64_t tail_seen; /* the producer's copy of tail */
	_Atomic uint64_t dropped; /* records refused because the ring was full */
	_Alignas(64) _Atomic uint64_t tail; /* next to read; the consumer's */
	uint64_t head_seen; /* the consumer's copy of head */
};

/*
 * Allocates room for at least `count` records of `record_size` bytes, touched so that no page fault
 * comes later. Returns 0, or -ENOMEM. spsc_free() gives it back; it may be called on a zeroed ring.
 */
int spsc_init(struct spsc *ring, size_t count, size_t record_size);
void spsc_free(struct spsc *ring);

/*
 * Producer: copies *record in; false when the ring is full (counted in `dropped`). Consumer: copies the oldest record out to
 * *record; false when the ring is empty. The pointers have the type of the ring's records, whose size is so known to the
 * compiler.
 */
#define spsc_push(ring, record) spsc_push_sized(ring, record, sizeof(*(record)))
#define spsc_pop(ring, record) spsc_pop_sized(ring, record, sizeof(*(record)))

static inline bool spsc_push_sized(struct spsc *ring, const void *record, size_t size)
{
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

	assert(size == ring->record_size);
	if (head - ring->tail_seen > ring->mask) {
		ring->tail_seen = atomic_load_explicit(&ring->tail, memory_order_acquire);
		if (head - ring->tail_seen > ring->mask) {
			atomic_fetch_add_explicit(&ring->dropped, 1, memory_order_relaxed);
			return false;
		}
	}
	memcpy(ring->records + (head & ring->mask) * size, record, size);
	atomic_store_explicit(&ring->head, head + 1, memory_order_release);
	return true;
}

static inline bool spsc_pop_sized(struct spsc *ring, void *record, size_t size)
{
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

	assert(size == ring->record_size);
	if (tail == ring->head_seen) {
		ring->head_seen = atomic_load_explicit(&ring->head, memory_order_acquire);
		if (tail == ring->head_seen)
			return false;
	}
	memcpy(record, ring->records + (tail & ring->mask) * size, size);
	atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);
	return true;
}

#endif

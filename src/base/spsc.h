/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A ring of fixed-size records between one producing and one consuming thread. The producer never
 * waits: a full ring drops the record and counts it. Neither side makes a system call.
 */
#ifndef BASE_SPSC_H
#define BASE_SPSC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Producer: copies the record in; false when the ring is full (counted in `dropped`). */
bool spsc_push(struct spsc *ring, const void *record);

/* Consumer: copies the oldest record out; false when the ring is empty. */
bool spsc_pop(struct spsc *ring, void *record);

#endif

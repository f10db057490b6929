/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A bounded table of (run, stream) pairs, for tx_metrics and rx_metrics: hash slots that hold index + 1
 * into an array of pointers whose elements start with struct pair_key. Pure, no memory of its own.
 */
#ifndef DATA_PAIRS_H
#define DATA_PAIRS_H

#include <stddef.h>
#include <stdint.h>

struct pair_key {
	uint32_t run;
	uint16_t stream;
};

#define PAIR_NONE SIZE_MAX

/* The index of the pair, or PAIR_NONE. `slots` has `slot_count` (a power of two) elements. */
size_t pairs_find(const uint16_t *slots, size_t slot_count, void *const *items, uint32_t run,
		  uint16_t stream);

/* Enters items[index], which must not be there yet; there must be a free slot. */
void pairs_enter(uint16_t *slots, size_t slot_count, void *const *items, size_t index);

/* Takes items[index] out of the slots. */
void pairs_remove(uint16_t *slots, size_t slot_count, void *const *items, size_t index);

/*
 * The order in which to go over `count` records (at most 65,536, `size` bytes each, with the stream's
 * number at `stream_at`) so that those of one stream come together: with many streams their statistics do
 * not fit into the cache at once. Streams that differ in their last 8 bits are told apart; within a stream
 * the order stays.
 */
void pairs_group(const void *records, size_t size, size_t stream_at, size_t count, uint16_t *order);

#endif

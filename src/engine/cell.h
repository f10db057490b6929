/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The latest TX stamp of a stream, from the thread that reads the error queue to the cyclic one: one
 * writer, one reader, neither waits. A reader that meets a half-written cell goes without it.
 */
#ifndef ENGINE_CELL_H
#define ENGINE_CELL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct stamp_cell {
	atomic_uint version; /* odd: being written; 0: never written */
	_Atomic uint64_t seq;
	_Atomic int64_t stamp;
	atomic_bool hw;
};

static inline void stamp_cell_write(struct stamp_cell *cell, uint64_t seq, int64_t stamp, bool hw)
{
	unsigned version = atomic_load_explicit(&cell->version, memory_order_relaxed);

	atomic_store_explicit(&cell->version, version + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&cell->seq, seq, memory_order_relaxed);
	atomic_store_explicit(&cell->stamp, stamp, memory_order_relaxed);
	atomic_store_explicit(&cell->hw, hw, memory_order_relaxed);
	atomic_store_explicit(&cell->version, version + 2, memory_order_release);
}

static inline bool stamp_cell_read(const struct stamp_cell *cell, uint64_t *seq, int64_t *stamp,
				   bool *hw)
{
	unsigned version = atomic_load_explicit(&cell->version, memory_order_acquire);

	if (!version || (version & 1))
		return false;
	*seq = atomic_load_explicit(&cell->seq, memory_order_relaxed);
	*stamp = atomic_load_explicit(&cell->stamp, memory_order_relaxed);
	*hw = atomic_load_explicit(&cell->hw, memory_order_relaxed);
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&cell->version, memory_order_relaxed) == version;
}

#endif

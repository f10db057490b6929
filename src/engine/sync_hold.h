/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Holds records back until it is known whether the clocks were good when they were made: a loss of sync is noticed
 * after it has come about, and what was sent in between must not get into the statistics unmarked. First in, first
 * out. Pure; the bytes of a record are not looked at.
 */
#ifndef ENGINE_SYNC_HOLD_H
#define ENGINE_SYNC_HOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptp/watch.h"

#define SYNC_HOLD_MAX (1U << 20) /* records: SYNC_KNOWN_NS of 300,000 a second, 72 MiB */

/* Takes a record (RECORD_SIZE bytes, valid during the call) that waits no longer. `lost`: the clocks were not good. */
typedef void (*sync_hold_give)(void *context, const void *record, bool lost);

struct sync_hold;

/*
 * Room for `records_per_s` of them for SYNC_KNOWN_NS, SYNC_HOLD_MAX at most; 0: it is not known how many will come, and
 * room is made as they do. NULL without memory. sync_hold_free() allows NULL, and gives nothing.
 */
struct sync_hold *sync_hold_new(uint64_t records_per_s, sync_hold_give give, void *context);
void sync_hold_free(struct sync_hold *hold);

/*
 * Takes a record that was complete at `at_ns` (CLOCK_MONOTONIC; not before what it tells of). Where there is no room,
 * the oldest one is given as good.
 */
void sync_hold_put(struct sync_hold *hold, const void *record, int64_t at_ns);

/* Gives what is known by now, at most `max` records. Returns how many wait on. */
size_t sync_hold_pass(struct sync_hold *hold, const struct sync_window *window, size_t max);

/* Gives the rest; what lies open as good. */
void sync_hold_flush(struct sync_hold *hold, const struct sync_window *window);

/* Given without being known, for want of room or time. */
uint64_t sync_hold_untold(const struct sync_hold *hold);

#endif

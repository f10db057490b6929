/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `receive --blame`: which interrupts and soft interrupts of this machine made late frames late. The CPU that
 * takes most frames is followed; a frame that comes later than usual (the median latency) has its history
 * there kept, from when it should have been stamped to when it was. The receiver's thread calls all of it.
 */
#ifndef ENGINE_RX_BLAME_H
#define ENGINE_RX_BLAME_H

#include <jansson.h>
#include <stdio.h>

#include "data/record.h"

struct rx_blame;

/*
 * `over_ns`: so much beyond the median is late; 0: what is beyond the P99.9 so far. NULL where there is no
 * blame, which is said with the reason. Needs CAP_BPF and CAP_PERFMON, the other functions nothing.
 */
struct rx_blame *rx_blame_open(int64_t over_ns);

/* Of the frames that were just taken from the ring; NULL is allowed here and below. */
void rx_blame_add(struct rx_blame *blame, const struct rx_record *records, size_t count);

/* All that had arrived is taken: keeps the history of the latest of them, if it was late. */
void rx_blame_drained(struct rx_blame *blame);

/* Once a second. `cpu`: that takes most frames, -1: not known. */
void rx_blame_tick(struct rx_blame *blame, int cpu);

/* The last tick, then nothing is followed any more. */
void rx_blame_end(struct rx_blame *blame);

void rx_blame_print(FILE *out, const struct rx_blame *blame);
json_t *rx_blame_json(const struct rx_blame *blame); /* NULL: there is none */

void rx_blame_close(struct rx_blame *blame);

#endif

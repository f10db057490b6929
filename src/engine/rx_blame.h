/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `receive --blame`: what held the CPU that takes most frames when late ones came. A frame that comes later
 * than usual (the median latency) has the time split from when it should have been stamped to when it was.
 *
 * At first only the usual is learnt, without blame. Then its programs are attached, and the same number of
 * frames tells by how much they delay one. The receiver's thread calls all of it.
 */
#ifndef ENGINE_RX_BLAME_H
#define ENGINE_RX_BLAME_H

#include <jansson.h>
#include <stdio.h>

#include "base/error.h"
#include "data/record.h"

struct rx_blame;

/*
 * `over_ns`: so much beyond the median is late; 0: what is beyond the P99.9 so far. NULL where there is no
 * blame, which is said with the reason. Needs CAP_BPF and CAP_PERFMON, the other functions nothing: a thread
 * of its own keeps these two until the programs are attached.
 */
struct rx_blame *rx_blame_open(int64_t over_ns);

/* Of the frames that were just taken from the ring; NULL is allowed here and below. */
void rx_blame_add(struct rx_blame *blame, const struct rx_record *records, size_t count);

/* All that had arrived is taken: looks at what ran while the late ones of them were due. */
void rx_blame_drained(struct rx_blame *blame);

/*
 * Once a second. `cpu`: that takes most frames, -1: not known. Returns 0, or -1 with the error: there will be
 * no blame, which is told once.
 */
int rx_blame_tick(struct rx_blame *blame, int cpu, struct error *err);

/* The last tick, then nothing is followed any more. */
void rx_blame_end(struct rx_blame *blame);

void rx_blame_print(FILE *out, const struct rx_blame *blame);
json_t *rx_blame_json(const struct rx_blame *blame); /* NULL: there is none */

void rx_blame_close(struct rx_blame *blame);

#endif

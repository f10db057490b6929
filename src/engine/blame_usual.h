/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What lateness is usual: the median and the P99.9 of those seen so far, followed by the cyclic thread itself, wake-up by
 * wake-up, since no other thread may get to run. No allocation, and no look at all buckets: a new value moves a rank by a
 * bucket or two. Pure.
 */
#ifndef ENGINE_BLAME_USUAL_H
#define ENGINE_BLAME_USUAL_H

#include <linux/types.h>
#include <stdint.h>

#include "bpf/bucket.h"

#define USUAL_BITS 4 /* percentiles to 1/16 of their value */

/* The lowest bucket above which lies no more than the 1/tail of all values. */
struct usual_rank {
	uint32_t bucket;
	uint64_t above; /* values above it */
};

/* Zeroed: nothing seen yet. */
struct usual {
	uint64_t count;
	struct usual_rank middle, top;
	uint64_t buckets[BUCKETS(USUAL_BITS)];
};

void usual_add(struct usual *usual, int64_t late_ns); /* negative counts as 0 */

/* 0 before the first value. */
int64_t usual_median(const struct usual *usual);

/*
 * Later than this is worth a look: more than USUAL_WORTH_NS beyond the median, and beyond the P99.9 from value
 * USUAL_SETTLED on, before which there is none.
 */
#define USUAL_SETTLED 1000
#define USUAL_WORTH_NS 20000
int64_t usual_threshold(const struct usual *usual);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A histogram of signed 64-bit values (ns) with exact count, minimum, maximum, mean and standard
 * deviation, and percentiles from log-linear buckets (bpf/bucket.h) that are at most 1/128 of their
 * value wide. A zeroed struct is an empty histogram; memory comes in rows of 128 buckets when a value
 * falls into them, so that an ordinary one takes a few KiB and no input makes it exceed 80 KiB.
 */
#ifndef DATA_HISTOGRAM_H
#define DATA_HISTOGRAM_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/bucket.h"

#define HISTOGRAM_BITS 7
#define HISTOGRAM_ROWS (BUCKETS_SIGNED(HISTOGRAM_BITS) >> HISTOGRAM_BITS)

struct histogram {
	uint64_t count;
	int64_t min, max; /* valid when count > 0 */
	uint64_t min_seq, max_seq; /* sequence number and stream of the first such extreme */
	uint16_t min_stream, max_stream;
	bool approximate; /* standard deviation from bucket middles: imported from the kernel */
	uint8_t bits; /* coarsest sub-bucket bits imported; 0: its own */
	uint64_t
		wild; /* values of 2^48 ns (3 days) or more: their squares are kept in `wild_squares` */
	double wild_squares;
	__int128 sum;
	unsigned __int128 squares; /* of the others, modulo 2^128 */
	uint64_t unbucketed; /* counted, but no memory for its row */
	uint64_t *rows[HISTOGRAM_ROWS];
};

/* Counts one value with the sequence number and stream it belongs to. */
void histogram_add(struct histogram *histogram, int64_t value, uint64_t seq, uint16_t stream);

/*
 * Takes the memory of all values of less than 2^HISTOGRAM_RESERVED_POWER ns (17 s) of either sign beforehand, so that
 * nothing is allocated while a run goes on: HISTOGRAM_RESERVED_BYTES. What is not to be had is left to histogram_add().
 */
#define HISTOGRAM_RESERVED_POWER 34
#define HISTOGRAM_RESERVED_BYTES \
	(2 * (HISTOGRAM_RESERVED_POWER - HISTOGRAM_BITS + 1) * (sizeof(uint64_t) << HISTOGRAM_BITS))
void histogram_reserve(struct histogram *histogram);

/* Adds what `from` holds. */
void histogram_merge(struct histogram *into, const struct histogram *from);

/* What the kernel side counted exactly beside its buckets. */
struct histogram_exact {
	int64_t min, max;
	__int128 sum;
	uint64_t min_seq, max_seq;
	uint16_t min_stream, max_stream;
};

/*
 * Adds an array of BUCKETS_SIGNED(bits) counts, as a BPF program keeps one for each CPU (call once a
 * CPU). `exact` may be NULL (then all comes from bucket middles). 1 <= bits <= HISTOGRAM_BITS.
 */
void histogram_import(struct histogram *histogram, const uint64_t *counts, unsigned int bits,
		      const struct histogram_exact *exact);

/* Mean and sample standard deviation (n - 1); 0 with too few values. */
double histogram_mean(const struct histogram *histogram);
double histogram_stddev(const struct histogram *histogram);

/*
 * The percentiles that are shown. `tail` is 1 / (1 - p): P99.9 has 1000. A percentile is known when at
 * least one value lies above it: count >= tail.
 */
struct percentile {
	const char *name; /* "P99.9" */
	const char *key; /* "p99_9" */
	uint64_t tail;
};

extern const struct percentile percentiles[];
extern const size_t percentile_count;

/*
 * The value of nearest rank, n - floor(n / tail), interpolated within its bucket and never outside
 * [min, max]. False when there are too few values for it.
 */
bool histogram_percentile(const struct histogram *histogram, uint64_t tail, int64_t *value);

/* Values from `low` to `high`, both inclusive. */
struct histogram_bucket {
	int64_t low, high;
	uint64_t count;
};

/* Walks over the non-empty buckets in ascending order; *cursor starts at 0. False at the end. */
bool histogram_next(const struct histogram *histogram, uint32_t *cursor,
		    struct histogram_bucket *bucket);

/* Empties it and keeps the memory. */
void histogram_reset(struct histogram *histogram);

/* Gives the rows back and zeroes it. */
void histogram_free(struct histogram *histogram);

/* The histogram at *slot, made when there is none yet; NULL without memory. */
struct histogram *histogram_at(struct histogram **slot);

#endif

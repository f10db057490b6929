// SPDX-License-Identifier: GPL-2.0-only
#include "data/histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROW_SIZE (1U << HISTOGRAM_BITS)
#define HALF BUCKETS(HISTOGRAM_BITS)
#define WILD (1LL << 48)

const struct percentile percentiles[] = {
	{ "P50", "p50", 2 },
	{ "P90", "p90", 10 },
	{ "P99", "p99", 100 },
	{ "P99.9", "p99_9", 1000 },
	{ "P99.99", "p99_99", 10000 },
	{ "P99.999", "p99_999", 100000 },
	{ "P99.9999", "p99_9999", 1000000 },
};
const size_t percentile_count = sizeof(percentiles) / sizeof(percentiles[0]);

/* NULL without memory. */
static uint64_t *row_at(struct histogram *h, uint32_t row)
{
	if (!h->rows[row])
		h->rows[row] = calloc(ROW_SIZE, sizeof(*h->rows[row]));
	return h->rows[row];
}

static void add_to_bucket(struct histogram *h, uint32_t index, uint64_t count)
{
	uint64_t *row = row_at(h, index >> HISTOGRAM_BITS);

	if (row)
		row[index & (ROW_SIZE - 1)] += count;
	else
		h->unbucketed += count;
}

/* Rows are smaller than a page, and each has its allocator's header: none of their pages is touched later only. */
void histogram_reserve(struct histogram *h)
{
	for (uint32_t i = 0; i <= HISTOGRAM_RESERVED_POWER - HISTOGRAM_BITS; i++)
		for (uint32_t half = 0; half < HISTOGRAM_ROWS; half += HISTOGRAM_ROWS / 2)
			row_at(h, half + i);
}

/* Most buckets are empty: how many of the next `left` of a row are, in steps of 1 or -1, before the first that is not. */
static uint32_t empty_buckets(const uint64_t *at, int step, uint32_t left)
{
	uint32_t empty = 0;

	for (; left - empty >= 4 && !(at[0] | at[step] | at[2 * step] | at[3 * step]);
	     at += 4 * step)
		empty += 4;
	for (; empty < left && !*at; at += step)
		empty++;
	return empty;
}

static void note_extremes(struct histogram *h, const struct histogram_exact *e)
{
	if (!h->count || e->min < h->min) {
		h->min = e->min;
		h->min_seq = e->min_seq;
		h->min_stream = e->min_stream;
	}
	if (!h->count || e->max > h->max) {
		h->max = e->max;
		h->max_seq = e->max_seq;
		h->max_stream = e->max_stream;
	}
}

void histogram_add(struct histogram *h, int64_t value, uint64_t seq, uint16_t stream)
{
	uint64_t *row;
	uint32_t index;

	if (!h->count || value < h->min) {
		h->min = value;
		h->min_seq = seq;
		h->min_stream = stream;
	}
	if (!h->count || value > h->max) {
		h->max = value;
		h->max_seq = seq;
		h->max_stream = stream;
	}
	h->count++;
	h->sum += value;
	if (value > -WILD && value < WILD) {
		h->squares += (unsigned __int128)((__int128)value * value);
	} else {
		h->wild++;
		h->wild_squares += (double)value * (double)value;
	}
	index = bucket_of_signed(value, HISTOGRAM_BITS);
	row = h->rows[index >> HISTOGRAM_BITS];
	if (row)
		row[index & (ROW_SIZE - 1)]++;
	else
		add_to_bucket(h, index, 1);
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
	struct histogram_exact e = {
		.min = from->min,
		.max = from->max,
		.min_seq = from->min_seq,
		.max_seq = from->max_seq,
		.min_stream = from->min_stream,
		.max_stream = from->max_stream,
	};

	if (!from->count)
		return;
	note_extremes(into, &e);
	into->count += from->count;
	into->sum += from->sum;
	into->squares += from->squares;
	into->wild += from->wild;
	into->wild_squares += from->wild_squares;
	into->unbucketed += from->unbucketed;
	into->approximate |= from->approximate;
	if (from->bits && (!into->bits || from->bits < into->bits))
		into->bits = from->bits;
	for (uint32_t row = 0; row < HISTOGRAM_ROWS; row++) {
		if (!from->rows[row])
			continue;
		for (uint32_t i = 0; i < ROW_SIZE; i++) {
			i += empty_buckets(&from->rows[row][i], 1, ROW_SIZE - i);
			if (i < ROW_SIZE)
				add_to_bucket(into, (row << HISTOGRAM_BITS) + i,
					      from->rows[row][i]);
		}
	}
}

void histogram_import(struct histogram *h, const uint64_t *counts, unsigned int bits,
		      const struct histogram_exact *exact)
{
	struct histogram_exact seen = { 0 };
	__int128 middle_sum = 0;
	uint64_t imported = 0;

	for (uint32_t i = 0; i < BUCKETS_SIGNED(bits); i++) {
		bool negative = i >= BUCKETS(bits);
		uint32_t index = negative ? i - BUCKETS(bits) : i;
		int64_t value;

		if (!counts[i])
			continue;
		value = (int64_t)(bucket_low(index, bits) +
				  (bucket_high(index, bits) - bucket_low(index, bits)) / 2);
		if (negative)
			value = -value;
		if (exact)
			value = value < exact->min   ? exact->min
				: value > exact->max ? exact->max
						     : value;
		if (!imported || value < seen.min)
			seen.min = value;
		if (!imported || value > seen.max)
			seen.max = value;
		imported += counts[i];
		middle_sum += (__int128)value * counts[i];
		if (value > -WILD && value < WILD) {
			h->squares += (unsigned __int128)((__int128)value * value) * counts[i];
		} else {
			h->wild += counts[i];
			h->wild_squares += (double)value * (double)value * (double)counts[i];
		}
		add_to_bucket(h, bucket_of_signed(value, HISTOGRAM_BITS), counts[i]);
	}
	if (!imported)
		return;
	note_extremes(h, exact ? exact : &seen);
	h->count += imported;
	h->sum += exact ? exact->sum : middle_sum;
	h->approximate = true;
	if (!h->bits || bits < h->bits)
		h->bits = (uint8_t)bits;
}

double histogram_mean(const struct histogram *h)
{
	return h->count ? (double)((long double)h->sum / (long double)h->count) : 0.0;
}

double histogram_stddev(const struct histogram *h)
{
	__int128 n = h->count, middle, rest;
	long double spread;

	if (h->count < 2)
		return 0.0;
	if (h->wild || h->approximate) {
		long double mean = (long double)h->sum / (long double)n;

		spread = (long double)h->squares + h->wild_squares - mean * (long double)h->sum;
		return spread > 0 ? (double)sqrtl(spread / (long double)(n - 1)) : 0.0;
	}
	/*
	 * Exact, whatever the mean: with m the whole part of the mean and r the rest of the division,
	 * the sum of (v - m)^2 is Q - m (S + r), which fits although its terms wrap around.
	 */
	middle = h->sum / n;
	rest = h->sum - middle * n;
	spread = (long double)(h->squares -
			       (unsigned __int128)middle * (unsigned __int128)(h->sum + rest));
	spread -= (long double)rest * (long double)rest / (long double)n;
	return spread > 0 ? (double)sqrtl(spread / (long double)(n - 1)) : 0.0;
}

bool histogram_next(const struct histogram *h, uint32_t *cursor, struct histogram_bucket *bucket)
{
	/* negative halves first, from the largest magnitude down, then the positive ones */
	while (*cursor < 2 * HALF) {
		bool negative = *cursor < HALF;
		uint32_t index = negative ? HALF - 1 - *cursor : *cursor - HALF;
		uint32_t place = negative ? HALF + index : index;
		const uint64_t *row = h->rows[place >> HISTOGRAM_BITS];
		uint32_t column = index & (ROW_SIZE - 1);
		uint32_t left = negative ? column + 1 : ROW_SIZE - column, empty = left;
		int64_t low, high;

		if (row)
			empty = empty_buckets(&row[column], negative ? -1 : 1, left);
		*cursor += empty;
		if (empty == left)
			continue;
		++*cursor;
		index = negative ? index - empty : index + empty;
		bucket->count = row[index & (ROW_SIZE - 1)];
		low = (int64_t)bucket_low(index, HISTOGRAM_BITS);
		high = index == HALF - 1 ? INT64_MAX : (int64_t)bucket_high(index, HISTOGRAM_BITS);
		bucket->low = negative ? (high == INT64_MAX ? INT64_MIN : -high) : low;
		bucket->high = negative ? -low : high;
		return true;
	}
	return false;
}

bool histogram_percentile(const struct histogram *h, uint64_t tail, int64_t *value)
{
	struct histogram_bucket bucket;
	uint64_t total, rank, before = 0;
	uint32_t cursor = 0;

	if (h->count < tail)
		return false;
	total = h->count - h->unbucketed;
	rank = total - total / tail;
	if (rank <= 1) {
		*value = h->min;
		return true;
	}
	while (histogram_next(h, &cursor, &bucket)) {
		if (before + bucket.count >= rank) {
			int64_t low = bucket.low > h->min ? bucket.low : h->min;
			int64_t high = bucket.high < h->max ? bucket.high : h->max;
			double share = ((double)(rank - before) - 0.5) / (double)bucket.count;

			/* an extreme outside its bucket: only by an import that is inconsistent */
			if (low > high)
				low = high;
			*value = low + (int64_t)(((double)high - (double)low) * share + 0.5);
			if (*value > high || *value < low)
				*value = high;
			return true;
		}
		before += bucket.count;
	}
	*value = h->max;
	return true;
}

void histogram_reset(struct histogram *h)
{
	uint64_t *rows[HISTOGRAM_ROWS];

	memcpy(rows, h->rows, sizeof(rows));
	memset(h, 0, sizeof(*h));
	memcpy(h->rows, rows, sizeof(rows));
	for (uint32_t i = 0; i < HISTOGRAM_ROWS; i++)
		if (h->rows[i])
			memset(h->rows[i], 0, ROW_SIZE * sizeof(*h->rows[i]));
}

void histogram_free(struct histogram *h)
{
	for (uint32_t i = 0; i < HISTOGRAM_ROWS; i++)
		free(h->rows[i]);
	memset(h, 0, sizeof(*h));
}

struct histogram *histogram_at(struct histogram **slot)
{
	if (!*slot)
		*slot = calloc(1, sizeof(**slot));
	return *slot;
}

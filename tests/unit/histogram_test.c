// SPDX-License-Identifier: GPL-2.0-only
#include "cmocka_all.h"

#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/histogram.h"

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t random_state = 88172645463325252ULL;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void percentiles_agree_with_sorting(void **state)
{
	enum {
		COUNT = 200000
	};
	int64_t *values = malloc(COUNT * sizeof(*values));
	struct histogram h = { 0 };
	long double sum = 0, squares = 0, mean;

	(void)state;
	for (size_t i = 0; i < COUNT; i++) {
		/* -5 us to 60 us with a tail up to 4 ms */
		values[i] = (int64_t)(next_random() % 65000) - 5000;
		if (next_random() % 1000 == 0)
			values[i] += (int64_t)(next_random() % 4000000);
		histogram_add(&h, values[i], i, 7);
		sum += values[i];
	}
	mean = sum / COUNT;
	for (size_t i = 0; i < COUNT; i++)
		squares += (values[i] - mean) * (values[i] - mean);
	qsort(values, COUNT, sizeof(*values), compare);
	assert_int_equal(h.count, COUNT);
	assert_int_equal(h.min, values[0]);
	assert_int_equal(h.max, values[COUNT - 1]);
	assert_true(fabs(histogram_mean(&h) - (double)mean) < 1e-6);
	assert_true(fabs(histogram_stddev(&h) / (double)sqrtl(squares / (COUNT - 1)) - 1) < 1e-12);
	for (size_t p = 0; p < percentile_count; p++) {
		uint64_t tail = percentiles[p].tail;
		int64_t value = INT64_MIN, exact = values[COUNT - COUNT / tail - 1];

		assert_int_equal(histogram_percentile(&h, tail, &value), COUNT >= tail);
		if (COUNT >= tail && llabs(value - exact) > llabs(exact) / 128 + 1)
			fail_msg("%s: %lld, exact %lld", percentiles[p].name, (long long)value,
				 (long long)exact);
	}
	histogram_free(&h);
	free(values);
}

static void small_values_are_exact(void **state)
{
	struct histogram h = { 0 };
	int64_t value;

	(void)state;
	for (int i = 1; i <= 100; i++)
		histogram_add(&h, i - 50, (uint64_t)i, 3);
	assert_true(histogram_percentile(&h, 2, &value));
	assert_int_equal(value, 0); /* the 50th of -49 ... 50 */
	assert_true(histogram_percentile(&h, 100, &value));
	assert_int_equal(value, 49);
	assert_false(histogram_percentile(&h, 1000, &value));
	assert_int_equal(h.min_seq, 1);
	assert_int_equal(h.max_seq, 100);
	assert_int_equal(h.max_stream, 3);
	/* known: variance of 100 consecutive integers with n - 1 is 841.666... */
	assert_true(fabs(histogram_stddev(&h) - sqrt(841.0 + 2.0 / 3)) < 1e-9);
	histogram_free(&h);
}

static void deviation_survives_a_huge_mean(void **state)
{
	struct histogram h = { 0 };

	(void)state;
	/* 37 s off with 1 ns of spread: 2 values of +-1 have a sample deviation of sqrt(2) */
	histogram_add(&h, 37000000001LL, 0, 0);
	histogram_add(&h, 36999999999LL, 1, 0);
	assert_true(fabs(histogram_mean(&h) - 37e9) < 1e-3);
	assert_true(fabs(histogram_stddev(&h) - sqrt(2)) < 1e-12);
	histogram_free(&h);
}

static void extremes_of_the_type_do_no_harm(void **state)
{
	struct histogram h = { 0 };
	struct histogram_bucket bucket;
	uint32_t cursor = 0;
	int64_t value;

	(void)state;
	histogram_add(&h, INT64_MIN, 1, 0);
	histogram_add(&h, INT64_MAX, 2, 0);
	histogram_add(&h, 0, 3, 0);
	assert_int_equal(h.min, INT64_MIN);
	assert_int_equal(h.max, INT64_MAX);
	assert_true(histogram_percentile(&h, 2, &value));
	assert_int_equal(value, 0);
	assert_true(fabs(histogram_stddev(&h) / 9.2233720368547758e18 - 1) < 1e-9);
	assert_true(histogram_next(&h, &cursor, &bucket));
	assert_int_equal(bucket.low, INT64_MIN);
	assert_true(histogram_next(&h, &cursor, &bucket));
	assert_int_equal(bucket.high, 0);
	assert_true(histogram_next(&h, &cursor, &bucket));
	assert_int_equal(bucket.high, INT64_MAX);
	assert_false(histogram_next(&h, &cursor, &bucket));
	histogram_free(&h);
}

static void merging_equals_adding(void **state)
{
	struct histogram parts[3] = { 0 }, merged = { 0 }, whole = { 0 };
	struct histogram_bucket a, b;
	uint32_t i = 0, j = 0;

	(void)state;
	for (uint64_t n = 0; n < 30000; n++) {
		int64_t value = (int64_t)(next_random() % 1000000) - 300000;

		histogram_add(&parts[n % 3], value, n, 1);
		histogram_add(&whole, value, n, 1);
	}
	for (int n = 2; n >= 0; n--)
		histogram_merge(&merged, &parts[n]);
	assert_int_equal(merged.count, whole.count);
	assert_int_equal(merged.min, whole.min);
	assert_int_equal(merged.max, whole.max);
	assert_true(histogram_mean(&merged) == histogram_mean(&whole));
	assert_true(histogram_stddev(&merged) == histogram_stddev(&whole));
	while (histogram_next(&whole, &i, &a)) {
		assert_true(histogram_next(&merged, &j, &b));
		assert_memory_equal(&a, &b, sizeof(a));
	}
	assert_false(histogram_next(&merged, &j, &b));
	for (int n = 0; n < 3; n++)
		histogram_free(&parts[n]);
	histogram_free(&merged);
	histogram_free(&whole);
}

static void kernel_counts_come_in(void **state)
{
	uint64_t *counts = calloc(BUCKETS_SIGNED(5), sizeof(*counts));
	struct histogram h = { 0 };
	struct histogram_exact exact = { .min = -40, .max = 100000, .max_seq = 9 };
	int64_t value;

	(void)state;
	for (int64_t v = -40; v <= 100000; v++) {
		counts[bucket_of_signed(v, 5)]++;
		exact.sum += v;
	}
	histogram_import(&h, counts, 5, &exact);
	assert_int_equal(h.count, 100041);
	assert_int_equal(h.min, -40);
	assert_int_equal(h.max, 100000);
	assert_int_equal(h.max_seq, 9);
	assert_true(fabs(histogram_mean(&h) - 49980) < 1e-6);
	assert_true(h.approximate);
	assert_int_equal(h.bits, 5);
	assert_true(histogram_percentile(&h, 100, &value));
	assert_true(llabs(value - 99000) <= 99000 / 32);
	/* uniform: (b - a) / sqrt(12), to the width of the buckets */
	assert_true(fabs(histogram_stddev(&h) / (100040 / sqrt(12)) - 1) < 0.01);
	histogram_free(&h);
	free(counts);
}

static void reset_empties(void **state)
{
	struct histogram h = { 0 };
	struct histogram_bucket bucket;
	uint32_t cursor = 0;
	int64_t value;

	(void)state;
	histogram_add(&h, 500, 1, 1);
	histogram_reset(&h);
	assert_int_equal(h.count, 0);
	assert_false(histogram_next(&h, &cursor, &bucket));
	assert_false(histogram_percentile(&h, 2, &value));
	histogram_add(&h, -1, 2, 1);
	histogram_add(&h, -1, 3, 1);
	assert_true(histogram_percentile(&h, 2, &value));
	assert_int_equal(value, -1);
	histogram_free(&h);
}

static void what_is_reserved_needs_no_more_memory(void **state)
{
	struct histogram h = { 0 };
	struct mallinfo2 before;

	(void)state;
	histogram_reserve(&h);
	before = mallinfo2();
	for (int64_t value = 1; value < 1LL << HISTOGRAM_RESERVED_POWER; value *= 2) {
		histogram_add(&h, value, 0, 0);
		histogram_add(&h, -value, 0, 0);
	}
	histogram_add(&h, (1LL << HISTOGRAM_RESERVED_POWER) - 1, 0, 0);
	assert_int_equal(mallinfo2().uordblks, before.uordblks);
	/* once */
	histogram_reserve(&h);
	assert_int_equal(mallinfo2().uordblks, before.uordblks);
	/* beyond it, as before */
	histogram_add(&h, 1LL << HISTOGRAM_RESERVED_POWER, 0, 0);
	assert_int_equal(h.unbucketed, 0);
	histogram_free(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percentiles_agree_with_sorting),
		cmocka_unit_test(small_values_are_exact),
		cmocka_unit_test(deviation_survives_a_huge_mean),
		cmocka_unit_test(extremes_of_the_type_do_no_harm),
		cmocka_unit_test(merging_equals_adding),
		cmocka_unit_test(kernel_counts_come_in),
		cmocka_unit_test(reset_empties),
		cmocka_unit_test(what_is_reserved_needs_no_more_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

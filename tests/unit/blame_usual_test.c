// SPDX-License-Identifier: GPL-2.0-only
#include "cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "engine/blame.h"
#include "engine/blame_usual.h"

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* The median and the P99.9 of all values so far, after each one, against a sorted copy of them. */
static void usual_lateness_is_followed(void **state)
{
	static int64_t seen[4000], sorted[4000];
	struct usual usual = { 0 };
	uint32_t random = 7;

	(void)state;
	assert_int_equal(usual_threshold(&usual), USUAL_WORTH_NS);
	for (size_t n = 0; n < 4000; n++) {
		int64_t median, top, expected;

		random = random * 1664525 + 1013904223;
		/* some are later by far, and all are later from the middle on */
		seen[n] = (int64_t)(random >> 20) + (n < 2000 ? 1000 : 90000);
		if (random >> 24 == 0)
			seen[n] += 1000000;
		usual_add(&usual, seen[n]);
		memcpy(sorted, seen, (n + 1) * sizeof(*sorted));
		qsort(sorted, n + 1, sizeof(*sorted), by_value);
		/* nearest rank: as many as the 1/tail lie above */
		median = sorted[n - (n + 1) / 2];
		top = sorted[n - (n + 1) / 1000];
		assert_in_range(usual_median(&usual), median, median + median / 16);
		expected = median + USUAL_WORTH_NS;
		if (n + 1 >= USUAL_SETTLED && top > expected)
			expected = top;
		assert_in_range(usual_threshold(&usual), expected, expected + expected / 16);
	}
	/* what is before its time is not late at all */
	usual = (struct usual){ 0 };
	usual_add(&usual, -5);
	assert_int_equal(usual_threshold(&usual), USUAL_WORTH_NS);
}

static void cost_is_held_against_the_noise(void **state)
{
	int64_t with[400], without[400];
	struct blame_tenth a, b;
	char text[BLAME_COST_TEXT];

	(void)state;
	for (int i = 0; i < 400; i++) {
		/* each quarter 1000 to 1099, in no order */
		without[i] = 1000 + i * 37 % 100;
		with[i] = without[i] + 25;
	}
	b = blame_tenth_of(without, 400);
	assert_int_equal(b.ns, 1010);
	assert_int_equal(b.noise_ns, 0);
	a = blame_tenth_of(with, 400);
	assert_string_equal(blame_cost_text(&a, &b, text),
			    "25 ns later: P10 1035 instead of 1010 ns");
	/* the last quarter is later by 30 for another reason */
	for (int i = 0; i < 400; i++)
		with[i] = 1025 + i * 37 % 100 + (i >= 300 ? 30 : 0);
	a = blame_tenth_of(with, 400);
	assert_int_equal(a.noise_ns, 30);
	assert_in_range(a.ns, 1035, 1065);
	a.ns = 1040;
	assert_int_equal(blame_cost_noise(&a, &b), 30);
	assert_string_equal(
		blame_cost_text(&a, &b, text),
		"30 ns later, no more than the noise of 30 ns: P10 1040 instead of 1010 ns");
	assert_string_equal(
		blame_cost_text(&b, &a, text),
		"0 ns later, no more than the noise of 30 ns: P10 1010 instead of 1040 ns");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usual_lateness_is_followed),
		cmocka_unit_test(cost_is_held_against_the_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

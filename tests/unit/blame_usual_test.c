// SPDX-License-Identifier: GPL-2.0-only
#include "cmocka_all.h"

#include <stdlib.h>
#include <string.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usual_lateness_is_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

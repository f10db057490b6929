// SPDX-License-Identifier: GPL-2.0-only
#include "cmocka_all.h"

#include "data/metrics.h"
#include "report/analysis.h"

static void add(struct wake_metrics *m, int64_t seq, int64_t expected, int64_t late)
{
	struct wake_record record = { .seq = seq, .expected = expected, .wake = expected + late };

	wake_metrics_add(m, &record);
}

/* A wake-up that was slept through is a miss, though it has no latency. */
static void skipped_wakeups_count_as_missed(void **state)
{
	struct wake_metrics m = { .deadline_ns = 100 };
	struct analysis analysis = { .wake = &m };
	struct verdict verdict;

	(void)state;
	add(&m, 0, 1000, 50);
	add(&m, 1, 2000, 3100); /* late, by three cycles */
	add(&m, 5, 6000, 99);
	add(&m, 6, 7000, 100);
	assert_int_equal(m.latency.count, 4);
	assert_int_equal(m.late, 1);
	assert_int_equal(m.skipped, 3);
	verdict = analysis_verdict(&analysis);
	assert_int_equal(verdict.due, 7);
	assert_int_equal(verdict.missed, 4);
	assert_false(verdict.met);
	/* numbers that go back are no gap */
	add(&m, 0, 9000, 1);
	assert_int_equal(m.skipped, 3);
	add(&m, INT64_MAX, 9000, 1);
	add(&m, -5, 9000, 1);
	add(&m, 3, 9000, 1);
	assert_int_equal(m.latency.count, 8);
	wake_metrics_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(skipped_wakeups_count_as_missed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

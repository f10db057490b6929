// SPDX-License-Identifier: GPL-2.0-only
#include "cmocka_all.h"

#include <math.h>

#include "data/stability.h"
#include "data/sync_metrics.h"

/* The nine frequency values of NIST SP 1065's test suite, 12.4, summed up to phase. */
static const int64_t nist_phase[] = { 0, 892, 1701, 2524, 3322, 3993, 4637, 5520, 6423, 7100 };

#define assert_close(value, expected, relative) \
	assert_true(fabs((value) / (expected)-1.0) < (relative))

static void the_nist_test_suite(void **state)
{
	(void)state;
	assert_close(adev(nist_phase, 10, 1, 1.0), 91.22945e-9, 1e-7);
	assert_close(adev(nist_phase, 10, 2, 1.0), 85.95287e-9, 1e-7);
	assert_close(tdev_ns(nist_phase, 10, 1), 52.67135, 1e-7);
	assert_close(tdev_ns(nist_phase, 10, 2), 86.35831, 1e-7);
}

static double naive_mtie(const int64_t *x, size_t count, size_t n)
{
	double most = -1;

	for (size_t k = 0; k + n < count; k++) {
		int64_t high = x[k], low = x[k];

		for (size_t i = k; i <= k + n; i++) {
			high = x[i] > high ? x[i] : high;
			low = x[i] < low ? x[i] : low;
		}
		if ((double)(high - low) > most)
			most = (double)(high - low);
	}
	return most;
}

static double naive_tdev(const int64_t *x, size_t count, size_t n)
{
	double sum = 0;

	for (size_t j = 0; j + 3 * n <= count; j++) {
		double inner = 0;

		for (size_t i = j; i < j + n; i++)
			inner += (double)(x[i + 2 * n] - 2 * x[i + n] + x[i]);
		sum += inner * inner;
	}
	return sqrt(sum / (6.0 * (double)(n * n) * (double)(count - 3 * n + 1)));
}

static void sliding_agrees_with_the_definitions(void **state)
{
	int64_t x[300];
	uint64_t random = 42;

	(void)state;
	for (size_t i = 0; i < 300; i++) {
		random = random * 6364136223846793005ULL + 1442695040888963407ULL;
		x[i] = (int64_t)(random >> 54) + (int64_t)(i * i / 100);
	}
	for (size_t n = 1; n < 300; n++)
		assert_true(mtie_ns(x, 300, n) == naive_mtie(x, 300, n));
	for (size_t n = 1; n <= 100; n++)
		assert_close(tdev_ns(x, 300, n), naive_tdev(x, 300, n), 1e-12);
}

static void too_few_values_give_none(void **state)
{
	struct stability rows[8];

	(void)state;
	assert_true(mtie_ns(nist_phase, 1, 1) < 0);
	assert_true(mtie_ns(nist_phase, 10, 10) < 0);
	assert_true(tdev_ns(nist_phase, 10, 4) < 0);
	assert_true(adev(nist_phase, 10, 5, 1.0) < 0);
	assert_true(adev(nist_phase, 9, 4, 1.0) > 0);
	assert_int_equal(stability_table(nist_phase, 10, 1.0, rows, 8), 4); /* 1 2 4 8 */
	assert_true(rows[3].mtie_ns == 6423);
	assert_true(rows[3].tdev_ns < 0);
	assert_int_equal(stability_table(nist_phase, 0, 1.0, rows, 8), 0);
}

static struct sync_record sync_at(int64_t second, int64_t offset)
{
	return (struct sync_record){
		.time = second * 1000000000,
		.master_offset = offset,
		.phc_offset = -3 * offset,
		.phc_window = 1001,
		.rx_stream = RECORD_STREAM_SYNC,
		.stream = RECORD_STREAM_SYNC,
		.status = SYNC_HAVE_MASTER | SYNC_HAVE_PHC | SYNC_GOOD,
	};
}

static void gaps_are_left_out_of_the_table(void **state)
{
	struct stability rows[STABILITY_ROWS];
	struct sync_metrics m = { 0 };
	double interval_s;
	size_t used;

	(void)state;
	for (int64_t i = 0; i < 5; i++) {
		struct sync_record r = sync_at(i, 1000);

		r.status &= (uint16_t)~SYNC_GOOD;
		sync_metrics_add(&m, &r);
	}
	/* the time steps, then ten values of the test suite */
	for (int64_t i = 0; i < 10; i++) {
		struct sync_record r = sync_at(100 + i, nist_phase[i]);

		sync_metrics_add(&m, &r);
	}
	assert_int_equal(m.records, 15);
	assert_int_equal(m.not_good, 5);
	assert_int_equal(sync_stability(&m.master, rows, &used, &interval_s), 4);
	assert_int_equal(used, 10);
	assert_true(interval_s == 1.0);
	assert_close(rows[1].adev, 85.95287e-9, 1e-7);
	sync_metrics_free(&m);
}

static void rms_and_uncertainty(void **state)
{
	static const int64_t offsets[] = { 3, -4, 0, 5 };
	struct sync_metrics m = { 0 };

	(void)state;
	assert_int_equal(clock_uncertainty_ns(&m, SOURCE_HW), -1);
	for (int64_t i = 0; i < 4; i++) {
		struct sync_record r = sync_at(i, offsets[i]);

		sync_metrics_add(&m, &r);
	}
	assert_close(sync_rms_ns(&m.master.offsets), sqrt(50.0 / 4), 1e-12);
	assert_int_equal(clock_uncertainty_ns(&m, SOURCE_HW), 5);
	assert_int_equal(clock_uncertainty_ns(&m, SOURCE_XDP), 5 + 15 + 500);
	sync_metrics_free(&m);
}

/* A stepped clock does not make the frames uncertain that were sent before and after: those in between are marked. */
static void a_loss_whose_frames_are_marked_adds_no_uncertainty(void **state)
{
	struct sync_metrics m = { 0 };
	struct sync_record lost = sync_at(1, 3000000), good = sync_at(0, 3);

	(void)state;
	lost.status = SYNC_HAVE_MASTER | SYNC_HAVE_PHC | SYNC_MARKED;
	sync_metrics_add(&m, &lost);
	/* all that there is */
	assert_int_equal(clock_uncertainty_ns(&m, SOURCE_HW), 3000000);
	sync_metrics_add(&m, &good);
	assert_int_equal(clock_uncertainty_ns(&m, SOURCE_HW), 3);
	assert_int_equal(clock_uncertainty_ns(&m, SOURCE_XDP), 3 + 9 + 500);
	assert_int_equal(m.master.offsets.max, 3000000);
	/* --sync ignore marks nothing: its frames count, and so does the error */
	lost.status &= (uint16_t)~SYNC_MARKED;
	sync_metrics_add(&m, &lost);
	assert_int_equal(clock_uncertainty_ns(&m, SOURCE_HW), 3000000);
	sync_metrics_free(&m);
}

static void a_grandmaster_is_right_by_definition(void **state)
{
	struct sync_metrics m = { 0 };
	struct sync_record r = sync_at(0, 3);

	(void)state;
	r.status = SYNC_GOOD | SYNC_HAVE_PHC;
	sync_metrics_add(&m, &r);
	/* a PHC beside a system clock that follow nobody are both off by nobody knows what */
	assert_int_equal(clock_uncertainty_ns(&m, SOURCE_HW), -1);
	assert_int_equal(clock_uncertainty_ns(&m, SOURCE_XDP), -1);
	assert_false(clock_is_master(&m));
	r.status |= SYNC_MASTER;
	sync_metrics_add(&m, &r);
	assert_int_equal(clock_uncertainty_ns(&m, SOURCE_HW), 0);
	assert_int_equal(clock_uncertainty_ns(&m, SOURCE_XDP), 9 + 500);
	assert_true(clock_is_master(&m));
	sync_metrics_free(&m);
	/* also where it was out of sync meanwhile */
	m = (struct sync_metrics){ 0 };
	r.status = SYNC_MASTER | SYNC_MARKED;
	sync_metrics_add(&m, &r);
	assert_true(clock_is_master(&m));
	sync_metrics_free(&m);
}

static void hostile_times_do_no_harm(void **state)
{
	static const int64_t times[] = { INT64_MIN, INT64_MAX, 0, INT64_MIN, -1, INT64_MAX };
	struct stability rows[STABILITY_ROWS];
	struct sync_metrics m = { 0 };
	double interval_s;
	size_t used;

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		struct sync_record r = sync_at(0, 0);

		r.time = times[i];
		r.master_offset = times[5 - i];
		r.phc_offset = INT64_MIN;
		r.phc_window = INT64_MAX;
		sync_metrics_add(&m, &r);
	}
	sync_stability(&m.master, rows, &used, &interval_s);
	assert_int_equal(clock_uncertainty_ns(&m, SOURCE_XDP), INT64_MAX);
	sync_metrics_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_nist_test_suite),
		cmocka_unit_test(sliding_agrees_with_the_definitions),
		cmocka_unit_test(too_few_values_give_none),
		cmocka_unit_test(gaps_are_left_out_of_the_table),
		cmocka_unit_test(rms_and_uncertainty),
		cmocka_unit_test(a_loss_whose_frames_are_marked_adds_no_uncertainty),
		cmocka_unit_test(a_grandmaster_is_right_by_definition),
		cmocka_unit_test(hostile_times_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

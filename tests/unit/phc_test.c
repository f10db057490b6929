// SPDX-License-Identifier: GPL-2.0-only
/* PHC readings and their arithmetic, and how offsets are shown over time. */
#include "cmocka_all.h"

#include <string.h>

#include "base/units.h"
#include "ptp/phc.h"
#include "ptp/sync_text.h"

static void the_tightest_window_wins(void **state)
{
	const int64_t triples[][3] = {
		{ 1000, 6000, 2000 },
		{ 3000, 8100, 3200 },
		{ 5000, 9000, 5900 },
		{ 9000, 1, 8000 },
	};
	int64_t offset, window;

	(void)state;
	assert_int_equal(phc_best_triple(triples, 4, &offset, &window), 1);
	assert_int_equal(window, 200);
	assert_int_equal(offset, 5000);
	/* the system clock was stepped back within each: none is of use */
	assert_int_equal(phc_best_triple(triples + 3, 1, &offset, &window), -1);
	assert_int_equal(phc_best_triple(triples, 0, &offset, &window), -1);
}

static void frequency_and_its_uncertainty(void **state)
{
	const struct phc_point from = { 1000000000, 500, 100 };
	struct phc_point to = { 2000000000, 1000000500 + 12345, 300 };
	int64_t uncertainty;

	(void)state;
	assert_int_equal(phc_frequency_ppb(&from, &to, &uncertainty), 12345);
	assert_int_equal(uncertainty, 201); /* (100 + 300) / 2 ns in a second, rounded up */
	to.phc_ns = INT64_MAX; /* stepped far away */
	assert_int_equal(phc_frequency_ppb(&from, &to, &uncertainty), 1000000000000000);
	to.raw_ns = from.raw_ns;
	assert_int_equal(phc_frequency_ppb(&from, &to, &uncertainty), 0);
	assert_int_equal(uncertainty, INT64_MAX);
}

static void no_such_interface_is_the_users_error(void **state)
{
	struct error err = ERROR_INIT;
	int index;

	(void)state;
	assert_int_equal(phc_index_of("nosuch0", &index, NULL, &err), -1);
	assert_int_equal(err.status, STATUS_INPUT);
	assert_int_equal(phc_index_of("", &index, NULL, &err), -1);
	assert_int_equal(err.status, STATUS_INPUT);
	assert_int_equal(phc_index_of("a-name-that-is-too-long", &index, NULL, &err), -1);
	assert_int_equal(err.status, STATUS_INPUT);
}

static void the_sparkline_shows_the_last_values(void **state)
{
	static struct sync_course course;
	char text[3 * 4 + 1];

	(void)state;
	sync_course_sparkline(&course, 4, text);
	assert_string_equal(text, "");
	for (int i = 0; i < 100; i++)
		sync_course_add(&course, 1000000);
	sync_course_add(&course, 0);
	sync_course_add(&course, -70);
	sync_course_add(&course, 30);
	sync_course_add(&course, 10);
	sync_course_sparkline(&course, 4, text);
	assert_string_equal(text, "▁█▄▂");
	sync_course_free(&course);
}

static void the_line_of_a_second(void **state)
{
	static struct sync_snapshot s;
	static struct sync_report report;
	static struct sync_course master, phc;
	const struct sync_bars bars = { 0 };
	char text[512];

	(void)state;
	memset(&s, 0, sizeof(s));
	s.have_default = s.have_time_status = s.time_status.gm_present = true;
	s.port_count = 1;
	s.ports[0].ds.state = PORT_SLAVE;
	s.phc_index = -1;
	sync_course_add(&master, -100);
	sync_course_add(&master, 50);
	sync_judge(&s, &bars, &report);
	sync_watch_line(&s, &report, &master, &phc, text, sizeof(text));
	assert_non_null(strstr(text, "SLAVE"));
	assert_non_null(strstr(text, "master +50 ns (min -100 mean -25 max +50) █▅"));
	assert_null(strstr(text, "PHC-TAI"));
	/* cut, never beyond its end */
	for (size_t size = 1; size < 100; size++) {
		memset(text, 'x', sizeof(text));
		sync_watch_line(&s, &report, &master, &phc, text, size);
		assert_true(strlen(text) < size);
		assert_int_equal(text[size], 'x');
	}
	sync_course_free(&master);
	sync_course_free(&phc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_tightest_window_wins),
		cmocka_unit_test(frequency_and_its_uncertainty),
		cmocka_unit_test(no_such_interface_is_the_users_error),
		cmocka_unit_test(the_sparkline_shows_the_last_values),
		cmocka_unit_test(the_line_of_a_second),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
#include "cmocka_all.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "report/live.h"

static void a_counted_run_shows_progress_and_time_left(void **state)
{
	const struct live_counter counters[] = { { "sent", 2500 }, { "lost", 3 } };
	struct histogram h = { 0 };
	const struct live_figure figures[] = { { "latency", SOURCE_XDP, &h } };
	const struct live_view view = {
		.cycle_ns = 250000,
		.elapsed_ns = 15000000000,
		.done = 2500,
		.total = 10000,
		.counters = counters,
		.counter_count = 2,
		.figures = figures,
		.figure_count = 1,
	};
	char text[256];

	(void)state;
	for (int i = 1; i <= 100; i++)
		histogram_add(&h, 100 * i, 0, 0);
	live_format(&view, true, 0, text, sizeof(text));
	assert_string_equal(text, "[#####---------------]  25% 0:45 left  cycle 250us  sent 2500  "
				  "lost 3  latency(xdp) P50 5.01us P99 9.89us max 10us");
	live_format(&view, false, 0, text, sizeof(text));
	assert_string_equal(text,
			    "0:15 25% 0:45 left  cycle 250us  sent 2500  lost 3  latency(xdp) "
			    "P50 5.01us P99 9.89us max 10us");
	histogram_free(&h);
}

static void time_left_is_rounded(void **state)
{
	const struct live_view view = { .elapsed_ns = 1000200000, .duration_ns = 2000000000 };
	char text[256];

	(void)state;
	live_format(&view, false, 0, text, sizeof(text));
	assert_string_equal(text, "0:01 50% 0:01 left");
}

/* On a terminal of 80 columns, and on narrower ones, what is measured is seen, and no number is cut. */
static void what_does_not_fit_is_left_out(void **state)
{
	const struct live_counter counters[] = { { "sent", 250000 }, { "skipped", 136 } };
	struct histogram h = { 0 };
	const struct live_figure figures[] = { { "wake-up", SOURCE_USER, &h },
					       { "launch error", SOURCE_SW, &h } };
	const struct live_view view = {
		.cycle_ns = 250000,
		.elapsed_ns = 15000000000,
		.done = 2500,
		.total = 10000,
		.counters = counters,
		.counter_count = 2,
		.figures = figures,
		.figure_count = 2,
	};
	static const struct {
		size_t width;
		const char *text;
	} cases[] = {
		{ 130, "[##------]  25% 0:45 left  sent 250000  skipped 136  wake-up(user) P99 "
		       "9.9us max 10us  launch error(sw) P99 9.9us max 10us" },
		{ 110, "[##------]  25% 0:45 left  sent 250000  skipped 136  wake-up(user) P50 5us "
		       "P99 9.9us P99.9 9.99us max 10us" },
		{ 90, "[##------]  25% 0:45 left  sent 250000  skipped 136  wake-up(user) P99 "
		      "9.9us max 10us" },
		{ 79,
		  " 25% 0:45 left  sent 250000  skipped 136  wake-up(user) P99 9.9us max 10us" },
		{ 71, " 25% 0:45 left  sent 250000  skipped 136  wake-up(user) P99 9.9us max" },
		{ 28, " 25% 0:45 left  sent 250000" },
		{ 26, " 25% 0:45 left  sent" },
		{ 15, " 25% 0:45 left" },
		{ 3, "" },
	};
	char text[256];

	(void)state;
	for (int i = 1; i <= 40000; i++)
		histogram_add(&h, i / 4, 0, 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		live_format(&view, true, cases[i].width, text, sizeof(text));
		assert_string_equal(text, cases[i].text);
	}
	histogram_free(&h);
}

static void an_endless_run_shows_the_time(void **state)
{
	struct live_view view = { .elapsed_ns = 3723000000000 };
	char text[64];

	(void)state;
	live_format(&view, true, 0, text, sizeof(text));
	assert_string_equal(text, "1:02:03");
	/* past the end: no more than all of it */
	view.duration_ns = 1000000000;
	live_format(&view, true, 0, text, sizeof(text));
	assert_string_equal(text, "[####################] 100% 0:00 left");
}

static void a_short_buffer_is_not_overrun(void **state)
{
	const struct live_counter counters[] = { { "a name that is rather long", UINT64_MAX } };
	const struct live_view view = { .counters = counters, .counter_count = 1 };
	char text[16];

	(void)state;
	memset(text, 'x', sizeof(text));
	live_format(&view, true, 0, text, 10);
	assert_int_equal(strlen(text), 9);
	assert_int_equal(text[10], 'x');
}

static void a_reader_that_has_stopped_is_not_waited_for(void **state)
{
	const struct live_view view = { .elapsed_ns = 1000000000 };
	static char fill[65536], text[65536 + 16];
	struct live live;
	int fds[2];
	ssize_t size;
	FILE *out;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	out = fdopen(fds[1], "w");
	assert_non_null(out);
	live_init(&live, out);
	fcntl(fds[1], F_SETFL, O_NONBLOCK);
	while (write(fds[1], fill, sizeof(fill)) > 0)
		;
	fcntl(fds[1], F_SETFL, 0);
	alarm(10); /* where it waits, for ever */
	live_show(&live, &view);
	alarm(0);
	/* what was read makes room again */
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	while (read(fds[0], fill, sizeof(fill)) > 0)
		;
	live_show(&live, &view);
	size = read(fds[0], text, sizeof(text) - 1);
	assert_int_equal(size, 5);
	text[size] = '\0';
	assert_string_equal(text, "0:01\n");
	fclose(out);
	close(fds[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_counted_run_shows_progress_and_time_left),
		cmocka_unit_test(time_left_is_rounded),
		cmocka_unit_test(what_does_not_fit_is_left_out),
		cmocka_unit_test(an_endless_run_shows_the_time),
		cmocka_unit_test(a_short_buffer_is_not_overrun),
		cmocka_unit_test(a_reader_that_has_stopped_is_not_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/* The measuring loop in simulated time: what is late, what is slept through, when it ends. */
#include "cmocka_all.h"

#include <string.h>
#include <time.h>

#include "base/units.h"
#include "engine/latency.h"

#define TAI_OFFSET (1000 * NSEC_PER_SEC)
#define RECORDS_MAX 64

/* A clock that moves only while it is slept by. */
struct simulation {
	struct wake_clock clock;
	int64_t now;
	int sleeps;
	int late_sleep; /* the sleep that takes `late_ns` longer than the others */
	int64_t late_ns;
};

static int64_t simulated_tai(void *context)
{
	return ((struct simulation *)context)->now + TAI_OFFSET;
}

static int64_t simulated_monotonic(void *context)
{
	return ((struct simulation *)context)->now;
}

static void simulated_sleep(void *context, int64_t until)
{
	struct simulation *s = context;

	s->now = until + 5000 + (s->sleeps == s->late_sleep ? s->late_ns : 0);
	s->sleeps++;
}

static const struct wake_clock *simulate(void *context, const struct wake_clock *inner)
{
	struct simulation *s = context;

	(void)inner;
	s->clock = (struct wake_clock){ simulated_tai, simulated_monotonic, simulated_sleep, s };
	return &s->clock;
}

struct taken {
	struct wake_record records[RECORDS_MAX];
	size_t count;
};

static void take(void *context, const struct wake_record *record)
{
	struct taken *taken = context;

	if (taken->count < RECORDS_MAX)
		taken->records[taken->count++] = *record;
}

static void measure(struct simulation *simulation, struct taken *taken, uint64_t cycles)
{
	const struct latency_settings settings = {
		.cycle_ns = NSEC_PER_MSEC,
		.cycles = cycles,
		.realtime = { .policy = REALTIME_OTHER, .cpu = REALTIME_CPU_NONE },
		.wrap = simulate,
		.wrap_context = simulation,
	};
	const struct timespec pause = { .tv_nsec = NSEC_PER_MSEC };
	struct latency *latency;
	struct error err = ERROR_INIT;

	memset(taken, 0, sizeof(*taken));
	assert_int_equal(latency_start(&latency, &settings, &err), 0);
	assert_true(latency_tid(latency) > 0);
	while (latency_collect(latency, take, taken))
		nanosleep(&pause, NULL);
	latency_collect(latency, take, taken);
	latency_free(latency);
}

static void each_wakeup_is_measured(void **state)
{
	struct simulation simulation = { .now = 123456, .late_sleep = -1 };
	struct taken taken;

	(void)state;
	measure(&simulation, &taken, 20);
	assert_int_equal(taken.count, 20);
	for (size_t i = 0; i < taken.count; i++) {
		assert_int_equal(taken.records[i].seq, i);
		assert_int_equal(taken.records[i].wake - taken.records[i].expected, 5000);
		if (i)
			assert_int_equal(taken.records[i].expected - taken.records[i - 1].expected,
					 NSEC_PER_MSEC);
	}
}

static void what_was_slept_through_leaves_a_gap(void **state)
{
	struct simulation simulation = { .now = 123456,
					 .late_sleep = 3,
					 .late_ns = 2500 * NSEC_PER_USEC };
	static const int64_t seqs[] = { 0, 1, 2, 3, 6, 7, 8, 9 };
	struct taken taken;

	(void)state;
	measure(&simulation, &taken, 10);
	assert_int_equal(taken.count, 8);
	for (size_t i = 0; i < taken.count; i++) {
		assert_int_equal(taken.records[i].seq, seqs[i]);
		assert_int_equal(taken.records[i].wake - taken.records[i].expected,
				 seqs[i] == 3 ? 2505000 : 5000);
	}
}

static void names_of_timers(void **state)
{
	(void)state;
	for (int i = 0; i < LATENCY_TIMERS; i++)
		assert_int_equal(latency_timer_find(latency_timer_name((enum latency_timer)i)), i);
	assert_int_equal(latency_timer_find("sundial"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_wakeup_is_measured),
		cmocka_unit_test(what_was_slept_through_leaves_a_gap),
		cmocka_unit_test(names_of_timers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

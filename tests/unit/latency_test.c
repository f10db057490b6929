// SPDX-License-Identifier: GPL-2.0-only
/* The measuring loop in simulated time: what is late, what is slept through, when it ends. */
#include "cmocka_all.h"

#include <string.h>
#include <time.h>

#include "base/units.h"
#include "engine/latency.h"

#define TAI_OFFSET (1000 * NSEC_PER_SEC)
#define RECORDS_MAX 2048

/* A clock that moves only while it is slept by. */
struct simulation {
	struct wake_clock clock;
	int64_t now;
	int64_t late_from; /* the first sleep until then or later takes `late_ns` more; 0: none does */
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

	s->now = until + 5000;
	if (s->late_from && until >= s->late_from) {
		s->now += s->late_ns;
		s->late_from = 0;
	}
}

static const struct wake_clock *simulate(void *context, const struct wake_clock *inner)
{
	struct simulation *s = context;

	(void)inner;
	s->clock = (struct wake_clock){ simulated_tai, simulated_monotonic, simulated_sleep, s,
					NULL };
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

static void measure_until(struct simulation *simulation, struct taken *taken, uint64_t cycles,
			  int64_t stop_over_ns)
{
	const struct latency_settings settings = {
		.cycle_ns = NSEC_PER_MSEC,
		.cycles = cycles,
		.stop_over_ns = stop_over_ns,
		.realtime = { .policy = REALTIME_OTHER, .cpu = REALTIME_CPU_NONE },
		.wrap = simulate,
		.wrap_context = simulation,
	};
	const struct timespec pause = { .tv_nsec = NSEC_PER_MSEC };
	struct latency *latency;
	struct error err = ERROR_INIT;

	memset(taken, 0, sizeof(*taken));
	assert_int_equal(latency_start(&latency, &settings, &err), 0);
	while (latency_collect(latency, take, taken))
		nanosleep(&pause, NULL);
	latency_collect(latency, take, taken);
	latency_free(latency);
}

static void measure(struct simulation *simulation, struct taken *taken, uint64_t cycles)
{
	measure_until(simulation, taken, cycles, 0);
}

static void each_wakeup_is_measured(void **state)
{
	struct simulation simulation = { .now = 123456 };
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
					 .late_from = NSEC_PER_SEC,
					 .late_ns = 2500 * NSEC_PER_USEC };
	struct taken taken;
	int gaps = 0;

	(void)state;
	/* the loop warms up before it begins, so the late one lies somewhere in the middle */
	measure(&simulation, &taken, 1500);
	for (size_t i = 0; i < taken.count; i++) {
		bool late = i && taken.records[i].wake > taken.records[i].expected + 5000;

		if (late) {
			assert_int_equal(taken.records[i].wake - taken.records[i].expected,
					 2505000);
			assert_true(i + 1 < taken.count);
			assert_int_equal(taken.records[i + 1].seq, taken.records[i].seq + 3);
			gaps++;
		} else if (i + 1 < taken.count) {
			assert_int_equal(taken.records[i + 1].seq, taken.records[i].seq + 1);
		}
	}
	assert_int_equal(gaps, 1);
	assert_int_equal(taken.count, 1498);
}

/* The loop does it by itself: where it spins on the only CPU nobody else gets to run. */
static void ends_at_the_first_offender(void **state)
{
	struct simulation simulation = { .now = 123456,
					 .late_from = NSEC_PER_SEC,
					 .late_ns = 200 * NSEC_PER_USEC };
	struct taken taken;

	(void)state;
	measure_until(&simulation, &taken, 1500, 205000);
	assert_int_equal(taken.count, 1500);
	simulation =
		(struct simulation){ .now = 123456, .late_from = NSEC_PER_SEC, .late_ns = 200001 };
	measure_until(&simulation, &taken, 1500, 205000);
	assert_in_range(taken.count, 900, 1100);
	for (size_t i = 0; i < taken.count; i++)
		assert_int_equal(taken.records[i].wake - taken.records[i].expected,
				 i + 1 < taken.count ? 5000 : 205001);
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
		cmocka_unit_test(ends_at_the_first_offender),
		cmocka_unit_test(names_of_timers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

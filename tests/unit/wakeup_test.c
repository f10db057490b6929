// SPDX-License-Identifier: GPL-2.0-only
#include "cmocka_all.h"

#include <string.h>

#include "host/wakeup.h"

/* A simulated machine: reading a clock takes 20 ns, a sleep ends `late` ns late. */
struct machine {
	int64_t monotonic, offset, late;
	int64_t step_at, step; /* when monotonic reaches step_at, the clock is stepped */
	unsigned sleeps;
	atomic_uint stop;
	int64_t stop_at;
};

static void pass(struct machine *machine, int64_t ns)
{
	machine->monotonic += ns;
	if (machine->step && machine->monotonic >= machine->step_at) {
		machine->offset += machine->step;
		machine->step = 0;
	}
	if (machine->stop_at && machine->monotonic >= machine->stop_at)
		machine->stop = 1;
}

static int64_t tai(void *context)
{
	struct machine *machine = context;

	pass(machine, 20);
	return machine->monotonic + machine->offset;
}

static int64_t monotonic(void *context)
{
	struct machine *machine = context;

	pass(machine, 20);
	return machine->monotonic;
}

static void sleep_until(void *context, int64_t until)
{
	struct machine *machine = context;

	machine->sleeps++;
	if (until + machine->late > machine->monotonic)
		pass(machine, until + machine->late - machine->monotonic);
}

#define HOUR 3600000000000LL
#define START 1790000000000000000LL

static struct wake_clock clock_of(struct machine *machine)
{
	return (struct wake_clock){ tai, monotonic, sleep_until, machine, NULL };
}

static void wakes_at_its_time_with_one_sleep(void **state)
{
	struct machine machine = { .monotonic = 1000, .offset = START, .late = 3000 };
	struct wake_clock clock = clock_of(&machine);
	struct waker waker;
	int64_t now;

	(void)state;
	waker_init(&waker, &clock, 0, &machine.stop);
	assert_true(waker.offset_low_ns <= START && START <= waker.offset_high_ns);
	for (int64_t k = 1; k <= 1000; k++) {
		int64_t until = START + k * 250000;

		assert_int_equal(waker_until(&waker, until, &now), WAKE_ON_TIME);
		/* late as the machine is, plus the reading and the interval's width */
		assert_in_range(now - until, 3000, 3200);
	}
	assert_int_equal(machine.sleeps, 1000);
	/* in the past: at once, without a sleep */
	assert_int_equal(waker_until(&waker, START, &now), WAKE_ON_TIME);
	assert_int_equal(machine.sleeps, 1000);
}

static void spins_the_last_part(void **state)
{
	struct machine machine = { .monotonic = 1000, .offset = START, .late = 3000 };
	struct wake_clock clock = clock_of(&machine);
	struct waker waker;
	int64_t now;

	(void)state;
	waker_init(&waker, &clock, 10000, &machine.stop);
	for (int64_t k = 1; k <= 100; k++) {
		assert_int_equal(waker_until(&waker, START + k * 250000, &now), WAKE_ON_TIME);
		assert_in_range(now - (START + k * 250000), 0, 100);
	}
}

/* What a watch is told, in its order. */
struct told {
	int64_t aim, sleep, due, awake;
	int aims, sleeps, awakes;
};

static void told_aim(void *context, int64_t due)
{
	struct told *told = context;

	told->aim = due;
	told->aims++;
}

static void told_sleep(void *context, int64_t until)
{
	struct told *told = context;

	assert_int_equal(told->aims, told->awakes + 1);
	told->sleep = until;
	told->sleeps++;
}

static void told_awake(void *context, int64_t due, int64_t awake)
{
	struct told *told = context;

	told->due = due;
	told->awake = awake;
	told->awakes++;
}

static void a_watch_is_told_of_each_wait_and_of_its_end(void **state)
{
	struct machine machine = { .monotonic = 1000, .offset = START, .late = 3000 };
	struct told told = { 0 };
	const struct wake_watch watch = {
		.aim = told_aim, .sleep = told_sleep, .awake = told_awake, .context = &told
	};
	struct wake_clock clock = clock_of(&machine);
	struct waker waker;
	int64_t now;

	(void)state;
	clock.watch = &watch;
	for (int spins = 0; spins < 2; spins++) {
		told = (struct told){ 0 };
		waker_init(&waker, &clock, spins ? INT64_MAX : 0, &machine.stop);
		for (int k = 1; k <= 10; k++) {
			int64_t until = START + spins * 250000 * 10 + k * 250000;

			assert_int_equal(waker_until(&waker, until, &now), WAKE_ON_TIME);
			assert_int_equal(told.aims, k);
			assert_int_equal(told.awakes, k);
			assert_int_equal(told.sleeps, spins ? 0 : k);
			/* so late as the caller is told, to the nanosecond */
			assert_int_equal(told.awake - told.due, now - until);
			assert_int_equal(told.due, told.aim);
			assert_in_range(told.due, until - START - 200, until - START + 200);
			if (!spins)
				assert_int_equal(told.sleep, told.due);
		}
		/* what has passed is not waited for */
		assert_int_equal(waker_until(&waker, START, &now), WAKE_ON_TIME);
		assert_int_equal(told.aims + told.awakes, 20);
	}
}

static void a_step_while_asleep_is_told_and_does_not_prolong_the_sleep(void **state)
{
	static const int64_t steps[] = { -HOUR, HOUR, -37000000000, 37000000000, -5000, 5000 };

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct machine machine = {
			.monotonic = 0, .offset = START, .step_at = 5000000, .step = steps[i]
		};
		struct wake_clock clock = clock_of(&machine);
		struct waker waker;
		int64_t now;

		waker_init(&waker, &clock, 0, &machine.stop);
		assert_int_equal(waker_until(&waker, START + 10000000, &now), WAKE_STEPPED);
		assert_in_range(waker.step_ns - steps[i] + 100, 0, 200);
		/* woken at the time the sleep was meant to end, or before it */
		assert_true(machine.monotonic <= 10000200);
		assert_int_equal(now, machine.monotonic + START + steps[i]);
		/* told once */
		assert_int_equal(waker_look(&waker, &now), WAKE_ON_TIME);
		assert_int_equal(waker_until(&waker, now + 1000000, &now), WAKE_ON_TIME);
	}
}

static void a_step_back_while_spinning_does_not_hang(void **state)
{
	struct machine machine = { .offset = START, .step_at = 995000, .step = -HOUR };
	struct wake_clock clock = clock_of(&machine);
	struct waker waker;
	int64_t now;

	(void)state;
	waker_init(&waker, &clock, 10000, &machine.stop);
	assert_int_equal(waker_until(&waker, START + 1000000, &now), WAKE_STEPPED);
	assert_true(machine.monotonic < 996000);
}

static void tiny_steps_are_taken_up_silently(void **state)
{
	struct machine machine = { .offset = START, .step_at = 500000, .step = 700 };
	struct wake_clock clock = clock_of(&machine);
	struct waker waker;
	int64_t now;

	(void)state;
	waker_init(&waker, &clock, 0, &machine.stop);
	assert_int_equal(waker_until(&waker, START + 1000000, &now), WAKE_ON_TIME);
	assert_true(waker.offset_low_ns <= START + 700 && START + 700 <= waker.offset_high_ns);
}

static void a_long_sleep_notices_the_stop(void **state)
{
	struct machine machine = { .offset = START, .stop_at = 1000000000 };
	struct wake_clock clock = clock_of(&machine);
	struct waker waker;
	int64_t now;

	(void)state;
	waker_init(&waker, &clock, 0, &machine.stop);
	assert_int_equal(waker_until(&waker, START + HOUR, &now), WAKE_STOPPED);
	assert_true(machine.monotonic <= 1100001000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wakes_at_its_time_with_one_sleep),
		cmocka_unit_test(spins_the_last_part),
		cmocka_unit_test(a_watch_is_told_of_each_wait_and_of_its_end),
		cmocka_unit_test(a_step_while_asleep_is_told_and_does_not_prolong_the_sleep),
		cmocka_unit_test(a_step_back_while_spinning_does_not_hang),
		cmocka_unit_test(tiny_steps_are_taken_up_silently),
		cmocka_unit_test(a_long_sleep_notices_the_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

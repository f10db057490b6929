// SPDX-License-Identifier: GPL-2.0-only
/* The cyclic loop when wake-ups or sends come late: what is skipped, what is told, and that nothing is made up for in a burst. */
#include "cycle_world.h"

static void a_late_wake_up_skips_and_never_bursts(void **state)
{
	static const int64_t lates[] = { 100 * US, 600 * US, 1400 * US, 5 * MS, 700 * MS };

	(void)state;
	for (size_t i = 0; i < sizeof(lates) / sizeof(lates[0]); i++) {
		struct stream stream = one();
		struct cycle_settings settings = timer(MS, 1000);
		struct world *w = world_new(&stream, 1, &settings);

		w->late_at = 100 * MS;
		w->late = lates[i];
		struct tally tally = run(w);

		/* counted in full: what was not sent was skipped */
		assert_int_equal(tally.sent + tally.skipped, 1000);
		assert_in_range(tally.skipped, (uint64_t)(lates[i] / MS),
				(uint64_t)(lates[i] / MS) + 1);
		if (lates[i] == 100 * US)
			assert_int_equal(tally.skipped, 0);
		if (lates[i] == 600 * US)
			assert_int_equal(tally.skipped, 1);
		assert_in_sequence(w);
		assert_no_burst(w, MS);
		assert_int_equal(tally.last, 1);
		world_free(w);
	}
}

static void launch_time_pacing_catches_up_within_its_lead(void **state)
{
	struct stream stream = one();
	struct cycle_settings settings = { .cycle_ns = 250 * US,
					   .lead_ns = 2 * MS,
					   .late_max_ns = -10 * US,
					   .span_ns = 250 * US,
					   .cycles = 1000 };
	struct world *w = world_new(&stream, 1, &settings);

	(void)state;
	/* 1.5 ms late, but the launches are still to come */
	w->late_at = 50 * MS;
	w->late = 1500 * US;
	struct tally tally = run(w);

	assert_int_equal(tally.sent, 1000);
	world_free(w);

	w = world_new(&stream, 1, &settings);
	w->late_at = 50 * MS;
	w->late = 2600 * US;
	tally = run(w);
	assert_in_range(tally.skipped, 2, 4);
	for (unsigned i = 0; i < w->sent_count; i++)
		assert_true(w->sent[i].tai <= w->sent[i].frame.launch - 10 * US);
	world_free(w);
}

static void a_skipped_last_frame_is_made_up_for(void **state)
{
	struct stream stream = one();
	struct cycle_settings settings = timer(MS, 100);

	(void)state;
	settings.base_ns = EPOCH + 10 * MS;
	struct world *w = world_new(&stream, 1, &settings);

	w->late_at = 108 * MS + 500 * US; /* the wake-up for the last cycle */
	w->late = 3 * MS;
	struct tally tally = run(w);

	assert_int_equal(tally.skipped, 1);
	assert_int_equal(tally.last, 1);
	assert_true(w->sent[w->sent_count - 1].frame.last);
	assert_int_equal(w->sent[w->sent_count - 1].frame.seq, 99);
	world_free(w);
}

static void a_last_frame_that_is_refused_is_tried_again_but_not_for_minutes(void **state)
{
	struct stream stream = one();
	struct cycle_settings settings = timer(10000 * MS, 1);
	struct world *w = world_new(&stream, 1, &settings);

	(void)state;
	w->refuse = TX_REFUSED;
	w->refuse_to = UINT32_MAX;
	int64_t begun = w->monotonic;
	struct tally tally = run(w);

	/* the one that was due, up to a cycle away, and one more */
	assert_int_equal(tally.refused, 2);
	assert_true(w->monotonic - begun < 21000 * MS);
	world_free(w);

	settings = timer(MS, 1);
	w = world_new(&stream, 1, &settings);
	w->refuse = TX_REFUSED;
	w->refuse_to = 10;
	tally = run(w);
	assert_int_equal(tally.refused, 10);
	assert_int_equal(tally.last, 1);
	world_free(w);
}

static void a_slow_send_does_not_make_a_backlog(void **state)
{
	struct stream stream = one();
	struct cycle_settings settings = timer(MS, 200);
	struct world *w = world_new(&stream, 1, &settings);

	(void)state;
	w->send_cost = 1300 * US; /* longer than the cycle, each time */
	struct tally tally = run(w);

	assert_true(tally.skipped > 50);
	assert_in_range(tally.sent + tally.skipped, 200, 200 + 1);
	for (unsigned i = 0; i < w->sent_count; i++)
		assert_true(w->sent[i].tai - w->sent[i].frame.launch <= MS / 2);
	world_free(w);
}

static void an_hour_asleep_costs_neither_time_nor_events(void **state)
{
	struct stream stream = one();
	struct cycle_settings settings = timer(31250, 200000000);
	struct world *w = world_new(&stream, 1, &settings);

	(void)state;
	w->late_at = 100 * MS;
	w->late = HOUR;
	w->stop_at = HOUR + 200 * MS;
	struct tally tally = run(w); /* the ring holds far fewer events than cycles were missed */

	assert_in_range(tally.skipped, (uint64_t)(HOUR / 31250) - 2, (uint64_t)(HOUR / 31250) + 2);
	assert_no_burst(w, 31250);
	world_free(w);
}

static void of_one_call_only_the_launches_that_have_passed_are_skipped(void **state)
{
	struct stream streams[2] = { one(), one() };
	struct cycle_settings settings = { .cycle_ns = MS,
					   .base_ns = EPOCH,
					   .lead_ns = 200 * US,
					   .late_max_ns = -10 * US,
					   .span_ns = MS,
					   .cycles = 50 };
	unsigned seen[2] = { 0 };

	(void)state;
	streams[1].offset_ns = 500 * US;
	struct world *w = world_new(streams, 2, &settings);

	/* the wake-up of one cycle ends 300 us late: 100 us after the first launch, 400 us before the second */
	w->late_at = 20 * MS;
	w->late = 300 * US;
	struct tally tally = run(w);

	assert_int_equal(tally.skipped, 1);
	for (unsigned i = 0; i < w->sent_count; i++) {
		assert_true(w->sent[i].tai < w->sent[i].frame.launch);
		seen[w->sent[i].frame.stream]++;
	}
	assert_int_equal(seen[0], 49);
	assert_int_equal(seen[1], 50);
	world_free(w);
}

static void a_late_wake_up_is_told_once_however_many_launches_it_missed(void **state)
{
	struct stream streams[8];
	struct cycle_settings settings = timer(MS, 100);
	int64_t former = STAMP_NONE, worst = 0;
	struct cycle_event event;
	unsigned late = 0;

	(void)state;
	for (int i = 0; i < 8; i++) {
		streams[i] = one();
		streams[i].id = (uint16_t)i;
		streams[i].offset_ns = i * 10 * US;
	}
	struct world *w = world_new(streams, 8, &settings);

	w->late_at = 20 * MS;
	w->late = 900 * US;
	cycle_run(&w->cycle);
	/* as the statistics count: a wake-up is another one where its time is */
	while (spsc_pop(&w->events, &event)) {
		if (event.kind != CYCLE_FRAME || event.wake == STAMP_NONE || event.wake == former)
			continue;
		former = event.wake;
		late += event.wake - event.launch > 500 * US;
		if (event.wake - event.launch > worst)
			worst = event.wake - event.launch;
	}
	assert_int_equal(late, 1);
	assert_in_range(worst, 900 * US, 902 * US);
	world_free(w);
}

static void a_second_late_wake_up_of_a_cycle_is_told_too(void **state)
{
	struct stream streams[2] = { one(), one() };
	struct cycle_settings settings = timer(100 * MS, 10);
	struct cycle_event event;
	unsigned late = 0;

	(void)state;
	settings.late_max_ns = MS;
	streams[1].offset_ns = 50 * MS;
	struct world *w = world_new(streams, 2, &settings);

	w->late_at = 200 * MS;
	w->late = 2 * MS;
	w->late_again_at = 240 * MS;
	w->late_again = 3 * MS;
	cycle_run(&w->cycle);
	while (spsc_pop(&w->events, &event))
		if (event.kind == CYCLE_FRAME && event.wake - event.launch > MS)
			late |= event.wake - event.launch < 2500 * US ? 1U : 2U;
	assert_int_equal(late, 3);
	world_free(w);
}

static void out_of_sync_a_late_wake_up_is_marked_like_the_frames(void **state)
{
	struct stream stream = one();
	struct cycle_settings settings = timer(MS, 300);
	struct world *w = world_new(&stream, 1, &settings);

	(void)state;
	atomic_store(&w->control.unsynced, 1);
	w->late_at = 100 * MS;
	w->late = 5 * MS;
	struct tally tally = run(w);

	assert_in_range(tally.skipped, 4, 6);
	assert_true(tally.late_wakes > 0);
	assert_int_equal(tally.marked_late_wakes, tally.late_wakes);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_late_wake_up_skips_and_never_bursts),
		cmocka_unit_test(launch_time_pacing_catches_up_within_its_lead),
		cmocka_unit_test(a_skipped_last_frame_is_made_up_for),
		cmocka_unit_test(a_last_frame_that_is_refused_is_tried_again_but_not_for_minutes),
		cmocka_unit_test(a_slow_send_does_not_make_a_backlog),
		cmocka_unit_test(an_hour_asleep_costs_neither_time_nor_events),
		cmocka_unit_test(of_one_call_only_the_launches_that_have_passed_are_skipped),
		cmocka_unit_test(a_late_wake_up_is_told_once_however_many_launches_it_missed),
		cmocka_unit_test(a_second_late_wake_up_of_a_cycle_is_told_too),
		cmocka_unit_test(out_of_sync_a_late_wake_up_is_marked_like_the_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/* The cyclic loop: phase, steps of the clock, the end of a run, withheld and refused frames. */
#include "cycle_world.h"

static void frames_leave_in_phase_and_the_last_is_flagged(void **state)
{
	struct stream stream = one();
	struct cycle_settings settings = timer(250 * US, 1000);

	(void)state;
	stream.offset_ns = 40 * US;
	settings.base_ns = EPOCH + 7 * MS;
	struct world *w = world_new(&stream, 1, &settings);
	struct tally tally = run(w);

	assert_int_equal(tally.sent, 1000);
	assert_int_equal(tally.skipped, 0);
	assert_int_equal(tally.last, 1);
	assert_in_sequence(w);
	/* the base lies ahead: nothing before it */
	assert_int_equal(w->sent[0].frame.launch, EPOCH + 7 * MS + 40 * US);
	for (unsigned i = 0; i < w->sent_count; i++) {
		assert_int_equal(w->sent[i].frame.launch, EPOCH + 7 * MS + 40 * US + i * 250 * US);
		assert_in_range(w->sent[i].tai - w->sent[i].frame.launch, 0, 2 * US);
		assert_int_equal(w->sent[i].frame.last, i == 999);
	}
	world_free(w);
}

static void launch_time_pacing_hands_a_cycle_over_in_one_call_ahead(void **state)
{
	struct stream streams[3] = { one(), one(), one() };
	struct cycle_settings settings = { .cycle_ns = MS,
					   .lead_ns = 600 * US,
					   .late_max_ns = -10 * US,
					   .span_ns = MS,
					   .cycles = 50 };

	(void)state;
	streams[0].offset_ns = 500 * US;
	streams[1].offset_ns = 20 * US;
	streams[2].offset_ns = 21 * US;
	streams[1].frames = 3;
	struct world *w = world_new(streams, 3, &settings);

	w->wire_ns[1] = 672;
	struct tally tally = run(w);

	assert_int_equal(tally.sent, 50 * 5);
	assert_int_equal(tally.last, 3);
	for (unsigned i = 0; i < w->sent_count; i += 5) {
		int64_t start = w->sent[i].frame.launch - 20 * US;

		assert_int_equal(start % MS, 0);
		/* one call: all at the same time, the lead before the first launch */
		assert_int_equal(w->sent[i].at, w->sent[i + 4].at);
		assert_in_range(w->sent[i].tai - (w->sent[i].frame.launch - 600 * US), 0, 2 * US);
		assert_int_equal(w->sent[i + 1].frame.launch, start + 20 * US + 672);
		assert_int_equal(w->sent[i + 2].frame.launch, start + 20 * US + 2 * 672);
		assert_int_equal(w->sent[i + 3].frame.launch, start + 21 * US);
		assert_int_equal(w->sent[i + 4].frame.launch, start + 500 * US);
	}
	world_free(w);
}

static void a_step_of_the_clock_keeps_the_phase(void **state)
{
	static const int64_t steps[] = { HOUR,      -HOUR,      37000 * MS, -37000 * MS, 300 * US,
					 -300 * US, -1700 * US, 1700 * US,  5 * US,      -5 * US };

	(void)state;
	for (int pacing = 0; pacing < 2; pacing++)
		for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
			struct stream stream = one();
			struct cycle_settings settings = timer(MS, 1000);

			settings.base_ns = 77 * US;
			if (pacing) {
				settings.lead_ns = 600 * US;
				settings.late_max_ns = -10 * US;
				settings.span_ns = MS;
			}
			struct world *w = world_new(&stream, 1, &settings);

			w->step_at = 200 * MS + 400 * US;
			w->step = steps[i];
			struct tally tally = run(w);

			assert_int_equal(tally.steps, 1);
			assert_in_range(tally.step_ns - steps[i] + 100, 0, 200);
			/* at most the interrupted cycle is lost, whatever the step */
			assert_in_range(tally.sent, 998, 1000);
			assert_int_equal(tally.sent + tally.skipped, 1000);
			assert_in_sequence(w);
			if (!pacing)
				assert_no_burst(w, MS);
			/* no pause on the wire beyond three cycles and the rest of a step */
			for (unsigned j = 1; j < w->sent_count; j++) {
				assert_int_equal((w->sent[j].frame.launch - 77 * US) % MS, 0);
				assert_true(w->sent[j].frame.launch != w->sent[j - 1].frame.launch);
				assert_true(w->sent[j].at - w->sent[j - 1].at < 4 * MS);
			}
			world_free(w);
		}
}

static void a_step_during_a_ten_second_cycle_is_noticed_at_once(void **state)
{
	struct stream stream = one();
	struct cycle_settings settings = timer(10000 * MS, 3);
	struct world *w = world_new(&stream, 1, &settings);

	(void)state;
	w->step_at = 15000 * MS;
	w->step = -HOUR;
	struct tally tally = run(w);

	assert_int_equal(tally.steps, 1);
	assert_int_equal(tally.sent + tally.skipped, 3 + tally.last - 1);
	assert_true(w->monotonic < 50000 * MS);
	world_free(w);
}

static void a_stop_flags_the_last_frame_of_each_stream(void **state)
{
	struct stream streams[3] = { one(), one(), one() };
	struct cycle_settings settings = timer(MS, UINT64_MAX);
	unsigned last[3] = { 0 }, seen[3] = { 0 };

	(void)state;
	streams[1].every = 5;
	streams[2].every = 100000; /* never due before the stop: it still gets its frame */
	streams[2].phase = 50000;
	settings.base_ns = EPOCH;
	struct world *w = world_new(streams, 3, &settings);

	w->stop_at = 50 * MS + 300 * US;
	run(w);
	assert_true(w->monotonic < 53 * MS);
	for (unsigned i = 0; i < w->sent_count; i++) {
		unsigned s = w->sent[i].frame.stream;

		assert_int_equal(last[s], 0); /* nothing after it */
		assert_int_equal(w->sent[i].frame.seq, seen[s]++);
		last[s] += w->sent[i].frame.last;
	}
	for (unsigned s = 0; s < 3; s++)
		assert_int_equal(last[s], 1);
	world_free(w);
}

static void a_second_stop_ends_at_once(void **state)
{
	struct stream stream = one();
	struct cycle_settings settings = timer(10000 * MS, UINT64_MAX);
	struct world *w = world_new(&stream, 1, &settings);

	(void)state;
	w->stop_at = 31000 * MS;
	w->abort_at = 32000 * MS;
	struct tally tally = run(w);

	assert_int_equal(tally.last, 0);
	assert_true(w->monotonic < 32200 * MS);
	world_free(w);
}

static void a_stop_does_not_wait_for_a_base_time_that_lies_ahead(void **state)
{
	struct stream stream = one();
	struct cycle_settings settings = timer(1 * MS, UINT64_MAX);
	struct world *w;

	(void)state;
	settings.base_ns = EPOCH + HOUR;
	w = world_new(&stream, 1, &settings);
	w->stop_at = 2000 * MS;
	struct tally tally = run(w);

	assert_int_equal(tally.sent, 0);
	assert_int_equal(tally.skipped, 0);
	assert_true(w->monotonic < 2200 * MS);
	world_free(w);
}

static void while_the_link_is_down_frames_are_withheld(void **state)
{
	struct stream stream = one();
	struct cycle_settings settings = timer(MS, 300);
	struct world *w = world_new(&stream, 1, &settings);

	(void)state;
	w->link_down_at = 100 * MS;
	w->link_up_at = 150 * MS;
	struct tally tally = run(w);

	assert_in_range(tally.link_down, 49, 51);
	assert_int_equal(tally.sent + tally.link_down, 300);
	assert_in_sequence(w); /* nothing is missing on the wire */
	assert_no_burst(w, MS);
	world_free(w);
}

static void paused_frames_take_no_number(void **state)
{
	struct stream stream = one();
	struct cycle_settings settings = timer(MS, 300);
	struct world *w = world_new(&stream, 1, &settings);

	(void)state;
	w->pause_at = 100 * MS;
	w->resume_at = 120 * MS;
	struct tally tally = run(w);

	assert_in_range(tally.paused, 19, 21);
	assert_int_equal(tally.sent + tally.paused, 300);
	assert_in_sequence(w);
	world_free(w);
}

static void refused_frames_keep_their_number_and_link_down_ones_do_not(void **state)
{
	struct stream stream = one();
	struct cycle_settings settings = timer(MS, 100);
	struct world *w = world_new(&stream, 1, &settings);

	(void)state;
	w->refuse = TX_REFUSED;
	w->refuse_from = 10;
	w->refuse_to = 13;
	struct tally tally = run(w);

	assert_int_equal(tally.refused, 3);
	assert_int_equal(w->sent[9].frame.seq, 9);
	assert_int_equal(w->sent[10].frame.seq, 13);
	world_free(w);

	w = world_new(&stream, 1, &settings);
	w->refuse = TX_LINK_DOWN;
	w->refuse_from = 10;
	w->refuse_to = 13;
	tally = run(w);
	assert_int_equal(tally.link_down, 3);
	assert_int_equal(w->sent[10].frame.seq, 10);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_leave_in_phase_and_the_last_is_flagged),
		cmocka_unit_test(launch_time_pacing_hands_a_cycle_over_in_one_call_ahead),
		cmocka_unit_test(a_step_of_the_clock_keeps_the_phase),
		cmocka_unit_test(a_step_during_a_ten_second_cycle_is_noticed_at_once),
		cmocka_unit_test(a_stop_flags_the_last_frame_of_each_stream),
		cmocka_unit_test(a_second_stop_ends_at_once),
		cmocka_unit_test(a_stop_does_not_wait_for_a_base_time_that_lies_ahead),
		cmocka_unit_test(while_the_link_is_down_frames_are_withheld),
		cmocka_unit_test(paused_frames_take_no_number),
		cmocka_unit_test(refused_frames_keep_their_number_and_link_down_ones_do_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

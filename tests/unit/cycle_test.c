// SPDX-License-Identifier: GPL-2.0-only
/* The cyclic loop in simulated time: stepping clocks, late wake-ups, refused sends. */
#include "cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "data/record.h"
#include "engine/cycle.h"

#define US 1000LL
#define MS 1000000LL
#define HOUR 3600000000000LL
#define EPOCH 1790000000000000000LL
#define SENT_MAX 20000

struct sent {
	int64_t at; /* monotonic: what the wire sees */
	int64_t tai;
	struct cycle_frame frame;
};

struct world {
	int64_t monotonic, offset;
	/* at step_at the clock is stepped */
	int64_t step_at, step;
	/* the sleep that ends at or after late_at ends late by `late`, once */
	int64_t late_at, late;
	int64_t send_cost;
	/* at these times another thread sets a flag */
	int64_t stop_at, abort_at, link_down_at, link_up_at, pause_at, resume_at;
	uint16_t
		refuse; /* status of the frames while refuse_from <= n < refuse_to, n counts frames */
	unsigned refuse_from, refuse_to, offered;
	struct cycle_control control;
	struct cycle cycle;
	struct wake_clock clock;
	struct spsc events;
	struct sent sent[SENT_MAX];
	unsigned sent_count;
	int64_t wire_ns[STREAMS_MAX];
};

static void reach(const int64_t *at, int64_t now, atomic_uint *flag, unsigned value)
{
	if (*at && now >= *at)
		atomic_store(flag, value);
}

static void pass(struct world *w, int64_t ns)
{
	w->monotonic += ns;
	if (w->step && w->monotonic >= w->step_at) {
		w->offset += w->step;
		w->step = 0;
	}
	if (w->stop_at && w->monotonic >= w->stop_at) {
		w->stop_at = 0;
		cycle_control_stop(&w->control);
	}
	if (w->abort_at && w->monotonic >= w->abort_at) {
		w->abort_at = 0;
		cycle_control_stop(&w->control);
	}
	reach(&w->link_down_at, w->monotonic, &w->control.link_down, 1);
	reach(&w->link_up_at, w->monotonic, &w->control.link_down, 0);
	reach(&w->pause_at, w->monotonic, &w->control.paused, 1);
	reach(&w->resume_at, w->monotonic, &w->control.paused, 0);
}

static int64_t tai(void *context)
{
	struct world *w = context;

	pass(w, 20);
	return w->monotonic + w->offset;
}

static int64_t monotonic(void *context)
{
	struct world *w = context;

	pass(w, 20);
	return w->monotonic;
}

static void sleep_until(void *context, int64_t until)
{
	struct world *w = context;

	if (until <= w->monotonic)
		return;
	pass(w, until - w->monotonic + 1 * US);
	if (w->late && w->monotonic >= w->late_at) {
		int64_t late = w->late;

		w->late = 0;
		pass(w, late);
	}
}

static void take(void *context, struct cycle_frame *frames, unsigned count)
{
	struct world *w = context;

	for (unsigned i = 0; i < count; i++, w->offered++) {
		frames[i].status = TX_SENT;
		if (w->offered >= w->refuse_from && w->offered < w->refuse_to)
			frames[i].status = w->refuse;
		if (frames[i].status == TX_SENT && w->sent_count < SENT_MAX)
			w->sent[w->sent_count++] =
				(struct sent){ w->monotonic, w->monotonic + w->offset, frames[i] };
	}
	pass(w, w->send_cost ? w->send_cost : 2 * US);
}

static struct world *world_new(const struct stream *streams, unsigned count,
			       const struct cycle_settings *settings)
{
	struct world *w = calloc(1, sizeof(*w));

	w->monotonic = 123456;
	w->offset = EPOCH;
	w->clock = (struct wake_clock){ tai, monotonic, sleep_until, w };
	assert_int_equal(spsc_init(&w->events, 1 << 17, sizeof(struct cycle_event)), 0);
	w->cycle = (struct cycle){ .settings = *settings,
				   .streams = streams,
				   .wire_ns = w->wire_ns,
				   .count = count,
				   .clock = &w->clock,
				   .send = take,
				   .send_context = w,
				   .control = &w->control,
				   .events = &w->events };
	assert_int_equal(cycle_init(&w->cycle), 0);
	return w;
}

static void world_free(struct world *w)
{
	cycle_free(&w->cycle);
	spsc_free(&w->events);
	free(w);
}

struct tally {
	uint64_t sent, skipped, refused, link_down, paused, steps, last;
	int64_t step_ns;
};

static struct tally run(struct world *w)
{
	struct cycle_event event;
	struct tally tally = { 0 };

	cycle_run(&w->cycle);
	assert_true(w->cycle.done);
	assert_int_equal(w->events.dropped, 0);
	while (spsc_pop(&w->events, &event)) {
		uint64_t n = 1;

		if (event.kind == CYCLE_STEP) {
			tally.steps++;
			tally.step_ns = event.step_ns;
			continue;
		}
		if (event.kind == CYCLE_GAP) {
			n = 0;
			for (unsigned i = 0; i < w->cycle.count; i++)
				n += plan_occurrences(&w->cycle.streams[i], event.cycle,
						      event.count) *
				     w->cycle.streams[i].frames;
		}
		tally.sent += event.status & TX_SENT ? n : 0;
		tally.skipped += event.status & TX_SKIPPED ? n : 0;
		tally.refused += event.status & TX_REFUSED ? n : 0;
		tally.link_down += event.status & TX_LINK_DOWN ? n : 0;
		tally.paused += event.status & TX_PAUSED ? n : 0;
		tally.last += event.status & TX_LAST ? n : 0;
	}
	return tally;
}

static struct stream one(void)
{
	return (struct stream){
		.id = 1, .every = 1, .frames = 1, .vlan = STREAM_NO_VLAN, .size = 64
	};
}

static struct cycle_settings timer(int64_t cycle, uint64_t cycles)
{
	return (struct cycle_settings){
		.cycle_ns = cycle, .late_max_ns = cycle / 2, .cycles = cycles, .start_delay_ns = MS
	};
}

/* On the wire two frames of a stream must never be closer than half a cycle. */
static void assert_no_burst(const struct world *w, int64_t cycle)
{
	for (unsigned i = 1; i < w->sent_count; i++)
		if (w->sent[i].at - w->sent[i - 1].at < cycle / 2)
			fail_msg("frames %u and %u are only %lld ns apart", i - 1, i,
				 (long long)(w->sent[i].at - w->sent[i - 1].at));
}

static void assert_in_sequence(const struct world *w)
{
	for (unsigned i = 0; i < w->sent_count; i++)
		assert_int_equal(w->sent[i].frame.seq, i);
}

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_leave_in_phase_and_the_last_is_flagged),
		cmocka_unit_test(launch_time_pacing_hands_a_cycle_over_in_one_call_ahead),
		cmocka_unit_test(a_late_wake_up_skips_and_never_bursts),
		cmocka_unit_test(launch_time_pacing_catches_up_within_its_lead),
		cmocka_unit_test(a_step_of_the_clock_keeps_the_phase),
		cmocka_unit_test(a_step_during_a_ten_second_cycle_is_noticed_at_once),
		cmocka_unit_test(a_stop_flags_the_last_frame_of_each_stream),
		cmocka_unit_test(a_second_stop_ends_at_once),
		cmocka_unit_test(a_stop_does_not_wait_for_a_base_time_that_lies_ahead),
		cmocka_unit_test(while_the_link_is_down_frames_are_withheld),
		cmocka_unit_test(paused_frames_take_no_number),
		cmocka_unit_test(refused_frames_keep_their_number_and_link_down_ones_do_not),
		cmocka_unit_test(a_skipped_last_frame_is_made_up_for),
		cmocka_unit_test(a_slow_send_does_not_make_a_backlog),
		cmocka_unit_test(an_hour_asleep_costs_neither_time_nor_events),
		cmocka_unit_test(of_one_call_only_the_launches_that_have_passed_are_skipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

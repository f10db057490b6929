// SPDX-License-Identifier: GPL-2.0-only
#include "cmocka_all.h"

#include <string.h>

#include "engine/collector.h"
#include "engine/transmit.h"

#define MS 1000000LL
#define RUN 0xabcdef

static struct tx_record records[100000];
static size_t record_count;

static void record(void *context, const struct tx_record *r)
{
	(void)context;
	if (record_count < sizeof(records) / sizeof(records[0]))
		records[record_count] = *r;
	record_count++;
}

static const struct stream streams[2] = {
	{ .id = 7, .every = 1, .frames = 1 },
	{ .id = 300, .every = 4, .phase = 1, .frames = 2, .offset_ns = 5000 },
};
static const int64_t wire_ns[2] = { 672, 672 };

static struct collector *make(unsigned stamps, bool launch_time, size_t room)
{
	struct collector_settings settings = { .streams = streams,
					       .wire_ns = wire_ns,
					       .count = 2,
					       .base_ns = 1000,
					       .cycle_ns = MS,
					       .run = RUN,
					       .stamps = stamps,
					       .launch_time = launch_time,
					       .patience_ns = 100 * MS,
					       .room = room,
					       .record = record };

	record_count = 0;
	return collector_new(&settings);
}

static struct cycle_event sent(uint16_t stream, uint64_t seq, bool stamped)
{
	return (struct cycle_event){ .kind = CYCLE_FRAME,
				     .seq = seq,
				     .launch = (int64_t)seq * MS + 1000,
				     .wake = (int64_t)seq * MS + 900,
				     .submit = (int64_t)seq * MS + 950,
				     .stream = stream,
				     .status = TX_SENT,
				     .stamped = stamped };
}

static struct feedback stamp(uint16_t id, uint64_t seq, enum feedback_kind kind)
{
	return (struct feedback){ .kind = kind,
				  .stream = id,
				  .run = RUN,
				  .seq = seq,
				  .time = (int64_t)(seq * 10 + kind) };
}

static void a_frame_waits_for_its_stamps_and_no_longer(void **state)
{
	struct collector *c = make(STAMP_SCHED | STAMP_SW, false, 64);
	struct cycle_event a = sent(0, 0, true), b = sent(0, 1, true), plain = sent(0, 2, false);
	struct feedback f;

	(void)state;
	collector_event(c, &a, 0);
	collector_event(c, &b, 1 * MS);
	collector_event(c, &plain, 2 * MS);
	f = stamp(7, 1, FEEDBACK_SW);
	assert_int_equal(collector_feedback(c, &f), 0);
	f = stamp(7, 1, FEEDBACK_SCHED);
	collector_feedback(c, &f);
	collector_settle(c, 50 * MS);
	assert_int_equal(record_count, 0); /* in order: the first is still waited for */
	f = stamp(7, 0, FEEDBACK_SCHED);
	collector_feedback(c, &f);
	collector_settle(c, 99 * MS);
	assert_int_equal(record_count, 0);
	collector_settle(c, 100 * MS);
	assert_int_equal(record_count, 3);
	assert_int_equal(records[0].tx_sched, FEEDBACK_SCHED);
	assert_int_equal(records[0].tx_sw, STAMP_NONE);
	assert_int_equal(records[1].tx_sw, 10 + FEEDBACK_SW);
	assert_int_equal(records[2].seq, 2);
	assert_int_equal(records[0].stream, 7);
	assert_int_equal(records[0].run, RUN);
	assert_int_equal(collector_counts(c)->missing_stamps, 1);
	/* now it comes after all */
	f = stamp(7, 0, FEEDBACK_SW);
	collector_feedback(c, &f);
	assert_int_equal(collector_counts(c)->late_stamps, 1);
	assert_int_equal(record_count, 3);
	collector_free(c);
}

static void duplicate_foreign_and_early_stamps(void **state)
{
	struct collector *c = make(STAMP_HW, true, 64);
	struct cycle_event a = sent(1, 0, true);
	struct feedback f = stamp(300, 0, FEEDBACK_HW), twice;

	(void)state;
	/* it overtakes the event of its frame */
	assert_int_equal(collector_feedback(c, &f), 1);
	collector_event(c, &a, 0);
	twice = f;
	twice.time = 99;
	collector_feedback(c, &twice);
	f.run ^= 1;
	assert_int_equal(collector_feedback(c, &f), -1);
	f = stamp(301, 0, FEEDBACK_HW);
	assert_int_equal(collector_feedback(c, &f), -1);
	collector_settle(c, 1);
	assert_int_equal(record_count, 1);
	assert_int_equal(records[0].tx_hw, FEEDBACK_HW); /* the first one counts */
	assert_int_equal(collector_counts(c)->duplicate_stamps, 1);
	assert_int_equal(collector_counts(c)->foreign, 2);
	assert_int_equal(collector_counts(c)->missing_stamps, 0);
	collector_free(c);
}

/* A skipped frame bears the number of the one that is sent next, whose stamp may be there already. */
static void early_stamps_wait_past_a_skipped_frame(void **state)
{
	struct collector *c = make(STAMP_SW, false, 64);
	struct cycle_event skipped = sent(0, 0, false), a = sent(0, 0, true);
	struct feedback f = stamp(7, 0, FEEDBACK_SW);

	(void)state;
	skipped.status = TX_SKIPPED;
	for (int i = 0; i < 5000; i++) {
		collector_event(c, &skipped, 0);
		if (i == 10)
			collector_feedback(c, &f);
		collector_settle(c, 0);
	}
	collector_event(c, &a, 0);
	collector_settle(c, 0);
	assert_int_equal(record_count, 5001);
	assert_int_equal(records[5000].tx_sw, FEEDBACK_SW);
	assert_int_equal(collector_counts(c)->foreign, 0);
	collector_free(c);
}

/* Stamps of frames whose events were lost must not keep the place of those that are still to come. */
static void early_stamps_of_lost_events_make_room(void **state)
{
	struct collector *c = make(STAMP_SW, false, 64);
	struct cycle_event a = sent(0, 5000, true), b = sent(0, 5001, true);
	struct feedback f;

	(void)state;
	for (uint64_t seq = 0; seq < 4096; seq++) {
		f = stamp(7, seq, FEEDBACK_SW);
		collector_feedback(c, &f);
	}
	collector_event(c, &a, 0);
	assert_int_equal(collector_counts(c)->late_stamps, 4096);
	f = stamp(7, 5001, FEEDBACK_SW);
	collector_feedback(c, &f);
	collector_event(c, &b, 0);
	collector_settle(c, 100 * MS);
	assert_int_equal(record_count, 2);
	assert_int_equal(records[1].tx_sw, 50010 + FEEDBACK_SW);
	assert_int_equal(collector_counts(c)->foreign, 0);
	collector_free(c);
}

static void misses_are_attributed_to_their_frame(void **state)
{
	struct collector *c = make(STAMP_SW, true, 64);
	struct cycle_event a = sent(0, 0, true), b = sent(0, 1, true), refused = sent(0, 2, false);
	struct feedback f;

	(void)state;
	refused.status = TX_REFUSED;
	collector_event(c, &a, 0);
	collector_event(c, &b, 0);
	collector_event(c, &refused, 0);
	f = stamp(7, 1, FEEDBACK_MISSED);
	collector_feedback(c, &f);
	f = stamp(7, 2, FEEDBACK_INVALID);
	collector_feedback(c, &f);
	f = stamp(7, 0, FEEDBACK_SW);
	collector_feedback(c, &f);
	collector_settle(c, 1);
	assert_int_equal(record_count, 3);
	assert_int_equal(records[0].status, TX_SENT);
	assert_int_equal(records[1].status, TX_SENT | TX_MISSED);
	assert_int_equal(records[2].status, TX_REFUSED | TX_INVALID);
	assert_int_equal(collector_counts(c)->missing_stamps, 0);
	collector_free(c);
}

/* Why it was refused may show later: the link goes. */
static void a_refused_frame_is_not_told_at_once(void **state)
{
	struct collector *c = make(0, false, 64);
	struct cycle_event refused = sent(0, 0, false);

	(void)state;
	refused.status = TX_REFUSED;
	collector_event(c, &refused, 0);
	collector_settle(c, 100 * MS - 1);
	assert_int_equal(record_count, 0);
	collector_settle(c, 100 * MS);
	assert_int_equal(record_count, 1);
	assert_int_equal(records[0].status, TX_REFUSED);
	collector_free(c);
}

static void frames_under_way_at_a_step_are_marked(void **state)
{
	struct collector *c = make(STAMP_SW, false, 64);
	struct cycle_event a = sent(0, 0, true), b = sent(0, 1, true), later = sent(0, 2, true);
	struct cycle_event withheld = sent(0, 2, false);
	struct feedback f = stamp(7, 0, FEEDBACK_SW);

	(void)state;
	withheld.status = TX_SKIPPED;
	collector_event(c, &a, 0);
	collector_feedback(c, &f);
	collector_settle(c, 1); /* it is out of this */
	collector_event(c, &b, 0);
	collector_event(c, &withheld, 0);
	collector_stepped(c, INT64_MIN);
	collector_event(c, &later, 0);
	collector_flush(c);
	assert_int_equal(record_count, 4);
	assert_int_equal(records[0].status, TX_SENT);
	assert_int_equal(records[1].status, TX_SENT | TX_UNSYNCED);
	assert_int_equal(records[2].status, TX_SKIPPED);
	assert_int_equal(records[3].status, TX_SENT);
	collector_free(c);
}

/* The step is seen before the event of a frame that was sent by the former clock. */
static void a_frame_woken_before_a_step_is_marked_though_it_is_told_later(void **state)
{
	struct collector *c = make(STAMP_SW, false, 64);
	struct cycle_event before = sent(0, 0, true), after = sent(0, 1, true);
	struct cycle_event withheld = sent(0, 2, false);

	(void)state;
	before.woken_ns = 1000;
	after.woken_ns = 1001;
	withheld.status = TX_SKIPPED;
	collector_stepped(c, 1000);
	collector_stepped(c, INT64_MIN); /* the other thread's word of the same step */
	collector_event(c, &before, 0);
	collector_event(c, &after, 0);
	collector_event(c, &withheld, 0);
	collector_flush(c);
	assert_int_equal(record_count, 3);
	assert_int_equal(records[0].status, TX_SENT | TX_UNSYNCED);
	assert_int_equal(records[1].status, TX_SENT);
	assert_int_equal(records[2].status, TX_SKIPPED);
	collector_free(c);
}

static void a_launch_far_ahead_is_waited_for(void **state)
{
	struct collector *c = make(0, true, 64);
	struct cycle_event a = sent(0, 0, false);

	(void)state;
	a.launch = a.submit + 500 * MS;
	collector_event(c, &a, 0);
	collector_settle(c, 599 * MS);
	assert_int_equal(record_count, 0);
	collector_settle(c, 600 * MS);
	assert_int_equal(record_count, 1);
	collector_free(c);
}

static void gaps_become_one_record_a_frame(void **state)
{
	struct collector *c = make(0, false, 64);
	struct cycle_event a = sent(0, 0, false);
	struct cycle_event gap = {
		.kind = CYCLE_GAP, .cycle = 4, .count = 6, .status = TX_SKIPPED
	};

	(void)state;
	collector_event(c, &a, 0);
	collector_settle(c, 0);
	collector_event(c, &gap, 0);
	/* cycles 4 to 9: six of stream 7; 5 and 9 of stream 300, two frames each */
	assert_int_equal(record_count, 1 + 6 + 4);
	assert_int_equal(records[1].launch, 1000 + 4 * MS);
	assert_int_equal(records[1].seq, 1); /* the number that it would have had */
	assert_int_equal(records[7].stream, 300);
	assert_int_equal(records[7].launch, 1000 + 5 * MS + 5000);
	assert_int_equal(records[8].launch, 1000 + 5 * MS + 5000 + 672);
	assert_int_equal(records[9].launch, 1000 + 9 * MS + 5000);
	for (size_t i = 1; i < record_count; i++)
		assert_int_equal(records[i].status, TX_SKIPPED);
	/* an hour at 1 ns cycles: bounded, and said */
	gap.count = 3600ULL * 1000 * 1000 * 1000;
	collector_event(c, &gap, 0);
	assert_true(record_count <= 11 + COLLECTOR_GAP_MAX + 2);
	assert_int_equal(record_count - 11 + collector_counts(c)->untold,
			 gap.count + gap.count / 4 * 2);
	collector_free(c);
}

static void a_full_ring_gives_the_oldest_up(void **state)
{
	struct collector *c = make(STAMP_SW, false, 16);

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		struct cycle_event e = sent(0, i, true);

		collector_event(c, &e, 0);
		assert_true(collector_waiting(c) <= 16);
	}
	for (uint64_t i = 984; i < 1000; i++) {
		struct feedback f = stamp(7, i, FEEDBACK_SW);

		collector_feedback(c, &f);
	}
	collector_settle(c, 0);
	assert_int_equal(record_count, 1000);
	for (size_t i = 0; i < 1000; i++) {
		assert_int_equal(records[i].seq, i);
		assert_int_equal(records[i].tx_sw != STAMP_NONE, i >= 984);
	}
	collector_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_waits_for_its_stamps_and_no_longer),
		cmocka_unit_test(duplicate_foreign_and_early_stamps),
		cmocka_unit_test(early_stamps_wait_past_a_skipped_frame),
		cmocka_unit_test(early_stamps_of_lost_events_make_room),
		cmocka_unit_test(misses_are_attributed_to_their_frame),
		cmocka_unit_test(a_refused_frame_is_not_told_at_once),
		cmocka_unit_test(frames_under_way_at_a_step_are_marked),
		cmocka_unit_test(a_frame_woken_before_a_step_is_marked_though_it_is_told_later),
		cmocka_unit_test(a_launch_far_ahead_is_waited_for),
		cmocka_unit_test(gaps_become_one_record_a_frame),
		cmocka_unit_test(a_full_ring_gives_the_oldest_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

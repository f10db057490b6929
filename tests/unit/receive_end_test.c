// SPDX-License-Identifier: GPL-2.0-only
/* When a receiver is done, what its bars say, and how it explains what it did not receive. */
#include "cmocka_all.h"

#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "bpf/wire.h"
#include "engine/rx_explain.h"
#include "engine/rx_finish.h"
#include "engine/rx_summary.h"
#include "report/text.h"

#define MS NSEC_PER_MSEC

static const struct rx_options options = { .stamp = SOURCE_XDP, .deadline_ns = 5000 };

static struct rx_metrics *metrics;
static struct rx_finish *finish;

static int begin(void **state)
{
	(void)state;
	metrics = rx_metrics_new(&options);
	finish = calloc(1, sizeof(*finish));
	return metrics && finish ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	rx_metrics_free(metrics);
	free(finish);
	return 0;
}

static void add(uint32_t run, uint16_t stream, uint64_t seq, int64_t latency, int64_t cycle)
{
	int64_t launch = 1000000000000 + (int64_t)seq * cycle;
	struct rx_record record = { .seq = (int64_t)seq,
				    .launch = launch,
				    .rx_xdp = launch + latency,
				    .stream = stream,
				    .run = run,
				    .size = 60 };

	rx_metrics_add(metrics, &record, NULL);
}

static void the_last_frame_ends_it_after_a_grace(void **state)
{
	(void)state;
	for (uint64_t seq = 0; seq < 10; seq++)
		add(1, 1, seq, 100, MS);
	assert_false(rx_finish_check(finish, metrics, 0));
	rx_finish_last(finish, 1, 1, 10 * MS);
	assert_false(rx_finish_check(finish, metrics, 100 * MS));
	assert_true(rx_finish_check(finish, metrics, 10 * MS + RX_GRACE_NS));
}

static void another_stream_that_sends_keeps_it_going(void **state)
{
	int64_t now = 0;

	(void)state;
	for (uint64_t seq = 0; seq < 10; seq++) {
		add(1, 1, seq, 100, MS);
		add(1, 2, seq, 100, MS);
	}
	rx_finish_last(finish, 1, 1, 0);
	for (uint64_t seq = 10; seq < 40; seq++) {
		now += 100 * MS;
		add(1, 2, seq, 100, MS);
		assert_false(rx_finish_check(finish, metrics, now));
	}
	rx_finish_last(finish, 1, 2, now);
	assert_true(rx_finish_check(finish, metrics, now + RX_GRACE_NS));
}

static void a_stream_that_died_is_not_waited_for(void **state)
{
	(void)state;
	for (uint64_t seq = 0; seq < 10; seq++) {
		add(1, 1, seq, 100, MS);
		add(2, 2, seq, 100, MS);
	}
	rx_finish_last(finish, 1, 1, 0);
	assert_false(rx_finish_check(finish, metrics, 300 * MS));
	assert_false(rx_finish_check(finish, metrics, 1200 * MS));
	assert_true(rx_finish_check(finish, metrics, 1400 * MS));
}

static void a_slow_stream_is_given_its_time(void **state)
{
	(void)state;
	for (uint64_t seq = 0; seq < 10; seq++) {
		add(1, 1, seq, 100, MS);
		add(2, 2, seq, 100, 2 * NSEC_PER_SEC);
	}
	rx_finish_last(finish, 1, 1, 0);
	assert_false(rx_finish_check(finish, metrics, 100 * MS));
	assert_false(rx_finish_check(finish, metrics, 5 * NSEC_PER_SEC));
	assert_true(rx_finish_check(finish, metrics, 7 * NSEC_PER_SEC));
}

static void forged_frames_do_not_keep_it_waiting(void **state)
{
	(void)state;
	for (uint64_t seq = 0; seq < 10; seq++)
		add(1, 1, seq, 100, MS);
	rx_finish_last(finish, 1, 1, 0);
	for (uint32_t i = 0; i < 10; i++) {
		add(1000 + i, 1, i, 100, MS);
		rx_finish_check(finish, metrics, i * 20 * MS);
	}
	assert_true(rx_finish_check(finish, metrics, RX_GRACE_NS));
}

static struct verdict judge(int64_t deadline_ns, double sla)
{
	struct rx_stream *total = rx_metrics_total(metrics, NULL);
	struct verdict verdict = verdict_of_rx(total, deadline_ns, sla);

	rx_stream_free(total);
	return verdict;
}

static void bars_are_judged(void **state)
{
	struct verdict verdict;

	(void)state;
	for (uint64_t seq = 0; seq < 1000; seq++)
		if (seq != 500) /* one lost, two late */
			add(1, 1, seq, seq == 7 || seq == 8 ? 5001 : 5000, MS);
	verdict = judge(0, 0);
	assert_false(verdict.judged);
	verdict = judge(5000, 0);
	assert_true(verdict.judged);
	assert_int_equal(verdict.late, 2);
	assert_int_equal(verdict.due, 1000);
	assert_int_equal(verdict.missed, 3);
	assert_int_equal(verdict.source, SOURCE_XDP);
	assert_false(verdict.met);
	assert_true(judge(5000, 0.997).met);
	assert_false(judge(5000, 0.9971).met);
	assert_true(judge(0, 0.999).met); /* loss alone */
	assert_false(judge(0, 0.9995).met);
}

static void a_lost_frame_is_not_in_time(void **state)
{
	(void)state;
	for (uint64_t seq = 0; seq < 10; seq += 3)
		add(1, 1, seq, 100, MS);
	assert_int_equal(judge(5000, 0).late, 0);
	assert_int_equal(judge(5000, 0).missed, 6);
	assert_false(judge(5000, 0).met);
}

static void of_nothing_received_nothing_is_proven(void **state)
{
	(void)state;
	assert_false(judge(0, 0).judged);
	assert_true(judge(5000, 0).judged);
	assert_false(judge(5000, 0).known);
	assert_false(judge(0, 0.5).met);
}

static void without_a_stamp_no_frame_is_known_to_be_in_time(void **state)
{
	struct rx_record record = { .launch = MS, .stream = 1, .run = 1, .size = 60 };

	(void)state;
	rx_metrics_add(metrics, &record, NULL);
	assert_int_equal(judge(5000, 0).missed, 0);
	assert_int_equal(judge(5000, 0).unjudged, 1);
	assert_false(judge(5000, 0).met);
	assert_false(judge(5000, 0).known);
	assert_true(judge(0, 1).met);
}

static void frames_of_an_untrusted_clock_are_not_judged(void **state)
{
	struct rx_record record = { .launch = MS,
				    .rx_xdp = MS + 100,
				    .stream = 1,
				    .run = 1,
				    .size = 60,
				    .flags = RX_UNSYNCED };
	struct verdict verdict;

	(void)state;
	metrics->options.deadline_ns = 5000;
	for (uint64_t seq = 0; seq < 990; seq++)
		add(1, 1, seq, seq == 7 ? 5001 : 5000, MS);
	for (record.seq = 990; record.seq < 1000; record.seq++)
		rx_metrics_add(metrics, &record, NULL);
	verdict = judge(5000, 0.99);
	assert_int_equal(verdict.missed, 1);
	assert_int_equal(verdict.unjudged, 10);
	/* ten may be late: one of them decides */
	assert_false(verdict.known);
	assert_false(verdict.met);
	assert_true(judge(5000, 0.989).met);
	assert_true(judge(5000, 0.989).known);
	/* missed whatever they were */
	assert_true(judge(5000, 0.9995).known);
	assert_false(judge(5000, 0.9995).met);
	/* that they came is known */
	assert_true(judge(0, 1).met);
	assert_int_equal(judge(0, 1).unjudged, 0);
}

static void late_frames_are_known_though_their_records_are_lost(void **state)
{
	struct receiver_exact exact = {
		.run = 1, .stream = 1, .frames = 1000, .unique = 1000, .records_lost = 900
	};

	(void)state;
	metrics->options.deadline_ns = 5000;
	for (uint64_t seq = 0; seq < 1000; seq += 10)
		add(1, 1, seq, 100, MS);
	for (int i = 0; i < 1000; i++)
		histogram_add(&exact.latency, i < 4 ? 100000 : i < 10 ? 5010 : 100, 1, 1);
	rx_correct(metrics, SOURCE_XDP, &exact);
	/* of a value in the deadline's bucket (4992 to 5119) the kernel does not know */
	assert_int_equal(judge(5000, 0).late, 4);
	assert_int_equal(judge(5000, 0).unjudged, 6);
	assert_true(judge(5000, 0.99).met);
	assert_false(judge(5000, 0.991).known);
	assert_true(judge(5000, 0.997).known);
	histogram_free(&exact.latency);
}

static void late_for_the_records_alone_is_not_late(void **state)
{
	struct receiver_exact exact = { .run = 1,
					.stream = 1,
					.frames = 1000,
					.unique = 990,
					.duplicate = 10,
					.records_lost = 900 };

	(void)state;
	metrics->options.deadline_ns = 5000;
	for (uint64_t seq = 0; seq < 1000; seq += 10)
		add(1, 1, seq, seq < 100 ? 100000 : 100, MS);
	for (int i = 0; i < 990; i++)
		histogram_add(&exact.latency, i ? 100 : 5010, 1, 1);
	rx_correct(metrics, SOURCE_XDP, &exact);
	/* ten were late duplicates of lost records, but for one in the deadline's bucket perhaps */
	assert_int_equal(judge(5000, 0).late, 1);
	assert_int_equal(judge(5000, 0).unjudged, 0);
	/* what the kernel forgot in between is no better */
	exact.frames = 999;
	exact.lost = 77;
	rx_correct(metrics, SOURCE_XDP, &exact);
	assert_int_equal(rx_stream_counts(metrics->streams[0]).sequence.lost, 0);
	histogram_free(&exact.latency);
}

/* The kernel has unsynced frames in its histogram. */
static void of_an_untrusted_clock_the_records_alone_tell(void **state)
{
	struct receiver_exact exact = {
		.run = 1, .stream = 1, .frames = 1000, .unique = 1000, .records_lost = 899
	};
	struct rx_record record = { .seq = 991,
				    .launch = MS,
				    .rx_xdp = 2 * MS,
				    .stream = 1,
				    .run = 1,
				    .flags = RX_UNSYNCED };

	(void)state;
	metrics->options.deadline_ns = 5000;
	for (uint64_t seq = 0; seq < 1000; seq += 10)
		add(1, 1, seq, 100, MS);
	rx_metrics_add(metrics, &record, NULL);
	for (int i = 0; i < 1000; i++)
		histogram_add(&exact.latency, i ? 100 : MS, 1, 1);
	rx_correct(metrics, SOURCE_XDP, &exact);
	assert_int_equal(judge(5000, 0).late, 0);
	assert_int_equal(judge(5000, 0).unjudged, 900);
	assert_int_equal(metrics->streams[0]->frames, 1000);
	assert_int_equal(metrics->streams[0]->latency[SOURCE_XDP]->count, 100);
	assert_int_equal(metrics->streams[0]->latency[SOURCE_XDP]->max, 100);
	histogram_free(&exact.latency);
}

static void a_stream_without_a_single_record_is_not_forgotten(void **state)
{
	struct receiver_exact exact = { .run = 2,
					.stream = 7,
					.frames = 100,
					.first = 5,
					.unique = 100,
					.lost = 3,
					.records_lost = 100 };
	struct rx_counts counts;

	(void)state;
	metrics->options.deadline_ns = 5000;
	add(1, 1, 0, 100, MS);
	for (int i = 0; i < 100; i++)
		histogram_add(&exact.latency, i < 4 ? 100000 : 100, 1, 1);
	rx_correct(metrics, SOURCE_XDP, &exact);
	assert_int_equal(metrics->count, 2);
	counts = rx_stream_counts(metrics->streams[1]);
	assert_int_equal(metrics->streams[1]->run, 2);
	assert_int_equal(metrics->streams[1]->stream, 7);
	assert_int_equal(metrics->streams[1]->frames, 100);
	assert_int_equal(counts.sequence.lost, 3);
	assert_int_equal(counts.sequence.before_first, 5);
	assert_int_equal(judge(5000, 0).due, 104);
	assert_int_equal(judge(5000, 0).missed, 7);
	/* of one that user space gave up some records had come: they are counted as other frames */
	exact.run = 3;
	exact.records_lost = 99;
	rx_correct(metrics, SOURCE_XDP, &exact);
	assert_int_equal(metrics->count, 2);
	histogram_free(&exact.latency);
}

static void the_kernel_corrects_what_records_missed(void **state)
{
	struct receiver_exact exact = { .run = 1,
					.stream = 1,
					.frames = 1000,
					.unique = 990,
					.lost = 5,
					.duplicate = 10,
					.records_lost = 900 };
	struct rx_counts counts;

	(void)state;
	exact.gaps = 2;
	exact.gap_max = 4;
	exact.reorder_max = 3;
	for (uint64_t seq = 0; seq < 1000; seq += 10)
		add(1, 1, seq, 100, MS);
	histogram_add(&exact.latency, 777, 1, 1);
	rx_correct(metrics, SOURCE_XDP, &exact);
	counts = rx_stream_counts(metrics->streams[0]);
	assert_int_equal(metrics->streams[0]->frames, 1000);
	assert_int_equal(counts.sequence.lost, 5);
	assert_int_equal(counts.sequence.duplicate, 10);
	assert_int_equal(counts.sequence.gaps, 2);
	assert_int_equal(counts.sequence.gap_max, 4);
	assert_int_equal(counts.sequence.reorder_max, 3);
	assert_int_equal(metrics->streams[0]->latency[SOURCE_XDP]->count, 1);
	assert_int_equal(metrics->streams[0]->latency[SOURCE_XDP]->max, 777);
	histogram_free(&exact.latency);
}

static void an_honest_stream_is_listed_behind_a_flood_of_forged_ones(void **state)
{
	static char text[65536];
	FILE *out = fmemopen(text, sizeof(text), "w");
	size_t lines = 0;

	(void)state;
	for (uint32_t i = 0; i < 200; i++)
		add(0xf0000000 + i, 1, i, 100, MS);
	for (uint64_t seq = 0; seq < 50; seq++)
		add(0xabcdef01, 7, seq, 100, MS);
	text_print_rx(out, metrics);
	fclose(out);
	assert_non_null(strstr(text, "\n  abcdef01      7          50 "));
	for (const char *at = text; (at = strstr(at, "\n  f00000")); at++)
		lines++;
	assert_int_equal(lines, 63);
	assert_non_null(strstr(text, "  and 137 more, with fewer frames or as many"));
}

static void all_but_one_of_millions_are_not_all(void **state)
{
	char share[SHARE_TEXT];

	(void)state;
	assert_string_equal(format_share(9999999, 10000000, share), "99.99999 %");
	assert_string_equal(format_share(10000000, 10000000, share), "100 %");
	assert_string_equal(format_share(1, 3, share), "33.33 %");
}

/* Explaining ------------------------------------------------------------------------------------ */

static struct receiver_options wanted = { .ifname = "eth9", .ethertype = WIRE_ETHERTYPE };
static struct receiver_setup setup = { .source = SOURCE_XDP };

static char *explain(const struct rx_facts *facts)
{
	static char text[4096];
	FILE *out = fmemopen(text, sizeof(text), "w");

	rx_explain_drops(out, facts);
	rx_explain_nothing(out, facts);
	fclose(out);
	return text;
}

static struct rx_facts facts_of_a_good_link(void)
{
	return (struct rx_facts){ .options = &wanted,
				  .setup = &setup,
				  .ifname = "eth9",
				  .up = true,
				  .running = true,
				  .nic_counts = true };
}

#define assert_says(text, part)                                         \
	do {                                                            \
		if (!strstr(text, part))                                \
			fail_msg("'%s' does not say '%s'", text, part); \
	} while (0)

static void nothing_is_explained(void **state)
{
	struct rx_facts facts = facts_of_a_good_link();

	(void)state;
	assert_says(explain(&facts), "not a single frame came in at eth9");
	facts.running = false;
	assert_says(explain(&facts), "no carrier");
	strcpy(facts.ifname, "lan1");
	assert_says(explain(&facts), "eth9 is called lan1 now");
	assert_says(explain(&facts), "lan1 has no carrier");
	facts.up = false;
	assert_says(explain(&facts), "ip link set dev lan1 up");
	strcpy(facts.ifname, "eth9");
	facts.gone = true;
	assert_says(explain(&facts), "no longer exists");

	facts = facts_of_a_good_link();
	facts.counters.foreign = 12;
	facts.counters.ethertype[0] = 0x86dd;
	facts.counters.ethertype_frames[0] = 12;
	facts.vlan_filter = true;
	assert_says(explain(&facts), "0x86dd 12x");
	assert_says(explain(&facts), "VLAN filter");
	assert_says(explain(&facts), "destination filter");
	assert_null(strstr(explain(&facts), "XDP program"));
	facts.foreign_program = 1234;
	assert_says(explain(&facts), "XDP program 1234 on eth9");

	facts.counters.wrong_ethertype = 3;
	facts.counters.last_wrong_ethertype = 0x88b6;
	assert_says(explain(&facts), "--ethertype 0x88b6");
	assert_null(strstr(explain(&facts), "VLAN filter"));
	facts.counters.wrong_version = 4;
	facts.counters.last_wrong_version = 9;
	assert_says(explain(&facts), "version 9");
	facts.counters.ignored_run = 4;
	facts.counters.last_ignored_run = 0xbeef;
	assert_says(explain(&facts), "0000beef");
	facts.counters.ignored_stream = 4;
	facts.counters.last_ignored_stream = 17;
	assert_says(explain(&facts), "the last: 17");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_last_frame_ends_it_after_a_grace, begin, end),
		cmocka_unit_test_setup_teardown(another_stream_that_sends_keeps_it_going, begin,
						end),
		cmocka_unit_test_setup_teardown(a_stream_that_died_is_not_waited_for, begin, end),
		cmocka_unit_test_setup_teardown(a_slow_stream_is_given_its_time, begin, end),
		cmocka_unit_test_setup_teardown(forged_frames_do_not_keep_it_waiting, begin, end),
		cmocka_unit_test_setup_teardown(bars_are_judged, begin, end),
		cmocka_unit_test_setup_teardown(a_lost_frame_is_not_in_time, begin, end),
		cmocka_unit_test_setup_teardown(without_a_stamp_no_frame_is_known_to_be_in_time,
						begin, end),
		cmocka_unit_test_setup_teardown(frames_of_an_untrusted_clock_are_not_judged, begin,
						end),
		cmocka_unit_test_setup_teardown(late_frames_are_known_though_their_records_are_lost,
						begin, end),
		cmocka_unit_test_setup_teardown(late_for_the_records_alone_is_not_late, begin, end),
		cmocka_unit_test_setup_teardown(of_an_untrusted_clock_the_records_alone_tell, begin,
						end),
		cmocka_unit_test_setup_teardown(a_stream_without_a_single_record_is_not_forgotten,
						begin, end),
		cmocka_unit_test_setup_teardown(of_nothing_received_nothing_is_proven, begin, end),
		cmocka_unit_test_setup_teardown(the_kernel_corrects_what_records_missed, begin,
						end),
		cmocka_unit_test_setup_teardown(
			an_honest_stream_is_listed_behind_a_flood_of_forged_ones, begin, end),
		cmocka_unit_test(all_but_one_of_millions_are_not_all),
		cmocka_unit_test(nothing_is_explained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

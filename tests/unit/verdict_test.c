// SPDX-License-Identifier: GPL-2.0-only
/* What --deadline and --sla make of a sender's run. */
#include "cmocka_all.h"

#include <stdlib.h>

#include "report/verdict.h"

static struct tx_metrics *metrics;

/* A frame of the one stream; `error` is that of its software stamp, INT64_MIN: without one. */
static void add(uint16_t status, int64_t error)
{
	static int64_t seq;
	struct tx_record r = {
		.seq = seq, .launch = 1000000 * (seq + 1), .stream = 1, .status = status, .run = 5
	};

	seq++;
	if (error != INT64_MIN)
		r.tx_sw = r.launch + error;
	tx_metrics_add(metrics, &r);
}

static void begin(int64_t deadline_ns)
{
	struct tx_options options = { .lead_ns = 0, .deadline_ns = deadline_ns };

	metrics = tx_metrics_new(&options);
	assert_non_null(metrics);
}

static struct verdict judge(double sla)
{
	struct verdict v = verdict_of_tx(metrics, sla);

	return v;
}

static void what_was_not_sent_or_late_is_missed(void **state)
{
	struct verdict v;

	(void)state;
	begin(100);
	for (int i = 0; i < 95; i++)
		add(TX_SENT, 100); /* not above it */
	add(TX_SENT, 101);
	add(TX_SKIPPED, INT64_MIN);
	add(TX_REFUSED, INT64_MIN);
	add(TX_LINK_DOWN, INT64_MIN);
	add(TX_SENT | TX_MISSED, INT64_MIN);
	v = judge(0);
	assert_true(v.judged);
	assert_int_equal(v.due, 100);
	assert_int_equal(v.late, 1);
	assert_int_equal(v.missed, 5);
	assert_int_equal(v.source, SOURCE_SW);
	assert_true(v.required == 1.0);
	assert_false(v.met);
	/* whole frames are compared: five of a hundred are just what 95 % allow */
	assert_true(judge(0.95).met);
	assert_false(judge(0.951).met);
	tx_metrics_free(metrics);
}

static void without_a_bar_nothing_is_judged(void **state)
{
	(void)state;
	begin(0);
	assert_false(judge(0).judged);
	/* nothing was due: nothing is proven */
	assert_true(judge(0.9).judged);
	assert_false(judge(0.9).known);
	assert_false(judge(0.9).met);
	add(TX_SENT, 5000);
	add(TX_SKIPPED, INT64_MIN);
	assert_false(judge(0).judged);
	assert_true(judge(0.5).judged);
	assert_true(judge(0.5).met);
	assert_int_equal(judge(0.5).late, 0);
	assert_false(judge(0.6).met);
	tx_metrics_free(metrics);
}

static void one_stamp_in_n_speaks_for_all(void **state)
{
	struct verdict v;

	(void)state;
	begin(100);
	for (int i = 0; i < 100; i++) /* one in ten is stamped, and one in five of these late */
		add(TX_SENT, i % 10 ? INT64_MIN : i % 50 ? 0 : 200);
	v = judge(0.8);
	assert_int_equal(v.late, 20);
	assert_true(v.met);
	assert_false(judge(0.81).met);
	tx_metrics_free(metrics);
}

static void a_share_of_all_is_not_more_than_all(void **state)
{
	struct verdict v;

	(void)state;
	begin(100);
	/* seven are stamped, all of these late: 29 of 29, and not 7 * 4.142... = 30 */
	for (int i = 0; i < 29; i++)
		add(TX_SENT, i < 7 ? 200 : INT64_MIN);
	v = judge(0.5);
	assert_int_equal(v.late, 29);
	assert_int_equal(v.missed, 29);
	tx_metrics_free(metrics);
	begin(100);
	/* one of three: 3.3 of ten, which is more than three */
	for (int i = 0; i < 10; i++)
		add(TX_SENT, i < 3 ? i ? 0 : 200 : INT64_MIN);
	assert_int_equal(judge(0.5).late, 4);
	tx_metrics_free(metrics);
}

static void frames_of_an_untrusted_clock_are_not_judged(void **state)
{
	struct verdict v;

	(void)state;
	begin(100);
	for (int i = 0; i < 90; i++) /* one in ten is stamped, none late */
		add(TX_SENT, i % 10 ? INT64_MIN : 0);
	for (int i = 0; i < 9; i++)
		add(TX_SENT | TX_UNSYNCED, 500);
	/* never left: no question of when */
	add(TX_SENT | TX_MISSED | TX_UNSYNCED, INT64_MIN);
	v = judge(0.95);
	assert_int_equal(v.missed, 1);
	assert_int_equal(v.late, 0);
	assert_int_equal(v.unjudged, 9);
	assert_false(v.known);
	assert_false(v.met);
	assert_true(judge(0.9).met);
	assert_true(judge(1).known);
	assert_false(judge(1).met);
	tx_metrics_free(metrics);
}

static void all_but_one_of_millions_and_nothing_are_told_as_such(void **state)
{
	struct verdict v = { .due = 10000000, .missed = 1, .source = SOURCE_HW };
	struct verdict nothing = { .source = SOURCE_COUNT };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	verdict_finish(&v, 50000, 0.99999999);
	verdict_print(out, &v);
	verdict_finish(&nothing, 50000, 0);
	verdict_print(out, &nothing);
	fclose(out);
	assert_string_equal(text,
			    "\nVerdict: MISSED: 1 of 10000000 not in time (1e-05 %), 99.99999 % in "
			    "time, demanded 99.999999 %\n"
			    "\nVerdict: NOT KNOWN: there is nothing to judge\n");
	free(text);
}

static void what_is_not_known_is_told(void **state)
{
	struct verdict v = { .due = 1000,
			     .missed = 1,
			     .unjudged = 5000,
			     .source = SOURCE_HW,
			     .limit = { .from = LIMIT_TX_LOG,
					.of = LIMIT_OF_LAUNCH_ERROR,
					.deadline_ns = 50000,
					.sla = 0.999 } };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	json_t *o;

	(void)state;
	verdict_finish(&v, 50000, 0.999);
	assert_int_equal(v.unjudged, 999);
	v.unjudged = 9;
	verdict_finish(&v, 50000, 0.999);
	verdict_print(out, &v);
	v.other = (struct verdict_limit){ .of = LIMIT_OF_LATENCY, .sla = 0.5 };
	verdict_print(out, &v);
	fclose(out);
	assert_string_equal(text,
			    "\nVerdict: NOT KNOWN: 1 of 1000 not in time (0.1 %), 9 not judged "
			    "(0.9 %: clock not in "
			    "sync, or no stamp), 99 % in time, demanded 99.9 %\n"
			    "  limit from the sender's log: launch error at most 50us, 99.9 %\n"
			    "\nVerdict: NOT KNOWN: 1 of 1000 not in time (0.1 %), 9 not judged "
			    "(0.9 %: clock not in "
			    "sync, or no stamp), 99 % in time, demanded 99.9 %\n"
			    "  limit from the sender's log: launch error at most 50us, 99.9 %; the "
			    "sender's log has "
			    "another: no deadline, 50 %\n");
	free(text);
	o = verdict_json(&v);
	assert_string_equal(json_string_value(json_object_get(o, "is")), "not known");
	assert_true(json_is_false(json_object_get(o, "met")));
	assert_int_equal(json_integer_value(json_object_get(o, "unjudged")), 9);
	assert_string_equal(json_string_value(json_object_get(json_object_get(o, "limit"), "from")),
			    "tx log");
	json_decref(o);
	/* without a deadline there is nothing to judge but whether it came */
	verdict_finish(&v, 0, 0.999);
	assert_true(v.met);
	assert_int_equal(v.unjudged, 0);
}

static void a_frame_whose_record_is_missing_is_not_lost(void **state)
{
	struct verdict v = { .due = 1000, .missed = 1, .unlogged = 10, .source = SOURCE_XDP };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	verdict_finish(&v, 0, 0.99);
	assert_false(v.known);
	assert_int_equal(v.unlogged, 10);
	verdict_print(out, &v);
	fclose(out);
	assert_string_equal(text,
			    "\nVerdict: NOT KNOWN: 1 of 1000 not in time (0.1 %), 10 without a "
			    "record (1 %: the log lacks some), 98.9 % in time, demanded 99 %\n");
	free(text);
	verdict_finish(&v, 0, 0.98);
	assert_true(v.met);
	v.missed = 995;
	verdict_finish(&v, 0, 0.98);
	assert_true(v.known);
	assert_int_equal(v.unlogged, 5);
}

static void it_is_told_in_one_line(void **state)
{
	struct verdict v = { .due = 1000, .missed = 2000, .late = 3, .source = SOURCE_HW };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	json_t *o;

	(void)state;
	verdict_print(out, &v); /* nothing: not judged */
	verdict_finish(&v, 50, 0.999);
	assert_int_equal(v.missed, 1000);
	v.missed = 1;
	verdict_finish(&v, 50, 0.999);
	verdict_print(out, &v);
	fclose(out);
	assert_string_equal(text, "\nVerdict: met: 1 of 1000 not in time (0.1 %), 99.9 % in time, "
				  "demanded 99.9 %\n");
	free(text);
	o = verdict_json(&v);
	assert_true(json_is_true(json_object_get(o, "met")));
	assert_int_equal(json_integer_value(json_object_get(o, "missed")), 1);
	assert_string_equal(json_string_value(json_object_get(o, "source")), "hw");
	json_decref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_not_sent_or_late_is_missed),
		cmocka_unit_test(without_a_bar_nothing_is_judged),
		cmocka_unit_test(one_stamp_in_n_speaks_for_all),
		cmocka_unit_test(a_share_of_all_is_not_more_than_all),
		cmocka_unit_test(frames_of_an_untrusted_clock_are_not_judged),
		cmocka_unit_test(it_is_told_in_one_line),
		cmocka_unit_test(all_but_one_of_millions_and_nothing_are_told_as_such),
		cmocka_unit_test(what_is_not_known_is_told),
		cmocka_unit_test(a_frame_whose_record_is_missing_is_not_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

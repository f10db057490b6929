// SPDX-License-Identifier: GPL-2.0-only
#include "cmocka_all.h"

#include <string.h>

#include "report/explain.h"

#define US 1000LL
#define BASE 1800000000000000000LL

static struct tx_metrics *tx;
static struct rx_metrics *rx;
static struct explanation e;

static int start(void **state)
{
	const struct tx_options sender = { .lead_ns = 0 };
	const struct rx_options receiver = { .stamp = SOURCE_XDP, .no_peer_path = true };

	(void)state;
	tx = tx_metrics_new(&sender);
	rx = rx_metrics_new(&receiver);
	return tx && rx ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	tx_metrics_free(tx);
	rx_metrics_free(rx);
	return 0;
}

/* A frame that leaves `error_us` after its launch time and takes `path_us`; `lost`: it never comes. */
static void frame(int64_t seq, int64_t wake_us, int64_t error_us, int64_t path_us, bool lost)
{
	int64_t launch = BASE + seq * 1000 * US;
	const struct tx_record sent = { .seq = seq,
					.launch = launch,
					.wake = launch + wake_us * US,
					.submit = launch + error_us * US,
					.tx_sw = launch + error_us * US,
					.status = TX_SENT,
					.run = 1 };
	const struct rx_record came = {
		.seq = seq, .launch = launch, .rx_xdp = launch + (error_us + path_us) * US, .run = 1
	};
	struct rx_stream *stream;

	tx_metrics_add(tx, &sent);
	if (lost)
		return;
	stream = rx_metrics_add(rx, &came, NULL);
	assert_non_null(stream);
	rx_stream_add_path(rx, stream, &came, &sent);
}

/* A wake-up so late that its frame is not sent. */
static void withheld(int64_t seq, int64_t wake_us)
{
	int64_t launch = BASE + seq * 1000 * US - 500 * US;
	const struct tx_record skipped = { .seq = seq,
					   .launch = launch,
					   .wake = launch + wake_us * US,
					   .status = TX_SKIPPED,
					   .run = 1 };

	tx_metrics_add(tx, &skipped);
}

static bool says(const char *text)
{
	for (size_t i = 0; i < e.count; i++)
		if (strstr(e.lines[i], text))
			return true;
	return false;
}

static void a_punctual_run_needs_no_words(void **state)
{
	(void)state;
	for (int64_t i = 0; i < 2000; i++)
		frame(i, 1, 4, 5 + i % 3, false);
	explain_figures(&e, NULL, rx, NULL, -1);
	assert_int_equal(e.count, 0);
}

static void latency_that_is_the_senders(void **state)
{
	(void)state;
	for (int64_t i = 0; i < 2000; i++)
		frame(i, 20, 30, 4, false);
	explain_figures(&e, tx, rx, "timer", 0);
	assert_int_equal(e.count, 1);
	assert_true(says("of P50 34.0 us the frame leaves 30.0 us after its launch time (sw)"));
	assert_true(says("--spin"));
	explain_figures(&e, tx, rx, "gate", 0);
	assert_true(says("waits for its class's gate"));
}

static void latency_that_is_the_paths(void **state)
{
	(void)state;
	for (int64_t i = 0; i < 2000; i++)
		frame(i, 1, 2, 90, false);
	explain_figures(&e, tx, rx, "timer", 0);
	assert_int_equal(e.count, 1);
	assert_true(says("latency is mostly the path"));
}

static void tails(void **state)
{
	(void)state;
	/* 1 in 100: the wake-up */
	for (int64_t i = 0; i < 2000; i++)
		frame(i, i % 100 ? 3 : 900, i % 100 ? 5 : 910, 20, false);
	explain_figures(&e, tx, rx, "timer", 0);
	assert_true(says("the tail is the sender's wake-up"));
	assert_false(says("too late for their frames"));
	end(state);
	start(state);
	/* of a wake-up that is later than any latency, the frame was not sent */
	for (int64_t i = 0; i < 2000; i++) {
		if (i % 50 == 0)
			withheld(i, 2200);
		frame(i, i % 100 ? 3 : 400, i % 100 ? 5 : 410, 20, false);
	}
	explain_figures(&e, tx, rx, "timer", 0);
	assert_true(says("of latency 429.8 us"));
	assert_true(says("of wake-up 2199.7 us"));
	assert_true(says("too late for their frames, which were not sent and have no latency"));
	end(state);
	start(state);
	for (int64_t i = 0; i < 2000; i++)
		frame(i, 3, i % 100 ? 5 : 910, 20, false);
	explain_figures(&e, tx, rx, "timer", 0);
	assert_true(says("behind its wake-up"));
	end(state);
	start(state);
	for (int64_t i = 0; i < 2000; i++)
		frame(i, 3, 5, i % 100 ? 20 : 910, false);
	explain_figures(&e, tx, rx, "timer", 0);
	assert_true(says("the tail is the path's"));
}

static void patterns_of_loss(void **state)
{
	(void)state;
	for (int64_t i = 0; i < 2000; i++)
		frame(i, 1, 1, 1, i % 100 == 50);
	explain_figures(&e, NULL, rx, NULL, 20);
	assert_true(says("single ones (20 in 20 gaps)"));
	end(state);
	start(state);
	for (int64_t i = 0; i < 2000; i++)
		frame(i, 1, 1, 1, i >= 700 && i < 900);
	explain_figures(&e, NULL, rx, NULL, 200);
	assert_true(says("one outage: 200 of 200 in a row"));
	end(state);
	start(state);
	for (int64_t i = 0; i < 2000; i++)
		frame(i, 1, 1, 1, i % 100 >= 90);
	/* the last 10 are behind the last that came */
	explain_figures(&e, NULL, rx, NULL, 200);
	assert_true(says("bursts: 190 in 19 gaps, up to 10 in a row"));
	assert_true(says("10 frames were sent before the first or after the last one"));
}

static void the_tai_offset_of_one_side(void **state)
{
	(void)state;
	for (int64_t i = 0; i < 200; i++)
		frame(i, 1, 1, -37000000 + 20, false);
	explain_figures(&e, NULL, rx, NULL, -1);
	assert_true(says("latency is -37 s"));
	assert_true(says("on the sender alone"));
}

static void a_senders_log_alone(void **state)
{
	const struct tx_record skipped = {
		.seq = 5, .launch = BASE, .status = TX_SKIPPED, .run = 1
	};

	(void)state;
	tx_metrics_add(tx, &skipped);
	explain_figures(&e, tx, NULL, "timer", -1);
	assert_int_equal(e.count, 1);
	assert_true(says("1 frame was skipped"));
	explain_figures(&e, NULL, NULL, NULL, -1);
	assert_int_equal(e.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_punctual_run_needs_no_words, start, end),
		cmocka_unit_test_setup_teardown(latency_that_is_the_senders, start, end),
		cmocka_unit_test_setup_teardown(latency_that_is_the_paths, start, end),
		cmocka_unit_test_setup_teardown(tails, start, end),
		cmocka_unit_test_setup_teardown(patterns_of_loss, start, end),
		cmocka_unit_test_setup_teardown(the_tai_offset_of_one_side, start, end),
		cmocka_unit_test_setup_teardown(a_senders_log_alone, start, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
#include "cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "data/join.h"
#include "data/selection.h"

#define BASE 1800000000000000000LL

static char path[] = "/tmp/tsnlog.join.XXXXXX";

static int make_path(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	close(fd);
	return fd < 0;
}

static int remove_path(void **state)
{
	(void)state;
	return unlink(path);
}

static struct log_writer *begin(void)
{
	json_t *description = json_object();
	struct error err = ERROR_INIT;
	struct log_writer *log = log_create(path, RECORD_TX, description, &err);

	assert_non_null(log);
	json_decref(description);
	return log;
}

static void sent(struct log_writer *log, uint32_t run, uint16_t stream, uint64_t seq)
{
	struct error err = ERROR_INIT;
	struct tx_record r = {
		.seq = (int64_t)seq,
		.launch = BASE + (int64_t)(seq * 1000),
		.tx_sw = (int64_t)seq + 1,
		.stream = stream,
		.run = run,
		.status = TX_SENT,
	};

	assert_int_equal(log_append(log, &r, 1, &err), 0);
}

static struct log_reader *finish(struct log_writer *log)
{
	struct error err = ERROR_INIT;
	struct log_reader *reader;

	assert_int_equal(log_close(log, &err), 0);
	reader = log_open(path, &err);
	assert_non_null(reader);
	return reader;
}

static const struct tx_record *find(struct join *join, uint32_t run, uint16_t stream, uint64_t seq)
{
	struct error err = ERROR_INIT;
	struct rx_record rx = { .seq = (int64_t)seq, .stream = stream, .run = run };
	const struct tx_record *tx;

	rx.launch = seq > 1ULL << 50 ? INT64_MAX : BASE + (int64_t)(seq * 1000);
	tx = join_find(join, &rx, &err);
	assert_int_equal(err.status, 0);
	if (tx) {
		assert_int_equal(tx->seq, seq);
		assert_int_equal(tx->stream, stream);
		assert_int_equal(tx->run, run);
		assert_int_equal(tx->tx_sw, seq + 1);
	}
	return tx;
}

static uint64_t lost_sum;

static void on_lost(void *context, const struct tx_record *r)
{
	(void)context;
	lost_sum += (uint64_t)r->seq;
}

static void streams_interleave(void **state)
{
	struct log_writer *log = begin();
	struct error err = ERROR_INIT;
	struct log_reader *reader;
	struct join *join;

	(void)state;
	for (uint64_t seq = 0; seq < 1000; seq++)
		for (uint16_t stream = 0; stream < 50; stream++)
			sent(log, 7, stream, seq);
	reader = finish(log);
	lost_sum = 0;
	join = join_new(reader, NULL, on_lost, NULL);
	for (uint64_t seq = 0; seq < 1000; seq++)
		for (uint16_t stream = 0; stream < 50; stream++)
			if (seq % 100 != 99)
				assert_non_null(find(join, 7, (uint16_t)(49 - stream), seq));
	assert_null(find(join, 7, 50, 3));
	assert_null(find(join, 8, 0, 3));
	assert_int_equal(join_finish(join, &err), 0);
	assert_int_equal(join_counts(join).sent, 50000);
	assert_int_equal(join_counts(join).matched, 49500);
	assert_int_equal(join_counts(join).not_received, 500);
	assert_int_equal(join_counts(join).not_sent, 2);
	assert_int_equal(lost_sum, 50 * (99 + 199 + 299 + 399 + 499 + 599 + 699 + 799 + 899 + 999));
	assert_true(join_shares_run(join));
	join_free(join);
	log_reader_free(reader);
}

static void memory_stays_bounded_and_all_is_found(void **state)
{
	const uint64_t count = 3 * JOIN_WINDOW;
	struct log_writer *log = begin();
	struct error err = ERROR_INIT;
	struct log_reader *reader;
	struct join *join;

	(void)state;
	for (uint64_t seq = 0; seq < count; seq++)
		sent(log, 7, 1, seq);
	reader = finish(log);
	join = join_new(reader, NULL, NULL, NULL);
	for (uint64_t seq = 0; seq < count; seq++) {
		if (seq % 1000 == 500) {
			/* forged: far ahead, and with the latest launch of all */
			assert_null(find(join, 7, 1, UINT64_MAX - seq));
			continue;
		}
		assert_non_null(find(join, 7, 1, seq));
	}
	assert_int_equal(join_finish(join, &err), 0);
	assert_int_equal(join_counts(join).not_received, (count + 499) / 1000);
	assert_int_equal(join_counts(join).matched + join_counts(join).not_received, count);
	join_free(join);
	log_reader_free(reader);
}

static void a_receiver_that_comes_late_catches_up(void **state)
{
	const uint64_t count = 2 * JOIN_WINDOW, start = JOIN_WINDOW + 12345;
	struct log_writer *log = begin();
	struct error err = ERROR_INIT;
	struct log_reader *reader;
	struct join *join;
	uint64_t found = 0;

	(void)state;
	for (uint64_t seq = 0; seq < count; seq++)
		sent(log, 7, 1, seq);
	reader = finish(log);
	join = join_new(reader, NULL, NULL, NULL);
	for (uint64_t seq = start; seq < count; seq++)
		found += find(join, 7, 1, seq) != NULL;
	assert_true(found >= count - start - JOIN_PATIENCE);
	assert_int_equal(join_finish(join, &err), 0);
	assert_int_equal(join_counts(join).not_received, count - found);
	join_free(join);
	log_reader_free(reader);
}

static void skipped_cycles_and_repeated_numbers(void **state)
{
	struct tx_record skipped = { .seq = 1, .stream = 1, .run = 7, .status = TX_SKIPPED };
	struct log_writer *log = begin();
	struct error err = ERROR_INIT;
	struct log_reader *reader;
	struct join *join;

	(void)state;
	sent(log, 7, 1, 0);
	log_append(log, &skipped, 1, &err);
	sent(log, 7, 1, 1);
	sent(log, 7, 1, 1);
	reader = finish(log);
	join = join_new(reader, NULL, NULL, NULL);
	assert_non_null(find(join, 7, 1, 0));
	assert_non_null(find(join, 7, 1, 1));
	assert_non_null(find(join, 7, 1, 1)); /* a duplicate finds it too, and counts once */
	assert_int_equal(join_finish(join, &err), 0);
	assert_int_equal(join_counts(join).sent, 2);
	assert_int_equal(join_counts(join).matched, 2);
	assert_int_equal(join_counts(join).repeated, 1);
	join_free(join);
	log_reader_free(reader);
}

static void an_empty_log_joins_nothing(void **state)
{
	struct log_reader *reader = finish(begin());
	struct join *join = join_new(reader, NULL, NULL, NULL);
	struct error err = ERROR_INIT;

	(void)state;
	assert_null(find(join, 7, 1, 0));
	assert_int_equal(join_finish(join, &err), 0);
	assert_false(join_shares_run(join));
	join_free(join);
	log_reader_free(reader);
}

static void of_a_selection_only_sense_is_taken(void **state)
{
	static const char *const senseless[] = {
		"{}", "{\"options\": 5}",
		"{\"options\": {\"only_run\": -1, \"only_streams\": [1, 65536]}}",
		"{\"options\": {\"only_run\": 4294967296, \"only_streams\": [1, \"2\"]}}",
		"{\"options\": {\"only_streams\": {\"1\": 2}}}"
	};
	struct selection some = { .stream_count = 2, .streams = { 3, 65519 } }, read;
	json_t *description = json_pack("{s:{}}", "options");

	(void)state;
	for (size_t i = 0; i < sizeof(senseless) / sizeof(senseless[0]); i++) {
		json_t *parsed = json_loads(senseless[i], 0, NULL);

		assert_non_null(parsed);
		read = selection_read(parsed);
		assert_true(selection_has(&read, 1234, 7));
		json_decref(parsed);
	}
	selection_write(&some, json_object_get(description, "options"));
	read = selection_read(description);
	assert_true(selection_has(&read, 1234, 3));
	assert_true(selection_has(&read, 0, 65519));
	assert_false(selection_has(&read, 1234, 4));
	some.one_run = true;
	some.run = 0xffffffff;
	selection_write(&some, json_object_get(description, "options"));
	read = selection_read(description);
	assert_true(selection_has(&read, 0xffffffff, 3));
	assert_false(selection_has(&read, 0, 3));
	assert_false(selection_has(&read, 0xffffffff, 4));
	json_decref(description);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(streams_interleave),
		cmocka_unit_test(memory_stays_bounded_and_all_is_found),
		cmocka_unit_test(a_receiver_that_comes_late_catches_up),
		cmocka_unit_test(skipped_cycles_and_repeated_numbers),
		cmocka_unit_test(an_empty_log_joins_nothing),
		cmocka_unit_test(of_a_selection_only_sense_is_taken),
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}

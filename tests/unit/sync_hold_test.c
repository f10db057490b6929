// SPDX-License-Identifier: GPL-2.0-only
/* Records wait until it is known whether the clocks were good at their moment. */
#include "cmocka_all.h"

#include <string.h>

#include "data/record.h"
#include "engine/sync_hold.h"

#define ROOM 1024 /* the least */

static struct {
	int64_t seq[4 * ROOM];
	bool lost[4 * ROOM];
	size_t count;
} given;

static void give(void *context, const void *bytes, bool lost)
{
	struct tx_record record;

	assert_ptr_equal(context, &given);
	memcpy(&record, bytes, sizeof(record));
	given.seq[given.count] = record.seq;
	given.lost[given.count++] = lost;
}

/* A hold with records 0 .. count - 1, complete at 0, 10, 20 ... ns after 1000. */
static struct sync_hold *filled(int64_t count)
{
	struct sync_hold *hold = sync_hold_new(1, give, &given);

	assert_non_null(hold);
	memset(&given, 0, sizeof(given));
	for (int64_t i = 0; i < count; i++) {
		struct tx_record record = { .seq = i };

		sync_hold_put(hold, &record, 1000 + 10 * i);
	}
	return hold;
}

static void a_moment_is_good_lost_or_open(void **state)
{
	const struct sync_window window = { 1000, 500, 700 };
	const struct sync_window lasting = { 1000, 500, INT64_MAX };

	(void)state;
	assert_int_equal(sync_window_judge(&window, 500), SYNC_TRUST_GOOD);
	assert_int_equal(sync_window_judge(&window, 501), SYNC_TRUST_LOST);
	assert_int_equal(sync_window_judge(&window, 700), SYNC_TRUST_LOST);
	assert_int_equal(sync_window_judge(&window, 701), SYNC_TRUST_GOOD);
	assert_int_equal(sync_window_judge(&window, 1000), SYNC_TRUST_GOOD);
	assert_int_equal(sync_window_judge(&window, 1001), SYNC_TRUST_OPEN);
	assert_int_equal(sync_window_judge(&lasting, 1001), SYNC_TRUST_LOST);
}

static void what_is_vouched_for_goes_on_the_rest_waits(void **state)
{
	struct sync_window window = { .vouched_ns = 1039 };
	struct sync_hold *hold = filled(10);

	(void)state;
	assert_int_equal(sync_hold_pass(hold, &window, 100), 6);
	assert_int_equal(given.count, 4);
	window.vouched_ns = 1040;
	assert_int_equal(sync_hold_pass(hold, &window, 100), 5);
	for (size_t i = 0; i < given.count; i++) {
		assert_int_equal(given.seq[i], i);
		assert_false(given.lost[i]);
	}
	sync_hold_free(hold);
}

static void what_was_made_since_the_last_good_look_is_marked(void **state)
{
	/* good until 1035, and noticed at 1060 only */
	const struct sync_window window = { 1060, 1035, INT64_MAX };
	struct sync_hold *hold = filled(10);

	(void)state;
	assert_int_equal(sync_hold_pass(hold, &window, 100), 0);
	assert_int_equal(given.count, 10);
	for (size_t i = 0; i < 10; i++)
		assert_int_equal(given.lost[i], i >= 4);
	assert_int_equal(sync_hold_untold(hold), 0);
	sync_hold_free(hold);
}

static void a_loss_that_is_over_is_not_forgotten(void **state)
{
	/* the reader was away from 1010 to 1090: all of it lies behind */
	const struct sync_window window = { 1090, 1035, 1055 };
	struct sync_hold *hold = filled(10);

	(void)state;
	assert_int_equal(sync_hold_pass(hold, &window, 100), 0);
	for (size_t i = 0; i < 10; i++)
		assert_int_equal(given.lost[i], i == 4 || i == 5);
	sync_hold_free(hold);
}

static void at_most_so_many_at_a_turn(void **state)
{
	const struct sync_window window = { .vouched_ns = INT64_MAX };
	struct sync_hold *hold = filled(10);

	(void)state;
	assert_int_equal(sync_hold_pass(hold, &window, 3), 7);
	assert_int_equal(given.count, 3);
	sync_hold_flush(hold, &window);
	assert_int_equal(given.count, 10);
	assert_int_equal(sync_hold_untold(hold), 0);
	sync_hold_free(hold);
}

static void without_room_the_oldest_goes_and_is_counted(void **state)
{
	const struct sync_window window = { .vouched_ns = 0 };
	struct sync_hold *hold = filled(ROOM + 5);

	(void)state;
	assert_int_equal(given.count, 5);
	assert_int_equal(given.seq[4], 4);
	assert_int_equal(sync_hold_untold(hold), 5);
	assert_int_equal(sync_hold_pass(hold, &window, SIZE_MAX), ROOM);
	sync_hold_flush(hold, &window);
	assert_int_equal(given.count, ROOM + 5);
	assert_int_equal(given.seq[ROOM + 4], ROOM + 4);
	assert_false(given.lost[ROOM + 4]);
	assert_int_equal(sync_hold_untold(hold), ROOM + 5);
	sync_hold_free(hold);
	sync_hold_free(NULL);
}

/* Three looks in a row that cannot tell are a loss that reaches three seconds back, and one takes its time. */
static void what_lies_three_doubtful_looks_back_is_marked(void **state)
{
	const int64_t rate = 1000, s = 1000000000;
	/* last good at 0; noticed at 3.2 s */
	const struct sync_window window = { 3200000000, 0, INT64_MAX };
	struct sync_hold *hold = sync_hold_new((uint64_t)rate, give, &given);

	(void)state;
	memset(&given, 0, sizeof(given));
	for (int64_t i = 1; i <= 3200; i++) {
		struct tx_record record = { .seq = i };

		sync_hold_put(hold, &record, i * (s / rate));
	}
	assert_int_equal(given.count, 0);
	assert_int_equal(sync_hold_pass(hold, &window, SIZE_MAX), 0);
	assert_int_equal(given.count, 3200);
	for (size_t i = 0; i < given.count; i++)
		assert_true(given.lost[i]);
	assert_int_equal(sync_hold_untold(hold), 0);
	sync_hold_free(hold);
}

/* 3,500 records with room for 1,024 at first, and the ring's begin in its middle when it grows. */
static void where_the_rate_is_not_known_room_is_made(void **state)
{
	const struct sync_window early = { .vouched_ns = 500 }, late = { .vouched_ns = INT64_MAX };
	struct sync_hold *hold = sync_hold_new(0, give, &given);

	(void)state;
	memset(&given, 0, sizeof(given));
	for (int64_t i = 0; i < 3500; i++) {
		struct tx_record record = { .seq = i };

		sync_hold_put(hold, &record, i);
		if (i == 600)
			assert_int_equal(sync_hold_pass(hold, &early, SIZE_MAX), 100);
	}
	assert_int_equal(given.count, 501);
	assert_int_equal(sync_hold_pass(hold, &late, SIZE_MAX), 0);
	assert_int_equal(given.count, 3500);
	for (size_t i = 0; i < given.count; i++)
		assert_int_equal(given.seq[i], i);
	assert_int_equal(sync_hold_untold(hold), 0);
	sync_hold_free(hold);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_moment_is_good_lost_or_open),
		cmocka_unit_test(what_is_vouched_for_goes_on_the_rest_waits),
		cmocka_unit_test(what_was_made_since_the_last_good_look_is_marked),
		cmocka_unit_test(a_loss_that_is_over_is_not_forgotten),
		cmocka_unit_test(at_most_so_many_at_a_turn),
		cmocka_unit_test(without_room_the_oldest_goes_and_is_counted),
		cmocka_unit_test(what_lies_three_doubtful_looks_back_is_marked),
		cmocka_unit_test(where_the_rate_is_not_known_room_is_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

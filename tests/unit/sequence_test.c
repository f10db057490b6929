// SPDX-License-Identifier: GPL-2.0-only
#include "cmocka_all.h"

#include <string.h>

#include "data/sequence.h"

#define assert_counts(s, lost_, duplicate_, reordered_, stray_)                 \
	do {                                                                    \
		struct sequence_counts c = sequence_counts(s);                  \
                                                                                \
		assert_int_equal(c.lost, lost_);                                \
		assert_int_equal(c.duplicate, duplicate_);                      \
		assert_int_equal(c.reordered, reordered_);                      \
		assert_int_equal(c.stray, stray_);                              \
		assert_int_equal(c.received, c.unique + c.duplicate + c.stray); \
	} while (0)

static struct sequence s;

static int start(void **state)
{
	(void)state;
	memset(&s, 0, sizeof(s));
	return 0;
}

static void feed(uint64_t first, uint64_t last)
{
	for (uint64_t seq = first;; seq++) {
		sequence_add(&s, seq);
		if (seq == last)
			break;
	}
}

static void a_clean_run_has_no_faults(void **state)
{
	(void)state;
	feed(0, 99999);
	assert_counts(&s, 0, 0, 0, 0);
}

static void loss_duplicates_and_reordering_are_told_apart(void **state)
{
	(void)state;
	feed(0, 9);
	assert_int_equal(sequence_add(&s, 12), SEQUENCE_IN_ORDER); /* 10 and 11 missing */
	assert_counts(&s, 2, 0, 0, 0);
	assert_int_equal(sequence_add(&s, 11), SEQUENCE_REORDERED); /* late: not lost any more */
	assert_counts(&s, 1, 0, 1, 0);
	assert_int_equal(sequence_add(&s, 11), SEQUENCE_DUPLICATE);
	assert_int_equal(sequence_add(&s, 5), SEQUENCE_DUPLICATE);
	assert_int_equal(sequence_add(&s, 12), SEQUENCE_DUPLICATE);
	assert_counts(&s, 1, 3, 1, 0);
	assert_int_equal(sequence_counts(&s).reorder_max, 1);
}

static void reordered_is_as_rfc4737_defines(void **state)
{
	/* of 1 2 3 7 4 5 6 8 the frames 4, 5 and 6 are below the next expected, 8 */
	static const uint64_t arrivals[] = { 1, 2, 3, 7, 4, 5, 6, 8 };

	(void)state;
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(sequence_add(&s, arrivals[i]),
				 i >= 4 && i <= 6 ? SEQUENCE_REORDERED : SEQUENCE_IN_ORDER);
	assert_counts(&s, 0, 0, 3, 0);
	assert_int_equal(sequence_counts(&s).reorder_max, 3);
}

static void frames_before_the_first_seen_are_reordered(void **state)
{
	(void)state;
	feed(2, 3);
	assert_counts(&s, 0, 0, 0, 0);
	assert_int_equal(sequence_add(&s, 0), SEQUENCE_REORDERED);
	assert_counts(&s, 1, 0, 1, 0);
	assert_int_equal(sequence_add(&s, 1), SEQUENCE_REORDERED);
	assert_counts(&s, 0, 0, 2, 0);
}

static void numbers_before_the_first_are_not_lost(void **state)
{
	(void)state;
	feed(1722, 1800);
	assert_int_equal(sequence_counts(&s).before_first, 1722);
	assert_int_equal(sequence_counts(&s).lost, 0);
	/* overtaken by the first: it was sent before, and is here */
	feed(1700, 1700);
	assert_int_equal(sequence_counts(&s).before_first, 1700);
	assert_int_equal(sequence_counts(&s).lost, 21);
	/* a restart: nothing is known about what was before */
	feed(0x100000000000, 0x100000000020);
	assert_int_equal(sequence_counts(&s).restarts, 1);
	assert_int_equal(sequence_counts(&s).before_first, 0);
	memset(&s, 0, sizeof(s));
	feed(UINT64_MAX, UINT64_MAX);
	assert_int_equal(sequence_counts(&s).before_first, 0);
}

static void the_window_slides_over_words(void **state)
{
	(void)state;
	/* every second one over more than two windows, then the missing ones of the last window */
	for (uint64_t seq = 0; seq < 3 * SEQUENCE_WINDOW; seq += 2)
		sequence_add(&s, seq);
	assert_counts(&s, 3 * SEQUENCE_WINDOW / 2 - 1, 0, 0, 0);
	for (uint64_t seq = 2 * SEQUENCE_WINDOW + 1; seq < 3 * SEQUENCE_WINDOW - 2; seq += 2)
		assert_int_equal(sequence_add(&s, seq), SEQUENCE_REORDERED);
	assert_counts(&s, SEQUENCE_WINDOW, 0, SEQUENCE_WINDOW / 2 - 1, 0);
	/* a step over many whole words forgets what was seen there one window ago */
	sequence_add(&s, 3 * SEQUENCE_WINDOW + 5000);
	assert_int_equal(sequence_add(&s, 3 * SEQUENCE_WINDOW + 4990), SEQUENCE_REORDERED);
	assert_int_equal(sequence_add(&s, 3 * SEQUENCE_WINDOW - 2), SEQUENCE_DUPLICATE);
}

static void numbers_up_to_the_last_one(void **state)
{
	(void)state;
	feed(UINT64_MAX - 20, UINT64_MAX - 3);
	sequence_add(&s, UINT64_MAX);
	assert_counts(&s, 2, 0, 0, 0);
	assert_int_equal(sequence_add(&s, UINT64_MAX - 1), SEQUENCE_REORDERED);
	assert_int_equal(sequence_add(&s, UINT64_MAX), SEQUENCE_DUPLICATE);
	assert_counts(&s, 1, 1, 1, 0);
}

static void a_forged_number_changes_nothing(void **state)
{
	(void)state;
	feed(0, 99);
	assert_int_equal(sequence_add(&s, UINT64_MAX), SEQUENCE_STRAY);
	assert_int_equal(sequence_add(&s, 1ULL << 40), SEQUENCE_STRAY);
	feed(100, 199);
	assert_counts(&s, 0, 0, 0, 2);
}

static void forged_numbers_between_honest_ones_never_win(void **state)
{
	(void)state;
	sequence_add(&s, 0);
	for (uint64_t i = 1; i < 100; i++) {
		for (uint64_t k = 0; k < SEQUENCE_CONFIRM - 1; k++)
			sequence_add(&s, (1ULL << 50) + i * 100 + k);
		sequence_add(&s, i);
	}
	assert_counts(&s, 0, 0, 0, 99 * (SEQUENCE_CONFIRM - 1));
}

static void a_false_jump_is_undone(void **state)
{
	(void)state;
	feed(0, 99);
	feed(1000000, 1000099); /* longer than what is needed to be believed */
	assert_counts(&s, 999900, 0, 0, 0);
	feed(100, 199); /* the honest stream goes on */
	assert_counts(&s, 0, 0, 0, 100);
	feed(200, 299);
	assert_counts(&s, 0, 0, 0, 100);
	/* the same with a jump beyond what can be loss */
	feed(1ULL << 60, (1ULL << 60) + 30);
	assert_int_equal(sequence_counts(&s).restarts, 1);
	feed(300, 399);
	assert_counts(&s, 0, 0, 0, 131);
	assert_int_equal(sequence_counts(&s).restarts, 0);
	assert_int_equal(sequence_counts(&s).gaps, 0);
	assert_int_equal(sequence_counts(&s).gap_max, 0);
}

static void a_long_outage_is_loss(void **state)
{
	(void)state;
	feed(0, 999);
	feed(1001000, 1001999);
	assert_counts(&s, 1000000, 0, 0, 0);
	assert_int_equal(sequence_counts(&s).unique, 2000);
}

static void a_restart_from_zero_keeps_both_parts(void **state)
{
	(void)state;
	feed(500000, 500010);
	sequence_add(&s, 500012);
	feed(0, 99);
	assert_counts(&s, 1, 0, 0, 0);
	assert_int_equal(sequence_counts(&s).restarts, 1);
	assert_int_equal(sequence_counts(&s).unique, 112);
}

static void late_beyond_the_window_is_not_believed(void **state)
{
	(void)state;
	feed(0, SEQUENCE_WINDOW + 100);
	assert_int_equal(sequence_add(&s, 5), SEQUENCE_STRAY);
	assert_counts(&s, 0, 0, 0, 1);
}

/* Against a model that remembers everything. */
static void random_arrivals_agree_with_a_model(void **state)
{
	static uint8_t seen[40000];
	uint64_t lost, duplicate = 0, reordered = 0, unique = 0, highest = 0, first = UINT64_MAX;
	uint64_t random = 12345;

	(void)state;
	memset(seen, 0, sizeof(seen));
	for (uint64_t i = 0; i < 60000; i++) {
		uint64_t seq;

		random = random * 6364136223846793005ULL + 1442695040888963407ULL;
		seq = i / 2 + 100 + (random >> 33) % 9000;
		if ((random >> 60) == 0)
			seq = i / 2 + 100;
		if (seen[seq])
			duplicate++;
		else if (unique && seq < highest)
			reordered++;
		unique += !seen[seq];
		seen[seq] = 1;
		if (seq > highest)
			highest = seq;
		if (seq < first)
			first = seq;
		sequence_add(&s, seq);
		lost = highest - first + 1 - unique;
		assert_int_equal(sequence_counts(&s).lost, lost);
	}
	assert_counts(&s, lost, duplicate, reordered, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_clean_run_has_no_faults, start),
		cmocka_unit_test_setup(loss_duplicates_and_reordering_are_told_apart, start),
		cmocka_unit_test_setup(reordered_is_as_rfc4737_defines, start),
		cmocka_unit_test_setup(frames_before_the_first_seen_are_reordered, start),
		cmocka_unit_test_setup(numbers_before_the_first_are_not_lost, start),
		cmocka_unit_test_setup(the_window_slides_over_words, start),
		cmocka_unit_test_setup(numbers_up_to_the_last_one, start),
		cmocka_unit_test_setup(a_forged_number_changes_nothing, start),
		cmocka_unit_test_setup(forged_numbers_between_honest_ones_never_win, start),
		cmocka_unit_test_setup(a_false_jump_is_undone, start),
		cmocka_unit_test_setup(a_long_outage_is_loss, start),
		cmocka_unit_test_setup(a_restart_from_zero_keeps_both_parts, start),
		cmocka_unit_test_setup(late_beyond_the_window_is_not_believed, start),
		cmocka_unit_test_setup(random_arrivals_agree_with_a_model, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

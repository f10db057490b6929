// SPDX-License-Identifier: GPL-2.0-only
/* When the watched clock chain counts as lost, and as recovered. */
#include "cmocka_all.h"

#include "ptp/watch.h"

#define GOOD SYNC_VERDICT_GOOD
#define BAD SYNC_VERDICT_NOT_GOOD
#define DOUBT SYNC_VERDICT_CANNOT_TELL

/* Runs the latch over `verdicts` (G, b, ?) and compares the state after each (1 good, 0 lost). */
static void assert_states(bool good, const char *verdicts, const char *states)
{
	struct sync_latch latch = { .good = good };

	for (int i = 0; verdicts[i]; i++) {
		bool before = latch.good;
		bool changed = sync_latch_take(&latch, verdicts[i] == 'G'   ? GOOD
						       : verdicts[i] == 'b' ? BAD
									    : DOUBT);

		assert_int_equal(changed, before != latch.good);
		if (latch.good != (states[i] == '1'))
			fail_msg("%s: look %d leaves it %s", verdicts, i,
				 latch.good ? "good" : "lost");
	}
}

static void one_bad_look_is_a_loss(void **state)
{
	(void)state;
	assert_states(true, "GGbGGG", "110001");
}

static void recovery_takes_good_looks_in_a_row(void **state)
{
	(void)state;
	assert_states(false, "GGbGG?GGGb", "0000000010");
}

static void doubt_changes_nothing_at_first(void **state)
{
	(void)state;
	assert_states(true, "G??G???G", "11111100");
	assert_states(false, "????", "0000");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_bad_look_is_a_loss),
		cmocka_unit_test(recovery_takes_good_looks_in_a_row),
		cmocka_unit_test(doubt_changes_nothing_at_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

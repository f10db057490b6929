// SPDX-License-Identifier: GPL-2.0-only
#include "cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "engine/plan.h"

static struct stream make(uint16_t id, int64_t offset, uint32_t every, uint32_t phase)
{
	return (struct stream){
		.id = id, .offset_ns = offset, .every = every, .phase = phase, .frames = 1
	};
}

/* Against the plain definition, for random streams and for cycles that also jump, and run backwards. */
static void the_due_list_is_the_definition_in_launch_order(void **state)
{
	struct stream streams[200];
	uint16_t due[200];
	struct plan plan;

	(void)state;
	srand(7);
	for (unsigned round = 0; round < 20; round++) {
		unsigned count = 1 + (unsigned)rand() % 200;

		for (unsigned i = 0; i < count; i++) {
			uint32_t every = 1 + (uint32_t)rand() % (round % 2 ? 4 : 300);

			streams[i] = make((uint16_t)i, rand() % 10, every,
					  (uint32_t)rand() % every);
		}
		assert_int_equal(plan_init(&plan, streams, count), 0);
		for (int64_t k = -50; k < 400; k++) {
			int64_t cycle = round % 3 ? k : k * ((k & 7) - 3);
			unsigned expected = 0;
			unsigned got = plan_due(&plan, cycle, due);

			for (unsigned i = 0; i < count; i++) {
				int64_t rest = (cycle - streams[i].phase) % streams[i].every;

				if (rest == 0)
					expected++;
			}
			assert_int_equal(got, expected);
			for (unsigned i = 0; i < got; i++)
				assert_int_equal(
					(cycle - streams[due[i]].phase) % streams[due[i]].every, 0);
			for (unsigned i = 1; i < got; i++) {
				const struct stream *a = &streams[due[i - 1]],
						    *b = &streams[due[i]];

				assert_true(a->offset_ns < b->offset_ns ||
					    (a->offset_ns == b->offset_ns && due[i - 1] < due[i]));
			}
			assert_true((plan_next(&plan, cycle) == cycle) == (got > 0));
		}
		plan_free(&plan);
	}
}

static void empty_cycles_are_passed_over(void **state)
{
	struct stream streams[] = { make(1, 0, 1000, 3), make(2, 0, 500, 499) };
	struct plan plan;

	(void)state;
	assert_int_equal(plan_init(&plan, streams, 2), 0);
	assert_int_equal(plan_next(&plan, 4), 499);
	assert_int_equal(plan_next(&plan, 500), 999);
	assert_int_equal(plan_next(&plan, 1000), 1003);
	assert_int_equal(plan_next(&plan, -996), -501);
	plan_free(&plan);
}

static void occurrences_in_a_range(void **state)
{
	struct stream stream = make(1, 0, 4, 1);

	(void)state;
	assert_int_equal(plan_occurrences(&stream, 0, 0), 0);
	assert_int_equal(plan_occurrences(&stream, 0, 1), 0);
	assert_int_equal(plan_occurrences(&stream, 0, 2), 1);
	assert_int_equal(plan_occurrences(&stream, 1, 4), 1);
	assert_int_equal(plan_occurrences(&stream, 1, 5), 2);
	assert_int_equal(plan_occurrences(&stream, 2, 3), 0);
	assert_int_equal(plan_occurrences(&stream, 0, 400000000000), 100000000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_due_list_is_the_definition_in_launch_order),
		cmocka_unit_test(empty_cycles_are_passed_over),
		cmocka_unit_test(occurrences_in_a_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

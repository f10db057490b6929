// SPDX-License-Identifier: GPL-2.0-only
#include "cmocka_all.h"

#include <string.h>

#include "engine/publisher_private.h"

static struct stream make(uint16_t id, uint32_t size, uint32_t every, uint32_t phase,
			  uint32_t frames)
{
	return (struct stream){ .id = id,
				.size = size,
				.every = every,
				.phase = phase,
				.frames = frames,
				.vlan = STREAM_NO_VLAN };
}

static void the_fullest_cycle_counts(void **state)
{
	struct stream streams[3] = { make(1, 60, 1, 0, 2), make(2, 60, 2, 1, 1),
				     make(3, 60, 3, 1, 10) };
	int64_t wire[3], busiest;
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(load_check(streams, 3, 1000000, 1500, 1000, "e", wire, &busiest, &err), 0);
	assert_int_equal(wire[0], 672);
	assert_int_equal(busiest, 13 * 672); /* cycle 1: all three */
	streams[1].phase = 0;
	streams[2].every = 4; /* now the second and the third never meet */
	assert_int_equal(load_check(streams, 3, 1000000, 1500, 1000, "e", wire, &busiest, &err), 0);
	assert_int_equal(busiest, 12 * 672);
	assert_int_equal(
		load_check(streams, 3, 12 * 672 - 1, 1500, 1000, "e", wire, &busiest, &err), -1);
	assert_non_null(
		strstr(err.text, "shorter than its frames take on the wire: 8.064us at 1000 Mb/s"));
	/* ten times faster it fits; at an unknown speed nothing can be said */
	assert_int_equal(
		load_check(streams, 3, 12 * 672 - 1, 1500, 10000, "e", wire, &busiest, &err), 0);
	assert_int_equal(load_check(streams, 3, 1, 1500, 0, "e", wire, &busiest, &err), 0);
	assert_int_equal(wire[0], 0);
}

static void sizes_are_held_against_the_mtu(void **state)
{
	struct stream stream = make(9, 1514, 1, 0, 1);
	int64_t wire, busiest;
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(load_check(&stream, 1, 1000000, 1500, 1000, "e", &wire, &busiest, &err),
			 0);
	stream.size = 1515;
	assert_int_equal(load_check(&stream, 1, 1000000, 1500, 1000, "e", &wire, &busiest, &err),
			 -1);
	assert_non_null(
		strstr(err.text, "stream 9: size 1515 exceeds the MTU 1500 of e: at most 1514"));
	assert_non_null(strstr(err.text, "ip link set e mtu 1501"));
	stream.vlan = 5;
	stream.size = 1518;
	assert_int_equal(load_check(&stream, 1, 1000000, 1500, 1000, "e", &wire, &busiest, &err),
			 0);
	stream.size = 59;
	assert_int_equal(load_check(&stream, 1, 1000000, 1500, 1000, "e", &wire, &busiest, &err),
			 -1);
	stream = make(9, 64, 1, 0, 70000);
	assert_int_equal(
		load_check(&stream, 1, 1000000000, 1500, 10000, "e", &wire, &busiest, &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_fullest_cycle_counts),
		cmocka_unit_test(sizes_are_held_against_the_mtu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

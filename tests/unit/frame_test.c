// SPDX-License-Identifier: GPL-2.0-only
#include "cmocka_all.h"

#include <string.h>

#include "engine/frame.h"

static const uint8_t source[6] = { 2, 0, 0, 0, 0, 1 };

static void the_wire_format_byte_by_byte(void **state)
{
	struct stream stream = { .id = 0x1234,
				 .dest = { 0x91, 0xe0, 0xf0, 0, 0xfe, 7 },
				 .vlan = 5,
				 .priority = 6,
				 .size = 64 };
	struct frame_fields fields = { .seq = 0x0102030405060708,
				       .launch = 0x1112131415161718,
				       .stamp = 0x2122232425262728,
				       .stamp_distance = 0x3132,
				       .stamp_hw = true,
				       .last = true };
	static const uint8_t expected[64] = {
		0x91, 0xe0, 0xf0, 0,    0xfe, 7,    2,    0,    0,    0,    0,    1,
		0x81, 0x00, 0xc0, 0x05, 0x88, 0xb5, 'T',  'S',  'N',  'P',  1,    7,
		0x12, 0x34, 0xde, 0xad, 0xbe, 0xef, 0x31, 0x32, 0,    0,    1,    2,
		3,    4,    5,    6,    7,    8,    0x11, 0x12, 0x13, 0x14, 0x15, 0x16,
		0x17, 0x18, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28,
	};
	uint8_t frame[64];
	size_t at;

	(void)state;
	memset(frame, 0xaa, sizeof(frame));
	at = frame_build(frame, &stream, source, WIRE_ETHERTYPE, 0xdeadbeef);
	assert_int_equal(at, 18);
	frame_write(frame + at, &fields);
	assert_memory_equal(frame, expected, sizeof(frame));
	/* without a stamp the fields are zero again */
	fields.stamp_distance = 0;
	fields.last = false;
	frame_write(frame + at, &fields);
	assert_int_equal(frame[at + 5], 0);
	for (int i = 0; i < 8; i++)
		assert_int_equal(frame[at + 32 + i], 0);
}

static void what_is_written_is_read(void **state)
{
	struct stream stream = { .id = 9, .vlan = STREAM_NO_VLAN, .size = 60 };
	struct frame_fields in = {
		.seq = UINT64_MAX, .launch = INT64_MAX, .stamp = 7, .stamp_distance = 1
	};
	struct frame_fields out;
	uint8_t frame[128] = { 0 };
	uint16_t id;
	uint32_t run;

	(void)state;
	for (int tags = 0; tags <= 2; tags++) {
		stream.vlan = tags ? 4094 : STREAM_NO_VLAN;
		size_t at = frame_build(frame, &stream, source, WIRE_ETHERTYPE, 77);

		frame_write(frame + at, &in);
		if (tags == 2) {
			memmove(frame + 16, frame + 12, 64);
			frame[12] = 0x88;
			frame[13] = 0xa8;
		}
		size_t size = 14 + 4 * (size_t)tags + WIRE_PAYLOAD_SIZE;

		assert_true(frame_read(frame, size, WIRE_ETHERTYPE, &id, &run, &out));
		assert_int_equal(id, 9);
		assert_int_equal(run, 77);
		assert_true(out.seq == UINT64_MAX && out.launch == INT64_MAX);
		assert_int_equal(out.stamp, 7);
		assert_int_equal(out.stamp_distance, 1);
		assert_false(out.last);
		for (size_t cut = 0; cut < size; cut++)
			assert_false(frame_read(frame, cut, WIRE_ETHERTYPE, &id, &run, &out));
		assert_false(frame_read(frame, size, 0x88b6, &id, &run, &out));
	}
	frame[20] ^= 1; /* the EtherType behind both tags */
	assert_false(frame_read(frame, 128, WIRE_ETHERTYPE, &id, &run, &out));
}

static void the_smallest_frame_holds_the_payload(void **state)
{
	struct stream stream = { .vlan = STREAM_NO_VLAN };

	(void)state;
	assert_int_equal(frame_size_min(&stream), 60);
	stream.vlan = 0;
	assert_int_equal(frame_size_min(&stream), 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_wire_format_byte_by_byte),
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(the_smallest_frame_holds_the_payload),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

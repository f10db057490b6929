// SPDX-License-Identifier: GPL-2.0-only
#include "cmocka_all.h"

#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/receive_parse.h"
#include "bpf/receive_track.h"
#include "data/sequence.h"

struct frame {
	uint8_t bytes[128];
	size_t size;
};

static void put(struct frame *frame, const void *bytes, size_t size)
{
	memcpy(frame->bytes + frame->size, bytes, size);
	frame->size += size;
}

static void put16(struct frame *frame, uint16_t value)
{
	uint8_t bytes[2] = { (uint8_t)(value >> 8), (uint8_t)value };

	put(frame, bytes, 2);
}

/* Header with these tags (0: none), then the payload's bytes as the wire has them. */
static struct frame make(uint16_t tag1, uint16_t tag2, uint16_t ethertype)
{
	static const uint8_t payload[WIRE_PAYLOAD_SIZE] = {
		'T', 'S', 'N',  'P', 1, 7, 0x01, 0x02, 0xde, 0xad, 0xbe, 0xef, 0, 9,
		0,   0,   0,    0,   0, 0, 1,    2,    3,    4,    0,    0,    0, 0,
		0,   0,   0x10, 0,   0, 0, 0,    0,    0,    0,    0x20, 0,
	};
	struct frame frame = { .size = 12 };

	if (tag1) {
		put16(&frame, tag1);
		put16(&frame, 5);
	}
	if (tag2) {
		put16(&frame, tag2);
		put16(&frame, 6);
	}
	put16(&frame, ethertype);
	put(&frame, payload, sizeof(payload));
	return frame;
}

/* On the heap and of exactly that size, so that the sanitizer sees a read behind the end. */
static enum rx_verdict parse(const struct frame *frame, size_t size, struct rx_event *event)
{
	uint8_t *bytes = malloc(size ? size : 1);
	struct rx_parsed parsed;
	enum rx_verdict verdict;

	memcpy(bytes, frame->bytes, size);
	verdict = rx_parse(bytes, bytes + size, WIRE_ETHERTYPE, &parsed);
	if (verdict == RX_OURS && event)
		rx_fill_event(event, &parsed, (__u32)size);
	free(bytes);
	return verdict;
}

static void fields_are_read(void **state)
{
	struct frame frame = make(0, 0, WIRE_ETHERTYPE);
	struct rx_event event;

	(void)state;
	assert_int_equal(parse(&frame, frame.size, &event), RX_OURS);
	assert_int_equal(event.seq, 0x01020304);
	assert_int_equal(event.launch, 0x1000);
	assert_int_equal(event.peer_tx, 0x2000);
	assert_int_equal(event.run, 0xdeadbeef);
	assert_int_equal(event.stream, 0x0102);
	assert_int_equal(event.stamp_distance, 9);
	assert_int_equal(event.size, 54);
	assert_int_equal(event.flags, RX_EVENT_STAMP | RX_EVENT_LAST | RX_EVENT_STAMP_HW);
}

static void up_to_two_tags_are_looked_through(void **state)
{
	struct frame one = make(0x8100, 0, WIRE_ETHERTYPE);
	struct frame two = make(0x88a8, 0x8100, WIRE_ETHERTYPE);
	struct frame three = make(0x8100, 0x8100, 0x8100);
	struct rx_event event;

	(void)state;
	assert_int_equal(parse(&one, one.size, &event), RX_OURS);
	assert_true(event.flags & RX_EVENT_VLAN);
	assert_int_equal(event.seq, 0x01020304);
	assert_int_equal(parse(&two, two.size, &event), RX_OURS);
	assert_int_equal(event.seq, 0x01020304);
	assert_int_equal(parse(&three, three.size, NULL), RX_WRONG_ETHERTYPE);
}

static void every_length_is_bounded(void **state)
{
	struct frame frames[] = { make(0, 0, WIRE_ETHERTYPE), make(0x8100, 0, WIRE_ETHERTYPE),
				  make(0x88a8, 0x8100, WIRE_ETHERTYPE), make(0, 0, 0) };

	(void)state;
	for (size_t i = 0; i < 4; i++)
		for (size_t size = 0; size < frames[i].size; size++) {
			enum rx_verdict verdict = parse(&frames[i], size, NULL);

			assert_true(verdict == RX_FOREIGN || verdict == RX_TOO_SHORT);
		}
	assert_int_equal(parse(&frames[0], 14, NULL), RX_TOO_SHORT);
	assert_int_equal(parse(&frames[0], 53, NULL), RX_TOO_SHORT);
	assert_int_equal(parse(&frames[1], 57, NULL), RX_TOO_SHORT);
	assert_int_equal(parse(&frames[1], 58, NULL), RX_OURS);
}

static void others_are_told_apart(void **state)
{
	struct frame frame = make(0, 0, WIRE_ETHERTYPE);
	struct frame zero = { .size = 60 };

	(void)state;
	frame.bytes[18] = 2;
	assert_int_equal(parse(&frame, frame.size, NULL), RX_WRONG_VERSION);
	frame.bytes[14] = 'X';
	assert_int_equal(parse(&frame, frame.size, NULL), RX_WRONG_MAGIC);
	frame = make(0, 0, 0x88b6);
	assert_int_equal(parse(&frame, frame.size, NULL), RX_WRONG_ETHERTYPE);
	frame.bytes[14] = 'X';
	assert_int_equal(parse(&frame, frame.size, NULL), RX_FOREIGN);
	assert_int_equal(parse(&zero, zero.size, NULL), RX_ALL_ZERO);
	zero.bytes[53] = 1;
	assert_int_equal(parse(&zero, zero.size, NULL), RX_FOREIGN);
}

static void foreign_ethertypes_are_remembered(void **state)
{
	struct rx_counters counters = { 0 };

	(void)state;
	for (uint16_t i = 0; i < 20; i++)
		rx_note_ethertype(&counters, 0x800);
	for (uint16_t i = 0; i < 20; i++)
		rx_note_ethertype(&counters, 0x9000 + i);
	assert_int_equal(counters.ethertype[0], 0x800);
	assert_int_equal(counters.ethertype_frames[0], 20);
	assert_int_equal(counters.ethertype[7], 0x9006);
	assert_int_equal(counters.ethertype_frames[7], 1);
}

/* Sequence -------------------------------------------------------------------------------------- */

static struct rx_stream_stats *track_new(void **state)
{
	struct rx_stream_stats *stats = *state;

	memset(stats, 0, sizeof(*stats));
	return stats;
}

static uint64_t lost(const struct rx_stream_stats *stats)
{
	return stats->span.lost_before + stats->span.highest - stats->span.first + 1 -
	       stats->span.unique;
}

static void loss_duplicates_and_reordering(void **state)
{
	struct rx_stream_stats *stats = track_new(state);
	static const uint64_t numbers[] = { 10, 11, 14, 13, 13, 20, 9, 14, 22, 21 };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		rx_track_sequence(stats, numbers[i]);
	assert_int_equal(stats->span.unique, 8);
	assert_int_equal(stats->duplicate, 2);
	assert_int_equal(stats->reordered, 3);
	assert_int_equal(lost(stats), 6); /* 12, 15 to 19 */
	assert_int_equal(stats->span.gaps, 3); /* behind 11, 14 and 20 */
	assert_int_equal(stats->span.gap_max, 5); /* not the latest one */
	assert_int_equal(stats->reorder_max, 11); /* 9 behind 20; 21 behind 22 came later */
	assert_int_equal(stats->stray, 0);
}

/* Against a plain array of flags, over steps of all sizes. */
static void the_window_agrees_with_a_model(void **state)
{
	struct rx_stream_stats *stats = track_new(state);
	static uint8_t seen[400000];
	uint64_t highest = 1000, unique = 0, duplicate = 0, reordered = 0;
	uint32_t random = 1;

	memset(seen, 0, sizeof(seen));
	for (int i = 0; i < 60000; i++) {
		uint64_t seq;

		random = random * 1664525 + 1013904223;
		if (i && random >> 30 == 0) {
			seq = highest - (random >> 8) % 1000;
		} else {
			uint32_t step = random >> 16 & 0xff;

			seq = highest + (step < 200   ? 1
					 : step < 250 ? step - 200
						      : (step - 249) * 400);
		}
		if (seq >= sizeof(seen))
			break;
		rx_track_sequence(stats, seq);
		if (seen[seq])
			duplicate++;
		else if (i && seq < highest)
			reordered++;
		unique += !seen[seq];
		seen[seq] = 1;
		if (seq > highest)
			highest = seq;
	}
	assert_int_equal(stats->span.unique, unique);
	assert_int_equal(stats->duplicate, duplicate);
	assert_int_equal(stats->reordered, reordered);
	assert_true(unique > 5000 && duplicate > 100 && reordered > 100);
	assert_int_equal(stats->stray, 0);
}

static void a_forged_number_changes_nothing(void **state)
{
	struct rx_stream_stats *stats = track_new(state);
	static const uint64_t forged[] = { UINT64_MAX, 1ULL << 63, 0, RX_JUMP * 3 };

	for (uint64_t seq = 5000; seq < 6000; seq++) {
		rx_track_sequence(stats, seq);
		rx_track_sequence(stats, forged[seq % 4]);
	}
	assert_int_equal(stats->span.unique, 1000);
	assert_int_equal(lost(stats), 0);
	assert_int_equal(stats->stray, 1000);
	assert_int_equal(stats->span.restarts, 0);
}

static void a_confirmed_jump_is_a_restart(void **state)
{
	struct rx_stream_stats *stats = track_new(state);

	for (uint64_t seq = 1000000; seq < 1000100; seq += 2)
		rx_track_sequence(stats, seq);
	for (uint64_t seq = 0; seq < 100; seq++)
		rx_track_sequence(stats, seq);
	assert_int_equal(stats->span.restarts, 1);
	assert_int_equal(stats->stray, 0);
	assert_int_equal(stats->span.unique + stats->span.unique_before, 150);
	assert_int_equal(lost(stats), 49);
}

/* The receiver's other tracker, in user space, takes over where no record was lost: they must not differ. */
static void user_space_counts_the_same(void **state)
{
	struct rx_stream_stats *stats = track_new(state);
	struct sequence *other = calloc(1, sizeof(*other));
	struct sequence_counts counts;
	uint64_t seq = 70000, random = 7, restarts = 0, jumps_back = 0, outages = 0;

	assert_non_null(other);
	for (int i = 0; i < 200000; i++) {
		uint64_t now, former = stats->span.restarts;

		random = random * 6364136223846793005ULL + 1442695040888963407ULL;
		now = ++seq;
		switch (random >> 33 & 0x1fff) {
		case 1:
			seq += 100000 + (random >> 50); /* an outage */
			outages++;
			break;
		case 2:
			now = random; /* forged */
			seq--;
			break;
		case 3: /* sixteen forged ones, far off or not so far */
			now = random >> 60 & 1 ? random : seq + 200000;
			for (int k = 0; k < 16; k++) {
				rx_track_sequence(stats, now + (uint64_t)k);
				sequence_add(other, now + (uint64_t)k);
			}
			jumps_back++;
			continue;
		case 4:
			if (random >> 62 == 0)
				seq = random >> 45; /* the numbering begins anew */
			break;
		case 5 ... 60:
			now = seq - 1 - (random >> 50) % 500; /* again, or late */
			seq--;
			break;
		case 61 ... 90:
			seq += (random >> 50) % 3000; /* loss */
			break;
		}
		rx_track_sequence(stats, now);
		sequence_add(other, now);
		restarts += stats->span.restarts > former;
	}
	counts = sequence_counts(other);
	assert_true(restarts > 0 && jumps_back > 0 && outages > 0);
	assert_int_equal(stats->span.unique + stats->span.unique_before, counts.unique);
	assert_int_equal(lost(stats), counts.lost);
	assert_int_equal(stats->duplicate, counts.duplicate);
	assert_int_equal(stats->reordered, counts.reordered);
	assert_int_equal(stats->stray, counts.stray);
	assert_int_equal(stats->span.restarts, counts.restarts);
	assert_int_equal(stats->span.gaps, counts.gaps);
	assert_int_equal(stats->span.gap_max, counts.gap_max);
	assert_int_equal(stats->reorder_max, counts.reorder_max);
	free(other);
}

static void of_a_stray_and_a_duplicate_nothing_counts(void **state)
{
	struct rx_stream_stats *stats = track_new(state);
	struct rx_event event = { .launch = 1000, .size = 60 };

	for (event.seq = 0; event.seq < 10; event.seq++)
		rx_track(stats, &event, 1500);
	event.flags = RX_EVENT_LAST;
	event.seq = 3;
	rx_track(stats, &event, 90000);
	event.seq = 1ULL << 40;
	rx_track(stats, &event, 90000);
	assert_int_equal(stats->frames, 12);
	assert_int_equal(stats->latency_count, 10);
	assert_int_equal(stats->latency_max, 500);
	assert_int_equal(stats->flags, 0);
	event.seq = 10;
	rx_track(stats, &event, 1600);
	assert_int_equal(stats->latency_max, 600);
	assert_int_equal(stats->flags, RX_EVENT_LAST);
}

static void the_sum_of_latencies_does_not_overflow(void **state)
{
	struct rx_stream_stats *stats = track_new(state);
	const uint64_t now = 1ULL << 62;

	for (uint64_t i = 0; i < 8; i++)
		rx_track_latency(stats, i, 1, now + 1);
	assert_int_equal(stats->latency_sum, 0); /* 8 * 2^62 = 2 * 2^64 */
	assert_int_equal(stats->latency_sum_high, 2);
	for (uint64_t i = 0; i < 9; i++)
		rx_track_latency(stats, i, now + 1, 1);
	assert_int_equal(stats->latency_sum_high, -1);
	assert_int_equal(stats->latency_sum, 3ULL << 62); /* -2^62 */
}

static void the_highest_number_does_not_wrap(void **state)
{
	struct rx_stream_stats *stats = track_new(state);

	for (uint64_t i = 0; i < 50; i++)
		rx_track_sequence(stats, UINT64_MAX - 49 + i);
	assert_int_equal(lost(stats), 0);
	rx_track_sequence(stats, 0);
	assert_int_equal(stats->stray, 1);
	assert_int_equal(stats->span.highest, UINT64_MAX);
}

static void latency_is_counted_where_there_is_a_stamp(void **state)
{
	struct rx_stream_stats *stats = track_new(state);
	uint64_t sum = 0;

	rx_track_latency(stats, 1, 1000, 0);
	assert_int_equal(stats->latency_count, 0);
	rx_track_latency(stats, 2, 1000, 1500);
	rx_track_latency(stats, 3, 1000, 900);
	rx_track_latency(stats, 4, UINT64_MAX, 1); /* wraps: 2 ns */
	rx_track_latency(stats, 5, 1, (1ULL << 63) + 1);
	rx_track_latency(stats, 6, 0, 1000); /* no launch time */
	assert_int_equal(stats->latency_count, 4);
	assert_int_equal(stats->latency_min, INT64_MIN);
	assert_int_equal(stats->latency_max, 500);
	assert_int_equal(stats->latency_max_seq, 2);
	for (int i = 0; i < RX_HISTOGRAM_BUCKETS; i++)
		sum += stats->histogram[i];
	assert_int_equal(sum, 4);
	assert_int_equal(stats->histogram[bucket_of(500, RX_HISTOGRAM_BITS)], 1);
}

static int make_stats(void **state)
{
	*state = calloc(1, sizeof(struct rx_stream_stats));
	return *state ? 0 : -1;
}

static int free_stats(void **state)
{
	free(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_read),
		cmocka_unit_test(up_to_two_tags_are_looked_through),
		cmocka_unit_test(every_length_is_bounded),
		cmocka_unit_test(others_are_told_apart),
		cmocka_unit_test(foreign_ethertypes_are_remembered),
		cmocka_unit_test(loss_duplicates_and_reordering),
		cmocka_unit_test(the_window_agrees_with_a_model),
		cmocka_unit_test(a_forged_number_changes_nothing),
		cmocka_unit_test(a_confirmed_jump_is_a_restart),
		cmocka_unit_test(user_space_counts_the_same),
		cmocka_unit_test(of_a_stray_and_a_duplicate_nothing_counts),
		cmocka_unit_test(the_sum_of_latencies_does_not_overflow),
		cmocka_unit_test(the_highest_number_does_not_wrap),
		cmocka_unit_test(latency_is_counted_where_there_is_a_stamp),
	};

	return cmocka_run_group_tests(tests, make_stats, free_stats);
}

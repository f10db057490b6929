// SPDX-License-Identifier: GPL-2.0-only
#include "cmocka_all.h"

#include <linux/types.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "base/markup.h"
#include "base/spsc.h"
#include "base/worker.h"
#include "bpf/bucket.h"

static void a_full_ring_refuses_and_counts(void **state)
{
	struct spsc ring;
	uint64_t value;

	(void)state;
	assert_int_equal(spsc_init(&ring, 4, sizeof(value)), 0);
	for (value = 0; value < 4; value++)
		assert_true(spsc_push(&ring, &value));
	assert_false(spsc_push(&ring, &value));
	assert_int_equal(ring.dropped, 1);
	for (uint64_t i = 0; i < 4; i++) {
		assert_true(spsc_pop(&ring, &value));
		assert_int_equal(value, i);
	}
	assert_false(spsc_pop(&ring, &value));
	spsc_free(&ring);
}

/* as many as make the two wait for each other often, also on one CPU that others use as well */
#define RECORDS 50000

static void *produce(void *arg)
{
	struct spsc *ring = arg;

	for (uint64_t value = 0; value < RECORDS;)
		if (spsc_push(ring, &value))
			value++;
		else
			sched_yield(); /* on a single CPU the other would wait for the end of each time slice */
	return NULL;
}

static void records_arrive_in_order_between_threads(void **state)
{
	struct spsc ring;
	pthread_t thread;
	uint64_t value;

	(void)state;
	assert_int_equal(spsc_init(&ring, 64, sizeof(value)), 0);
	assert_int_equal(pthread_create(&thread, NULL, produce, &ring), 0);
	for (uint64_t expected = 0; expected < RECORDS;) {
		if (!spsc_pop(&ring, &value)) {
			sched_yield();
			continue;
		}
		assert_int_equal(value, expected);
		expected++;
	}
	pthread_join(thread, NULL);
	spsc_free(&ring);
}

/* The way of the BPF programs gives what the CPU's instruction does. */
static void log2_by_halves_is_the_processors(void **state)
{
	(void)state;
	for (unsigned power = 0; power < 64; power++) {
		const __u64 low = 1ULL << power, high = low | (low - 1);

		assert_int_equal(bucket_log2_by_halves(low), power);
		assert_int_equal(bucket_log2_by_halves(low | low >> 1), power);
		assert_int_equal(bucket_log2_by_halves(high), power);
		assert_int_equal(bucket_log2(high), power);
	}
	assert_int_equal(bucket_log2_by_halves(0), 0);
}

static void buckets_hold_their_value(void **state)
{
	(void)state;
	for (__u32 bits = 3; bits <= 7; bits++) {
		__u32 previous = 0;

		for (__u64 value = 0; value < 1ULL << 44;
		     value = value < 5000 ? value + 1 : value + value / 37) {
			__u32 index = bucket_of(value, bits);

			assert_true(index < BUCKETS(bits));
			assert_true(index >= previous);
			assert_true(bucket_low(index, bits) <= value);
			assert_true(bucket_high(index, bits) >= value);
			/* relative width at most 2^-bits */
			assert_true((bucket_high(index, bits) - bucket_low(index, bits)) << bits <=
				    value);
			previous = index;
		}
		assert_int_equal(bucket_of(~0ULL, bits), BUCKETS(bits) - 1);
		assert_int_equal(bucket_of_signed(-1, bits), BUCKETS(bits) + 1);
		assert_int_equal(bucket_of_signed(INT64_MIN, bits), BUCKETS_SIGNED(bits) - 1);
	}
}

static void markup_is_escaped(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_non_null(out);
	markup_put(out, "<a href=\"x\">R&D\x1b[1m\nend");
	fclose(out);
	assert_string_equal(text, "&lt;a href=&quot;x&quot;&gt;R&amp;D?[1m\nend");
	free(text);
}

static void add_up(void *context, void *block)
{
	*(unsigned long *)context += *(unsigned long *)block;
}

static void a_worker_does_each_block_once(void **state)
{
	unsigned long sum = 0, blocks[2];
	struct worker *worker = worker_new(add_up, &sum);

	(void)state;
	assert_non_null(worker);
	for (unsigned long i = 1; i <= 10000; i++) {
		blocks[i % 2] = i;
		worker_give(worker, &blocks[i % 2]);
	}
	worker_finish(worker);
	worker_finish(NULL);
	assert_int_equal(sum, 10000UL * 10001 / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_full_ring_refuses_and_counts),
		cmocka_unit_test(records_arrive_in_order_between_threads),
		cmocka_unit_test(log2_by_halves_is_the_processors),
		cmocka_unit_test(buckets_hold_their_value),
		cmocka_unit_test(markup_is_escaped),
		cmocka_unit_test(a_worker_does_each_block_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/* The planner: what it makes passes the validator, and where it says no, a search over everything says no as well. */
#include "cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/units.h"
#include "tc/fit.h"
#include "tc/prepare.h"

static struct preparation preparation;
static struct schedule schedule;
static const struct device_facts no_facts;

/* Slots of 1, 2 and 3 us at 1 Gb/s with a margin of 328 ns. */
static const uint32_t sizes[] = { 0, 60, 185, 310 };

static void two_classes(int64_t cycle_ns)
{
	memset(&schedule, 0, sizeof(schedule));
	schedule.cycle_ns = schedule.stream_cycle_ns = cycle_ns;
	schedule.margin_ns = 328;
	schedule.plan_gates = true;
	schedule.class_count = 2;
	snprintf(schedule.classes[0].name, SCHEDULE_NAME, "a");
	schedule.classes[0].priorities = 1 << 7;
	schedule.classes[0].queue_count = 1;
	schedule.classes[0].max_frame = 310;
	snprintf(schedule.classes[1].name, SCHEDULE_NAME, "b");
	schedule.classes[1].priorities = 0x7f;
	schedule.classes[1].queue_first = 1;
	schedule.classes[1].queue_count = 1;
	schedule.classes[1].max_frame = 310;
}

static void third_class(void)
{
	schedule.class_count = 3;
	schedule.classes[1].priorities = 0x60;
	snprintf(schedule.classes[2].name, SCHEDULE_NAME, "rest");
	schedule.classes[2].priorities = 0x1f;
	schedule.classes[2].queue_first = 2;
	schedule.classes[2].queue_count = 2;
}

static int plan(struct stream *streams, unsigned count, const char *nic, uint32_t mbps)
{
	return prepare_deployment(&schedule, streams, count, nic_by_name(nic), mbps, &no_facts,
				  &preparation);
}

static void assert_clean(void)
{
	for (unsigned i = 0; i < preparation.findings.count; i++)
		if (preparation.findings.list[i].level == FINDING_ERROR)
			fail_msg("%s: %s", preparation.findings.list[i].path,
				 preparation.findings.list[i].text);
}

static struct stream random_stream(unsigned id, unsigned cycle_us)
{
	struct stream stream = { .id = (uint16_t)id, .offset_ns = STREAM_ANYWHERE, .frames = 1 };

	stream.priority = rand() % 2 ? 7 : 5;
	stream.every = 1 + (uint32_t)rand() % 3;
	stream.size = sizes[1 + (unsigned)rand() % 3];
	if (rand() % 4 == 0) {
		stream.offset_ns = rand() % (int)cycle_us * 1000LL;
		stream.phase = (uint32_t)rand() % stream.every;
	}
	return stream;
}

static unsigned length_us(const struct stream *stream)
{
	return stream->size == sizes[1] ? 1 : stream->size == sizes[2] ? 2 : 3;
}

static uint32_t gcd(uint32_t a, uint32_t b)
{
	return b ? gcd(b, a % b) : a;
}

/* Everything is tried: all offsets on the microsecond, all phases. Says nothing about how. */
static bool anything_fits(const struct stream *streams, unsigned count, int64_t limit_ns,
			  bool contiguous, struct stream *placed, unsigned n)
{
	const struct stream *wanted = &streams[n];
	bool given;

	if (n == count) {
		int64_t low[2] = { INT64_MAX, INT64_MAX }, high[2] = { -1, -1 };

		for (unsigned i = 0; i < count && contiguous; i++) {
			unsigned c = placed[i].priority == 7 ? 0 : 1;
			int64_t end = placed[i].offset_ns + 1000 * (int64_t)length_us(&placed[i]);

			low[c] = placed[i].offset_ns < low[c] ? placed[i].offset_ns : low[c];
			high[c] = end > high[c] ? end : high[c];
		}
		return !contiguous || high[0] <= low[1] || high[1] <= low[0];
	}
	given = wanted->offset_ns != STREAM_ANYWHERE;
	placed[n] = *wanted;
	for (uint32_t phase = 0; phase < wanted->every; phase++)
		for (unsigned at = 0; 1000 * (int64_t)(at + length_us(wanted)) <= limit_ns; at++) {
			bool free = true;

			if (given &&
			    (wanted->phase != phase || wanted->offset_ns != (int64_t)at * 1000))
				continue;
			placed[n].phase = phase;
			placed[n].offset_ns = (int64_t)at * 1000;
			for (unsigned i = 0; i < n && free; i++) {
				uint32_t common = gcd(placed[i].every, wanted->every);
				int64_t other = placed[i].offset_ns / 1000;

				if (placed[i].phase % common == phase % common &&
				    at < other + length_us(&placed[i]) &&
				    other < at + length_us(wanted))
					free = false;
			}
			if (free &&
			    anything_fits(streams, count, limit_ns, contiguous, placed, n + 1))
				return true;
		}
	return false;
}

static void agree(const char *nic, bool contiguous, unsigned rounds)
{
	unsigned fits = 0;

	srand(11);
	for (unsigned round = 0; round < rounds; round++) {
		unsigned count = 1 + (unsigned)rand() % 5, cycle_us = 4 + (unsigned)rand() % 4;
		struct stream streams[5], original[5], placed[5];
		bool possible, used[2] = { false, false };
		int64_t limit_ns;
		int result;

		for (unsigned i = 0; i < count; i++) {
			streams[i] = original[i] = random_stream(i, cycle_us);
			used[streams[i].priority == 7 ? 0 : 1] = true;
		}
		/* a class without streams wants its largest frame's time at the end */
		limit_ns = cycle_us * 1000 - (used[0] && used[1] ? 0 : wire_time_ns(310, 1000));
		possible = anything_fits(streams, count, limit_ns, contiguous, placed, 0);
		two_classes(cycle_us * 1000);
		result = plan(streams, count, nic, 1000);
		if (possible != !result) {
			for (unsigned i = 0; i < count; i++)
				print_error("stream %u: priority %u every %u length %u us offset "
					    "%lld phase %u\n",
					    i, original[i].priority, original[i].every,
					    length_us(&original[i]),
					    (long long)original[i].offset_ns, original[i].phase);
			fail_msg("round %u, cycle %u us: possible %d, planned %d: %s", round,
				 cycle_us, possible, !result, preparation.findings.list[0].text);
		}
		fits += possible;
		if (result) {
			assert_int_equal(memcmp(streams, original, count * sizeof(*streams)), 0);
			assert_true(preparation.plan.proven);
			continue;
		}
		assert_clean();
		for (unsigned i = 0; i < count; i++)
			if (original[i].offset_ns != STREAM_ANYWHERE)
				assert_int_equal(streams[i].offset_ns, original[i].offset_ns);
	}
	/* the test is worth something only if both happen */
	assert_true(fits > rounds / 10 && fits < rounds * 9 / 10);
}

static void search_over_everything_agrees_interleaved(void **state)
{
	(void)state;
	agree("ideal", false, 3000);
}

static void search_over_everything_agrees_contiguous(void **state)
{
	(void)state;
	agree("I226", true, 3000);
}

static void planned_schedules_pass_the_validator(void **state)
{
	static const char *const nics[] = { "I225", "I226", "ideal", "LS1028A", "veth" };
	static const uint32_t periods[] = { 1, 2, 3, 4, 5, 8, 10 };
	static struct stream streams[300];
	unsigned planned = 0;

	(void)state;
	srand(5);
	for (unsigned round = 0; round < 150; round++) {
		unsigned count = 1 + (unsigned)rand() % 300;

		for (unsigned i = 0; i < count; i++)
			streams[i] = (struct stream){ .id = (uint16_t)i,
						      .priority = (uint8_t)(5 + rand() % 3),
						      .offset_ns = STREAM_ANYWHERE,
						      .every = periods[rand() % 7],
						      .frames = 1 + (uint32_t)rand() % 3,
						      .size = 60 + (uint32_t)rand() % 200 };
		two_classes(500000);
		third_class();
		if (plan(streams, count, nics[round % 5], round % 2 ? 1000 : 2500))
			continue;
		planned++;
		assert_clean();
		assert_true(preparation.planned);
		for (unsigned i = 0; i < count; i++) {
			struct fit fit;

			assert_true(streams[i].offset_ns >= 0 &&
				    streams[i].phase < streams[i].every);
			fit_stream(&preparation.deployment.schedule, &streams[i],
				   preparation.deployment.speed_mbps, &fit);
			assert_true(fit.fits);
			assert_true(fit.margin_ns >= schedule.margin_ns);
		}
	}
	assert_true(planned > 75);
}

static void what_cannot_fit_is_named_with_how_much(void **state)
{
	struct stream streams[3] = {
		{ .id = 1,
		  .priority = 7,
		  .offset_ns = STREAM_ANYWHERE,
		  .every = 1,
		  .frames = 1,
		  .size = 310 },
		{ .id = 2,
		  .priority = 7,
		  .offset_ns = STREAM_ANYWHERE,
		  .every = 1,
		  .frames = 1,
		  .size = 310 },
		{ .id = 3,
		  .priority = 7,
		  .offset_ns = STREAM_ANYWHERE,
		  .every = 1,
		  .frames = 1,
		  .size = 185 },
	};

	(void)state;
	two_classes(7000);
	schedule.classes[1].priorities = 0x7f;
	schedule.classes[1].max_frame = 60;
	/* 1 us less of reserve for the class without streams: 672 ns */
	assert_int_equal(plan(streams, 3, "I226", 1000), -1);
	assert_string_equal(preparation.findings.list[0].text,
			    "stream 3 cannot fit: it needs 2us every 7us, the first free place "
			    "ends 1.672us beyond the "
			    "6.328us that streams have");
	assert_non_null(
		strstr(preparation.findings.list[1].text, "1 of 3 streams did not fit (proven"));
	assert_int_equal(streams[0].offset_ns, STREAM_ANYWHERE);
	two_classes(9000);
	schedule.classes[1].max_frame = 60;
	assert_int_equal(plan(streams, 3, "I226", 1000), 0);
}

static void of_many_that_do_not_fit_the_sum_is_told(void **state)
{
	static struct stream streams[200];

	(void)state;
	two_classes(100000);
	for (unsigned i = 0; i < 200; i++)
		streams[i] = (struct stream){ .id = i + 1,
					      .priority = 7,
					      .offset_ns = STREAM_ANYWHERE,
					      .every = 1,
					      .frames = 1,
					      .size = 310 };
	assert_int_equal(plan(streams, 200, "I226", 1000), -1);
	assert_int_equal(preparation.findings.count, FINDINGS_MAX);
	assert_non_null(strstr(preparation.findings.list[FINDINGS_MAX - 1].text,
			       " of 200 streams did not fit"));
	assert_int_equal(preparation.findings.dropped, preparation.findings.errors - FINDINGS_MAX);
}

static void one_window_a_class_is_said_where_it_is_the_reason(void **state)
{
	/* a in the middle of b's fixed ones */
	struct stream streams[3] = {
		{ .id = 1, .priority = 5, .offset_ns = 0, .every = 1, .frames = 1, .size = 60 },
		{ .id = 2, .priority = 5, .offset_ns = 4000, .every = 1, .frames = 1, .size = 60 },
		{ .id = 3, .priority = 7, .offset_ns = 2000, .every = 1, .frames = 1, .size = 60 },
	};

	(void)state;
	two_classes(5000);
	assert_int_equal(plan(streams, 3, "I226", 1000), -1);
	assert_non_null(strstr(preparation.findings.list[0].text, "opens each queue once a cycle"));
	two_classes(5000);
	assert_int_equal(plan(streams, 3, "ideal", 1000), 0);
	assert_int_equal(preparation.plan.layout, PLAN_INTERLEAVED);
}

static void gates_grow_over_the_hyperperiod_where_they_must(void **state)
{
	/* each takes more than half a cycle, in turns */
	struct stream streams[2] = {
		{ .id = 1,
		  .priority = 7,
		  .offset_ns = STREAM_ANYWHERE,
		  .every = 2,
		  .frames = 1,
		  .size = 310 },
		{ .id = 2,
		  .priority = 5,
		  .offset_ns = STREAM_ANYWHERE,
		  .every = 2,
		  .frames = 1,
		  .size = 310 },
	};

	(void)state;
	two_classes(5000);
	assert_int_equal(plan(streams, 2, "ideal", 1000), 0);
	assert_int_equal(schedule.cycle_ns, 10000);
	assert_int_equal(schedule.stream_cycle_ns, 5000);
	assert_true(streams[0].phase != streams[1].phase);
	assert_clean();
}

static void offsets_are_found_in_given_gates(void **state)
{
	struct stream streams[2] = {
		{ .id = 1,
		  .priority = 7,
		  .offset_ns = STREAM_ANYWHERE,
		  .every = 1,
		  .frames = 1,
		  .size = 310 },
		{ .id = 2,
		  .priority = 7,
		  .offset_ns = STREAM_ANYWHERE,
		  .every = 1,
		  .frames = 1,
		  .size = 310 },
	};

	(void)state;
	two_classes(20000);
	schedule.plan_gates = false;
	schedule.gate_count = 4;
	schedule.gates[0] = (struct gate){ 2, 5000 };
	schedule.gates[1] = (struct gate){ 1, 4000 };
	schedule.gates[2] = (struct gate){ 2, 5000 };
	schedule.gates[3] = (struct gate){ 1, 6000 };
	assert_int_equal(plan(streams, 2, "ideal", 1000), 0);
	assert_int_equal(streams[0].offset_ns, 5000);
	assert_int_equal(streams[1].offset_ns, 14000);
	schedule.gates[3].duration_ns = 2000;
	schedule.gates[2].duration_ns = 9000;
	streams[0].offset_ns = streams[1].offset_ns = STREAM_ANYWHERE;
	assert_int_equal(plan(streams, 2, "ideal", 1000), -1);
	assert_non_null(strstr(preparation.findings.list[0].text, "no such gap left"));
}

/* Generous: 100 times what it takes here, so that a busy machine cannot fail it, but a wrong order of growth does. */
static void a_thousand_streams_are_quick(void **state)
{
	static const uint32_t periods[] = { 1, 2, 4, 5, 8, 16, 20 };
	static struct stream streams[STREAMS_MAX];
	struct timespec start, end;

	(void)state;
	srand(3);
	for (unsigned i = 0; i < 1000; i++)
		streams[i] = (struct stream){ .id = (uint16_t)i,
					      .priority = (uint8_t)(5 + rand() % 3),
					      .offset_ns = STREAM_ANYWHERE,
					      .every = periods[1 + rand() % 6],
					      .frames = 1,
					      .size = 64 };
	two_classes(1000000);
	third_class();
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	assert_int_equal(plan(streams, 1000, "I226", 1000), 0);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	assert_clean();
	assert_true(timespec_to_ns(end) - timespec_to_ns(start) < 2 * NSEC_PER_SEC);
}

static void absurd_periods_are_refused(void **state)
{
	struct stream streams[3] = {
		{ .id = 1,
		  .priority = 7,
		  .offset_ns = STREAM_ANYWHERE,
		  .every = 997,
		  .frames = 1,
		  .size = 60 },
		{ .id = 2,
		  .priority = 7,
		  .offset_ns = STREAM_ANYWHERE,
		  .every = 991,
		  .frames = 1,
		  .size = 60 },
		{ .id = 3,
		  .priority = 7,
		  .offset_ns = STREAM_ANYWHERE,
		  .every = 4294967291u,
		  .frames = 1,
		  .size = 60 },
	};

	(void)state;
	two_classes(1000000);
	assert_int_equal(plan(streams, 3, "I226", 1000), -1);
	assert_non_null(strstr(preparation.findings.list[0].text, "repeat together only after"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(search_over_everything_agrees_interleaved),
		cmocka_unit_test(search_over_everything_agrees_contiguous),
		cmocka_unit_test(planned_schedules_pass_the_validator),
		cmocka_unit_test(what_cannot_fit_is_named_with_how_much),
		cmocka_unit_test(of_many_that_do_not_fit_the_sum_is_told),
		cmocka_unit_test(one_window_a_class_is_said_where_it_is_the_reason),
		cmocka_unit_test(gates_grow_over_the_hyperperiod_where_they_must),
		cmocka_unit_test(offsets_are_found_in_given_gates),
		cmocka_unit_test(a_thousand_streams_are_quick),
		cmocka_unit_test(absurd_periods_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

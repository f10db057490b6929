// SPDX-License-Identifier: GPL-2.0-only
/* The schedule model: windows, guard bands, what fits where, and what becomes of it on a NIC. */
#include "schedule_check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "tc/commands.h"
#include "tc/fit.h"

static void the_shortest_gate_is_the_kernels(void **state)
{
	(void)state;
	assert_int_equal(validate_gate_min_ns(1000), 480);
	assert_int_equal(validate_gate_min_ns(2500), 192);
	assert_int_equal(validate_gate_min_ns(100), 4800);
	assert_int_equal(validate_gate_min_ns(10), 48000);
}

static void model(struct schedule *schedule, int64_t cycle_ns, unsigned count,
		  const struct gate *gates)
{
	memset(schedule, 0, sizeof(*schedule));
	schedule->cycle_ns = schedule->stream_cycle_ns = cycle_ns;
	schedule->class_count = 2;
	schedule->classes[0].priorities = 1 << 7;
	schedule->classes[1].priorities = 0x7f;
	snprintf(schedule->classes[0].name, SCHEDULE_NAME, "a");
	snprintf(schedule->classes[1].name, SCHEDULE_NAME, "b");
	schedule->gate_count = count;
	memcpy(schedule->gates, gates, count * sizeof(*gates));
}

static void priorities_are_written_as_ranges(void **state)
{
	static const struct {
		uint8_t priorities;
		const char *text;
	} cases[] = { { 0, "none" },     { 1, "0" },      { 0xff, "0-7" },
		      { 0x9f, "0-4,7" }, { 0x60, "5,6" }, { 0x55, "0,2,4,6" } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct traffic_class class = { .priorities = cases[i].priorities };
		char buffer[24];

		assert_string_equal(schedule_priority_text(&class, buffer), cases[i].text);
	}
}

static void windows_join_over_the_cycles_end(void **state)
{
	static const struct gate gates[] = { { 1, 10 }, { 2, 20 }, { 3, 30 }, { 1, 40 } };
	struct window windows[8];
	struct schedule schedule;

	(void)state;
	model(&schedule, 100, 4, gates);
	assert_int_equal(schedule_windows(&schedule, 0, windows, 8), 1);
	assert_int_equal(windows[0].start_ns, 30);
	assert_int_equal(windows[0].end_ns, 110);
	assert_int_equal(schedule_windows(&schedule, 1, windows, 8), 1);
	assert_int_equal(windows[0].start_ns, 10);
	assert_int_equal(windows[0].end_ns, 60);
	/* never open, always open */
	schedule.gates[1].open = schedule.gates[2].open = 1;
	assert_int_equal(schedule_windows(&schedule, 1, windows, 8), 0);
	assert_int_equal(schedule_windows(&schedule, 0, windows, 8), 1);
	assert_int_equal(windows[0].start_ns, 0);
	assert_int_equal(windows[0].end_ns, 200);
	/* a list shorter than the cycle: the last entry is stretched; a longer one is cut off */
	model(&schedule, 150, 4, gates);
	schedule_windows(&schedule, 0, windows, 8);
	assert_int_equal(windows[0].end_ns, 160);
	model(&schedule, 50, 4, gates);
	assert_int_equal(schedule_windows(&schedule, 1, windows, 8), 1);
	assert_int_equal(windows[0].end_ns, 50);
}

static void guard_bands_close_earlier(void **state)
{
	static const struct gate gates[] = { { 1, 1000 }, { 2, 2000 } };
	static const int64_t guard[SCHEDULE_CLASSES_MAX] = { 0, 300 };
	static const int64_t both[SCHEDULE_CLASSES_MAX] = { 100, 5000 };
	static struct schedule from, to;

	(void)state;
	model(&from, 3000, 2, gates);
	assert_int_equal(schedule_apply_guard(&from, guard, &to), 0);
	assert_int_equal(to.gate_count, 3);
	assert_int_equal(to.gates[1].open, 2);
	assert_int_equal(to.gates[1].duration_ns, 1700);
	assert_int_equal(to.gates[2].open, 0);
	assert_int_equal(to.gates[2].duration_ns, 300);
	assert_int_equal(schedule_gates_total(&to), 3000);
	/* longer than the gate: closed wholly */
	assert_int_equal(schedule_apply_guard(&from, both, &to), 0);
	assert_int_equal(to.gate_count, 2);
	assert_int_equal(to.gates[0].duration_ns, 900);
	assert_int_equal(to.gates[1].open, 0);
	assert_int_equal(to.gates[1].duration_ns, 2100);
}

/* Any gates and guards: the sum stays, no class opens where it was closed, and none is open within its guard of a close. */
static void guard_bands_keep_their_promise(void **state)
{
	static struct schedule from, to;

	(void)state;
	srand(7);
	for (int round = 0; round < 2000; round++) {
		int64_t guard[SCHEDULE_CLASSES_MAX] = { rand() % 40, rand() % 40 };
		struct gate gates[6];
		unsigned n = 1 + (unsigned)rand() % 6;
		int64_t at = 0;
		unsigned original = 0;
		int64_t left;

		for (unsigned i = 0; i < n; i++)
			gates[i] = (struct gate){ (uint32_t)rand() % 4, 1 + rand() % 100 };
		model(&from, 1, n, gates);
		from.cycle_ns = schedule_gates_total(&from);
		assert_int_equal(schedule_apply_guard(&from, guard, &to), 0);
		assert_int_equal(schedule_gates_total(&to), from.cycle_ns);
		left = from.gates[0].duration_ns;
		for (unsigned i = 0; i < to.gate_count; i++)
			for (int64_t t = 0; t < to.gates[i].duration_ns; t++, at++) {
				uint32_t before, next;

				if (!left) {
					original++;
					left = from.gates[original].duration_ns;
				}
				before = from.gates[original].open;
				next = from.gates[(original + 1) % n].open;
				assert_int_equal(to.gates[i].open & ~before, 0);
				for (unsigned c = 0; c < 2; c++) {
					bool guarded = before & ~next & 1U << c && left <= guard[c];

					assert_int_equal(!!(to.gates[i].open & 1U << c),
							 (before & 1U << c) && !guarded);
				}
				left--;
			}
	}
}

static void guards_follow_the_nic(void **state)
{
	(void)state;
	check(HEAD CLASSES GATES, "I225", 1000, 4);
	assert_int_equal(deployment.guard_ns[1],
			 12336); /* 1518 bytes and 24 beside them at 1 Gb/s */
	assert_int_equal(deployment.schedule.gate_count, 6);
	check(HEAD CLASSES GATES, "I226", 1000, 4);
	assert_int_equal(deployment.schedule.gate_count, 3);
	check(HEAD "  guard: none\n" CLASSES GATES, "I225", 1000, 4);
	assert_int_equal(deployment.schedule.gate_count, 3);
	check(HEAD "  guard: 5us\n" CLASSES GATES, "I226", 1000, 4);
	assert_int_equal(deployment.guard_ns[0], 5000);
}

static void modes_follow_the_nic(void **state)
{
	(void)state;
	check(HEAD CLASSES GATES, "I226", 1000, 4);
	assert_int_equal(deployment.mode, SCHEDULE_FULL_OFFLOAD);
	check(HEAD CLASSES GATES, "veth", 1000, 4);
	assert_int_equal(deployment.mode, SCHEDULE_SOFTWARE);
	check(HEAD CLASSES GATES, "generic", 1000, 4);
	assert_int_equal(deployment.mode, SCHEDULE_SOFTWARE);
	check(HEAD CLASSES, "I226", 1000, 4);
	assert_int_equal(deployment.mode, SCHEDULE_MQPRIO);
}

static void streams_fit_or_do_not(void **state)
{
	static const struct gate gates[] = { { 1, 10000 }, { 2, 10000 } };
	struct stream stream = { .id = 1, .priority = 7, .every = 1, .frames = 1, .size = 60 };
	struct schedule schedule;
	struct fit fit;

	(void)state;
	model(&schedule, 20000, 2, gates);
	fit_stream(&schedule, &stream, 1000, &fit);
	assert_true(fit.fits);
	assert_int_equal(fit.margin_ns, 10000 - 672);
	stream.offset_ns = 10000 - 672;
	fit_stream(&schedule, &stream, 1000, &fit);
	assert_true(fit.fits);
	assert_int_equal(fit.margin_ns, 0);
	stream.offset_ns++;
	fit_stream(&schedule, &stream, 1000, &fit);
	assert_false(fit.fits);
	assert_int_equal(fit.margin_ns, -1);
	/* streams' cycle a third of the gates': the instance that lies worst counts */
	schedule.stream_cycle_ns = 5000;
	stream.offset_ns = 100;
	fit_stream(&schedule, &stream, 1000, &fit);
	assert_false(fit.fits); /* its third instance, at 10100 */
	stream.every = 4;
	fit_stream(&schedule, &stream, 1000, &fit);
	assert_true(fit.fits);
	stream.phase = 2;
	fit_stream(&schedule, &stream, 1000, &fit);
	assert_false(fit.fits);
	assert_int_equal(fit.start_ns, 10100);
}

static void collisions_are_found_over_the_hyperperiod(void **state)
{
	struct stream streams[] = {
		{ .id = 1, .every = 2, .frames = 1, .size = 60, .offset_ns = 0 },
		{ .id = 2, .every = 3, .phase = 1, .frames = 1, .size = 60, .offset_ns = 671 },
	};
	struct collision collision;

	(void)state;
	/* cycles 0 2 4 and 1 4 of 6: they meet in cycle 4 */
	assert_int_equal(fit_hyperperiod(streams, 2, 1000), 6);
	assert_int_equal(fit_collision(streams, 2, 10000, 1000, &collision), 1);
	assert_int_equal(collision.at_ns, 40671);
	assert_int_equal(collision.overlap_ns, 1);
	streams[1].offset_ns = 672;
	assert_int_equal(fit_collision(streams, 2, 10000, 1000, &collision), 0);
	/* over the hyperperiod's end */
	streams[0].every = streams[1].every = 1;
	streams[1].phase = 0;
	streams[1].offset_ns = 9500;
	assert_int_equal(fit_collision(streams, 2, 10000, 1000, &collision), 1);
	assert_int_equal(collision.overlap_ns, 172);
	/* too much to look at */
	streams[0].every = 1000003;
	streams[1].every = 1000033;
	assert_int_equal(fit_collision(streams, 2, 10000, 1000, &collision), -1);
}

static void closed_and_etf_classes_silence(void **state)
{
	const char *how = NULL;

	(void)state;
	check(HEAD CLASSES "  gates:\n  - {open: [control], duration: 250us}\n", "I226", 1000, 4);
	assert_int_equal(findings.errors, 0);
	assert_true(schedule_silences(&deployment, 0, &how));
	assert_string_equal(how, "never opens");
	assert_false(schedule_silences(&deployment, 7, &how));
	check(HEAD "  classes:\n  - {name: a, priorities: [0], queues: 0, launch-time: {delta: "
		   "100us}}\n  gates:\n"
		   "  - {open: [a], duration: 250us}\n",
	      "I226", 1000, 4);
	assert_true(schedule_silences(&deployment, 0, &how));
	assert_non_null(strstr(how, "etf"));
	assert_true(findings.warnings > 0); /* ptp4l */
}

static void nics_are_told_apart(void **state)
{
	(void)state;
	assert_string_equal(nic_find("igc", "", "8086:15f2")->part, "I225");
	assert_string_equal(nic_find("igc", "", "8086:125b")->part, "I226");
	assert_string_equal(nic_find("igb", "", "8086:1533")->part, "I210");
	assert_string_equal(nic_find("igb", "", "8086:10c9")->part, "generic"); /* 82576 */
	assert_string_equal(nic_find("tsnsim", "ls1028a", "")->part, "LS1028A");
	assert_string_equal(nic_find("tsnsim", "i225", "")->part, "I225");
	assert_string_equal(nic_find("tsnsim", "ideal", "")->part, "ideal");
	assert_string_equal(nic_find("r8169", "", "10ec:8168")->part, "generic");
	assert_null(nic_by_name("i999"));
}

static void refusals_are_explained(void **state)
{
	(void)state;
	assert_non_null(
		strstr(nic_explain(nic_by_name("I225"), EALREADY, ""), "no second schedule"));
	assert_non_null(strstr(nic_explain(nic_by_name("LS1028A"), EBUSY, ""), "etf and taprio"));
	assert_non_null(strstr(
		nic_explain(nic_by_name("I226"), EINVAL, "Device failed to setup taprio offload"),
		"opens twice"));
	assert_non_null(strstr(nic_explain(nic_by_name("generic"), EOPNOTSUPP,
					   "sch_taprio: Multi-queue device is required"),
			       "one TX queue"));
	assert_null(nic_explain(nic_by_name("generic"), E2BIG, ""));
}

static void the_same_by_hand(void **state)
{
	char *text;

	(void)state;
	check(HEAD "  classes:\n"
		   "  - {name: a, priorities: [7], queues: 0-1, launch-time: {delta: 100us}, "
		   "max-frame: 214}\n"
		   "  - {name: b, priorities: [0], queues: 2}\n  gates:\n  - {open: [a], duration: "
		   "100us}\n"
		   "  - {open: [a, b], duration: 150us}\n",
	      "I226", 1000, 4);
	text = deployment_command(&deployment, "eth0", 500, 0);
	assert_string_equal(
		text,
		"tc qdisc replace dev eth0 root handle 100: stab overhead 24 taprio num_tc 2 map "
		"1 1 1 1 1 1 1 0 1 1 1 1 1 1 1 1 queues 2@0 1@2 base-time 500 sched-entry S 01 "
		"100000 "
		"sched-entry S 03 150000 cycle-time 250000 max-sdu 202 0 flags 0x2");
	free(text);
	text = deployment_command(&deployment, "eth0", 500, 2);
	{
		/* pasted into a shell, a name must stay a name */
		char *quoted = deployment_command(&deployment, "a;b'c", 1000, 1);

		assert_non_null(quoted);
		assert_memory_equal(quoted, "tc qdisc replace dev 'a;b'\\''c' parent 100:1 ", 44);
		free(quoted);
	}
	assert_string_equal(text, "tc qdisc replace dev eth0 parent 100:2 handle 102: etf clockid "
				  "CLOCK_TAI delta 100000 "
				  "offload");
	free(text);
	assert_null(deployment_command(&deployment, "eth0", 500, 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_shortest_gate_is_the_kernels),
		cmocka_unit_test(priorities_are_written_as_ranges),
		cmocka_unit_test(windows_join_over_the_cycles_end),
		cmocka_unit_test(guard_bands_close_earlier),
		cmocka_unit_test(guard_bands_keep_their_promise),
		cmocka_unit_test(guards_follow_the_nic),
		cmocka_unit_test(modes_follow_the_nic),
		cmocka_unit_test(streams_fit_or_do_not),
		cmocka_unit_test(collisions_are_found_over_the_hyperperiod),
		cmocka_unit_test(closed_and_etf_classes_silence),
		cmocka_unit_test(nics_are_told_apart),
		cmocka_unit_test(refusals_are_explained),
		cmocka_unit_test(the_same_by_hand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

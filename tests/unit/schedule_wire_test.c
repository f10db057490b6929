// SPDX-License-Identifier: GPL-2.0-only
/* What goes to the kernel and comes back: requests read as dumps, comparison, and the YANG form. */
#include "cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/schedule_file.h"
#include "tc/installed.h"
#include "tc/request.h"
#include "tc/state.h"
#include "tc/tc_headers.h"
#include "tc/yang.h"

static const char text[] =
	"interface: eth0\ncycle: 250us\nschedule:\n  mode: full-offload\n  base-time: phase 10us\n"
	"  classes:\n"
	"  - {name: a, priorities: [7], queues: 0-1, launch-time: {delta: 100us}, max-frame: 214}\n"
	"  - {name: b, priorities: [0, 5], queues: 2, preemptible: true}\n"
	"  gates:\n  - {open: [a], duration: 100us}\n  - {open: [a, b], duration: 150us}\n";

static struct deployment deployment;
static struct installed installed;
static struct findings differences;

static void deploy(void)
{
	struct error err = ERROR_INIT;
	struct schedule_file file;

	assert_int_equal(schedule_file_from_text("x.yaml", text, strlen(text), &file, &err), 0);
	assert_int_equal(deployment_make(&file.schedule, nic_by_name("ideal"), 1000, &deployment),
			 0);
	schedule_file_free(&file);
}

/* A request has the attributes of a dump: what it asks for is read as installed. */
static void install(int64_t base_ns)
{
	static _Alignas(8) unsigned char buffer[REQUEST_MAX];

	memset(&installed, 0, sizeof(installed));
	for (unsigned i = 0;; i++) {
		struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);

		nlh->nlmsg_type = RTM_NEWQDISC;
		if (!deployment_request(&deployment, 1, base_ns, i, nlh, NULL))
			break;
		installed_take(&installed, nlh);
	}
}

static void compare(int64_t base_ns)
{
	memset(&differences, 0, sizeof(differences));
	installed_compare(&installed, &deployment, base_ns, &differences);
}

static void what_is_asked_for_is_read_back(void **state)
{
	struct schedule schedule;

	(void)state;
	deploy();
	install(1000010000);
	assert_true(installed.is_taprio);
	assert_int_equal(installed.map.classes, 2);
	assert_int_equal(installed.map.class_of[7], 0);
	assert_int_equal(installed.map.class_of[12], 1);
	assert_int_equal(installed.taprio.clockid, -1);
	assert_int_equal(installed.taprio_flags, 2);
	assert_int_equal(installed.taprio.oper.base_ns, 1000010000);
	assert_int_equal(installed.taprio.oper.count, 2);
	assert_int_equal(installed.taprio.oper.gates[1].open, 3);
	assert_int_equal(installed.taprio.max_sdu[0], 200);
	assert_int_equal(installed.taprio.preemption[1], FP_PREEMPTIBLE);
	assert_int_equal(installed.stab_overhead, 24);
	assert_true(installed.queues[1].has_etf && installed.queues[1].etf.offload);
	assert_int_equal(installed.queues[1].etf.delta_ns, 100000);
	assert_false(installed.queues[2].has_etf);
	compare(1000010000);
	assert_int_equal(differences.count, 0);
	compare(-1);
	assert_int_equal(differences.count, 0);
	assert_int_equal(installed_schedule(&installed, false, &deployment.schedule, &schedule), 0);
	assert_string_equal(schedule.classes[0].name, "a");
	assert_int_equal(schedule.classes[0].max_frame, 214);
	assert_int_equal(installed_schedule(&installed, true, NULL, &schedule), -1);
}

static void each_difference_is_named(void **state)
{
	static const char *const wanted[] = {
		"phase of the base time: wanted 10us, installed is 20us",
		"duration of gate 0: wanted 90us, installed is 100us",
		"gate 1: wanted a, installed is a+b",
		"queues of class 'b': wanted 3, installed is 2",
		"etf delta on queue 0 of class 'a': wanted 50us, installed is 100us",
		"etf on queue 1 of class 'a': wanted offload off, installed is on",
		"class 'b': wanted express, installed is preemptible",
		"largest frame of class 'a': wanted 114 bytes, installed is 214",
		"class of priority 4: wanted 0, installed is 1"
	};

	(void)state;
	deploy();
	install(1000020000);
	deployment.schedule.gates[0].duration_ns = 90000;
	deployment.schedule.gates[1].open = 1;
	deployment.schedule.classes[1].queue_first = 3;
	deployment.schedule.classes[0].delta_ns = 50000;
	deployment.schedule.classes[0].max_frame = 114;
	deployment.schedule.classes[0].priorities |= 1 << 4;
	deployment.schedule.classes[1].preemptible = false;
	deployment.etf_offload[0] = false;
	compare(-1);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		bool found = false;

		for (unsigned f = 0; f < differences.count; f++)
			found |= !strcmp(differences.list[f].text, wanted[i]);
		if (!found)
			fail_msg("not among the differences: %s (first: %s)", wanted[i],
				 differences.list[0].text);
	}
	memset(&installed, 0, sizeof(installed));
	compare(-1);
	assert_string_equal(differences.list[0].text,
			    "root qdisc: wanted taprio, installed is nothing");
}

static void mqprio_that_ends_launch_times_is_named(void **state)
{
	(void)state;
	deploy();
	deployment.mode = SCHEDULE_MQPRIO;
	deployment.schedule.classes[0].max_frame = 0;
	deployment.schedule.classes[1].preemptible = false;
	deployment.mqprio_hw = true;
	install(0);
	assert_true(installed.is_mqprio && installed.mqprio_hw && installed.queues[0].etf.offload);
	compare(-1);
	assert_int_equal(differences.count, 0);
	deployment.nic = nic_by_name("I225");
	compare(-1);
	assert_int_equal(differences.count, 1);
	assert_string_equal(differences.list[0].text, nic_launch_ignored);
	installed.queues[0].etf.offload = installed.queues[1].etf.offload = false;
	assert_false(installed_launch_ignored(&installed, deployment.nic));
}

static void yang_goes_there_and_back(void **state)
{
	struct error err = ERROR_INIT;
	struct schedule schedule;
	json_t *json;
	char *dump;

	(void)state;
	deploy();
	json = yang_export(&deployment.schedule, 1790000000000000500LL);
	dump = json_dumps(json, 0);
	json_decref(json);
	schedule = deployment.schedule;
	schedule.gate_count = 0;
	schedule.cycle_ns = 1;
	schedule.classes[0].max_frame = 0;
	assert_int_equal(yang_import("x.json", dump, strlen(dump), &schedule, &err), 0);
	assert_int_equal(schedule.cycle_ns, 250000);
	assert_int_equal(schedule.gate_count, 2);
	assert_int_equal(schedule.gates[1].open, 3);
	assert_int_equal(schedule.gates[1].duration_ns, 150000);
	assert_int_equal(schedule.base_kind, BASE_ABSOLUTE);
	assert_true(schedule.base_ns == 1790000000000000500LL);
	assert_int_equal(schedule.classes[0].max_frame, 214);
	free(dump);
}

static void wrong_yang_is_refused_by_name(void **state)
{
#define WRAP(table)                                                                                \
	"{\"interfaces\": {\"interface\": [{\"name\": \"eth0\", \"gate-parameters\": " table "}]}" \
	"}"
#define CYCLE "\"admin-cycle-time\": {\"numerator\": 1, \"denominator\": 1000}"
	static const struct {
		const char *json;
		const char *says;
	} cases[] = {
		{ "", "not JSON" },
		{ "[]", "no gate parameters" },
		{ "{\"a\": 1, \"a\": 2}", "not JSON" },
		{ WRAP("{\"gate-enabled\": false}"), "gate-enabled is false" },
		{ WRAP("{}"), "has no gate-control-entry" },
		{ WRAP("{\"admin-control-list\": [{\"index\": 0, \"operation-name\": \"hold\"}]}"),
		  "is not set-gate-states" },
		{ WRAP("{\"admin-control-list\": [{\"index\": 1, \"operation-name\": "
		       "\"set-gate-states\"}]}"),
		  "index 1 is out of order" },
		{ WRAP("{\"admin-control-list\": [{\"operation-name\": \"set-gate-states\", "
		       "\"gate-states-value\": 256}]}"),
		  "out of range; 0 to 255" },
		{ WRAP("{\"admin-control-list\": [{\"operation-name\": \"set-gate-states\", "
		       "\"gate-states-value\": 4, "
		       "\"time-interval-value\": 5}]}"),
		  "opens only classes that the file does not have" },
		{ WRAP("{\"admin-control-list\": [{\"operation-name\": \"set-gate-states\", "
		       "\"gate-states-value\": 1, "
		       "\"time-interval-value\": 5}], \"admin-cycle-time\": {\"numerator\": 1, "
		       "\"denominator\": 0}}"),
		  "no whole number of nanoseconds" },
		{ WRAP("{\"admin-control-list\": [{\"operation-name\": \"set-gate-states\", "
		       "\"gate-states-value\": 1, "
		       "\"time-interval-value\": 5}], " CYCLE
		       ", \"admin-base-time\": {\"seconds\": \"99999999999999\"}}"),
		  "out of range" },
		{ WRAP("{\"admin-control-list\": [{\"operation-name\": \"set-gate-states\", "
		       "\"gate-states-value\": 1, \"time-interval-value\": 5}], " CYCLE
		       ", \"queue-max-sdu-table\": [{\"traffic-class\": 0, \"queue-max-sdu\": "
		       "1}]}"),
		  "queue-max-sdu 1: no frame is so short; write 46 or more" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct error err = ERROR_INIT;
		struct schedule schedule, before;

		deploy();
		schedule = before = deployment.schedule;
		assert_int_equal(yang_import("x.json", cases[i].json, strlen(cases[i].json),
					     &schedule, &err),
				 -1);
		assert_int_equal(err.status, STATUS_INPUT);
		if (!strstr(err.text, cases[i].says) || !strstr(err.text, "x.json"))
			fail_msg("'%s' says: %s", cases[i].json, err.text);
		assert_int_equal(memcmp(&schedule, &before, sizeof(schedule)), 0);
	}
}

static void records_survive_and_damaged_ones_are_refused(void **state)
{
	struct state record = { .interface = "eth0",
				.ifindex = 7,
				.step = STATE_UNCONFIRMED,
				.deadline_ns = 5,
				.carrier_changes = 3 };
	struct state again;
	json_t *json;

	(void)state;
	snprintf(record.detail, sizeof(record.detail), "etf on queue 0");
	json = state_to_json(&record);
	assert_int_equal(state_parse(json, &again), 0);
	assert_string_equal(again.detail, "etf on queue 0");
	assert_int_equal(again.step, STATE_UNCONFIRMED);
	/* a link that was lost since */
	assert_false(state_link_changed(&again, 3));
	assert_true(state_link_changed(&again, 5));
	state_free(&again);
	/* a record that does not tell */
	json_object_del(json, "carrier_changes");
	assert_int_equal(state_parse(json, &again), 0);
	assert_false(state_link_changed(&again, 5));
	state_free(&again);
	json_object_set_new(json_object_get(json, "before"), "qdiscs", json_pack("[s]", "00ff"));
	assert_int_equal(state_parse(json, &again), -1);
	json_object_set_new(json_object_get(json, "before"), "qdiscs", json_pack("[s]", "xyz!"));
	assert_int_equal(state_parse(json, &again), -1);
	json_object_set_new(json, "version", json_integer(2));
	assert_int_equal(state_parse(json, &again), -1);
	json_decref(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_asked_for_is_read_back),
		cmocka_unit_test(each_difference_is_named),
		cmocka_unit_test(mqprio_that_ends_launch_times_is_named),
		cmocka_unit_test(yang_goes_there_and_back),
		cmocka_unit_test(wrong_yang_is_refused_by_name),
		cmocka_unit_test(records_survive_and_damaged_ones_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/* The schedule model and its validation: windows, guard bands, what is refused and with which words. */
#include "cmocka_all.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/schedule_file.h"
#include "tc/commands.h"
#include "tc/fit.h"
#include "tc/validate.h"

#define CLASSES                                              \
	"  classes:\n"                                       \
	"  - {name: control, priorities: [7], queues: 0}\n"  \
	"  - {name: video, priorities: [5, 6], queues: 1}\n" \
	"  - {name: rest, priorities: [0, 1, 2, 3, 4], queues: 2-3}\n"
#define GATES                                     \
	"  gates:\n"                              \
	"  - {open: [control], duration: 50us}\n" \
	"  - {open: [video], duration: 75us}\n"   \
	"  - {open: [rest], duration: 125us}\n"
#define HEAD "interface: eth0\ncycle: 250us\nschedule:\n"

static struct deployment deployment;
static struct findings findings;

static int load(const char *text, struct schedule_file *file, struct error *err)
{
	return schedule_file_from_text("x.yaml", text, strlen(text), file, err);
}

/* Loads, deploys on the NIC and validates; the error of loading comes as a finding of its own. */
static uint32_t mtu = 1500;

static void check(const char *text, const char *nic, uint32_t mbps, unsigned queues)
{
	struct device_facts facts = { .tx_queues = queues,
				      .mtu = mtu,
				      .now_ns = 1790000000LL * 1000000000 };
	struct error err = ERROR_INIT;
	struct schedule_file file;

	memset(&findings, 0, sizeof(findings));
	if (load(text, &file, &err)) {
		assert_int_equal(err.status, STATUS_INPUT);
		finding_add(&findings, FINDING_ERROR, "", "%s", err.text);
		return;
	}
	assert_int_equal(deployment_make(&file.schedule, nic_by_name(nic), mbps, &deployment), 0);
	validate_schedule(&deployment, &facts, &findings);
	if (!findings.errors)
		validate_streams(&deployment, file.streams, file.stream_count, &findings);
	schedule_file_free(&file);
}

static void a_good_file_has_no_findings(void **state)
{
	static const char *const nics[] = { "I226", "I225", "ideal", "LS1028A", "veth", "generic" };

	(void)state;
	for (size_t i = 0; i < sizeof(nics) / sizeof(nics[0]); i++) {
		check(HEAD CLASSES GATES, nics[i], 1000, 4);
		if (findings.count)
			fail_msg("%s: %s", nics[i], findings.list[0].text);
	}
}

static void each_mistake_is_named(void **state)
{
	static const struct {
		const char *text;
		const char *nic;
		const char *says;
		const char *path;
	} cases[] = {
		{ HEAD CLASSES "  gates:\n  - {open: [control], duration: 249us}\n", "I226",
		  "add up to 249us, 1us less than the cycle (250us)", "schedule.gates" },
		{ HEAD CLASSES GATES "  - {open: [], duration: 1us}\n", "I226",
		  "add up to 251us, 1us more than the cycle (250us)", "schedule.gates" },
		{ HEAD CLASSES "  gates:\n  - {open: [control], duration: 479ns}\n"
			       "  - {open: [rest], duration: 249521ns}\n",
		  "I226", "lasts 479ns, the shortest at 1000 Mb/s is 480ns",
		  "schedule.gates[0].duration" },
		{ HEAD CLASSES "  gates:\n  - {open: [control], duration: 0}\n  - {open: [rest], "
			       "duration: 250us}\n",
		  "I226", "gate 0 has duration 0", "schedule.gates[0].duration" },
		{ HEAD "  classes:\n  - {name: a, priorities: [0], queues: 0-1}\n  - {name: b, "
		       "priorities: [1], queues: 1}\n"
		       "  gates:\n  - {open: [a], duration: 250us}\n",
		  "I226", "class 'b' shares queue 1 with class 'a' (0-1)",
		  "schedule.classes[1].queues" },
		{ HEAD "  classes:\n  - {name: a, priorities: [0, 3], queues: 0}\n  - {name: b, "
		       "priorities: [3], queues: 1}\n"
		       "  gates:\n  - {open: [a], duration: 250us}\n",
		  "I226", "priority 3 belongs to class 'a' already",
		  "schedule.classes[1].priorities" },
		{ HEAD "  classes:\n  - {name: a, priorities: [7], queues: 0}\n  gates:\n  - "
		       "{open: [a], duration: 250us}\n",
		  "I226", "no class carries priority 0", "schedule.classes" },
		{ HEAD "  classes:\n  - {name: a, priorities: [0], queues: 0}\n  - {name: b, "
		       "priorities: [1], queues: 1}\n"
		       "  - {name: c, priorities: [2], queues: 2}\n  - {name: d, priorities: [3], "
		       "queues: 3}\n"
		       "  - {name: e, priorities: [4], queues: 4}\n  gates:\n  - {open: [a], "
		       "duration: 250us}\n",
		  "I226", "5 classes, but 4 TX queues", "schedule.classes" },
		{ HEAD
		  "  classes:\n  - {name: a, priorities: [0], queues: 1-2}\n  - {name: b, "
		  "priorities: [7], queues: 0, max-frame: 200}\n"
		  "  gates:\n  - {open: [a], duration: 50us}\n  - {open: [b], duration: 200us}\n",
		  "I226",
		  "would limit frames on queue 1 instead, since class 'b' is number 1 in the list "
		  "(it has queue 0); list the classes",
		  "schedule.classes[1].max-frame" },
		{ HEAD
		  "  classes:\n  - {name: a, priorities: [0], queues: 1-2, max-frame: 200}\n"
		  "  - {name: b, priorities: [7], queues: 0}\n"
		  "  gates:\n  - {open: [a], duration: 50us}\n  - {open: [b], duration: 200us}\n",
		  "I226",
		  "would limit frames on queue 0 instead, since class 'a' is number 0 in the list "
		  "(it has queue 1-2); list the classes",
		  "schedule.classes[0].max-frame" },
		{ HEAD "  mode: mqprio\n" CLASSES GATES, "I226", "mode mqprio has no gates",
		  "schedule.gates" },
		{ HEAD "  mode: full-offload\n" CLASSES GATES, "veth", "has no gates in hardware",
		  "schedule.mode" },
		{ HEAD "  mode: txtime-assist\n" CLASSES GATES, "I226", "no class has launch-time",
		  "schedule.mode" },
		{ HEAD "  txtime-delay: 1ms\n" CLASSES GATES, "I226",
		  "belongs to mode txtime-assist", "schedule.txtime-delay" },
		{ HEAD "  cycle-extension: 10us\n" CLASSES GATES, "I226",
		  "takes no cycle-time-extension", "schedule.cycle-extension" },
		{ HEAD "  base-time: 1800000000s\n" CLASSES GATES, "I226",
		  "ahead: until then no gate would move", "schedule.base-time" },
		{ HEAD "  base-time: 1790000001s\n" CLASSES GATES, "I225",
		  "takes no base time in the future", "schedule.base-time" },
		{ HEAD "  cycle: 260us\n" CLASSES GATES, "I226", "not multiples of one another",
		  "schedule.cycle" },
		{ "interface: eth0\ncycle: 3s\nschedule:\n" CLASSES
		  "  gates:\n  - {open: [rest], duration: 3s}\n",
		  "I226", "cycle 3s is over the limit of 2.147483647s", "cycle" },
		{ HEAD CLASSES "  gates:\n  - {open: [control], duration: 50us}\n  - {open: "
			       "[rest], duration: 150us}\n"
			       "  - {open: [control], duration: 50us}\n",
		  "I226", "class 'control' opens a second time", "schedule.gates[2].open" },
		{ HEAD "  classes:\n  - {name: a, priorities: [0], queues: 0, launch-time: {delta: "
		       "300us}}\n  gates:\n"
		       "  - {open: [a], duration: 250us}\n",
		  "I226", "delta 300us is not below the cycle (250us)",
		  "schedule.classes[0].launch-time" },
		{ HEAD "  mode: full-offload\n  classes:\n  - {name: a, priorities: [0], queues: "
		       "0, launch-time: {}}\n"
		       "  gates:\n  - {open: [a], duration: 250us}\n",
		  "LS1028A", "cannot do launch times and gates in hardware at once (EBUSY)",
		  "schedule.classes[0].launch-time" },
		{ HEAD "  mode: mqprio\n  classes:\n  - {name: a, priorities: [0], queues: 2, "
		       "launch-time: {}}\n",
		  "I210", "cannot launch on queue 2", "schedule.classes[0].launch-time" },
		{ HEAD "  mode: txtime-assist\n  txtime-delay: 100us\n  classes:\n"
		       "  - {name: a, priorities: [0], queues: 0, launch-time: {delta: 100us}}\n  "
		       "gates:\n"
		       "  - {open: [a], duration: 250us}\n",
		  "ideal", "txtime-delay 100us must be longer than the delta",
		  "schedule.txtime-delay" },
		{ HEAD "  classes:\n  - {name: a, priorities: [0], queues: 0, preemptible: true}\n "
		       " gates:\n"
		       "  - {open: [a], duration: 250us}\n",
		  "veth", "cannot preempt frames", "schedule.classes[0].preemptible" },
		{ HEAD "  classes:\n  - {name: a, priorities: [0], queues: 0, preemptible: true}\n "
		       " gates:\n"
		       "  - {open: [a], duration: 250us}\n",
		  "LS1028A", "all classes are preemptible", "schedule.classes" },
		{ HEAD CLASSES GATES "streams:\n- {id: 3, priority: 7, offset: 61.2us}\n", "I226",
		  "stream 3 leaves at 61.2us, its class 'control' is open from 0ns to 50us",
		  "streams[0]" },
		{ HEAD CLASSES GATES "streams:\n- {id: 3, priority: 7, offset: 49us, size: 200}\n",
		  "I226",
		  "needs 1.792us, its class 'control' is open from 0ns to 50us: 792ns too long",
		  "streams[0]" },
		{ HEAD CLASSES GATES "streams:\n- {id: 3, priority: 0, offset: 60us, size: 1601}\n",
		  "I226", "stream 3 has frames of 1601 bytes, with gates or launch times",
		  "streams[0]" },
		/* refused while reading */
		{ HEAD CLASSES "  gates: []\n", "I226", "line 8: schedule.gates: an empty list",
		  NULL },
		{ HEAD "  classes: []\n", "I226", "no classes", NULL },
		{ HEAD "  classes:\n  - {name: a, priorities: [], queues: 0}\n", "I226",
		  "line 5: schedule.classes[0].priorities: an empty list, no frame could reach "
		  "class 'a'; write its priorities",
		  NULL },
		{ HEAD CLASSES "  gates:\n  - {open: [rest, rest], duration: 250us}\n", "I226",
		  "line 9: schedule.gates[0].open 'rest': named twice in this gate; remove one",
		  NULL },
		{ HEAD CLASSES GATES "streams: []\n", "I226",
		  "streams: an empty list; add a stream, or leave the key out", NULL },
		{ HEAD "  classes:\n  - {name: a, priorities: [0]}\n", "I226",
		  "class 'a' has no queues; add queues: 0", NULL },
		{ HEAD "  classes:\n  - {name: a, priorities: [8], queues: 0}\n", "I226",
		  "line 5: schedule.classes[0].priorities '8': out of range; 0 to 7", NULL },
		{ HEAD CLASSES "  gates:\n  - {open: [cnotrol], duration: 250us}\n", "I226",
		  "line 9: schedule.gates[0].open 'cnotrol': no class has this name", NULL },
		{ HEAD CLASSES "  gates:\n  - {open: [rest], duration: 250}\n", "I226",
		  "a time needs a unit", NULL },
		{ HEAD "  mode: fast\n" CLASSES, "I226",
		  "schedule.mode 'fast': unknown; write auto, full-offload", NULL },
		{ HEAD "  base-time: -5s\n" CLASSES, "I226", "must not be negative", NULL },
		{ HEAD "  speed: 1000\n" CLASSES, "I226", "write 100M, 1G or 2.5G", NULL },
		{ HEAD "  bogus: 1\n" CLASSES, "I226", "line 4: unknown key 'bogus'", NULL },
		{ "interface: eth0\ncycle: 250us\n", "I226", "no schedule: in this file", NULL },
		{ "interface: a/b\ncycle: 250us\nschedule:\n" CLASSES, "I226",
		  "not an interface name", NULL },
		{ HEAD CLASSES GATES "streams:\n- {id: 1}\n- {id: 1}\n", "I226",
		  "a stream above has this id", NULL },
		{ HEAD CLASSES GATES "streams:\n- {id: 1, period: 300us}\n", "I226",
		  "not a multiple of the cycle", NULL },
		{ HEAD CLASSES GATES "streams:\n- {id: 1, offset: 250us}\n", "I226", "out of range",
		  NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool found = false;

		check(cases[i].text, cases[i].nic, 1000, cases[i].nic[0] == 'L' ? 8 : 4);
		if (!findings.errors)
			fail_msg("case %zu, wanted '%s', found nothing", i, cases[i].says);
		for (unsigned f = 0; f < findings.count; f++)
			if (findings.list[f].level == FINDING_ERROR &&
			    strstr(findings.list[f].text, cases[i].says) &&
			    (!cases[i].path || !strcmp(findings.list[f].path, cases[i].path)))
				found = true;
		if (!found)
			fail_msg("case %zu, wanted '%s' at %s, got '%s' at %s", i, cases[i].says,
				 cases[i].path ? cases[i].path : "(any)", findings.list[0].text,
				 findings.list[0].path);
	}
}

#define SIX                                           \
	"  classes:\n"                                \
	"  - {name: a, priorities: [0], queues: 0}\n" \
	"  - {name: b, priorities: [1], queues: 1}\n" \
	"  - {name: c, priorities: [2], queues: 2}\n" \
	"  - {name: d, priorities: [3], queues: 3}\n" \
	"  - {name: e, priorities: [4], queues: 4}\n" \
	"  - {name: f, priorities: [5], queues: 5}\n"

/* What works, but not as its user will have meant it. */
static void what_misleads_is_warned_of(void **state)
{
	static const struct {
		const char *text, *nic, *says, *path;
	} cases[] = {
		{ HEAD "  classes:\n  - {name: a, priorities: [7], queues: 0}\n"
		       "  - {name: b, priorities: [0], queues: 1, launch-time: {}}\n  gates:\n"
		       "  - {open: [a], duration: 50us}\n  - {open: [b], duration: 200us}\n",
		  "I226", "which drops frames without a launch time (etf): ptp4l would go FAULTY",
		  "schedule.ptp-priority" },
		{ HEAD "  ptp-priority: 6\n  classes:\n  - {name: a, priorities: [6], queues: 0}\n"
		       "  - {name: b, priorities: [0], queues: 1, launch-time: {}}\n  gates:\n"
		       "  - {open: [a], duration: 50us}\n  - {open: [b], duration: 200us}\n",
		  "I226",
		  "priority 0, that of ARP, ssh and all other traffic, is in class 'b', which "
		  "drops",
		  "schedule.classes" },
		{ HEAD "  mode: mqprio\n  classes:\n  - {name: a, priorities: [0], queues: 0-2}\n"
		       "  - {name: b, priorities: [7], queues: 3, launch-time: {}}\n",
		  "I226",
		  "class 'b' has launch times, but queue 0 is served first, and queue 0 is that",
		  "schedule.classes[1].queues" },
		{ HEAD "  mode: mqprio\n  classes:\n  - {name: a, priorities: [7], queues: 0, "
		       "launch-time: {}}\n  - {name: b, priorities: [0], queues: 1}\n",
		  "LS1028A", "the highest queue is served first, and queue 1 is that of class 'b'",
		  "schedule.classes[0].queues" },
		{ HEAD "  classes:\n  - {name: a, priorities: [7], queues: 0, max-frame: 200}\n"
		       "  - {name: b, priorities: [0], queues: 1-3, max-frame: 1000}\n  gates:\n"
		       "  - {open: [a], duration: 50us}\n  - {open: [b], duration: 200us}\n",
		  "I226", "limits frames on queue 1 alone, class 'b' has queues 1-3",
		  "schedule.classes[1].max-frame" },
		{ HEAD "  classes:\n  - {name: a, priorities: [7], queues: 0}\n"
		       "  - {name: b, priorities: [0], queues: 1}\n  gates:\n"
		       "  - {open: [b], duration: 250us}\n",
		  "I226", "class 'a' never opens: its frames are dropped by the driver",
		  "schedule.classes[0].name" },
		{ HEAD "  classes:\n  - {name: a, priorities: [7], queues: 0, launch-time: {delta: "
		       "104us}}\n"
		       "  - {name: b, priorities: [0], queues: 1}\n  gates:\n"
		       "  - {open: [a], duration: 150us}\n  - {open: [b], duration: 100us}\n"
		       "streams:\n- {id: 4, priority: 7, offset: 100us}\n",
		  "I226",
		  "stream 4 is handed to the NIC 4us before the end of a cycle (its offset less "
		  "the "
		  "delta of class 'a')",
		  "streams[0]" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool found = false;

		check(cases[i].text, cases[i].nic, 1000, 4);
		for (unsigned f = 0; f < findings.count; f++)
			found |= findings.list[f].level == FINDING_WARNING &&
				 strstr(findings.list[f].text, cases[i].says) &&
				 !strcmp(findings.list[f].path, cases[i].path);
		if (!found || findings.errors)
			fail_msg("case %zu, wanted '%s', got %u findings, first '%s'", i,
				 cases[i].says, findings.count, findings.list[0].text);
	}
	mtu = 9000;
	check(HEAD CLASSES GATES, "I226", 1000, 4);
	assert_int_equal(findings.errors, 0);
	assert_string_equal(findings.list[0].path, "interface");
	assert_non_null(strstr(findings.list[0].text, "no frame above 1600 bytes"));
	check(HEAD CLASSES GATES, "LS1028A", 1000, 4);
	mtu = 1500;
	assert_int_equal(findings.count, 0);
	/* handed over in time, or where the NIC does not ask */
	check(HEAD
	      "  classes:\n  - {name: a, priorities: [7], queues: 0, launch-time: {delta: 105us}}\n"
	      "  - {name: b, priorities: [0], queues: 1}\n  gates:\n"
	      "  - {open: [a], duration: 150us}\n  - {open: [b], duration: 100us}\n"
	      "streams:\n- {id: 4, priority: 7, offset: 100us}\n",
	      "I226", 1000, 4);
	assert_int_equal(findings.count, 0);
	check(HEAD
	      "  classes:\n  - {name: b, priorities: [0], queues: 0}\n"
	      "  - {name: a, priorities: [7], queues: 1, launch-time: {delta: 104us}}\n  gates:\n"
	      "  - {open: [a], duration: 150us}\n  - {open: [b], duration: 100us}\n"
	      "streams:\n- {id: 4, priority: 7, offset: 100us}\n",
	      "ideal", 1000, 4);
	assert_int_equal(findings.count, 0);
	/* native XDP takes a queue for each CPU: six classes leave two of eight */
	check(HEAD SIX "  gates:\n  - {open: [a, b, c, d, e, f], duration: 250us}\n", "LS1028A",
	      1000, 8);
	assert_int_equal(findings.count, 0);
	check(HEAD SIX "  - {name: g, priorities: [6], queues: 6}\n"
		       "  gates:\n  - {open: [a, b, c, d, e, f, g], duration: 250us}\n",
	      "LS1028A", 1000, 8);
	assert_int_equal(findings.count, 1);
	assert_int_equal(findings.list[0].level, FINDING_NOTE);
	assert_non_null(strstr(findings.list[0].text,
			       "with 7 classes, native XDP finds no TX queues left"));
	/* where the limit is the class's, its place and its queues do not matter; nor in software */
	check(HEAD "  classes:\n  - {name: a, priorities: [0], queues: 1-3, max-frame: 1000}\n"
		   "  - {name: b, priorities: [7], queues: 0, max-frame: 200}\n  gates:\n"
		   "  - {open: [a], duration: 50us}\n  - {open: [b], duration: 200us}\n",
	      "ideal", 1000, 4);
	assert_int_equal(findings.count, 0);
	check(HEAD "  mode: software\n"
		   "  classes:\n  - {name: a, priorities: [0], queues: 1-3, max-frame: 1000}\n"
		   "  - {name: b, priorities: [7], queues: 0, max-frame: 200}\n  gates:\n"
		   "  - {open: [a], duration: 50us}\n  - {open: [b], duration: 200us}\n",
	      "I226", 1000, 4);
	assert_int_equal(findings.count, 0);
	/* one at a time: nothing to wait for */
	check(HEAD "  classes:\n  - {name: a, priorities: [0], queues: 0}\n"
		   "  - {name: b, priorities: [7], queues: 1, launch-time: {}}\n  gates:\n"
		   "  - {open: [a], duration: 50us}\n  - {open: [b], duration: 200us}\n",
	      "I226", 1000, 4);
	assert_int_equal(findings.count, 0);
}

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
		cmocka_unit_test(a_good_file_has_no_findings),
		cmocka_unit_test(each_mistake_is_named),
		cmocka_unit_test(what_misleads_is_warned_of),
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

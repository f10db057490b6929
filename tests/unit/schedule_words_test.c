// SPDX-License-Identifier: GPL-2.0-only
/* The validation of a schedule: what is refused or warned of, and with which words. */
#include "schedule_check.h"

#include <stdio.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_file_has_no_findings),
		cmocka_unit_test(each_mistake_is_named),
		cmocka_unit_test(what_misleads_is_warned_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

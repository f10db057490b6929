// SPDX-License-Identifier: GPL-2.0-only
/* The publisher's options: command line over file, and what is said of wrong ones. */
#include "cmocka_all.h"

#include <string.h>

#include "base/units.h"
#include "cli/config_file.h"
#include "cli/publish_options.h"
#include "engine/transmit.h"

static struct publish_line line;
static struct config_file config;
static struct publish_request request;
static struct error err;

/* Parses "--cycle 1ms ..." (split at blanks), with a file's text or NULL. Returns publish_convert's result. */
static int convert(const char *arguments, const char *file)
{
	static char copy[4096];
	char *argv[64] = { (char *)(uintptr_t) "tsnpub" };
	int argc = 1;

	publish_line_free(&line);
	memset(&line, 0, sizeof(line));
	memset(&err, 0, sizeof(err));
	snprintf(copy, sizeof(copy), "%s", arguments);
	for (char *word = strtok(copy, " "); word && argc < 63; word = strtok(NULL, " "))
		argv[argc++] = word;
	if (argp_parse(&publish_argp, argc, argv, ARGP_SILENT, NULL, &line)) {
		err = line.err;
		return -1;
	}
	if (file && config_file_from_text("f.yaml", file, strlen(file), &config, &err) < 0)
		return -1;
	return publish_convert(&line.texts, file ? &config : NULL, &request, &err);
}

static void done(void)
{
	publish_request_free(&request);
	publish_line_free(&line);
	config_file_close(&config);
}

static void the_command_line_is_left_as_it_is(void **state)
{
	char stream[] = "id=3,offset=20us";
	char *argv[] = { (char *)(uintptr_t) "tsnpub", (char *)(uintptr_t) "--stream", stream };

	(void)state;
	memset(&line, 0, sizeof(line));
	assert_int_equal(argp_parse(&publish_argp, 3, argv, ARGP_SILENT, NULL, &line), 0);
	assert_string_equal(stream, "id=3,offset=20us");
	assert_string_equal(line.streams[0].id, "3");
	assert_string_equal(line.streams[0].offset, "20us");
	publish_line_free(&line);
}

static void a_short_line_is_enough(void **state)
{
	const struct publisher_options *p = &request.publisher;

	(void)state;
	assert_int_equal(convert("--iface eth0 --cycle 250us", NULL), 0);
	assert_string_equal(p->ifname, "eth0");
	assert_int_equal(p->cycle_ns, 250000);
	assert_true(p->cycles == UINT64_MAX);
	assert_int_equal(p->count, 1);
	assert_int_equal(p->ethertype, 0x88b5);
	assert_int_equal(p->streams[0].size, 64);
	assert_int_equal(p->streams[0].vlan, STREAM_NO_VLAN);
	assert_int_equal(p->streams[0].dest[0], 0x91);
	assert_int_equal(p->pacing.kind, PACING_AUTO);
	assert_int_equal(p->pacing.lead_ns, -1);
	assert_true(p->stamps_auto);
	assert_int_equal(p->realtime.policy, REALTIME_FIFO);
	assert_int_equal(p->realtime.priority, 80);
	assert_false(p->has_base || p->strict || request.json || request.quiet);
	done();
}

static void every_option_arrives(void **state)
{
	const struct publisher_options *p = &request.publisher;

	(void)state;
	assert_int_equal(convert("-i eth0 -c 1ms -n 5 --dest 02:00:00:00:00:05 --source "
				 "02:00:00:00:00:06 --vlan 4094 "
				 "-p 7 --size 100 --offset 20us --ethertype 0x9000 --base-time "
				 "1790000000.5s --pacing timer "
				 "--lead 3us --spin 4us --deadline-mode on --on-link-loss stop "
				 "--cpu 0 --rt-priority 99 "
				 "--policy rr --strict --timestamps sched,hw --timestamp-every 10 "
				 "--deadline 30us --sla 99.9% -l x.tsnlog -j -q",
				 NULL),
			 0);
	assert_int_equal(p->cycles, 5);
	assert_int_equal(p->streams[0].dest[5], 5);
	assert_int_equal(p->source[5], 6);
	assert_true(p->has_source);
	assert_int_equal(p->streams[0].vlan, 4094);
	assert_int_equal(p->streams[0].priority, 7);
	assert_int_equal(p->streams[0].size, 100);
	assert_int_equal(p->streams[0].offset_ns, 20000);
	assert_int_equal(p->ethertype, 0x9000);
	assert_true(p->has_base && p->base_ns == 1790000000500000000);
	assert_int_equal(p->pacing.kind, PACING_TIMER);
	assert_int_equal(p->pacing.lead_ns, 3000);
	assert_int_equal(p->pacing.spin_ns, 4000);
	assert_int_equal(p->pacing.deadline_mode, DEADLINE_ON);
	assert_int_equal(p->link_loss, LINK_LOSS_STOP);
	assert_int_equal(p->realtime.cpu, 0);
	assert_int_equal(p->realtime.priority, 99);
	assert_int_equal(p->realtime.policy, REALTIME_RR);
	assert_true(p->strict && request.json && request.quiet);
	assert_int_equal(p->stamps, STAMP_SCHED | STAMP_HW);
	assert_int_equal(p->stamp_every, 10);
	assert_int_equal(p->deadline_ns, 30000);
	assert_true(p->sla > 0.9989 && p->sla < 0.9991);
	assert_string_equal(p->log_path, "x.tsnlog");
	done();
}

static void the_line_wins_over_the_file(void **state)
{
	static const char file[] = "iface: eth1\n"
				   "cycle: 2ms\n"
				   "count: 7\n"
				   "size: 90\n"
				   "json: yes\n"
				   "quiet: true\n"
				   "streams:\n"
				   "- id: 3\n"
				   "  priority: 2\n"
				   "- id: 4\n"
				   "  size: 200\n"
				   "  every: 3\n"
				   "schedule:\n"
				   "  mode: anything\n";
	const struct publisher_options *p = &request.publisher;

	(void)state;
	assert_int_equal(convert("", file), 0);
	assert_string_equal(p->ifname, "eth1");
	assert_int_equal(p->cycles, 7);
	assert_int_equal(p->count, 2);
	assert_int_equal(p->streams[0].size, 90); /* the file's common size */
	assert_int_equal(p->streams[1].size, 200); /* its own */
	assert_int_equal(p->streams[1].every, 3);
	assert_true(request.json && request.quiet);
	done();

	assert_int_equal(convert("--iface eth2 --cycle 1ms --duration 1s --size 300", file), 0);
	assert_string_equal(p->ifname, "eth2");
	assert_int_equal(p->cycle_ns, 1000000);
	assert_int_equal(p->cycles, 1000); /* --duration over the file's count */
	assert_int_equal(p->streams[0].size, 300);
	assert_int_equal(p->streams[1].size, 300);
	done();

	/* streams of the line replace those of the file, and common values complete them */
	assert_int_equal(convert("--stream id=9,size=70 --stream id=10 --size 80", file), 0);
	assert_int_equal(p->count, 2);
	assert_int_equal(p->streams[0].id, 9);
	assert_int_equal(p->streams[0].size, 70);
	assert_int_equal(p->streams[1].size, 80);
	done();

	assert_int_equal(convert("-i eth0", "interface: eth9\ncycle: 1ms\n"), 0);
	done();
	assert_int_equal(convert("", "interface: eth9\ncycle: 1ms\n"), 0);
	assert_string_equal(p->ifname, "eth9");
	done();
}

static void wrong_values_are_named_with_place_reason_and_fix(void **state)
{
	static const struct {
		const char *line;
		const char *file;
		const char *says;
	} cases[] = {
		{ "", NULL, "--iface" },
		{ "-i eth0", NULL, "--cycle" },
		{ "-i eth0 -c 250", NULL, "--cycle '250': a time needs a unit" },
		{ "-i eth0 -c 31us", NULL, "31.25us to 10s" },
		{ "-i eth0 -c 10.1s", NULL, "31.25us to 10s" },
		{ "-i eth0 -c 1ms -n 0", NULL, "--count '0'" },
		{ "-i eth0 -c 1ms -n 1 -d 1s", NULL, "give one of them" },
		{ "-i eth0 -c 1ms -d 999us", NULL, "no frame would be sent" },
		{ "-i eth0 -c 1ms --offset 1ms", NULL, "--offset '1ms'" },
		{ "-i eth0 -c 1ms --vlan 4095", NULL, "--vlan '4095': out of range; 0 to 4094" },
		{ "-i eth0 -c 1ms -p 8", NULL, "--priority '8': out of range; 0 to 7" },
		{ "-i eth0 -c 1ms --size 59", NULL, "--size '59'" },
		{ "-i eth0 -c 1ms --source 03:00:00:00:00:00", NULL,
		  "multicast address cannot be a source" },
		{ "-i eth0 -c 1ms --dest 1", NULL, "--dest '1': not a MAC" },
		{ "-i eth0 -c 1ms --ethertype 0x8100", NULL, "VLAN tag" },
		{ "-i eth0 -c 1ms --ethertype 64", NULL, "out of range" },
		{ "-i eth0 -c 1ms --pacing fast", NULL, "launch-time, gate or timer" },
		{ "-i eth0 -c 1ms --deadline-mode maybe", NULL, "one of auto, on, off" },
		{ "-i eth0 -c 1ms --policy deadline --cpu 0", NULL, "cannot be pinned" },
		{ "-i eth0 -c 1ms --rt-priority 0", NULL, "1 to 99" },
		{ "-i eth0 -c 1ms --timestamps hw,", NULL, "sched,sw,hw" },
		{ "-i eth0 -c 1ms --stream id=1 --stream id=1", NULL,
		  "--stream 2: id '1': a stream above" },
		{ "-i eth0 -c 1ms --size 100 --stream size=10", NULL, "--stream 1: size '10'" },
		{ "-i eth0 -c 1ms --size 10 --stream id=1", NULL, "--size '10'" },
		{ "-i eth0 -c 1ms --stream id", NULL, "key=value" },
		{ "-i eth0 -c 1ms --stream id=1,id=2", NULL, "'id' stands twice" },
		{ "-i eth0 -c 1ms --stream colour=red", NULL, "unknown key 'colour'" },
		{ "-i eth0 -c 1ms --stream id=1,offset=anywhere", NULL, "schedule plan" },
		{ "-i eth0 -c 1ms --stream id=65520", NULL, "out of range" },
		{ "-i eth0 -c 1ms stray", NULL, "'stray'" },
		{ "-i eth0 -c 1ms --source 00:00:00:00:00:00", NULL, "bridges drop frames" },
		{ "-i eth0 -c 1ms --spin 1ms", NULL, "--spin 1ms: not shorter than the cycle" },
		{ "-i eth0 -c 1ms --rt-priority 5 --policy other", NULL, "fifo and rr have a" },
		{ "-i eth0 -c 1ms --rt-priority 5 --policy deadline", NULL, "--rt-priority 5" },
		{ "-i eth0 -c 1ms --blame --policy deadline", NULL, "use --policy fifo" },
		{ "-i eth0 -c 1ms --timestamps none --timestamp-every 2", NULL, "no stamps" },
		{ "-i eth0 -c 1ms --timestamps none,hw", NULL, "none stands alone" },
		{ "-i eth0 -c 1ms --deadline 50", NULL, "--deadline '50': a time needs a unit" },
		{ "-i eth0 -c 1ms --deadline 0", NULL, "--deadline '0': out of range" },
		{ "-i eth0 -c 1ms --sla 99.9", NULL, "--sla '99.9': not a percentage" },
		{ "-i eth0 -c 1ms --sla 100.1%", NULL, "--sla '100.1%': out of range" },
		{ "", "iface: eth0\ncycle: 1ms\nspin: 2ms\n", "f.yaml: line 3: spin 2ms: not" },
		{ "", "iface: eth0\ncycle: 250\n",
		  "f.yaml: line 2: cycle '250': a time needs a unit" },
		{ "", "iface: eth0\ncycle: 1ms\ncolour: red\n",
		  "f.yaml: line 3: unknown key 'colour'" },
		{ "", "iface: eth0\ncycle: [1ms]\n", "f.yaml: line 2: cycle: wrong kind of value" },
		{ "", "iface: eth0\ncycle: 1ms\nstrict: maybe\n",
		  "f.yaml: line 3: strict 'maybe'" },
		{ "", "iface: eth0\ncycle: 1ms\nstreams:\n- id: 1\n- id: 1\n",
		  "f.yaml: line 5: streams[1].id '1'" },
		{ "", "iface: eth0\ncycle: 1ms\nsize: 10\nstreams:\n- id: 1\n",
		  "f.yaml: line 3: size '10'" },
		{ "--size 10", "iface: eth0\ncycle: 1ms\nstreams:\n- id: 1\n  size: 70\n",
		  "--size '10'" },
		/* also where the command line says something else */
		{ "-i eth0 -c 1ms", "cycle: 5\n",
		  "f.yaml: line 1: cycle '5': a time needs a unit" },
		{ "-i eth0 -c 1ms -p 3", "priority: 9\n", "f.yaml: line 1: priority '9'" },
		{ "-i eth0 -c 1ms --stream id=1", "streams:\n- id: 1\n  size: 10\n",
		  "f.yaml: line 3: streams[0].size '10'" },
		{ "-i eth0 -c 1ms --offset 0ns", "cycle: 1ms\noffset: 2ms\n",
		  "f.yaml: line 2: offset '2ms'" },
		{ "-i eth0 -c 1ms --offset 0ns", "offset: 2ms\n", "f.yaml: line 1: offset '2ms'" },
		{ "-i eth0 -c 1ms -n 5", "duration: 5\n", "f.yaml: line 1: duration '5'" },
		{ "-i eth0 -c 1ms --sla 99%", "sla: 99\n", "f.yaml: line 1: sla '99'" },
		{ "-i eth0 -c 1ms --strict", "strict: maybe\n", "f.yaml: line 1: strict 'maybe'" },
		{ "-i eth0 -c 1ms --cpu 0", "cpu: first\n", "f.yaml: line 1: cpu 'first'" },
		{ "-i eth0 -c 1ms --policy rr", "policy: fast\n", "f.yaml: line 1: policy 'fast'" },
		{ "-i eth0 -c 1ms --timestamps none", "timestamps: gps\n",
		  "f.yaml: line 1: timestamps 'gps'" },
		{ "-i eth0 -c 1ms --sync ignore", "sync: perhaps\n",
		  "f.yaml: line 1: sync 'perhaps'" },
		{ "-i eth0 -c 1ms --log x", "log: ''\n", "f.yaml: line 1: log: an empty" },
		{ "", "iface: eth0\ncycle: 1ms\n---\ncycle: 2ms\n", "second document" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(convert(cases[i].line, cases[i].file), -1);
		assert_int_equal(err.status, STATUS_INPUT);
		if (!strstr(err.text, cases[i].says))
			fail_msg("'%s' '%s' says: %s", cases[i].line,
				 cases[i].file ? cases[i].file : "", err.text);
		assert_null(strchr(err.text, '\n'));
		done();
	}
}

/* With an interface and a cycle of 1 ms, and `again` behind the words. */
static int convert_beside(const char *words, const char *again, const char *file)
{
	char given[160], text[128];

	snprintf(given, sizeof(given), "-i eth0 %s %s", words, again);
	snprintf(text, sizeof(text), "cycle: 1ms\n%s", file);
	return convert(given, text);
}

/* What does not go together in a file may be what the command line is there for. */
static void the_line_mends_what_does_not_go_together(void **state)
{
	static const struct {
		const char *line, *file;
	} cases[] = {
		{ "-n 5", "count: 7\nduration: 1s\n" },
		{ "--blame", "blame-over: 50us\n" },
		{ "--policy fifo", "policy: other\nrt-priority: 50\n" },
		{ "--cpu 0", "cpu: 1000\n" },
		{ "--policy fifo --cpu 0", "policy: deadline\ncpu: 1\n" },
		{ "--duration 1s", "duration: 1us\n" },
		{ "--spin 20us", "spin: 5ms\n" },
		{ "--timestamps sw", "timestamps: none\ntimestamp-every: 5\n" },
		{ "--offset 10us", "offset: anywhere\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (convert_beside(cases[i].line, "", cases[i].file))
			fail_msg("'%s' '%s': %s", cases[i].line, cases[i].file, err.text);
		done();
		/* and without it, it is refused */
		assert_int_equal(convert_beside("", "", cases[i].file), -1);
		done();
	}
}

/* What the file says of an option that the line takes the ground away from is passed over, unless the line says it too. */
static void the_line_wins_over_what_goes_with_something_else(void **state)
{
	static const struct {
		const char *line, *file, *again;
	} cases[] = {
		{ "--timestamps none", "timestamp-every: 5\n", "--timestamp-every 5" },
		{ "--policy other", "rt-priority: 50\n", "--rt-priority 50" },
		{ "--policy deadline", "cpu: 0\n", "--cpu 0" },
		{ "--policy deadline", "cpu: 1000\n", "--cpu 0" },
		{ "--no-blame", "blame: true\nblame-over: 50us\n", "--blame-over 50us" },
		{ "--policy deadline --no-blame", "blame: true\n", "--blame" },
	};
	const struct publisher_options *p = &request.publisher;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (convert_beside(cases[i].line, "", cases[i].file))
			fail_msg("'%s' '%s': %s", cases[i].line, cases[i].file, err.text);
		assert_int_equal(p->realtime.cpu, REALTIME_CPU_ANY);
		assert_false(request.blame);
		assert_int_equal(request.blame_over_ns, 0);
		done();
		assert_int_equal(convert_beside(cases[i].line, cases[i].again, cases[i].file), -1);
		done();
	}
	assert_int_equal(
		convert("-i eth0 --no-json --no-quiet --no-strict --no-apply",
			"cycle: 1ms\njson: true\nquiet: true\nstrict: true\napply: true\n"),
		0);
	assert_false(request.json || request.quiet || p->strict || request.apply);
	done();
	/* the last word counts */
	assert_int_equal(convert("-i eth0 --no-json -j", "cycle: 1ms\n"), 0);
	assert_true(request.json);
	done();
	assert_int_equal(convert("-i eth0", "cycle: 1ms\ncount: 7\nduration: 1s\n"), -1);
	assert_string_equal(err.text, "f.yaml: line 2: count and duration: give one of them");
	done();
}

static void as_many_streams_as_there_may_be(void **state)
{
	static char file[STREAMS_MAX * 64];
	size_t used = (size_t)snprintf(file, sizeof(file), "iface: eth0\ncycle: 10ms\nstreams:\n");

	(void)state;
	for (int i = 0; i < STREAMS_MAX; i++)
		used += (size_t)snprintf(file + used, sizeof(file) - used,
					 "- {id: %d, dest: '02:00:00:00:00:01'}\n", i);
	assert_int_equal(convert("", file), 0);
	assert_int_equal(request.publisher.count, STREAMS_MAX);
	done();
	snprintf(file + used, sizeof(file) - used, "- {id: 2000, dest: '02:00:00:00:00:01'}\n");
	assert_int_equal(convert("", file), -1);
	assert_non_null(strstr(err.text, "1025 streams; at most 1024"));
	done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_short_line_is_enough),
		cmocka_unit_test(the_command_line_is_left_as_it_is),
		cmocka_unit_test(every_option_arrives),
		cmocka_unit_test(the_line_wins_over_the_file),
		cmocka_unit_test(wrong_values_are_named_with_place_reason_and_fix),
		cmocka_unit_test(the_line_mends_what_does_not_go_together),
		cmocka_unit_test(the_line_wins_over_what_goes_with_something_else),
		cmocka_unit_test(as_many_streams_as_there_may_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

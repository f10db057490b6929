// SPDX-License-Identifier: GPL-2.0-only
/* Who steers the clocks: processes recognised by name, capability and command line. */
#include "cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ptp/steering.h"

#define SYS_TIME (1ULL << 25)

static bool recognise(const char *comm, const char *cmdline, int size, uint64_t capabilities,
		      struct steerer *steerer)
{
	return steerer_recognise(comm, cmdline, size, capabilities, steerer);
}

/* arguments separated by NUL, as in /proc/PID/cmdline */
#define CMDLINE(text) text, sizeof(text)

static void ntp_daemons_need_the_capability(void **state)
{
	struct steerer s;

	(void)state;
	assert_true(recognise("chronyd", CMDLINE("/usr/sbin/chronyd\0-F\0001"), SYS_TIME, &s));
	assert_int_equal(s.kind, STEERER_NTP);
	assert_true(s.system_clock);
	/* anybody may call a process so */
	assert_true(recognise("chronyd", CMDLINE("chronyd"), 0, &s));
	assert_false(s.system_clock);
	assert_true(recognise("chronyd", CMDLINE("chronyd\0-n\0-x"), SYS_TIME, &s));
	assert_false(s.system_clock);
	assert_true(recognise("systemd-timesyn", CMDLINE("/lib/systemd/systemd-timesyncd"),
			      SYS_TIME, &s));
	assert_string_equal(s.name, "systemd-timesyncd");
	assert_true(s.system_clock);
	assert_true(recognise("ntpd", CMDLINE("ntpd"), ~0ULL, &s));
	assert_false(recognise("ntpdate", CMDLINE("ntpdate"), ~0ULL, &s));
	assert_false(recognise("", CMDLINE(""), 0, &s));
}

static void what_phc2sys_steers(void **state)
{
	static const struct {
		const char *cmdline;
		int size;
		bool system_clock, phc;
	} cases[] = {
		{ CMDLINE("phc2sys\0-s\0eth0\0-w"), true, false },
		{ CMDLINE("phc2sys\0-s\0eth0\0-c\0CLOCK_REALTIME\0-O\0-37"), true, false },
		{ CMDLINE("phc2sys\0-c\0eth0\0-s\0CLOCK_REALTIME\0-O\00037"), false, true },
		{ CMDLINE("phc2sys\0-ceth0\0-sCLOCK_REALTIME"), false, true },
		{ CMDLINE("phc2sys\0-a\0-rr"), true, true },
		{ CMDLINE("phc2sys\0-ar"), true, true },
		{ CMDLINE("phc2sys\0-a"), false, true },
		/* -r in the value of another option */
		{ CMDLINE("phc2sys\0-a\0-z\0-m"), false, true },
		{ CMDLINE("phc2sys\0-s\0eth-a"), true, false },
		{ CMDLINE("phc2sys"), false, false },
		{ "phc2sys", 0, false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct steerer s;

		assert_true(recognise("phc2sys", cases[i].cmdline, cases[i].size, 0, &s));
		if (s.system_clock != cases[i].system_clock || s.phc != cases[i].phc)
			fail_msg("case %zu: system clock %d, PHC %d", i, s.system_clock, s.phc);
	}
}

static void a_program_behind_another_libcs_loader(void **state)
{
	struct steerer s;

	(void)state;
	assert_true(recognise("ld-linux-x86-64",
			      CMDLINE("/opt/lib/ld-linux-x86-64.so.2\0--library-path\0/opt/lib\0"
				      "/opt/bin/phc2sys\0-s\0eth0"),
			      SYS_TIME, &s));
	assert_string_equal(s.name, "phc2sys");
	assert_true(s.system_clock);
	assert_false(
		recognise("ld-linux-x86-64", CMDLINE("/opt/lib/ld.so\0/opt/bin/other"), 0, &s));
	assert_false(recognise("ld-linux-x86-64", "", 0, 0, &s));
}

static void ptp4l_with_software_stamps_steers_the_system_clock(void **state)
{
	struct steerer s;

	(void)state;
	assert_true(recognise("ptp4l", CMDLINE("ptp4l\0-i\0eth0\0-S\0-m"), 0, &s));
	assert_true(s.system_clock);
	assert_true(recognise("ptp4l", CMDLINE("ptp4l\0-2Sm\0-i\0eth0"), 0, &s));
	assert_true(s.system_clock);
	assert_true(recognise("ptp4l", CMDLINE("ptp4l\0-i\0ethS\0-f\0-S.cfg"), 0, &s));
	assert_true(s.phc);
}

static void write_file(const char *directory, const char *pid, const char *name, const char *text,
		       size_t size)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, pid);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/%s/%s", directory, pid, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, size, file), size);
	fclose(file);
}

#define WRITE(pid, name, text) write_file(directory, pid, name, text, sizeof(text) - 1)

static void a_hostile_proc_is_survived(void **state)
{
	char directory[] = "/tmp/tsnpub-proc.XXXXXX", command[64];
	static char long_line[70000];
	struct steering *s = malloc(sizeof(*s));

	(void)state;
	assert_non_null(mkdtemp(directory));
	WRITE("1", "comm", "init\n");
	WRITE("20", "comm", "phc2sys\n");
	WRITE("20", "cmdline", "phc2sys\0-s\0eth0\0");
	WRITE("20", "status", "Name:\tphc2sys\nCapEff:\t0000000002000000\n");
	WRITE("21", "comm", "chronyd\n");
	WRITE("21", "status", "Name:\tchronyd\nCapEff:\tzzzz\n"); /* no cmdline at all */
	memset(long_line, 'x', sizeof(long_line));
	WRITE("22", "comm", "ntpd\n");
	write_file(directory, "22", "cmdline", long_line, sizeof(long_line));
	write_file(directory, "22", "status", long_line, sizeof(long_line));
	write_file(directory, "23", "comm", long_line, sizeof(long_line));
	WRITE("24", "comm", "");
	WRITE("net", "comm", "chronyd\n"); /* no process */
	steering_read(directory, s);
	assert_true(s->known);
	assert_false(s->partial);
	assert_int_equal(s->count, 3);
	for (int i = 0; i < s->count; i++) {
		assert_int_equal(s->steerer[i].system_clock, s->steerer[i].pid == 20);
		assert_int_equal(s->steerer[i].privileged, s->steerer[i].pid == 20);
	}
	/* more of them than we keep */
	for (int pid = 100; pid < 130; pid++) {
		char number[16];

		snprintf(number, sizeof(number), "%d", pid);
		WRITE(number, "comm", "ptp4l\n");
	}
	steering_read(directory, s);
	assert_int_equal(s->count, STEERERS_MAX);
	assert_true(s->partial);
	snprintf(command, sizeof(command), "rm -r %s", directory);
	assert_int_equal(system(command), 0);
	steering_read(directory, s);
	assert_false(s->known);
	free(s);
}

static void without_process_1_others_are_hidden(void **state)
{
	char directory[] = "/tmp/tsnpub-proc.XXXXXX", command[64];
	static struct steering s;

	(void)state;
	assert_non_null(mkdtemp(directory));
	WRITE("20", "comm", "phc2sys\n");
	steering_read(directory, &s);
	assert_true(s.partial);
	snprintf(command, sizeof(command), "rm -r %s", directory);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ntp_daemons_need_the_capability),
		cmocka_unit_test(what_phc2sys_steers),
		cmocka_unit_test(a_program_behind_another_libcs_loader),
		cmocka_unit_test(ptp4l_with_software_stamps_steers_the_system_clock),
		cmocka_unit_test(a_hostile_proc_is_survived),
		cmocka_unit_test(without_process_1_others_are_hidden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

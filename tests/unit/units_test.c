// SPDX-License-Identifier: GPL-2.0-only
#include "cmocka_all.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"

static void durations_are_read_exactly(void **state)
{
	static const struct {
		const char *text;
		int64_t ns;
	} cases[] = {
		{ "250us", 250000 },
		{ "31.25us", 31250 },
		{ "1ms", 1000000 },
		{ "2s", 2000000000 },
		{ "500ns", 500 },
		{ "0", 0 },
		{ "1.000ns", 1 },
		{ "1m", 60000000000 },
		{ "1h", 3600000000000 },
		{ "0.0000000005s", -1 },
		{ "1790000000.5s", 1790000000500000000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct error err = ERROR_INIT;
		int64_t ns = -7;
		int result = parse_duration("--cycle", cases[i].text, 0, INT64_MAX, &ns, &err);

		if (cases[i].ns < 0) {
			assert_int_equal(result, -1);
			assert_int_equal(ns, -7);
			continue;
		}
		assert_int_equal(result, 0);
		assert_int_equal(ns, cases[i].ns);
	}
}

static void wrong_durations_say_what_to_write(void **state)
{
	static const struct {
		const char *text;
		const char *says;
	} cases[] = {
		{ "250", "needs a unit; write 250us" },
		{ "", "not a time" },
		{ "us", "not a time" },
		{ "-250us", "must not be negative" },
		{ "250 us", "unknown unit ' us'" },
		{ "250usx", "unknown unit 'usx'" },
		{ "1.ms", "not a time" },
		{ ".5ms", "not a time" },
		{ "0.5ns", "finer than one nanosecond" },
		{ "99999999999999999999s", "out of range" },
		{ "9223372037s", "out of range" },
		{ "1e3us", "unknown unit 'e3us'" },
		{ "+1us", "not a time" },
		{ "nan", "not a time" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct error err = ERROR_INIT;
		int64_t ns = -7;

		assert_int_equal(parse_duration("--cycle", cases[i].text, 0, INT64_MAX, &ns, &err),
				 -1);
		assert_int_equal(err.status, STATUS_INPUT);
		assert_int_equal(ns, -7);
		assert_non_null(strstr(err.text, "--cycle"));
		if (!strstr(err.text, cases[i].says))
			fail_msg("'%s' says: %s", cases[i].text, err.text);
	}
}

static void durations_keep_their_range(void **state)
{
	struct error err = ERROR_INIT;
	int64_t ns = 0;

	(void)state;
	assert_int_equal(parse_duration("--lead", "-4ns", -10, 10, &ns, &err), 0);
	assert_int_equal(ns, -4);
	assert_int_equal(parse_duration("--lead", "11ns", -10, 10, &ns, &err), -1);
	assert_non_null(strstr(err.text, "-10ns to 10ns"));
}

static void durations_are_written_shortest(void **state)
{
	static const struct {
		int64_t ns;
		const char *text;
	} cases[] = {
		{ 31250, "31.25us" },   { 0, "0ns" },
		{ 999, "999ns" },       { 1000000000, "1s" },
		{ 1500000000, "1.5s" }, { -4, "-4ns" },
		{ 1001, "1.001us" },    { INT64_MIN, "-9223372036.854775808s" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[DURATION_TEXT];

		assert_string_equal(format_duration(cases[i].ns, text), cases[i].text);
	}
}

static void numbers_macs_percents_speeds(void **state)
{
	struct error err = ERROR_INIT;
	uint64_t number = 0;
	uint8_t mac[6];
	double fraction;
	uint32_t mbps;
	char text[MAC_TEXT];

	(void)state;
	assert_int_equal(parse_number("--count", "0x88b5", 0, UINT64_MAX, &number, &err), 0);
	assert_int_equal(number, 0x88b5);
	assert_int_equal(
		parse_number("--count", "18446744073709551615", 0, UINT64_MAX, &number, &err), 0);
	assert_true(number == UINT64_MAX);
	assert_int_equal(
		parse_number("--count", "18446744073709551616", 0, UINT64_MAX, &number, &err), -1);
	assert_int_equal(parse_number("--priority", "8", 0, 7, &number, &err), -1);
	assert_non_null(strstr(err.text, "0 to 7"));
	assert_int_equal(parse_number("--count", "", 0, 7, &number, &err), -1);
	assert_int_equal(parse_number("--count", "1.5", 0, 7, &number, &err), -1);

	assert_int_equal(parse_mac("--dest", "91:E0:f0:00:fe:01", mac, &err), 0);
	assert_string_equal(format_mac(mac, text), "91:e0:f0:00:fe:01");
	assert_int_equal(parse_mac("--dest", "91:e0:f0:00:fe", mac, &err), -1);
	assert_int_equal(parse_mac("--dest", "91:e0:f0:00:fe:01:02", mac, &err), -1);
	assert_int_equal(parse_mac("--dest", "91-e0-f0-00-fe-01", mac, &err), -1);

	assert_int_equal(parse_percent("--sla", "99.99%", &fraction, &err), 0);
	assert_true(fraction > 0.99989 && fraction < 0.99991);
	assert_int_equal(parse_percent("--sla", "99.99", &fraction, &err), -1);
	assert_int_equal(parse_percent("--sla", "100.01%", &fraction, &err), -1);
	assert_int_equal(parse_percent("--sla", "0%", &fraction, &err), -1);

	assert_int_equal(parse_speed("--speed", "2.5G", &mbps, &err), 0);
	assert_int_equal(mbps, 2500);
	assert_int_equal(parse_speed("--speed", "1000", &mbps, &err), -1);
	assert_int_equal(parse_speed("--speed", "1.2345G", &mbps, &err), -1);
}

static void wire_time_counts_preamble_padding_and_gap(void **state)
{
	(void)state;
	assert_int_equal(wire_time_ns(60, 1000), 672); /* the minimum frame: 84 byte times */
	assert_int_equal(wire_time_ns(10, 1000), 672);
	assert_int_equal(wire_time_ns(1514, 1000), 12304);
	assert_int_equal(wire_time_ns(60, 2500), 269); /* rounded up */
	assert_int_equal(wire_time_ns(60, 100), 6720);
}

static void phase_is_kept_over_the_epoch(void **state)
{
	(void)state;
	assert_int_equal(next_in_phase(100, 250, 100), 100);
	assert_int_equal(next_in_phase(100, 250, 101), 350);
	assert_int_equal(next_in_phase(100, 250, -151), -150);
	assert_int_equal(next_in_phase(1000, 250, 10), 250);
}

static void errors_are_one_printable_line(void **state)
{
	struct error err = ERROR_INIT;

	(void)state;
	error_input(&err, "value '%s'", "a\nb\033[2J");
	assert_string_equal(err.text, "value 'a?b?[2J'");
	error_prefix(&err, "%s: line %d", "x.yaml", 3);
	assert_string_equal(err.text, "x.yaml: line 3: value 'a?b?[2J'");
	error_file(&err, ENOENT, "/a/b\n/c", "log");
	assert_string_equal(err.text, "log: No such file or directory (ENOENT); make its directory "
				      "first: mkdir -p '/a/b?'");
	assert_int_equal(err.status, STATUS_SYSTEM);
	error_file(&err, ENOENT, "/proc/x", "log");
	assert_string_equal(err.text, "log: No such file or directory (ENOENT); '/proc' takes no "
				      "file of that name: name one elsewhere");
	error_file(&err, EROFS, "x", "log");
	assert_non_null(strstr(err.text, "; '.' is mounted read-only: name a file elsewhere"));
	error_file(&err, EACCES, "/x", "log");
	assert_non_null(strstr(err.text, "that this user may write, '/' is none"));
	error_file(&err, EFBIG, "/x", "log");
	assert_string_equal(err.text, "log: File too large (EFBIG); `ulimit -f` is the limit of a "
				      "file's size");
	error_file(&err, EMFILE, "/x", "log");
	assert_string_equal(err.text,
			    "log: Too many open files (EMFILE); `ulimit -n` is their limit");
	error_errno(&err, EMFILE, "socket");
	assert_string_equal(err.text,
			    "socket: Too many open files (EMFILE); `ulimit -n` is their limit");
	assert_int_equal(error_fix(&err, "%0600d", 7), -1);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	assert_int_equal(error_fix(&err, "more"), -1);
	error_errno(&err, 1, "socket");
	assert_int_equal(err.status, STATUS_SYSTEM);
	assert_string_equal(err.text, "socket: Operation not permitted (EPERM)");
	error_errno(&err, 524, "taprio");
	assert_string_equal(err.text, "taprio: errno 524 (ENOTSUPP)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations_are_read_exactly),
		cmocka_unit_test(wrong_durations_say_what_to_write),
		cmocka_unit_test(durations_keep_their_range),
		cmocka_unit_test(durations_are_written_shortest),
		cmocka_unit_test(numbers_macs_percents_speeds),
		cmocka_unit_test(wire_time_counts_preamble_padding_and_gap),
		cmocka_unit_test(phase_is_kept_over_the_epoch),
		cmocka_unit_test(errors_are_one_printable_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

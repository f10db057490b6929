// SPDX-License-Identifier: GPL-2.0-only
#include "cmocka_all.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <signal.h>
#include <unistd.h>
#include <zlib.h>

#include "data/description.h"
#include "data/logfile.h"

static char directory[] = "/tmp/tsnlog.XXXXXX";
static char path[64];

static int make_directory(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/a.tsnlog", directory);
	return 0;
}

static int remove_directory(void **state)
{
	(void)state;
	return rmdir(directory);
}

static int remove_file(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

static struct tx_record record(int64_t seq)
{
	return (struct tx_record){ .seq = seq, .launch = 1000 * seq, .stream = 7, .run = 99 };
}

static void write_log(uint64_t count)
{
	unlink(path); /* a damaged one would not be overwritten */

	json_t *description = json_pack("{s:s, s:{s:I}}", "host", "here", "options", "lead_ns",
					(json_int_t)250000);
	struct error err = ERROR_INIT;
	struct log_writer *log = log_create(path, RECORD_TX, description, &err);

	assert_non_null(log);
	for (uint64_t i = 0; i < count; i++) {
		struct tx_record r = record((int64_t)i);

		assert_int_equal(log_append(log, &r, 1, &err), 0);
	}
	assert_int_equal(log_lost(log), 0);
	assert_int_equal(log_close(log, &err), 0);
	json_decref(description);
}

/* Writes `size` bytes at `offset`. */
static void patch(off_t offset, const void *bytes, size_t size)
{
	int fd = open(path, O_WRONLY);

	assert_int_equal(pwrite(fd, bytes, size, offset), (ssize_t)size);
	close(fd);
}

static void assert_refused(const char *reason)
{
	struct error err = ERROR_INIT;
	struct log_reader *log = log_open(path, &err);

	assert_null(log);
	assert_int_equal(err.status, STATUS_INPUT);
	if (!strstr(err.text, reason))
		fail_msg("'%s' lacks '%s'", err.text, reason);
	assert_non_null(strstr(err.text, path));
}

static void what_is_written_is_read(void **state)
{
	struct error err = ERROR_INIT;
	struct tx_record records[1000];
	struct log_reader *log;
	int64_t n, next = 0;

	(void)state;
	write_log(10007);
	log = log_open(path, &err);
	assert_non_null(log);
	assert_int_equal(log_kind(log), RECORD_TX);
	assert_int_equal(log_count(log), 10007);
	assert_false(log_truncated(log));
	assert_string_equal(description_text(log_description(log), "host"), "here");
	assert_int_equal(description_number(log_description(log), "lead_ns", -1), 250000);
	assert_int_equal(description_number(log_description(log), "host", -1), -1);
	while ((n = log_read(log, records, 1000, &err)) > 0)
		for (int64_t i = 0; i < n; i++, next++) {
			struct tx_record r = record(next);

			assert_memory_equal(&records[i], &r, sizeof(r));
		}
	assert_int_equal(n, 0);
	assert_int_equal(next, 10007);
	log_reader_free(log);
}

static void a_cut_off_log_is_read_up_to_the_cut(void **state)
{
	struct error err = ERROR_INIT;
	struct tx_record records[20];
	struct log_reader *log;

	(void)state;
	write_log(10);
	assert_int_equal(truncate(path, 4096 + 9 * 64 + 17), 0);
	log = log_open(path, &err);
	assert_non_null(log);
	assert_true(log_truncated(log));
	assert_int_equal(log_count(log), 9);
	assert_int_equal(log_read(log, records, 20, &err), 9);
	assert_int_equal(records[8].seq, 8);
	assert_int_equal(log_read(log, records, 20, &err), 0);
	log_reader_free(log);
}

static void files_that_are_no_logs_are_left_alone(void **state)
{
	struct error err = ERROR_INIT;
	json_t *description = json_object();
	char text[16] = "";
	FILE *file;

	(void)state;
	file = fopen(path, "w");
	fputs("iface: eth0\n", file);
	fclose(file);
	assert_null(log_create(path, RECORD_TX, description, &err));
	assert_int_equal(err.status, STATUS_INPUT);
	assert_non_null(strstr(err.text, "no log, and it is not overwritten"));
	file = fopen(path, "r");
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	assert_string_equal(text, "iface: eth0\n");
	/* an empty one, as mktemp makes it, and a log are replaced */
	assert_int_equal(truncate(path, 0), 0);
	for (int i = 0; i < 2; i++) {
		struct log_writer *log = log_create(path, RECORD_TX, description, &err);

		assert_non_null(log);
		assert_int_equal(log_close(log, &err), 0);
	}
	json_decref(description);
}

static void damaged_headers_are_refused_by_name(void **state)
{
	static const uint32_t two = 2, swapped = 0x04030201, nine = 9, big = 128, long_json = 4065;
	static const struct {
		off_t offset;
		const void *bytes;
		size_t size;
		const char *reason;
	} damages[] = {
		{ 0, "X", 1, "not a tsnpub log" },
		{ 8, &two, 4, "version 2" },
		{ 12, &swapped, 4,
		  "written on a machine of the other byte order; make the report there" },
		{ 16, &nine, 4, "unknown kind of record 9" },
		{ 20, &big, 4, "records of 128 bytes" },
		{ 24, &long_json, 4, "4065 bytes of JSON" },
		{ 28, &two, 4, "checksum" },
		{ 40, "\x01", 1, "checksum" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		write_log(1);
		patch(damages[i].offset, damages[i].bytes, damages[i].size);
		assert_refused(damages[i].reason);
	}
}

static void set_json(const char *text)
{
	uint32_t size = (uint32_t)strlen(text), crc = (uint32_t)crc32(0, (const Bytef *)text, size);

	write_log(1);
	patch(24, &size, 4);
	patch(28, &crc, 4);
	patch(32, text, size);
}

static void json_that_is_not_an_object_is_refused(void **state)
{
	char nested[4001];

	(void)state;
	set_json("[1, 2]");
	assert_refused("no object");
	set_json("{\"a\": ");
	assert_refused("damaged header");
	set_json("");
	assert_refused("damaged header");
	memset(nested, '[', 4000);
	nested[4000] = '\0';
	set_json(nested);
	assert_refused("damaged header");
}

static void files_of_other_kinds_are_refused(void **state)
{
	struct error err = ERROR_INIT;
	int fd;

	(void)state;
	unlink(path);
	assert_refused("No such file");
	fd = open(path, O_WRONLY | O_CREAT, 0644);
	assert_refused("empty file");
	assert_int_equal(write(fd, "TSNLOG\r\nabc", 11), 11);
	assert_refused("cut off within its header: 11 of 4096");
	assert_int_equal(pwrite(fd, "pcap, perhaps", 13, 0), 13);
	assert_refused("not a tsnpub log");
	close(fd);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_refused("a FIFO");
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_refused("a directory");
	assert_null(log_create(path, RECORD_TX, NULL, &err));
	assert_non_null(strstr(err.text, "a directory"));
	rmdir(path);
}

static void a_link_is_not_followed_for_writing(void **state)
{
	json_t *description = json_object();
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_null(log_create(path, RECORD_TX, description, &err));
	assert_int_equal(err.status, STATUS_INPUT);
	assert_non_null(strstr(err.text, "a symbolic link"));
	json_decref(description);
}

static void two_writers_do_not_share_a_log(void **state)
{
	json_t *description = json_object();
	struct error err = ERROR_INIT;
	struct log_writer *first = log_create(path, RECORD_TX, description, &err), *second;

	(void)state;
	assert_non_null(first);
	second = log_create(path, RECORD_TX, description, &err);
	assert_null(second);
	assert_non_null(strstr(err.text, "another process"));
	assert_int_equal(log_close(first, &err), 0);
	second = log_create(path, RECORD_TX, description, &err);
	assert_non_null(second);
	assert_int_equal(log_close(second, &err), 0);
	json_decref(description);
}

static void a_log_that_was_removed_meanwhile_is_told(void **state)
{
	struct tx_record record = { .seq = 1 };
	struct error err = ERROR_INIT;
	struct log_writer *log;
	json_t *description = json_object();

	(void)state;
	log = log_create(path, RECORD_TX, description, &err);
	assert_non_null(log);
	assert_int_equal(log_append(log, &record, 1, &err), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(log_close(log, &err), -1);
	assert_non_null(strstr(err.text, "was removed while it was being written; its 1 records"));
	json_decref(description);
}

static void a_long_description_loses_its_longest_member(void **state)
{
	json_t *description = json_object(), *streams = json_array();
	struct error err = ERROR_INIT;
	struct log_writer *writer;
	struct log_reader *reader;

	(void)state;
	for (int i = 0; i < 1000; i++)
		json_array_append_new(streams, json_pack("{s:i}", "id", i));
	json_object_set_new(description, "streams", streams);
	json_object_set_new(description, "host", json_string("here"));
	writer = log_create(path, RECORD_RX, description, &err);
	assert_non_null(writer);
	assert_int_equal(log_close(writer, &err), 0);
	reader = log_open(path, &err);
	assert_non_null(reader);
	assert_string_equal(description_text(log_description(reader), "host"), "here");
	assert_null(json_object_get(log_description(reader), "streams"));
	assert_string_equal(json_string_value(json_array_get(
				    json_object_get(log_description(reader), "left_out"), 0)),
			    "streams");
	/* the caller's own is as it was */
	assert_int_equal(json_array_size(json_object_get(description, "streams")), 1000);
	log_reader_free(reader);
	json_decref(description);
}

static void a_full_disk_stops_the_log_once(void **state)
{
	struct rlimit old, small = { 4096 + 100 * 64 + 10, RLIM_INFINITY };
	json_t *description = json_object();
	static struct tx_record records[5000];
	struct error err = ERROR_INIT;
	struct log_writer *log;
	struct log_reader *reader;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	small.rlim_max = old.rlim_max;
	log = log_create(path, RECORD_TX, description, &err);
	assert_non_null(log);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(log_append(log, records, 5000, &err), -1);
	assert_int_equal(err.status, STATUS_SYSTEM);
	assert_non_null(strstr(err.text, "stopped after 100 records"));
	assert_int_equal(log_append(log, records, 5000, &err), 0);
	assert_int_equal(log_lost(log), 9900);
	assert_int_equal(log_close(log, &err), 0);
	setrlimit(RLIMIT_FSIZE, &old);
	reader = log_open(path, &err);
	assert_non_null(reader);
	assert_int_equal(log_count(reader), 100);
	assert_false(log_truncated(reader));
	assert_int_equal(log_missing(reader), 9900);
	log_reader_free(reader);
	json_decref(description);
}

static void it_tells_what_it_lacks(void **state)
{
	static const uint64_t lacks[] = { 0, 7, UINT64_MAX };
	static const uint64_t told[] = { 0, 7, INT64_MAX };
	char text[4096] = { 0 };

	(void)state;
	/* with a description that fills the header, as far as one can, nothing else has to make room */
	for (int length = 3900; length < 4050; length += 5)
		for (int i = 0; i < 3; i++) {
			struct error err = ERROR_INIT;
			struct tx_record r = record(1), back;
			struct log_writer *log;
			struct log_reader *reader;
			json_t *description;

			memset(text, 'x', (size_t)length);
			text[length] = '\0';
			description = json_pack("{s:s}", "host", text);
			log = log_create(path, RECORD_TX, description, &err);
			json_decref(description);
			assert_non_null(log);
			assert_int_equal(log_append(log, &r, 1, &err), 0);
			log_lacks(log, lacks[i]);
			assert_int_equal(log_close(log, &err), 0);
			reader = log_open(path, &err);
			assert_non_null(reader);
			assert_int_equal(log_missing(reader), told[i]);
			if (length <= 4096 - 32 - 40 - (int)strlen("{\"host\":\"\"}"))
				assert_string_equal(
					description_text(log_description(reader), "host"), text);
			assert_int_equal(log_read(reader, &back, 1, &err), 1);
			assert_int_equal(back.seq, 1);
			log_reader_free(reader);
		}
}

static void the_run_is_described(void **state)
{
	char *argv[] = { "tsnpub", "--log", "\xff\xfe", NULL };
	json_t *description = describe_run(argv);

	(void)state;
	assert_string_equal(description_text(description, "command"), "tsnpub --log ??");
	assert_non_null(description_text(description, "kernel"));
	assert_true(description_number(description, "started_ns", 0) > 1000000000000000000LL);
	json_decref(description);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(what_is_written_is_read, remove_file),
		cmocka_unit_test_teardown(a_cut_off_log_is_read_up_to_the_cut, remove_file),
		cmocka_unit_test_teardown(files_that_are_no_logs_are_left_alone, remove_file),
		cmocka_unit_test_teardown(damaged_headers_are_refused_by_name, remove_file),
		cmocka_unit_test_teardown(json_that_is_not_an_object_is_refused, remove_file),
		cmocka_unit_test_teardown(files_of_other_kinds_are_refused, remove_file),
		cmocka_unit_test_teardown(a_link_is_not_followed_for_writing, remove_file),
		cmocka_unit_test_teardown(two_writers_do_not_share_a_log, remove_file),
		cmocka_unit_test_teardown(a_log_that_was_removed_meanwhile_is_told, remove_file),
		cmocka_unit_test_teardown(a_long_description_loses_its_longest_member, remove_file),
		cmocka_unit_test_teardown(a_full_disk_stops_the_log_once, remove_file),
		cmocka_unit_test_teardown(it_tells_what_it_lacks, remove_file),
		cmocka_unit_test(the_run_is_described),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Log files: any bytes, and (so that the checksum is no wall) well-formed headers around any JSON and any
 * records. What is read is measured and printed.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "data/logfile.h"
#include "report/analysis.h"
#include "report/compare.h"
#include "report/csv.h"
#include "report/json.h"
#include "report/pcapng.h"
#include "report/series.h"
#include "report/summary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* data: kind, length of the JSON / 16, the JSON, then records. */
static void write_well_formed(int fd, const uint8_t *data, size_t size)
{
	static uint8_t header[LOGFILE_HEADER_SIZE];
	uint32_t json_size, *words = (uint32_t *)(void *)header;

	memset(header, 0, sizeof(header));
	if (size < 2)
		return;
	json_size = data[1] * 16U;
	if (json_size > size - 2)
		json_size = (uint32_t)(size - 2);
	memcpy(header, "TSNLOG\r\n", 8);
	words[2] = LOGFILE_VERSION;
	words[3] = 0x01020304;
	words[4] = 1 + data[0] % 4;
	words[5] = RECORD_SIZE;
	words[6] = json_size;
	words[7] = (uint32_t)crc32(0, data + 2, json_size);
	memcpy(header + 32, data + 2, json_size);
	if (write(fd, header, sizeof(header)) < 0 ||
	    write(fd, data + 2 + json_size, size - 2 - json_size) < 0)
		abort();
}

/* The log in its own role, and joined with itself read as the other side's. */
static void measure(const char *path, FILE *out)
{
	struct csv csv = { .out = out, .stamp = SOURCE_XDP };
	struct error err = ERROR_INIT;
	struct analysis_logs logs = { 0 };
	struct log_reader *first = log_open(path, &err), *second = log_open(path, &err);
	enum record_kind kind = log_kind(first);
	struct series *series;
	struct pcapng *pcapng;
	struct analysis a;

	if (kind == RECORD_WAKE)
		logs.wake = first;
	else if (kind == RECORD_SYNC)
		logs.sync[0] = first;
	if (kind == RECORD_RX || kind == RECORD_TX)
		logs.rx = first;
	if (kind == RECORD_TX)
		logs.tx = second;
	series = series_new(&logs);
	pcapng = pcapng_new(out, logs.tx, logs.rx ? logs.rx : first);
	const struct analysis_options options = {
		.deadline_ns = 100000,
		.sla = 0.999,
		.sinks = { { csv_frame, &csv },
			   { pcapng_frame, pcapng },
			   { series_frame, series } },
		.sink_count = 3,
	};

	if (!analysis_run(&a, &options, &logs, &err)) {
		summary_print(out, &a);
		json_print(out, summary_json(&a), &err);
	}
	analysis_free(&a);
	pcapng_free(pcapng);
	free(series);
	log_reader_free(first);
	log_reader_free(second);
}

static void compare(const char *path, FILE *out)
{
	const struct analysis_options options = { .deadline_ns = 1000 };
	static struct compare c;
	struct error err = ERROR_INIT;

	for (int i = 0; i < 2; i++) {
		struct log_reader *log = log_open(path, &err);
		int failed = compare_add(&c, "log", log, &options, &err);

		log_reader_free(log);
		if (failed)
			break;
	}
	if (!compare_finish(&c, &err)) {
		compare_print(out, &c);
		json_print(out, compare_json(&c), &err);
	}
	compare_free(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *out;
	int fd = memfd_create("log", MFD_CLOEXEC);
	struct error err = ERROR_INIT;
	struct log_reader *log;
	char path[64];

	if (!out)
		out = fopen("/dev/null", "w");
	if (fd < 0 || !out)
		abort();
	if (size && data[0] & 0x80)
		write_well_formed(fd, data + 1, size - 1);
	else if (write(fd, data, size) < 0)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	log = log_open(path, &err);
	if (!log && (!err.status || !*err.text))
		abort(); /* refused without a word */
	if (log) {
		log_reader_free(log);
		measure(path, out);
		compare(path, out);
	}
	close(fd);
	return 0;
}

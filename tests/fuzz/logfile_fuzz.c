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

#include "data/description.h"
#include "data/logfile.h"
#include "report/json.h"
#include "report/text.h"

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

static void measure(struct log_reader *log, FILE *out)
{
	struct tx_options tx_options = { description_number(log_description(log), "lead_ns", -1) };
	struct rx_options rx_options = { .stamp = SOURCE_XDP, .deadline_ns = 100000 };
	struct tx_metrics *tx = tx_metrics_new(&tx_options);
	struct rx_metrics *rx = rx_metrics_new(&rx_options);
	struct wake_metrics wake = { .deadline_ns = 100000 };
	union {
		struct tx_record tx;
		struct rx_record rx;
		struct wake_record wake;
	} records[16];
	struct error err = ERROR_INIT;
	int64_t n;

	description_text(log_description(log), "interface");
	description_stream(log_description(log), 7);
	while ((n = log_read(log, records, 16, &err)) > 0)
		for (int64_t i = 0; i < n; i++) {
			tx_metrics_add(tx, &records[i].tx);
			rx_metrics_add(rx, &records[i].rx, NULL);
			wake_metrics_add(&wake, &records[i].wake);
		}
	text_print_tx(out, tx);
	text_print_rx(out, rx);
	text_print_wake(out, &wake);
	json_print(out, json_of_tx(tx), &err);
	json_print(out, json_of_rx(rx), &err);
	json_print(out, json_of_wake(&wake), &err);
	tx_metrics_free(tx);
	rx_metrics_free(rx);
	wake_metrics_free(&wake);
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
	if (log)
		measure(log, out);
	else if (!err.status || !*err.text)
		abort(); /* refused without a word */
	log_reader_free(log);
	close(fd);
	return 0;
}

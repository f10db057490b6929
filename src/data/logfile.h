/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The log file (.tsnlog): a 4096-byte header, then fixed 64-byte little-endian records.
 *
 * Header: offset 0 magic "TSNLOG\r\n" (8 bytes), 8 version u32, 12 byte order mark u32 0x01020304,
 * 16 record kind u32, 20 record size u32, 24 length of the JSON u32, 28 CRC-32 of the JSON u32,
 * 32 JSON text (host, kernel, command line, interface, driver, stamp sources, sync verdict,
 * options), padded with zeros.
 */
#ifndef DATA_LOGFILE_H
#define DATA_LOGFILE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "data/record.h"

#define LOGFILE_HEADER_SIZE 4096
#define LOGFILE_VERSION 1

struct log_writer;
struct log_reader;

/*
 * Creates `path` (an existing log is replaced as a whole, any other file with something in it is left alone) and
 * writes the header. `description` is borrowed. Returns NULL with the error filled in.
 * Only one thread may use the writer: the one that does no cyclic work.
 */
struct log_writer *log_create(const char *path, enum record_kind kind, const json_t *description,
			      struct error *err);

/* Would log_create() get its file, as far as that can be known by now? Leaves nothing behind. Returns 0, or -1 with the error. */
int log_try(const char *path, struct error *err);

/*
 * Appends `count` records; buffered, written in large pieces. On the first failure (full disk) the
 * writer stops for good: returns -1 with the error once, later calls return 0 and count what they
 * lost. What was written before stays a readable file.
 */
int log_append(struct log_writer *log, const void *records, size_t count, struct error *err);

/* Writes what is buffered. Call it once a second so that a killed run leaves its data. */
int log_flush(struct log_writer *log, struct error *err);

/* Records not written because of a failure. */
uint64_t log_lost(const struct log_writer *log);

/* `records` never came to log_append(), since there was no room for them on the way: the file lacks them, too. */
void log_lacks(struct log_writer *log, uint64_t records);

/*
 * Flushes, writes into the header how many records the file lacks ("records_lost"), closes and frees; NULL is allowed. A file that
 * was removed meanwhile is an error: nothing is left of it.
 */
int log_close(struct log_writer *log, struct error *err);

/*
 * Opens and checks the header: foreign files, unknown versions, wrong sizes and damaged headers are
 * refused by name. A file cut off within a record is read up to there (log_truncated()).
 */
struct log_reader *log_open(const char *path, struct error *err);

enum record_kind log_kind(const struct log_reader *log);
const json_t *
log_description(const struct log_reader *log); /* borrowed, lives as long as the reader */
uint64_t log_count(const struct log_reader *log); /* whole records in the file */
bool log_truncated(const struct log_reader *log);
uint64_t
log_missing(const struct log_reader *log); /* records that the file lacks, as its writer says */

/*
 * The next records, up to `count`, in host byte order. Returns how many, 0 at the end, -1 on failure.
 * Sequential; memory use does not grow with the file.
 */
int64_t log_read(struct log_reader *log, void *records, size_t count, struct error *err);

void log_reader_free(struct log_reader *log); /* NULL is allowed */

#endif

// SPDX-License-Identifier: GPL-2.0-only
#include "data/logfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/memory.h"
#include "data/description.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "log records are written as they lie in memory: little-endian hosts only"
#endif

#define BYTE_ORDER_MARK 0x01020304U
#define JSON_MAX (LOGFILE_HEADER_SIZE - sizeof(struct header_start))
#define LOST_ROOM 40 /* for what log_close() may have to add */
#define BUFFER_RECORDS 4096

static const char magic[8] = "TSNLOG\r\n";

struct header_start {
	char magic[8];
	uint32_t version;
	uint32_t byte_order;
	uint32_t kind;
	uint32_t record_size;
	uint32_t json_size;
	uint32_t json_crc;
};

_Static_assert(sizeof(struct header_start) == 32, "log header");

struct log_writer {
	int fd;
	char *path;
	enum record_kind kind;
	json_t *description;
	uint64_t written; /* records in the file */
	uint64_t lost;
	uint64_t lacks; /* beside those lost */
	bool failed;
	size_t buffered; /* records */
	uint8_t buffer[BUFFER_RECORDS * RECORD_SIZE];
};

struct log_reader {
	int fd;
	char *path;
	enum record_kind kind;
	json_t *description;
	uint64_t count, next;
	bool truncated;
};

static int write_all(int fd, const void *data, size_t size, size_t *done)
{
	*done = 0;
	while (*done < size) {
		ssize_t n = write(fd, (const uint8_t *)data + *done, size - *done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : EIO;
		*done += (size_t)n;
	}
	return 0;
}

/* The member of `object` whose text is the longest, or NULL. */
static const char *longest_member(json_t *object)
{
	const char *key, *longest = NULL;
	size_t most = 4; /* "null" is no gain */
	json_t *value;

	json_object_foreach(object, key, value)
	{
		size_t size = json_dumpb(value, NULL, 0, JSON_COMPACT | JSON_ENCODE_ANY);

		if (size > most && strcmp(key, "left_out")) {
			most = size;
			longest = key;
		}
	}
	return longest;
}

/*
 * The description as text of at most `room` bytes. One that is too long (64 streams, a very long
 * command line) loses its longest members, which "left_out" then names.
 */
static char *fit_description(const json_t *description, size_t room)
{
	json_t *copy = json_deep_copy(description);
	json_t *left_out = json_array();
	char *text = NULL;

	while (copy && left_out) {
		const char *key;

		if (json_dumpb(copy, NULL, 0, JSON_COMPACT) <= room) {
			text = json_dumps(copy, JSON_COMPACT);
			break;
		}
		key = longest_member(copy);
		if (!key || json_array_append_new(left_out, json_string(key)) ||
		    json_object_del(copy, key) || json_object_set(copy, "left_out", left_out))
			break;
	}
	json_decref(copy);
	json_decref(left_out);
	return text;
}

/* Returns 0, or -1: the description cannot be written as JSON. */
static int make_header(uint8_t header[LOGFILE_HEADER_SIZE], enum record_kind kind,
		       const json_t *description, size_t room)
{
	struct header_start start = {
		.version = LOGFILE_VERSION,
		.byte_order = BYTE_ORDER_MARK,
		.kind = kind,
		.record_size = RECORD_SIZE,
	};
	char *text = fit_description(description, room);

	if (!text)
		return -1;
	memset(header, 0, LOGFILE_HEADER_SIZE);
	memcpy(start.magic, magic, sizeof(magic));
	start.json_size = (uint32_t)strlen(text);
	start.json_crc = (uint32_t)crc32(0, (const Bytef *)text, start.json_size);
	memcpy(header, &start, sizeof(start));
	memcpy(header + sizeof(start), text, start.json_size);
	free(text);
	return 0;
}

static int write_header(int fd, const char *path, enum record_kind kind, const json_t *description,
			struct error *err)
{
	uint8_t header[LOGFILE_HEADER_SIZE];
	size_t done;
	int error;

	if (make_header(header, kind, description, JSON_MAX - LOST_ROOM))
		return error_system(err, "log '%.128s': its description cannot be written as JSON",
				    path);
	error = write_all(fd, header, sizeof(header), &done);
	if (error)
		return error_file(err, error, path, "log '%.128s': cannot write its header", path);
	return 0;
}

/* What stands at `path` may be replaced only if it is empty or a log, and nobody is writing it. */
static int check_replaceable(const char *path, struct error *err)
{
	char start[sizeof(magic)];
	struct stat st;
	int fd, busy;
	bool foreign;

	if (lstat(path, &st))
		return errno == ENOENT ? 0 : error_file(err, errno, path, "log '%.128s'", path);
	if (!S_ISREG(st.st_mode))
		return error_input(err, "log '%.128s': %s; name a regular file or a new one", path,
				   S_ISDIR(st.st_mode)   ? "a directory"
				   : S_ISLNK(st.st_mode) ? "a symbolic link"
							 : "not a regular file");
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return 0; /* not readable, but its directory may still let it be replaced */
	busy = flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
	foreign = st.st_size && (read(fd, start, sizeof(start)) != (ssize_t)sizeof(start) ||
				 memcmp(start, magic, sizeof(magic)));
	close(fd);
	if (foreign)
		return error_input(err,
				   "log '%.128s': there is a file of that name that is no log, and "
				   "it is not overwritten; name another one, or remove it",
				   path);
	if (busy)
		return error_input(err, "log '%.128s': another process is writing it", path);
	return 0;
}

/* Complete before it takes the name: the former file stays whole until then. Returns the descriptor or -1. */
static int open_partial(const char *path, char **partial, struct error *err)
{
	int fd;

	if (!*path)
		return error_input(err, "log '': no file name");
	if (check_replaceable(path, err))
		return -1;
	if (asprintf(partial, "%s.%d.tmp", path, (int)getpid()) < 0) {
		*partial = NULL;
		return error_errno(err, ENOMEM, "log '%.128s'", path);
	}
	fd = open(*partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	return fd >= 0 ? fd : error_file(err, errno, path, "log '%.128s': cannot create it", path);
}

int log_try(const char *path, struct error *err)
{
	char *partial = NULL;
	int fd = open_partial(path, &partial, err);

	if (fd >= 0) {
		unlink(partial);
		close(fd);
	}
	free(partial);
	return fd < 0 ? -1 : 0;
}

struct log_writer *log_create(const char *path, enum record_kind kind, const json_t *description,
			      struct error *err)
{
	struct log_writer *log = memory_touched(sizeof(*log));
	char *partial = NULL;

	if (!log) {
		error_errno(err, ENOMEM, "log '%.128s'", path);
		return NULL;
	}
	log->fd = open_partial(path, &partial, err);
	if (log->fd < 0)
		goto out;
	log->path = strdup(path);
	if (!log->path) {
		error_errno(err, ENOMEM, "log '%.128s'", path);
		goto out_unlink;
	}
	flock(log->fd, LOCK_EX | LOCK_NB);
	if (write_header(log->fd, path, kind, description, err))
		goto out_unlink;
	if (rename(partial, path)) {
		error_file(err, errno, path, "log '%.128s': cannot create it", path);
		goto out_unlink;
	}
	free(partial);
	log->kind = kind;
	log->description = json_deep_copy(description);
	return log;

out_unlink:
	unlink(partial);
out:
	if (log->fd >= 0)
		close(log->fd);
	free(log->path);
	free(log);
	free(partial);
	return NULL;
}

static int fail(struct log_writer *log, int error, size_t bytes_done, struct error *err)
{
	size_t whole = bytes_done / RECORD_SIZE;

	log->failed = true;
	log->written += whole;
	log->lost += log->buffered - whole;
	log->buffered = 0;
	/* give back the part of a record; if that fails too, the reader leaves it out */
	if (bytes_done % RECORD_SIZE &&
	    ftruncate(log->fd, (off_t)(LOGFILE_HEADER_SIZE + log->written * RECORD_SIZE)))
		errno = 0;
	return error_file(err, error, log->path, "log '%.128s': stopped after %llu records",
			  log->path, (unsigned long long)log->written);
}

int log_flush(struct log_writer *log, struct error *err)
{
	size_t done;
	int error;

	if (log->failed || !log->buffered)
		return 0;
	error = write_all(log->fd, log->buffer, log->buffered * RECORD_SIZE, &done);
	if (error)
		return fail(log, error, done, err);
	log->written += log->buffered;
	log->buffered = 0;
	return 0;
}

int log_append(struct log_writer *log, const void *records, size_t count, struct error *err)
{
	const uint8_t *next = records;

	while (count && !log->failed) {
		size_t room = BUFFER_RECORDS - log->buffered;
		size_t take = count < room ? count : room;

		memcpy(log->buffer + log->buffered * RECORD_SIZE, next, take * RECORD_SIZE);
		log->buffered += take;
		next += take * RECORD_SIZE;
		count -= take;
		if (log->buffered == BUFFER_RECORDS && log_flush(log, err)) {
			log->lost += count;
			return -1;
		}
	}
	log->lost += count;
	return 0;
}

uint64_t log_lost(const struct log_writer *log)
{
	return log->lost;
}

void log_lacks(struct log_writer *log, uint64_t records)
{
	log->lacks += records;
}

/* In place, so that a full disk has room for it. What cannot be told here was told when it happened. */
static void tell_lost(struct log_writer *log)
{
	uint64_t lost = log->lost + log->lacks;
	uint8_t header[LOGFILE_HEADER_SIZE];

	if (!lost || !log->description ||
	    json_object_set_new(log->description, "records_lost",
				json_integer(lost < INT64_MAX ? (json_int_t)lost : INT64_MAX)) ||
	    make_header(header, log->kind, log->description, JSON_MAX))
		return;
	if (pwrite(log->fd, header, sizeof(header), 0) != (ssize_t)sizeof(header))
		errno = 0;
}

int log_close(struct log_writer *log, struct error *err)
{
	struct stat file;
	int result;

	if (!log)
		return 0;
	result = log_flush(log, err);
	tell_lost(log);
	/* its room is given back with the descriptor, and nothing else would tell */
	if (!result && !log->failed && !fstat(log->fd, &file) && !file.st_nlink)
		result = error_system(err,
				      "log '%.128s': was removed while it was being written; its "
				      "%" PRIu64 " records are gone",
				      log->path, log->written);
	/* network file systems report a full disk only here */
	if (close(log->fd) && !result && !log->failed)
		result = error_errno(err, errno, "log '%.128s': cannot close it", log->path);
	json_decref(log->description);
	free(log->path);
	free(log);
	return result;
}

static int read_all(int fd, void *data, size_t size, size_t *done)
{
	*done = 0;
	while (*done < size) {
		ssize_t n = read(fd, (uint8_t *)data + *done, size - *done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		if (!n)
			break;
		*done += (size_t)n;
	}
	return 0;
}

static int read_description(struct log_reader *log, const uint8_t *header,
			    const struct header_start *start, struct error *err)
{
	const char *text = (const char *)header + sizeof(*start);
	json_error_t why;

	if (start->json_size > JSON_MAX)
		return error_input(err,
				   "log '%.128s': damaged header: %u bytes of JSON, at most %zu",
				   log->path, start->json_size, JSON_MAX);
	if ((uint32_t)crc32(0, (const Bytef *)text, start->json_size) != start->json_crc)
		return error_input(
			err, "log '%.128s': damaged header: the checksum of its JSON is wrong",
			log->path);
	log->description = json_loadb(text, start->json_size, JSON_REJECT_DUPLICATES, &why);
	if (!json_is_object(log->description))
		return error_input(err, "log '%.128s': damaged header: %s", log->path,
				   log->description ? "its JSON is no object" : why.text);
	return 0;
}

static int read_header(struct log_reader *log, off_t size, struct error *err)
{
	uint8_t header[LOGFILE_HEADER_SIZE];
	struct header_start start;
	size_t done;
	int error = read_all(log->fd, header, sizeof(header), &done);

	if (error)
		return error_errno(err, error, "log '%.128s': cannot read it", log->path);
	if (done < sizeof(magic) || memcmp(header, magic, sizeof(magic)))
		return error_input(err, "log '%.128s': not a tsnpub log (.tsnlog)", log->path);
	if (done < sizeof(header))
		return error_input(err, "log '%.128s': cut off within its header: %zu of %d bytes",
				   log->path, done, LOGFILE_HEADER_SIZE);
	memcpy(&start, header, sizeof(start));
	if (start.byte_order != BYTE_ORDER_MARK)
		return error_input(err, "log '%.128s': %s (byte order mark 0x%08x, not 0x%08x)",
				   log->path,
				   start.byte_order == __builtin_bswap32(BYTE_ORDER_MARK)
					   ? "written on a machine of the other byte order; make "
					     "the report there"
					   : "damaged header",
				   start.byte_order, BYTE_ORDER_MARK);
	if (start.version != LOGFILE_VERSION)
		return error_input(err, "log '%.128s': version %u; this tsnpub reads version %u",
				   log->path, start.version, LOGFILE_VERSION);
	if (start.kind < RECORD_TX || start.kind > RECORD_SYNC)
		return error_input(err, "log '%.128s': unknown kind of record %u", log->path,
				   start.kind);
	if (start.record_size != RECORD_SIZE)
		return error_input(err, "log '%.128s': records of %u bytes; this tsnpub reads %d",
				   log->path, start.record_size, RECORD_SIZE);
	log->kind = (enum record_kind)start.kind;
	log->count = (uint64_t)(size - LOGFILE_HEADER_SIZE) / RECORD_SIZE;
	log->truncated = (size - LOGFILE_HEADER_SIZE) % RECORD_SIZE;
	return read_description(log, header, &start, err);
}

struct log_reader *log_open(const char *path, struct error *err)
{
	struct log_reader *log = calloc(1, sizeof(*log));
	struct stat st;

	if (log) {
		log->fd = -1;
		log->path = strdup(path);
	}
	if (!log || !log->path) {
		error_errno(err, ENOMEM, "log '%.128s'", path);
		goto out;
	}
	/* O_NONBLOCK: a FIFO without a writer must not hang */
	log->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (log->fd < 0) {
		int error = errno;

		error_errno(err, error, "log '%.128s': cannot open it", path);
		/* a wrong name is the user's, the rest the system's */
		if (error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG || error == ELOOP)
			err->status = STATUS_INPUT;
		goto out;
	}
	if (fstat(log->fd, &st)) {
		error_errno(err, errno, "log '%.128s': cannot read it", path);
		goto out;
	}
	if (!S_ISREG(st.st_mode)) {
		error_input(err, "log '%.128s': %s; name a regular file", path,
			    S_ISDIR(st.st_mode)    ? "a directory"
			    : S_ISFIFO(st.st_mode) ? "a FIFO"
						   : "not a regular file");
		goto out;
	}
	if (!st.st_size) {
		error_input(err, "log '%.128s': empty file", path);
		goto out;
	}
	if (read_header(log, st.st_size, err))
		goto out;
	posix_fadvise(log->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	return log;
out:
	log_reader_free(log);
	return NULL;
}

enum record_kind log_kind(const struct log_reader *log)
{
	return log->kind;
}

const json_t *log_description(const struct log_reader *log)
{
	return log->description;
}

uint64_t log_count(const struct log_reader *log)
{
	return log->count;
}

bool log_truncated(const struct log_reader *log)
{
	return log->truncated;
}

uint64_t log_missing(const struct log_reader *log)
{
	int64_t lost = description_number(log->description, "records_lost", 0);

	return lost > 0 ? (uint64_t)lost : 0;
}

int64_t log_read(struct log_reader *log, void *records, size_t count, struct error *err)
{
	size_t done;
	int error;

	if (count > log->count - log->next)
		count = (size_t)(log->count - log->next);
	if (!count)
		return 0;
	error = read_all(log->fd, records, count * RECORD_SIZE, &done);
	if (error)
		return error_errno(err, error, "log '%.128s': cannot read record %llu", log->path,
				   (unsigned long long)log->next);
	if (done < count * RECORD_SIZE) {
		/* it became shorter while it was read */
		log->truncated = true;
		log->count = log->next + done / RECORD_SIZE;
	}
	log->next += done / RECORD_SIZE;
	return (int64_t)(done / RECORD_SIZE);
}

void log_reader_free(struct log_reader *log)
{
	if (!log)
		return;
	if (log->fd >= 0)
		close(log->fd);
	json_decref(log->description);
	free(log->path);
	free(log);
}

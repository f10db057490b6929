/* SPDX-License-Identifier: GPL-2.0-only */
/* The YAML file as `tsnpub schedule` reads it: interface, cycle, schedule and streams. */
#ifndef CLI_SCHEDULE_FILE_H
#define CLI_SCHEDULE_FILE_H

#include "base/error.h"
#include "base/stream.h"
#include "base/yaml.h"
#include "cli/config_file.h"
#include "tc/findings.h"
#include "tc/schedule.h"

struct schedule_file {
	struct yaml_file *yaml;
	struct schedule schedule;
	struct stream *streams;
	unsigned stream_count;
	const char
		*gates_from; /* the file that gates and times were imported from; NULL: this one */
};

/* Reads and converts. 0, or -1 with the error (nothing then needs to be freed). */
int schedule_file_load(const char *path, struct schedule_file *file, struct error *err);
/*
 * Converts a file that is open already. The yaml_file stays `config`'s: free only file->streams. 0, or -1 with the error.
 */
int schedule_file_convert(const struct config_file *config, struct schedule_file *file,
			  struct error *err);
/* The same over text in memory; `name` stands in errors. Pure. */
int schedule_file_from_text(const char *name, const char *text, size_t size,
			    struct schedule_file *file, struct error *err);
void schedule_file_free(struct schedule_file *file);

/*
 * Prints what was found, one line each, with file and line, on stderr; notes only with `notes`. Returns the exit status:
 * STATUS_INPUT when there is an error among them, else STATUS_GOOD. `file` may be NULL.
 */
int schedule_print_findings(const struct schedule_file *file, const struct findings *findings,
			    bool notes);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * YAML files from outside, read into structs with libcyaml.
 *
 * Before libcyaml sees the text it is checked here: size, NUL bytes and other binary, one document, no anchors,
 * aliases and tags (which can blow a small file up), no key twice, bounded depth. Each error is one line that
 * begins with "FILE: line N: ".
 */
#ifndef BASE_YAML_H
#define BASE_YAML_H

#include <cyaml/cyaml.h>
#include <stddef.h>

#include "base/error.h"

#define YAML_SIZE_MAX (1 << 20) /* bytes in one file */

struct yaml_file;

/*
 * Reads and checks `path` ("-": standard input). At most YAML_SIZE_MAX bytes are read. Returns NULL with the error
 * filled in: status 2, or 3 when the file cannot be read for a reason of the system's. yaml_file_close() frees it.
 */
struct yaml_file *yaml_file_open(const char *path, struct error *err);

/* The same over `size` bytes of text, which are copied; `name` stands in errors for the path. */
struct yaml_file *yaml_file_from_text(const char *name, const char *text, size_t size,
				      struct error *err);

void yaml_file_close(struct yaml_file *file);

/*
 * Loads the document into a struct of the schema's. *data is freed with yaml_file_free() and the same schema.
 * Returns 0, or -1 with the error (status 2).
 */
int yaml_file_load(const struct yaml_file *file, const cyaml_schema_value_t *schema, void **data,
		   struct error *err);
void yaml_file_free(const cyaml_schema_value_t *schema, void *data);

/*
 * The line (from 1) on which the value at `path` stands, such as "schedule.gates[3].duration"; of its nearest
 * ancestor when it is not in the file.
 */
unsigned yaml_file_line(const struct yaml_file *file, const char *path);

/* True when the file has a value at exactly this path. */
int yaml_file_has(const struct yaml_file *file, const char *path);

/* The name to print: the path as given to yaml_file_open. */
const char *yaml_file_name(const struct yaml_file *file);

/*
 * Writes "FILE: line N: PATH" into buffer, as the `what` of the parsers in base/units.h. Returns buffer.
 */
#define YAML_WHAT 256
char *yaml_file_what(const struct yaml_file *file, const char *path, char buffer[YAML_WHAT]);

#endif

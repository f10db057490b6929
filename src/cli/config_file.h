/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The YAML file of --config: the publisher's options at the top level, `streams:`, and `schedule:`. One
 * file serves the publisher and tsnpub schedule.
 */
#ifndef CLI_CONFIG_FILE_H
#define CLI_CONFIG_FILE_H

#include "base/error.h"
#include "base/yaml.h"
#include "cli/publish_options.h"
#include "tc/schedule_yaml.h"

struct config_file {
	struct yaml_file *yaml; /* for the place of a value */
	struct publish_texts texts; /* owned by `data` */
	const struct schedule_yaml *schedule; /* NULL: none in the file; owned by `data` */
	void *data;
};

/* Reads and checks; values are not converted yet. Returns 0, or -1 with the error. */
int config_file_open(const char *path, struct config_file *config, struct error *err);
/* The same over text in memory; `name` stands in errors. */
int config_file_from_text(const char *name, const char *text, size_t size,
			  struct config_file *config, struct error *err);
void config_file_close(struct config_file *config);

#endif

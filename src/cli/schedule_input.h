/* SPDX-License-Identifier: GPL-2.0-only */
/* What plan, apply and check have in common on their command lines: the file, gates from elsewhere, and --json. */
#ifndef CLI_SCHEDULE_INPUT_H
#define CLI_SCHEDULE_INPUT_H

#include <argp.h>
#include <stdbool.h>

#include "base/error.h"
#include "cli/schedule_file.h"

struct schedule_input {
	const char *file;
	const char *import; /* YANG instance data, NULL: none */
	bool json;
	struct error err; /* of any option */
};

enum {
	SCHEDULE_OPTION_JSON = 512,
	SCHEDULE_OPTION_IMPORT
};

/* Rows of a command's table of options. */
#define SCHEDULE_INPUT_OPTIONS                                                                \
	{ "import",                                                                           \
	  SCHEDULE_OPTION_IMPORT,                                                             \
	  "FILE",                                                                             \
	  0,                                                                                  \
	  "gates, cycle and base time from IEEE 802.1Q YANG instance data (JSON)",            \
	  0 },                                                                                \
	{                                                                                     \
		"json", SCHEDULE_OPTION_JSON, NULL, 0, "one JSON document instead of text", 0 \
	}

/* For an argp parser: takes what is of the above, and the file's name; else ARGP_ERR_UNKNOWN. */
error_t schedule_input_parse(struct schedule_input *input, int key, char *arg);

/* Loads the file, and the import over it. `command` is for the error. Returns 0, or -1 with input->err; no file is open then. */
int schedule_input_load(struct schedule_input *input, const char *command,
			struct schedule_file *file);

#endif

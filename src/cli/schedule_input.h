/* SPDX-License-Identifier: GPL-2.0-only */
/* What plan, apply and check have in common on their command lines: the file, gates from elsewhere, and --json. */
#ifndef CLI_SCHEDULE_INPUT_H
#define CLI_SCHEDULE_INPUT_H

#include <argp.h>
#include <stdbool.h>

#include "base/error.h"
#include "cli/arguments.h"
#include "cli/schedule_file.h"

struct schedule_input {
	const char *file;
	const char *import; /* YANG instance data, NULL: none */
	bool json;
	const struct argument_place *places; /* of all options of the command */
	struct error err; /* of any option */
};

enum {
	SCHEDULE_OPTION_IMPORT = 512
};

/* Rows of a command's table of options. */
#define SCHEDULE_INPUT_OPTIONS                                                     \
	{ "import",                                                                \
	  SCHEDULE_OPTION_IMPORT,                                                  \
	  "FILE",                                                                  \
	  0,                                                                       \
	  "gates, cycle and base time from IEEE 802.1Q YANG instance data (JSON)", \
	  0 },                                                                     \
	{                                                                          \
		"json", 'j', NULL, 0, "one JSON document instead of text", 0       \
	}

/* Rows of the command's table of places. */
#define SCHEDULE_INPUT_PLACES                                                 \
	ARGUMENT_TEXT(SCHEDULE_OPTION_IMPORT, struct schedule_input, import), \
		ARGUMENT_FLAG('j', struct schedule_input, json)

/*
 * The argp parser of these commands. Its input is a command's options, which begin with a struct schedule_input: stores by
 * `places`, and takes the file's name.
 */
error_t schedule_input_parse(int key, char *arg, struct argp_state *state);

/* Loads the file, and the import over it. `command` is for the error. Returns 0, or -1 with input->err; no file is open then. */
int schedule_input_load(struct schedule_input *input, const char *command,
			struct schedule_file *file);

#endif

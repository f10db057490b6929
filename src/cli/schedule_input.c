// SPDX-License-Identifier: GPL-2.0-only
#include "cli/schedule_input.h"

#include <errno.h>

#include "tc/yang.h"

error_t schedule_input_parse(struct schedule_input *input, int key, char *arg)
{
	switch (key) {
	case SCHEDULE_OPTION_IMPORT:
		input->import = arg;
		return 0;
	case SCHEDULE_OPTION_JSON:
		input->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (input->file) {
			error_input(&input->err, "'%.64s': one file at a time", arg);
			return EINVAL;
		}
		input->file = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int schedule_input_load(struct schedule_input *input, const char *command,
			struct schedule_file *file)
{
	if (!input->file)
		return error_input(&input->err, "%s: no file; write tsnpub schedule %s FILE.yaml",
				   command, command);
	if (schedule_file_load(input->file, file, &input->err))
		return -1;
	file->gates_from = input->import;
	if (!input->import || !yang_import_file(input->import, &file->schedule, &input->err))
		return 0;
	schedule_file_free(file);
	return -1;
}

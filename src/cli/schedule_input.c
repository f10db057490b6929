// SPDX-License-Identifier: GPL-2.0-only
#include "cli/schedule_input.h"

#include "tc/yang.h"

error_t schedule_input_parse(int key, char *arg, struct argp_state *state)
{
	struct schedule_input *input = state->input;

	return key == ARGP_KEY_ARG ? arguments_take_one("file", &input->file, arg, &input->err)
				   : arguments_store(input->places, input, key, arg);
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

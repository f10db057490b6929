// SPDX-License-Identifier: GPL-2.0-only
#include "base/error.h"
#include "cli/command.h"

int cmd_schedule(int argc, char **argv)
{
	struct error err = ERROR_INIT;

	(void)argc;
	error_system(&err, "%s: this build has no such command", argv[0]);
	return error_report(&err);
}

// SPDX-License-Identifier: GPL-2.0-only
#include <argp.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/command.h"
#include "cli/schedule_command.h"
#include "report/output.h"

static const struct subcommand {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} subcommands[] = {
	{ "plan", schedule_plan_main,
	  "validate, compute and draw what would be deployed; needs nothing" },
	{ "apply", schedule_apply_main, "install it: all of it, read back, or nothing" },
	{ "confirm", schedule_confirm_main, "keep a schedule that was applied with --confirm" },
	{ "show", schedule_show_main, "what is installed, in words and drawing" },
	{ "check", schedule_check_main, "is what is installed what the file says?" },
	{ "clear", schedule_clear_main, "back to what was there before" },
};

#define COUNT (sizeof(subcommands) / sizeof(subcommands[0]))

static void help(FILE *out)
{
	fputs("Usage: tsnpub schedule SUBCOMMAND [FILE.yaml] OPTIONS\n\n"
	      "Gate schedules and launch times: taprio, mqprio and etf, described in a file.\n\n",
	      out);
	for (size_t i = 0; i < COUNT; i++)
		fprintf(out, "  %-8s %s\n", subcommands[i].name, subcommands[i].help);
	fputs("\n`tsnpub schedule SUBCOMMAND --help` lists the options; `man 5 tsnpub-schedule` "
	      "describes the file.\n",
	      out);
}

int cmd_schedule(int argc, char **argv)
{
	static char full_name[64];
	struct error err = ERROR_INIT;
	int status;

	if (argc < 2) {
		help(stderr);
		return STATUS_INPUT;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "-?")) {
		help(stdout);
		return output_stdout_done(&err) ? error_report(&err) : STATUS_GOOD;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("tsnpub " TSNPUB_VERSION);
		return output_stdout_done(&err) ? error_report(&err) : STATUS_GOOD;
	}
	for (size_t i = 0; i < COUNT; i++) {
		if (strcmp(argv[1], subcommands[i].name))
			continue;
		snprintf(full_name, sizeof(full_name), "tsnpub schedule %s", subcommands[i].name);
		argv[1] = full_name;
		status = subcommands[i].run(argc - 1, argv + 1);
		if (status < STATUS_INPUT && output_stdout_done(&err))
			return error_report(&err);
		return status;
	}
	error_input(&err,
		    "schedule: unknown subcommand '%.32s'; `tsnpub schedule --help` lists them",
		    argv[1]);
	return error_report(&err);
}

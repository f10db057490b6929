/* SPDX-License-Identifier: GPL-2.0-only */
/* The subcommands of `tsnpub schedule`. Each takes its own argv and returns the exit status. */
#ifndef CLI_SCHEDULE_COMMAND_H
#define CLI_SCHEDULE_COMMAND_H

int schedule_plan_main(int argc, char **argv);

#endif

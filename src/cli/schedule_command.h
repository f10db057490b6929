/* SPDX-License-Identifier: GPL-2.0-only */
/* The subcommands of `tsnpub schedule`. Each takes its own argv and returns the exit status. */
#ifndef CLI_SCHEDULE_COMMAND_H
#define CLI_SCHEDULE_COMMAND_H

#include "base/error.h"
#include "host/netlink.h"
#include "tc/state.h"

int schedule_plan_main(int argc, char **argv);
int schedule_apply_main(int argc, char **argv);
int schedule_show_main(int argc, char **argv);
int schedule_check_main(int argc, char **argv);
int schedule_clear_main(int argc, char **argv);
int schedule_confirm_main(int argc, char **argv);

/* -1 with the error naming CAP_NET_ADMIN where it is missing. */
int schedule_need_admin(const char *interface, struct error *err);

/*
 * The interface that is meant: the given one (may be NULL), else the only one with a record. Returns 0 with its name in
 * `interface`, or -1 with the error.
 */
int schedule_pick_interface(const char *given, char interface[16], struct error *err);

#endif

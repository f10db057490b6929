/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The options about clock synchronisation that publisher and receiver share: one table. The receiver takes
 * them as an argp child, whose input is a struct sync_option_parse; the publisher puts them into its own
 * table, which serves its YAML file too.
 */
#ifndef CLI_SYNC_OPTIONS_H
#define CLI_SYNC_OPTIONS_H

#include <argp.h>

#include "base/error.h"
#include "engine/sync_guard.h"

enum sync_option {
	SYNC_OPTION_POLICY,
	SYNC_OPTION_LIMIT,
	SYNC_OPTION_WAIT,
	SYNC_OPTION_LOSS,
	SYNC_OPTION_SOCKET,
	SYNC_OPTION_DOMAIN,
	SYNC_OPTIONS
};

/* X(option, name, argument, text) for each */
#define SYNC_OPTION_TABLE(X)                                                                     \
	X(POLICY, "sync", "POLICY",                                                              \
	  "require, warn or ignore the clock chain (require when launch times depend on it and " \
	  "the interface has a PHC, else ignore)")                                               \
	X(LIMIT, "sync-limit", "TIME",                                                           \
	  "how far clocks may be apart (1us; 100us with software time stamps)")                  \
	X(WAIT, "sync-wait", "TIME", "how long to wait for it at the start (10s)")               \
	X(LOSS, "on-sync-loss", "ACTION",                                                        \
	  "warn (mark frames), pause or stop (pause under require, else warn)")                  \
	X(SOCKET, "sync-socket", "PATH", "ptp4l's uds_address (the usual paths are tried)")      \
	X(DOMAIN, "sync-domain", "N", "ptp4l's domainNumber (all are tried)")

/*
 * Converts the text of one option; `what` names it in the error ("--sync"). A socket's path is borrowed.
 * Returns 0, or -1 with the error.
 */
int sync_option_set(enum sync_option option, const char *what, const char *text,
		    struct sync_guard_options *options, struct error *err);

struct sync_option_parse {
	struct sync_guard_options *options; /* begins as SYNC_GUARD_DEFAULTS */
	struct error *err; /* filled in where an option is wrong; argp_parse() then fails */
};

extern const struct argp sync_options_argp;

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The options about clock synchronisation that publisher and receiver share, as an argp child. Its input
 * is a struct sync_option_parse; argp_parse() of the parent hands it over through child_inputs[].
 */
#ifndef CLI_SYNC_OPTIONS_H
#define CLI_SYNC_OPTIONS_H

#include <argp.h>

#include "base/error.h"
#include "engine/sync_guard.h"

struct sync_option_parse {
	struct sync_guard_options *options; /* begins as SYNC_GUARD_DEFAULTS */
	struct error *err; /* filled in where an option is wrong; argp_parse() then fails */
};

extern const struct argp sync_options_argp;

#endif

// SPDX-License-Identifier: GPL-2.0-only
#include "cli/sync_options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "cli/arguments.h"

#define KEY_FIRST 0x5900 /* far from the parents' own keys */

static const char *const names[] = {
#define NAME(option, name, argument, text) [SYNC_OPTION_##option] = (name),
	SYNC_OPTION_TABLE(NAME)
};

static const struct argp_option options[] = {
#define OPTION(option, name, argument, text) \
	{ name, KEY_FIRST + SYNC_OPTION_##option, argument, 0, text, 0 },
	SYNC_OPTION_TABLE(OPTION){ NULL, 0, NULL, 0, NULL, 0 },
};

int sync_option_set(enum sync_option option, const char *what, const char *text,
		    struct sync_guard_options *o, struct error *err)
{
	static const char *const policies[] = { "require", "warn", "ignore" };
	static const char *const losses[] = { "warn", "pause", "stop" };
	uint64_t number;
	unsigned choice;

	switch (option) {
	case SYNC_OPTION_POLICY:
		if (parse_word(what, text, policies, 3, &choice, err))
			return -1;
		o->policy = (enum sync_policy)(choice + 1); /* 0: not given */
		return 0;
	case SYNC_OPTION_LOSS:
		if (parse_word(what, text, losses, 3, &choice, err))
			return -1;
		o->loss = (enum sync_loss)(choice + 1); /* 0: not given */
		return 0;
	case SYNC_OPTION_LIMIT:
		return parse_duration(what, text, 1, 10 * NSEC_PER_SEC, &o->limit_ns, err);
	case SYNC_OPTION_WAIT:
		return parse_duration(what, text, 0, 86400 * NSEC_PER_SEC, &o->wait_ns, err);
	case SYNC_OPTION_SOCKET:
		if (!*text || strlen(text) >= PTP4L_SOCKET_SIZE)
			return error_input(err, "%s: a socket's path has 1 to %d characters", what,
					   PTP4L_SOCKET_SIZE - 1);
		o->ptp4l.socket = text;
		return 0;
	case SYNC_OPTION_DOMAIN:
		if (parse_number(what, text, 0, 255, &number, err))
			return -1;
		o->ptp4l.domain = (int)number;
		return 0;
	case SYNC_OPTIONS:
		break;
	}
	return error_input(err, "%s: unknown option", what);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct sync_option_parse *parse = state->input;
	int option = key - KEY_FIRST;
	char what[32];

	if (!parse || option < 0 || option >= SYNC_OPTIONS)
		return ARGP_ERR_UNKNOWN;
	snprintf(what, sizeof(what), "--%s", names[option]);
	return sync_option_set((enum sync_option)option, what, arg, parse->options, parse->err)
		       ? EINVAL
		       : 0;
}

const struct argp sync_options_argp = { options, parse_option, NULL, NULL, NULL, NULL, NULL };

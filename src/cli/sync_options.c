// SPDX-License-Identifier: GPL-2.0-only
#include "cli/sync_options.h"

#include <errno.h>
#include <string.h>

#include "base/units.h"

enum { /* far from the parents' own keys */
	OPT_SYNC = 0x5900,
	OPT_SYNC_LIMIT,
	OPT_SYNC_WAIT,
	OPT_ON_SYNC_LOSS,
	OPT_SYNC_SOCKET,
	OPT_SYNC_DOMAIN,
};

static const struct argp_option options[] = {
	{ "sync", OPT_SYNC, "POLICY", 0,
	  "require, warn or ignore the clock chain (require when launch times depend on it and the "
	  "interface has a PHC, else ignore)",
	  0 },
	{ "sync-limit", OPT_SYNC_LIMIT, "TIME", 0,
	  "how far clocks may be apart (1us; 100us with software time stamps)", 0 },
	{ "sync-wait", OPT_SYNC_WAIT, "TIME", 0, "how long to wait for it at the start (10s)", 0 },
	{ "on-sync-loss", OPT_ON_SYNC_LOSS, "ACTION", 0,
	  "warn (mark frames), pause or stop (pause under require, else warn)", 0 },
	{ "sync-socket", OPT_SYNC_SOCKET, "PATH", 0, "ptp4l's uds_address (the usual paths)", 0 },
	{ "sync-domain", OPT_SYNC_DOMAIN, "N", 0, "ptp4l's domainNumber (all are tried)", 0 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

/* Which of `names` (NULL at the end) `text` is, from 1; -1 with the error. */
static int choose(const char *what, const char *text, const char *const *names, struct error *err)
{
	for (int i = 0; names[i]; i++)
		if (!strcmp(text, names[i]))
			return i + 1;
	return error_input(err, "%s: '%.32s' is none of %s, %s, %s", what, text, names[0], names[1],
			   names[2]);
}

static int parse_one(int key, const char *arg, struct sync_guard_options *o, struct error *err)
{
	static const char *const policies[] = { "require", "warn", "ignore", NULL };
	static const char *const losses[] = { "warn", "pause", "stop", NULL };
	uint64_t number;
	int choice;

	switch (key) {
	case OPT_SYNC:
		choice = choose("--sync", arg, policies, err);
		if (choice < 0)
			return -1;
		o->policy = (enum sync_policy)choice;
		return 0;
	case OPT_ON_SYNC_LOSS:
		choice = choose("--on-sync-loss", arg, losses, err);
		if (choice < 0)
			return -1;
		o->loss = (enum sync_loss)choice;
		return 0;
	case OPT_SYNC_LIMIT:
		return parse_duration("--sync-limit", arg, 1, 10 * NSEC_PER_SEC, &o->limit_ns, err);
	case OPT_SYNC_WAIT:
		return parse_duration("--sync-wait", arg, 0, 86400 * NSEC_PER_SEC, &o->wait_ns,
				      err);
	case OPT_SYNC_SOCKET:
		if (strlen(arg) >= PTP4L_SOCKET_SIZE)
			return error_input(
				err, "--sync-socket: a socket's path has at most %d characters",
				PTP4L_SOCKET_SIZE - 1);
		o->ptp4l.socket = arg;
		return 0;
	case OPT_SYNC_DOMAIN:
		if (parse_number("--sync-domain", arg, 0, 255, &number, err))
			return -1;
		o->ptp4l.domain = (int)number;
		return 0;
	}
	return 1;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct sync_option_parse *parse = state->input;
	int rc = parse ? parse_one(key, arg, parse->options, parse->err) : 1;

	return rc < 0 ? EINVAL : rc ? ARGP_ERR_UNKNOWN : 0;
}

const struct argp sync_options_argp = { options, parse_option, NULL, NULL, NULL, NULL, NULL };

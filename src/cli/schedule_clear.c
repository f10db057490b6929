// SPDX-License-Identifier: GPL-2.0-only
/* tsnpub schedule clear and confirm: what ends an apply, one way or the other. */
#include <argp.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/arguments.h"
#include "cli/schedule_command.h"
#include "tc/confirm.h"
#include "tc/deploy.h"
#include "tc/device.h"

struct name_options {
	const char *interface;
	struct error err;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct name_options *name = state->input;

	if (key != 'i' && key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	return arguments_take_one("interface", &name->interface, arg, &name->err);
}

static const struct argp_option options[] = {
	{ "iface", 'i', "IFACE", 0,
	  "the interface (default: the only one that tsnpub applied a schedule to)", 0 },
	{ 0 },
};

/* No record: whatever schedule stands there goes, and the kernel's default comes. */
static int clear_unrecorded(struct netlink *nl, const char *interface, struct error *err)
{
	static struct snapshot before, after;
	struct device device;
	char text[160];
	int result;

	if (device_read(nl, interface, &device, err) ||
	    snapshot_take(nl, device.link.index, interface, &before, err))
		return -1;
	if (strncmp(snapshot_text(&before, text), "taprio", 6) != 0 &&
	    strncmp(text, "mqprio", 6) != 0) {
		snapshot_free(&before);
		return error_input(err, "%s: no schedule to clear; installed is %s", interface,
				   text);
	}
	snapshot_free(&before);
	result = qdisc_delete_root(nl, device.link.index);
	if (result)
		return netlink_error(err, nl, result, "%s: cannot remove %s", interface, text);
	if (snapshot_take(nl, device.link.index, interface, &after, err))
		return -1;
	snapshot_text(&after, text);
	snapshot_free(&after);
	printf("%s: cleared (there was no record of what was there before); installed is %s\n",
	       interface, text);
	return 0;
}

static int clear(struct netlink *nl, const char *interface, struct error *err)
{
	static struct state state;
	char text[160];
	int known = state_read(interface, &state, err), result;

	if (known < 0)
		return -1;
	if (known > 0)
		return clear_unrecorded(nl, interface, err);
	snapshot_text(&state.original, text);
	result = deploy_clear(&state, err);
	/* its guard has nothing left to take back */
	if (!result && state.guard.pid)
		confirm_tell(state.guard);
	if (!result)
		printf("%s: cleared; installed is what was there before: %s\n", interface, text);
	state_free(&state);
	return result;
}

int schedule_clear_main(int argc, char **argv)
{
	static const struct argp argp = {
		options,
		parse,
		"[IFACE]",
		"Brings back what was there before the schedule, else the default qdisc. Also "
		"after an apply that was cut off.",
		NULL,
		NULL,
		NULL
	};
	struct name_options name = { NULL, ERROR_INIT };
	struct netlink *nl = NULL;
	char interface[16];
	int status = STATUS_GOOD, lock = -1;
	struct link_info link;

	if (arguments_parse(&argp, argc, argv, &name, &name.err))
		return error_report(&name.err);
	nl = netlink_open(NETLINK_ROUTE, &name.err);
	if (!nl || schedule_pick_interface(name.interface, interface, &name.err) ||
	    link_get(nl, interface, &link, &name.err) ||
	    schedule_need_admin(interface, &name.err) ||
	    (lock = state_lock(interface, &name.err)) < 0 || clear(nl, interface, &name.err))
		status = error_report(&name.err);
	if (lock >= 0)
		close(lock);
	netlink_close(nl);
	return status;
}

static int confirm(const char *interface, struct error *err)
{
	static struct state state;
	int known = state_read(interface, &state, err), result = -1;

	if (known < 0)
		return -1;
	if (known > 0)
		return error_input(err,
				   "%s: nothing to confirm: no schedule is applied, or it was "
				   "taken back already",
				   interface);
	if (state.step == STATE_APPLIED) {
		printf("%s: nothing to confirm: the schedule stays\n", interface);
		result = 0;
	} else if (state_is_held(&state)) {
		error_input(err,
			    "%s: nothing to confirm: the schedule is a publisher's (process %d), "
			    "which takes it back "
			    "at its end; `tsnpub schedule apply` installs one that stays",
			    interface, state.process.pid);
	} else if (state.step != STATE_UNCONFIRMED) {
		error_system(err, "%s: the apply was cut off; `tsnpub schedule clear %s` restores",
			     interface, interface);
	} else if (confirm_tell(state.guard)) {
		/* the schedule stands, and nothing takes it back any more: that is what was asked for */
		message_warn(
			"%s: the process that would have taken the schedule back is gone; it stays",
			interface);
		result = 0;
	} else {
		result = 0;
	}
	if (!result && state.step == STATE_UNCONFIRMED) {
		state.step = STATE_APPLIED;
		state.guard = (struct process){ 0, 0 };
		result = state_write(&state, err);
		if (!result)
			printf("%s: confirmed, the schedule stays\n", interface);
	}
	state_free(&state);
	return result;
}

int schedule_confirm_main(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, "[IFACE]", "Keeps a schedule that was applied with --confirm.",
		NULL,    NULL,  NULL
	};
	struct name_options name = { NULL, ERROR_INIT };
	char interface[16];
	int status = STATUS_GOOD, lock = -1;

	if (arguments_parse(&argp, argc, argv, &name, &name.err))
		return error_report(&name.err);
	if (schedule_pick_interface(name.interface, interface, &name.err) ||
	    schedule_need_admin(interface, &name.err) ||
	    (lock = state_lock(interface, &name.err)) < 0 || confirm(interface, &name.err))
		status = error_report(&name.err);
	if (lock >= 0)
		close(lock);
	return status;
}

// SPDX-License-Identifier: GPL-2.0-only
/* tsnpub schedule check: is what is installed what the file says? For monitoring. */
#include <argp.h>
#include <jansson.h>
#include <stdio.h>

#include "cli/arguments.h"
#include "cli/schedule_command.h"
#include "cli/schedule_input.h"
#include "cli/schedule_ready.h"
#include "tc/deployment_json.h"
#include "tc/installed.h"

static const struct argp_option options[] = {
	SCHEDULE_INPUT_OPTIONS,
	{ 0 },
};

static const struct argument_place places[] = {
	SCHEDULE_INPUT_PLACES,
	ARGUMENT_END,
};

static const struct argp argp = {
	options,
	schedule_input_parse,
	"FILE.yaml",
	"Is what is installed what the file says? Exit status 0: yes, 1: no, and how it differs.",
	NULL,
	NULL,
	NULL
};

static int print_differences(const struct schedule_ready *ready, const struct findings *differences,
			     bool json)
{
	const char *name = ready->device.link.name;

	if (json) {
		json_t *root = json_pack("{s:s, s:b, s:o}", "interface", name, "matches",
					 differences->errors == 0, "differences",
					 findings_json(differences));

		json_dumpf(root, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(root);
	} else if (!differences->errors) {
		printf("%s: as %s says\n", name, yaml_file_name(ready->file.yaml));
	}
	for (unsigned i = 0; !json && i < differences->count; i++)
		if (differences->list[i].level == FINDING_ERROR)
			printf("%s: %s\n", name, differences->list[i].text);
	return differences->errors ? STATUS_BAR_MISSED : STATUS_GOOD;
}

/* What no dump tells. The record is root's: others are told what is installed alone. */
static void check_gates_run(const struct schedule_ready *ready, struct findings *differences)
{
	static struct state state;
	struct error ignored = ERROR_INIT;

	if (ready->preparation.deployment.mode != SCHEDULE_SOFTWARE ||
	    state_read(ready->device.link.name, &state, &ignored))
		return;
	if (state_link_changed(&state, ready->device.link.carrier_changes))
		finding_add(differences, FINDING_ERROR, "schedule.gates",
			    "the gates stand still: the link went down since the schedule was "
			    "applied, and the kernel stops them then; apply again");
	state_free(&state);
}

int schedule_check_main(int argc, char **argv)
{
	struct schedule_ready ready = { 0 };
	struct installed installed;
	struct findings differences = { 0 };
	struct schedule_input check = { .places = places, .err = ERROR_INIT };
	struct netlink *nl;
	int status;

	if (arguments_parse(&argp, argc, argv, &check, &check.err))
		return error_report(&check.err);
	if (schedule_input_load(&check, "check", &ready.file))
		return error_report(&check.err);
	nl = netlink_open(NETLINK_ROUTE, &check.err);
	if (!nl) {
		status = error_report(&check.err);
		goto out;
	}
	status = schedule_get_ready(nl, &ready, 0);
	if (status)
		goto out;
	if (installed_read(nl, ready.device.link.index, ready.device.link.name, &installed,
			   &check.err)) {
		status = error_report(&check.err);
		goto out;
	}
	check_gates_run(&ready, &differences);
	installed_compare(&installed, &ready.preparation.deployment, -1, &differences);
	status = print_differences(&ready, &differences, check.json);
out:
	netlink_close(nl);
	schedule_file_free(&ready.file);
	return status;
}

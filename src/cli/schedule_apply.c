// SPDX-License-Identifier: GPL-2.0-only
#include <argp.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/signals.h"
#include "base/units.h"
#include "cli/arguments.h"
#include "cli/schedule_clocks.h"
#include "cli/schedule_command.h"
#include "cli/schedule_input.h"
#include "cli/schedule_ready.h"
#include "engine/gate_probe.h"
#include "host/hwtstamp.h"
#include "tc/deploy.h"
#include "tc/deployment_json.h"
#include "tc/timeline.h"

#define PROOF_AHEAD_MAX_NS (60 * NSEC_PER_SEC)
#define CARRIER_DEFAULT (15 * NSEC_PER_SEC)

struct apply_options {
	struct schedule_input input; /* first: see schedule_input_parse() */
	const char *confirm, *carrier;
	int64_t confirm_ns;
	int64_t carrier_ns;
	bool force;
	bool prove;
};

enum {
	OPTION_CONFIRM = 256,
	OPTION_FORCE,
	OPTION_CARRIER,
	OPTION_PROVE
};

/* What the steps of deploy_apply() call back with. */
struct applied {
	struct netlink *nl;
	struct schedule_ready *ready;
	const struct deploy_result *result;
	struct schedule_clocks clocks;
	struct gate_probe probe;
	bool proven;
};

static const struct argp_option options[] = {
	{ "confirm", OPTION_CONFIRM, "TIME", 0,
	  "take everything back unless `tsnpub schedule confirm` comes within this time (60s)", 0 },
	{ "force", OPTION_FORCE, NULL, 0,
	  "also where ssh or ptp4l would be silenced, or what is installed cannot be put back", 0 },
	{ "prove", OPTION_PROVE, NULL, 0,
	  "send a few frames of each class and look by TX stamps that they leave in their slots",
	  0 },
	{ "carrier-timeout", OPTION_CARRIER, "TIME", 0,
	  "how long to wait for carrier (default 15s)", 0 },
	SCHEDULE_INPUT_OPTIONS,
	{ 0 },
};

static const struct argument_place places[] = {
	ARGUMENT_TEXT(OPTION_CONFIRM, struct apply_options, confirm),
	ARGUMENT_TEXT(OPTION_CARRIER, struct apply_options, carrier),
	ARGUMENT_FLAG(OPTION_FORCE, struct apply_options, force),
	ARGUMENT_FLAG(OPTION_PROVE, struct apply_options, prove),
	SCHEDULE_INPUT_PLACES,
	ARGUMENT_END,
};

static int convert(struct apply_options *apply, struct error *err)
{
	if (apply->confirm && parse_duration("--confirm", apply->confirm, NSEC_PER_SEC,
					     24 * 3600 * NSEC_PER_SEC, &apply->confirm_ns, err))
		return -1;
	return apply->carrier ? parse_duration("--carrier-timeout", apply->carrier, NSEC_PER_MSEC,
					       3600 * NSEC_PER_SEC, &apply->carrier_ns, err)
			      : 0;
}

static const struct argp argp = {
	options,
	schedule_input_parse,
	"FILE.yaml",
	"Installs the schedule of a file: all of it, checked and read back, or nothing.",
	NULL,
	NULL,
	NULL
};

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	interrupted = number;
}

static void catch_signals(void)
{
	signals_catch(on_signal);
	signal(SIGPIPE, SIG_IGN);
}

static void say(void *context, const char *line)
{
	(void)context;
	message_note("%s", line);
}

static int wait_for_clocks(void *context, struct error *err)
{
	struct applied *applied = context;

	return schedule_clocks_wait(&applied->clocks, applied->result->base_ns, &interrupted, err);
}

/* What can be known before anything is touched. */
static int refuse_proof(const struct deployment *deployment, struct error *err)
{
	const struct schedule *schedule = &deployment->schedule;
	int64_t ahead_ns = schedule->base_ns - tai_now_ns();
	char ahead[DURATION_TEXT];

	if (!deployment_has_gates(deployment))
		return error_input(err,
				   "--prove: mode mqprio has no gates to prove; leave --prove out");
	if (schedule->base_kind != BASE_ABSOLUTE || ahead_ns <= PROOF_AHEAD_MAX_NS)
		return 0;
	return error_input(err,
			   "--prove: the base time lies %s ahead, and the gates cannot be "
			   "seen before; write "
			   "base-time: auto, or leave --prove out",
			   format_duration(ahead_ns / NSEC_PER_SEC * NSEC_PER_SEC, ahead));
}

static int prove(void *context, struct error *err)
{
	struct applied *applied = context;
	const struct device *device = &applied->ready->device;
	const struct deployment *deployment = &applied->ready->preparation.deployment;
	struct hwtstamp_report report = { .reason = "" };
	struct hwtstamp *stamping = NULL;
	struct timespec until = ns_to_timespec(applied->result->base_ns);
	struct error later = ERROR_INIT;
	bool hw;
	int result;

	if (hwtstamp_enable(device->link.name, HWTSTAMP_WANT_TX, &stamping, &report, err))
		return -1;
	hw = report.granted & HWTSTAMP_WANT_TX;
	if (!hw && deployment->mode == SCHEDULE_FULL_OFFLOAD) {
		hwtstamp_restore(stamping, &later);
		return error_system(err,
				    "--prove: %s has no hardware TX stamps (%s), and nothing else "
				    "can see its gates",
				    device->link.name, report.reason);
	}
	/* a schedule that begins later cannot be seen before */
	clock_nanosleep(CLOCK_TAI, TIMER_ABSTIME, &until, NULL);
	result = gate_probe_run(device->link.name, device->link.index, device->link.mac, deployment,
				applied->result->base_ns, hw, &interrupted, &applied->probe, err);
	if (hwtstamp_restore(stamping, &later) && !result) {
		*err = later;
		result = -1;
	}
	applied->proven = !result;
	return result;
}

static void print_proof(const struct applied *applied)
{
	const struct schedule *schedule = &applied->ready->preparation.deployment.schedule;
	char first[DURATION_TEXT], last[DURATION_TEXT];

	for (unsigned c = 0; c < schedule->class_count; c++) {
		const struct gate_probe_class *class = &applied->probe.classes[c];

		if (!class->asked)
			continue;
		printf("proof: %u frames of class '%s' left between %s and %s of the cycle, all in "
		       "its windows (TX stamp %s)",
		       class->stamped, schedule->classes[c].name,
		       format_duration(class->first_ns, first),
		       format_duration(class->last_ns, last), class->hw ? "hw" : "sw");
		if (class->sent > class->stamped)
			printf("; %u more have no stamp", class->sent - class->stamped);
		printf("\n");
	}
}

static json_t *proof_json(const struct applied *applied)
{
	const struct schedule *schedule = &applied->ready->preparation.deployment.schedule;
	json_t *list = json_array();

	for (unsigned c = 0; applied->proven && c < schedule->class_count; c++) {
		const struct gate_probe_class *class = &applied->probe.classes[c];

		if (class->asked)
			json_array_append_new(
				list, json_pack("{s:s, s:i, s:i, s:I, s:I, s:s}", "class",
						schedule->classes[c].name, "sent", (int)class->sent,
						"stamped", (int)class->stamped, "first_ns",
						(json_int_t) class->first_ns, "last_ns",
						(json_int_t) class->last_ns, "source",
						class->hw ? "hw" : "sw"));
	}
	return list;
}

static void print_result(const struct applied *applied, const struct apply_options *apply)
{
	const struct schedule_ready *ready = applied->ready;
	const struct deploy_result *result = applied->result;
	const struct deployment *deployment = &ready->preparation.deployment;
	const char *name = ready->device.link.name;
	char a[DURATION_TEXT], b[DURATION_TEXT];
	int64_t ahead = result->base_ns - tai_now_ns();

	printf("%s: mode %s (%s), cycle %s\n", name, schedule_mode_name(deployment->mode),
	       deployment_where(deployment), format_duration(deployment->schedule.cycle_ns, a));
	if (deployment_has_gates(deployment))
		printf("base time %s TAI%s%s\n", format_duration(result->base_ns, a),
		       ahead > 0 ? ", in " : "",
		       ahead > 0 ? format_duration(ahead / 1000 * 1000, b) : "");
	timeline_text(stdout, deployment, ready->file.streams, ready->file.stream_count);
	if (applied->proven)
		print_proof(applied);
	if (result->live)
		printf("the running schedule goes on until the base time, then this one takes "
		       "over\n");
	else if (result->gap_ns)
		printf("between the former schedule and this one: %s\n",
		       format_duration(result->gap_ns / 1000 * 1000, a));
	printf("before: %s; `tsnpub schedule clear %s` brings it back\n", result->before, name);
	if (apply->confirm_ns)
		printf("taken back in %s unless you run: tsnpub schedule confirm %s\n",
		       format_duration(apply->confirm_ns, a), name);
}

static void print_json(const struct applied *applied, const struct apply_options *apply)
{
	const struct schedule_ready *ready = applied->ready;
	const struct deploy_result *result = applied->result;
	json_t *root = json_pack("{s:s, s:b, s:I, s:I, s:s, s:I, s:o, s:o}", "interface",
				 ready->device.link.name, "live", result->live, "base_ns",
				 (json_int_t)result->base_ns, "gap_ns", (json_int_t)result->gap_ns,
				 "before", result->before, "confirm_ns",
				 (json_int_t)apply->confirm_ns, "schedule",
				 deployment_json(&ready->preparation.deployment), "findings",
				 findings_json(&result->notes));

	json_object_set_new(root, "proof", proof_json(applied));
	json_dumpf(root, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(root);
}

static int apply_locked(struct netlink *nl, struct schedule_ready *ready,
			const struct apply_options *apply, int lock)
{
	struct deploy_result result = { 0 };
	static struct applied applied;
	struct deploy_options deploy = {
		.after_root = wait_for_clocks,
		.proof = apply->prove ? prove : NULL,
		.context = &applied,
		.file = apply->input.file,
		.force = apply->force,
		.confirm_ns = apply->confirm_ns,
		.carrier_ns = apply->carrier_ns,
		.say = say,
		.interrupted = &interrupted,
	};
	struct error err = ERROR_INIT;
	int status = schedule_get_ready(nl, ready, apply->carrier_ns);

	if (status)
		return status;
	applied.nl = nl;
	applied.ready = ready;
	applied.result = &result;
	schedule_clocks_note(&applied.clocks, ready->device.link.name);
	deploy.brought_up = ready->brought_up;
	if ((apply->prove && refuse_proof(&ready->preparation.deployment, &err)) ||
	    schedule_refuse_silence(nl, ready, apply->force, &err) ||
	    deploy_apply(nl, &ready->device, &ready->preparation.deployment, lock, &deploy, &result,
			 &err)) {
		if (ready->brought_up) {
			struct error ignored = ERROR_INIT;

			device_set_up(nl, &ready->device, false, &ignored);
		}
		return error_report(&err);
	}
	schedule_print_findings(NULL, &result.notes, true);
	if (apply->input.json)
		print_json(&applied, apply);
	else
		print_result(&applied, apply);
	return STATUS_GOOD;
}

int schedule_apply_main(int argc, char **argv)
{
	struct schedule_ready ready = { 0 };
	struct apply_options apply = { .carrier_ns = CARRIER_DEFAULT,
				       .input = { .places = places, .err = ERROR_INIT } };
	struct netlink *nl = NULL;
	int status, lock = -1;

	if (arguments_parse(&argp, argc, argv, &apply, &apply.input.err) ||
	    convert(&apply, &apply.input.err))
		return error_report(&apply.input.err);
	if (schedule_input_load(&apply.input, "apply", &ready.file))
		return error_report(&apply.input.err);
	catch_signals();
	nl = netlink_open(NETLINK_ROUTE, &apply.input.err);
	if (!nl || schedule_need_admin(ready.file.schedule.interface, &apply.input.err)) {
		status = error_report(&apply.input.err);
		goto out;
	}
	/* the name is checked before a lock of that name is made */
	if (ready.file.schedule.interface[0] &&
	    device_read(nl, ready.file.schedule.interface, &ready.device, &apply.input.err)) {
		status = error_report(&apply.input.err);
		goto out;
	}
	if (ready.file.schedule.interface[0] &&
	    (lock = state_lock(ready.file.schedule.interface, &apply.input.err)) < 0) {
		status = error_report(&apply.input.err);
		goto out;
	}
	status = apply_locked(nl, &ready, &apply, lock);
out:
	if (lock >= 0)
		close(lock);
	netlink_close(nl);
	schedule_file_free(&ready.file);
	return status;
}

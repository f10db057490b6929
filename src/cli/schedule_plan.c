// SPDX-License-Identifier: GPL-2.0-only
#include <argp.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "cli/arguments.h"
#include "cli/schedule_command.h"
#include "cli/schedule_input.h"
#include "report/output.h"
#include "tc/commands.h"
#include "tc/deployment_json.h"
#include "tc/fit.h"
#include "tc/timeline.h"
#include "tc/prepare.h"
#include "tc/yang.h"

struct plan_options {
	struct schedule_input input; /* first: see schedule_input_parse() */
	const char *driver;
	const char *svg;
	const char *export;
	const char *speed;
};

enum {
	OPTION_SVG = 256,
	OPTION_EXPORT
};

static const struct argp_option options[] = {
	{ "driver", 'd', "NAME", 0,
	  "plan for this driver or part: igc, I225, I226, LS1028A, I210, felix, veth, ideal, "
	  "generic",
	  0 },
	{ "speed", 's', "SPEED", 0,
	  "plan for this link speed: 100M, 1G, 2.5G (default: the file's, else 1G)", 0 },
	{ "svg", OPTION_SVG, "FILE", 0, "write a drawing of one cycle", 0 },
	{ "export", OPTION_EXPORT, "FILE", 0,
	  "write the gates as such data; - is the standard output, alone", 0 },
	SCHEDULE_INPUT_OPTIONS,
	{ 0 },
};

static const struct argument_place places[] = {
	ARGUMENT_TEXT('d', struct plan_options, driver),
	ARGUMENT_TEXT('s', struct plan_options, speed),
	ARGUMENT_TEXT(OPTION_SVG, struct plan_options, svg),
	ARGUMENT_TEXT(OPTION_EXPORT, struct plan_options, export),
	SCHEDULE_INPUT_PLACES,
	ARGUMENT_END,
};

static const struct argp argp = {
	options,
	schedule_input_parse,
	"FILE.yaml",
	"Validates the schedule of a file, computes and draws what would be deployed. Needs no "
	"privileges and no NIC.",
	NULL,
	NULL,
	NULL
};

static void print_classes(const struct deployment *deployment)
{
	struct window windows[SCHEDULE_GATES_MAX];
	const struct schedule *schedule = &deployment->schedule;
	char queues[16], delta[DURATION_TEXT], guard[DURATION_TEXT];

	printf("\n  class            number  priorities  queues  launch time                max "
	       "frame  open\n");
	for (unsigned c = 0; c < schedule->class_count; c++) {
		const struct traffic_class *class = &schedule->classes[c];
		char priorities[24], launch[64] = "-", frame[16] = "-";
		unsigned n = schedule_windows(schedule, c, windows, SCHEDULE_GATES_MAX);
		int64_t open = 0;

		for (unsigned i = 0; i < n; i++)
			open += windows[i].end_ns - windows[i].start_ns;
		if (open > schedule->cycle_ns)
			open = schedule->cycle_ns;
		if (class->launch_time)
			snprintf(launch, sizeof(launch), "etf%s, delta %s",
				 deployment->etf_offload[c] ? " offload" : " software",
				 format_duration(class->delta_ns, delta));
		if (class->max_frame)
			snprintf(frame, sizeof(frame), "%u B", class->max_frame);
		printf("  %-16s %6u  %-10s  %-6s  %-25s  %-9s  %s, %.1f %%%s%s%s\n", class->name, c,
		       schedule_priority_text(class, priorities),
		       schedule_queue_text(class, queues), launch, frame,
		       format_duration(open, delta),
		       100.0 * (double)open / (double)schedule->cycle_ns,
		       class->preemptible ? ", preemptible" : "",
		       deployment->guard_ns[c] ? ", guard " : "",
		       deployment->guard_ns[c] ? format_duration(deployment->guard_ns[c], guard)
					       : "");
	}
}

static void print_gates(const struct deployment *deployment)
{
	const struct schedule *schedule = &deployment->schedule;
	char from[DURATION_TEXT], to[DURATION_TEXT], length[DURATION_TEXT], names[600];
	int64_t at = 0;

	if (!schedule->gate_count)
		return;
	printf("\n  gate  from         to           lasts        mask  open\n");
	for (unsigned i = 0; i < schedule->gate_count; i++) {
		const struct gate *gate = &schedule->gates[i];

		printf("  %4u  %-11s  %-11s  %-11s  0x%02x  %s\n", i, format_duration(at, from),
		       format_duration(at + gate->duration_ns, to),
		       format_duration(gate->duration_ns, length), gate->open,
		       schedule_open_names(schedule, gate->open, names, sizeof(names)));
		at += gate->duration_ns;
	}
}

static void print_streams(const struct deployment *deployment, const struct stream *streams,
			  unsigned count)
{
	const struct schedule *schedule = &deployment->schedule;
	char period[DURATION_TEXT], start[DURATION_TEXT], length[DURATION_TEXT],
		margin[DURATION_TEXT];
	char from[DURATION_TEXT], to[DURATION_TEXT];

	if (!count)
		return;
	printf("\n  stream  class            period     phase  leaves       on the wire  slot      "
	       "               margin\n");
	for (unsigned i = 0; i < count; i++) {
		const struct stream *stream = &streams[i];
		char slot[2 * DURATION_TEXT + 8];
		struct fit fit;

		fit_stream(schedule, stream, deployment->speed_mbps, &fit);
		if (fit.window.end_ns - fit.window.start_ns >= 2 * schedule->cycle_ns)
			snprintf(slot, sizeof(slot), "always open");
		else
			snprintf(slot, sizeof(slot), "%s to %s",
				 format_duration(fit.window.start_ns, from),
				 format_duration(fit.window.end_ns, to));
		printf("  %6u  %-16s %-9s  %5u  %-11s  %-11s  %-23s  %s\n", stream->id,
		       fit.class >= 0 ? schedule->classes[fit.class].name : "-",
		       format_duration((int64_t)stream->every * schedule->stream_cycle_ns, period),
		       stream->phase, format_duration(stream->offset_ns, start),
		       format_duration(fit.length_ns, length), slot,
		       format_duration(fit.margin_ns, margin));
	}
	printf("  (on the wire: preamble, frames, FCS and gap, at %u Mb/s; margin: end of the slot "
	       "- leaves - on the wire,\n"
	       "  guard bands are cut off the slot before; etf takes a frame its delta before it "
	       "leaves, at no cost in margin)\n",
	       deployment->speed_mbps);
}

/* Share of the link that the streams take, and of their class's open time. */
static void print_utilisation(const struct deployment *deployment, const struct stream *streams,
			      unsigned count)
{
	struct window windows[SCHEDULE_GATES_MAX];
	const struct schedule *schedule = &deployment->schedule;
	double total = 0, of_class[SCHEDULE_CLASSES_MAX] = { 0 };

	if (!count)
		return;
	for (unsigned i = 0; i < count; i++) {
		int class = schedule_class_of(schedule, streams[i].priority);
		double share = (double)wire_time_ns(streams[i].size, deployment->speed_mbps) *
			       streams[i].frames /
			       ((double)streams[i].every * (double)schedule->stream_cycle_ns);

		total += share;
		if (class >= 0)
			of_class[class] += share;
	}
	printf("\n  utilisation of the link by streams: %.2f %%\n", 100 * total);
	for (unsigned c = 0; c < schedule->class_count; c++) {
		unsigned n = schedule_windows(schedule, c, windows, SCHEDULE_GATES_MAX);
		double open = 0;

		for (unsigned i = 0; i < n; i++)
			open += (double)(windows[i].end_ns - windows[i].start_ns) /
				(double)schedule->cycle_ns;
		if (of_class[c] > 0 && open > 0)
			printf("  %-16s %.2f %% of the link, %.1f %% of its open time\n",
			       schedule->classes[c].name, 100 * of_class[c],
			       100 * of_class[c] / (open > 1 ? 1 : open));
	}
}

static void print_base(const struct schedule *schedule)
{
	char cycle[DURATION_TEXT], base[DURATION_TEXT];

	format_duration(schedule->cycle_ns, cycle);
	format_duration(schedule->base_ns, base);
	if (schedule->base_kind == BASE_ABSOLUTE)
		printf("base time %s TAI\n", base);
	else if (schedule->base_kind == BASE_PHASE)
		printf("base time multiples of %s since the TAI epoch, plus %s\n", cycle, base);
	else
		printf("base time multiples of %s since the TAI epoch\n", cycle);
}

static int64_t shown_base(const struct schedule *schedule)
{
	return schedule->base_kind == BASE_AUTO ? 0 : schedule->base_ns;
}

static void print_plan(const struct deployment *deployment, const struct stream *streams,
		       unsigned count)
{
	const struct schedule *schedule = &deployment->schedule;
	const char *interface = schedule->interface[0] ? schedule->interface : "IFACE";
	char cycle[DURATION_TEXT];
	char *command;

	printf("schedule for %s: %s, %u Mb/s, cycle %s\n", interface, deployment->nic->name,
	       deployment->speed_mbps, format_duration(schedule->cycle_ns, cycle));
	printf("mode %s (%s): %s\n", schedule_mode_name(deployment->mode), deployment->mode_reason,
	       deployment_where(deployment));
	print_base(schedule);
	print_classes(deployment);
	printf("  (when several are open, %s)\n", deployment->mode == SCHEDULE_SOFTWARE
							  ? "the highest class is served first"
							  : deployment->nic->urgent_queue);
	print_gates(deployment);
	printf("\n");
	timeline_text(stdout, deployment, streams, count);
	print_streams(deployment, streams, count);
	print_utilisation(deployment, streams, count);
	printf("\nthe same by hand:\n");
	for (unsigned i = 0;
	     (command = deployment_command(deployment, interface, shown_base(schedule), i)); i++) {
		printf("  %s\n", command);
		free(command);
	}
	for (unsigned i = 0; i < NIC_TRAPS_MAX && deployment->nic->traps[i]; i++)
		printf("%s  %s\n", i ? "" : "\nworth knowing about this NIC:\n",
		       deployment->nic->traps[i]);
}

static void print_json(const struct deployment *deployment, const struct stream *streams,
		       unsigned count, const struct findings *findings)
{
	const struct schedule *schedule = &deployment->schedule;
	json_t *commands = json_array();
	char *command;
	json_t *root;

	for (unsigned i = 0;
	     !findings->errors &&
	     (command = deployment_command(deployment,
					   schedule->interface[0] ? schedule->interface : "IFACE",
					   shown_base(schedule), i));
	     i++) {
		json_array_append_new(commands, json_string(command));
		free(command);
	}
	root = json_pack("{s:b, s:o, s:o, s:o, s:o}", "valid", findings->errors == 0, "findings",
			 findings_json(findings), "schedule", deployment_json(deployment),
			 "streams", streams_json(deployment, streams, count), "tc", commands);
	json_dumpf(root, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(root);
}

static int write_svg(const char *path, const struct deployment *deployment,
		     const struct stream *streams, unsigned count, struct error *err)
{
	struct output out;

	if (output_open(&out, "--svg", path, err))
		return -1;
	timeline_svg(out.file, deployment, streams, count);
	return output_commit(&out, err);
}

/* The gates without their guard bands: 802.1Q sends no frame over the end of its window, and an import cuts them anew. */
static int write_yang(const char *path, const struct schedule *schedule, struct error *err)
{
	struct output out;
	json_t *json;

	if (schedule->class_count > YANG_CLASSES_MAX)
		return error_input(err, "--export '%s': %u classes, and 802.1Q knows %d; use fewer",
				   path, schedule->class_count, YANG_CLASSES_MAX);
	if (output_open(&out, "--export", path, err))
		return -1;
	json = yang_export(schedule, shown_base(schedule));
	/* a write that fails is found by output_commit() */
	json_dumpf(json, out.file, JSON_INDENT(2));
	fputc('\n', out.file);
	json_decref(json);
	return output_commit(&out, err);
}

static bool is_stdout(const char *path)
{
	return path && !strcmp(path, "-");
}

/* What is written must not take the place of what is read, nor of each other. */
static int check_outputs(const struct plan_options *plan, struct error *err)
{
	const struct {
		const char *option, *path, *other, *is;
	} pairs[] = {
		{ "--svg", plan->svg, plan->input.file, "the file to plan from" },
		{ "--svg", plan->svg, plan->input.import, "the file of --import" },
		{ "--svg", plan->svg, plan->export, "that of --export too" },
		{ "--export", plan->export, plan->input.file, "the file to plan from" },
		{ "--export", plan->export, plan->input.import, "the file of --import" },
	};

	if (is_stdout(plan->svg) + is_stdout(plan->export) + plan->input.json > 1)
		return error_input(err, "--json, --export - and --svg - write to the same place; "
					"name a file");
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (output_is_same(pairs[i].path, pairs[i].other))
			return error_input(err, "%s '%.128s': this is %s; name another file",
					   pairs[i].option, pairs[i].path, pairs[i].is);
	return 0;
}

/* The NIC to plan for: --driver, else the file's, else the generic row. */
static const struct nic *choose_nic(const struct plan_options *plan,
				    const struct schedule_file *file, struct error *err)
{
	char what[YAML_WHAT] = "--driver";
	const char *name = plan->driver ? plan->driver : file->schedule.driver;
	const struct nic *nic = nic_by_name(*name ? name : "generic");

	if (nic)
		return nic;
	if (!plan->driver)
		yaml_file_what(file->yaml, "schedule.driver", what);
	error_input(err,
		    "%s '%.32s': not in the table; write I225, I226, LS1028A, I210, felix, veth, "
		    "ideal or generic",
		    what, name);
	return NULL;
}

int schedule_plan_main(int argc, char **argv)
{
	struct preparation preparation = { 0 };
	const struct deployment *deployment = &preparation.deployment;
	const struct findings *findings = &preparation.findings;
	struct plan_options plan = { .input = { .places = places, .err = ERROR_INIT } };
	struct device_facts facts = { .now_ns = tai_now_ns() };
	struct schedule_file file;
	const struct nic *nic;
	uint32_t speed = 0;
	int status;

	if (arguments_parse(&argp, argc, argv, &plan, &plan.input.err) ||
	    (plan.speed && parse_speed("--speed", plan.speed, &speed, &plan.input.err)))
		return error_report(&plan.input.err);
	if (check_outputs(&plan, &plan.input.err) ||
	    schedule_input_load(&plan.input, "plan", &file))
		return error_report(&plan.input.err);
	nic = choose_nic(&plan, &file, &plan.input.err);
	if (!nic) {
		schedule_file_free(&file);
		return error_report(&plan.input.err);
	}
	if (!speed)
		speed = file.schedule.speed_mbps ? file.schedule.speed_mbps : 1000;
	prepare_deployment(&file.schedule, file.streams, file.stream_count, nic, speed, &facts,
			   &preparation);
	status = schedule_print_findings(&file, findings, true);
	if (plan.input.json)
		print_json(deployment, file.streams, file.stream_count, findings);
	else if (!findings->errors && !is_stdout(plan.export) && !is_stdout(plan.svg))
		print_plan(deployment, file.streams, file.stream_count);
	if (!findings->errors && plan.export &&
	    write_yang(plan.export, &file.schedule, &plan.input.err))
		status = error_report(&plan.input.err);
	if (!findings->errors && plan.svg &&
	    write_svg(plan.svg, deployment, file.streams, file.stream_count, &plan.input.err))
		status = error_report(&plan.input.err);
	schedule_file_free(&file);
	return status;
}

// SPDX-License-Identifier: GPL-2.0-only
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/units.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "data/description.h"
#include "report/analysis.h"
#include "report/compare.h"
#include "report/csv.h"
#include "report/html.h"
#include "report/json.h"
#include "report/output.h"
#include "report/pcapng.h"
#include "report/series.h"
#include "report/summary.h"

#define LOGS_MAX 64

struct options {
	const char *paths[LOGS_MAX];
	size_t path_count;
	const char *deadline, *sla, *csv, *pcapng, *html;
	bool json, compare;
	struct error *err; /* for the parser */
};

struct report {
	struct options options;
	struct analysis_options analysis_options;
	struct log_reader *readers[LOGS_MAX];
	struct analysis_logs logs;
	struct analysis analysis;
	struct csv csv;
	struct output csv_output;
	struct pcapng *pcapng;
	struct output pcapng_output;
	struct series *series;
	struct output html_output;
};

static const struct argp_option option_table[] = {
	{ "json", 'j', NULL, 0, "one JSON document on stdout instead of text", 0 },
	{ "csv", 'c', "FILE", 0, "a line for each frame or wake-up ('-': stdout, and no text)", 0 },
	{ "pcapng", 'p', "FILE", 0, "the frames, rebuilt, with ns time stamps, for wireshark", 0 },
	{ "html", 'H', "FILE", 0, "one self-contained page with plots and the worst frames", 0 },
	{ "compare", 'C', NULL, 0, "logs of one kind side by side; the first is the baseline", 0 },
	{ "deadline", 'd', "TIME", 0, "what is later after its launch is late", 0 },
	{ "sla", 's', "PERCENT", 0,
	  "share that must be in time, such as 99.99% (with --deadline: 100%)", 0 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

/* A log that stands behind an option is the file to write, not one to read. */
static error_t no_log(const struct options *o)
{
	const struct {
		const char *option, *path;
	} outputs[] = { { "csv", o->csv }, { "pcapng", o->pcapng }, { "html", o->html } };

	for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++)
		if (outputs[i].path && output_is_log(outputs[i].path)) {
			error_input(o->err,
				    "--%s '%.128s': that would be the file to write, and no log is "
				    "given to read; write: tsnpub report --%s OUT.%s %.128s",
				    outputs[i].option, outputs[i].path, outputs[i].option,
				    outputs[i].option, outputs[i].path);
			return EINVAL;
		}
	error_input(o->err, "no log given; write: tsnpub report RX.tsnlog TX.tsnlog");
	return EINVAL;
}

static const struct argument_place places[] = {
	ARGUMENT_FLAG('j', struct options, json), ARGUMENT_TEXT('p', struct options, pcapng),
	ARGUMENT_TEXT('H', struct options, html), ARGUMENT_FLAG('C', struct options, compare),
	ARGUMENT_TEXT('c', struct options, csv),  ARGUMENT_TEXT('d', struct options, deadline),
	ARGUMENT_TEXT('s', struct options, sla),  ARGUMENT_END,
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (o->path_count == LOGS_MAX) {
			error_input(o->err, "more than %d logs; report them in parts", LOGS_MAX);
			return EINVAL;
		}
		o->paths[o->path_count++] = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		return no_log(o);
	default:
		return arguments_store(places, o, key, arg);
	}
}

static bool same(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

static int check_options(struct report *r, struct error *err)
{
	const struct options *o = &r->options;

	if (o->deadline && parse_duration("--deadline", o->deadline, 1, INT64_MAX,
					  &r->analysis_options.deadline_ns, err))
		return -1;
	if (o->sla && parse_percent("--sla", o->sla, &r->analysis_options.sla, err))
		return -1;
	if (o->json && o->csv && !strcmp(o->csv, "-"))
		return error_input(err,
				   "--json and --csv - both want stdout; name a file for --csv");
	if (o->json && o->html && !strcmp(o->html, "-"))
		return error_input(err,
				   "--json and --html - both want stdout; name a file for --html");
	if (same(o->csv, o->html) || same(o->csv, o->pcapng) || same(o->html, o->pcapng))
		return error_input(err,
				   "--csv, --html and --pcapng: two of them name the same file; "
				   "give each its own");
	if (o->compare && (o->csv || o->pcapng || o->html))
		return error_input(
			err, "--compare does not go together with --csv, --pcapng and --html");
	return 0;
}

/* The same file twice, by any name, would count everything twice. */
static int check_twice(const struct options *o, struct error *err)
{
	struct stat st[LOGS_MAX];

	for (size_t i = 0; i < o->path_count; i++) {
		if (stat(o->paths[i], &st[i]))
			memset(&st[i], 0, sizeof(st[i])); /* log_open() has the error */
		for (size_t k = 0; st[i].st_ino && k < i; k++)
			if (st[i].st_dev == st[k].st_dev && st[i].st_ino == st[k].st_ino)
				return error_input(err, "log '%.128s': given twice", o->paths[i]);
	}
	return 0;
}

static const char *kind_name(enum record_kind kind)
{
	switch (kind) {
	case RECORD_TX:
		return "sender's (TX)";
	case RECORD_RX:
		return "receiver's (RX)";
	case RECORD_WAKE:
		return "wake-up";
	default:
		return "sync";
	}
}

/* What is read is not all that there was. */
static void warn_about(const struct log_reader *log, const char *path)
{
	if (log_truncated(log))
		message_warn("log '%.128s': cut off in mid-record; read up to there", path);
	if (log_missing(log))
		message_warn("log '%.128s': %" PRIu64
			     " records are missing in it (a full ring or disk): of as many frames "
			     "it cannot be told what became of them",
			     path, log_missing(log));
}

static int take_log(struct report *r, struct log_reader *log, const char *path, struct error *err)
{
	struct analysis_logs *logs = &r->logs;
	struct log_reader **place = log_kind(log) == RECORD_RX     ? &logs->rx
				    : log_kind(log) == RECORD_TX   ? &logs->tx
				    : log_kind(log) == RECORD_WAKE ? &logs->wake
				    : logs->sync[0]                ? &logs->sync[1]
								   : &logs->sync[0];

	if (*place)
		return error_input(err,
				   "log '%.128s': another %s log; one report takes one of them, "
				   "--compare puts several side by side",
				   path, kind_name(log_kind(log)));
	*place = log;
	if (logs->wake && (logs->rx || logs->tx))
		return error_input(
			err,
			"log '%.128s': a wake-up log is not joined with others; report it "
			"alone",
			path);
	warn_about(log, path);
	if (!log_count(log))
		message_warn("log '%.128s': has no records", path);
	return 0;
}

static int open_logs(struct report *r, struct error *err)
{
	if (check_twice(&r->options, err))
		return -1;
	for (size_t i = 0; i < r->options.path_count; i++) {
		r->readers[i] = log_open(r->options.paths[i], err);
		if (!r->readers[i] || take_log(r, r->readers[i], r->options.paths[i], err))
			return -1;
	}
	return 0;
}

static void print_description(FILE *out, const char *title, const struct log_reader *log)
{
	static const char *const members[] = { "host",   "kernel", "interface", "driver",
					       "pacing", "sync",   "command" };
	const json_t *d;

	if (!log)
		return;
	d = log_description(log);
	fprintf(out, "%s", title);
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		const char *text = description_text(d, members[i]);
		char clean[256];

		if (!text)
			continue;
		/* the file is from elsewhere: no control characters reach the terminal */
		snprintf(clean, sizeof(clean), "%s", text);
		for (char *p = clean; *p; p++)
			if ((unsigned char)*p < 0x20 || *p == 0x7f)
				*p = '?';
		fprintf(out, "%s%s %s", i ? ", " : " ", members[i], clean);
	}
	fputc('\n', out);
}

static void describe(json_t *document, const char *key, const struct log_reader *log)
{
	if (log)
		json_object_set_new(document, key, json_deep_copy(log_description(log)));
}

static int print_result(struct report *r, struct error *err)
{
	if (r->options.json) {
		json_t *document = summary_json(&r->analysis);
		json_t *logs = json_object();

		describe(logs, "tx", r->logs.tx);
		describe(logs, "rx", r->logs.rx);
		describe(logs, "wake", r->logs.wake);
		describe(logs, "sync", r->logs.sync[0]);
		json_object_set_new(document, "logs", logs);
		return json_print(stdout, document, err);
	}
	if (r->csv_output.is_stdout || r->html_output.is_stdout)
		return 0;
	print_description(stdout, "Sender:  ", r->logs.tx);
	print_description(stdout, "Receiver:", r->logs.rx);
	print_description(stdout, "Wake-ups:", r->logs.wake);
	print_description(stdout, "Clock:   ", r->logs.sync[0]);
	putchar('\n');
	summary_print(stdout, &r->analysis);
	return output_stdout_done(err);
}

static int open_outputs(struct report *r, struct error *err)
{
	struct analysis_options *a = &r->analysis_options;

	if (r->options.csv) {
		if (output_open(&r->csv_output, "--csv", r->options.csv, err))
			return -1;
		r->csv.out = r->csv_output.file;
		r->csv.stamp = r->logs.rx ? analysis_rx_stamp(r->logs.rx) : SOURCE_XDP;
		a->sinks[a->sink_count++] = (struct frame_sink){ csv_frame, &r->csv };
	}
	if (r->options.pcapng) {
		if (!r->logs.rx && !r->logs.tx)
			return error_input(err, "--pcapng: these logs have no frames");
		if (!strcmp(r->options.pcapng, "-"))
			return error_input(err, "--pcapng '-': name a file");
		if (output_open(&r->pcapng_output, "--pcapng", r->options.pcapng, err))
			return -1;
		r->pcapng = pcapng_new(r->pcapng_output.file, r->logs.tx, r->logs.rx);
		if (!r->pcapng)
			return error_errno(err, ENOMEM, "--pcapng");
		a->sinks[a->sink_count++] = (struct frame_sink){ pcapng_frame, r->pcapng };
	}
	if (r->options.html) {
		if (output_open(&r->html_output, "--html", r->options.html, err))
			return -1;
		r->series = series_new(&r->logs);
		if (!r->series)
			return error_errno(err, ENOMEM, "--html");
		a->sinks[a->sink_count++] = (struct frame_sink){ series_frame, r->series };
	}
	return 0;
}

static int finish_outputs(struct report *r, struct error *err)
{
	struct error warning = ERROR_INIT;

	if (r->series)
		html_print(r->html_output.file, &r->logs, &r->analysis, r->series, &warning);
	if (warning.status)
		message_warn("--html: no plots: %s", warning.text);
	return output_commit(&r->csv_output, err) || output_commit(&r->pcapng_output, err) ||
			       output_commit(&r->html_output, err)
		       ? -1
		       : 0;
}

/* One log after the other: open at once they would be no more use. */
static int compare_logs(struct report *r, struct compare *compare, struct error *err)
{
	if (check_twice(&r->options, err))
		return -1;
	for (size_t i = 0; i < r->options.path_count; i++) {
		struct log_reader *log = log_open(r->options.paths[i], err);
		int result;

		if (!log)
			return -1;
		warn_about(log, r->options.paths[i]);
		result = compare_add(compare, r->options.paths[i], log, &r->analysis_options, err);
		log_reader_free(log);
		if (result)
			return -1;
	}
	return compare_finish(compare, err);
}

static int run_compare(struct report *r, struct error *err)
{
	struct compare compare = { 0 };
	int status = STATUS_GOOD;

	if (compare_logs(r, &compare, err)) {
		status = error_report(err);
	} else if (r->options.json) {
		if (json_print(stdout, compare_json(&compare), err))
			status = error_report(err);
	} else {
		compare_print(stdout, &compare);
		if (output_stdout_done(err))
			status = error_report(err);
	}
	/* the last log is the one that counts: the others are what was before */
	if (status == STATUS_GOOD) {
		const struct verdict *last = &compare.logs[compare.count - 1].verdict;

		status = last->judged && !last->met ? STATUS_BAR_MISSED : STATUS_GOOD;
	}
	compare_free(&compare);
	return status;
}

static int run(struct report *r, struct error *err)
{
	if (check_options(r, err))
		return error_report(err);
	if (r->options.compare)
		return run_compare(r, err);
	if (open_logs(r, err) || open_outputs(r, err) ||
	    analysis_run(&r->analysis, &r->analysis_options, &r->logs, err) ||
	    print_result(r, err) || finish_outputs(r, err))
		return error_report(err);
	if (r->logs.rx && r->logs.tx && !r->analysis.joined) {
		message_warn("the logs have no run in common: nothing was joined");
		return STATUS_INPUT;
	}
	struct verdict verdict = analysis_verdict(&r->analysis);

	return verdict.judged && !verdict.met ? STATUS_BAR_MISSED : STATUS_GOOD;
}

int cmd_report(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_table,
		.parser = parse_option,
		.args_doc = "LOG...",
		.doc = "Joins the logs of sender and receiver by run, stream and sequence number, "
		       "and "
		       "prints the figures. The order of the logs does not matter; one alone will "
		       "do.",
	};
	struct report *r = calloc(1, sizeof(*r));
	struct error err = ERROR_INIT;
	int status;

	if (!r) {
		error_errno(&err, ENOMEM, "report");
		return error_report(&err);
	}
	r->options.err = &err;
	status = arguments_parse(&argp, argc, argv, &r->options, &err) ? error_report(&err)
								       : run(r, &err);
	output_abort(&r->csv_output);
	output_abort(&r->pcapng_output);
	pcapng_free(r->pcapng);
	output_abort(&r->html_output);
	free(r->series);
	analysis_free(&r->analysis);
	for (size_t i = 0; i < r->options.path_count; i++)
		log_reader_free(r->readers[i]);
	free(r);
	return status;
}

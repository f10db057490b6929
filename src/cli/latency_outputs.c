// SPDX-License-Identifier: GPL-2.0-only
#include "cli/latency_outputs.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/tmpdir.h"
#include "data/description.h"
#include "report/compare.h"

static int check_baseline(const char *path, struct error *err)
{
	struct log_reader *log = log_open(path, err);
	bool good = log && log_kind(log) == RECORD_WAKE && log_count(log);

	log_reader_free(log);
	if (log && !good)
		return error_input(
			err, "--baseline %.256s: not a log of `tsnpub latency --log`, or empty",
			path);
	return log ? 0 : -1;
}

/* Are both names of one file that is there? */
static bool same_file(const char *a, const char *b)
{
	struct stat first, second;

	return a && b && !stat(a, &first) && !stat(b, &second) && first.st_dev == second.st_dev &&
	       first.st_ino == second.st_ino;
}

/* What is written must not be what is read, or the other. */
static int check_names(const struct latency_request *request, struct error *err)
{
	const char *const log = request->log, *const csv = request->csv;

	if (same_file(log, request->baseline) || same_file(csv, request->baseline))
		return error_input(
			err, "--baseline %.256s: would be written over; give %s another name",
			request->baseline, same_file(log, request->baseline) ? "--log" : "--csv");
	if (log && csv && (!strcmp(log, csv) || same_file(log, csv)))
		return error_input(err, "--log and --csv name one file: give each its own");
	return 0;
}

/* A comparison needs a log of this run, kept or not. */
static int choose_log(struct latency_outputs *outputs, struct error *err)
{
	int fd;

	if (outputs->request->log) {
		if (snprintf(outputs->log_path, sizeof(outputs->log_path), "%s",
			     outputs->request->log) >= (int)sizeof(outputs->log_path))
			return error_input(err, "--log: the name is too long");
		return 0;
	}
	if (snprintf(outputs->log_path, sizeof(outputs->log_path),
		     "%s/tsnpub-latency-XXXXXX.tsnlog",
		     temporary_directory()) >= (int)sizeof(outputs->log_path))
		return error_input(err, "TMPDIR: the name is too long");
	fd = mkstemps(outputs->log_path, (int)strlen(".tsnlog"));
	if (fd < 0)
		return error_errno(err, errno, "--baseline: cannot make %.256s; set TMPDIR",
				   outputs->log_path);
	close(fd);
	outputs->log_is_temporary = true;
	return 0;
}

static json_t *describe_options(const struct latency_request *request)
{
	const struct latency_settings *s = &request->settings;
	json_t *options = json_pack("{s:I,s:s,s:i,s:i}", "cycle_ns", (json_int_t)s->cycle_ns,
				    "timer", latency_timer_name(s->timer), "cpu", s->realtime.cpu,
				    "rt_priority", s->realtime.priority);

	if (request->deadline_ns)
		json_object_set_new(options, "deadline_ns", json_integer(request->deadline_ns));
	if (request->sla > 0)
		json_object_set_new(options, "sla_ppb",
				    json_integer((json_int_t)llround(request->sla * 1e9)));
	if (request->load)
		json_object_set_new(options, "load", json_string(request->load));
	return options;
}

int latency_outputs_open(struct latency_outputs *outputs, const struct latency_request *request,
			 char **argv, struct error *err)
{
	json_t *description;

	outputs->request = request;
	if (check_names(request, err) < 0)
		return -1;
	if (request->csv) {
		if (output_open(&outputs->csv_output, "--csv", request->csv, err))
			return -1;
		outputs->csv.out = outputs->csv_output.file;
	}
	if (request->baseline && check_baseline(request->baseline, err) < 0)
		return -1;
	if (!request->log && !request->baseline)
		return 0;
	if (choose_log(outputs, err) < 0)
		return -1;
	description = describe_run(argv);
	json_object_set_new(description, "options", describe_options(request));
	outputs->log = log_create(outputs->log_path, RECORD_WAKE, description, err);
	json_decref(description);
	return outputs->log ? 0 : -1;
}

void latency_outputs_add(struct latency_outputs *outputs, const struct wake_record *record)
{
	struct joined_frame frame = { .wake = record };

	if (outputs->failure.status)
		return;
	if (outputs->log && log_append(outputs->log, record, 1, &outputs->failure) < 0)
		return;
	if (outputs->csv.out)
		csv_frame(&outputs->csv, &frame, &outputs->failure);
}

void latency_outputs_flush(struct latency_outputs *outputs)
{
	if (outputs->log && !outputs->failure.status)
		log_flush(outputs->log, &outputs->failure);
}

int latency_outputs_close(struct latency_outputs *outputs, struct error *err)
{
	struct log_writer *log = outputs->log;

	outputs->log = NULL;
	if (outputs->failure.status) {
		struct error ignored = ERROR_INIT;

		*err = outputs->failure;
		log_close(log, &ignored);
		return -1;
	}
	if (log && log_close(log, err) < 0)
		return -1;
	return outputs->csv.out ? output_commit(&outputs->csv_output, err) : 0;
}

static int compare_one(const struct latency_request *request, struct compare *compare,
		       const char *name, const char *path, struct error *err)
{
	const struct analysis_options options = { .deadline_ns = request->deadline_ns,
						  .sla = request->sla };
	struct log_reader *log = log_open(path, err);
	int result = log ? compare_add(compare, name, log, &options, err) : -1;

	log_reader_free(log);
	return result;
}

int latency_outputs_compare(const struct latency_outputs *outputs, json_t *document,
			    struct error *err)
{
	const struct latency_request *request = outputs->request;
	struct compare *compare;
	int result = -1;

	if (!request->baseline)
		return 0;
	compare = calloc(1, sizeof(*compare));
	if (!compare)
		return error_errno(err, ENOMEM, "--baseline");
	if (!compare_one(request, compare, request->baseline, request->baseline, err) &&
	    !compare_one(request, compare, request->log ? request->log : "this run",
			 outputs->log_path, err) &&
	    !compare_finish(compare, err)) {
		result = 0;
		if (document) {
			json_object_set_new(document, "compare", compare_json(compare));
		} else {
			putchar('\n');
			compare_print(stdout, compare);
		}
	}
	compare_free(compare);
	free(compare);
	return result;
}

void latency_outputs_free(struct latency_outputs *outputs)
{
	struct error ignored = ERROR_INIT;

	log_close(outputs->log, &ignored);
	output_abort(&outputs->csv_output);
	if (outputs->log_is_temporary)
		unlink(outputs->log_path);
}

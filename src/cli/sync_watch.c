// SPDX-License-Identifier: GPL-2.0-only
/* tsnpub sync over time: --wait, --watch, --log. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/command.h"
#include "cli/sync.h"
#include "data/description.h"
#include "data/logfile.h"
#include "ptp/sync_record.h"
#include "ptp/sync_text.h"

struct watched {
	struct sync_snapshot snapshot;
	struct sync_report report;
	struct sync_course master, phc;
	uint64_t seconds, good_seconds, unknown_seconds;
};

static void look(struct sync_source *source, const struct sync_options *o, uint64_t second,
		 struct sync_snapshot *snapshot, struct sync_report *report)
{
	/* processes come and go slowly, and /proc is large */
	sync_source_read(source, second % 5 == 0, snapshot);
	sync_judge(snapshot, &o->bars, report);
}

static void print_result(const struct sync_options *o, const struct sync_snapshot *snapshot,
			 const struct sync_report *report)
{
	json_t *document;

	if (!o->json) {
		sync_print_table(stdout, snapshot, report);
		return;
	}
	document = sync_to_json(snapshot, report);
	json_dumpf(document, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(document);
}

int sync_wait(struct sync_source *source, const struct sync_options *o, struct error *err)
{
	int64_t start = clock_now_ns(CLOCK_MONOTONIC), next = start;
	struct watched *w = calloc(1, sizeof(*w));
	char told[512] = "";
	int good = 0;
	int status;

	if (!w)
		return error_errno(err, ENOMEM, "cannot watch the clocks");
	for (uint64_t second = 0;; second++) {
		char text[512];

		look(source, o, second, &w->snapshot, &w->report);
		good = w->report.verdict == SYNC_VERDICT_GOOD ? good + 1 : 0;
		if (good >= o->settle || sync_interrupted())
			break;
		if (w->report.first >= 0) {
			const struct sync_check *check = &w->report.check[w->report.first];

			snprintf(text, sizeof(text), "%s: %s", check->name,
				 check->reason[0] ? check->reason : check->value);
			if (strcmp(text, told))
				message_note("waiting: %s", text);
			snprintf(told, sizeof(told), "%s", text);
		}
		next += NSEC_PER_SEC;
		if (next - start > o->wait_ns)
			break;
		sync_sleep_until(next);
	}
	if (good && good < o->settle) {
		w->report.verdict = SYNC_VERDICT_NOT_GOOD;
		message_note("good for %d s only, --settle asks for %d s in a row", good,
			     o->settle);
	}
	if (good >= o->settle && (o->watch || o->log))
		message_note("good for %d s in a row", o->settle);
	else
		print_result(o, &w->snapshot, &w->report);
	status = sync_exit_status(w->report.verdict);
	free(w);
	return status;
}

static struct log_writer *open_log(const struct sync_options *o, const struct watched *w,
				   struct error *err)
{
	struct log_writer *log;
	json_t *description = describe_run(o->argv);
	json_t *options = json_object();

	json_object_set_new(description, "interface", json_string(w->snapshot.iface));
	json_object_set_new(description, "sync", json_string(sync_verdict_name(w->report.verdict)));
	json_object_set_new(options, "limit_ns", json_integer(w->report.limit_ns));
	json_object_set_new(description, "options", options);
	log = log_create(o->log, RECORD_SYNC, description, err);
	json_decref(description);
	return log;
}

static void summary(const struct sync_options *o, const struct watched *w)
{
	json_t *document;

	if (!o->json) {
		printf("%llu s watched: %llu good, %llu not good, %llu cannot tell\n",
		       (unsigned long long)w->seconds, (unsigned long long)w->good_seconds,
		       (unsigned long long)(w->seconds - w->good_seconds - w->unknown_seconds),
		       (unsigned long long)w->unknown_seconds);
		return;
	}
	document = sync_to_json(&w->snapshot, &w->report);
	json_object_set_new(document, "seconds", json_integer((json_int_t)w->seconds));
	json_object_set_new(document, "good_seconds", json_integer((json_int_t)w->good_seconds));
	json_object_set_new(document, "unknown_seconds",
			    json_integer((json_int_t)w->unknown_seconds));
	json_object_set_new(document, "master_offset", sync_course_to_json(&w->master));
	json_object_set_new(document, "phc_tai_offset", sync_course_to_json(&w->phc));
	json_dumpf(document, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(document);
}

static void count_second(struct watched *w)
{
	const struct sync_snapshot *s = &w->snapshot;

	w->seconds++;
	w->good_seconds += w->report.verdict == SYNC_VERDICT_GOOD;
	w->unknown_seconds += w->report.verdict == SYNC_VERDICT_CANNOT_TELL;
	if (sync_follows_master(s))
		sync_course_add(&w->master, s->time_status.master_offset_ns);
	if (s->have_phc)
		sync_course_add(&w->phc, s->phc.tai_offset_ns);
}

int sync_watch(struct sync_source *source, const struct sync_options *o, struct error *err)
{
	int64_t start = clock_now_ns(CLOCK_MONOTONIC);
	struct watched *w = calloc(1, sizeof(*w));
	struct log_writer *log = NULL;
	int status = -1;

	if (!w)
		return error_errno(err, ENOMEM, "cannot watch the clocks");
	for (;;) {
		char line[1024];

		look(source, o, w->seconds, &w->snapshot, &w->report);
		count_second(w);
		if (o->log && !log) {
			log = open_log(o, w, err);
			if (!log)
				goto out;
		}
		if (log) {
			struct sync_record record;

			sync_record_make(&w->snapshot, &w->report, 0, &record);
			if (log_append(log, &record, 1, err) || log_flush(log, err))
				goto out;
		}
		if (o->watch && !o->json) {
			sync_watch_line(&w->snapshot, &w->report, &w->master, &w->phc, line,
					sizeof(line));
			puts(line);
			fflush(stdout);
		}
		if (sync_interrupted() ||
		    (o->duration_ns && (int64_t)w->seconds * NSEC_PER_SEC >= o->duration_ns))
			break;
		sync_sleep_until(start + (int64_t)w->seconds * NSEC_PER_SEC);
		if (sync_interrupted())
			break;
	}
	status = w->good_seconds == w->seconds                        ? STATUS_GOOD
		 : w->good_seconds + w->unknown_seconds == w->seconds ? STATUS_SYSTEM
								      : STATUS_BAR_MISSED;
	if (log && log_close(log, err))
		status = -1;
	log = NULL;
	if (status >= 0)
		summary(o, w);
out:
	if (log) {
		struct error ignored = ERROR_INIT;

		log_close(log, &ignored);
	}
	sync_course_free(&w->master);
	sync_course_free(&w->phc);
	free(w);
	return status;
}

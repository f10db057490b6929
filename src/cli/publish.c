// SPDX-License-Identifier: GPL-2.0-only
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/units.h"
#include "cli/arguments.h"
#include "cli/blame_session.h"
#include "cli/command.h"
#include "cli/config_file.h"
#include "cli/publish_options.h"
#include "cli/publish_schedule.h"
#include "data/description.h"
#include "engine/transmit.h"
#include "report/json.h"
#include "report/live.h"
#include "report/output.h"
#include "report/text.h"
#include "report/verdict.h"

struct view {
	const struct publish_request *request;
	struct publish_schedule *schedule;
	struct live live;
	int64_t started_ns; /* CLOCK_MONOTONIC */
	int64_t ahead_ns; /* from there to the base time, if that lay ahead */
	struct blame_session blame;
};

static void say(void *context, bool warning, const char *text)
{
	struct view *view = context;

	live_end(&view->live);
	if (warning)
		message_warn("%s", text);
	else
		message_note("%s", text);
}

static const char *stamps_text(unsigned stamps)
{
	static const char *const texts[] = { "none", "sched",     "sw",     "sched, sw",
					     "hw",   "sched, hw", "sw, hw", "sched, sw, hw" };

	return texts[stamps & 7];
}

/* TAI that equals UTC: launch times are then off by 37 s from those of everyone else. */
static void warn_of_tai(const struct publisher_setup *setup)
{
	if (setup->tai_offset_s == 0)
		message_warn(
			"the kernel's TAI offset is 0, so CLOCK_TAI equals UTC and launch times "
			"are 37 s from those of other hosts; run ptp4l and phc2sys, or set it: "
			"tsnpub sync --set-tai-offset=37");
}

static void started(void *context, struct publisher *publisher)
{
	struct view *view = context;
	const struct publisher_setup *s = publisher_setup(publisher);
	const struct publisher_options *o = &view->request->publisher;
	char cycle[DURATION_TEXT], realtime[REALTIME_TEXT], speed[32] = "speed unknown";

	view->started_ns = clock_now_ns(CLOCK_MONOTONIC);
	view->ahead_ns = s->base_ns > tai_now_ns() ? s->base_ns - tai_now_ns() : 0;
	for (unsigned i = 0; i < s->realtime.shortfalls; i++)
		message_warn("%s", s->realtime.shortfall[i]);
	if (s->stamps_note[0])
		message_warn("%s", s->stamps_note);
	if (s->pacing.warning[0])
		message_warn("%s", s->pacing.warning);
	warn_of_tai(s);
	if (view->request->quiet)
		return;
	if (s->speed_mbps)
		snprintf(speed, sizeof(speed), "%u Mb/s", s->speed_mbps);
	message_note("run %08x: %u stream%s, cycle %s, on %s (%s, %s)", s->run, o->count,
		     o->count > 1 ? "s" : "", format_duration(o->cycle_ns, cycle), s->link.name,
		     s->driver[0] ? s->driver : "unknown driver", speed);
	message_note("pacing %s: %s", pacing_name(s->pacing.kind), s->pacing.reason);
	message_note("clocks: %s", s->sync);
	if (view->ahead_ns > NSEC_PER_SEC)
		message_note(
			"the base time lies ahead: the first frame leaves in %s",
			format_duration(view->ahead_ns / NSEC_PER_MSEC * NSEC_PER_MSEC, cycle));
	message_note("cyclic thread: %s", realtime_describe(&s->realtime, realtime));
	if (s->stamps && s->stamp_every > 1)
		message_note("TX stamps: %s, of one frame in %u", stamps_text(s->stamps),
			     s->stamp_every);
	else
		message_note("TX stamps: %s", stamps_text(s->stamps));
}

/* From the start to the end of the last cycle; 0: no end. */
static int64_t length_of(const struct view *view)
{
	const struct publisher_options *o = &view->request->publisher;
	int64_t length;

	if (o->cycles == UINT64_MAX)
		return 0;
	if (o->cycles > INT64_MAX ||
	    __builtin_mul_overflow((int64_t)o->cycles, o->cycle_ns, &length) ||
	    __builtin_add_overflow(length, view->ahead_ns, &length))
		return INT64_MAX;
	return length;
}

static void tick(void *context, struct publisher *publisher)
{
	struct view *view = context;
	const struct publisher_options *o = &view->request->publisher;
	const struct publisher_recent *recent;
	const struct tx_metrics *metrics;
	struct tx_stream *total;
	char text[200];

	if (publish_schedule_lost(view->schedule, text))
		say(view, true, text);
	blame_session_tick(&view->blame);
	metrics = publisher_metrics(publisher, &recent);
	if (view->request->quiet) {
		publisher_metrics_unlock(publisher);
		return;
	}
	total = tx_metrics_total(metrics, NULL);
	if (total) {
		const struct tx_counts *n = &total->counts;
		enum stamp_source source = tx_best_source(total);
		uint64_t late = source == SOURCE_COUNT ? 0 : n->late[source];
		const struct live_counter counters[] = {
			{ "sent", n->sent },
			{ "skipped", n->skipped },
			{ "refused", n->refused },
			{ "missed", n->missed + n->invalid },
			{ "link down", n->link_down },
			{ "paused", n->paused },
			{ "late", late },
		};
		struct live_figure figures[2] = { { "wake-up", SOURCE_USER, &recent->wake } };
		size_t shown = 2;
		struct live_view live = {
			.cycle_ns = o->cycle_ns,
			.elapsed_ns = clock_now_ns(CLOCK_MONOTONIC) - view->started_ns,
			.duration_ns = length_of(view),
			.counters = counters,
			.figures = figures,
			.figure_count = 1,
		};

		/* the rare ones only when there are any */
		for (size_t i = 2; i < sizeof(counters) / sizeof(counters[0]); i++)
			if (counters[i].value)
				shown = i + 1;
		live.counter_count = shown;
		if (source != SOURCE_COUNT)
			figures[live.figure_count++] = (struct live_figure){
				"launch error", source, &recent->launch_error[source]
			};
		live_show(&view->live, &live);
	}
	tx_stream_free(total);
	publisher_metrics_unlock(publisher);
}

/* What does not stand in the metrics: only where it happened. */
static void print_oddities(const struct publisher_counts *n)
{
	const struct {
		const char *text;
		uint64_t value;
	} lines[] = {
		{ "clock steps", n->steps },
		{ "link losses", n->link_losses },
		{ "losses of clock sync", n->sync_losses },
		{ "ms without clock sync", (uint64_t)(n->unsynced_ns / NSEC_PER_MSEC) },
		{ "frames counted before sync was known", n->unjudged },
		{ "TX stamps that did not come", n->collector.missing_stamps },
		{ "TX stamps that came too late", n->collector.late_stamps },
		{ "TX stamps that came twice", n->collector.duplicate_stamps },
		{ "messages about frames of others", n->collector.foreign + n->unattributed },
		{ "skipped frames without a record", n->collector.untold },
		{ "frames without a record (ring full)", n->events_lost },
		{ "records missing in the log", n->log_lost },
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (lines[i].value)
			printf("%-36s %llu\n", lines[i].text, (unsigned long long)lines[i].value);
}

static json_t *oddities_object(const struct publisher_counts *n)
{
	return json_pack(
		"{sI sI sI sI sI sI sI sI sI sI sI sI}", "clock_steps", (json_int_t)n->steps,
		"link_losses", (json_int_t)n->link_losses, "sync_losses",
		(json_int_t)n->sync_losses, "unsynced_ns", (json_int_t)n->unsynced_ns,
		"stamps_missing", (json_int_t)n->collector.missing_stamps, "stamps_late",
		(json_int_t)n->collector.late_stamps, "stamps_duplicate",
		(json_int_t)n->collector.duplicate_stamps, "stamps_foreign",
		(json_int_t)(n->collector.foreign + n->unattributed), "untold",
		(json_int_t)n->collector.untold, "events_lost", (json_int_t)n->events_lost,
		"log_lost", (json_int_t)n->log_lost, "sync_unjudged", (json_int_t)n->unjudged);
}

static int print_json(const struct publish_request *request, struct publisher *publisher,
		      const struct publisher_counts *counts, const struct verdict *verdict,
		      const struct blame_session *blame, struct error *err)
{
	const struct publisher_setup *s = publisher_setup(publisher);
	char run[16], realtime[REALTIME_TEXT];
	json_t *document = json_of_tx(publisher_metrics(publisher, NULL));

	publisher_metrics_unlock(publisher);
	snprintf(run, sizeof(run), "%08x", s->run);
	json_object_set_new(document, "run", json_string(run));
	json_object_set_new(document, "interface", json_string(s->link.name));
	json_object_set_new(document, "driver", json_string(s->driver));
	json_object_set_new(document, "cycle_ns", json_integer(request->publisher.cycle_ns));
	json_object_set_new(document, "pacing", json_string(pacing_name(s->pacing.kind)));
	json_object_set_new(document, "pacing_reason", json_string(s->pacing.reason));
	json_object_set_new(document, "lead_ns", json_integer(s->pacing.lead_ns));
	json_object_set_new(document, "realtime",
			    json_string(realtime_describe(&s->realtime, realtime)));
	json_object_set_new(document, "tai_offset_s", json_integer(s->tai_offset_s));
	json_object_set_new(document, "sync", json_string(s->sync));
	json_object_set_new(document, "counters", oddities_object(counts));
	if (verdict->judged)
		json_object_set_new(document, "verdict", verdict_json(verdict));
	if (request->publisher.log_path)
		json_object_set_new(document, "log", describe_bytes(request->publisher.log_path));
	if (blame->blame)
		json_object_set_new(document, "blame", blame_session_json(blame));
	return json_print(stdout, document, err);
}

static const char *refusal_fix(int reason)
{
	switch (reason) {
	case ENOBUFS:
	case EAGAIN:
		return "; a queue on the way was full, or the link was gone for a moment: send "
		       "less, or look at `tc -s qdisc` and at carrier_changes in /sys/class/net";
	case EMSGSIZE:
		return "; the interface's MTU became smaller than the frames: see `ip link`";
	default:
		return "";
	}
}

static void warn_of_refusals(uint64_t refused, int reason)
{
	struct error why = ERROR_INIT;

	if (!refused || !reason)
		return;
	error_errno(&why, reason, "frames that the kernel refused: %llu, the last one",
		    (unsigned long long)refused);
	message_warn("%s%s", why.text, refusal_fix(reason));
}

/*
 * 1 where something that was promised did not happen. A bar that was set (--deadline, --sla) judges all frames that
 * were due. Without one a skipped cycle is no failure: on a machine without a real-time kernel some always are.
 */
static int status_of(const struct verdict *verdict, const struct tx_stream *total,
		     const struct publisher_counts *counts)
{
	const struct tx_counts *n = &total->counts;

	if (counts->stopped_early || !n->sent)
		return STATUS_BAR_MISSED;
	if (verdict->judged)
		return verdict->met ? STATUS_GOOD : STATUS_BAR_MISSED;
	return counts->link_losses || n->refused || n->missed || n->invalid ? STATUS_BAR_MISSED
									    : STATUS_GOOD;
}

static int judge(struct publisher *publisher, double sla, const struct publisher_counts *counts,
		 struct verdict *verdict, struct error *err)
{
	const struct tx_metrics *metrics = publisher_metrics(publisher, NULL);
	struct tx_stream *total = tx_metrics_total(metrics, NULL);
	int status;

	*verdict = verdict_of_tx(metrics, sla);
	/* beyond what a gap of hours has records for */
	verdict->due += counts->collector.untold;
	verdict->missed += counts->collector.untold;
	verdict_finish(verdict, metrics->options.deadline_ns, sla);
	publisher_metrics_unlock(publisher);
	if (!total)
		return error_errno(err, ENOMEM, "cannot sum up");
	warn_of_refusals(total->counts.refused, counts->last_refusal);
	status = status_of(verdict, total, counts);
	tx_stream_free(total);
	return status;
}

static int run(const struct publish_request *request, struct publish_schedule *schedule,
	       struct error *err)
{
	struct view view = { .request = request, .schedule = schedule };
	struct publisher_options options = request->publisher;
	const struct publisher_events events = { started, tick, say, &view };
	struct publisher_counts counts;
	struct publisher *publisher;
	struct verdict verdict;
	int status = -1;

	live_init(&view.live, stderr);
	options.no_recent = request->quiet;
	if (request->blame) {
		if (options.realtime.cpu == REALTIME_CPU_ANY)
			options.realtime.cpu = realtime_choose_cpu();
		view.blame.cpu = options.realtime.cpu;
		view.blame.spin_ns = options.pacing.spin_ns;
		view.blame.over_ns = request->blame_over_ns;
		blame_session_open(&view.blame);
		options.clock = blame_session_clock(&view.blame, &wake_clock_system);
	}
	publisher = publisher_open(&options, err);
	if (!publisher) {
		blame_session_close(&view.blame);
		return -1;
	}
	if (publisher_run(publisher, &events, err) < 0)
		goto out;
	live_end(&view.live);
	blame_session_tick(&view.blame);
	publisher_counts(publisher, &counts);
	status = judge(publisher, request->publisher.sla, &counts, &verdict, err);
	if (status < 0)
		goto out;
	if (request->json) {
		if (print_json(request, publisher, &counts, &verdict, &view.blame, err) < 0)
			status = -1;
	} else {
		text_print_tx(stdout, publisher_metrics(publisher, NULL));
		publisher_metrics_unlock(publisher);
		print_oddities(&counts);
		blame_session_print(&view.blame);
		verdict_print(stdout, &verdict);
		if (output_stdout_done(err))
			status = -1;
	}
out:
	publisher_close(publisher);
	blame_session_close(&view.blame);
	return status;
}

int cmd_publish(int argc, char **argv)
{
	struct publish_line *line = calloc(1, sizeof(*line));
	struct publish_request request = { 0 };
	struct config_file config = { 0 };
	struct publish_schedule schedule;
	struct error err = ERROR_INIT;
	int status = -1, ended;

	if (!line) {
		error_system(&err, "no memory");
		return error_report(&err);
	}
	if (arguments_parse(&publish_argp, argc, argv, line, &line->err)) {
		err = line->err;
		goto out;
	}
	if (line->config && !*line->config) {
		error_input(&err, "--config '': no file name");
		goto out;
	}
	if (line->config && config_file_open(line->config, &config, &err) < 0)
		goto out;
	if (publish_convert(&line->texts, line->config ? &config : NULL, &request, &err) < 0 ||
	    publish_schedule_check(&config, &err) < 0)
		goto out;
	request.publisher.argv = argv;
	if (publish_schedule_begin(line->config ? &config : NULL, line->config, request.apply,
				   &request.publisher, &schedule, &err) < 0)
		goto out;
	if (schedule.applied) {
		request.publisher.restart_gates = publish_schedule_restart;
		request.publisher.restart_context = &schedule;
	}
	status = run(&request, &schedule, &err);
	if (status < 0)
		error_report(&err);
	ended = publish_schedule_end(&schedule, &err);
	if (ended < 0)
		status = -1;
	else if (status < 0)
		status = err.status;
	else if (ended && status == STATUS_GOOD)
		status = STATUS_BAR_MISSED;
out:
	if (status < 0)
		status = error_report(&err);
	publish_request_free(&request);
	config_file_close(&config);
	publish_line_free(line);
	free(line);
	return status;
}

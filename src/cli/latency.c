// SPDX-License-Identifier: GPL-2.0-only
/* tsnpub latency: how late the cyclic thread wakes up, measured as cyclictest does. */
#include <inttypes.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/signals.h"
#include "base/units.h"
#include "cli/blame_session.h"
#include "cli/command.h"
#include "cli/latency_options.h"
#include "cli/latency_outputs.h"
#include "cli/tracer_report.h"
#include "data/metrics.h"
#include "host/load.h"
#include "report/bars.h"
#include "report/json.h"
#include "report/live.h"
#include "report/summary.h"
#include "report/verdict.h"

#define COLLECT_MS 20

enum stop {
	STOP_NOT,
	STOP_OVER, /* a wake-up was later than --stop-over */
	STOP_TRACER, /* the kernel's tracer saw its own thread later than that */
};

struct run {
	struct latency_request request;
	struct load load;
	struct blame_session blame;
	struct tracer tracer;
	bool tracing;
	struct latency *latency;
	struct wake_metrics metrics;
	struct histogram recent; /* of the last second */
	struct wake_record first, latest; /* latest: the one with the greatest latency */
	bool any;
	enum stop stop;
	struct latency_outputs outputs;
	struct live live;
	int signals;
	bool interrupted;
};

/* Keeps the other threads off the cyclic one's CPU, where there are others. */
static void leave_cpu(int cpu)
{
	cpu_set_t set;

	if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof(set), &set))
		return;
	CPU_CLR(cpu, &set);
	if (CPU_COUNT(&set))
		sched_setaffinity(0, sizeof(set), &set);
}

static void take_wake(void *context, const struct wake_record *record)
{
	struct run *run = context;
	int64_t latency = record->wake - record->expected;

	wake_metrics_add(&run->metrics, record);
	if (!run->request.quiet)
		histogram_add(&run->recent, latency, (uint64_t)record->seq, 0);
	if (!run->any) {
		run->first = *record;
		tracer_arm(&run->tracer);
	}
	if (!run->any || latency > run->latest.wake - run->latest.expected)
		run->latest = *record;
	run->any = true;
	if (run->request.stop_over_ns && latency > run->request.stop_over_ns && !run->stop) {
		run->stop = STOP_OVER;
		/* TAI to CLOCK_MONOTONIC */
		tracer_freeze(&run->tracer,
			      record->wake - (tai_now_ns() - clock_now_ns(CLOCK_MONOTONIC)));
	}
	latency_outputs_add(&run->outputs, record);
}

static void show(struct run *run, int64_t elapsed_ns)
{
	struct live_counter counters[2] = { { "late", run->metrics.late },
					    { "skipped", run->metrics.skipped } };
	struct live_figure figure = { "wake-up", SOURCE_USER, &run->recent };
	struct live_view view = {
		.cycle_ns = run->request.settings.cycle_ns,
		.elapsed_ns = elapsed_ns,
		.duration_ns = run->request.duration_ns,
		.done = run->metrics.latency.count,
		.total = run->request.duration_ns || run->request.settings.cycles == UINT64_MAX
				 ? 0
				 : run->request.settings.cycles,
		.counters = counters,
		.counter_count = 2,
		.figures = &figure,
		.figure_count = 1,
	};

	live_show(&run->live, &view);
	histogram_reset(&run->recent);
}

/* Collects until the loop has ended or a signal came. A second signal ends it at once. */
static void collect(struct run *run)
{
	int64_t start = clock_now_ns(CLOCK_MONOTONIC), next = start + NSEC_PER_SEC;
	bool load_runs = run->load.pid != 0, ending = false;

	while (latency_collect(run->latency, take_wake, run)) {
		struct pollfd wait = { .fd = run->signals, .events = POLLIN };
		struct signalfd_siginfo info;
		int64_t now;
		int status;

		if (poll(&wait, 1, COLLECT_MS) > 0 &&
		    read(run->signals, &info, sizeof(info)) == sizeof(info)) {
			run->interrupted = true;
			latency_stop(run->latency);
		}
		blame_session_tick(&run->blame);
		tracer_collect(&run->tracer);
		if (run->tracer.stopped && !run->stop)
			run->stop = STOP_TRACER;
		if (!ending && (run->stop || run->outputs.failure.status)) {
			ending = true;
			latency_stop(run->latency);
		}
		now = clock_now_ns(CLOCK_MONOTONIC);
		if (now >= next) {
			if (!run->request.quiet)
				show(run, now - start);
			latency_outputs_flush(&run->outputs);
			next += NSEC_PER_SEC;
			if (next <= now)
				next = now + NSEC_PER_SEC;
		}
		if (load_runs && load_ended(&run->load, &status)) {
			load_runs = false;
			live_end(&run->live);
			if (status)
				message_warn("--load: it ended with status %d; what follows is "
					     "measured without it",
					     status);
			else
				message_note("--load: it has ended; what follows is measured "
					     "without it");
		}
	}
	blame_session_tick(&run->blame);
	tracer_stop(&run->tracer);
	live_end(&run->live);
}

/* The latest wake-up's own time of day in UTC, for the journal and for dmesg beside it. */
static char *time_of_day(int64_t tai_ns, char text[40])
{
	int64_t utc_ns = tai_ns - (tai_now_ns() - clock_now_ns(CLOCK_REALTIME));
	struct timespec utc = ns_to_timespec(utc_ns);
	struct tm parts;

	text[0] = '\0';
	if (gmtime_r(&utc.tv_sec, &parts)) {
		size_t used = strftime(text, 40, "%F %T", &parts);

		snprintf(text + used, 40 - used, ".%06ld UTC", utc.tv_nsec / 1000);
	}
	return text;
}

static json_t *setup_json(const struct run *run, const struct latency_counts *counts)
{
	const struct realtime *rt = latency_realtime(run->latency);
	const struct latency_settings *s = &run->request.settings;
	char time[40];
	json_t *o = json_pack("{s:I,s:s,s:i,s:i,s:b,s:b,s:I,s:I,s:I}", "cycle_ns",
			      (json_int_t)s->cycle_ns, "timer", latency_timer_name(s->timer), "cpu",
			      rt->cpu, "rt_priority", rt->priority, "memory_locked",
			      rt->memory_locked, "latency_held", rt->latency_held, "lost",
			      (json_int_t)counts->lost, "clock_steps", (json_int_t)counts->steps,
			      "overhead_ns", (json_int_t)counts->overhead_ns);

	if (o && run->request.load)
		json_object_set_new(o, "load", json_string(run->request.load));
	if (o)
		json_object_set_new(o, "latest",
				    json_pack("{s:I,s:I,s:I,s:s}", "late_ns",
					      (json_int_t)(run->latest.wake - run->latest.expected),
					      "seq", (json_int_t)run->latest.seq, "expected_tai_ns",
					      (json_int_t)run->latest.expected, "time",
					      time_of_day(run->latest.expected, time)));
	if (o && run->stop)
		json_object_set_new(o, "stopped_by",
				    json_string(run->stop == STOP_OVER ? "wake-up" : "tracer"));
	return o;
}

static int finish_json(struct run *run, const struct analysis *analysis,
		       const struct latency_counts *counts, struct error *err)
{
	json_t *document = summary_json(analysis), *blame = blame_session_json(&run->blame);

	if (!document) {
		json_decref(blame);
		return error_errno(err, ENOMEM, "--json");
	}
	json_object_set_new(document, "latency", setup_json(run, counts));
	if (run->request.histogram)
		json_object_set_new(document, "histogram",
				    json_of_histogram(&run->metrics.latency));
	if (run->tracing)
		json_object_set_new(document, "tracer", tracer_json(&run->tracer, run->stop));
	if (blame)
		json_object_set_new(document, "blame", blame);
	if (latency_outputs_compare(&run->outputs, document, err) < 0) {
		json_decref(document);
		return -1;
	}
	return json_print(stdout, document, err) ? -1 : 0;
}

static void print_stop(const struct run *run)
{
	char over[DURATION_TEXT];

	format_duration(run->request.stop_over_ns, over);
	if (run->stop == STOP_OVER)
		printf("\nEnded at the first wake-up later than %s\n", over);
	else if (run->stop == STOP_TRACER)
		printf("\nEnded because %s saw more than %s\n", tracer_name(run->tracer.kind),
		       over);
}

static int finish_text(struct run *run, const struct analysis *analysis,
		       const struct latency_counts *counts, struct error *err)
{
	const struct latency_settings *s = &run->request.settings;
	char text[REALTIME_TEXT], cycle[DURATION_TEXT], time[40];

	printf("%s, %s every %s\n", realtime_describe(latency_realtime(run->latency), text),
	       latency_timer_name(s->timer), format_duration(s->cycle_ns, cycle));
	summary_print(stdout, analysis);
	printf("\nLatest: %.1f us, due %.6f s after the first, at %s\n",
	       (double)(run->latest.wake - run->latest.expected) / 1e3,
	       (double)(run->latest.expected - run->first.expected) / 1e9,
	       time_of_day(run->latest.expected, time));
	if (latency_outputs_compare(&run->outputs, NULL, err) < 0)
		return -1;
	if (run->request.histogram)
		histogram_print(stdout, "wake-up latency", &run->metrics.latency);
	print_stop(run);
	blame_session_print(&run->blame);
	if (run->tracing)
		tracer_print(stdout, &run->tracer, run->stop);
	printf("\nMeasuring takes %" PRId64 " ns of each wake-up (measured in the same thread)\n",
	       counts->overhead_ns);
	return 0;
}

/* Prints the result. Returns the exit status, or -1 with the error. */
static int finish(struct run *run, struct error *err)
{
	struct analysis analysis = { .limit = { .of = LIMIT_OF_WAKEUP,
						.deadline_ns = run->request.deadline_ns,
						.sla = run->request.sla },
				     .wake = &run->metrics };
	struct verdict verdict = analysis_verdict(&analysis);
	struct latency_counts counts;

	latency_counts(run->latency, &counts);
	if (!run->metrics.latency.count)
		return error_system(err, "not one wake-up was measured%s",
				    run->interrupted ? ": interrupted too early" : "");
	if (run->request.json && finish_json(run, &analysis, &counts, err) < 0)
		return -1;
	if (!run->request.json && !run->outputs.csv_output.is_stdout &&
	    finish_text(run, &analysis, &counts, err) < 0)
		return -1;
	if (!run->request.json && !run->outputs.csv_output.is_stdout)
		verdict_print(stdout, &verdict);
	if (counts.lost)
		message_warn("%" PRIu64 " wake-ups were measured and not collected in time",
			     counts.lost);
	if (output_stdout_done(err))
		return -1;
	return verdict.judged && !verdict.met ? STATUS_BAR_MISSED : STATUS_GOOD;
}

static int take_signals(struct run *run, struct error *err)
{
	sigset_t set;

	signals_that_end(&set);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return error_errno(err, errno, "sigprocmask");
	run->signals = signalfd(-1, &set, SFD_CLOEXEC);
	return run->signals < 0 ? error_errno(err, errno, "signalfd") : 0;
}

/* Where the kernel has no such tracer the measurement goes on without. */
static void start_tracer(struct run *run)
{
	struct error err = ERROR_INIT;
	int cpu = run->request.settings.realtime.cpu;

	if (cpu < 0) {
		message_warn("--tracer is not available: the cyclic thread is not pinned; name its "
			     "CPU with --cpu");
		return;
	}
	run->tracing = !tracer_start(&run->tracer, run->request.tracer, cpu,
				     run->request.stop_over_ns, &err);
	if (!run->tracing)
		message_warn("%s; going on without it", err.text);
}

static int measure(struct run *run, char **argv, struct error *err)
{
	const struct latency_request *request = &run->request;
	struct latency_settings settings = request->settings;
	const struct realtime *rt;

	if (take_signals(run, err) < 0 ||
	    latency_outputs_open(&run->outputs, request, argv, err) < 0)
		return -1;
	if (request->load && load_start(&run->load, request->load, err) < 0)
		return -1;
	settings.stop_over_ns = request->stop_over_ns;
	leave_cpu(settings.realtime.cpu);
	if (request->tracing)
		start_tracer(run);
	if (request->blame) {
		run->blame.cpu = settings.realtime.cpu;
		run->blame.spin_ns = settings.timer == LATENCY_SPIN ? INT64_MAX : 0;
		run->blame.other_timer = settings.timer == LATENCY_TIMERFD ||
					 settings.timer == LATENCY_EPOLL;
		run->blame.over_ns = request->blame_over_ns;
		run->blame.stop_over_ns = request->stop_over_ns;
		blame_session_open(&run->blame);
		settings.wrap = blame_session_clock;
		settings.wrap_context = &run->blame;
	}
	if (latency_start(&run->latency, &settings, err) < 0)
		return -1;
	rt = latency_realtime(run->latency);
	for (unsigned i = 0; i < rt->shortfalls; i++)
		message_warn("%s", rt->shortfall[i]);
	collect(run);
	if (latency_outputs_close(&run->outputs, err) < 0)
		return -1;
	return finish(run, err);
}

int cmd_latency(int argc, char **argv)
{
	struct run run = { .signals = -1 };
	struct error err = ERROR_INIT;
	int status;

	if (latency_options_parse(argc, argv, &run.request, &err) < 0)
		return error_report(&err);
	run.metrics.deadline_ns = run.request.deadline_ns;
	live_init(&run.live, stderr);
	status = measure(&run, argv, &err);
	live_end(&run.live);
	if (status < 0)
		status = error_report(&err);
	latency_free(run.latency);
	blame_session_close(&run.blame);
	tracer_stop(&run.tracer);
	load_stop(&run.load);
	latency_outputs_free(&run.outputs);
	wake_metrics_free(&run.metrics);
	histogram_free(&run.recent);
	if (run.signals >= 0)
		close(run.signals);
	return status;
}

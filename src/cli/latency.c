// SPDX-License-Identifier: GPL-2.0-only
/* tsnpub latency: how late the cyclic thread wakes up, measured as cyclictest does. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/units.h"
#include "cli/arguments.h"
#include "cli/blame_session.h"
#include "cli/command.h"
#include "cli/tracer_report.h"
#include "data/description.h"
#include "data/logfile.h"
#include "data/metrics.h"
#include "engine/latency.h"
#include "host/load.h"
#include "report/compare.h"
#include "report/csv.h"
#include "report/bars.h"
#include "report/json.h"
#include "report/live.h"
#include "report/output.h"
#include "report/summary.h"

#define COLLECT_MS 20
#define CYCLE_MIN_NS (20 * NSEC_PER_USEC)
#define CYCLE_MAX_NS (10 * NSEC_PER_SEC)

struct options {
	const char *cycle, *duration, *count, *cpu, *priority, *policy, *timer, *load;
	const char *deadline, *sla, *log, *csv, *blame_over, *stop_over, *tracer, *baseline;
	bool json, histogram, blame;
};

enum {
	KEY_PRIORITY = 256,
	KEY_POLICY,
	KEY_TIMER,
	KEY_LOAD,
	KEY_DEADLINE,
	KEY_SLA,
	KEY_LOG,
	KEY_CSV,
	KEY_HISTOGRAM,
	KEY_BLAME,
	KEY_BLAME_OVER,
	KEY_STOP_OVER,
	KEY_TRACER,
	KEY_BASELINE,
};

static const struct argp_option argp_options[] = {
	{ NULL, 0, NULL, 0, "What is measured:", 1 },
	{ "cycle", 'c', "TIME", 0, "time from one wake-up to the next (1ms)", 1 },
	{ "duration", 'd', "TIME", 0, "how long (until interrupted)", 1 },
	{ "count", 'n', "N", 0, "how many wake-ups, instead", 1 },
	{ "timer", KEY_TIMER, "KIND", 0,
	  "nanosleep (the publisher's), timerfd, epoll (an event loop's) or spin", 1 },
	{ "load", KEY_LOAD, "COMMAND", 0,
	  "run COMMAND beside it, such as 'stress-ng --cpu 0'; `builtin`: a modest load", 1 },
	{ NULL, 0, NULL, 0, "The cyclic thread:", 2 },
	{ "cpu", 'C', "N", 0, "its CPU; any: not pinned (the first isolated one, else the last)",
	  2 },
	{ "rt-priority", KEY_PRIORITY, "N", 0, "1 to 99 (80)", 2 },
	{ "policy", KEY_POLICY, "NAME", 0, "fifo, rr, deadline or other (fifo)", 2 },
	{ NULL, 0, NULL, 0, "What is demanded:", 3 },
	{ "deadline", KEY_DEADLINE, "TIME", 0, "a wake-up that is later is a miss", 3 },
	{ "sla", KEY_SLA, "PERCENT", 0, "share that must be in time, such as 99.99% (all)", 3 },
	{ NULL, 0, NULL, 0, "Who is to blame:", 4 },
	{ "blame", KEY_BLAME, NULL, 0, "find out who made the late wake-ups late", 4 },
	{ "blame-over", KEY_BLAME_OVER, "TIME", 0, "look at those later than this (P99.9 so far)",
	  4 },
	{ "tracer", KEY_TRACER, "NAME", 0,
	  "run one of the kernel's own beside it: timerlat, osnoise, irqsoff or hwlat", 4 },
	{ "stop-over", KEY_STOP_OVER, "TIME", 0, "end at the first that is later", 4 },
	{ NULL, 0, NULL, 0, "Output:", 5 },
	{ "log", KEY_LOG, "FILE", 0, "write each wake-up to this .tsnlog file", 5 },
	{ "csv", KEY_CSV, "FILE", 0, "write index, actual, predicted, jitter; -: to stdout", 5 },
	{ "baseline", KEY_BASELINE, "FILE", 0, "compare with this log of an earlier run", 5 },
	{ "histogram", KEY_HISTOGRAM, NULL, 0, "print the histogram as well", 5 },
	{ "json", 'j', NULL, 0, "one JSON document", 5 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'c':
		o->cycle = arg;
		return 0;
	case 'd':
		o->duration = arg;
		return 0;
	case 'n':
		o->count = arg;
		return 0;
	case 'C':
		o->cpu = arg;
		return 0;
	case 'j':
		o->json = true;
		return 0;
	case KEY_PRIORITY:
		o->priority = arg;
		return 0;
	case KEY_POLICY:
		o->policy = arg;
		return 0;
	case KEY_TIMER:
		o->timer = arg;
		return 0;
	case KEY_LOAD:
		o->load = arg;
		return 0;
	case KEY_DEADLINE:
		o->deadline = arg;
		return 0;
	case KEY_SLA:
		o->sla = arg;
		return 0;
	case KEY_LOG:
		o->log = arg;
		return 0;
	case KEY_CSV:
		o->csv = arg;
		return 0;
	case KEY_BLAME:
		o->blame = true;
		return 0;
	case KEY_BLAME_OVER:
		o->blame_over = arg;
		return 0;
	case KEY_BASELINE:
		o->baseline = arg;
		return 0;
	case KEY_TRACER:
		o->tracer = arg;
		return 0;
	case KEY_STOP_OVER:
		o->stop_over = arg;
		return 0;
	case KEY_HISTOGRAM:
		o->histogram = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s': takes no argument", arg);
		return EINVAL;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

struct run {
	const struct options *options;
	struct latency_settings settings;
	int64_t deadline_ns, duration_ns; /* 0: none */
	double sla;
	struct load load;
	struct blame_session blame;
	bool stopped_over; /* --stop-over has ended it */
	enum tracer_kind tracer_kind;
	struct tracer tracer;
	bool tracing;
	struct latency *latency;
	struct wake_metrics metrics;
	struct histogram recent; /* of the last second */
	struct log_writer *log;
	char log_path[4096];
	bool log_is_temporary;
	struct output csv_output;
	struct csv csv;
	struct error failure; /* of log or CSV: the run ends */
	struct live live;
	int signals;
	bool interrupted;
};

static int check_options(struct run *run, struct error *err)
{
	const struct options *o = run->options;
	struct latency_settings *s = &run->settings;
	uint64_t number;
	int timer = latency_timer_find(o->timer);

	if (parse_duration("--cycle", o->cycle, CYCLE_MIN_NS, CYCLE_MAX_NS, &s->cycle_ns, err))
		return -1;
	s->cycles = UINT64_MAX;
	if (o->count && o->duration)
		return error_input(err, "--count and --duration say the same twice: leave one out");
	if (o->count && parse_number("--count", o->count, 1, 1000000000000ULL, &s->cycles, err))
		return -1;
	if (o->duration) {
		if (parse_duration("--duration", o->duration, s->cycle_ns,
				   366LL * 86400 * NSEC_PER_SEC, &run->duration_ns, err))
			return -1;
		s->cycles = (uint64_t)(run->duration_ns / s->cycle_ns);
	}
	if (timer < 0)
		return error_input(
			err, "--timer '%.64s': unknown; use nanosleep, timerfd, epoll or spin",
			o->timer);
	s->timer = (enum latency_timer)timer;
	if (realtime_parse_policy("--policy", o->policy, &s->realtime.policy, err) ||
	    parse_number("--rt-priority", o->priority, 1, 99, &number, err))
		return -1;
	s->realtime.priority = (int)number;
	s->realtime.cycle_ns = s->cycle_ns;
	if (!o->cpu)
		s->realtime.cpu = realtime_choose_cpu();
	else if (!strcmp(o->cpu, "any"))
		s->realtime.cpu = REALTIME_CPU_NONE;
	else if (realtime_parse_cpu("--cpu", o->cpu, &s->realtime.cpu, err))
		return -1;
	if (o->deadline &&
	    parse_duration("--deadline", o->deadline, 1, CYCLE_MAX_NS, &run->deadline_ns, err))
		return -1;
	if (o->sla && parse_percent("--sla", o->sla, &run->sla, err))
		return -1;
	if (o->sla && !o->deadline)
		return error_input(err, "--sla needs a --deadline to be in time for");
	if (o->blame_over && !o->blame)
		return error_input(err, "--blame-over goes with --blame");
	if (o->stop_over && !o->blame && !o->tracer)
		return error_input(err, "--stop-over goes with --blame or --tracer");
	if (o->tracer) {
		int kind = tracer_find(o->tracer);

		if (kind < 0)
			return error_input(err,
					   "--tracer '%.64s': unknown; use timerlat, osnoise, "
					   "irqsoff or hwlat",
					   o->tracer);
		run->tracer_kind = (enum tracer_kind)kind;
	}
	if ((o->blame_over && parse_duration("--blame-over", o->blame_over, 1, CYCLE_MAX_NS,
					     &run->blame.over_ns, err)) ||
	    (o->stop_over && parse_duration("--stop-over", o->stop_over, 1, CYCLE_MAX_NS,
					    &run->blame.stop_over_ns, err)))
		return -1;
	run->blame.cpu = s->realtime.cpu;
	run->blame.cycle_ns = s->cycle_ns;
	if (o->json && o->csv && !strcmp(o->csv, "-"))
		return error_input(err, "--json and --csv - both go to stdout: name a file");
	/* long enough to settle, and for the load to get under way */
	s->start_delay_ns = o->load ? 500 * NSEC_PER_MSEC : 100 * NSEC_PER_MSEC;
	return 0;
}

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

/* Before the run, so that nobody waits an hour to be told of a wrong file. */
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

/* A comparison needs a log of this run, kept or not. */
static int choose_log(struct run *run, struct error *err)
{
	const char *directory = getenv("TMPDIR");
	int fd;

	if (run->options->log) {
		if (snprintf(run->log_path, sizeof(run->log_path), "%s", run->options->log) >=
		    (int)sizeof(run->log_path))
			return error_input(err, "--log: the name is too long");
		return 0;
	}
	if (snprintf(run->log_path, sizeof(run->log_path), "%s/tsnpub-latency-XXXXXX.tsnlog",
		     directory ? directory : "/tmp") >= (int)sizeof(run->log_path))
		return error_input(err, "TMPDIR: the name is too long");
	fd = mkstemps(run->log_path, (int)strlen(".tsnlog"));
	if (fd < 0)
		return error_errno(err, errno, "--baseline: cannot make %.256s", run->log_path);
	close(fd);
	run->log_is_temporary = true;
	return 0;
}

static int compare_one(struct run *run, struct compare *compare, const char *name, const char *path,
		       struct error *err)
{
	const struct analysis_options options = { .deadline_ns = run->deadline_ns,
						  .sla = run->sla };
	struct log_reader *log = log_open(path, err);
	int result = log ? compare_add(compare, name, log, &options, err) : -1;

	log_reader_free(log);
	return result;
}

/* The table of before and after; into `document` for JSON. */
static int show_change(struct run *run, json_t *document, struct error *err)
{
	struct compare *compare = calloc(1, sizeof(*compare));
	int result = -1;

	if (!compare)
		return error_errno(err, ENOMEM, "--baseline");
	if (!compare_one(run, compare, run->options->baseline, run->options->baseline, err) &&
	    !compare_one(run, compare, run->options->log ? run->options->log : "this run",
			 run->log_path, err) &&
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

static int open_outputs(struct run *run, char **argv, struct error *err)
{
	const struct options *o = run->options;
	const struct latency_settings *s = &run->settings;
	json_t *description, *options;

	if (o->csv) {
		if (output_open(&run->csv_output, "--csv", o->csv, err))
			return -1;
		run->csv.out = run->csv_output.file;
	}
	if (o->baseline && check_baseline(o->baseline, err) < 0)
		return -1;
	if (!o->log && !o->baseline)
		return 0;
	if (choose_log(run, err) < 0)
		return -1;
	description = describe_run(argv);
	options = json_pack("{s:I,s:s,s:i,s:i}", "cycle_ns", (json_int_t)s->cycle_ns, "timer",
			    latency_timer_name(s->timer), "cpu", s->realtime.cpu, "rt_priority",
			    s->realtime.priority);
	if (run->deadline_ns)
		json_object_set_new(options, "deadline_ns", json_integer(run->deadline_ns));
	if (o->load)
		json_object_set_new(options, "load", json_string(o->load));
	json_object_set_new(description, "options", options);
	run->log = log_create(run->log_path, RECORD_WAKE, description, err);
	json_decref(description);
	return run->log ? 0 : -1;
}

static void take_wake(void *context, const struct wake_record *record)
{
	struct run *run = context;
	struct joined_frame frame = { .wake = record };
	int64_t latency = record->wake - record->expected;

	wake_metrics_add(&run->metrics, record);
	histogram_add(&run->recent, latency, (uint64_t)record->seq, 0);
	if (run->failure.status)
		return;
	if (run->log && log_append(run->log, record, 1, &run->failure) < 0)
		return;
	if (run->csv.out)
		csv_frame(&run->csv, &frame, &run->failure);
}

static void show(struct run *run, int64_t elapsed_ns)
{
	struct live_counter counters[2] = { { "late", run->metrics.late },
					    { "skipped", run->metrics.skipped } };
	struct live_figure figure = { "wake-up", SOURCE_USER, &run->recent };
	struct live_view view = {
		.cycle_ns = run->settings.cycle_ns,
		.elapsed_ns = elapsed_ns,
		.duration_ns = run->duration_ns,
		.done = run->metrics.latency.count,
		.total = run->duration_ns || run->settings.cycles == UINT64_MAX
				 ? 0
				 : run->settings.cycles,
		.counters = counters,
		.counter_count = 2,
		.figures = &figure,
		.figure_count = 1,
	};

	live_show(&run->live, &view);
	histogram_reset(&run->recent);
}

/* Collects until the loop has ended or a signal came. A second signal ends it at once. */
static int collect(struct run *run, struct error *err)
{
	int64_t start = clock_now_ns(CLOCK_MONOTONIC), next = start + NSEC_PER_SEC;
	bool load_runs = run->load.pid != 0;

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
		if (!run->stopped_over && blame_session_tick(&run->blame, &run->metrics.latency)) {
			run->stopped_over = true;
			latency_stop(run->latency);
		}
		if (run->tracing)
			tracer_collect(&run->tracer);
		now = clock_now_ns(CLOCK_MONOTONIC);
		if (now >= next) {
			show(run, now - start);
			if (run->log && !run->failure.status)
				log_flush(run->log, &run->failure);
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
		if (run->failure.status)
			latency_stop(run->latency);
	}
	blame_session_end(&run->blame, &run->metrics.latency);
	tracer_stop(&run->tracer);
	live_end(&run->live);
	if (run->failure.status) {
		*err = run->failure;
		return -1;
	}
	return 0;
}

static json_t *setup_json(const struct run *run, const struct latency_counts *counts)
{
	const struct realtime *rt = latency_realtime(run->latency);
	json_t *o = json_pack("{s:I,s:s,s:i,s:i,s:b,s:b,s:I,s:I,s:I}", "cycle_ns",
			      (json_int_t)run->settings.cycle_ns, "timer",
			      latency_timer_name(run->settings.timer), "cpu", rt->cpu,
			      "rt_priority", rt->priority, "memory_locked", rt->memory_locked,
			      "latency_held", rt->latency_held, "lost", (json_int_t)counts->lost,
			      "clock_steps", (json_int_t)counts->steps, "overhead_ns",
			      (json_int_t)counts->overhead_ns);

	if (o && run->options->load)
		json_object_set_new(o, "load", json_string(run->options->load));
	return o;
}

/* Prints the result. Returns the exit status. */
static int finish(struct run *run, struct error *err)
{
	struct analysis analysis = { .options = { .deadline_ns = run->deadline_ns,
						  .sla = run->sla },
				     .wake = &run->metrics };
	struct verdict verdict = analysis_verdict(&analysis);
	struct latency_counts counts;
	char text[REALTIME_TEXT], cycle[DURATION_TEXT];

	latency_counts(run->latency, &counts);
	if (!run->metrics.latency.count) {
		error_system(err, "not one wake-up was measured%s",
			     run->interrupted ? ": interrupted too early" : "");
		return -1;
	}
	if (run->options->json) {
		json_t *document = summary_json(&analysis);
		json_t *blame = blame_session_json(&run->blame);

		if (document)
			json_object_set_new(document, "latency", setup_json(run, &counts));
		if (document && run->tracing)
			json_object_set_new(document, "tracer",
					    tracer_json(run->tracer_kind, &run->tracer.verdict));
		if (document && blame)
			json_object_set_new(document, "blame", blame);
		if (run->options->baseline && show_change(run, document, err) < 0) {
			json_decref(document);
			return -1;
		}
		if (json_print(stdout, document, err))
			return -1;
	} else if (!run->csv_output.is_stdout) {
		printf("%s, %s every %s\n", realtime_describe(latency_realtime(run->latency), text),
		       latency_timer_name(run->settings.timer),
		       format_duration(run->settings.cycle_ns, cycle));
		summary_print(stdout, &analysis);
		if (run->options->baseline && show_change(run, NULL, err) < 0)
			return -1;
		if (run->options->histogram)
			histogram_print(stdout, "wake-up latency", &run->metrics.latency);
		if (run->stopped_over)
			printf("\nEnded at the first wake-up later than %s\n",
			       run->options->stop_over);
		blame_session_print(&run->blame);
		if (run->tracing)
			tracer_print(stdout, run->tracer_kind, &run->tracer.verdict);
		printf("\nMeasuring takes %" PRId64 " ns of each wake-up (measured in the same "
		       "thread)\n",
		       counts.overhead_ns);
	}
	if (counts.lost)
		message_warn("%" PRIu64 " wake-ups were measured and not collected in time",
			     counts.lost);
	if (fflush(stdout) == EOF)
		return error_errno(err, errno, "cannot write the result");
	return verdict.judged && !verdict.met ? STATUS_BAR_MISSED : STATUS_GOOD;
}

static int take_signals(struct run *run, struct error *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return error_errno(err, errno, "sigprocmask");
	run->signals = signalfd(-1, &set, SFD_CLOEXEC);
	return run->signals < 0 ? error_errno(err, errno, "signalfd") : 0;
}

/* Where the kernel has no such tracer the measurement goes on without. */
static void start_tracer(struct run *run)
{
	struct error err = ERROR_INIT;
	int cpu = run->settings.realtime.cpu;

	if (cpu < 0) {
		message_warn("--tracer is not available: the cyclic thread is not pinned");
		return;
	}
	run->tracing = !tracer_start(&run->tracer, run->tracer_kind, cpu, run->blame.stop_over_ns,
				     &err);
	if (!run->tracing)
		message_warn("%s; going on without it", err.text);
}

static int measure(struct run *run, char **argv, struct error *err)
{
	const struct realtime *rt;

	if (take_signals(run, err) < 0 || open_outputs(run, argv, err) < 0)
		return -1;
	if (run->options->load && load_start(&run->load, run->options->load, err) < 0)
		return -1;
	leave_cpu(run->settings.realtime.cpu);
	if (run->options->tracer)
		start_tracer(run);
	if (run->options->blame) {
		blame_session_open(&run->blame);
		run->settings.wrap = blame_session_clock;
		run->settings.wrap_context = &run->blame;
	}
	if (latency_start(&run->latency, &run->settings, err) < 0)
		return -1;
	blame_session_start(&run->blame, latency_tid(run->latency));
	blame_session_measure(&run->blame);
	rt = latency_realtime(run->latency);
	for (unsigned i = 0; i < rt->shortfalls; i++)
		message_warn("%s", rt->shortfall[i]);
	if (collect(run, err) < 0)
		return -1;
	if (run->log) {
		int result = log_close(run->log, err);

		run->log = NULL;
		if (result < 0)
			return -1;
	}
	if (run->csv.out && output_commit(&run->csv_output, err) < 0)
		return -1;
	return finish(run, err);
}

int cmd_latency(int argc, char **argv)
{
	static const struct argp argp = {
		argp_options,
		parse_option,
		NULL,
		"Measures how late the cyclic thread wakes up, with the publisher's own loop and "
		"real-time set-up, as cyclictest does. Exit status 1 when the deadline or SLA is "
		"missed.",
		NULL,
		NULL,
		NULL
	};
	struct options options = {
		.cycle = "1ms", .priority = "80", .policy = "fifo", .timer = "nanosleep"
	};
	struct run run = { .options = &options, .signals = -1 };
	struct error err = ERROR_INIT, ignored = ERROR_INIT;
	int status;

	if (arguments_parse(&argp, argc, argv, &options, &err))
		return error_report(&err);
	if (check_options(&run, &err) < 0)
		return error_report(&err);
	run.metrics.deadline_ns = run.deadline_ns;
	live_init(&run.live, stderr);
	status = measure(&run, argv, &err);
	live_end(&run.live);
	if (status < 0)
		status = error_report(&err);
	latency_free(run.latency);
	blame_session_close(&run.blame);
	tracer_stop(&run.tracer);
	load_stop(&run.load);
	log_close(run.log, &ignored);
	output_abort(&run.csv_output);
	if (run.log_is_temporary)
		unlink(run.log_path);
	wake_metrics_free(&run.metrics);
	histogram_free(&run.recent);
	if (run.signals >= 0)
		close(run.signals);
	return status;
}

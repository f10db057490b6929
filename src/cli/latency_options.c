// SPDX-License-Identifier: GPL-2.0-only
#include "cli/latency_options.h"

#include <argp.h>
#include <errno.h>
#include <string.h>

#include "base/units.h"
#include "cli/arguments.h"

#define CYCLE_MIN_NS (20 * NSEC_PER_USEC)
#define CYCLE_MAX_NS (10 * NSEC_PER_SEC)

struct options {
	const char *cycle, *duration, *count, *cpu, *priority, *policy, *timer, *load;
	const char *deadline, *sla, *log, *csv, *blame_over, *stop_over, *tracer, *baseline;
	bool json, quiet, histogram, blame;
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
	{ "quiet", 'q', NULL, 0, "no live line: warnings and the summary only", 5 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static const struct argument_place places[] = {
	ARGUMENT_TEXT('c', struct options, cycle),
	ARGUMENT_TEXT('d', struct options, duration),
	ARGUMENT_TEXT('n', struct options, count),
	ARGUMENT_TEXT('C', struct options, cpu),
	ARGUMENT_FLAG('j', struct options, json),
	ARGUMENT_FLAG('q', struct options, quiet),
	ARGUMENT_TEXT(KEY_PRIORITY, struct options, priority),
	ARGUMENT_TEXT(KEY_POLICY, struct options, policy),
	ARGUMENT_TEXT(KEY_TIMER, struct options, timer),
	ARGUMENT_TEXT(KEY_LOAD, struct options, load),
	ARGUMENT_TEXT(KEY_DEADLINE, struct options, deadline),
	ARGUMENT_TEXT(KEY_SLA, struct options, sla),
	ARGUMENT_TEXT(KEY_LOG, struct options, log),
	ARGUMENT_TEXT(KEY_CSV, struct options, csv),
	ARGUMENT_FLAG(KEY_BLAME, struct options, blame),
	ARGUMENT_TEXT(KEY_BLAME_OVER, struct options, blame_over),
	ARGUMENT_TEXT(KEY_BASELINE, struct options, baseline),
	ARGUMENT_TEXT(KEY_TRACER, struct options, tracer),
	ARGUMENT_TEXT(KEY_STOP_OVER, struct options, stop_over),
	ARGUMENT_FLAG(KEY_HISTOGRAM, struct options, histogram),
	ARGUMENT_END,
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	return arguments_store_options(places, state, key, arg);
}

static int convert_realtime(const struct options *o, struct realtime_request *realtime,
			    struct error *err)
{
	uint64_t priority;

	if (realtime_parse_policy("--policy", o->policy, &realtime->policy, err) ||
	    parse_number("--rt-priority", o->priority ? o->priority : "80", 1, 99, &priority, err))
		return -1;
	realtime->priority = (int)priority;
	if (o->priority && realtime->policy != REALTIME_FIFO && realtime->policy != REALTIME_RR)
		return error_input(err,
				   "--rt-priority %.32s: only --policy fifo and rr have a "
				   "priority; leave it out, or use one of them",
				   o->priority);
	if (o->cpu && !strcmp(o->cpu, "any"))
		realtime->cpu = REALTIME_CPU_NONE;
	else if (o->cpu && realtime_parse_cpu("--cpu", o->cpu, &realtime->cpu, err))
		return -1;
	else if (!o->cpu)
		realtime->cpu = realtime_choose_cpu();
	if (realtime->policy != REALTIME_DEADLINE)
		return 0;
	if (o->cpu && realtime->cpu >= 0)
		return error_input(err,
				   "--cpu %.32s: a SCHED_DEADLINE thread cannot be pinned to a CPU "
				   "(sched_setattr(2)); use a cpuset, or --policy fifo",
				   o->cpu);
	if (o->blame || o->tracer)
		return error_input(err,
				   "%s looks at one CPU, and a SCHED_DEADLINE thread cannot be "
				   "pinned to one; use --policy fifo",
				   o->blame ? "--blame" : "--tracer");
	realtime->cpu = REALTIME_CPU_NONE;
	return 0;
}

static int convert(const struct options *o, struct latency_request *request, struct error *err)
{
	struct latency_settings *s = &request->settings;
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
				   366LL * 86400 * NSEC_PER_SEC, &request->duration_ns, err))
			return -1;
		s->cycles = (uint64_t)(request->duration_ns / s->cycle_ns);
	}
	if (timer < 0)
		return error_input(
			err, "--timer '%.64s': unknown; use nanosleep, timerfd, epoll or spin",
			o->timer);
	s->timer = (enum latency_timer)timer;
	s->realtime.cycle_ns = s->cycle_ns;
	if (convert_realtime(o, &s->realtime, err) < 0)
		return -1;
	if (o->deadline &&
	    parse_duration("--deadline", o->deadline, 1, CYCLE_MAX_NS, &request->deadline_ns, err))
		return -1;
	if (o->sla && parse_percent("--sla", o->sla, &request->sla, err))
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
		request->tracer = (enum tracer_kind)kind;
	}
	if ((o->blame_over && parse_duration("--blame-over", o->blame_over, 1, CYCLE_MAX_NS,
					     &request->blame_over_ns, err)) ||
	    (o->stop_over && parse_duration("--stop-over", o->stop_over, 1, CYCLE_MAX_NS,
					    &request->stop_over_ns, err)))
		return -1;
	if (o->json && o->csv && !strcmp(o->csv, "-"))
		return error_input(err, "--json and --csv - both go to stdout: name a file");
	if (o->csv && !strcmp(o->csv, "-") &&
	    (o->blame || o->tracer || o->histogram || o->baseline))
		return error_input(err, "--csv - leaves no place for what %s prints: name a file",
				   o->blame       ? "--blame"
				   : o->tracer    ? "--tracer"
				   : o->histogram ? "--histogram"
						  : "--baseline");
	/* long enough to settle, and for the load to get under way */
	s->start_delay_ns = o->load ? 500 * NSEC_PER_MSEC : 100 * NSEC_PER_MSEC;
	request->blame = o->blame;
	request->json = o->json;
	request->quiet = o->quiet;
	request->histogram = o->histogram;
	request->tracing = o->tracer;
	request->load = o->load;
	request->log = o->log;
	request->csv = o->csv;
	request->baseline = o->baseline;
	return 0;
}

int latency_options_parse(int argc, char **argv, struct latency_request *request, struct error *err)
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
	struct options options = { .cycle = "1ms", .policy = "fifo", .timer = "nanosleep" };

	if (arguments_parse(&argp, argc, argv, &options, err))
		return -1;
	return convert(&options, request, err);
}

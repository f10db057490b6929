// SPDX-License-Identifier: GPL-2.0-only
#include "cli/sync.h"

#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/signals.h"
#include "base/units.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "ptp/steering.h"
#include "ptp/sync_text.h"

enum {
	OPT_SOCKET = 256,
	OPT_DOMAIN,
	OPT_TRANSPORT_SPECIFIC,
	OPT_TIMEOUT,
	OPT_ROLE,
	OPT_WATCH,
	OPT_DURATION,
	OPT_WAIT,
	OPT_SETTLE,
	OPT_LOG,
	OPT_SET_TAI,
	OPT_PRINT_SETUP,
	OPT_START,
	OPT_PROFILE,
	OPT_PROC,
	OPT_PTP4L,
	OPT_PHC2SYS,
};

static const struct argp_option options[] = {
	{ "iface", 'i', "NAME", 0, "the interface whose clock matters (the one ptp4l runs on)", 0 },
	{ "limit", 'l', "TIME", 0,
	  "how far clocks may be apart (1us; 100us with software time stamps)", 0 },
	{ "role", OPT_ROLE, "ROLE", 0,
	  "slave or master: what the port must be (any); for setup too", 0 },
	{ "json", 'j', NULL, 0, "one JSON document", 0 },
	{ NULL, 0, NULL, 0, "Over time:", 1 },
	{ "watch", OPT_WATCH, NULL, 0, "a line each second until Ctrl-C", 1 },
	{ "duration", 'd', "TIME", 0, "end --watch after this time", 1 },
	{ "wait", OPT_WAIT, "TIME", 0, "wait until it is good, at most this long", 1 },
	{ "settle", OPT_SETTLE, "N", 0, "good seconds in a row that end --wait (3)", 1 },
	{ "log", OPT_LOG, "FILE", 0, "write the offsets of each second, for `tsnpub report`", 1 },
	{ NULL, 0, NULL, 0, "Reaching ptp4l:", 2 },
	{ "socket", OPT_SOCKET, "PATH", 0, "ptp4l's uds_address (the usual paths are tried)", 2 },
	{ "domain", OPT_DOMAIN, "N", 0, "domainNumber (all are tried)", 2 },
	{ "transport-specific", OPT_TRANSPORT_SPECIFIC, "N", 0,
	  "0: IEEE 1588, 1: gPTP (both are tried)", 2 },
	{ "timeout", OPT_TIMEOUT, "TIME", 0, "how long to wait for one answer (500ms)", 2 },
	{ NULL, 0, NULL, 0, "Setting up:", 3 },
	{ "set-tai-offset", OPT_SET_TAI, "SECONDS", OPTION_ARG_OPTIONAL,
	  "set the kernel's TAI offset to ptp4l's, or to SECONDS", 3 },
	{ "print-setup", OPT_PRINT_SETUP, NULL, 0,
	  "print the ptp4l and phc2sys set-up that fits the interface", 3 },
	{ "start", OPT_START, NULL, 0, "run both until Ctrl-C", 3 },
	{ "profile", OPT_PROFILE, "NAME", 0, "gptp (default) or default (IEEE 1588)", 3 },
	{ "ptp4l", OPT_PTP4L, "PROGRAM", 0, "the ptp4l to run (from PATH)", 3 },
	{ "phc2sys", OPT_PHC2SYS, "PROGRAM", 0, "the phc2sys to run (from PATH)", 3 },
	{ "proc", OPT_PROC, "DIRECTORY", OPTION_HIDDEN, NULL, 4 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

#define SETTLE 3 /* good seconds in a row, if not given */

struct parse {
	struct sync_options *o;
	struct error err;
};

static int parse_choice(const char *what, const char *text, const char *first, const char *second,
			bool *is_second, struct error *err)
{
	if (strcmp(text, first) && strcmp(text, second))
		return error_input(err, "%s: '%.32s' is neither %s nor %s", what, text, first,
				   second);
	*is_second = !strcmp(text, second);
	return 0;
}

static int parse_one(int key, const char *arg, struct sync_options *o, struct error *err)
{
	uint64_t number;
	bool flag = false;

	switch (key) {
	case 'i':
		o->source.iface = arg;
		return 0;
	case 'l':
		return parse_duration("--limit", arg, 1, 10 * NSEC_PER_SEC, &o->bars.limit_ns, err);
	case 'j':
		o->json = true;
		return 0;
	case 'd':
		return parse_duration("--duration", arg, NSEC_PER_SEC, 366LL * 86400 * NSEC_PER_SEC,
				      &o->duration_ns, err);
	case OPT_ROLE:
		if (parse_choice("--role", arg, "slave", "master", &flag, err))
			return -1;
		o->bars.role = flag ? SYNC_ROLE_MASTER : SYNC_ROLE_SLAVE;
		return 0;
	case OPT_WATCH:
		o->watch = true;
		return 0;
	case OPT_WAIT:
		return parse_duration("--wait", arg, NSEC_PER_SEC, 86400 * NSEC_PER_SEC,
				      &o->wait_ns, err);
	case OPT_SETTLE:
		if (parse_number("--settle", arg, 1, 3600, &number, err))
			return -1;
		o->settle = (int)number;
		return 0;
	case OPT_LOG:
		o->log = arg;
		return 0;
	case OPT_SOCKET:
		if (strlen(arg) >= PTP4L_SOCKET_SIZE)
			return error_input(err,
					   "--socket: a socket's path has at most %d characters",
					   PTP4L_SOCKET_SIZE - 1);
		o->source.ptp4l.socket = arg;
		return 0;
	case OPT_DOMAIN:
		if (parse_number("--domain", arg, 0, 255, &number, err))
			return -1;
		o->source.ptp4l.domain = (int)number;
		return 0;
	case OPT_TRANSPORT_SPECIFIC:
		if (parse_number("--transport-specific", arg, 0, 1, &number, err))
			return -1;
		o->source.ptp4l.transport_specific = (int)number;
		return 0;
	case OPT_TIMEOUT:
		return parse_duration("--timeout", arg, NSEC_PER_MSEC, 60 * NSEC_PER_SEC,
				      &o->source.ptp4l.timeout_ns, err);
	case OPT_SET_TAI:
		o->set_tai = true;
		o->tai_given = arg != NULL;
		if (!arg)
			return 0;
		/* 10 s in 1972, 37 s since 2017; a leap second moves it by one */
		if (parse_number("--set-tai-offset", arg, 0, 100, &number, err))
			return -1;
		o->tai_offset = (int)number;
		return 0;
	case OPT_PRINT_SETUP:
		o->print_setup = true;
		return 0;
	case OPT_START:
		o->start = true;
		return 0;
	case OPT_PROFILE:
		if (parse_choice("--profile", arg, "default", "gptp", &flag, err))
			return -1;
		o->gptp = flag;
		return 0;
	case OPT_PTP4L:
		o->ptp4l = arg;
		return 0;
	case OPT_PHC2SYS:
		o->phc2sys = arg;
		return 0;
	case OPT_PROC:
		o->source.proc = arg;
		return 0;
	case ARGP_KEY_ARG:
		return error_input(err, "'%.64s': tsnpub sync takes no argument", arg);
	}
	return 1;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct parse *parse = state->input;
	int rc = parse_one(key, arg, parse->o, &parse->err);

	return rc < 0 ? EINVAL : rc ? ARGP_ERR_UNKNOWN : 0;
}

static int check_options(const struct sync_options *o, struct error *err)
{
	if ((o->print_setup || o->start) && !o->source.iface)
		return error_input(err, "%s needs --iface NAME: which interface is to be set up?",
				   o->start ? "--start" : "--print-setup");
	if (o->duration_ns && !o->watch && !o->log && !o->start)
		return error_input(
			err,
			"--duration is the length of --watch, --log or --start: give one of them");
	if (o->settle && !o->wait_ns)
		return error_input(err, "--settle goes with --wait");
	if (o->set_tai && (o->watch || o->wait_ns || o->log))
		return error_input(
			err, "--set-tai-offset is done at once: run --watch, --wait and --log "
			     "after it");
	if (o->json && (o->print_setup || o->start || o->set_tai))
		return error_input(err, "--json is the verdict's: not with --print-setup, --start "
					"or --set-tai-offset");
	if (o->print_setup && (o->watch || o->wait_ns || o->log || o->set_tai || o->start))
		return error_input(err,
				   "--print-setup only prints: it goes with --iface, --role and "
				   "--profile");
	return 0;
}

static volatile sig_atomic_t interrupted;

static void on_signal(int signal)
{
	interrupted = signal;
}

void sync_catch_signals(void)
{
	signals_catch(on_signal);
}

bool sync_interrupted(void)
{
	return interrupted;
}

void sync_sleep_until(int64_t deadline_ns)
{
	struct timespec ts = ns_to_timespec(deadline_ns);

	if (!interrupted)
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

int sync_exit_status(enum sync_verdict verdict)
{
	return verdict == SYNC_VERDICT_GOOD       ? STATUS_GOOD
	       : verdict == SYNC_VERDICT_NOT_GOOD ? STATUS_BAR_MISSED
						  : STATUS_SYSTEM;
}

static int set_tai_offset(struct sync_source *source, const struct sync_options *o,
			  struct error *err)
{
	static struct sync_snapshot snapshot;
	struct kernel_clock before;
	int wanted = o->tai_offset;

	if (!o->tai_given) {
		sync_source_read(source, false, &snapshot);
		if (snapshot.ptp4l.fault != PTP4L_FINE || !snapshot.have_time_properties)
			return error_system(
				err,
				"cannot set the TAI offset from ptp4l, which does not answer "
				"(%s: %s): start it, or give the seconds: "
				"--set-tai-offset=37",
				snapshot.ptp4l.socket, ptp4l_fault_name(snapshot.ptp4l.fault));
		wanted = snapshot.time_properties.utc_offset;
		if (wanted <= 0 || wanted > 100)
			return error_system(
				err,
				"ptp4l says that TAI - UTC is %d s, which cannot be: set "
				"utc_offset on the grandmaster, or give the seconds",
				wanted);
	}
	kernel_clock_read(&before);
	if (before.known && before.tai_offset == wanted) {
		printf("kernel TAI offset: %d s already\n", wanted);
		return STATUS_GOOD;
	}
	if (kernel_clock_set_tai(wanted, err))
		return -1;
	printf("kernel TAI offset: %d s set (was %d s)%s\n", wanted, before.tai_offset,
	       o->tai_given ? ""
	       : snapshot.time_properties.utc_offset_valid
		       ? ", as ptp4l says"
		       : ", as ptp4l says (its grandmaster does not call it valid)");
	return STATUS_GOOD;
}

static int check_once(struct sync_source *source, const struct sync_options *o)
{
	static struct sync_snapshot snapshot; /* too large for comfort on a stack */
	static struct sync_report report;

	sync_source_read(source, true, &snapshot);
	sync_judge(&snapshot, &o->bars, &report);
	if (o->json) {
		json_t *document = sync_to_json(&snapshot, &report);

		json_dumpf(document, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(document);
	} else {
		sync_print_table(stdout, &snapshot, &report);
	}
	return sync_exit_status(report.verdict);
}

static int run(const struct sync_options *o, struct error *err)
{
	struct sync_source *source;
	int status;

	if (o->print_setup || o->start)
		return sync_setup(o, err);
	source = sync_source_open(&o->source, err);
	if (!source)
		return -1;
	sync_catch_signals();
	if (o->set_tai)
		status = set_tai_offset(source, o, err);
	else if (o->wait_ns)
		status = sync_wait(source, o, err);
	else if (o->watch || o->log)
		status = sync_watch(source, o, err);
	else
		status = check_once(source, o);
	if (o->wait_ns && status == STATUS_GOOD && (o->watch || o->log) && !sync_interrupted())
		status = sync_watch(source, o, err);
	sync_source_close(source);
	return status;
}

int cmd_sync(int argc, char **argv)
{
	static const struct argp argp = { options,
					  parse_option,
					  NULL,
					  "Is the clock chain good: grandmaster, ptp4l, PHC, "
					  "system clock, TAI offset? Exit status "
					  "0: good, 1: not good, 3: cannot tell.",
					  NULL,
					  NULL,
					  NULL };
	struct sync_options o = { .source = { .ptp4l = { .domain = -1, .transport_specific = -1 },
					      .frequency_ns = 250 * NSEC_PER_MSEC },
				  .gptp = true };
	struct parse parse = { &o, ERROR_INIT };
	int status;

	o.argv = argv;
	if (arguments_parse(&argp, argc, argv, &parse, &parse.err) || check_options(&o, &parse.err))
		return error_report(&parse.err);
	if (!o.settle)
		o.settle = SETTLE;
	status = run(&o, &parse.err);
	if (fflush(stdout) && status >= 0)
		status = error_errno(&parse.err, errno, "cannot write to the standard output");
	return status < 0 ? error_report(&parse.err) : status;
}

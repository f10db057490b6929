// SPDX-License-Identifier: GPL-2.0-only
/*
 * The whole main job on one machine: two network namespaces without names, a veth pair between them, the
 * receiver in one, the publisher in the other, then the joined report. The namespaces live as long as the
 * processes in them, so that of those nothing is left behind even after SIGKILL (of the logs it is).
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/tmpdir.h"
#include "base/signals.h"
#include "base/units.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "host/veth.h"

#define SENDER_IFACE "tsnpub-tx"
#define RECEIVER_IFACE "tsnpub-rx"
#define RECEIVER_START_MS 10000
#define RECEIVER_END_MS 10000

struct demo {
	const char *cycle;
	const char *duration;
	const char *keep; /* directory for the logs, or NULL: a temporary one, removed at the end */
	bool json;

	char directory[PATH_MAX];
	char tx_log[PATH_MAX + 16];
	char rx_log[PATH_MAX + 16];
	bool temporary;
	int sender_netns;
	int receiver_netns;
	int signals; /* signalfd of SIGINT, SIGTERM, SIGHUP and SIGCHLD */
	int interrupted; /* the signal that asked for the end, or 0 */
};

static const struct argp_option options[] = {
	{ "cycle", 'c', "TIME", 0, "cycle of the publisher (1ms)", 0 },
	{ "duration", 'd', "TIME", 0, "how long to publish (10s)", 0 },
	{ "keep", 'k', "DIRECTORY", 0, "keep the logs here (else they are removed)", 0 },
	{ "json", 'j', NULL, 0, "the report as one JSON document", 0 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static const struct argument_place places[] = {
	ARGUMENT_TEXT('c', struct demo, cycle),
	ARGUMENT_TEXT('d', struct demo, duration),
	ARGUMENT_TEXT('k', struct demo, keep),
	ARGUMENT_FLAG('j', struct demo, json),
	ARGUMENT_END,
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	return arguments_store_options(places, state, key, arg);
}

static int check_options(struct demo *demo, struct error *err)
{
	int64_t cycle, duration;

	if (parse_duration("--cycle", demo->cycle, 31250, 10 * NSEC_PER_SEC, &cycle, err) ||
	    parse_duration("--duration", demo->duration, NSEC_PER_MSEC, 24 * 3600 * NSEC_PER_SEC,
			   &duration, err))
		return -1;
	if (duration < cycle)
		return error_input(
			err, "--duration %s is shorter than --cycle %s: no frame would be sent",
			demo->duration, demo->cycle);
	return 0;
}

static int make_kept(const char *path, struct error *err)
{
	struct stat st;

	if (!mkdir(path, 0777))
		return 0;
	if (errno != EEXIST)
		return error_file(err, errno, path, "--keep %s: cannot make the directory", path);
	if (stat(path, &st) || !S_ISDIR(st.st_mode))
		return error_input(err, "--keep %s: there is a file of that name; name a directory",
				   path);
	return 0;
}

static int make_directory(struct demo *demo, struct error *err)
{
	if (demo->keep) {
		if (make_kept(demo->keep, err))
			return -1;
		snprintf(demo->directory, sizeof(demo->directory), "%s", demo->keep);
	} else {
		snprintf(demo->directory, sizeof(demo->directory), "%s/tsnpub-demo-XXXXXX",
			 temporary_directory());
		if (!mkdtemp(demo->directory))
			return error_file(err, errno, demo->directory,
					  "%s: cannot make a directory for the logs",
					  demo->directory);
		demo->temporary = true;
	}
	snprintf(demo->tx_log, sizeof(demo->tx_log), "%s/tx.tsnlog", demo->directory);
	snprintf(demo->rx_log, sizeof(demo->rx_log), "%s/rx.tsnlog", demo->directory);
	return 0;
}

static void remove_directory(struct demo *demo)
{
	if (!demo->temporary)
		return;
	unlink(demo->tx_log);
	unlink(demo->rx_log);
	rmdir(demo->directory);
}

/* Starts this program again with other arguments, in the namespace. Returns the process, or -1. */
static pid_t start(const char *const *arguments, int netns, bool silent, struct error *err)
{
	pid_t parent = getpid(), pid = fork();
	struct error child_err = ERROR_INIT;
	sigset_t none;

	if (pid < 0)
		return error_errno(err, errno, "fork");
	if (pid)
		return pid;
	/* it must not outlive this process, however that ends; its own group keeps the terminal's Ctrl-C away */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(STATUS_SYSTEM);
	setpgid(0, 0);
	signal(SIGTTOU, SIG_IGN); /* it still writes to that terminal */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* the joined report says it all; messages still reach stderr */
	if (silent && !freopen("/dev/null", "w", stdout))
		_exit(STATUS_SYSTEM);
	if (netns >= 0 && netns_enter(netns, &child_err))
		_exit(error_report(&child_err));
	execv("/proc/self/exe", (char *const *)arguments);
	error_errno(&child_err, errno, "cannot start %s", arguments[0]);
	_exit(error_report(&child_err));
}

static int status_of(int wait_status)
{
	return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : STATUS_SYSTEM;
}

/*
 * Waits until the process ends, handing on SIGINT and SIGTERM to it. `limit_ms` < 0: as long as it takes;
 * else it is asked to end after that time. Returns its exit status.
 */
static int await(struct demo *demo, pid_t pid, int limit_ms)
{
	struct pollfd poll_fd = { .fd = demo->signals, .events = POLLIN };
	int status;

	for (;;) {
		struct signalfd_siginfo info;
		pid_t ended = waitpid(pid, &status, WNOHANG);

		if (ended == pid)
			return status_of(status);
		if (ended < 0)
			return STATUS_SYSTEM;
		if (poll(&poll_fd, 1, limit_ms) == 0) {
			kill(pid, SIGTERM);
			limit_ms = -1;
			continue;
		}
		if (read(demo->signals, &info, sizeof(info)) != sizeof(info) ||
		    info.ssi_signo == SIGCHLD)
			continue;
		demo->interrupted = (int)info.ssi_signo;
		kill(pid, SIGTERM);
	}
}

/* The receiver writes to a pipe once it listens; the publisher must not start before. */
static int await_receiver(struct demo *demo, pid_t receiver, int ready, struct error *err)
{
	struct pollfd fds[2] = {
		{ .fd = ready, .events = POLLIN },
		{ .fd = demo->signals, .events = POLLIN },
	};
	char byte;

	for (;;) {
		struct signalfd_siginfo info;
		int status;

		if (poll(fds, 2, RECEIVER_START_MS) == 0)
			return error_system(err, "the receiver did not start within 10 s");
		if (fds[0].revents) {
			if (read(ready, &byte, 1) == 1)
				return 0;
			waitpid(receiver, &status, 0);
			return error_system(err,
					    "the receiver ended at once; its message stands above");
		}
		if (fds[1].revents && read(demo->signals, &info, sizeof(info)) == sizeof(info) &&
		    info.ssi_signo != SIGCHLD) {
			demo->interrupted = (int)info.ssi_signo;
			return error_system(err, "interrupted before anything was sent");
		}
	}
}

static int run(struct demo *demo, struct error *err)
{
	char ready_fd[16];
	const char *const receive[] = { "tsnpub", "receive",    "--iface", RECEIVER_IFACE,
					"--log",  demo->rx_log, "--quiet", "--ready-fd",
					ready_fd, NULL };
	/* not quiet: its live line, on stderr, is what there is to see until the report */
	const char *const publish[] = { "tsnpub",     "--iface",    SENDER_IFACE,   "--cycle",
					demo->cycle,  "--duration", demo->duration, "--log",
					demo->tx_log, NULL };
	const char *report[] = { "tsnpub", "report", demo->rx_log, demo->tx_log, NULL, NULL };
	int ready[2], status, publisher_status, receiver_status;
	pid_t receiver, publisher;

	if (pipe(ready))
		return error_errno(err, errno, "pipe");
	fcntl(ready[0], F_SETFD, FD_CLOEXEC);
	snprintf(ready_fd, sizeof(ready_fd), "%d", ready[1]);
	fprintf(stderr,
		"tsnpub demo: %s of frames each %s over a veth pair between two network "
		"namespaces\n",
		demo->duration, demo->cycle);
	receiver = start(receive, demo->receiver_netns, true, err);
	close(ready[1]);
	if (receiver < 0)
		return -1;
	if (await_receiver(demo, receiver, ready[0], err)) {
		kill(receiver, SIGTERM);
		await(demo, receiver, -1);
		close(ready[0]);
		return -1;
	}
	publisher = start(publish, demo->sender_netns, true, err);
	if (publisher < 0) {
		kill(receiver, SIGTERM);
		await(demo, receiver, -1);
		return -1;
	}
	publisher_status = await(demo, publisher, -1);
	/* it ends by itself after the last frame; if that was lost it is asked to */
	if (publisher_status >= STATUS_INPUT)
		kill(receiver, SIGTERM);
	receiver_status = await(demo, receiver, RECEIVER_END_MS);
	close(ready[0]);
	if (publisher_status >= STATUS_INPUT)
		return error_system(err,
				    "the publisher failed with status %d; its message stands above",
				    publisher_status);
	if (receiver_status >= STATUS_INPUT)
		return error_system(err,
				    "the receiver failed with status %d; its message stands above",
				    receiver_status);
	if (demo->json)
		report[4] = "--json";
	publisher = start(report, -1, false, err);
	if (publisher < 0)
		return -1;
	status = await(demo, publisher, -1);
	if (status >= STATUS_INPUT)
		return error_system(
			err, "the report failed with status %d; its message stands above", status);
	if (demo->keep)
		fprintf(stderr, "tsnpub demo: logs kept: %s %s\n", demo->rx_log, demo->tx_log);
	return status;
}

int cmd_demo(int argc, char **argv)
{
	static const struct argp argp = {
		options,
		parse_option,
		NULL,
		"Publishes and receives on a veth pair between two network "
		"namespaces of its own, then reports. Needs root.",
		NULL,
		NULL,
		NULL
	};
	struct demo demo = { .cycle = "1ms",
			     .duration = "10s",
			     .sender_netns = -1,
			     .receiver_netns = -1,
			     .signals = -1 };
	struct error err = ERROR_INIT;
	int result = -1;
	sigset_t set;

	if (arguments_parse(&argp, argc, argv, &demo, &err))
		return error_report(&err);
	signals_that_end(&set);
	sigaddset(&set, SIGCHLD);
	if (check_options(&demo, &err))
		return error_report(&err);
	if (sigprocmask(SIG_BLOCK, &set, NULL)) {
		error_errno(&err, errno, "sigprocmask");
		return error_report(&err);
	}
	demo.signals = signalfd(-1, &set, SFD_CLOEXEC);
	if (demo.signals < 0) {
		error_errno(&err, errno, "signalfd");
		return error_report(&err);
	}
	demo.sender_netns = netns_create(&err);
	if (demo.sender_netns < 0)
		goto out;
	demo.receiver_netns = netns_create(&err);
	if (demo.receiver_netns < 0 || make_directory(&demo, &err))
		goto out;
	if (!veth_create(SENDER_IFACE, demo.sender_netns, RECEIVER_IFACE, demo.receiver_netns,
			 &err))
		result = run(&demo, &err);
	remove_directory(&demo);
out:
	if (demo.sender_netns >= 0)
		close(demo.sender_netns);
	if (demo.receiver_netns >= 0)
		close(demo.receiver_netns);
	close(demo.signals);
	if (result < 0)
		result = error_report(&err);
	return demo.interrupted ? 128 + demo.interrupted : result;
}

// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/command.h"
#include "report/output.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{ "publish", cmd_publish, "send cyclic frames with launch times (the default command)" },
	{ "receive", cmd_receive, "receive them in XDP: live jitter, log" },
	{ "schedule", cmd_schedule, "plan, apply, show, check or clear taprio, mqprio and etf" },
	{ "sync", cmd_sync, "is the clock chain good? ptp4l, PHC, system clock, TAI offset" },
	{ "doctor", cmd_doctor, "what on this machine spoils determinism, and the fix" },
	{ "latency", cmd_latency, "wake-up latency, and who caused the worst ones" },
	{ "report", cmd_report, "join logs into figures: text, JSON, CSV, HTML, pcapng" },
	{ "demo", cmd_demo, "publish and receive on a veth pair between two network namespaces" },
};

static void help(FILE *out)
{
	fputs("Usage: tsnpub [COMMAND] OPTIONS\n"
	      "       tsnpub --iface enp1s0 --cycle 250us\n\n"
	      "Cyclic raw Ethernet with launch times: publish, receive, explain the jitter.\n\n"
	      "Commands:\n",
	      out);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
	fputs("\n`tsnpub COMMAND --help` lists the options of a command; `man tsnpub` tells "
	      "more.\n",
	      out);
}

/* A full disk must not look like success. */
static int printed(void)
{
	struct error err = ERROR_INIT;

	return output_stdout_done(&err) ? error_report(&err) : STATUS_GOOD;
}

/*
 * Where one of the three was closed, the next file or socket would take its number, and text meant for it would go
 * there. What is opened here refuses the text, so that it is missed.
 */
static void keep_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			_exit(STATUS_SYSTEM);
}

/* `tsnpub help COMMAND` is `tsnpub COMMAND --help`. */
static void turn_help_round(int argc, char **argv)
{
	static char option[] = "--help";

	if (argc < 3 || strcmp(argv[1], "help"))
		return;
	memmove(&argv[1], &argv[2], (size_t)(argc - 2) * sizeof(*argv));
	argv[argc - 1] = option;
}

int main(int argc, char **argv)
{
	const char *name;

	turn_help_round(argc, argv);
	name = argc > 1 ? argv[1] : "";
	keep_standard_descriptors();
	/* a file beyond `ulimit -f` is an error like a full disk, and not an end with nothing put back */
	signal(SIGXFSZ, SIG_IGN);
	/* fixed, so that large buffers go back to the system when freed: the real-time commands lock the rest */
	mallopt(M_MMAP_THRESHOLD, 128 * 1024);
	if (argc < 2) {
		help(stderr);
		return STATUS_INPUT;
	}
	if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "-?") ||
	    !strcmp(name, "help")) {
		help(stdout);
		return printed();
	}
	if (!strcmp(name, "--version") || !strcmp(name, "-V")) {
		puts("tsnpub " TSNPUB_VERSION);
		return printed();
	}
	if (name[0] == '-') {
		static char publish[] = "tsnpub publish";

		/* argp prints argv[0] in usage and errors */
		argv[0] = publish;
		return cmd_publish(argc, argv);
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		static char full_name[64];

		if (strcmp(name, commands[i].name))
			continue;
		/* argp prints argv[0] in usage and errors */
		snprintf(full_name, sizeof(full_name), "tsnpub %s", commands[i].name);
		argv[1] = full_name;
		return commands[i].run(argc - 1, argv + 1);
	}

	struct error err = ERROR_INIT;

	error_input(&err, "unknown command '%.64s'; `tsnpub --help` lists them", name);
	return error_report(&err);
}

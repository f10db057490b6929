// SPDX-License-Identifier: GPL-2.0-only
#include "ptp/steering.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <unistd.h>

#include "base/units.h"

#define PROCESSES_MAX 100000 /* looked at */
#define CMDLINE_MAX 4096
#define CAP_SYS_TIME_BIT 25

void kernel_clock_read(struct kernel_clock *clock)
{
	struct timex timex = { .modes = 0 };

	memset(clock, 0, sizeof(*clock));
	if (adjtimex(&timex) < 0)
		return;
	clock->known = true;
	clock->status = timex.status;
	clock->unsynced = timex.status & STA_UNSYNC;
	clock->max_error_ns = timex.maxerror * NSEC_PER_USEC;
	clock->est_error_ns = timex.esterror * NSEC_PER_USEC;
	/* 2^-16 ppm */
	clock->frequency_ppb = timex.freq * 1000LL / 65536;
	clock->tai_offset = timex.tai;
}

int kernel_clock_set_tai(int offset_s, struct error *err)
{
	struct timex timex = { .modes = ADJ_TAI, .constant = offset_s };
	struct kernel_clock after;

	if (adjtimex(&timex) < 0)
		return error_errno(err, errno, "cannot set the kernel's TAI offset to %d s%s",
				   offset_s,
				   errno == EPERM ? ": CAP_SYS_TIME is missing, run as root" : "");
	kernel_clock_read(&after);
	if (!after.known || after.tai_offset != offset_s)
		return error_system(err,
				    "the kernel took a TAI offset of %d s, but reads back %d s",
				    offset_s, after.tai_offset);
	return 0;
}

/* Which options of each program take a value (its getopt string's letters before ':'). */
#define PHC2SYS_VALUES "cdfsEPISFRNOLMiunzlt"
#define PTP4L_VALUES "fipl"
#define CHRONYD_VALUES "fFlLPtu"

/*
 * Does the command line hold the option `letter`, alone or in a cluster of short ones? `value` (may be
 * NULL) is then what follows it. As getopt reads it: values are no options.
 */
static bool has_option(const char *cmdline, int size, const char *with_value, char letter,
		       const char **value)
{
	int at = (int)strnlen(cmdline, (size_t)size) + 1;

	while (at < size) {
		const char *argument = cmdline + at;
		int length = (int)strnlen(argument, (size_t)(size - at));

		at += length + 1;
		if (length < 2 || argument[0] != '-' || argument[1] == '-')
			continue;
		for (int i = 1; i < length; i++) {
			bool takes_value = strchr(with_value, argument[i]);
			bool separate = takes_value && i + 1 == length;

			if (argument[i] == letter) {
				if (value)
					*value = !separate   ? argument + i + 1
						 : at < size ? cmdline + at
							     : "";
				return true;
			}
			if (separate)
				at += (int)strnlen(cmdline + at,
						   at < size ? (size_t)(size - at) : 0) +
				      1;
			if (takes_value)
				break;
		}
	}
	return false;
}

/*
 * phc2sys: -a -r steers the system clock too; -c names the clock that is steered (CLOCK_REALTIME when only
 * -s is given).
 */
static void read_phc2sys(const char *cmdline, int size, struct steerer *steerer)
{
	const char *slave = NULL;

	if (has_option(cmdline, size, PHC2SYS_VALUES, 'a', NULL)) {
		steerer->phc = true;
		steerer->system_clock = has_option(cmdline, size, PHC2SYS_VALUES, 'r', NULL);
		return;
	}
	if (has_option(cmdline, size, PHC2SYS_VALUES, 'c', &slave) &&
	    strcmp(slave, "CLOCK_REALTIME")) {
		steerer->phc = true;
		return;
	}
	steerer->system_clock = has_option(cmdline, size, PHC2SYS_VALUES, 's', NULL) || slave ||
				has_option(cmdline, size, PHC2SYS_VALUES, 'd', NULL) ||
				has_option(cmdline, size, PHC2SYS_VALUES, 'f', NULL);
}

static bool is_loader(const char *comm)
{
	return !strncmp(comm, "ld-linux", 8) || !strncmp(comm, "ld-musl", 7);
}

/*
 * A program that brings its own libc is run by that one's loader: its name is then among the loader's arguments.
 * Returns the first known one, or "".
 */
static const char *behind_loader(const char *cmdline, int size)
{
	static const char *const known[] = { "chronyd", "ntpd", "phc2sys", "ts2phc", "ptp4l" };

	for (int at = 0; at < size; at += (int)strnlen(cmdline + at, (size_t)(size - at)) + 1) {
		const char *slash = strrchr(cmdline + at, '/');
		const char *name = slash ? slash + 1 : cmdline + at;

		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			if (!strcmp(name, known[i]))
				return known[i];
	}
	return "";
}

bool steerer_recognise(const char *comm, const char *cmdline, int size, uint64_t capabilities,
		       struct steerer *steerer)
{
	static const struct {
		const char *comm; /* the kernel cuts it at 15 characters */
		enum steerer_kind kind;
	} names[] = {
		{ "chronyd", STEERER_NTP },   { "systemd-timesyn", STEERER_NTP },
		{ "ntpd", STEERER_NTP },      { "openntpd", STEERER_NTP },
		{ "ntpsec", STEERER_NTP },    { "phc2sys", STEERER_PHC2SYS },
		{ "ts2phc", STEERER_TS2PHC }, { "ptp4l", STEERER_PTP4L },
	};

	if (is_loader(comm))
		comm = behind_loader(cmdline, size);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(comm, names[i].comm))
			continue;
		memset(steerer, 0, sizeof(*steerer));
		steerer->kind = names[i].kind;
		snprintf(steerer->name, sizeof(steerer->name), "%s",
			 !strcmp(comm, "systemd-timesyn") ? "systemd-timesyncd" : comm);
		steerer->privileged = capabilities >> CAP_SYS_TIME_BIT & 1;
		switch (steerer->kind) {
		case STEERER_NTP: /* chronyd -x only watches */
			steerer->system_clock =
				steerer->privileged &&
				!(!strcmp(comm, "chronyd") &&
				  has_option(cmdline, size, CHRONYD_VALUES, 'x', NULL));
			break;
		case STEERER_PHC2SYS:
			read_phc2sys(cmdline, size, steerer);
			break;
		case STEERER_TS2PHC:
			steerer->phc = true;
			break;
		case STEERER_PTP4L: /* with software stamps it steers the system clock itself */
			steerer->system_clock = has_option(cmdline, size, PTP4L_VALUES, 'S', NULL);
			steerer->phc = !steerer->system_clock;
			break;
		}
		return true;
	}
	return false;
}

/* Reads up to `size` - 1 bytes of PROC/PID/NAME; NUL-terminated. Returns the length, -1 on failure. */
static int read_file(int proc, const char *pid, const char *name, char *buffer, int size)
{
	char path[64];
	int length = 0;
	int fd;

	snprintf(path, sizeof(path), "%.16s/%s", pid, name);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -1;
	while (length < size - 1) {
		ssize_t n = read(fd, buffer + length, (size_t)(size - 1 - length));

		if (n <= 0)
			break;
		length += (int)n;
	}
	close(fd);
	buffer[length] = '\0';
	return length;
}

static uint64_t effective_capabilities(int proc, const char *pid)
{
	char status[CMDLINE_MAX];
	const char *line;

	if (read_file(proc, pid, "status", status, sizeof(status)) < 0)
		return 0;
	line = strstr(status, "\nCapEff:");
	return line ? strtoull(line + 8, NULL, 16) : 0;
}

void steering_read(const char *proc, struct steering *steering)
{
	DIR *directory = opendir(proc);
	const struct dirent *entry;
	bool see_init = false;
	int looked_at = 0;

	memset(steering, 0, sizeof(*steering));
	if (!directory)
		return;
	steering->known = true;
	while ((entry = readdir(directory))) {
		char comm[32], cmdline[CMDLINE_MAX];
		struct steerer found;
		int size;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		if (++looked_at > PROCESSES_MAX) {
			steering->partial = true;
			break;
		}
		if (read_file(dirfd(directory), entry->d_name, "comm", comm, sizeof(comm)) < 0)
			continue;
		see_init |= !strcmp(entry->d_name, "1");
		comm[strcspn(comm, "\n")] = '\0';
		/* the cheap test first: most processes are none of ours */
		if (!is_loader(comm) && !steerer_recognise(comm, "", 0, 0, &found))
			continue;
		size = read_file(dirfd(directory), entry->d_name, "cmdline", cmdline,
				 sizeof(cmdline));
		if (!steerer_recognise(comm, cmdline, size > 0 ? size : 0,
				       effective_capabilities(dirfd(directory), entry->d_name),
				       &found))
			continue;
		found.pid = (int)strtol(entry->d_name, NULL, 10);
		if (steering->count == STEERERS_MAX) {
			steering->partial = true;
			break;
		}
		steering->steerer[steering->count++] = found;
	}
	/* hidepid=: other users' processes are not shown, process 1 among them */
	steering->partial |= !see_init;
	closedir(directory);
}

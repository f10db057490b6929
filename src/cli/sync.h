/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of `tsnpub sync` share. */
#ifndef CLI_SYNC_H
#define CLI_SYNC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "ptp/snapshot.h"
#include "ptp/sync.h"

struct sync_options {
	struct sync_source_config source;
	struct sync_bars bars;
	bool json;
	bool watch;
	int64_t duration_ns; /* of --watch; 0: until a signal */
	int64_t wait_ns; /* 0: do not wait */
	int settle; /* good seconds in a row that --wait asks for */
	const char *log;
	bool set_tai; /* --set-tai-offset */
	bool tai_given;
	int tai_offset; /* s, when given */
	bool print_setup, start;
	const char *ptp4l, *phc2sys; /* programs; NULL: from PATH */
	bool gptp; /* --profile gptp (the default) or default */
	char **argv; /* for the log's header */
};

/* Installs handlers that end the waits below on SIGINT, SIGTERM and SIGHUP. */
void sync_catch_signals(void);
bool sync_interrupted(void);

/* Sleeps until CLOCK_MONOTONIC `deadline_ns`, or a signal. */
void sync_sleep_until(int64_t deadline_ns);

/* The exit status of a verdict. */
int sync_exit_status(enum sync_verdict verdict);

/* --wait, --watch and --log: see the man page. Return the exit status, or -1 with the error. */
int sync_wait(struct sync_source *source, const struct sync_options *options, struct error *err);
int sync_watch(struct sync_source *source, const struct sync_options *options, struct error *err);

/* --print-setup and --start. */
int sync_setup(const struct sync_options *options, struct error *err);

#endif

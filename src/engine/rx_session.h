/* SPDX-License-Identifier: GPL-2.0-only */
/* One `tsnpub receive`, from the first frame to the summary. */
#ifndef ENGINE_RX_SESSION_H
#define ENGINE_RX_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "engine/receiver.h"
#include "engine/sync_guard.h"

struct rx_session_options {
	struct receiver_options receiver;
	char *const *argv; /* for the log's description */
	const char *log_path; /* NULL: no log */
	uint64_t count; /* frames; 0: no limit */
	int64_t duration_ns; /* 0: no limit */
	int64_t deadline_ns; /* 0: none */
	struct sync_guard_options sync; /* a pause marks, as a warning does */
	double sla; /* fraction of the expected frames that must arrive in time; 0: none */
	bool blame; /* find out who made late frames late */
	int64_t blame_over_ns; /* beyond the median; 0: the P99.9 so far */
	bool stay; /* go on after the last frame of all streams */
	bool quiet; /* no live line, no notes */
	bool json;
	int ready_fd; /* a byte is written here once frames are being taken; -1: none */
};

/*
 * Runs until the end, prints the summary on stdout. Returns the exit status, or -1 with the error
 * filled in. Blocks SIGINT, SIGTERM and SIGHUP, which end the run, and gives capabilities up.
 */
int rx_session_run(const struct rx_session_options *options, struct error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line of `tsnpub latency`, checked and converted. */
#ifndef CLI_LATENCY_OPTIONS_H
#define CLI_LATENCY_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "engine/latency.h"
#include "host/tracer.h"

/* What is asked for. The strings are argv's. */
struct latency_request {
	struct latency_settings settings;
	int64_t duration_ns, deadline_ns; /* 0: none */
	double sla; /* share that must be in time; 0: all */
	int64_t blame_over_ns; /* 0: follow the measured P99.9 */
	int64_t stop_over_ns; /* 0: never */
	bool blame, json, quiet, histogram, tracing;
	enum tracer_kind tracer; /* with `tracing` */
	const char *load, *log, *csv, *baseline; /* NULL: not asked for */
};

/* Fills `request` in. Returns 0, or -1 with the error (status 2). --help and --version print and exit. */
int latency_options_parse(int argc, char **argv, struct latency_request *request,
			  struct error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What `tsnpub latency` writes of each wake-up: its log, its CSV, and the log that a comparison with --baseline
 * needs, kept or not.
 */
#ifndef CLI_LATENCY_OUTPUTS_H
#define CLI_LATENCY_OUTPUTS_H

#include <jansson.h>

#include "cli/latency_options.h"
#include "data/logfile.h"
#include "report/csv.h"
#include "report/output.h"

struct latency_outputs {
	const struct latency_request *request;
	struct log_writer *log; /* NULL: none, or closed */
	char log_path[4096];
	bool log_is_temporary;
	struct output csv_output;
	struct csv csv;
	struct error failure; /* status set: log or CSV could not be written */
};

/*
 * Opens what is asked for on a zeroed struct. A baseline that is none is refused here, before anybody waits for
 * an hour. `request` must outlive it. Returns 0, or -1 with the error; latency_outputs_free() after both.
 */
int latency_outputs_open(struct latency_outputs *outputs, const struct latency_request *request,
			 char **argv, struct error *err);

/* Writes one. A failure is noted in outputs->failure, and the rest is left out. */
void latency_outputs_add(struct latency_outputs *outputs, const struct wake_record *record);
void latency_outputs_flush(struct latency_outputs *outputs); /* now and then */

/* All wake-ups are written. Returns 0, or -1 with the error. */
int latency_outputs_close(struct latency_outputs *outputs, struct error *err);

/*
 * The table of before and after, where --baseline was given and outputs are closed: into `document`, or printed
 * where that is NULL. Returns 0, or -1 with the error.
 */
int latency_outputs_compare(const struct latency_outputs *outputs, json_t *document,
			    struct error *err);

/* Removes what is not complete or not to be kept. */
void latency_outputs_free(struct latency_outputs *outputs);

#endif

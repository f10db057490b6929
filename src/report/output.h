/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A result file: written without a name (where the file system cannot, under a temporary one) and moved
 * into place when it is complete, so that neither a failure nor a signal leaves anything half done. "-" is
 * stdout. A log (.tsnlog) is never overwritten.
 */
#ifndef REPORT_OUTPUT_H
#define REPORT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

struct output {
	FILE *file; /* write here; errors are found by output_commit() */
	char *path,
		*partial; /* partial: NULL when it is written directly (stdout, devices, pipes) */
	bool nameless; /* the file has no name before it is complete */
	bool is_stdout;
};

/* A log's name (.tsnlog) or contents? */
bool output_is_log(const char *path);

/* Are these two paths, either of which may be NULL, the same existing file, or the same name? "-" is no file. */
bool output_is_same(const char *a, const char *b);

/* Opens `path`; `what` names it in errors ("--csv"). Returns 0, or -1 with the error. */
int output_open(struct output *output, const char *what, const char *path, struct error *err);

/* Everything is written: moves it into place. Returns 0, or -1 with the error (then it is removed). */
int output_commit(struct output *output, struct error *err);

/* Removes what was written. Does nothing on a zeroed or committed output. */
void output_abort(struct output *output);

/* Has all that was printed to stdout really gone there? -1 with the error if not (full disk, closed pipe). */
int output_stdout_done(struct error *err);

#endif

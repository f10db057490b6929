/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs child programs until told to stop: their output is handed on line by line, one that ends is started again
 * (not too often), all end with this process, however that ends.
 */
#ifndef PTP_SUPERVISE_H
#define PTP_SUPERVISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define SUPERVISE_CHILDREN 4
#define SUPERVISE_STARTS 5 /* a child that ends so often within a minute is given up */

struct supervisor;

/* One line of a child's output, printable, without its newline; or what happened to it. */
typedef void (*supervisor_line)(void *context, const char *name, const char *text);

struct supervisor *supervisor_new(supervisor_line line, void *context); /* NULL without memory */

/*
 * Starts a program (looked up in PATH). `argv` is borrowed until supervisor_free(). Returns 0, or -1 with the
 * error (not installed, not executable).
 */
int supervisor_start(struct supervisor *supervisor, const char *const *argv, struct error *err);

/*
 * Waits up to `wait_ns` for output and ends, and deals with them. Returns 0, or -1 with the error: a child was
 * given up.
 */
int supervisor_turn(struct supervisor *supervisor, int64_t wait_ns, struct error *err);

/* Ends the children (SIGTERM; after 2 s SIGKILL), waits for them. NULL is allowed. */
void supervisor_free(struct supervisor *supervisor);

/*
 * The first line that a program prints, for its version; `text` is "" where there is none. At most 2 s. Returns
 * 0, or -1 with the error.
 */
int supervise_first_line(const char *const *argv, char *text, size_t size, struct error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's own tracers of latency (timerlat, osnoise, irqsoff, hwlat), driven through an instance of
 * tracefs of our own, so that nobody else's tracing is disturbed.
 *
 * A small process of its own keeps watch: when this one ends, however it ends, it removes the instance (which
 * stops the tracer) and puts the settings back that are not the instance's own. Where the watch was killed as well, the next
 * run removes the instance and puts the settings back (tracer_settings.h).
 */
#ifndef HOST_TRACER_H
#define HOST_TRACER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

enum tracer_kind {
	TRACER_TIMERLAT,
	TRACER_OSNOISE,
	TRACER_IRQSOFF,
	TRACER_HWLAT,
	TRACERS
};

const char *tracer_name(enum tracer_kind kind);

/*
 * Is a tracer active, in tracefs itself or in an instance of somebody's, that has settings in common with this one?
 * Those would be changed under it. `text` then receives which, and where.
 */
bool tracer_rival(enum tracer_kind kind, const char *tracefs, char *text, size_t size);
int tracer_find(const char *name); /* -1 for an unknown name */

/* What the tracer has seen so far. */
struct tracer_verdict {
	uint64_t samples;
	int64_t irq_max_ns, thread_max_ns; /* timerlat: timer to interrupt, timer to thread */
	int64_t noise_ns, runtime_ns; /* osnoise: sums */
	int64_t single_max_ns; /* osnoise: longest single noise; hwlat: longest gap */
	uint64_t hw, nmi, irq, softirq,
		thread; /* osnoise: how often each interfered; hw: nothing the kernel saw */
	int64_t irqsoff_max_ns;
	char irqsoff_from[64], irqsoff_to[64]; /* functions; "" */
};

/* Takes in one line of the trace. False where it is none of this tracer's. Pure. */
bool tracer_parse(enum tracer_kind kind, const char *line, struct tracer_verdict *verdict);

/* The end of the trace, from which those lines before the offender are shown that --stop-over is about. */
#define TRACER_LINES 512
#define TRACER_LINE 160
#define TRACER_LINES_SHOWN 24

/* CLOCK_MONOTONIC ns of a line of the trace; 0 where it has none. Pure. */
int64_t tracer_line_time(const char *line);

struct tracer {
	enum tracer_kind kind;
	char tracefs[64];
	char instance[128]; /* its directory; "" while it is not running */
	int watch_fd; /* closing it tells the watch to clean up */
	int lock_fd; /* one of us at a time */
	pid_t watch;
	int pipe_fd; /* trace_pipe */
	struct tracer_verdict verdict;
	const char *stop_name; /* setting that makes it stop by itself; NULL: none */
	char stop_value[32];
	int on_fd; /* tracing_on, once armed; else -1 */
	bool stopped; /* by itself, at its own first latency beyond `stop_over_ns` */
	int64_t until_ns; /* CLOCK_MONOTONIC of the offender; 0: the trace's end is of interest */
	char line[512];
	unsigned used; /* of `line` */
	char last[TRACER_LINES][TRACER_LINE]; /* printable; line n stands at n % TRACER_LINES */
	uint64_t lines; /* in all */
};

/*
 * Starts it on `cpu`. `stop_over_ns`: timerlat and osnoise stop by themselves at the first latency beyond it
 * (0: never), from tracer_arm() on. Before threads are started. -1 with the error where it is not to be had: no tracefs, no such
 * tracer in this kernel, busy, no permission; nothing is left behind then.
 */
int tracer_start(struct tracer *tracer, enum tracer_kind kind, int cpu, int64_t stop_over_ns,
		 struct error *err);

/* Reads what the tracer has written, without waiting. This and those below are harmless on a zeroed one. */
void tracer_collect(struct tracer *tracer);

/* The run has begun: from now on it stops at its first offender. What came before was only the start. */
void tracer_arm(struct tracer *tracer);

/*
 * Freezes the trace: what comes from now on is not written any more. `monotonic_ns` is when the offender was
 * noticed: what was written since then is none of its.
 */
void tracer_freeze(struct tracer *tracer, int64_t monotonic_ns);

/*
 * The n-th of the last lines before the offender, the oldest first; NULL from the end on. irqsoff has none: its worst case
 * is its verdict.
 */
const char *tracer_last_line(const struct tracer *tracer, unsigned n);

/* Takes the last of it, removes the instance and puts everything back. */
void tracer_stop(struct tracer *tracer);

#endif

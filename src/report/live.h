/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The line that is shown once a second while something runs: on a terminal one line that is
 * overwritten, with a progress bar and the time left where the length is known; plain lines elsewhere, and on a terminal
 * of which TERM says that it cannot overwrite (dumb).
 */
#ifndef REPORT_LIVE_H
#define REPORT_LIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "data/histogram.h"
#include "data/source.h"

struct live {
	FILE *out; /* borrowed */
	bool terminal;
	bool open; /* a line without its newline stands on the terminal */
};

struct live_counter {
	const char *name; /* "lost" */
	uint64_t value;
};

struct live_figure {
	const char *name; /* "latency" */
	enum stamp_source source;
	const struct histogram *histogram; /* of the last second; left out when empty or NULL */
};

struct live_view {
	int64_t cycle_ns; /* 0: not shown */
	int64_t elapsed_ns;
	int64_t duration_ns; /* 0: not known, or `total` tells */
	uint64_t done, total; /* frames of a counted run; total 0: not counted */
	const struct live_counter *counters;
	size_t counter_count;
	const struct live_figure *figures;
	size_t figure_count;
};

/* `out` is usually stderr, so that results alone go to stdout. */
void live_init(struct live *live, FILE *out);

/* Shows the line, where it can be written without waiting; never fails. Not for the cyclic thread. */
void live_show(struct live *live, const struct live_view *view);

/* Ends the line that stands on the terminal: before other messages, and at the end. */
void live_end(struct live *live);

/*
 * The line's text alone (tests). `width`: what does not fit is left out, the bar and the smaller figures first; 0: no
 * limit.
 */
void live_format(const struct live_view *view, bool terminal, size_t width, char *text,
		 size_t size);

#endif

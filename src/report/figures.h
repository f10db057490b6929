/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The statistics of time that exist for a stream, as one list that every output walks over: a figure
 * that is added here appears in text, JSON, CSV and HTML.
 */
#ifndef REPORT_FIGURES_H
#define REPORT_FIGURES_H

#include "data/metrics.h"

#define FIGURES_MAX 40

struct figure {
	const char *key; /* "latency" */
	const char *title; /* "latency" */
	const char *formula; /* "RX-launch" */
	char source[16]; /* "xdp", or "xdp-hw" for RX xdp less TX hw */
	const struct histogram *histogram; /* borrowed */
	int64_t shift; /* added to every value but the standard deviation: PDV is latency - min */
};

/*
 * Fills `figures` and returns how many (at most FIGURES_MAX). With `best_only` one source for each
 * kind of figure, the best, is taken.
 */
size_t figures_of_rx(const struct rx_stream *stream, bool best_only, struct figure *figures);
size_t figures_of_tx(const struct tx_stream *stream, bool best_only, struct figure *figures);
size_t figures_of_wakeups(const struct tx_metrics *metrics, struct figure *figures);
size_t figures_of_wake(const struct wake_metrics *metrics, struct figure *figures);

#endif

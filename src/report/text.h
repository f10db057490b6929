/* SPDX-License-Identifier: GPL-2.0-only */
/* Results as text: counters, then one table of all statistics with units and stamp sources. */
#ifndef REPORT_TEXT_H
#define REPORT_TEXT_H

#include <stdio.h>

#include "data/metrics.h"
#include "report/figures.h"

/* The total and, for several streams, one line each. */
void text_print_tx(FILE *out, const struct tx_metrics *metrics);
void text_print_rx(FILE *out, const struct rx_metrics *metrics);
void text_print_wake(FILE *out, const struct wake_metrics *metrics);

/* The table alone: a column for each figure. Nothing for none. */
void text_print_figures(FILE *out, const struct figure *figures, size_t count);

/* "0.0123 %" of part in whole, with as many digits as it needs; "0 %" for none. Returns `buffer`. */
#define SHARE_TEXT 32
char *format_share(uint64_t part, uint64_t whole, char buffer[SHARE_TEXT]);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One self-contained page: what was run, the text report, plots (gnuplot, as SVG within the page) of
 * the distribution and of its course over time, and the worst frames.
 */
#ifndef REPORT_HTML_H
#define REPORT_HTML_H

#include <stdio.h>

#include "report/analysis.h"
#include "report/series.h"

/*
 * Writes the page. Where gnuplot is missing the page says so and has everything else; `warning` then
 * holds what is missing (else its status is 0). A failed write stays in `out` (ferror).
 */
void html_print(FILE *out, const struct analysis_logs *logs, const struct analysis *analysis,
		const struct series *series, struct error *warning);

#endif

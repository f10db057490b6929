/* SPDX-License-Identifier: GPL-2.0-only */
/* A histogram as bars of text. */
#ifndef REPORT_BARS_H
#define REPORT_BARS_H

#include <stdio.h>

#include "data/histogram.h"

/* Rows grow by the square root of 2, from the first to the last that holds a value. Negative values count as 0. */
void histogram_print(FILE *out, const char *title, const struct histogram *histogram);

#endif

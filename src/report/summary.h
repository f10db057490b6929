/* SPDX-License-Identifier: GPL-2.0-only */
/* The result of an analysis, as text and as JSON. */
#ifndef REPORT_SUMMARY_H
#define REPORT_SUMMARY_H

#include <jansson.h>
#include <stdio.h>

#include "report/analysis.h"

void summary_print(FILE *out, const struct analysis *analysis);

/* A new reference; NULL without memory. */
json_t *summary_json(const struct analysis *analysis);

/* The clocks alone: rms, largest, MTIE, TDEV and ADEV. Nothing for an empty one. */
void summary_print_sync(FILE *out, const char *title, const struct sync_metrics *sync);

#endif

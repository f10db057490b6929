/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Results as JSON. Times are whole or decimal ns, members end in _ns; runs are 8 hexadecimal digits;
 * a percentile that too few samples support is left out. All return a new reference, NULL without
 * memory.
 */
#ifndef REPORT_JSON_H
#define REPORT_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "base/error.h"
#include "data/metrics.h"
#include "report/figures.h"

json_t *json_of_figure(const struct figure *figure);

/* [{"low_ns", "high_ns" (both inclusive), "count"}], ascending, of the buckets that hold a value. */
json_t *json_of_histogram(const struct histogram *histogram);

/* {"sent": {counts}, "figures": [...], "streams": [...]} */
json_t *json_of_tx(const struct tx_metrics *metrics);

/* {"received": {counts}, "figures": [...], "streams": [...]} */
json_t *json_of_rx(const struct rx_metrics *metrics);

json_t *json_of_wake(const struct wake_metrics *metrics);

/* Writes the document and a newline. Consumes `document`. Returns 0, or -1 with the error. */
int json_print(FILE *out, json_t *document, struct error *err);

#endif

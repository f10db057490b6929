/* SPDX-License-Identifier: GPL-2.0-only */
/* What the figures of a report mean: a few lines in words, each with what to do. Pure. */
#ifndef REPORT_EXPLAIN_H
#define REPORT_EXPLAIN_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "data/metrics.h"

#define EXPLAIN_LINES 8
#define EXPLAIN_TEXT 320

struct explanation {
	size_t count;
	char lines[EXPLAIN_LINES][EXPLAIN_TEXT];
};

/*
 * Either side may be NULL. `pacing` as in the sender's log ("timer", "gate", "launch-time"; NULL: not
 * known). `not_received`: of the joined logs, with losses at both ends; -1: not joined.
 */
void explain_figures(struct explanation *explanation, const struct tx_metrics *tx,
		     const struct rx_metrics *rx, const char *pacing, int64_t not_received);

/* A heading and the lines, nothing where there are none. */
void explain_print(FILE *out, const struct explanation *explanation);
json_t *explain_json(const struct explanation *explanation); /* an array of texts */

#endif

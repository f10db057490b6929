/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One line for each frame, with what sender and receiver know about it (an unknown value is empty), or
 * for each wake-up: index, actual, predicted, jitter.
 */
#ifndef REPORT_CSV_H
#define REPORT_CSV_H

#include <stdbool.h>
#include <stdio.h>

#include "data/source.h"
#include "report/analysis.h"

struct csv {
	FILE *out; /* borrowed */
	enum stamp_source stamp; /* names the rx_xdp column: SOURCE_XDP or SOURCE_SW */
	bool titled;
};

/* A frame_sink; `context` is a struct csv. */
int csv_frame(void *context, const struct joined_frame *frame, struct error *err);

#endif

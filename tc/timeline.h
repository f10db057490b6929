/* SPDX-License-Identifier: GPL-2.0-only */
/* A drawing of one gate cycle, for a terminal and as SVG. */
#ifndef TC_TIMELINE_H
#define TC_TIMELINE_H

#include <stdio.h>

#include "base/stream.h"
#include "tc/deployment.h"

/*
 * Rows of classes over one cycle ('#' open, '.' closed, '+' open for a part of the column), a row of stream
 * launches below. `streams` may be NULL.
 */
void timeline_text(FILE *out, const struct deployment *deployment, const struct stream *streams,
		   unsigned count);

/* The same as a picture of its own (one SVG document). Names are escaped. */
void timeline_svg(FILE *out, const struct deployment *deployment, const struct stream *streams,
		  unsigned count);

#endif

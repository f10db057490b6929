/* SPDX-License-Identifier: GPL-2.0-only */
/* Text within HTML and SVG. */
#ifndef BASE_MARKUP_H
#define BASE_MARKUP_H

#include <stdio.h>

/*
 * Writes text as the content or a quoted attribute of an element: <, >, & and " as entities, control
 * characters, which XML does not allow, as '?'.
 */
void markup_put(FILE *out, const char *text);

#endif

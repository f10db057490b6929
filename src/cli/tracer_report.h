/* SPDX-License-Identifier: GPL-2.0-only */
/* What one of the kernel's own tracers has found, as text and as JSON. */
#ifndef CLI_TRACER_REPORT_H
#define CLI_TRACER_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "host/tracer.h"

void tracer_print(FILE *out, enum tracer_kind kind, const struct tracer_verdict *verdict);
json_t *tracer_json(enum tracer_kind kind, const struct tracer_verdict *verdict);

#endif

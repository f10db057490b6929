/* SPDX-License-Identifier: GPL-2.0-only */
/* What one of the kernel's own tracers has found, as text and as JSON. */
#ifndef CLI_TRACER_REPORT_H
#define CLI_TRACER_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "host/tracer.h"

/* `frozen`: the end of the trace too, which --stop-over has frozen at the offender. */
void tracer_print(FILE *out, const struct tracer *tracer, bool frozen);
json_t *tracer_json(const struct tracer *tracer, bool frozen);

#endif

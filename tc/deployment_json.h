/* SPDX-License-Identifier: GPL-2.0-only */
/* A deployment and what was found about it as JSON; times in ns. The caller owns the references. */
#ifndef TC_DEPLOYMENT_JSON_H
#define TC_DEPLOYMENT_JSON_H

#include <jansson.h>

#include "base/stream.h"
#include "tc/deployment.h"
#include "tc/findings.h"

/* {"interface", "nic", "mode", "cycle_ns", "classes": [...], "gates": [...], ...} */
json_t *deployment_json(const struct deployment *deployment);

/* [{"id", "priority", "class", "period_ns", "offset_ns", "phase", "window": [..], "margin_ns", "fits"}, ...] */
json_t *streams_json(const struct deployment *deployment, const struct stream *streams,
		     unsigned count);

/* [{"level", "path", "text"}, ...] */
json_t *findings_json(const struct findings *findings);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* The receiver's part of a log's description (data/description.h). */
#ifndef ENGINE_RX_DESCRIBE_H
#define ENGINE_RX_DESCRIBE_H

#include <jansson.h>

#include "engine/rx_session.h"
#include "host/link.h"

/* `sync`: the verdict on the clocks at the start. NULL: no memory; else the caller has one reference to it. */
json_t *rx_describe(const struct rx_session_options *options, const struct receiver_setup *setup,
		    const struct link_info *link, const char *sync);

#endif

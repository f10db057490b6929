/* SPDX-License-Identifier: GPL-2.0-only */
/* Which runs and streams a receiver took (--run, --stream), as its log tells. Pure. */
#ifndef DATA_SELECTION_H
#define DATA_SELECTION_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SELECTION_STREAMS 64

struct selection {
	bool one_run;
	uint32_t run;
	size_t stream_count; /* 0: all */
	uint16_t streams[SELECTION_STREAMS];
};

/* From "only_run" and "only_streams" in the "options" of a description; all where they are absent or make no sense. */
struct selection selection_read(const json_t *description);

/* Adds them to the "options" of a description, where not all is taken. */
void selection_write(const struct selection *selection, json_t *options);

bool selection_has(const struct selection *selection, uint32_t run, uint16_t stream);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The frames of a run as a pcapng file (draft-ietf-opsawg-pcapng) with ns time stamps, as if captured at
 * the sender and at the receiver: one interface for each side and stamp source, so that sources are not
 * mixed. Frames are rebuilt from the records: addresses and VLAN from the sender's description, the
 * payload from the record, padding zero; long ones are cut. Time stamps are UTC: TAI less the offset
 * that the log names.
 */
#ifndef REPORT_PCAPNG_H
#define REPORT_PCAPNG_H

#include <stdio.h>

#include "data/logfile.h"
#include "report/analysis.h"

struct pcapng;

/* `out` and the readers (either may be NULL) are borrowed. Writes the section header. */
struct pcapng *pcapng_new(FILE *out, const struct log_reader *tx, const struct log_reader *rx);

/* A frame_sink; `context` is a struct pcapng. */
int pcapng_frame(void *context, const struct joined_frame *frame, struct error *err);

void pcapng_free(struct pcapng *pcapng); /* NULL is allowed */

#endif

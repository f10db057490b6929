/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PTP_SYNC_RECORD_H
#define PTP_SYNC_RECORD_H

#include "data/record.h"
#include "ptp/sync.h"

/* What the logs keep of one second. `run` is the run id, 0 for `tsnpub sync --log`. Pure. */
void sync_record_make(const struct sync_snapshot *snapshot, const struct sync_report *report,
		      uint32_t run, struct sync_record *record);

#endif

// SPDX-License-Identifier: GPL-2.0-only
#include "ptp/sync_record.h"

#include <string.h>

void sync_record_make(const struct sync_snapshot *s, const struct sync_report *report, uint32_t run,
		      struct sync_record *record)
{
	memset(record, 0, sizeof(*record));
	record->time = s->tai_ns;
	record->tai_offset = s->kernel.tai_offset;
	record->port_state = (uint16_t)sync_port_state(s);
	record->rx_stream = RECORD_STREAM_SYNC;
	record->stream = RECORD_STREAM_SYNC;
	record->run = run;
	record->frequency_ppb = s->frequency_ppb;
	if (report->verdict == SYNC_VERDICT_GOOD)
		record->status |= SYNC_GOOD;
	if (sync_follows_master(s)) {
		record->status |= SYNC_HAVE_MASTER;
		record->master_offset = s->time_status.master_offset_ns;
	}
	/* one that was lost leaves a clock that runs free, and that it is off by nobody knows */
	if (sync_port_state(s) == PORT_MASTER && s->have_time_status &&
	    !s->time_status.gm_present && !s->began_as_slave)
		record->status |= SYNC_MASTER;
	if (s->have_phc) {
		record->status |= SYNC_HAVE_PHC;
		record->phc_offset = s->phc.tai_offset_ns;
		record->phc_window = s->phc.window_ns;
	}
	if (s->port >= 0 && s->port < s->port_count) {
		const struct mgmt_port *port = &s->ports[s->port].ds;

		record->path_delay = port->delay_mechanism == DELAY_P2P ? port->peer_delay_ns
				     : s->have_current ? s->current.mean_path_delay_ns
						       : 0;
	}
}

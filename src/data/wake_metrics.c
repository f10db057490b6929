// SPDX-License-Identifier: GPL-2.0-only
#include "data/metrics.h"

void wake_metrics_add(struct wake_metrics *m, const struct wake_record *r)
{
	int64_t value;

	if (r->stream == RECORD_STREAM_SYNC || r->expected == STAMP_NONE || r->wake == STAMP_NONE)
		return;
	/* numbers count cycles: a gap is a wake-up that did not take place */
	if (m->next_seq && r->seq > m->next_seq)
		m->skipped += (uint64_t)r->seq - (uint64_t)m->next_seq;
	m->next_seq = r->seq >= 0 && r->seq < INT64_MAX ? r->seq + 1 : 0;
	if (r->status & TX_UNSYNCED) {
		m->unsynced++;
		return;
	}
	if (__builtin_sub_overflow(r->wake, r->expected, &value))
		return;
	histogram_add(&m->latency, value, (uint64_t)r->seq, r->stream);
	if (m->deadline_ns && value > m->deadline_ns)
		m->late++;
}

void wake_metrics_free(struct wake_metrics *m)
{
	histogram_free(&m->latency);
}

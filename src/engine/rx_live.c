// SPDX-License-Identifier: GPL-2.0-only
#include "engine/rx_live.h"

static void note_step(struct rx_live *live, const struct rx_record *record)
{
	const struct rx_record *former = &live->former;
	int64_t step;

	if (record->run == former->run && record->stream == former->stream &&
	    (uint64_t)record->seq - (uint64_t)former->seq == 1 &&
	    !__builtin_sub_overflow(record->launch, former->launch, &step) && step > 0)
		live->step_ns = step;
	live->former = *record;
}

void rx_live_seen(struct rx_live *live, const struct rx_record *records, size_t count)
{
	if (count > 1)
		live->former = records[count - 2];
	if (count)
		note_step(live, &records[count - 1]);
}

/*
 * The sender's cycle: from one launch to the next, as the latest two frames in sequence tell. A mean would
 * be stretched by cycles that the sender skipped. 0 with several streams or too little to go by.
 */
static int64_t cycle_of(const struct rx_live *live, const struct rx_metrics *metrics)
{
	return metrics->count == 1 ? live->step_ns : 0;
}

void rx_live_show(struct rx_live *live, const struct rx_live_facts *facts)
{
	enum stamp_source source = receiver_setup(facts->receiver)->source;
	struct rx_recent *recent = &facts->metrics->recent;
	struct rx_counters counters;
	struct live_counter counts[5];
	struct live_figure figures[2] = {
		{ "latency", source, &recent->latency[source] },
		{ "jitter", source, &recent->variation[source] },
	};
	struct live_view view = {
		.cycle_ns = cycle_of(live, facts->metrics),
		.elapsed_ns = facts->elapsed_ns,
		.duration_ns = facts->duration_ns,
		.done = facts->taken,
		.total = facts->count,
		.counters = counts,
		.figures = figures,
		.figure_count = 2,
	};
	struct rx_counts sum = rx_metrics_counts(facts->metrics);
	size_t n = 0;

	receiver_counters(facts->receiver, &counters);
	/* what the program counted: records on their way, or lost, are in it */
	counts[n++] = (struct live_counter){ "frames", counters.ours };
	counts[n++] = (struct live_counter){ "lost",
					     counters.records_lost ? 0 : sum.sequence.lost };
	if (counters.records_lost)
		counts[n - 1] = (struct live_counter){ "records lost", counters.records_lost };
	if (sum.sequence.before_first)
		counts[n++] = (struct live_counter){ "joined late", sum.sequence.before_first };
	if (facts->deadline_ns)
		counts[n++] = (struct live_counter){ "late", recent->late };
	view.counter_count = n;
	live_show(&live->line, &view);
	rx_metrics_reset_recent(facts->metrics);
}

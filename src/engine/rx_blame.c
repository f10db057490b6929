// SPDX-License-Identifier: GPL-2.0-only
#include "engine/rx_blame.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/units.h"
#include "data/histogram.h"
#include "engine/blame.h"
#include "engine/blame_report.h"

/* Before so many frames nothing is known about their distribution. */
#define SETTLED 1000
/* What is later than the median by less than this is no lateness that anyone hunts. */
#define WORTH_NS (20 * NSEC_PER_USEC)

struct rx_blame {
	struct blame *blame;
	struct blame_tally tally;
	struct histogram
		latency; /* of the kernel's stamps: those are taken on the CPU that is followed */
	int64_t over_ns;
	int64_t median_ns, threshold_ns; /* INT64_MAX: not known yet */
	int64_t worst_ns, worst_stamp; /* since the last drain; 0: none was late */
};

struct rx_blame *rx_blame_open(int64_t over_ns)
{
	struct rx_blame *b = calloc(1, sizeof(*b));
	struct error err = ERROR_INIT;

	if (b)
		b->blame = blame_open(0, &err);
	if (!b || !b->blame) {
		message_warn("--blame is not available: %s", err.text[0] ? err.text : "no memory");
		free(b);
		return NULL;
	}
	b->over_ns = over_ns;
	b->threshold_ns = INT64_MAX;
	b->tally.cpu = -1;
	b->tally.frames = true;
	if (*blame_missing(b->blame))
		message_note("--blame: this kernel does not show %s", blame_missing(b->blame));
	return b;
}

void rx_blame_add(struct rx_blame *b, const struct rx_record *records, size_t count)
{
	for (size_t i = 0; b && i < count; i++) {
		const struct rx_record *r = &records[i];
		int64_t latency, late;

		if (r->rx_xdp == STAMP_NONE || r->launch == STAMP_NONE ||
		    __builtin_sub_overflow(r->rx_xdp, r->launch, &latency))
			continue;
		histogram_add(&b->latency, latency, (uint64_t)r->seq, r->stream);
		if (b->threshold_ns == INT64_MAX ||
		    __builtin_sub_overflow(latency, b->median_ns, &late) ||
		    late <= b->threshold_ns || late <= b->worst_ns)
			continue;
		b->worst_ns = late;
		b->worst_stamp = r->rx_xdp;
	}
}

void rx_blame_drained(struct rx_blame *b)
{
	int64_t ahead, stamp;

	if (!b || !b->worst_ns)
		return;
	ahead = tai_now_ns() - clock_now_ns(CLOCK_MONOTONIC);
	stamp = b->worst_stamp - ahead;
	/* looked at at once: there is room for a few only */
	if (b->tally.cpu >= 0 && b->worst_ns < stamp &&
	    blame_keep_frame(b->blame, stamp - b->worst_ns, stamp))
		blame_collect(b->blame, &b->tally);
	b->worst_ns = 0;
}

static void move_threshold(struct rx_blame *b)
{
	int64_t top;

	if (b->latency.count < SETTLED || !histogram_percentile(&b->latency, 2, &b->median_ns) ||
	    !histogram_percentile(&b->latency, 1000, &top))
		return;
	b->threshold_ns = b->over_ns                      ? b->over_ns
			  : top - b->median_ns > WORTH_NS ? top - b->median_ns
							  : WORTH_NS;
	b->tally.threshold_ns = b->threshold_ns;
	b->tally.follows = !b->over_ns;
}

void rx_blame_tick(struct rx_blame *b, int cpu)
{
	if (!b)
		return;
	blame_collect(b->blame, &b->tally);
	move_threshold(b);
	if (cpu < 0 || cpu == b->tally.cpu)
		return;
	blame_follow_cpu(b->blame, cpu);
	b->tally.cpu = cpu;
}

void rx_blame_end(struct rx_blame *b)
{
	if (!b)
		return;
	blame_stop(b->blame);
	blame_collect(b->blame, &b->tally);
}

void rx_blame_print(FILE *out, const struct rx_blame *b)
{
	if (!b)
		return;
	if (b->tally.cpu < 0) {
		fputs("\nBlame\n  nobody: it is not known which CPU takes the frames (too few of "
		      "them, or "
		      "they came through a socket)\n",
		      out);
		return;
	}
	blame_print(out, &b->tally, b->blame);
}

json_t *rx_blame_json(const struct rx_blame *b)
{
	return b ? blame_json(&b->tally, b->blame) : NULL;
}

void rx_blame_close(struct rx_blame *b)
{
	if (!b)
		return;
	blame_close(b->blame);
	histogram_free(&b->latency);
	free(b);
}

// SPDX-License-Identifier: GPL-2.0-only
#include "report/explain.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

#define TAI_OFFSET_NS (37 * NSEC_PER_SEC)
#define TAIL_FACTOR 5 /* a P99.9 so many times the median is a tail worth a line */
#define TAIL_NS (20 * NSEC_PER_USEC)

static void say(struct explanation *e, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void say(struct explanation *e, const char *format, ...)
{
	va_list args;

	if (e->count == EXPLAIN_LINES)
		return;
	va_start(args, format);
	vsnprintf(e->lines[e->count++], EXPLAIN_TEXT, format, args);
	va_end(args);
}

/* P50 and P99.9 of a figure, in us; `tail` is 0 with too few values. */
struct spread {
	bool known;
	const char *source;
	double middle, tail;
};

static struct spread spread_of(const struct histogram *h, const char *source)
{
	struct spread s = { .source = source };
	int64_t value;

	if (!h || !histogram_percentile(h, 2, &value))
		return s;
	s.known = true;
	s.middle = (double)value / 1e3;
	if (histogram_percentile(h, 1000, &value))
		s.tail = (double)value / 1e3;
	return s;
}

static const char *sooner(const char *pacing)
{
	if (pacing && !strcmp(pacing, "timer"))
		return "with timer pacing a frame leaves when the thread has woken up and called "
		       "the kernel: --spin shortens that, etf with launch times in the NIC ends it";
	if (pacing && !strcmp(pacing, "gate"))
		return "with gate pacing a frame waits for its class's gate: put the launch time "
		       "into the slot (--offset; `tsnpub schedule show`)";
	if (pacing && !strcmp(pacing, "launch-time"))
		return "etf did not hold the launch time: is it offloaded, and is its delta larger "
		       "than the wake-up latency?";
	return "look at the sender";
}

/* Which part of the way most of the latency is, and its tail. `lead_us`: how late a wake-up may be without harm. */
static void explain_latency(struct explanation *e, struct spread latency, struct spread error,
			    struct spread path, struct spread wake, double lead_us,
			    const char *pacing)
{
	bool tailed = latency.tail > TAIL_FACTOR * latency.middle &&
		      (latency.tail - latency.middle) * 1e3 > TAIL_NS;

	if (latency.middle <= 0 || !error.known)
		return;
	if (error.middle >= latency.middle / 2)
		say(e,
		    "latency is mostly the sender's: of P50 %.1f us the frame leaves %.1f us after "
		    "its launch time (%s); %s",
		    latency.middle, error.middle, error.source, sooner(pacing));
	else if (path.known && path.middle >= latency.middle / 2)
		say(e,
		    "latency is mostly the path: of P50 %.1f us %.1f us lie between the sender's "
		    "stamp and the receiver's (%s): wire, switches, and what is before a software "
		    "stamp",
		    latency.middle, path.middle, path.source);
	if (!tailed)
		return;
	if (error.tail >= latency.tail / 2 && wake.known && wake.tail - lead_us >= error.tail / 2)
		say(e,
		    "the tail is the sender's wake-up: P99.9 of latency %.1f us, of wake-up %.1f "
		    "us%s: `tsnpub latency --blame` and the publisher's --blame name the culprit",
		    latency.tail, wake.tail,
		    wake.tail - lead_us > latency.tail
			    ? " (the latest ones came too late for their frames, "
			      "which were not sent and have no latency)"
			    : "");
	else if (error.tail >= latency.tail / 2)
		say(e,
		    "the tail is the sender's, behind its wake-up: P99.9 of latency %.1f us, of "
		    "launch error %.1f us: its queues, qdiscs or driver",
		    latency.tail, error.tail);
	else if (path.known && path.tail >= latency.tail / 2)
		say(e,
		    "the tail is the path's: P99.9 of latency %.1f us, of path %.1f us: other "
		    "traffic, or the receiver's CPU was held (`tsnpub receive --blame`)",
		    latency.tail, path.tail);
}

static void explain_offset(struct explanation *e, const struct histogram *latency)
{
	int64_t middle;

	if (!histogram_percentile(latency, 2, &middle))
		return;
	for (int sign = -1; sign <= 1; sign += 2)
		if (llabs(middle - sign * TAI_OFFSET_NS) < NSEC_PER_SEC / 2)
			say(e,
			    "latency is %d s: the kernel's TAI offset is set on the %s alone: "
			    "`tsnpub sync` on both tells",
			    sign * 37, sign > 0 ? "receiver" : "sender");
}

static void explain_loss(struct explanation *e, const struct rx_stream *total, int64_t not_received)
{
	struct sequence_counts c = rx_stream_counts(total).sequence;

	/* what was reordered has opened gaps that closed again */
	if (c.lost && c.gaps && !c.reordered) {
		if (c.gap_max <= 2)
			say(e,
			    "lost frames are single ones (%" PRIu64 " in %" PRIu64
			    " gaps): a queue that overflows now and then, or bit errors (`ethtool "
			    "-S` on both sides)",
			    c.lost, c.gaps);
		else if (c.gap_max >= c.lost / 2)
			say(e,
			    "most lost frames are one outage: %" PRIu64 " of %" PRIu64
			    " in a row: a link that went down, or a side that was stopped",
			    c.gap_max, c.lost);
		else
			say(e,
			    "frames are lost in bursts: %" PRIu64 " in %" PRIu64
			    " gaps, up to %" PRIu64 " in a row: a queue or ring that is full for a "
			    "while",
			    c.lost, c.gaps, c.gap_max);
	}
	if (not_received > 0 && (uint64_t)not_received > c.lost)
		say(e,
		    "%" PRIu64 " frames were sent before the first or after the last one that was "
		    "received: start the receiver first, and let it end by itself",
		    (uint64_t)not_received - c.lost);
	if (c.duplicate)
		say(e, "duplicate frames: the network has a loop or sends copies on two paths "
		       "(IEEE 802.1CB), or two ports of this machine see the same wire");
}

static void explain_sender(struct explanation *e, const struct tx_metrics *tx,
			   const struct tx_stream *total)
{
	const struct tx_counts *c = &total->counts;

	if (c->skipped)
		say(e,
		    "%" PRIu64 " %s skipped since the thread woke up too late for %s "
		    "(worst wake-up %.1f us): `tsnpub doctor`, `tsnpub latency --blame`",
		    c->skipped, c->skipped == 1 ? "frame was" : "frames were",
		    c->skipped == 1 ? "it" : "them", (double)tx->wake.max / 1e3);
	if (c->missed)
		say(e,
		    "%" PRIu64 " launches were missed: the frame came to the qdisc after its "
		    "launch time less delta: a larger --lead, or a larger delta of etf",
		    c->missed);
}

void explain_figures(struct explanation *e, const struct tx_metrics *tx,
		     const struct rx_metrics *rx, const char *pacing, int64_t not_received)
{
	struct tx_stream *sent = tx ? tx_metrics_total(tx, NULL) : NULL;
	struct rx_stream *received = rx ? rx_metrics_total(rx, NULL) : NULL;
	enum stamp_source best = received ? rx_best_source(received) : SOURCE_COUNT;

	e->count = 0;
	if (best != SOURCE_COUNT) {
		enum stamp_source of_error = sent ? tx_best_source(sent) : SOURCE_COUNT, from, to;
		const struct histogram *path = rx_best_path(received, &from, &to);
		struct spread latency = spread_of(received->latency[best], source_name(best));
		struct spread error = { 0 }, way = { 0 }, wake = { 0 };

		if (of_error != SOURCE_COUNT)
			error = spread_of(sent->launch_error[of_error], source_name(of_error));
		if (path)
			way = spread_of(path, source_name(from));
		if (tx)
			wake = spread_of(&tx->wake, "user");
		explain_offset(e, received->latency[best]);
		explain_latency(e, latency, error, way, wake,
				tx && tx->options.lead_ns > 0 ? (double)tx->options.lead_ns / 1e3
							      : 0,
				pacing);
	}
	if (sent)
		explain_sender(e, tx, sent);
	if (received)
		explain_loss(e, received, not_received);
	tx_stream_free(sent);
	rx_stream_free(received);
}

void explain_print(FILE *out, const struct explanation *e)
{
	if (!e->count)
		return;
	fputs("\nWhat it means\n", out);
	for (size_t i = 0; i < e->count; i++)
		fprintf(out, "  %s\n", e->lines[i]);
}

json_t *explain_json(const struct explanation *e)
{
	json_t *lines = json_array();

	for (size_t i = 0; i < e->count; i++)
		json_array_append_new(lines, json_string(e->lines[i]));
	return lines;
}

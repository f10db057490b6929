// SPDX-License-Identifier: GPL-2.0-only
#include "report/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

#define COLUMNS 6 /* of 14 characters: fits 100 */
#define STREAM_LINES 64

char *format_share(uint64_t part, uint64_t whole, char buffer[SHARE_TEXT])
{
	double share = whole ? 100.0 * (double)part / (double)whole : 0.0;

	/* all but a few of millions are not all */
	snprintf(buffer, SHARE_TEXT, "%.*g %%", part < whole && share > 99.99 ? 12 : 4, share);
	return buffer;
}

static void print_title(FILE *out, const struct figure *figures, size_t count)
{
	fprintf(out, "  %-10s", "");
	for (size_t i = 0; i < count; i++)
		fprintf(out, " %14s", figures[i].title);
	fprintf(out, "\n  %-10s", "");
	for (size_t i = 0; i < count; i++)
		fprintf(out, " %14s", figures[i].formula);
	fprintf(out, "\n  %-10s", "stamps");
	for (size_t i = 0; i < count; i++)
		fprintf(out, " %14s", figures[i].source);
	fprintf(out, "\n  %-10s", "count");
	for (size_t i = 0; i < count; i++)
		fprintf(out, " %14" PRIu64, figures[i].histogram->count);
	fputc('\n', out);
}

static void print_percentiles(FILE *out, const struct figure *figures, size_t count)
{
	for (size_t p = 0; p < percentile_count; p++) {
		bool any = false;

		for (size_t i = 0; i < count; i++)
			any |= figures[i].histogram->count >= percentiles[p].tail;
		if (!any)
			return;
		fprintf(out, "  %-8sns", percentiles[p].name);
		for (size_t i = 0; i < count; i++) {
			int64_t value;

			if (histogram_percentile(figures[i].histogram, percentiles[p].tail, &value))
				fprintf(out, " %14" PRId64, value + figures[i].shift);
			else
				fprintf(out, " %14s", "-");
		}
		fputc('\n', out);
	}
}

static void print_block(FILE *out, const struct figure *figures, size_t count)
{
	print_title(out, figures, count);
	fprintf(out, "  %-8sns", "min");
	for (size_t i = 0; i < count; i++)
		fprintf(out, " %14" PRId64, figures[i].histogram->min + figures[i].shift);
	fprintf(out, "\n  %-8sns", "mean");
	for (size_t i = 0; i < count; i++)
		fprintf(out, " %14.1f",
			histogram_mean(figures[i].histogram) + (double)figures[i].shift);
	fprintf(out, "\n  %-8sns", "stddev");
	for (size_t i = 0; i < count; i++)
		fprintf(out, " %14.1f", histogram_stddev(figures[i].histogram));
	fputc('\n', out);
	print_percentiles(out, figures, count);
	fprintf(out, "  %-8sns", "max");
	for (size_t i = 0; i < count; i++)
		fprintf(out, " %14" PRId64, figures[i].histogram->max + figures[i].shift);
	fprintf(out, "\n  %-10s", "min at seq");
	for (size_t i = 0; i < count; i++)
		fprintf(out, " %14" PRIu64, figures[i].histogram->min_seq);
	fprintf(out, "\n  %-10s", "max at seq");
	for (size_t i = 0; i < count; i++)
		fprintf(out, " %14" PRIu64, figures[i].histogram->max_seq);
	fputc('\n', out);
}

void text_print_figures(FILE *out, const struct figure *figures, size_t count)
{
	for (size_t i = 0; i < count; i += COLUMNS) {
		fputc('\n', out);
		print_block(out, figures + i, count - i < COLUMNS ? count - i : COLUMNS);
	}
}

static void print_count(FILE *out, const char *name, uint64_t value, uint64_t whole)
{
	char share[SHARE_TEXT];

	fprintf(out, "  %-14s %12" PRIu64, name, value);
	if (whole && value)
		fprintf(out, "  %s", format_share(value, whole, share));
	fputc('\n', out);
}

static void print_nonzero(FILE *out, const char *name, uint64_t value, uint64_t whole)
{
	if (value)
		print_count(out, name, value, whole);
}

/* `stamps`: the figures that were judged; NULL: none has a stamp. */
static void print_late(FILE *out, int64_t deadline_ns, uint64_t late, enum stamp_source source,
		       const struct histogram *stamps)
{
	char deadline[DURATION_TEXT], share[SHARE_TEXT];

	if (!deadline_ns)
		return;
	format_duration(deadline_ns, deadline);
	if (!stamps) {
		fprintf(out, "  %-14s %12s  no frame has a stamp to judge %s by\n", "late", "-",
			deadline);
		return;
	}
	fprintf(out, "  %-14s %12" PRIu64 "  %s of %" PRIu64 " beyond %s (%s stamps)\n", "late",
		late, format_share(late, stamps->count, share), stamps->count, deadline,
		source_name(source));
}

static void print_tx_late(FILE *out, const struct tx_metrics *m, const struct tx_stream *total)
{
	enum stamp_source best = tx_best_source(total);
	bool any = best != SOURCE_COUNT;

	print_late(out, m->options.deadline_ns, any ? total->counts.late[best] : 0, best,
		   any ? total->launch_error[best] : NULL);
}

static void print_rx_late(FILE *out, const struct rx_metrics *m, const struct rx_stream *total)
{
	struct rx_counts c = rx_stream_counts(total);
	enum stamp_source best = rx_best_source(total);
	bool any = best != SOURCE_COUNT;

	print_late(out, m->options.deadline_ns, any ? c.late[best] : 0, best,
		   any ? total->latency[best] : NULL);
}

void text_print_tx(FILE *out, const struct tx_metrics *m)
{
	struct figure figures[FIGURES_MAX];
	struct tx_stream *total = tx_metrics_total(m, NULL);
	const struct tx_counts *c;
	size_t n;

	if (!total)
		return;
	c = &total->counts;
	fputs("Sent\n", out);
	print_count(out, "frames sent", c->sent, 0);
	print_count(out, "skipped", c->skipped, c->records);
	print_nonzero(out, "refused", c->refused, c->records);
	print_nonzero(out, "link down", c->link_down, c->records);
	print_nonzero(out, "paused", c->paused, c->records);
	print_count(out, "missed launch", c->missed, c->sent);
	print_nonzero(out, "invalid launch", c->invalid, c->sent);
	print_tx_late(out, m, total);
	print_nonzero(out, "unsynced", c->unsynced, c->sent);
	print_nonzero(out, "other frames", m->other_frames, 0);
	n = figures_of_tx(total, false, figures);
	n += figures_of_wakeups(m, figures + n);
	text_print_figures(out, figures, n);
	if (m->count > 1)
		fprintf(out, "\n  %-8s %6s %11s %9s %9s  %-4s %12s %12s %12s\n", "run", "stream",
			"sent", "skipped", "missed", "src", "error P50 ns", "P99 ns", "max ns");
	for (size_t i = 0; m->count > 1 && i < m->count && i < STREAM_LINES; i++) {
		const struct tx_stream *s = m->streams[i];
		enum stamp_source best = tx_best_source(s);
		int64_t p50 = 0, p99 = 0;

		fprintf(out, "  %08x %6u %11" PRIu64 " %9" PRIu64 " %9" PRIu64, s->run, s->stream,
			s->counts.sent, s->counts.skipped, s->counts.missed);
		if (best == SOURCE_COUNT) {
			fputs("  -\n", out);
			continue;
		}
		fprintf(out, "  %-4s", source_name(best));
		if (histogram_percentile(s->launch_error[best], 2, &p50))
			fprintf(out, " %12" PRId64, p50);
		else
			fprintf(out, " %12s", "-");
		if (histogram_percentile(s->launch_error[best], 100, &p99))
			fprintf(out, " %12" PRId64, p99);
		else
			fprintf(out, " %12s", "-");
		fprintf(out, " %12" PRId64 "\n", s->launch_error[best]->max);
	}
	if (m->count > STREAM_LINES)
		fprintf(out, "  and %zu more: --json has all\n", m->count - STREAM_LINES);
	tx_stream_free(total);
}

static int more_first(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? 1 : *x > *y ? -1 : 0;
}

/*
 * Where there are more streams than lines, those with most frames are listed: forged ones have few. Returns the least number of
 * frames of a listed one; of those that have just as many `ties` have a line.
 */
static uint64_t listed_from(const struct rx_metrics *m, size_t *ties)
{
	uint64_t frames[METRICS_STREAMS];

	*ties = STREAM_LINES;
	if (m->count <= STREAM_LINES)
		return 0;
	for (size_t i = 0; i < m->count; i++)
		frames[i] = m->streams[i]->frames;
	qsort(frames, m->count, sizeof(*frames), more_first);
	for (*ties = 1;
	     *ties < STREAM_LINES && frames[STREAM_LINES - 1 - *ties] == frames[STREAM_LINES - 1];)
		++*ties;
	return frames[STREAM_LINES - 1];
}

static void print_rx_stream(FILE *out, const struct rx_stream *s)
{
	struct rx_counts c = rx_stream_counts(s);
	enum stamp_source best = rx_best_source(s);
	int64_t p50 = 0, p99 = 0;

	fprintf(out, "  %08x %6u %11" PRIu64 " %9" PRIu64 " %9" PRIu64 " %9" PRIu64, s->run,
		s->stream, s->frames, c.sequence.lost, c.sequence.duplicate, c.sequence.reordered);
	if (best == SOURCE_COUNT) {
		fputs("  -\n", out);
		return;
	}
	fprintf(out, "  %-4s", source_name(best));
	if (histogram_percentile(s->latency[best], 2, &p50))
		fprintf(out, " %12" PRId64, p50);
	else
		fprintf(out, " %12s", "-");
	if (histogram_percentile(s->latency[best], 100, &p99))
		fprintf(out, " %12" PRId64, p99);
	else
		fprintf(out, " %12s", "-");
	fprintf(out, " %12" PRId64 "\n", s->latency[best]->max);
}

void text_print_rx(FILE *out, const struct rx_metrics *m)
{
	struct figure figures[FIGURES_MAX];
	struct rx_stream *total = rx_metrics_total(m, NULL);
	struct rx_counts c;
	uint64_t expected, least;
	size_t ties;

	if (!total)
		return;
	least = listed_from(m, &ties);
	c = rx_stream_counts(total);
	expected = rx_expected(&c);
	fputs("Received\n", out);
	print_count(out, "frames", total->frames, 0);
	print_count(out, "lost", c.sequence.lost, expected);
	if (c.sequence.before_first)
		fprintf(out,
			"  %-14s %12" PRIu64
			"  numbers before the first one taken: sent before this receiver "
			"began, or lost or ignored then; not counted as lost\n",
			"joined late", c.sequence.before_first);
	print_count(out, "duplicate", c.sequence.duplicate, total->frames);
	print_count(out, "reordered", c.sequence.reordered, total->frames);
	print_nonzero(out, "reordered by", c.sequence.reorder_max, 0);
	print_rx_late(out, m, total);
	print_nonzero(out, "unsynced", c.unsynced, total->frames);
	print_nonzero(out, "stray", c.sequence.stray, total->frames);
	print_nonzero(out, "restarts", c.sequence.restarts, 0);
	print_nonzero(out, "other frames", m->other_frames, 0);
	print_nonzero(out, "other pairs", m->other_pairs, 0);
	if (m->former_pairs)
		fprintf(out,
			"  %-14s %12" PRIu64
			"  runs and streams that fell silent and made room: in the figures, "
			"not in the list\n",
			"former pairs", m->former_pairs);
	text_print_figures(out, figures, figures_of_rx(total, false, figures));
	if (m->count > 1)
		fprintf(out, "\n  %-8s %6s %11s %9s %9s %9s  %-4s %12s %12s %12s\n", "run",
			"stream", "frames", "lost", "duplicate", "reordered", "src", "lat. P50 ns",
			"P99 ns", "max ns");
	for (size_t i = 0; m->count > 1 && i < m->count; i++) {
		uint64_t frames = m->streams[i]->frames;

		if (frames > least || (frames == least && ties && ties--))
			print_rx_stream(out, m->streams[i]);
	}
	if (m->count > STREAM_LINES)
		fprintf(out, "  and %zu more, with fewer frames or as many: --json has all\n",
			m->count - STREAM_LINES);
	rx_stream_free(total);
}

void text_print_wake(FILE *out, const struct wake_metrics *m)
{
	char deadline[DURATION_TEXT], share[SHARE_TEXT];
	struct figure figures[FIGURES_MAX];

	fputs("Wake-ups\n", out);
	print_count(out, "wake-ups", m->latency.count, 0);
	print_nonzero(out, "skipped", m->skipped, m->latency.count + m->skipped);
	print_nonzero(out, "unsynced", m->unsynced, 0);
	if (m->deadline_ns)
		fprintf(out, "  %-14s %12" PRIu64 "  %s beyond %s\n", "late", m->late,
			format_share(m->late, m->latency.count, share),
			format_duration(m->deadline_ns, deadline));
	text_print_figures(out, figures, figures_of_wake(m, figures));
}

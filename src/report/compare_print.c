// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "report/compare.h"
#include "report/json.h"
#include "report/text.h"

#define COLUMNS 5 /* of 16 characters: fits 100 */

static const char *const stat_names[COMPARE_STATS] = { "mean", "P99", "P99.9", "miss rate" };
static const char *const stat_keys[COMPARE_STATS] = { "mean_ns", "p99_ns", "p99_9_ns",
						      "miss_rate" };

static const char *figure_name(enum record_kind kind)
{
	return kind == RECORD_RX   ? "latency (RX - launch)"
	       : kind == RECORD_TX ? "launch error (TX - launch)"
				   : "wake-up latency (wake - due)";
}

static const struct histogram *whole(const struct compare *c, size_t index)
{
	return &c->logs[index].sources[c->source].whole;
}

static void print_letters(FILE *out, size_t first, size_t end)
{
	fprintf(out, "\n  %-12s", "");
	for (size_t i = first; i < end; i++)
		fprintf(out, " %15c", (int)('A' + i));
	fprintf(out, "\n  %-12s", "count");
}

static void print_percentile(FILE *out, const struct compare *c, size_t first, size_t end,
			     const char *name, uint64_t tail)
{
	fprintf(out, "  %-10sns", name);
	for (size_t i = first; i < end; i++) {
		int64_t value;

		if (histogram_percentile(whole(c, i), tail, &value))
			fprintf(out, " %15" PRId64, value);
		else
			fprintf(out, " %15s", "-");
	}
	fputc('\n', out);
}

static void print_verdicts(FILE *out, const struct compare *c, size_t first, size_t end)
{
	char share[SHARE_TEXT], cell[64];

	fprintf(out, "  %-12s", "late");
	for (size_t i = first; i < end; i++) {
		const struct compare_source *s = &c->logs[i].sources[c->source];

		if (c->logs[i].deadline_ns)
			fprintf(out, " %15s", format_share(s->late, s->whole.count, share));
		else
			fprintf(out, " %15s", "no deadline");
	}
	fprintf(out, "\n  %-12s", "not in time");
	for (size_t i = first; i < end; i++) {
		const struct verdict *v = &c->logs[i].verdict;

		snprintf(cell, sizeof(cell), "%" PRIu64, v->missed);
		fprintf(out, " %15s", cell);
	}
	fprintf(out, "\n  %-12s", "SLA");
	for (size_t i = first; i < end; i++) {
		const struct verdict *v = &c->logs[i].verdict;

		fprintf(out, " %15s",
			!v->judged  ? "-"
			: !v->known ? "NOT KNOWN"
			: v->met    ? "met"
				    : "MISSED");
	}
	fputc('\n', out);
}

static void print_values(FILE *out, const struct compare *c, size_t first, size_t end)
{
	print_letters(out, first, end);
	for (size_t i = first; i < end; i++)
		fprintf(out, " %15" PRIu64, whole(c, i)->count);
	fprintf(out, "\n  %-10sns", "mean");
	for (size_t i = first; i < end; i++)
		fprintf(out, " %15.1f", histogram_mean(whole(c, i)));
	fputc('\n', out);
	print_percentile(out, c, first, end, "P50", 2);
	print_percentile(out, c, first, end, "P99", 100);
	print_percentile(out, c, first, end, "P99.9", 1000);
	fprintf(out, "  %-10sns", "max");
	for (size_t i = first; i < end; i++)
		fprintf(out, " %15" PRId64, whole(c, i)->max);
	fputc('\n', out);
	print_verdicts(out, c, first, end);
}

static void print_change(FILE *out, const struct compare *c, size_t index, enum compare_stat stat)
{
	/* a rate is shown in percent */
	double scale = stat == COMPARE_MISS_RATE ? 100.0 : 1.0;
	/* an early launch is no better than a late one */
	bool signed_figure = c->logs[0].kind == RECORD_TX && stat != COMPARE_MISS_RATE;
	const char *less = signed_figure ? "lower" : "better";
	const char *more = signed_figure ? "higher" : "WORSE";
	const char *unit = stat == COMPARE_MISS_RATE ? "%" : "ns";
	struct compare_change d;

	if (!compare_change(c, index, stat, &d))
		return;
	fprintf(out, "  %-10s%-2s %+15.*f", stat_names[stat], unit,
		stat == COMPARE_MISS_RATE ? 4 : 1, d.change * scale);
	if (!d.known)
		fputs("  too few samples to tell it from noise\n", out);
	else
		fprintf(out, "  95 %% interval %+.*f to %+.*f: %s\n",
			stat == COMPARE_MISS_RATE ? 4 : 1, d.low * scale,
			stat == COMPARE_MISS_RATE ? 4 : 1, d.high * scale,
			d.real ? (d.high < 0 ? less : more) : "no more than noise");
}

void compare_print(FILE *out, const struct compare *c)
{
	char deadline[DURATION_TEXT];

	fprintf(out, "Comparison of %s, %s stamps", figure_name(c->logs[0].kind),
		source_name(c->source));
	if (c->logs[0].deadline_ns)
		fprintf(out, ", deadline %s", format_duration(c->logs[0].deadline_ns, deadline));
	fputc('\n', out);
	for (size_t i = 0; i < c->count; i++)
		fprintf(out, "  %c  %s\n", (int)('A' + i), c->logs[i].name);
	for (size_t i = 0; i < c->count; i += COLUMNS)
		print_values(out, c, i, i + COLUMNS < c->count ? i + COLUMNS : c->count);
	for (size_t i = 1; i < c->count; i++) {
		fprintf(out, "\n%c against A\n", (int)('A' + i));
		for (int stat = 0; stat < COMPARE_STATS; stat++)
			print_change(out, c, i, (enum compare_stat)stat);
		fprintf(out, "  %-10sns %+15.0f  one sample each: no interval\n", "max",
			(double)whole(c, i)->max - (double)whole(c, 0)->max);
	}
}

static json_t *log_json(const struct compare *c, size_t index)
{
	const struct compare_log *log = &c->logs[index];
	const struct figure figure = {
		.key = log->kind == RECORD_RX   ? "latency"
		       : log->kind == RECORD_TX ? "launch_error"
						: "wakeup",
		.formula = figure_name(log->kind),
		.histogram = whole(c, index),
	};
	json_t *o = json_of_figure(&figure);

	json_object_set_new(o, "log", json_string(log->name));
	json_object_set_new(o, "source", json_string(source_name(c->source)));
	json_object_set_new(o, "not_in_time", json_integer((json_int_t)log->verdict.missed));
	if (log->deadline_ns) {
		const struct compare_source *s = &log->sources[c->source];

		json_object_set_new(o, "deadline_ns", json_integer(log->deadline_ns));
		json_object_set_new(o, "late", json_integer((json_int_t)s->late));
		json_object_set_new(o, "miss_rate",
				    json_real((double)s->late / (double)s->whole.count));
	}
	if (log->verdict.judged)
		json_object_set_new(o, "met", json_boolean(log->verdict.met));
	if (log->verdict.unjudged)
		json_object_set_new(o, "unjudged", json_integer((json_int_t)log->verdict.unjudged));
	if (log->verdict.unlogged)
		json_object_set_new(o, "unlogged", json_integer((json_int_t)log->verdict.unlogged));
	return o;
}

static json_t *change_json(const struct compare *c, size_t index)
{
	json_t *o = json_object();

	json_object_set_new(o, "log", json_string(c->logs[index].name));
	json_object_set_new(o, "against", json_string(c->logs[0].name));
	for (int stat = 0; stat < COMPARE_STATS; stat++) {
		struct compare_change d;
		json_t *change;

		if (!compare_change(c, index, (enum compare_stat)stat, &d))
			continue;
		change = json_object();
		json_object_set_new(change, "change", json_real(d.change));
		if (d.known) {
			json_object_set_new(change, "low", json_real(d.low));
			json_object_set_new(change, "high", json_real(d.high));
			json_object_set_new(change, "real", json_boolean(d.real));
		}
		json_object_set_new(o, stat_keys[stat], change);
	}
	return o;
}

json_t *compare_json(const struct compare *c)
{
	json_t *o = json_object(), *logs = json_array(), *changes = json_array();

	for (size_t i = 0; i < c->count; i++)
		json_array_append_new(logs, log_json(c, i));
	for (size_t i = 1; i < c->count; i++)
		json_array_append_new(changes, change_json(c, i));
	json_object_set_new(o, "logs", logs);
	json_object_set_new(o, "changes", changes);
	return o;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "report/html.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/markup.h"
#include "report/figures.h"
#include "report/plot.h"
#include "report/summary.h"

#define HISTOGRAM_BINS 400

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width\">\n<title>tsnpub "
	"report</title>\n<style>\n"
	"body { font: 15px/1.5 sans-serif; color: #222; background: #fff; max-width: 62em; "
	"margin: 2em auto; padding: 0 1em }\n"
	"h1 { font-size: 1.5em } h2 { font-size: 1.2em; margin-top: 2em }\n"
	"table { border-collapse: collapse } th, td { padding: .15em .8em; text-align: right; "
	"border-bottom: 1px solid #ddd }\n"
	"td.text, th.text { text-align: left; overflow-wrap: anywhere }\n"
	"pre { overflow-x: auto; background: #f6f6f6; padding: 1em; font-size: 13px }\n"
	"svg { max-width: 100%; height: auto } .missing { color: #a00 }\n"
	"</style>\n</head>\n<body>\n<h1>tsnpub report</h1>\n";

static void put_description(FILE *out, const char *title, const struct log_reader *log)
{
	json_t *value;
	const char *key;

	if (!log)
		return;
	fprintf(out, "<h2>%s</h2>\n<table>\n", title);
	json_object_foreach((json_t *)log_description(log), key, value)
	{
		char *text = json_is_string(value)
				     ? strdup(json_string_value(value))
				     : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

		fputs("<tr><td class=\"text\">", out);
		markup_put(out, key);
		fputs("</td><td class=\"text\">", out);
		markup_put(out, text ? text : "");
		fputs("</td></tr>\n", out);
		free(text);
	}
	fputs("</table>\n", out);
}

/* The unit in which `range` ns is drawn. */
static double scale_of(double range, const char **unit)
{
	static const struct {
		double ns;
		const char *name;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" } };

	for (size_t i = 0; i < 3; i++)
		if (range >= 10 * units[i].ns) {
			*unit = units[i].name;
			return units[i].ns;
		}
	*unit = "ns";
	return 1.0;
}

static FILE *begin_script(const char *title)
{
	FILE *script = tmpfile();

	if (script)
		fprintf(script,
			"set terminal svg size 900,380 dynamic background rgb 'white' font "
			"'sans,12'\n"
			"set title '%s'\nset grid lc rgb '#dddddd'\nset border 3\nset tics "
			"nomirror\n",
			title);
	return script;
}

/* Runs the script and puts the drawing in; says once what is missing. */
static void put_plot(FILE *out, FILE *script, struct error *warning)
{
	struct error err = ERROR_INIT;
	char *svg = NULL;

	if (script) {
		svg = plot_svg(script, &err);
		fclose(script);
	} else {
		error_system(&err, "no temporary file for a plot");
	}
	if (svg) {
		fprintf(out, "%s\n", svg);
	} else {
		fputs("<p class=\"missing\">No plot: ", out);
		markup_put(out, err.text);
		fputs("</p>\n", out);
		*warning = err;
	}
	free(svg);
}

/* Counts in bins of equal width; a bucket that spans several is spread evenly. */
static void fill_bins(const struct histogram *h, double bins[HISTOGRAM_BINS])
{
	double low = (double)h->min, width = ((double)h->max - low) / HISTOGRAM_BINS;
	struct histogram_bucket b;
	uint32_t cursor = 0;

	while (histogram_next(h, &cursor, &b)) {
		double from = (double)(b.low > h->min ? b.low : h->min);
		double to = (double)(b.high < h->max ? b.high : h->max);
		long first = width > 0 ? (long)((from - low) / width) : 0;
		long last = width > 0 ? (long)((to - low) / width) : 0;

		first = first < 0 ? 0 : first >= HISTOGRAM_BINS ? HISTOGRAM_BINS - 1 : first;
		last = last < first ? first : last >= HISTOGRAM_BINS ? HISTOGRAM_BINS - 1 : last;
		for (long i = first; i <= last; i++)
			bins[i] += (double)b.count / (double)(last - first + 1);
	}
}

static void put_distribution(FILE *out, const struct figure *f, struct error *warning)
{
	const struct histogram *h = f->histogram;
	double range = (double)h->max - (double)h->min, scale, bins[HISTOGRAM_BINS] = { 0 };
	double low = (double)h->min + (double)f->shift;
	struct histogram_bucket b;
	const char *unit;
	uint32_t cursor = 0;
	uint64_t above = h->count;
	char title[96];
	FILE *script;

	scale = scale_of(range, &unit);
	snprintf(title, sizeof(title), "%s (%s stamps)", f->title, f->source);
	script = begin_script(title);
	if (script) {
		fill_bins(h, bins);
		fprintf(script,
			"set xlabel '%s'\nset ylabel 'frames'\nset y2label 'share above'\n"
			"set logscale y 10\nset logscale y2 10\nset yrange [0.5:*]\nset y2range "
			"[%g:1]\n"
			"set y2tics\nset format y2 '10^{%%T}'\nset key outside below\n"
			"plot '-' with steps lw 1.5 lc rgb '#2060a0' title 'frames in each of %d "
			"steps', "
			"'-' with lines axes x1y2 lw 1 lc rgb '#c04020' title 'share of frames "
			"above'\n",
			unit, 0.5 / (double)h->count, HISTOGRAM_BINS);
		for (int i = 0; i < HISTOGRAM_BINS; i++)
			fprintf(script, "%.9g %.9g\n", (low + range * i / HISTOGRAM_BINS) / scale,
				bins[i] > 0.5 ? bins[i] : 0.5);
		fputs("e\n", script);
		while (histogram_next(h, &cursor, &b)) {
			int64_t high = b.high < h->max ? b.high : h->max;

			above -= b.count < above ? b.count : above;
			fprintf(script, "%.9g %.9g\n", ((double)high + (double)f->shift) / scale,
				above ? (double)above / (double)h->count : 0.5 / (double)h->count);
		}
		fputs("e\n", script);
	}
	put_plot(out, script, warning);
}

static void put_course(FILE *out, const struct series *s, enum stamp_source source,
		       const char *name, struct error *warning)
{
	const struct series_bin *bins = s->bins[source];
	int64_t start = 0, low = INT64_MAX, high = INT64_MIN;
	const char *unit;
	char title[96];
	double scale;
	FILE *script;

	for (int i = SERIES_BINS - 1; i >= 0; i--)
		if (bins[i].count) {
			start = bins[i].first_time;
			low = bins[i].min < low ? bins[i].min : low;
			high = bins[i].max > high ? bins[i].max : high;
		}
	if (high < low)
		return;
	scale = scale_of((double)high - (double)low, &unit);
	snprintf(title, sizeof(title), "%s over time (%s stamps)", name, source_name(source));
	script = begin_script(title);
	if (script) {
		fprintf(script,
			"set xlabel 'time in s'\nset ylabel '%s'\nset key outside below\n"
			"$bins << EOD\n",
			unit);
		for (int i = 0; i < SERIES_BINS; i++)
			if (bins[i].count)
				fprintf(script, "%.9g %.9g %.9g %.9g\n",
					((double)bins[i].first_time - (double)start) / 1e9,
					(double)bins[i].min / scale, (double)bins[i].max / scale,
					bins[i].sum / (double)bins[i].count / scale);
		fputs("EOD\nplot $bins using 1:2:3 with filledcurves lc rgb '#b0c8e0' title "
		      "'min to max', $bins using 1:3 with lines lc rgb '#c04020' title 'max', "
		      "$bins using 1:4 with lines lw 1.5 lc rgb '#2060a0' title 'mean'\n",
		      script);
	}
	put_plot(out, script, warning);
}

static void put_optional(FILE *out, bool known, int64_t value)
{
	if (known)
		fprintf(out, "<td>%" PRId64 "</td>", value);
	else
		fputs("<td>-</td>", out);
}

static void put_worst(FILE *out, const struct series *s, enum stamp_source source, const char *name)
{
	if (!s->worst_count[source])
		return;
	fprintf(out,
		"<h2>Worst by %s (%s stamps)</h2>\n<table>\n<tr><th>run</th><th>stream</th>"
		"<th>sequence</th><th>%s ns</th><th>launch error ns</th><th>path ns</th>"
		"<th>wake-up late ns</th></tr>\n",
		name, source_name(source), name);
	for (size_t i = 0; i < s->worst_count[source]; i++) {
		const struct worst_frame *w = &s->worst[source][i];

		fprintf(out, "<tr><td>%08x</td><td>%u</td><td>%" PRIu64 "</td><td>%" PRId64 "</td>",
			w->run, w->stream, w->seq, w->value);
		put_optional(out, w->has_launch_error, w->launch_error);
		put_optional(out, w->has_path, w->path);
		put_optional(out, w->has_wakeup, w->wakeup);
		fputs("</tr>\n", out);
	}
	fputs("</table>\n", out);
}

static void put_text(FILE *out, const struct analysis *a)
{
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);

	if (!memory)
		return;
	summary_print(memory, a);
	fclose(memory);
	fputs("<h2>Figures</h2>\n<pre>", out);
	markup_put(out, text ? text : "");
	fputs("</pre>\n", out);
	free(text);
}

void html_print(FILE *out, const struct analysis_logs *logs, const struct analysis *a,
		const struct series *series, struct error *warning)
{
	struct rx_stream *rx = a->rx ? rx_metrics_total(a->rx, NULL) : NULL;
	struct tx_stream *tx = a->tx ? tx_metrics_total(a->tx, NULL) : NULL;
	const char *name = a->rx ? "latency" : a->tx ? "launch error" : "wake-up latency";
	enum stamp_source source = rx ? rx_best_source(rx) : tx ? tx_best_source(tx) : SOURCE_USER;
	struct figure figures[3 * FIGURES_MAX];
	size_t n = 0;

	if (rx)
		n += figures_of_rx(rx, true, figures + n);
	if (tx) {
		n += figures_of_tx(tx, true, figures + n);
		n += figures_of_wakeups(a->tx, figures + n);
	}
	if (a->wake)
		n += figures_of_wake(a->wake, figures + n);
	fputs(head, out);
	put_text(out, a);
	fputs("<h2>Distribution</h2>\n", out);
	for (size_t i = 0; i < n; i++)
		if (strcmp(figures[i].key, "pdv")) /* the same shape as latency */
			put_distribution(out, &figures[i], warning);
	if (source != SOURCE_COUNT) {
		fputs("<h2>Course</h2>\n", out);
		put_course(out, series, source, name, warning);
		put_worst(out, series, source, name);
	}
	put_description(out, "Sender", logs->tx);
	put_description(out, "Receiver", logs->rx);
	put_description(out, "Wake-ups", logs->wake);
	put_description(out, "Clock", logs->sync[0]);
	fputs("</body>\n</html>\n", out);
	rx_stream_free(rx);
	tx_stream_free(tx);
}

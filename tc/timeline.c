// SPDX-License-Identifier: GPL-2.0-only
#include "tc/timeline.h"

#include <string.h>

#include "base/markup.h"
#include "base/units.h"
#include "tc/fit.h"

#define COLUMNS 64
#define STREAMS_DRAWN 64 /* more become a blur */

/* How much of [from, to) the windows cover, in ns. */
static int64_t covered(const struct window *windows, unsigned count, int64_t cycle, int64_t from,
		       int64_t to)
{
	int64_t total = 0;

	for (unsigned i = 0; i < count; i++)
		for (int shift = 0; shift < 2; shift++) {
			int64_t start = windows[i].start_ns - shift * cycle,
				end = windows[i].end_ns - shift * cycle;

			if (start < from)
				start = from;
			if (end > to)
				end = to;
			/* an ever-open window stands for both turns */
			if (end > start && !(shift && windows[i].start_ns == 0))
				total += end - start;
		}
	return total;
}

void timeline_text(FILE *out, const struct deployment *deployment, const struct stream *streams,
		   unsigned count)
{
	struct window windows[SCHEDULE_GATES_MAX];
	const struct schedule *schedule = &deployment->schedule;
	int64_t cycle = schedule->cycle_ns;
	char a[DURATION_TEXT];
	int width = 7;

	for (unsigned c = 0; c < schedule->class_count; c++)
		if ((int)strlen(schedule->classes[c].name) > width)
			width = (int)strlen(schedule->classes[c].name);
	fprintf(out, "%*s  0%*s\n", width + 2, "", COLUMNS, format_duration(cycle, a));
	for (unsigned c = 0; c < schedule->class_count; c++) {
		unsigned n = schedule_windows(schedule, c, windows, SCHEDULE_GATES_MAX);

		fprintf(out, "  %-*s |", width, schedule->classes[c].name);
		for (int64_t x = 0; x < COLUMNS; x++) {
			int64_t from = cycle * x / COLUMNS, to = cycle * (x + 1) / COLUMNS;
			int64_t open = covered(windows, n, cycle, from, to);

			fputc(open == 0 ? '.' : open >= to - from ? '#' : '+', out);
		}
		fputs("|\n", out);
	}
	if (!count)
		return;

	char row[COLUMNS + 1];

	memset(row, ' ', COLUMNS);
	row[COLUMNS] = '\0';
	for (unsigned i = 0; i < count; i++) {
		int64_t step = schedule->stream_cycle_ns, turns = cycle > step ? cycle / step : 1;

		if (streams[i].offset_ns == STREAM_ANYWHERE)
			continue;
		for (int64_t k = streams[i].phase % turns; k < turns; k += streams[i].every)
			row[(k * step + streams[i].offset_ns) % cycle * COLUMNS / cycle] = '^';
	}
	fprintf(out, "  %-*s |%s|\n", width, "streams", row);
}

static void svg_streams(FILE *out, const struct deployment *deployment,
			const struct stream *streams, unsigned count)
{
	const struct schedule *schedule = &deployment->schedule;
	double scale = 800.0 / (double)schedule->cycle_ns;
	char a[DURATION_TEXT], text[FIT_TEXT];

	for (unsigned i = 0; i < count && i < STREAMS_DRAWN; i++) {
		struct fit fit;

		if (streams[i].offset_ns == STREAM_ANYWHERE)
			continue;
		fit_stream(schedule, &streams[i], deployment->speed_mbps, &fit);
		if (fit.class < 0)
			continue;
		fprintf(out,
			"<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"10\" "
			"fill=\"#1b4f8a\"><title>stream %u: ",
			150 + (double)fit.start_ns * scale, 47 + 34 * fit.class,
			(double)fit.length_ns * scale < 1 ? 1 : (double)fit.length_ns * scale,
			streams[i].id);
		markup_put(out, fit_text(schedule, &fit, text));
		fprintf(out, "</title></rect>\n");
	}
	if (count > STREAMS_DRAWN)
		fprintf(out,
			"<text x=\"150\" y=\"%u\">the first %d of %u streams are drawn; cycle "
			"%s</text>\n",
			62 + 34 * schedule->class_count, STREAMS_DRAWN, count,
			format_duration(schedule->cycle_ns, a));
}

void timeline_svg(FILE *out, const struct deployment *deployment, const struct stream *streams,
		  unsigned count)
{
	struct window windows[SCHEDULE_GATES_MAX];
	const struct schedule *schedule = &deployment->schedule;
	int64_t cycle = schedule->cycle_ns;
	double scale = 800.0 / (double)cycle;
	char a[DURATION_TEXT], b[DURATION_TEXT];
	unsigned height = 70 + 34 * schedule->class_count;

	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"980\" height=\"%u\" viewBox=\"0 "
		"0 980 %u\" "
		"font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"980\" height=\"%u\" "
		"fill=\"#ffffff\"/>\n",
		height, height, height);
	for (int tick = 0; tick <= 10; tick++) {
		double x = 150 + 80 * tick;

		fprintf(out,
			"<line x1=\"%.0f\" y1=\"26\" x2=\"%.0f\" y2=\"%u\" stroke=\"#dddddd\"/>\n",
			x, x, height - 24);
		if (tick % 2 == 0)
			fprintf(out, "<text x=\"%.0f\" y=\"20\" text-anchor=\"middle\">%s</text>\n",
				x, format_duration(cycle * tick / 10, a));
	}
	for (unsigned c = 0; c < schedule->class_count; c++) {
		unsigned n = schedule_windows(schedule, c, windows, SCHEDULE_GATES_MAX),
			 y = 34 + 34 * c;

		fprintf(out, "<text x=\"142\" y=\"%u\" text-anchor=\"end\">", y + 17);
		markup_put(out, schedule->classes[c].name);
		fprintf(out,
			"</text>\n<rect x=\"150\" y=\"%u\" width=\"800\" height=\"26\" "
			"fill=\"#eeeeee\"/>\n",
			y);
		for (unsigned i = 0; i < n; i++) {
			int64_t end = windows[i].end_ns > cycle ? cycle : windows[i].end_ns;

			fprintf(out,
				"<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"26\" "
				"fill=\"%s\"><title>open %s to %s"
				"</title></rect>\n",
				150 + (double)windows[i].start_ns * scale, y,
				(double)(end - windows[i].start_ns) * scale,
				schedule->classes[c].launch_time ? "#7db8e8" : "#9fd39f",
				format_duration(windows[i].start_ns, a),
				format_duration(windows[i].end_ns, b));
			if (windows[i].end_ns > cycle && windows[i].start_ns)
				fprintf(out,
					"<rect x=\"150\" y=\"%u\" width=\"%.2f\" height=\"26\" "
					"fill=\"%s\"/>\n",
					y, (double)(windows[i].end_ns - cycle) * scale,
					schedule->classes[c].launch_time ? "#7db8e8" : "#9fd39f");
		}
	}
	svg_streams(out, deployment, streams, count);
	fprintf(out, "</svg>\n");
}

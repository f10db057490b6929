// SPDX-License-Identifier: GPL-2.0-only
#include "report/live.h"

#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/units.h"

#define BAR_MAX 20

/* How much of it is shown. The widest that fits is taken. */
struct layout {
	int bar; /* cells */
	bool cycle, brief; /* brief: of a figure P99 and maximum alone */
	size_t figures; /* at most */
};

static const struct layout layouts[] = {
	{ BAR_MAX, true, false, SIZE_MAX },
	{ 8, false, false, SIZE_MAX },
	{ 8, false, true, SIZE_MAX },
	{ 8, false, false, 1 },
	{ 8, false, true, 1 },
	{ 0, false, true, 1 },
};

struct text {
	char *start;
	size_t size, used;
};

static void add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct text *t, const char *format, ...)
{
	va_list args;
	int n;

	if (t->used + 1 >= t->size)
		return;
	va_start(args, format);
	n = vsnprintf(t->start + t->used, t->size - t->used, format, args);
	va_end(args);
	if (n > 0)
		t->used += (size_t)n;
	if (t->used >= t->size)
		t->used = t->size - 1;
}

/* Three digits and a unit, so that the line does not dance. */
static void add_time(struct text *t, int64_t ns)
{
	double value = (double)ns, size = value < 0 ? -value : value;

	if (size < 1e3)
		add(t, "%" PRId64 "ns", ns);
	else if (size < 1e6)
		add(t, "%.3gus", value / 1e3);
	else if (size < 1e9)
		add(t, "%.3gms", value / 1e6);
	else
		add(t, "%.4gs", value / 1e9);
}

static void add_clock(struct text *t, int64_t ns)
{
	int64_t seconds = ns / NSEC_PER_SEC;

	if (seconds >= 3600)
		add(t, "%" PRId64 ":%02d:%02d", seconds / 3600, (int)(seconds / 60 % 60),
		    (int)(seconds % 60));
	else
		add(t, "%d:%02d", (int)(seconds / 60), (int)(seconds % 60));
}

/* The share that is done, or negative when the length is not known. */
static double progress(const struct live_view *v)
{
	double share;

	if (v->total)
		share = (double)v->done / (double)v->total;
	else if (v->duration_ns > 0)
		share = (double)v->elapsed_ns / (double)v->duration_ns;
	else
		return -1.0;
	return share < 0.0 ? 0.0 : share > 1.0 ? 1.0 : share;
}

static void add_progress(struct text *t, const struct live_view *v, bool terminal, int bar)
{
	double share = progress(v);

	if (share < 0.0) {
		add_clock(t, v->elapsed_ns);
		return;
	}
	if (bar) {
		char cells[BAR_MAX + 1];

		for (int i = 0; i < bar; i++)
			cells[i] = (double)i < share * bar ? '#' : '-';
		cells[bar] = '\0';
		add(t, "[%s] ", cells);
	}
	if (!terminal) {
		add_clock(t, v->elapsed_ns);
		add(t, " %d%% ", (int)(share * 100.0));
	} else {
		add(t, "%3d%% ", (int)(share * 100.0));
	}
	if (share > 0.0)
		add_clock(t, (int64_t)((double)v->elapsed_ns * (1.0 - share) / share) +
				     NSEC_PER_SEC / 2); /* the line is a little late */
	else
		add(t, "?");
	add(t, " left");
}

static void add_figure(struct text *t, const struct live_figure *f, bool brief)
{
	static const size_t shown[] = { 0, 2, 3 }; /* P50, P99, P99.9 */

	add(t, "  %s(%s)", f->name, source_name(f->source));
	for (size_t i = brief ? 1 : 0; i < (brief ? 2 : sizeof(shown) / sizeof(shown[0])); i++) {
		const struct percentile *p = &percentiles[shown[i]];
		int64_t value;

		if (!histogram_percentile(f->histogram, p->tail, &value))
			continue;
		add(t, " %s ", p->name);
		add_time(t, value);
	}
	add(t, " max ");
	add_time(t, f->histogram->max);
}

static size_t format(const struct live_view *v, bool terminal, const struct layout *layout,
		     char *text, size_t size)
{
	struct text t = { text, size, 0 };
	char cycle[DURATION_TEXT];
	size_t figures = 0;

	*text = '\0';
	add_progress(&t, v, terminal, terminal ? layout->bar : 0);
	if (v->cycle_ns && layout->cycle)
		add(&t, "  cycle %s", format_duration(v->cycle_ns, cycle));
	for (size_t i = 0; i < v->counter_count; i++)
		add(&t, "  %s %" PRIu64, v->counters[i].name, v->counters[i].value);
	for (size_t i = 0; i < v->figure_count && figures < layout->figures; i++)
		if (v->figures[i].histogram && v->figures[i].histogram->count) {
			add_figure(&t, &v->figures[i], layout->brief);
			figures++;
		}
	return t.used;
}

void live_format(const struct live_view *v, bool terminal, size_t width, char *text, size_t size)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (format(v, terminal, &layouts[i], text, size) <= width || !width)
			return;
	/* behind a word, for a number cut short is another number */
	while (width && (text[width] != ' ' || text[width - 1] == ' '))
		width--;
	text[width] = '\0';
}

void live_init(struct live *live, FILE *out)
{
	const char *kind = getenv("TERM");

	live->out = out;
	/* one that cannot overwrite a line gets plain ones, as a file does */
	live->terminal = isatty(fileno(out)) && kind && *kind && strcmp(kind, "dumb") != 0;
	live->open = false;
}

/* A pager that waits, a terminal that was stopped: a line less is no loss, and who writes it has signals and the link to follow. */
static bool takes_a_line(FILE *out)
{
	struct pollfd fd = { .fd = fileno(out), .events = POLLOUT };

	return poll(&fd, 1, 0) != 0;
}

void live_show(struct live *live, const struct live_view *view)
{
	struct winsize window = { 0 };
	char text[512];

	if (!takes_a_line(live->out))
		return;
	if (!live->terminal) {
		live_format(view, false, 0, text, sizeof(text));
		fprintf(live->out, "%s\n", text);
		fflush(live->out);
		return;
	}
	if (ioctl(fileno(live->out), TIOCGWINSZ, &window) || window.ws_col < 2)
		window.ws_col = 80;
	/* one column less: a full line would wrap and could not be overwritten */
	live_format(view, true, window.ws_col - 1U, text, sizeof(text));
	fprintf(live->out, "\r%s\033[K", text);
	fflush(live->out);
	live->open = true;
}

void live_end(struct live *live)
{
	if (!live->open)
		return;
	fputc('\n', live->out);
	fflush(live->out);
	live->open = false;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "report/live.h"

#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/units.h"

#define BAR 20

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

static void add_progress(struct text *t, const struct live_view *v, bool bar)
{
	double share = progress(v);

	if (share < 0.0) {
		add_clock(t, v->elapsed_ns);
		return;
	}
	if (bar) {
		char cells[BAR + 1];

		for (int i = 0; i < BAR; i++)
			cells[i] = (double)i < share * BAR ? '#' : '-';
		cells[BAR] = '\0';
		add(t, "[%s] %3d%% ", cells, (int)(share * 100.0));
	} else {
		add_clock(t, v->elapsed_ns);
		add(t, " %d%% ", (int)(share * 100.0));
	}
	if (share > 0.0)
		add_clock(t, (int64_t)((double)v->elapsed_ns * (1.0 - share) / share));
	else
		add(t, "?");
	add(t, " left");
}

static void add_figure(struct text *t, const struct live_figure *f)
{
	static const size_t shown[] = { 0, 2, 3 }; /* P50, P99, P99.9 */

	add(t, "  %s(%s)", f->name, source_name(f->source));
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
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

void live_format(const struct live_view *v, bool terminal, size_t width, char *text, size_t size)
{
	struct text t = { text, size, 0 };
	char cycle[DURATION_TEXT];

	*text = '\0';
	add_progress(&t, v, terminal);
	if (v->cycle_ns)
		add(&t, "  cycle %s", format_duration(v->cycle_ns, cycle));
	for (size_t i = 0; i < v->counter_count; i++)
		add(&t, "  %s %" PRIu64, v->counters[i].name, v->counters[i].value);
	for (size_t i = 0; i < v->figure_count; i++)
		if (v->figures[i].histogram && v->figures[i].histogram->count)
			add_figure(&t, &v->figures[i]);
	if (width && t.used > width)
		text[width] = '\0';
}

void live_init(struct live *live, FILE *out)
{
	live->out = out;
	live->terminal = isatty(fileno(out));
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
	if (ioctl(fileno(live->out), TIOCGWINSZ, &window) || window.ws_col < 20)
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

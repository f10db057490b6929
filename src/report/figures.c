// SPDX-License-Identifier: GPL-2.0-only
#include "report/figures.h"

#include <stdio.h>

static void add(struct figure *figures, size_t *count, const char *key, const char *title,
		const char *formula, const struct histogram *h, int64_t shift,
		enum stamp_source source, enum stamp_source less)
{
	struct figure *f;

	if (!h || !h->count || *count == FIGURES_MAX)
		return;
	f = &figures[(*count)++];
	f->key = key;
	f->title = title;
	f->formula = formula;
	f->histogram = h;
	f->shift = shift;
	if (less == SOURCE_COUNT)
		snprintf(f->source, sizeof(f->source), "%s", source_name(source));
	else
		snprintf(f->source, sizeof(f->source), "%s-%s", source_name(source),
			 source_name(less));
}

size_t figures_of_rx(const struct rx_stream *s, bool best_only, struct figure *figures)
{
	enum stamp_source best = rx_best_source(s), best_rx = SOURCE_COUNT, best_tx = SOURCE_COUNT;
	size_t n = 0;

	rx_best_path(s, &best_rx, &best_tx);
	for (int i = 0; i < SOURCE_COUNT; i++) {
		enum stamp_source source = (enum stamp_source)i;

		if (!best_only || source == best)
			add(figures, &n, "latency", "latency", "RX-launch", s->latency[i], 0,
			    source, SOURCE_COUNT);
	}
	for (int i = 0; i < SOURCE_COUNT; i++)
		for (int j = 0; j < SOURCE_COUNT; j++) {
			enum stamp_source rx = (enum stamp_source)i, tx = (enum stamp_source)j;

			if (!best_only || (rx == best_rx && tx == best_tx))
				add(figures, &n, "path", "path", "RX-TX", s->path[i][j], 0, rx, tx);
		}
	for (int i = 0; i < SOURCE_COUNT; i++) {
		enum stamp_source source = (enum stamp_source)i;

		if (!best_only || source == best)
			add(figures, &n, "variation", "variation", "RFC 3393", s->variation[i], 0,
			    source, SOURCE_COUNT);
	}
	for (int i = 0; i < SOURCE_COUNT; i++) {
		enum stamp_source source = (enum stamp_source)i;

		int64_t range;

		/* latency above its minimum: the same distribution, shifted */
		if ((source == best || (!best_only && source != SOURCE_USER)) && s->latency[i] &&
		    s->latency[i]->count && s->latency[i]->min != INT64_MIN &&
		    !__builtin_sub_overflow(s->latency[i]->max, s->latency[i]->min, &range))
			add(figures, &n, "pdv", "PDV", "RFC 5481", s->latency[i],
			    -s->latency[i]->min, source, SOURCE_COUNT);
	}
	return n;
}

size_t figures_of_tx(const struct tx_stream *s, bool best_only, struct figure *figures)
{
	enum stamp_source best = tx_best_source(s);
	size_t n = 0;

	for (int i = 0; i < SOURCE_COUNT; i++) {
		enum stamp_source source = (enum stamp_source)i;

		if (!best_only || source == best)
			add(figures, &n, "launch_error", "launch error",
			    source == SOURCE_USER ? "submit-launch" : "TX-launch",
			    s->launch_error[i], 0, source, SOURCE_COUNT);
	}
	return n;
}

size_t figures_of_wakeups(const struct tx_metrics *m, struct figure *figures)
{
	size_t n = 0;

	add(figures, &n, "wakeup", "wake-up", "wake-due", &m->wake, 0, SOURCE_USER, SOURCE_COUNT);
	add(figures, &n, "submit", "submit", "submit-wake", &m->submit, 0, SOURCE_USER,
	    SOURCE_COUNT);
	return n;
}

size_t figures_of_wake(const struct wake_metrics *m, struct figure *figures)
{
	size_t n = 0;

	add(figures, &n, "wakeup", "wake-up", "wake-due", &m->latency, 0, SOURCE_USER,
	    SOURCE_COUNT);
	return n;
}

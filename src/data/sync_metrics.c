// SPDX-License-Identifier: GPL-2.0-only
#include "data/sync_metrics.h"

#include <math.h>
#include <stdlib.h>

static void add(struct sync_series *s, int64_t time, int64_t offset, uint64_t number)
{
	histogram_add(&s->offsets, offset, number, 0);
	if (s->count == s->room && s->room < SYNC_SERIES_MAX) {
		size_t room = s->room ? 2 * s->room : 256;
		int64_t *times = realloc(s->time, room * sizeof(*times)), *offsets;

		if (times)
			s->time = times;
		offsets = times ? realloc(s->offset, room * sizeof(*offsets)) : NULL;
		if (offsets) {
			s->offset = offsets;
			s->room = room;
		}
	}
	if (s->count == s->room) {
		s->cut++;
		return;
	}
	s->time[s->count] = time;
	s->offset[s->count++] = offset;
}

/* `max`, or the amount of `value`. */
static int64_t larger(int64_t max, int64_t value)
{
	if (value < 0)
		value = value == INT64_MIN ? INT64_MAX : -value;
	return value > max ? value : max;
}

static void widen(struct sync_errors *e, const struct sync_record *r)
{
	if (r->status & SYNC_HAVE_MASTER) {
		e->has_master = true;
		e->master_ns = larger(e->master_ns, r->master_offset);
	}
	if (r->status & SYNC_MASTER)
		e->has_master = e->is_master = true;
	if (r->status & SYNC_HAVE_PHC) {
		e->has_phc = true;
		e->phc_ns = larger(e->phc_ns, r->phc_offset);
		e->window_ns = larger(e->window_ns, r->phc_window);
	}
}

void sync_metrics_add(struct sync_metrics *m, const struct sync_record *r)
{
	if (r->stream != RECORD_STREAM_SYNC || r->rx_stream != RECORD_STREAM_SYNC)
		return;
	m->records++;
	m->not_good += !(r->status & SYNC_GOOD);
	if (r->status & SYNC_HAVE_MASTER)
		add(&m->master, r->time, r->master_offset, m->records - 1);
	if (r->status & SYNC_HAVE_PHC)
		add(&m->phc, r->time, r->phc_offset, m->records - 1);
	widen(r->status & SYNC_MARKED ? &m->marked : &m->counted, r);
}

static void free_series(struct sync_series *s)
{
	histogram_free(&s->offsets);
	free(s->time);
	free(s->offset);
}

void sync_metrics_free(struct sync_metrics *m)
{
	free_series(&m->master);
	free_series(&m->phc);
}

double sync_rms_ns(const struct histogram *h)
{
	double n = (double)h->count, mean = histogram_mean(h), deviation = histogram_stddev(h);

	return h->count ? sqrt(mean * mean + deviation * deviation * (n - 1) / n) : 0.0;
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* a - b for times from a file: the steps of a clock are never too large, forged ones are cut */
static int64_t step_of(const struct sync_series *s, size_t i)
{
	int64_t step;

	return __builtin_sub_overflow(s->time[i + 1], s->time[i], &step) ? INT64_MAX : step;
}

static int64_t usual_step(const struct sync_series *s)
{
	int64_t *steps = malloc((s->count - 1) * sizeof(*steps)), median;

	if (!steps)
		return 0;
	for (size_t i = 0; i + 1 < s->count; i++)
		steps[i] = step_of(s, i);
	qsort(steps, s->count - 1, sizeof(*steps), compare);
	median = steps[(s->count - 1) / 2];
	free(steps);
	return median;
}

size_t sync_stability(const struct sync_series *s, struct stability rows[STABILITY_ROWS],
		      size_t *used, double *interval_s)
{
	size_t first = 0, best_first = 0, best = 0;
	int64_t usual;

	*used = 0;
	*interval_s = 0.0;
	if (s->count < 3)
		return 0;
	usual = usual_step(s);
	if (usual <= 0 || usual > INT64_MAX / 2)
		return 0;
	for (size_t i = 0; i < s->count; i++) {
		if (i && (step_of(s, i - 1) > usual + usual / 2 || step_of(s, i - 1) < usual / 2))
			first = i;
		if (i + 1 - first > best) {
			best = i + 1 - first;
			best_first = first;
		}
	}
	if (best < 3)
		return 0;
	*used = best;
	*interval_s = (double)usual / 1e9;
	return stability_table(s->offset + best_first, best, *interval_s, rows, STABILITY_ROWS);
}

bool clock_is_master(const struct sync_metrics *m)
{
	return m->counted.is_master || m->marked.is_master;
}

int64_t clock_uncertainty_ns(const struct sync_metrics *m, enum stamp_source source)
{
	const struct sync_errors *e = &m->counted;
	int64_t sum;

	if (!e->has_master && !e->has_phc)
		e = &m->marked;
	sum = e->master_ns;
	/* what the PHC is off from this machine's own clock says nothing of the other machine's */
	if (!e->has_master)
		return -1;
	if (source == SOURCE_HW || !e->has_phc)
		return sum;
	if (__builtin_add_overflow(sum, e->phc_ns, &sum) ||
	    __builtin_add_overflow(sum, e->window_ns / 2, &sum))
		return INT64_MAX;
	return sum;
}

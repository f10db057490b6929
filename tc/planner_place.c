// SPDX-License-Identifier: GPL-2.0-only
#include "tc/planner_place.h"

#include <stdlib.h>
#include <string.h>

#define SEARCH_VISITS_MAX 1000000 /* of cycles of the hyperperiod: about ten milliseconds */

/* First position at or after `at` (in gate cycle time) with `length` inside one window. */
static int64_t in_windows(const struct planner *p, int class, int64_t at, int64_t length)
{
	int64_t cycle = p->schedule->cycle_ns, turn = at / cycle * cycle, best = NOWHERE;

	for (int64_t shift = turn - cycle; shift <= turn + cycle; shift += cycle)
		for (unsigned i = 0; i < p->window_count[class]; i++) {
			int64_t start = p->windows[class][i].start_ns + shift;
			int64_t end = p->windows[class][i].end_ns + shift;

			if (start < at)
				start = at;
			if (start + length <= end && start < best)
				best = start;
		}
	return best;
}

/* Earliest offset for the stream in this phase; NOWHERE when there is none within the cycle's end `limit`. */
static int64_t earliest(const struct planner *p, unsigned i, uint32_t phase, int64_t from,
			int64_t limit)
{
	const struct stream *stream = &p->streams[i];
	int64_t step = p->schedule->stream_cycle_ns, at = from, before;

	do {
		before = at;
		at = occupancy_earliest(&p->occupancy, stream->every, phase, at, p->length_ns[i]);
		if (at + p->length_ns[i] > limit)
			return NOWHERE;
		if (!p->schedule->gate_count)
			continue;
		for (uint64_t k = phase; k < p->occupancy.count; k += stream->every) {
			int64_t start = (int64_t)k * step;
			int64_t found = in_windows(p, p->class[i], start + at, p->length_ns[i]);

			if (found == NOWHERE || found - start + p->length_ns[i] > limit)
				return NOWHERE;
			at = found - start;
		}
	} while (at != before);
	return at;
}

static int take(struct planner *p, unsigned i)
{
	struct stream *stream = &p->streams[i];
	struct slot slot = { stream->offset_ns, stream->offset_ns + p->length_ns[i],
			     (unsigned)p->class[i], i };

	return occupancy_take(&p->occupancy, stream->every, stream->phase, &slot);
}

static void give(struct planner *p, unsigned i)
{
	occupancy_give(&p->occupancy, p->streams[i].every, p->streams[i].phase, i);
}

/* Places one free stream as early as it goes, in the phase in which that is earliest. */
int place_free(struct planner *p, unsigned i, int64_t from, int64_t limit)
{
	struct stream *stream = &p->streams[i];
	int64_t best = NOWHERE;

	for (uint32_t phase = 0; phase < stream->every; phase++) {
		int64_t at = earliest(p, i, phase, from, limit);

		if (at < best) {
			best = at;
			stream->phase = phase;
		}
		if (best == from)
			break;
	}
	if (best == NOWHERE)
		return -1;
	stream->offset_ns = best;
	return take(p, i);
}

/* A stream whose offset the file gives: is its place free? */
bool place_fixed(struct planner *p, unsigned i, int64_t from, int64_t limit)
{
	const struct stream *stream = &p->streams[i];

	return stream->offset_ns >= from &&
	       earliest(p, i, stream->phase, stream->offset_ns, limit) == stream->offset_ns &&
	       !take(p, i);
}

static int64_t end_of(const struct planner *p, unsigned i)
{
	return p->streams[i].offset_ns + p->length_ns[i];
}

/*
 * Complete search over the free streams of `class` (-1: all). Some order of placing each stream as early as it goes
 * leads to a solution if there is one: take the solution with the least sum of offsets, in the order of its offsets.
 * Returns the earliest possible end, or NOWHERE; with `first` set the first solution will do. The streams are left
 * placed as in the best solution.
 */
struct search {
	int class;
	int64_t from, limit;
	bool first;
	unsigned left;
	int64_t best_end;
	struct stream *best; /* copies of all streams */
	bool *placed;
};

static void search_from(struct planner *p, struct search *s, int64_t last_ns, int64_t end_ns)
{
	if (s->first && s->best_end != NOWHERE)
		return;
	if (!s->left) {
		if (end_ns < s->best_end) {
			s->best_end = end_ns;
			memcpy(s->best, p->streams, p->count * sizeof(*s->best));
		}
		return;
	}
	for (unsigned i = 0; i < p->count; i++) {
		struct stream *stream = &p->streams[i];
		bool twin = false;

		if (s->placed[i])
			continue;
		/* of equal streams the first goes first */
		for (unsigned j = 0; j < i && !twin; j++)
			twin = !s->placed[j] && p->class[i] == p->class[j] &&
			       p->length_ns[i] == p->length_ns[j] &&
			       stream->every == p->streams[j].every;
		if (twin)
			continue;
		for (uint32_t phase = 0; phase < stream->every; phase++) {
			int64_t at, end;

			p->visits += p->occupancy.count / stream->every + 1;
			if (p->visits > SEARCH_VISITS_MAX) {
				p->search_cut_off = true;
				return;
			}
			at = earliest(p, i, phase, s->from, s->limit);
			if (at == NOWHERE || at < last_ns)
				continue;
			end = at + p->length_ns[i] > end_ns ? at + p->length_ns[i] : end_ns;
			if (end >= s->best_end)
				continue;
			stream->offset_ns = at;
			stream->phase = phase;
			if (take(p, i))
				return;
			s->placed[i] = true;
			s->left--;
			search_from(p, s, at, end);
			s->left++;
			s->placed[i] = false;
			give(p, i);
			if (p->search_cut_off || (s->first && s->best_end != NOWHERE))
				return;
		}
	}
}

static int64_t search(struct planner *p, int class, int64_t from, int64_t limit, bool first)
{
	struct search s = { class, from, limit, first, 0, NOWHERE, NULL, NULL };
	int64_t end = from;
	unsigned n = 0;

	s.best = malloc((p->count + 1) * sizeof(*s.best));
	s.placed = calloc(p->count + 1, sizeof(*s.placed));
	if (!s.best || !s.placed)
		goto out;
	for (unsigned i = 0; i < p->count; i++) {
		bool ours = class < 0 || p->class[i] == class;

		s.placed[i] = p->fixed[i] || !ours;
		n += !s.placed[i];
		if (p->fixed[i] && ours && end_of(p, i) > end)
			end = end_of(p, i);
	}
	if (n > PLANNER_SEARCH_STREAMS) {
		p->search_cut_off = true;
		goto out;
	}
	s.left = n;
	search_from(p, &s, from, end);
	if (s.best_end == NOWHERE)
		goto out;
	memcpy(p->streams, s.best, p->count * sizeof(*s.best));
	for (unsigned i = 0; i < p->count; i++)
		if (!p->fixed[i] && (class < 0 || p->class[i] == class))
			take(p, i);
out:
	free(s.best);
	free(s.placed);
	return s.best_end;
}

/* By rate, then by length; the other way round in the second try. */
struct sorting {
	const struct planner *planner;
	int try;
};

static int earlier(const void *a, const void *b, void *context)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
	const struct sorting *sorting = context;
	const struct planner *p = sorting->planner;
	int64_t by_rate = (int64_t)p->streams[x].every - (int64_t)p->streams[y].every;
	int64_t by_length = p->length_ns[y] - p->length_ns[x];
	int64_t first = sorting->try ? by_length : by_rate;
	int64_t second = sorting->try ? by_rate : by_length;

	if (p->fixed[x] != p->fixed[y])
		return p->fixed[x] ? -1 : 1;
	if (first)
		return first < 0 ? -1 : 1;
	if (second)
		return second < 0 ? -1 : 1;
	return x < y ? -1 : x > y;
}

void place_sort(struct planner *p, int try)
{
	struct sorting sorting = { p, try };

	for (unsigned i = 0; i < p->count; i++)
		p->order[i] = i;
	qsort_r(p->order, p->count, sizeof(*p->order), earlier, &sorting);
}

/* Heuristic over the streams of `class` (-1: all): true when all found a place; *end is then where the last one ends. */
static bool place_all(struct planner *p, int class, int64_t from, int64_t limit, int64_t *end)
{
	*end = from;
	for (unsigned n = 0; n < p->count; n++) {
		unsigned i = p->order[n];

		if (class >= 0 && p->class[i] != class)
			continue;
		if (p->fixed[i] ? !place_fixed(p, i, from, limit)
				: place_free(p, i, from, limit) != 0)
			return false;
		if (end_of(p, i) > *end)
			*end = end_of(p, i);
	}
	return true;
}

static void clear_class(struct planner *p, int class)
{
	for (unsigned i = 0; i < p->count; i++)
		if (class < 0 || p->class[i] == class)
			give(p, i);
}

/* One class (or all) between `from` and `limit`: heuristics, then the complete search. NOWHERE when it does not fit. */
int64_t place_class(struct planner *p, int class, int64_t from, int64_t limit)
{
	int64_t end;

	for (int try = 0; try < 2; try++) {
		place_sort(p, try);
		if (place_all(p, class, from, limit, &end))
			return end;
		clear_class(p, class);
	}
	for (unsigned i = 0; i < p->count; i++)
		if (p->fixed[i] && (class < 0 || p->class[i] == class) &&
		    !place_fixed(p, i, from, limit)) {
			clear_class(p, class);
			return NOWHERE;
		}
	end = search(p, class, from, limit, class < 0);
	if (end == NOWHERE)
		clear_class(p, class);
	return end;
}

/* As place_class, but the earliest end that a complete search can prove, where it is small enough. */
int64_t place_class_best(struct planner *p, int class, int64_t from, int64_t limit)
{
	int64_t heuristic = place_class(p, class, from, limit), best;
	struct stream *kept;

	if (heuristic == NOWHERE)
		return NOWHERE;
	kept = malloc((p->count + 1) * sizeof(*kept));
	if (!kept)
		return heuristic;
	memcpy(kept, p->streams, p->count * sizeof(*kept));
	for (unsigned i = 0; i < p->count; i++)
		if (!p->fixed[i] && p->class[i] == class)
			give(p, i);
	best = search(p, class, from, limit, false);
	if (best > heuristic) { /* the search gave up early */
		if (best != NOWHERE)
			for (unsigned i = 0; i < p->count; i++)
				if (!p->fixed[i] && p->class[i] == class)
					give(p, i);
		memcpy(p->streams, kept, p->count * sizeof(*kept));
		for (unsigned i = 0; i < p->count; i++)
			if (!p->fixed[i] && p->class[i] == class)
				take(p, i);
		best = heuristic;
	}
	free(kept);
	return best;
}

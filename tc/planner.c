// SPDX-License-Identifier: GPL-2.0-only
#include "tc/planner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "tc/fit.h"
#include "tc/plan_gates.h"
#include "tc/planner_place.h"
#include "tc/validate.h"

#define INSTANCES_MAX 2000000
#define MANY_STREAMS 128 /* beyond, few orders of the classes are tried */

bool plan_needed(const struct deployment *deployment, const struct stream *streams, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (streams[i].offset_ns == STREAM_ANYWHERE)
			return true;
	return count && deployment_has_gates(deployment) && deployment->schedule.plan_gates;
}

/* Classes that have streams, the most urgent first. Returns their number. */
static unsigned used_classes(const struct planner *p, int classes[SCHEDULE_CLASSES_MAX])
{
	unsigned n = 0;

	for (int priority = PRIORITIES - 1; priority >= 0; priority--) {
		int class = schedule_class_of(p->schedule, (unsigned)priority);
		bool used = false, listed = false;

		for (unsigned i = 0; i < p->count; i++)
			used |= p->class[i] == class;
		for (unsigned k = 0; k < n; k++)
			listed |= classes[k] == class;
		if (used && !listed)
			classes[n++] = class;
	}
	return n;
}

static void swap(int *a, int *b)
{
	int t = *a;

	*a = *b;
	*b = t;
}

/* The next one in lexical order; false after the last. */
static bool next_permutation(int *a, unsigned n)
{
	unsigned i = n, j = n;

	while (i > 1 && a[i - 2] >= a[i - 1])
		i--;
	if (i < 2)
		return false;
	while (a[j - 1] <= a[i - 2])
		j--;
	swap(&a[i - 2], &a[j - 1]);
	for (unsigned x = i - 1, y = n - 1; x < y; x++, y--)
		swap(&a[x], &a[y]);
	return true;
}

/* One window a class, one behind the other, in whichever order works. Returns where the last one ends, or NOWHERE. */
static int64_t plan_contiguous(struct planner *p, int64_t limit, struct window *of_class)
{
	int classes[SCHEDULE_CLASSES_MAX], index[SCHEDULE_CLASSES_MAX];
	unsigned n = used_classes(p, classes), tries = 0;
	unsigned tries_max = p->count > MANY_STREAMS ? 4 : 720;

	for (unsigned i = 0; i < n; i++)
		index[i] = (int)i;
	do {
		int64_t at = 0;
		unsigned k;

		occupancy_clear(&p->occupancy);
		for (k = 0; k < n; k++) {
			int class = classes[index[k]];
			int64_t guard = p->limits->guard_ns[class];
			int64_t end = place_class_best(p, class, at, limit - guard);

			if (end == NOWHERE)
				break;
			of_class[class] = (struct window){ at, end + guard };
			at = end + guard;
		}
		if (k == n)
			return at;
	} while (++tries < tries_max && next_permutation(index, n));
	return NOWHERE;
}

/* Takes back all places that were found. */
static void start_over(struct planner *p)
{
	occupancy_clear(&p->occupancy);
	for (unsigned i = 0; i < p->count; i++)
		if (!p->fixed[i])
			p->streams[i].offset_ns = STREAM_ANYWHERE;
	p->visits = 0;
}

/* Each stream has a place, but not with one window a class: by how much is it too long? */
static void explain_contiguous(struct planner *p, int64_t limit, struct findings *findings)
{
	struct window of_class[SCHEDULE_CLASSES_MAX] = { 0 };
	char by[DURATION_TEXT] = "", have[DURATION_TEXT];
	int64_t end;

	start_over(p);
	end = plan_contiguous(p, limit + 1000 * p->schedule->stream_cycle_ns, of_class);
	if (end != NOWHERE)
		format_duration(end - limit, by);
	finding_add(findings, FINDING_ERROR, "streams",
		    "the streams fit the link, but not with one window for each class, and %s "
		    "opens each queue once a "
		    "cycle%s%s%s%s; put streams that are sent together into one class, or use a "
		    "longer cycle",
		    p->limits->nic->name, *by ? ": " : "", by, *by ? " more than the " : "",
		    *by ? format_duration(limit, have) : "");
}

/* Says of each stream that has no place how much is missing, with all that fit in theirs. */
static void explain(struct planner *p, int64_t limit, struct plan_result *result,
		    struct findings *findings)
{
	char path[64], a[DURATION_TEXT], b[DURATION_TEXT], c[DURATION_TEXT], d[DURATION_TEXT];
	double load = 0;

	occupancy_clear(&p->occupancy);
	place_sort(p, 0);
	for (unsigned n = 0; n < p->count; n++) {
		unsigned i = p->order[n];
		const struct stream *stream = &p->streams[i];
		int64_t wanted = NOWHERE;

		load += (double)p->length_ns[i] /
			((double)stream->every * (double)p->schedule->stream_cycle_ns);
		if (p->fixed[i] ? place_fixed(p, i, 0, limit) : !place_free(p, i, 0, limit))
			continue;
		result->unplaced++;
		for (uint32_t phase = 0; !p->fixed[i] && phase < stream->every; phase++) {
			int64_t at = occupancy_earliest(&p->occupancy, stream->every, phase, 0,
							p->length_ns[i]);

			wanted = at < wanted ? at : wanted;
		}
		snprintf(path, sizeof(path), "streams[%u]", i);
		format_duration(p->length_ns[i], a);
		format_duration((int64_t)stream->every * p->schedule->stream_cycle_ns, b);
		if (p->fixed[i])
			finding_add(findings, FINDING_ERROR, path,
				    "stream %u cannot fit at its offset %s: it needs %s, and the "
				    "place is taken by others, "
				    "or reaches beyond %s; write offset: anywhere",
				    stream->id, format_duration(stream->offset_ns, c), a,
				    format_duration(limit, d));
		else if (p->schedule->gate_count)
			finding_add(findings, FINDING_ERROR, path,
				    "stream %u cannot fit: it needs %s every %s in the windows of "
				    "class '%s', which have no "
				    "such gap left",
				    stream->id, a, b, p->schedule->classes[p->class[i]].name);
		else
			finding_add(findings, FINDING_ERROR, path,
				    "stream %u cannot fit: it needs %s every %s, the first free "
				    "place ends %s beyond the %s "
				    "that streams have",
				    stream->id, a, b,
				    format_duration(wanted + p->length_ns[i] - limit, c),
				    format_duration(limit, d));
	}
	if (!result->unplaced && result->layout == PLAN_CONTIGUOUS) {
		explain_contiguous(p, limit, findings);
		return;
	}
	finding_add(findings, FINDING_ERROR, "streams",
		    "%u of %u streams did not fit%s; slots take %.1f %% of the time on average; "
		    "use a faster link, longer "
		    "periods, smaller frames or margin",
		    result->unplaced, p->count,
		    result->proven
			    ? " (proven: no arrangement fits)"
			    : " (not proven: the search was cut off, another arrangement may fit)",
		    100 * load);
}

/* Time at the cycle's end that classes without streams need: one of their largest frames, and its guard band. */
static int64_t reserve_ns(const struct planner *p)
{
	int64_t reserve = 0;

	if (!deployment_has_gates(p->limits) || p->schedule->gate_count)
		return 0;
	for (unsigned c = 0; c < p->schedule->class_count; c++) {
		int64_t need = deployment_frame_time_ns(p->limits, c) + p->limits->guard_ns[c];
		bool used = false;

		for (unsigned i = 0; i < p->count; i++)
			used |= p->class[i] == (int)c;
		if (!used && p->schedule->classes[c].priorities && need > reserve)
			reserve = need;
	}
	return reserve;
}

static int prepare(struct planner *p, const struct stream *streams, struct plan_result *result,
		   struct findings *findings)
{
	const struct schedule *schedule = p->schedule;
	int64_t ratio = schedule->gate_count && schedule->cycle_ns > schedule->stream_cycle_ns
				? schedule->cycle_ns / schedule->stream_cycle_ns
				: 1;
	struct stream gates = { .every = (uint32_t)ratio };
	uint64_t cycles, instances = 0;
	char path[64];

	if (!schedule_cycles_agree(schedule))
		return -1; /* the validator says it */
	for (unsigned i = 0; i < p->count; i++) {
		p->streams[i] = streams[i];
		p->class[i] = schedule_class_of(schedule, streams[i].priority);
		p->fixed[i] = streams[i].offset_ns != STREAM_ANYWHERE;
		p->length_ns[i] = wire_time_ns(streams[i].size, p->limits->speed_mbps) *
					  streams[i].frames +
				  schedule->margin_ns;
		if (p->class[i] < 0) {
			snprintf(path, sizeof(path), "streams[%u]", i);
			finding_add(findings, FINDING_ERROR, path,
				    "no class carries priority %u of stream %u; add it to one",
				    streams[i].priority, streams[i].id);
			return -1;
		}
	}
	p->streams[p->count] = gates;
	cycles = fit_hyperperiod(p->streams, p->count + 1, PLANNER_CYCLES_MAX);
	if (!cycles) {
		finding_add(findings, FINDING_ERROR, "streams",
			    "the periods repeat together only after more than %d cycles; make them "
			    "multiples of one another",
			    PLANNER_CYCLES_MAX);
		return -1;
	}
	for (unsigned i = 0; i < p->count; i++)
		instances += cycles / streams[i].every;
	if (instances > INSTANCES_MAX) {
		finding_add(findings, FINDING_ERROR, "streams",
			    "more than %d launches before the periods repeat; make them multiples "
			    "of one another",
			    INSTANCES_MAX);
		return -1;
	}
	result->hyperperiod = cycles;
	for (unsigned c = 0; schedule->gate_count && c < schedule->class_count; c++) {
		p->windows[c] = malloc(SCHEDULE_GATES_MAX * sizeof(struct window));
		if (!p->windows[c])
			return -1;
		p->window_count[c] = schedule_windows(schedule, c, p->windows[c],
						      SCHEDULE_GATES_MAX);
	}
	return occupancy_init(&p->occupancy, cycles, schedule->stream_cycle_ns);
}

/* Finds the places; returns 0 and fills in the gates of *planned, or -1. */
static int find_places(struct planner *p, struct schedule *planned, int64_t limit,
		       struct plan_result *result, struct findings *findings)
{
	struct window of_class[SCHEDULE_CLASSES_MAX] = { 0 };
	bool wants_gates = deployment_has_gates(p->limits) && !p->schedule->gate_count;
	int64_t shortest = validate_gate_min_ns(p->limits->speed_mbps);

	result->layout = PLAN_GIVEN;
	if (!wants_gates)
		return place_class(p, -1, 0, limit) == NOWHERE ? -1 : 0;
	result->layout = PLAN_CONTIGUOUS;
	if (plan_contiguous(p, limit, of_class) != NOWHERE) {
		plan_gates_contiguous(planned, of_class, shortest);
		return 0;
	}
	if (p->limits->nic->opens_once && p->limits->mode == SCHEDULE_FULL_OFFLOAD)
		return -1;
	result->layout = PLAN_INTERLEAVED;
	start_over(p);
	p->search_cut_off = false;
	/* any slot may be followed by another class's: each brings its class's guard band */
	for (unsigned i = 0; i < p->count; i++)
		p->length_ns[i] += p->limits->guard_ns[p->class[i]];
	if (place_class(p, -1, 0, limit) == NOWHERE)
		return -1;
	if (!plan_gates_interleaved(planned, &p->occupancy, shortest, p->limits->nic->cycle_max_ns))
		return 0;
	finding_add(findings, FINDING_ERROR, "streams",
		    "a place was found for each stream, but the gates that go with it are more "
		    "than %d, shorter than the link "
		    "takes, or longer than the longest cycle; use fewer classes or periods",
		    SCHEDULE_GATES_MAX);
	p->search_cut_off = true;
	return -1;
}

int plan_schedule(struct schedule *schedule, struct stream *streams, unsigned count,
		  const struct deployment *limits, struct plan_result *result,
		  struct findings *findings)
{
	struct schedule *planned = malloc(sizeof(*planned));
	struct planner p = { .schedule = schedule, .limits = limits, .count = count };
	int64_t limit;
	int done = -1;

	memset(result, 0, sizeof(*result));
	p.streams = calloc(count + 1, sizeof(*p.streams));
	p.length_ns = calloc(count + 1, sizeof(*p.length_ns));
	p.class = calloc(count + 1, sizeof(*p.class));
	p.fixed = calloc(count + 1, sizeof(*p.fixed));
	p.order = calloc(count + 1, sizeof(*p.order));
	if (!planned || !p.streams || !p.length_ns || !p.class || !p.fixed || !p.order) {
		finding_add(findings, FINDING_ERROR, "streams", "no memory to plan in");
		goto out;
	}
	*planned = *schedule;
	if (prepare(&p, streams, result, findings))
		goto out;
	limit = schedule->stream_cycle_ns - reserve_ns(&p);
	done = find_places(&p, planned, limit, result, findings);
	if (done) {
		result->proven = !p.search_cut_off;
		explain(&p, limit, result, findings);
		goto out;
	}
	memcpy(streams, p.streams, count * sizeof(*streams));
	*schedule = *planned;
out:
	/* without a word it would pass for a plan */
	if (done && !findings->errors)
		finding_add(findings, FINDING_ERROR, "streams", "no memory to plan in");
	occupancy_free(&p.occupancy);
	for (unsigned c = 0; c < SCHEDULE_CLASSES_MAX; c++)
		free(p.windows[c]);
	free(planned);
	free(p.streams);
	free(p.length_ns);
	free(p.class);
	free(p.fixed);
	free(p.order);
	return done;
}

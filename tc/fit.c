// SPDX-License-Identifier: GPL-2.0-only
#include "tc/fit.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/units.h"

bool schedule_cycles_agree(const struct schedule *schedule)
{
	return schedule->cycle_ns > 0 && schedule->stream_cycle_ns > 0 &&
	       (schedule->cycle_ns % schedule->stream_cycle_ns == 0 ||
		schedule->stream_cycle_ns % schedule->cycle_ns == 0);
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* One instance at `start`: the window it starts in and what is left behind it. */
static void fit_instance(const struct window *windows, unsigned count, int64_t cycle, int64_t start,
			 int64_t length, struct fit *fit)
{
	const struct window *next = &windows[0];

	for (unsigned i = 0; i < count; i++) {
		const struct window *window = &windows[i];
		int64_t at = start;

		/* a window over the cycle's end also covers the cycle's beginning */
		if (at < window->start_ns && at + cycle < window->end_ns)
			at += cycle;
		if (at >= window->start_ns && at < window->end_ns) {
			int64_t always = window->start_ns == 0 && window->end_ns == 2 * cycle;

			fit->window = *window;
			fit->margin_ns = always ? cycle - length : window->end_ns - at - length;
			fit->fits = fit->margin_ns >= 0;
			return;
		}
		if (window->start_ns > start &&
		    (next->start_ns <= start || window->start_ns < next->start_ns))
			next = window;
	}
	fit->window = *next;
	fit->fits = false;
	/* it cannot start: everything is too much */
	fit->margin_ns = -length;
}

void fit_stream(const struct schedule *schedule, const struct stream *stream, uint32_t mbps,
		struct fit *fit)
{
	struct window windows[SCHEDULE_GATES_MAX];
	int64_t cycle = schedule->cycle_ns, step = schedule->stream_cycle_ns;
	uint64_t instances = 1;
	unsigned count;

	*fit = (struct fit){ .class = schedule_class_of(schedule, stream->priority) };
	fit->length_ns = wire_time_ns(stream->size, mbps) * stream->frames;
	fit->start_ns = stream->offset_ns % cycle;
	if (fit->class < 0)
		return;
	count = schedule_windows(schedule, (unsigned)fit->class, windows, SCHEDULE_GATES_MAX);
	if (!count) {
		fit->never_open = true;
		fit->margin_ns = -fit->length_ns;
		return;
	}
	/* the instances that differ within the gate cycle */
	if (cycle > step) {
		uint64_t per_cycle = (uint64_t)(cycle / step);

		instances = per_cycle / gcd(stream->every, per_cycle);
	}
	for (uint64_t i = 0; i < instances; i++) {
		__int128 launch = ((__int128)stream->phase + (__int128)i * stream->every) * step +
				  stream->offset_ns;
		struct fit one = *fit;

		one.start_ns = (int64_t)(launch % cycle);
		fit_instance(windows, count, cycle, one.start_ns, one.length_ns, &one);
		if (i == 0 || one.margin_ns < fit->margin_ns)
			*fit = one;
	}
}

char *fit_text(const struct schedule *schedule, const struct fit *fit, char buffer[FIT_TEXT])
{
	char start[DURATION_TEXT], end[DURATION_TEXT], from[DURATION_TEXT], to[DURATION_TEXT],
		by[DURATION_TEXT];
	const char *name;

	if (fit->class < 0) {
		snprintf(buffer, FIT_TEXT, "no class carries its priority");
		return buffer;
	}
	name = schedule->classes[fit->class].name;
	format_duration(fit->start_ns, start);
	if (fit->never_open) {
		snprintf(buffer, FIT_TEXT, "leaves at %s, but its class '%s' never opens", start,
			 name);
		return buffer;
	}
	format_duration(fit->start_ns + fit->length_ns, end);
	format_duration(fit->window.start_ns, from);
	format_duration(fit->window.end_ns, to);
	if (fit->window.end_ns == 2 * schedule->cycle_ns && !fit->window.start_ns)
		snprintf(buffer, FIT_TEXT, "leaves at %s until %s, its class '%s' is always open",
			 start, end, name);
	else if (fit->fits)
		snprintf(buffer, FIT_TEXT,
			 "leaves at %s until %s, its class '%s' is open from %s to %s, margin %s",
			 start, end, name, from, to, format_duration(fit->margin_ns, by));
	else if (fit->margin_ns > -fit->length_ns)
		snprintf(buffer, FIT_TEXT,
			 "leaves at %s and needs %s, its class '%s' is open from %s to %s: %s too "
			 "long",
			 start, format_duration(fit->length_ns, end), name, from, to,
			 format_duration(-fit->margin_ns, by));
	else
		snprintf(buffer, FIT_TEXT, "leaves at %s, its class '%s' is open from %s to %s",
			 start, name, from, to);
	return buffer;
}

uint64_t fit_hyperperiod(const struct stream *streams, unsigned count, uint64_t limit)
{
	uint64_t lcm = 1;

	for (unsigned i = 0; i < count; i++) {
		uint64_t factor = streams[i].every / gcd(lcm, streams[i].every);

		if (factor > limit / lcm)
			return 0;
		lcm *= factor;
	}
	return lcm;
}

struct launch {
	int64_t start_ns;
	int64_t length_ns;
	unsigned stream;
};

static int earlier(const void *a, const void *b)
{
	const struct launch *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->stream < y->stream ? -1 : x->stream > y->stream;
}

int fit_collision(const struct stream *streams, unsigned count, int64_t cycle_ns, uint32_t mbps,
		  struct collision *collision)
{
	uint64_t cycles = fit_hyperperiod(streams, count, INT32_MAX);
	struct launch *launches;
	uint64_t total = 0, n = 0;
	int64_t hyper_ns;
	int result = 0;

	if (!cycles || __builtin_mul_overflow((int64_t)cycles, cycle_ns, &hyper_ns))
		return -1;
	for (unsigned i = 0; i < count; i++) {
		total += cycles / streams[i].every;
		if (total > FIT_INSTANCES_MAX)
			return -1;
	}
	if (total < 2)
		return 0;
	launches = malloc((size_t)(total + 1) * sizeof(*launches));
	if (!launches)
		return -1;
	for (unsigned i = 0; i < count; i++)
		for (uint64_t k = streams[i].phase; k < cycles; k += streams[i].every)
			launches[n++] = (struct launch){
				(int64_t)k * cycle_ns + streams[i].offset_ns,
				wire_time_ns(streams[i].size, mbps) * streams[i].frames, i
			};
	qsort(launches, n, sizeof(*launches), earlier);
	/* the hyperperiod repeats: the last launch may run into the first one */
	launches[n] = launches[0];
	launches[n].start_ns += hyper_ns;
	for (uint64_t i = 0, longest = 0; i < n; i++) {
		int64_t end;

		if (launches[i].start_ns + launches[i].length_ns >
		    launches[longest].start_ns + launches[longest].length_ns)
			longest = i;
		end = launches[longest].start_ns + launches[longest].length_ns;
		if (end > launches[i + 1].start_ns) {
			*collision = (struct collision){ launches[longest].stream,
							 launches[i + 1].stream,
							 launches[i + 1].start_ns,
							 end - launches[i + 1].start_ns };
			result = 1;
			break;
		}
	}
	free(launches);
	return result;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "engine/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cyclic.h"

static int64_t next_due(uint32_t every, uint32_t phase, int64_t cycle)
{
	int64_t past = (cycle - phase) % every;

	if (past < 0)
		past += every;
	return past ? cycle + every - past : cycle;
}

int64_t plan_stream_next(const struct stream *stream, int64_t cycle)
{
	return next_due(stream->every, stream->phase, cycle);
}

uint64_t plan_occurrences(const struct stream *stream, int64_t first, uint64_t count)
{
	uint64_t before = (uint64_t)(plan_stream_next(stream, first) - first);

	return before >= count ? 0 : (count - before - 1) / stream->every + 1;
}

static int by_launch(const void *a, const void *b, void *context)
{
	const struct stream *streams = context;
	uint16_t i = *(const uint16_t *)a, j = *(const uint16_t *)b;

	if (streams[i].offset_ns != streams[j].offset_ns)
		return streams[i].offset_ns < streams[j].offset_ns ? -1 : 1;
	return i < j ? -1 : i > j;
}

static int by_class(const void *a, const void *b, void *context)
{
	const struct plan *plan = context;
	uint16_t i = *(const uint16_t *)a, j = *(const uint16_t *)b;
	const struct stream *s = &plan->streams[i], *t = &plan->streams[j];

	if (s->every != t->every)
		return s->every < t->every ? -1 : 1;
	if (s->phase != t->phase)
		return s->phase < t->phase ? -1 : 1;
	return plan->rank[i] < plan->rank[j] ? -1 : 1;
}

int plan_init(struct plan *plan, const struct stream *streams, unsigned count)
{
	*plan = (struct plan){ .streams = streams, .count = count };
	plan->classes = calloc(count, sizeof(*plan->classes));
	plan->rank = calloc(count, sizeof(*plan->rank));
	plan->order = calloc(count, sizeof(*plan->order));
	plan->storage = calloc(count, sizeof(*plan->storage));
	if (!plan->classes || !plan->rank || !plan->order || !plan->storage) {
		plan_free(plan);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < count; i++)
		plan->order[i] = plan->storage[i] = (uint16_t)i;
	qsort_r(plan->order, count, sizeof(*plan->order), by_launch, (void *)(uintptr_t)streams);
	for (unsigned i = 0; i < count; i++)
		plan->rank[plan->order[i]] = (uint16_t)i;
	qsort_r(plan->storage, count, sizeof(*plan->storage), by_class, plan);
	for (unsigned i = 0; i < count; i++) {
		const struct stream *stream = &streams[plan->storage[i]];
		struct plan_class *class = plan->class_count ? &plan->classes[plan->class_count - 1]
							     : NULL;

		if (!class || class->every != stream->every || class->phase != stream->phase) {
			class = &plan->classes[plan->class_count++];
			class->every = stream->every;
			class->phase = stream->phase;
			class->next = INT64_MIN;
			class->members = &plan->storage[i];
		}
		class->count++;
	}
	return 0;
}

void plan_free(struct plan *plan)
{
	free(plan->classes);
	free(plan->rank);
	free(plan->order);
	free(plan->storage);
	memset(plan, 0, sizeof(*plan));
}

/* The division is needed only when the class was due, or when the cycle number jumped. */
static int64_t class_next(struct plan_class *class, int64_t cycle)
{
	if (class->next < cycle || class->next - cycle >= class->every)
		class->next = next_due(class->every, class->phase, cycle);
	return class->next;
}

CYCLIC int64_t plan_next(struct plan *plan, int64_t cycle)
{
	int64_t first = INT64_MAX;

	for (unsigned i = 0; i < plan->class_count && first > cycle; i++) {
		int64_t next = class_next(&plan->classes[i], cycle);

		if (next < first)
			first = next;
	}
	return first;
}

CYCLIC unsigned plan_due(struct plan *plan, int64_t cycle, uint16_t *due)
{
	unsigned count = 0;

	for (unsigned i = 0; i < plan->class_count; i++) {
		struct plan_class *class = &plan->classes[i];
		unsigned a = count, b = class->count;

		if (class_next(class, cycle) != cycle)
			continue;
		count += class->count;
		/* merged from behind, in place */
		for (unsigned at = count; b; at--)
			due[at - 1] = a && plan->rank[due[a - 1]] >
							      plan->rank[class->members[b - 1]]
					      ? due[--a]
					      : class->members[--b];
	}
	return count;
}

// SPDX-License-Identifier: GPL-2.0-only
/* The blame report, as text and as JSON. */
#include "engine/blame_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>

#include "base/units.h"
#include "host/cpulist.h"
#include "host/facts.h"

#define CULPRITS_SHOWN 8
#define PARTS_SHOWN 6

/* The CPUs for everything else. */
static void other_cpus(int cpu, char text[CPULIST_TEXT])
{
	struct cpulist online, own = { 0 };

	text[0] = '\0';
	if (fact_cpulist("", &online, "/sys/devices/system/cpu/online"))
		return;
	cpulist_add(&own, cpu);
	online = cpulist_without(&online, &own);
	cpulist_format(&online, text, CPULIST_TEXT);
}

struct ranking {
	const struct blame_culprit *by_worst[BLAME_CULPRITS], *by_total[BLAME_CULPRITS];
	size_t count;
	char symbols[BLAME_CULPRITS][BLAME_TEXT]; /* of tally->culprits[i] */
	char others[CPULIST_TEXT];
	struct blame_place place;
};

static int worse(const void *a, const void *b)
{
	const struct blame_culprit *first = *(const struct blame_culprit *const *)a;
	const struct blame_culprit *second = *(const struct blame_culprit *const *)b;

	return (first->part.ns < second->part.ns) - (first->part.ns > second->part.ns);
}

static int more(const void *a, const void *b)
{
	const struct blame_culprit *first = *(const struct blame_culprit *const *)a;
	const struct blame_culprit *second = *(const struct blame_culprit *const *)b;

	return (first->total_ns < second->total_ns) - (first->total_ns > second->total_ns);
}

/* The way itself is no culprit. */
static void rank(const struct blame_tally *tally, const struct blame *blame,
		 struct ranking *ranking)
{
	uint64_t addresses[BLAME_CULPRITS] = { 0 };
	int major, minor;

	memset(ranking, 0, sizeof(*ranking));
	for (size_t i = 0; i < tally->culprit_count; i++) {
		addresses[i] = tally->culprits[i].part.ip;
		if (tally->culprits[i].part.category == BLAME_PART_WAKING)
			continue;
		ranking->by_worst[ranking->count] = &tally->culprits[i];
		ranking->by_total[ranking->count++] = &tally->culprits[i];
	}
	qsort(ranking->by_worst, ranking->count, sizeof(*ranking->by_worst), worse);
	qsort(ranking->by_total, ranking->count, sizeof(*ranking->by_total), more);
	blame_symbols(blame ? blame_kallsyms(blame) : -1, addresses, ranking->symbols,
		      tally->culprit_count);
	other_cpus(tally->cpu, ranking->others);
	ranking->place = (struct blame_place){ tally->cpu, ranking->others, tally->ordinary,
					       kernel_version("", &major, &minor) &&
						       (major > 6 || (major == 6 && minor >= 12)) };
}

/* The kernel's symbol of the part; "" where none is known. */
static const char *symbol_of(const struct blame_tally *tally, const struct ranking *ranking,
			     const struct blame_part *part)
{
	for (size_t i = 0; i < tally->culprit_count; i++)
		if (blame_same(&tally->culprits[i].part, part))
			return ranking->symbols[i];
	return "";
}

/* The part in words, with the kernel's symbol where one is known. */
static char *full_text(const struct blame_tally *tally, const struct ranking *ranking,
		       const struct blame_part *part, char buffer[2 * BLAME_TEXT])
{
	const char *symbol = symbol_of(tally, ranking, part);
	char text[BLAME_TEXT];

	if (*symbol && part->category == BLAME_PART_TIMER)
		snprintf(buffer, 2 * BLAME_TEXT, "timer callback %s", symbol);
	else if (*symbol)
		snprintf(buffer, 2 * BLAME_TEXT, "%s, until %s", blame_part_text(part, text),
			 symbol);
	else
		snprintf(buffer, 2 * BLAME_TEXT, "%s", blame_part_text(part, text));
	return buffer;
}

static const char *held(const struct blame_part *part)
{
	switch (part->category) {
	case BLAME_PART_IRQ:
	case BLAME_PART_VECTOR:
	case BLAME_PART_SOFTIRQ:
	case BLAME_PART_TIMER:
	case BLAME_PART_THREAD:
		return " held the CPU";
	default:
		return "";
	}
}

static void print_worst(FILE *out, const struct blame_tally *tally, const struct ranking *ranking,
			const struct blame_late *late)
{
	const struct blame_part *first = &late->parts[0];
	char text[2 * BLAME_TEXT], advice[BLAME_ADVICE];
	int64_t shown = 0;

	/* the way itself explains nothing */
	for (size_t i = 0; i < late->count; i++)
		if (late->parts[i].category != BLAME_PART_WAKING) {
			first = &late->parts[i];
			break;
		}
	fprintf(out, "\n  %.1f us late: %s%s for %.1f us", (double)late->late_ns / 1e3,
		full_text(tally, ranking, first, text), held(first), (double)first->ns / 1e3);
	blame_advice(first, symbol_of(tally, ranking, first), &ranking->place, advice);
	fprintf(out, "%s%s\n", *advice ? "; " : "", advice);
	for (size_t i = 0; i < late->count && i < PARTS_SHOWN; i++) {
		fprintf(out, "    %10.1f us  %s\n", (double)late->parts[i].ns / 1e3,
			full_text(tally, ranking, &late->parts[i], text));
		shown += late->parts[i].ns;
	}
	if (shown < late->late_ns)
		fprintf(out, "    %10.1f us  others\n", (double)(late->late_ns - shown) / 1e3);
}

static char *hold_name(const struct blame_hold *hold, char buffer[BLAME_TEXT])
{
	struct blame_part part = { .number = hold->key & 0xffffff };

	memcpy(part.name, hold->name, BLAME_NAME);
	switch (hold->key >> 24) {
	case BLAME_IRQ_ENTER:
		part.category = BLAME_PART_IRQ;
		break;
	case BLAME_VECTOR_ENTER:
		part.category = BLAME_PART_VECTOR;
		break;
	default:
		part.category = BLAME_PART_SOFTIRQ;
	}
	return blame_part_text(&part, buffer);
}

static int longer(const void *a, const void *b)
{
	const struct blame_hold *first = a, *second = b;

	return (first->max_ns < second->max_ns) - (first->max_ns > second->max_ns);
}

#define COLUMNS 8 /* of the histogram: below 1 us, then by powers of 4 */

static void print_holds(FILE *out, const struct blame *blame, int cpu)
{
	struct blame_hold holds[BLAME_HOLDS];
	size_t count = blame_holds(blame, holds, BLAME_HOLDS);
	char name[BLAME_TEXT];

	if (!count)
		return;
	qsort(holds, count, sizeof(*holds), longer);
	fprintf(out,
		"\nTime that interrupts held CPU %d (how many took so long)\n"
		"  %-30s %9s %9s %9s   <1us    <4   <16   <64  <256  <1ms  <4ms   more\n",
		cpu, "", "times", "mean us", "max us");
	for (size_t i = 0; i < count; i++) {
		uint64_t columns[COLUMNS] = { 0 };

		/* bucket n holds [2^n, 2^(n+1)): columns end at 2^10, 2^12 ... */
		for (int b = 0; b < BLAME_HOLD_BUCKETS; b++) {
			int column = b < 10 ? 0 : (b - 8) / 2;

			columns[column < COLUMNS ? column : COLUMNS - 1] += holds[i].buckets[b];
		}
		fprintf(out, "  %-30.30s %9" PRIu64 " %9.2f %9.1f", hold_name(&holds[i], name),
			(uint64_t)holds[i].count,
			(double)holds[i].total_ns / (double)holds[i].count / 1e3,
			(double)holds[i].max_ns / 1e3);
		for (int c = 0; c < COLUMNS; c++)
			fprintf(out, " %5" PRIu64, columns[c]);
		fputc('\n', out);
	}
}

void blame_print(FILE *out, const struct blame_tally *tally, const struct blame *blame)
{
	struct ranking *ranking = malloc(sizeof(*ranking));
	char text[2 * BLAME_TEXT], threshold[DURATION_TEXT];

	if (!ranking)
		return;
	fprintf(out, "\nBlame\n");
	if (blame && *blame_missing(blame))
		fprintf(out, "  this kernel does not show: %s\n", blame_missing(blame));
	if (!tally->late && tally->unkept) {
		fprintf(out, "  not known: %" PRIu64 " late %s%s, of which none could be kept%s\n",
			tally->unkept, tally->frames ? "frame" : "wake-up",
			tally->unkept == 1 ? "" : "s",
			tally->frames ? "" : "; were they on another CPU?");
	} else if (!tally->late) {
		if (!tally->threshold_ns || tally->threshold_ns == INT64_MAX)
			fprintf(out, "  nobody was looked for: %s\n",
				tally->frames ? "too few frames to know what is late; --blame-over "
						"says it"
					      : "not one wake-up came");
		else if (!tally->follows)
			fprintf(out, "  nobody: no %s was later than %s\n",
				tally->frames ? "frame" : "wake-up",
				format_duration(tally->threshold_ns, threshold));
		else
			fprintf(out,
				"  nobody: no %s was later than the bound that follows what "
				"is usual (%s at the end)\n",
				tally->frames ? "frame, once it was known what is usual,"
					      : "wake-up",
				format_duration(tally->threshold_ns, threshold));
	} else {
		rank(tally, blame, ranking);
		fprintf(out, "  %" PRIu64 " late %s%s looked at, %.1f us in all", tally->late,
			tally->frames ? "frame" : "wake-up", tally->late == 1 ? "" : "s",
			(double)tally->late_ns / 1e3);
		if (tally->unkept)
			fprintf(out, "; %" PRIu64 " more could not be kept", tally->unkept);
		fprintf(out, "\n\n  %10s %12s %8s  culprit, by the worst\n", "worst us", "total us",
			"times");
		for (size_t i = 0; i < ranking->count && i < CULPRITS_SHOWN; i++)
			fprintf(out, "  %10.1f %12.1f %8" PRIu64 "  %s\n",
				(double)ranking->by_worst[i]->part.ns / 1e3,
				(double)ranking->by_worst[i]->total_ns / 1e3,
				ranking->by_worst[i]->times,
				full_text(tally, ranking, &ranking->by_worst[i]->part, text));
		if (ranking->count && ranking->by_total[0] != ranking->by_worst[0])
			fprintf(out, "  by the total it is %s\n",
				full_text(tally, ranking, &ranking->by_total[0]->part, text));
		for (size_t i = 0; i < tally->worst_count; i++)
			print_worst(out, tally, ranking, &tally->worst[i]);
	}
	if (blame)
		print_holds(out, blame, tally->cpu);
	free(ranking);
}

static json_t *part_json(const struct blame_tally *tally, const struct ranking *ranking,
			 const struct blame_part *part)
{
	char text[2 * BLAME_TEXT], advice[BLAME_ADVICE];
	json_t *o = json_pack("{s:s,s:s,s:I}", "category", blame_category_name(part->category),
			      "text", full_text(tally, ranking, part, text), "ns",
			      (json_int_t)part->ns);

	if (!o)
		return NULL;
	if (part->category <= BLAME_PART_IRQS_OFF && part->category != BLAME_PART_TIMER)
		json_object_set_new(o, "number", json_integer(part->number));
	if (part->name[0]) {
		char name[BLAME_NAME + 1];

		for (size_t i = 0; i <= BLAME_NAME; i++)
			name[i] =
				(char)(part->name[i] && (part->name[i] < ' ' || part->name[i] > '~')
					       ? '?'
					       : part->name[i]);
		json_object_set_new(o, "name", json_string(name));
	}
	if (part->category == BLAME_PART_THREAD || part->category == BLAME_PART_IRQS_OFF)
		json_object_set_new(o, "rt_priority", json_integer(part->priority));
	if (*blame_advice(part, symbol_of(tally, ranking, part), &ranking->place, advice))
		json_object_set_new(o, "advice", json_string(advice));
	return o;
}

static json_t *holds_json(const struct blame *blame)
{
	struct blame_hold holds[BLAME_HOLDS];
	size_t count = blame_holds(blame, holds, BLAME_HOLDS);
	json_t *list = json_array();
	char name[BLAME_TEXT];

	qsort(holds, count, sizeof(*holds), longer);
	for (size_t i = 0; i < count; i++) {
		json_t *buckets = json_array();

		for (int b = 0; b < BLAME_HOLD_BUCKETS; b++)
			if (holds[i].buckets[b])
				json_array_append_new(buckets,
						      json_pack("{s:I,s:I}", "below_ns",
								(json_int_t)(2LL << b), "count",
								(json_int_t)holds[i].buckets[b]));
		json_array_append_new(
			list, json_pack("{s:s,s:I,s:I,s:I,s:o}", "name", hold_name(&holds[i], name),
					"count", (json_int_t)holds[i].count, "total_ns",
					(json_int_t)holds[i].total_ns, "max_ns",
					(json_int_t)holds[i].max_ns, "histogram", buckets));
	}
	return list;
}

json_t *blame_json(const struct blame_tally *tally, const struct blame *blame)
{
	struct ranking *ranking = malloc(sizeof(*ranking));
	json_t *o, *culprits = json_array(), *worst = json_array();

	if (!ranking) {
		json_decref(culprits);
		json_decref(worst);
		return NULL;
	}
	rank(tally, blame, ranking);
	for (size_t i = 0; i < ranking->count; i++) {
		json_t *c = part_json(tally, ranking, &ranking->by_worst[i]->part);

		json_object_del(c, "ns");
		json_object_set_new(c, "worst_ns", json_integer(ranking->by_worst[i]->part.ns));
		json_object_set_new(c, "total_ns", json_integer(ranking->by_worst[i]->total_ns));
		json_object_set_new(c, "times",
				    json_integer((json_int_t)ranking->by_worst[i]->times));
		json_array_append_new(culprits, c);
	}
	for (size_t i = 0; i < tally->worst_count; i++) {
		const struct blame_late *late = &tally->worst[i];
		json_t *parts = json_array();

		for (size_t j = 0; j < late->count; j++)
			json_array_append_new(parts, part_json(tally, ranking, &late->parts[j]));
		if (late->rest_ns)
			json_array_append_new(parts,
					      json_pack("{s:s,s:s,s:I}", "category", "rest", "text",
							"others", "ns", (json_int_t)late->rest_ns));
		json_array_append_new(worst, json_pack("{s:I,s:o}", "late_ns",
						       (json_int_t)late->late_ns, "parts", parts));
	}
	o = json_pack("{s:i,s:I,s:I,s:I,s:o,s:o}", "cpu", tally->cpu, "late",
		      (json_int_t)tally->late, "late_total_ns", (json_int_t)tally->late_ns,
		      "unkept", (json_int_t)tally->unkept, "culprits", culprits, "worst", worst);
	if (o && tally->threshold_ns && tally->threshold_ns != INT64_MAX)
		json_object_set_new(o, "threshold_ns", json_integer(tally->threshold_ns));
	if (o && blame) {
		json_object_set_new(o, "not_shown_by_kernel", json_string(blame_missing(blame)));
		json_object_set_new(o, "interrupts", holds_json(blame));
	}
	free(ranking);
	return o;
}

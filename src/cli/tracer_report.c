// SPDX-License-Identifier: GPL-2.0-only
#include "cli/tracer_report.h"

#include <inttypes.h>

static void print_verdict(FILE *out, enum tracer_kind kind, const struct tracer_verdict *v)
{
	if (!v->samples) {
		if (kind == TRACER_HWLAT)
			fprintf(out, "no gap of 10 us or more: no sign of SMIs\n");
		else
			fprintf(out, "it has written nothing\n");
		return;
	}
	switch (kind) {
	case TRACER_TIMERLAT:
		fprintf(out,
			"timer to interrupt %.1f us, timer to thread %.1f us at most (%" PRIu64
			" samples)\n",
			(double)v->irq_max_ns / 1e3, (double)v->thread_max_ns / 1e3, v->samples);
		break;
	case TRACER_OSNOISE:
		fprintf(out,
			"%.1f us of noise in %.3f s, at most %.1f us at once; by %" PRIu64
			" threads, %" PRIu64 " interrupts, %" PRIu64 " soft interrupts, %" PRIu64
			" NMIs, %" PRIu64 " times nothing the kernel saw\n",
			(double)v->noise_ns / 1e3, (double)v->runtime_ns / 1e9,
			(double)v->single_max_ns / 1e3, v->thread, v->irq, v->softirq, v->nmi,
			v->hw);
		break;
	case TRACER_HWLAT:
		fprintf(out,
			"%" PRIu64 " gaps, at most %.1f us, in which nothing ran: SMIs or a "
			"hypervisor\n",
			v->samples, (double)v->single_max_ns / 1e3);
		break;
	case TRACER_IRQSOFF:
		fprintf(out, "interrupts off for %.1f us at most, from %s to %s\n",
			(double)v->irqsoff_max_ns / 1e3, v->irqsoff_from, v->irqsoff_to);
		break;
	default:
		break;
	}
}

void tracer_print(FILE *out, const struct tracer *tracer, bool frozen)
{
	const char *line;

	fprintf(out, "\nThe kernel's tracer %s: ", tracer_name(tracer->kind));
	print_verdict(out, tracer->kind, &tracer->verdict);
	if (!frozen || !tracer_last_line(tracer, 0))
		return;
	fprintf(out, "  its trace, frozen there, ends:\n");
	for (unsigned i = 0; (line = tracer_last_line(tracer, i)); i++)
		fprintf(out, "    %s\n", line);
}

static json_t *verdict_json(enum tracer_kind kind, const struct tracer_verdict *v)
{
	json_t *o = json_pack("{s:s,s:I}", "tracer", tracer_name(kind), "samples",
			      (json_int_t)v->samples);

	if (!o)
		return NULL;
	switch (kind) {
	case TRACER_TIMERLAT:
		json_object_set_new(o, "irq_max_ns", json_integer(v->irq_max_ns));
		json_object_set_new(o, "thread_max_ns", json_integer(v->thread_max_ns));
		break;
	case TRACER_OSNOISE:
		json_object_set_new(o, "noise_ns", json_integer(v->noise_ns));
		json_object_set_new(o, "runtime_ns", json_integer(v->runtime_ns));
		json_object_set_new(o, "single_max_ns", json_integer(v->single_max_ns));
		json_object_set_new(o, "hw", json_integer((json_int_t)v->hw));
		json_object_set_new(o, "nmi", json_integer((json_int_t)v->nmi));
		json_object_set_new(o, "irq", json_integer((json_int_t)v->irq));
		json_object_set_new(o, "softirq", json_integer((json_int_t)v->softirq));
		json_object_set_new(o, "thread", json_integer((json_int_t)v->thread));
		break;
	case TRACER_HWLAT:
		json_object_set_new(o, "single_max_ns", json_integer(v->single_max_ns));
		break;
	case TRACER_IRQSOFF:
		json_object_set_new(o, "irqsoff_max_ns", json_integer(v->irqsoff_max_ns));
		json_object_set_new(o, "from", json_string(v->irqsoff_from));
		json_object_set_new(o, "to", json_string(v->irqsoff_to));
		break;
	default:
		break;
	}
	return o;
}

json_t *tracer_json(const struct tracer *tracer, bool frozen)
{
	json_t *o = verdict_json(tracer->kind, &tracer->verdict), *lines = json_array();
	const char *line;

	for (unsigned i = 0; frozen && (line = tracer_last_line(tracer, i)); i++)
		json_array_append_new(lines, json_string(line));
	if (frozen)
		json_object_set(o, "trace", lines);
	json_decref(lines);
	return o;
}

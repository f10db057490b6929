// SPDX-License-Identifier: GPL-2.0-only
#include "report/verdict.h"

#include <inttypes.h>
#include <math.h>

#include "report/text.h"

void verdict_finish(struct verdict *v, int64_t deadline_ns, double sla)
{
	if (v->missed > v->due)
		v->missed = v->due;
	v->judged = v->due && (deadline_ns || sla > 0);
	v->miss_rate = v->due ? (double)v->missed / (double)v->due : 0.0;
	v->required = sla > 0 ? sla : 1.0;
	/* 1 - miss_rate would round: whole frames are compared */
	v->met = (double)v->missed <= (1.0 - v->required) * (double)v->due * (1 + 1e-12);
}

/* Of those sent in time, as far as the qdisc knows; what the stamped ones tell is taken to be true of all. */
static uint64_t late_of_all(const struct tx_stream *total, enum stamp_source source)
{
	const struct tx_counts *c = &total->counts;
	uint64_t stamped = total->launch_error[source]->count, without = c->missed + c->invalid;
	uint64_t all = c->sent > without ? c->sent - without : 0;

	if (stamped >= all)
		return c->late[source];
	return (uint64_t)ceil((double)c->late[source] * ((double)all / (double)stamped));
}

struct verdict verdict_of_tx(const struct tx_metrics *metrics, double sla)
{
	struct verdict v = { .source = SOURCE_COUNT };
	struct tx_stream *total = tx_metrics_total(metrics, NULL);
	const struct tx_counts *c;

	if (!total)
		return v;
	c = &total->counts;
	v.source = tx_best_source(total);
	if (metrics->options.deadline_ns && v.source != SOURCE_COUNT)
		v.late = late_of_all(total, v.source);
	v.due = c->records;
	v.missed = c->records - c->sent + c->missed + c->invalid + v.late;
	tx_stream_free(total);
	verdict_finish(&v, metrics->options.deadline_ns, sla);
	return v;
}

struct verdict verdict_of_rx(const struct rx_stream *total, int64_t deadline_ns, double sla)
{
	struct rx_counts counts = rx_stream_counts(total);
	struct verdict v = { .source = rx_best_source(total), .due = rx_expected(&counts) };

	if (deadline_ns)
		v.late = v.source == SOURCE_COUNT ? counts.sequence.unique : counts.late[v.source];
	v.missed = counts.sequence.lost + v.late;
	verdict_finish(&v, deadline_ns, sla);
	return v;
}

void verdict_print(FILE *out, const struct verdict *v)
{
	char share[SHARE_TEXT];

	if (!v->judged)
		return;
	fprintf(out,
		"\nVerdict: %s: %" PRIu64 " of %" PRIu64
		" not in time (%s), %.6g %% in time, demanded %.6g %%\n",
		v->met ? "met" : "MISSED", v->missed, v->due,
		format_share(v->missed, v->due, share), 100.0 * (1.0 - v->miss_rate),
		100.0 * v->required);
}

static json_t *number(uint64_t value)
{
	return value <= INT64_MAX ? json_integer((json_int_t)value) : json_real((double)value);
}

json_t *verdict_json(const struct verdict *v)
{
	json_t *o = json_object();

	json_object_set_new(o, "met", json_boolean(v->met));
	json_object_set_new(o, "due", number(v->due));
	json_object_set_new(o, "missed", number(v->missed));
	json_object_set_new(o, "late", number(v->late));
	if (v->source != SOURCE_COUNT)
		json_object_set_new(o, "source", json_string(source_name(v->source)));
	json_object_set_new(o, "miss_rate", json_real(v->miss_rate));
	json_object_set_new(o, "required", json_real(v->required));
	return o;
}

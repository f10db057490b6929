// SPDX-License-Identifier: GPL-2.0-only
#include "report/verdict.h"

#include <inttypes.h>

#include "base/units.h"
#include "report/text.h"

/* 1 - miss_rate would round: whole frames are compared. */
static bool allowed(const struct verdict *v, uint64_t missed)
{
	return (double)missed <= (1.0 - v->required) * (double)v->due * (1 + 1e-12);
}

void verdict_finish(struct verdict *v, int64_t deadline_ns, double sla)
{
	if (v->missed > v->due)
		v->missed = v->due;
	if (!deadline_ns)
		v->unjudged = 0;
	if (v->unjudged > v->due - v->missed)
		v->unjudged = v->due - v->missed;
	if (v->unlogged > v->due - v->missed - v->unjudged)
		v->unlogged = v->due - v->missed - v->unjudged;
	v->judged = deadline_ns || sla > 0;
	v->miss_rate = v->due ? (double)v->missed / (double)v->due : 0.0;
	v->required = sla > 0 ? sla : 1.0;
	/* of nothing nothing is proven */
	v->met = v->due && allowed(v, v->missed + v->unjudged + v->unlogged);
	v->known = v->due && (v->met || !allowed(v, v->missed));
}

const char *verdict_word(const struct verdict *v)
{
	return !v->known ? "not known" : v->met ? "met" : "missed";
}

/*
 * Of those sent in time, as far as the qdisc knows, and while the clock was trusted; what the stamped ones tell is taken to be
 * true of all.
 */
static uint64_t late_of_all(const struct tx_stream *total, enum stamp_source source)
{
	const struct tx_counts *c = &total->counts;
	uint64_t stamped = total->launch_error[source]->count;
	uint64_t without = c->missed + c->invalid + c->untimed;
	uint64_t all = c->sent > without ? c->sent - without : 0;

	if (stamped >= all || !stamped)
		return c->late[source];
	/* rounded up, and in integers: a frame too many is more than all where all were late */
	return (uint64_t)(((unsigned __int128)c->late[source] * all + stamped - 1) / stamped);
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
	v.unjudged = v.source == SOURCE_COUNT ? c->sent - c->missed - c->invalid : c->untimed;
	tx_stream_free(total);
	verdict_finish(&v, metrics->options.deadline_ns, sla);
	return v;
}

struct verdict verdict_of_rx(const struct rx_stream *total, int64_t deadline_ns, double sla)
{
	struct rx_counts counts = rx_stream_counts(total);
	struct verdict v = { .source = rx_best_source(total), .due = rx_expected(&counts) };

	uint64_t judged = 0;

	if (v.source != SOURCE_COUNT) {
		judged = total->latency[v.source]->count;
		v.late = deadline_ns ? counts.late[v.source] : 0;
		v.unjudged = counts.unsure[v.source];
	}
	if (counts.sequence.unique > judged)
		v.unjudged += counts.sequence.unique - judged;
	v.missed = counts.sequence.lost + v.late;
	verdict_finish(&v, deadline_ns, sla);
	return v;
}

static const char *const of_texts[] = {
	[LIMIT_OF_LATENCY] = "latency",
	[LIMIT_OF_LAUNCH_ERROR] = "launch error",
	[LIMIT_OF_WAKEUP] = "wake-up latency",
};

static void print_limit(FILE *out, const struct verdict_limit *limit)
{
	char deadline[DURATION_TEXT];

	if (limit->deadline_ns)
		fprintf(out, "%s at most %s", of_texts[limit->of],
			format_duration(limit->deadline_ns, deadline));
	else
		fputs("no deadline", out);
	if (limit->sla > 0)
		fprintf(out, ", %.12g %%", 100.0 * limit->sla);
}

static bool has_limit(const struct verdict_limit *limit)
{
	return limit->deadline_ns || limit->sla > 0;
}

static void print_share(FILE *out, const struct verdict *v)
{
	char share[SHARE_TEXT];
	double in_time;

	fprintf(out, "\nVerdict: %s: %" PRIu64 " of %" PRIu64 " not in time (%s)",
		!v->known ? "NOT KNOWN"
		: v->met  ? "met"
			  : "MISSED",
		v->missed, v->due, format_share(v->missed, v->due, share));
	if (v->unjudged)
		fprintf(out, ", %" PRIu64 " not judged (%s: clock not in sync, or no stamp)",
			v->unjudged, format_share(v->unjudged, v->due, share));
	if (v->unlogged)
		fprintf(out, ", %" PRIu64 " without a record (%s: the log lacks some)", v->unlogged,
			format_share(v->unlogged, v->due, share));
	in_time = 100.0 *
		  ((double)(v->due - v->missed - v->unjudged - v->unlogged) / (double)v->due);
	/* all but one of millions are not all */
	fprintf(out, ", %.*g %% in time, demanded %.12g %%\n", in_time > 99 ? 12 : 6, in_time,
		100.0 * v->required);
}

void verdict_print(FILE *out, const struct verdict *v)
{
	static const char *const from[] = {
		[LIMIT_RX_LOG] = "from the receiver's log",
		[LIMIT_TX_LOG] = "from the sender's log",
		[LIMIT_WAKE_LOG] = "from the log",
	};

	if (!v->judged)
		return;
	if (v->due)
		print_share(out, v);
	else
		fputs("\nVerdict: NOT KNOWN: there is nothing to judge\n", out);
	if (!has_limit(&v->limit) || v->limit.from == LIMIT_OPTIONS)
		return;
	fprintf(out, "  limit %s: ", from[v->limit.from]);
	print_limit(out, &v->limit);
	if (has_limit(&v->other)) {
		fputs("; the sender's log has another: ", out);
		print_limit(out, &v->other);
	}
	fputc('\n', out);
}

static json_t *number(uint64_t value)
{
	return value <= INT64_MAX ? json_integer((json_int_t)value) : json_real((double)value);
}

static json_t *limit_json(const struct verdict_limit *limit)
{
	static const char *const from[] = {
		[LIMIT_OPTIONS] = "options",
		[LIMIT_RX_LOG] = "rx log",
		[LIMIT_TX_LOG] = "tx log",
		[LIMIT_WAKE_LOG] = "wake log",
	};
	static const char *const of[] = {
		[LIMIT_OF_LATENCY] = "latency",
		[LIMIT_OF_LAUNCH_ERROR] = "launch_error",
		[LIMIT_OF_WAKEUP] = "wakeup",
	};
	json_t *o = json_object();

	json_object_set_new(o, "from", json_string(from[limit->from]));
	if (limit->deadline_ns) {
		json_object_set_new(o, "of", json_string(of[limit->of]));
		json_object_set_new(o, "deadline_ns", json_integer(limit->deadline_ns));
	}
	if (limit->sla > 0)
		json_object_set_new(o, "sla", json_real(limit->sla));
	return o;
}

json_t *verdict_json(const struct verdict *v)
{
	json_t *o = json_object();

	json_object_set_new(o, "is", json_string(verdict_word(v)));
	json_object_set_new(o, "met", json_boolean(v->met));
	json_object_set_new(o, "due", number(v->due));
	json_object_set_new(o, "missed", number(v->missed));
	json_object_set_new(o, "late", number(v->late));
	json_object_set_new(o, "unjudged", number(v->unjudged));
	if (v->unlogged)
		json_object_set_new(o, "unlogged", number(v->unlogged));
	if (v->source != SOURCE_COUNT)
		json_object_set_new(o, "source", json_string(source_name(v->source)));
	json_object_set_new(o, "miss_rate", json_real(v->miss_rate));
	json_object_set_new(o, "required", json_real(v->required));
	if (has_limit(&v->limit))
		json_object_set_new(o, "limit", limit_json(&v->limit));
	if (has_limit(&v->other))
		json_object_set_new(o, "other_limit", limit_json(&v->other));
	return o;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "report/summary.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/units.h"
#include "report/explain.h"
#include "report/json.h"
#include "report/text.h"

static void print_series(FILE *out, const char *name, const struct sync_series *s)
{
	const struct histogram *h = &s->offsets;
	struct stability rows[STABILITY_ROWS];
	double interval_s;
	int64_t p99;
	size_t used, n;

	if (!h->count)
		return;
	fprintf(out,
		"\n  %s: %" PRIu64 " values, mean %.1f ns, rms %.1f ns, min %" PRId64
		" ns, max %" PRId64 " ns",
		name, h->count, histogram_mean(h), sync_rms_ns(h), h->min, h->max);
	if (histogram_percentile(h, 100, &p99))
		fprintf(out, ", P99 %" PRId64 " ns", p99);
	fputc('\n', out);
	if (s->cut)
		fprintf(out, "  %" PRIu64 " values beyond the first %zu are not in the table\n",
			s->cut, s->count);
	n = sync_stability(s, rows, &used, &interval_s);
	if (!n)
		return;
	if (used < s->count)
		fprintf(out, "  the table is of the longest stretch without a gap, %zu values\n",
			used);
	fprintf(out, "  %10s %14s %14s %14s\n", "tau s", "MTIE ns", "TDEV ns", "ADEV");
	for (size_t i = 0; i < n; i++) {
		fprintf(out, "  %10.4g", rows[i].tau_s);
		if (rows[i].mtie_ns >= 0)
			fprintf(out, " %14.0f", rows[i].mtie_ns);
		else
			fprintf(out, " %14s", "-");
		if (rows[i].tdev_ns >= 0)
			fprintf(out, " %14.3f", rows[i].tdev_ns);
		else
			fprintf(out, " %14s", "-");
		if (rows[i].adev >= 0)
			fprintf(out, " %14.3e\n", rows[i].adev);
		else
			fprintf(out, " %14s\n", "-");
	}
}

void summary_print_sync(FILE *out, const char *title, const struct sync_metrics *m)
{
	if (!m->records)
		return;
	fprintf(out, "\n%s: %" PRIu64 " records, %" PRIu64 " of them not in sync\n", title,
		m->records, m->not_good);
	print_series(out, "offset from master", &m->master);
	print_series(out, "PHC - CLOCK_TAI", &m->phc);
}

/* What both clocks may be off by, for one-way figures; -1: a side did not tell. */
struct uncertainty {
	int64_t sender_ns, receiver_ns, total_ns;
};

static struct uncertainty uncertainty_of(const struct analysis *a, enum stamp_source rx)
{
	/* the launch time is kept by the sender's NIC, else by its system clock: both at worst */
	struct uncertainty u = {
		.sender_ns = clock_uncertainty_ns(&a->tx_sync, SOURCE_USER),
		.receiver_ns = clock_uncertainty_ns(&a->rx_sync, rx),
		.total_ns = -1,
	};

	if (u.sender_ns >= 0 && u.receiver_ns >= 0 &&
	    !(clock_is_master(&a->tx_sync) && clock_is_master(&a->rx_sync)) &&
	    __builtin_add_overflow(u.sender_ns, u.receiver_ns, &u.total_ns))
		u.total_ns = INT64_MAX;
	return u;
}

static void print_side(FILE *out, const char *side, int64_t ns)
{
	if (ns >= 0)
		fprintf(out, "%s %" PRId64 " ns", side, ns);
	else
		fprintf(out, "%s not known", side);
}

static uint64_t count_negative(const struct histogram *h)
{
	struct histogram_bucket bucket;
	uint32_t cursor = 0;
	uint64_t count = 0;

	while (histogram_next(h, &cursor, &bucket) && bucket.high < 0)
		count += bucket.count;
	return count;
}

static void print_uncertainty(FILE *out, const struct analysis *a, const struct rx_stream *total)
{
	enum stamp_source best = rx_best_source(total);
	struct uncertainty u;
	int told = 0;

	if (best == SOURCE_COUNT)
		return;
	/* each column of latencies has its own: a hw stamp knows nothing of the system clock */
	for (int i = 0; i < SOURCE_COUNT; i++) {
		if (!total->latency[i] || !total->latency[i]->count ||
		    !(a->rx_sync.records || a->tx_sync.records))
			continue;
		u = uncertainty_of(a, (enum stamp_source)i);
		fprintf(out, "%s  latency(%s) is uncertain by the clocks: ", told++ ? "" : "\n",
			source_name((enum stamp_source)i));
		print_side(out, "sender", u.sender_ns);
		print_side(out, ", receiver", u.receiver_ns);
		if (u.total_ns >= 0)
			fprintf(out, ", together +-%" PRId64 " ns", u.total_ns);
		else if (u.sender_ns >= 0 && u.receiver_ns >= 0)
			fputs(", together not known: both are grandmasters", out);
		fputc('\n', out);
	}
	if (told)
		fputs("  (largest offset from the master and of the PHC, half of the reading "
		      "window)\n",
		      out);
	u = uncertainty_of(a, best);
	if (total->latency[best]->min >= 0)
		return;
	fprintf(out,
		"\n  %" PRIu64 " latencies are negative, down to %" PRId64
		" ns (%s): no frame arrives before its launch,\n  so the two clocks differ",
		count_negative(total->latency[best]), total->latency[best]->min, source_name(best));
	if (u.total_ns >= 0 && -u.total_ns <= total->latency[best]->min)
		fprintf(out, ", within the uncertainty of %" PRId64 " ns", u.total_ns);
	else if (u.total_ns >= 0)
		fprintf(out, ", by more than the uncertainty of %" PRId64 " ns tells", u.total_ns);
	fputs(", or the sender launched early (see its launch error)\n", out);
}

static void print_join(FILE *out, const struct analysis *a)
{
	struct join_counts c = a->join;
	char share[SHARE_TEXT];

	fputs("\nJoined\n", out);
	if (!a->joined) {
		fputs("  the logs have no run in common: each is reported alone\n", out);
		return;
	}
	fprintf(out, "  %-14s %12" PRIu64 "\n", "sent", c.sent);
	fprintf(out, "  %-14s %12" PRIu64 "  %s\n", "received", c.matched,
		format_share(c.matched, c.sent, share));
	fprintf(out, "  %-14s %12" PRIu64 "  %s  (before the first and after the last one too)\n",
		"not received", c.not_received, format_share(c.not_received, c.sent, share));
	if (c.not_taken)
		fprintf(out,
			"  %-14s %12" PRIu64
			"  sent beside them, of runs or streams that the receiver was not to take "
			"(--run, --stream)\n",
			"not taken", c.not_taken);
	if (c.not_sent)
		fprintf(out,
			"  %-14s %12" PRIu64 "  received, but not in the sender's log near them\n",
			"not sent", c.not_sent);
	if (c.repeated)
		fprintf(out, "  %-14s %12" PRIu64 "  numbers that the sender's log has twice\n",
			"repeated", c.repeated);
}

static void explain(const struct analysis *a, struct explanation *e)
{
	explain_figures(e, a->tx, a->rx, *a->pacing ? a->pacing : NULL,
			a->joined ? (int64_t)a->join.not_received : -1);
}

void summary_print(FILE *out, const struct analysis *a)
{
	struct explanation explanation;

	struct verdict verdict = analysis_verdict(a);

	if (a->tx)
		text_print_tx(out, a->tx);
	if (a->rx) {
		struct rx_stream *total = rx_metrics_total(a->rx, NULL);

		if (a->tx)
			fputc('\n', out);
		text_print_rx(out, a->rx);
		if (total)
			print_uncertainty(out, a, total);
		rx_stream_free(total);
	}
	if (a->rx && a->tx)
		print_join(out, a);
	if (a->wake)
		text_print_wake(out, a->wake);
	summary_print_sync(out, "Sender's clock", &a->tx_sync);
	summary_print_sync(out, "Receiver's clock", &a->rx_sync);
	summary_print_sync(out, "Clock", &a->sync[0]);
	summary_print_sync(out, "Clock (second log)", &a->sync[1]);
	explain(a, &explanation);
	explain_print(out, &explanation);
	verdict_print(out, &verdict);
}

static json_t *number(uint64_t value)
{
	return value <= INT64_MAX ? json_integer((json_int_t)value) : json_real((double)value);
}

static json_t *series_json(const char *key, const struct sync_series *s)
{
	struct figure figure = { .key = key, .formula = "", .histogram = &s->offsets };
	struct stability rows[STABILITY_ROWS];
	json_t *o = json_of_figure(&figure), *table = json_array();
	double interval_s;
	size_t used, n = sync_stability(s, rows, &used, &interval_s);

	json_object_del(o, "formula");
	json_object_del(o, "source");
	json_object_set_new(o, "rms_ns", json_real(sync_rms_ns(&s->offsets)));
	json_object_set_new(o, "values_in_table", number(used));
	for (size_t i = 0; i < n; i++) {
		json_t *row = json_object();

		json_object_set_new(row, "tau_s", json_real(rows[i].tau_s));
		if (rows[i].mtie_ns >= 0)
			json_object_set_new(row, "mtie_ns", json_real(rows[i].mtie_ns));
		if (rows[i].tdev_ns >= 0)
			json_object_set_new(row, "tdev_ns", json_real(rows[i].tdev_ns));
		if (rows[i].adev >= 0)
			json_object_set_new(row, "adev", json_real(rows[i].adev));
		json_array_append_new(table, row);
	}
	json_object_set_new(o, "stability", table);
	return o;
}

static void set_sync(json_t *document, const char *key, const struct sync_metrics *m)
{
	json_t *o;

	if (!m->records)
		return;
	o = json_object();
	json_object_set_new(o, "records", number(m->records));
	json_object_set_new(o, "not_good", number(m->not_good));
	if (m->master.offsets.count)
		json_object_set_new(o, "master_offset", series_json("master_offset", &m->master));
	if (m->phc.offsets.count)
		json_object_set_new(o, "phc_offset", series_json("phc_offset", &m->phc));
	json_object_set_new(document, key, o);
}

static void set_uncertainty(json_t *document, const struct analysis *a)
{
	struct rx_stream *total = rx_metrics_total(a->rx, NULL);
	enum stamp_source best = total ? rx_best_source(total) : SOURCE_COUNT;
	struct uncertainty u;
	json_t *o;

	if (best != SOURCE_COUNT) {
		u = uncertainty_of(a, best);
		o = json_object();
		if (u.sender_ns >= 0)
			json_object_set_new(o, "sender_ns", json_integer(u.sender_ns));
		if (u.receiver_ns >= 0)
			json_object_set_new(o, "receiver_ns", json_integer(u.receiver_ns));
		if (u.total_ns >= 0)
			json_object_set_new(o, "total_ns", json_integer(u.total_ns));
		json_object_set_new(o, "negative_latencies",
				    number(count_negative(total->latency[best])));
		json_object_set_new(document, "clock_uncertainty", o);
	}
	rx_stream_free(total);
}

static json_t *join_json(const struct analysis *a)
{
	json_t *o = json_object();

	json_object_set_new(o, "common_run", json_boolean(a->joined));
	json_object_set_new(o, "sent", number(a->join.sent));
	json_object_set_new(o, "received", number(a->join.matched));
	json_object_set_new(o, "not_received", number(a->join.not_received));
	json_object_set_new(o, "not_sent", number(a->join.not_sent));
	json_object_set_new(o, "not_taken", number(a->join.not_taken));
	json_object_set_new(o, "repeated", number(a->join.repeated));
	return o;
}

json_t *summary_json(const struct analysis *a)
{
	struct verdict v = analysis_verdict(a);
	struct explanation explanation;
	json_t *o = json_object();

	if (a->tx)
		json_object_set_new(o, "tx", json_of_tx(a->tx));
	if (a->rx) {
		json_object_set_new(o, "rx", json_of_rx(a->rx));
		set_uncertainty(o, a);
	}
	if (a->rx && a->tx)
		json_object_set_new(o, "join", join_json(a));
	if (a->wake)
		json_object_set_new(o, "wake", json_of_wake(a->wake));
	set_sync(o, "tx_sync", &a->tx_sync);
	set_sync(o, "rx_sync", &a->rx_sync);
	set_sync(o, "sync", &a->sync[0]);
	set_sync(o, "sync_second", &a->sync[1]);
	explain(a, &explanation);
	if (a->tx || a->rx)
		json_object_set_new(o, "explanation", explain_json(&explanation));
	if (v.judged)
		json_object_set_new(o, "verdict", verdict_json(&v));
	return o;
}

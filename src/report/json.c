// SPDX-License-Identifier: GPL-2.0-only
#include "report/json.h"

#include <errno.h>

static void set_count(json_t *object, const char *key, uint64_t value)
{
	/* JSON integers are signed 64-bit here: a larger one is told as a real number */
	json_object_set_new(object, key,
			    value <= INT64_MAX ? json_integer((json_int_t)value)
					       : json_real((double)value));
}

static void set_run(json_t *object, uint32_t run)
{
	json_object_set_new(object, "run", json_sprintf("%08x", run));
}

json_t *json_of_figure(const struct figure *f)
{
	const struct histogram *h = f->histogram;
	json_t *o = json_object();

	json_object_set_new(o, "figure", json_string(f->key));
	json_object_set_new(o, "formula", json_string(f->formula));
	json_object_set_new(o, "source", json_string(f->source));
	set_count(o, "count", h->count);
	json_object_set_new(o, "min_ns", json_integer(h->min + f->shift));
	json_object_set_new(o, "mean_ns", json_real(histogram_mean(h) + (double)f->shift));
	json_object_set_new(o, "stddev_ns", json_real(histogram_stddev(h)));
	for (size_t p = 0; p < percentile_count; p++) {
		char key[24];
		int64_t value;

		if (!histogram_percentile(h, percentiles[p].tail, &value))
			break;
		snprintf(key, sizeof(key), "%s_ns", percentiles[p].key);
		json_object_set_new(o, key, json_integer(value + f->shift));
	}
	json_object_set_new(o, "max_ns", json_integer(h->max + f->shift));
	set_count(o, "min_seq", h->min_seq);
	set_count(o, "max_seq", h->max_seq);
	json_object_set_new(o, "min_stream", json_integer(h->min_stream));
	json_object_set_new(o, "max_stream", json_integer(h->max_stream));
	if (h->approximate)
		json_object_set_new(o, "bucket_bits", json_integer(h->bits));
	return o;
}

json_t *json_of_histogram(const struct histogram *h)
{
	json_t *array = json_array();
	struct histogram_bucket bucket;
	uint32_t cursor = 0;

	while (histogram_next(h, &cursor, &bucket)) {
		json_t *o = json_object();

		json_object_set_new(o, "low_ns", json_integer(bucket.low));
		json_object_set_new(o, "high_ns", json_integer(bucket.high));
		set_count(o, "count", bucket.count);
		json_array_append_new(array, o);
	}
	return array;
}

static json_t *figures_array(const struct figure *figures, size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, json_of_figure(&figures[i]));
	return array;
}

static json_t *late_object(enum stamp_source source, int64_t deadline_ns, uint64_t judged,
			   uint64_t late)
{
	json_t *o = json_object();

	json_object_set_new(o, "source", json_string(source_name(source)));
	json_object_set_new(o, "deadline_ns", json_integer(deadline_ns));
	set_count(o, "judged", judged);
	set_count(o, "late", late);
	json_object_set_new(o, "miss_rate", json_real((double)late / (double)judged));
	return o;
}

static json_t *tx_counts_object(const struct tx_stream *s, int64_t deadline_ns)
{
	const struct tx_counts *c = &s->counts;
	enum stamp_source best = tx_best_source(s);
	json_t *o = json_object();

	set_count(o, "due", c->records);
	set_count(o, "sent", c->sent);
	set_count(o, "skipped", c->skipped);
	set_count(o, "refused", c->refused);
	set_count(o, "link_down", c->link_down);
	set_count(o, "paused", c->paused);
	set_count(o, "missed", c->missed);
	set_count(o, "invalid", c->invalid);
	set_count(o, "unsynced", c->unsynced);
	if (deadline_ns && best != SOURCE_COUNT)
		json_object_set_new(o, "late",
				    late_object(best, deadline_ns, s->launch_error[best]->count,
						c->late[best]));
	return o;
}

json_t *json_of_tx(const struct tx_metrics *m)
{
	struct figure figures[FIGURES_MAX];
	struct tx_stream *total = tx_metrics_total(m, NULL);
	json_t *o = json_object(), *streams = json_array(), *counts;
	size_t n;

	if (!total)
		goto out;
	counts = tx_counts_object(total, m->options.deadline_ns);
	set_count(counts, "other_frames", m->other_frames);
	json_object_set_new(o, "sent", counts);
	n = figures_of_tx(total, false, figures);
	n += figures_of_wakeups(m, figures + n);
	json_object_set_new(o, "figures", figures_array(figures, n));
	for (size_t i = 0; i < m->count; i++) {
		const struct tx_stream *s = m->streams[i];
		json_t *stream = json_object();

		set_run(stream, s->run);
		json_object_set_new(stream, "stream", json_integer(s->stream));
		json_object_set_new(stream, "sent", tx_counts_object(s, m->options.deadline_ns));
		n = figures_of_tx(s, false, figures);
		json_object_set_new(stream, "figures", figures_array(figures, n));
		json_array_append_new(streams, stream);
	}
	json_object_set(o, "streams", streams);
	tx_stream_free(total);
out:
	json_decref(streams);
	return o;
}

static json_t *rx_counts_object(const struct rx_stream *s, int64_t deadline_ns)
{
	struct rx_counts c = rx_stream_counts(s);
	enum stamp_source best = rx_best_source(s);
	json_t *o = json_object();

	set_count(o, "frames", s->frames);
	set_count(o, "unique", c.sequence.unique);
	set_count(o, "lost", c.sequence.lost);
	set_count(o, "duplicate", c.sequence.duplicate);
	set_count(o, "reordered", c.sequence.reordered);
	set_count(o, "reordered_by", c.sequence.reorder_max);
	set_count(o, "stray", c.sequence.stray);
	set_count(o, "gaps", c.sequence.gaps);
	set_count(o, "gap_max", c.sequence.gap_max);
	set_count(o, "before_first", c.sequence.before_first);
	set_count(o, "restarts", c.sequence.restarts);
	set_count(o, "unsynced", c.unsynced);
	if (deadline_ns && best != SOURCE_COUNT)
		json_object_set_new(
			o, "late",
			late_object(best, deadline_ns, s->latency[best]->count, c.late[best]));
	return o;
}

json_t *json_of_rx(const struct rx_metrics *m)
{
	struct figure figures[FIGURES_MAX];
	struct rx_stream *total = rx_metrics_total(m, NULL);
	json_t *o = json_object(), *streams = json_array(), *counts;

	if (!total)
		goto out;
	counts = rx_counts_object(total, m->options.deadline_ns);
	set_count(counts, "other_frames", m->other_frames);
	set_count(counts, "other_pairs", m->other_pairs);
	set_count(counts, "former_pairs", m->former_pairs);
	json_object_set_new(o, "received", counts);
	json_object_set_new(o, "figures",
			    figures_array(figures, figures_of_rx(total, false, figures)));
	for (size_t i = 0; i < m->count; i++) {
		const struct rx_stream *s = m->streams[i];
		json_t *stream = json_object();

		set_run(stream, s->run);
		json_object_set_new(stream, "stream", json_integer(s->stream));
		json_object_set_new(stream, "received",
				    rx_counts_object(s, m->options.deadline_ns));
		json_object_set_new(stream, "figures",
				    figures_array(figures, figures_of_rx(s, false, figures)));
		json_array_append_new(streams, stream);
	}
	json_object_set(o, "streams", streams);
	rx_stream_free(total);
out:
	json_decref(streams);
	return o;
}

json_t *json_of_wake(const struct wake_metrics *m)
{
	struct figure figures[FIGURES_MAX];
	json_t *o = json_object();

	set_count(o, "wakeups", m->latency.count);
	set_count(o, "skipped", m->skipped);
	set_count(o, "unsynced", m->unsynced);
	if (m->deadline_ns) {
		json_object_set_new(o, "deadline_ns", json_integer(m->deadline_ns));
		set_count(o, "late", m->late);
		if (m->latency.count)
			json_object_set_new(o, "miss_rate",
					    json_real((double)(m->late + m->skipped) /
						      (double)(m->latency.count + m->skipped)));
	}
	json_object_set_new(o, "figures", figures_array(figures, figures_of_wake(m, figures)));
	return o;
}

int json_print(FILE *out, json_t *document, struct error *err)
{
	int failed = !document ||
		     json_dumpf(document, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15));

	if (!failed)
		failed = fputc('\n', out) == EOF || fflush(out);
	json_decref(document);
	return failed ? error_errno(err, errno, "cannot write the JSON document") : 0;
}

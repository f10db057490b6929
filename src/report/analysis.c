// SPDX-License-Identifier: GPL-2.0-only
#include "report/analysis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "data/description.h"

#define READ_RECORDS 8192

struct pass {
	struct analysis *a;
	struct error *err;
	bool failed;
};

static int show(struct pass *p, const struct joined_frame *frame)
{
	const struct analysis_options *o = &p->a->options;

	for (size_t i = 0; i < o->sink_count && !p->failed; i++)
		if (o->sinks[i].frame(o->sinks[i].context, frame, p->err))
			p->failed = true;
	return p->failed ? -1 : 0;
}

static void on_sent(void *context, const struct tx_record *r)
{
	struct pass *p = context;
	struct joined_frame frame = { .tx = r };

	if (r->stream == RECORD_STREAM_SYNC) {
		sync_metrics_add(&p->a->tx_sync, (const void *)r);
		return;
	}
	tx_metrics_add(p->a->tx, r);
	/* with an RX log a frame is shown once: when it arrives, or is known to be lost */
	if (!p->a->rx || !(r->status & TX_SENT))
		show(p, &frame);
}

static void on_lost(void *context, const struct tx_record *r)
{
	struct joined_frame frame = { .tx = r, .lost = true };

	show(context, &frame);
}

/*
 * A block of the receiver's log. It is joined in its order, then measured stream by stream: with many
 * streams their histograms do not fit into the cache together, and going from one to the next with each
 * record takes several times as long. The order within a stream stays.
 */
struct rx_block {
	size_t count;
	struct rx_record rx[READ_RECORDS];
	struct tx_record tx[READ_RECORDS];
	bool has_tx[READ_RECORDS];
	enum sequence_verdict verdict[READ_RECORDS];
	uint16_t order[READ_RECORDS];
};

#define GROUPS 256 /* streams that differ in their last 8 bits */

static void group_by_stream(struct rx_block *b)
{
	uint16_t start[GROUPS + 1] = { 0 };

	for (size_t i = 0; i < b->count; i++)
		start[b->rx[i].stream % GROUPS + 1]++;
	for (size_t g = 0; g < GROUPS; g++)
		start[g + 1] = (uint16_t)(start[g + 1] + start[g]);
	for (size_t i = 0; i < b->count; i++)
		b->order[start[b->rx[i].stream % GROUPS]++] = (uint16_t)i;
}

static void join_block(struct pass *p, struct rx_block *b, struct join *join)
{
	for (size_t i = 0; i < b->count && !p->failed; i++) {
		const struct tx_record *tx = NULL;

		if (b->rx[i].stream != RECORD_STREAM_SYNC && join)
			tx = join_find(join, &b->rx[i], p->err);
		b->has_tx[i] = tx != NULL;
		if (tx)
			b->tx[i] = *tx;
		p->failed |= p->err->status != 0;
	}
}

static void measure_block(struct pass *p, struct rx_block *b)
{
	struct analysis *a = p->a;

	group_by_stream(b);
	for (size_t k = 0; k < b->count; k++) {
		size_t i = b->order[k];
		const struct rx_record *r = &b->rx[i];
		struct rx_stream *stream;

		if (r->stream == RECORD_STREAM_SYNC) {
			sync_metrics_add(&a->rx_sync, (const void *)r);
			continue;
		}
		b->verdict[i] = SEQUENCE_STRAY;
		stream = rx_metrics_add(a->rx, r, &b->verdict[i]);
		if (stream && b->has_tx[i] && !(r->flags & RX_UNSYNCED) &&
		    !(b->tx[i].status & TX_UNSYNCED) &&
		    (b->verdict[i] == SEQUENCE_IN_ORDER || b->verdict[i] == SEQUENCE_REORDERED))
			rx_stream_add_path(stream, &a->rx->options, r, &b->tx[i]);
	}
}

static void show_block(struct pass *p, const struct rx_block *b)
{
	for (size_t i = 0; i < b->count && !p->failed && p->a->options.sink_count; i++) {
		const struct joined_frame frame = {
			.rx = &b->rx[i],
			.tx = b->has_tx[i] ? &b->tx[i] : NULL,
			.verdict = b->verdict[i],
		};

		if (b->rx[i].stream != RECORD_STREAM_SYNC)
			show(p, &frame);
	}
}

static int read_rx(struct pass *p, struct log_reader *log, struct join *join)
{
	struct rx_block *b = malloc(sizeof(*b));
	int64_t n = 0;

	if (!b)
		return error_errno(p->err, ENOMEM, "report");
	while (!p->failed && (n = log_read(log, b->rx, READ_RECORDS, p->err)) > 0) {
		b->count = (size_t)n;
		join_block(p, b, join);
		if (p->failed)
			break;
		measure_block(p, b);
		show_block(p, b);
	}
	free(b);
	return n < 0 || p->failed ? -1 : 0;
}

/* All records of a log of one kind, each given to `add`. */
static int read_all(struct pass *p, struct log_reader *log,
		    void (*add)(struct pass *p, const void *record))
{
	uint8_t *records = malloc(READ_RECORDS * RECORD_SIZE);
	int64_t n = 0;

	if (!records)
		return error_errno(p->err, ENOMEM, "report");
	while (!p->failed && (n = log_read(log, records, READ_RECORDS, p->err)) > 0)
		for (int64_t i = 0; i < n && !p->failed; i++)
			add(p, records + i * RECORD_SIZE);
	free(records);
	return n < 0 || p->failed ? -1 : 0;
}

static void add_tx(struct pass *p, const void *record)
{
	on_sent(p, record);
}

static void add_wake(struct pass *p, const void *record)
{
	struct joined_frame frame = { .wake = record };

	if (frame.wake->stream == RECORD_STREAM_SYNC) {
		sync_metrics_add(&p->a->tx_sync, record);
		return;
	}
	wake_metrics_add(p->a->wake, record);
	show(p, &frame);
}

static void add_sync_0(struct pass *p, const void *record)
{
	sync_metrics_add(&p->a->sync[0], record);
}

static void add_sync_1(struct pass *p, const void *record)
{
	sync_metrics_add(&p->a->sync[1], record);
}

enum stamp_source analysis_rx_stamp(const struct log_reader *log)
{
	const char *stamps = description_text(log_description(log), "stamps");

	return stamps && !strcmp(stamps, "sw") ? SOURCE_SW : SOURCE_XDP;
}

int64_t analysis_deadline(const struct analysis_options *options, const struct log_reader *log)
{
	int64_t deadline = options->deadline_ns;

	if (!deadline)
		deadline = description_number(log_description(log), "deadline_ns", 0);
	return deadline > 0 ? deadline : 0;
}

static int prepare(struct analysis *a, const struct analysis_logs *logs, struct error *err)
{
	if (logs->rx) {
		struct rx_options options = {
			.stamp = analysis_rx_stamp(logs->rx),
			.deadline_ns = analysis_deadline(&a->options, logs->rx),
			.no_peer_path = logs->tx != NULL,
			.no_recent = true,
		};

		a->rx = rx_metrics_new(&options);
		if (!a->rx)
			return error_errno(err, ENOMEM, "report");
	}
	if (logs->tx) {
		struct tx_options options = {
			.lead_ns = description_number(log_description(logs->tx), "lead_ns", -1),
			.deadline_ns = logs->rx ? 0 : analysis_deadline(&a->options, logs->tx),
		};

		a->tx = tx_metrics_new(&options);
		if (!a->tx)
			return error_errno(err, ENOMEM, "report");
	}
	if (logs->wake) {
		a->wake = calloc(1, sizeof(*a->wake));
		if (!a->wake)
			return error_errno(err, ENOMEM, "report");
		a->wake->deadline_ns = analysis_deadline(&a->options, logs->wake);
	}
	return 0;
}

static int read_joined(struct pass *p, const struct analysis_logs *logs)
{
	struct join *join = join_new(logs->tx, on_sent, on_lost, p);
	int result;

	if (!join)
		return error_errno(p->err, ENOMEM, "report");
	result = read_rx(p, logs->rx, join);
	if (!result)
		result = join_finish(join, p->err);
	p->a->join = join_counts(join);
	p->a->joined = join_shares_run(join);
	join_free(join);
	return result || p->failed ? -1 : 0;
}

int analysis_run(struct analysis *a, const struct analysis_options *options,
		 const struct analysis_logs *logs, struct error *err)
{
	struct pass p = { .a = a, .err = err };
	int result;

	memset(a, 0, sizeof(*a));
	a->options = *options;
	result = prepare(a, logs, err);
	if (!result && logs->rx && logs->tx)
		result = read_joined(&p, logs);
	else if (!result && logs->rx)
		result = read_rx(&p, logs->rx, NULL);
	else if (!result && logs->tx)
		result = read_all(&p, logs->tx, add_tx);
	if (!result && logs->wake)
		result = read_all(&p, logs->wake, add_wake);
	if (!result && logs->sync[0])
		result = read_all(&p, logs->sync[0], add_sync_0);
	if (!result && logs->sync[1])
		result = read_all(&p, logs->sync[1], add_sync_1);
	return result;
}

void analysis_free(struct analysis *a)
{
	rx_metrics_free(a->rx);
	tx_metrics_free(a->tx);
	if (a->wake)
		wake_metrics_free(a->wake);
	free(a->wake);
	sync_metrics_free(&a->rx_sync);
	sync_metrics_free(&a->tx_sync);
	sync_metrics_free(&a->sync[0]);
	sync_metrics_free(&a->sync[1]);
	memset(a, 0, sizeof(*a));
}

static void judge_rx(const struct analysis *a, struct verdict *v)
{
	/* frames of other runs that were seen too are not the sender's */
	bool one_run = a->joined && a->tx->count;
	struct rx_stream *total = rx_metrics_total(a->rx, one_run ? &a->tx->streams[0]->run : NULL);
	struct rx_counts c;

	if (!total)
		return;
	c = rx_stream_counts(total);
	v->source = rx_best_source(total);
	if (a->rx->options.deadline_ns && v->source != SOURCE_COUNT)
		v->late = c.late[v->source];
	if (a->joined) {
		v->due = a->join.sent;
		v->missed = a->join.not_received + v->late;
	} else {
		v->due = rx_expected(&c);
		v->missed = c.sequence.lost + v->late;
	}
	rx_stream_free(total);
}

struct verdict analysis_verdict(const struct analysis *a)
{
	struct verdict v = { .source = SOURCE_COUNT };
	int64_t deadline = 0;

	if (a->rx) {
		deadline = a->rx->options.deadline_ns;
		judge_rx(a, &v);
	} else if (a->tx) {
		return verdict_of_tx(a->tx, a->options.sla);
	} else if (a->wake) {
		deadline = a->wake->deadline_ns;
		v.due = a->wake->latency.count + a->wake->skipped;
		v.late = a->wake->late;
		v.missed = a->wake->late + a->wake->skipped;
		v.source = SOURCE_USER;
	}
	verdict_finish(&v, deadline, a->options.sla);
	return v;
}

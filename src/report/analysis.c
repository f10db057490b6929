// SPDX-License-Identifier: GPL-2.0-only
#include "report/analysis.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/worker.h"
#include "base/units.h"
#include "data/description.h"
#include "data/pairs.h"

#define READ_RECORDS 8192
#define RX_BLOCK \
	65536 /* so many records of one stream come together that its histograms stay in the cache */

/* Of the sender's log, as they are read: measured together. */
struct tx_block {
	size_t count;
	struct tx_record records[TX_BLOCK];
};

struct pass {
	struct analysis *a;
	struct error *err;
	bool failed;
	struct worker *tx_worker, *rx_worker;
	struct tx_block *sent; /* the one of the two that is being filled */
	struct tx_block tx_blocks[2];
};

static void measure_sent(void *context, void *block)
{
	const struct pass *p = context;
	struct tx_block *b = block;

	tx_metrics_add_block(p->a->tx, b->records, b->count);
	b->count = 0;
}

static int show(struct pass *p, const struct joined_frame *frame)
{
	const struct analysis_options *o = &p->a->options;

	for (size_t i = 0; i < o->sink_count && !p->failed; i++)
		if (o->sinks[i].frame(o->sinks[i].context, frame, p->err))
			p->failed = true;
	return p->failed ? -1 : 0;
}

static bool on_sent(void *context, const struct tx_record *r)
{
	struct pass *p = context;
	struct joined_frame frame = { .tx = r };
	bool taken;

	if (r->stream == RECORD_STREAM_SYNC) {
		sync_metrics_add(&p->a->tx_sync, (const void *)r);
		return false;
	}
	p->sent->records[p->sent->count++] = *r;
	if (p->sent->count == TX_BLOCK) {
		worker_give(p->tx_worker, p->sent);
		p->sent = p->sent == p->tx_blocks ? &p->tx_blocks[1] : p->tx_blocks;
	}
	/* with an RX log a frame is shown once: when it arrives, or is known to be lost */
	taken = p->a->rx && selection_has(&p->a->taken, r->run, r->stream);
	if (!taken || !(r->status & TX_SENT))
		show(p, &frame);
	return taken;
}

static bool is_late(const struct tx_record *r, int64_t stamp, int64_t deadline_ns)
{
	int64_t error;

	return deadline_ns && stamp != STAMP_NONE && r->launch != STAMP_NONE &&
	       !(r->status & TX_UNSYNCED) && !__builtin_sub_overflow(stamp, r->launch, &error) &&
	       error > deadline_ns;
}

static void on_lost(void *context, const struct tx_record *r)
{
	struct joined_frame frame = { .tx = r, .lost = true };
	struct pass *p = context;
	struct analysis *a = p->a;
	int64_t deadline_ns = a->tx->options.deadline_ns;

	a->lost_late[SOURCE_HW] += is_late(r, r->tx_hw, deadline_ns);
	a->lost_late[SOURCE_SW] += is_late(r, r->tx_sw, deadline_ns);
	a->lost_late[SOURCE_USER] += is_late(r, r->submit, deadline_ns);
	show(p, &frame);
}

/*
 * A block of the receiver's log. It is joined in its order, then measured stream by stream: with many
 * streams their histograms do not fit into the cache together, and going from one to the next with each
 * record takes several times as long. The order within a stream stays.
 */
struct rx_block {
	size_t count;
	struct rx_record rx[RX_BLOCK];
	struct sent {
		int64_t hw, sw; /* the sender's stamps; none where it was not in sync */
	} sent[RX_BLOCK];
	bool unsynced
		[RX_BLOCK]; /* at the sender: its launch time is as little worth as a stamp of the receiver's then */
	uint16_t order[RX_BLOCK];
	/* where frames are shown one by one, else NULL */
	struct shown {
		bool has_tx;
		enum sequence_verdict verdict;
		struct tx_record tx;
	} * shown;
};

static void join_block(struct pass *p, struct rx_block *b, struct join *join)
{
	for (size_t i = 0; i < b->count && !p->failed; i++) {
		const struct tx_record *tx = NULL;

		if (b->rx[i].stream != RECORD_STREAM_SYNC && join)
			tx = join_find(join, &b->rx[i], p->err);
		if (tx && !(tx->status & TX_UNSYNCED))
			b->sent[i] = (struct sent){ tx->tx_hw, tx->tx_sw };
		else
			b->sent[i] = (struct sent){ STAMP_NONE, STAMP_NONE };
		b->unsynced[i] = tx && tx->status & TX_UNSYNCED;
		if (b->shown) {
			b->shown[i].has_tx = tx != NULL;
			if (tx)
				b->shown[i].tx = *tx;
		}
		p->failed |= p->err->status != 0;
	}
}

static void measure_frame(struct pass *p, struct rx_block *b, size_t i)
{
	struct analysis *a = p->a;
	const struct rx_record *r = &b->rx[i];
	enum sequence_verdict verdict = SEQUENCE_STRAY;
	struct rx_stream *stream;

	if (r->stream == RECORD_STREAM_SYNC) {
		sync_metrics_add(&a->rx_sync, (const void *)r);
		return;
	}
	if (b->unsynced[i]) {
		struct rx_record marked = *r;

		marked.flags |= RX_UNSYNCED;
		stream = rx_metrics_add(a->rx, &marked, &verdict);
	} else {
		stream = rx_metrics_add(a->rx, r, &verdict);
	}
	if (b->shown)
		b->shown[i].verdict = verdict;
	if (stream && !(r->flags & RX_UNSYNCED) &&
	    (b->sent[i].hw != STAMP_NONE || b->sent[i].sw != STAMP_NONE) &&
	    (verdict == SEQUENCE_IN_ORDER || verdict == SEQUENCE_REORDERED)) {
		const struct tx_record tx = { .tx_hw = b->sent[i].hw, .tx_sw = b->sent[i].sw };

		rx_stream_add_path(a->rx, stream, r, &tx);
	}
}

static void measure_block(void *context, void *block)
{
	struct pass *p = context;
	struct rx_block *b = block;

	pairs_group(b->rx, sizeof(*b->rx), offsetof(struct rx_record, stream), b->count, b->order);
	for (size_t k = 0; k < b->count; k++) {
		size_t soon = b->order[k + 4 < b->count ? k + 4 : k];

		/* going from record to record of one stream is beyond what the processor foresees */
		__builtin_prefetch(&b->rx[soon]);
		__builtin_prefetch(&b->sent[soon]);
		measure_frame(p, b, b->order[k]);
	}
}

static void show_block(struct pass *p, const struct rx_block *b)
{
	for (size_t i = 0; b->shown && i < b->count && !p->failed; i++) {
		const struct joined_frame frame = {
			.rx = &b->rx[i],
			.tx = b->shown[i].has_tx ? &b->shown[i].tx : NULL,
			.verdict = b->shown[i].verdict,
		};

		if (b->rx[i].stream != RECORD_STREAM_SYNC)
			show(p, &frame);
	}
}

static void free_block(struct rx_block *b)
{
	if (b)
		free(b->shown);
	free(b);
}

static struct rx_block *new_block(bool shown)
{
	struct rx_block *b = calloc(1, sizeof(*b));

	if (b && shown)
		b->shown = calloc(RX_BLOCK, sizeof(*b->shown));
	if (b && shown && !b->shown) {
		free(b);
		return NULL;
	}
	return b;
}

/*
 * Joining is one thread's work, measuring another's: half of the time each. Frames that are shown one by one
 * are shown in the order of the log, by one thread.
 */
static int read_rx(struct pass *p, struct log_reader *log, struct join *join)
{
	bool shown = p->a->options.sink_count != 0;
	struct rx_block *blocks[2] = { new_block(shown), new_block(shown) }, *b = blocks[0];
	int64_t n = 0;

	if (!shown)
		p->rx_worker = worker_new(measure_block, p);
	if (!blocks[0] || !blocks[1] || (!shown && !p->rx_worker)) {
		error_errno(p->err, ENOMEM, "report");
		p->failed = true;
	}
	while (!p->failed && (n = log_read(log, b->rx, RX_BLOCK, p->err)) > 0) {
		b->count = (size_t)n;
		join_block(p, b, join);
		if (p->failed)
			break;
		if (p->rx_worker) {
			worker_give(p->rx_worker, b);
			b = b == blocks[0] ? blocks[1] : blocks[0];
		} else {
			measure_block(p, b);
			show_block(p, b);
		}
	}
	worker_finish(p->rx_worker);
	free_block(blocks[0]);
	free_block(blocks[1]);
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

static struct verdict_limit limit_in(const struct log_reader *log, enum limit_from from,
				     enum limit_of of)
{
	const struct analysis_options nothing = { 0 };
	struct verdict_limit limit = { .from = from, .of = of };
	int64_t ppb;

	if (!log)
		return limit;
	limit.deadline_ns = analysis_deadline(&nothing, log);
	ppb = description_number(log_description(log), "sla_ppb", 0);
	if (ppb > 0 && ppb <= NSEC_PER_SEC)
		limit.sla = (double)ppb / 1e9;
	return limit;
}

static bool has_limit(const struct verdict_limit *limit)
{
	return limit->deadline_ns || limit->sla > 0;
}

/*
 * The run's own bar, unless it is asked for another one: then the verdict is the one that the run gave. An SLA alone is asked of
 * the deadline that the logs have.
 */
static void take_limit(struct analysis *a, const struct analysis_logs *logs)
{
	struct verdict_limit rx = limit_in(logs->rx, LIMIT_RX_LOG, LIMIT_OF_LATENCY);
	struct verdict_limit tx = limit_in(logs->tx, LIMIT_TX_LOG, LIMIT_OF_LAUNCH_ERROR);
	struct verdict_limit wake = limit_in(logs->wake, LIMIT_WAKE_LOG, LIMIT_OF_WAKEUP);
	const struct analysis_options *asked = &a->options;

	a->limit = has_limit(&rx) ? rx : has_limit(&tx) ? tx : wake;
	if (asked->deadline_ns) {
		a->limit = (struct verdict_limit){
			.of = logs->rx   ? LIMIT_OF_LATENCY
			      : logs->tx ? LIMIT_OF_LAUNCH_ERROR
					 : LIMIT_OF_WAKEUP,
			.deadline_ns = asked->deadline_ns,
			.sla = asked->sla,
		};
	} else if (asked->sla > 0) {
		if (!a->limit.deadline_ns)
			a->limit.from = LIMIT_OPTIONS;
		a->limit.sla = asked->sla;
	} else if (has_limit(&rx) && has_limit(&tx) &&
		   (rx.deadline_ns != tx.deadline_ns || rx.sla != tx.sla)) {
		a->other_limit = tx;
	}
}

/* The deadline of what one log tells, where that is what is judged. */
static int64_t deadline_of(const struct analysis *a, enum limit_of of)
{
	return a->limit.of == of ? a->limit.deadline_ns : 0;
}

static int prepare(struct analysis *a, const struct analysis_logs *logs, struct error *err)
{
	if (logs->rx) {
		struct rx_options options = {
			.stamp = analysis_rx_stamp(logs->rx),
			.deadline_ns = deadline_of(a, LIMIT_OF_LATENCY),
			.no_peer_path = logs->tx != NULL,
			.no_recent = true,
		};

		a->rx = rx_metrics_new(&options);
		if (!a->rx)
			return error_errno(err, ENOMEM, "report");
	}
	if (logs->tx) {
		const char *pacing = description_text(log_description(logs->tx), "pacing");
		struct tx_options options = {
			.lead_ns = description_number(log_description(logs->tx), "lead_ns", -1),
			.deadline_ns = deadline_of(a, LIMIT_OF_LAUNCH_ERROR),
		};

		if (pacing)
			snprintf(a->pacing, sizeof(a->pacing), "%s", pacing);
		a->tx = tx_metrics_new(&options);
		if (!a->tx)
			return error_errno(err, ENOMEM, "report");
	}
	if (logs->wake) {
		a->wake = calloc(1, sizeof(*a->wake));
		if (!a->wake)
			return error_errno(err, ENOMEM, "report");
		a->wake->deadline_ns = deadline_of(a, LIMIT_OF_WAKEUP);
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
	struct pass *p = calloc(1, sizeof(*p));
	int result;

	memset(a, 0, sizeof(*a));
	if (!p)
		return error_errno(err, ENOMEM, "report");
	p->a = a;
	p->err = err;
	p->sent = p->tx_blocks;
	a->options = *options;
	take_limit(a, logs);
	a->rx_lacks = logs->rx ? log_missing(logs->rx) : 0;
	if (logs->rx)
		a->taken = selection_read(log_description(logs->rx));
	result = prepare(a, logs, err);
	if (!result && logs->tx) {
		p->tx_worker = worker_new(measure_sent, p);
		if (!p->tx_worker)
			result = error_errno(err, ENOMEM, "report");
	}
	if (!result && logs->rx && logs->tx)
		result = read_joined(p, logs);
	else if (!result && logs->rx)
		result = read_rx(p, logs->rx, NULL);
	else if (!result && logs->tx)
		result = read_all(p, logs->tx, add_tx);
	if (!result && logs->tx)
		worker_give(p->tx_worker, p->sent);
	worker_finish(p->tx_worker);
	if (!result && logs->wake)
		result = read_all(p, logs->wake, add_wake);
	if (!result && logs->sync[0])
		result = read_all(p, logs->sync[0], add_sync_0);
	if (!result && logs->sync[1])
		result = read_all(p, logs->sync[1], add_sync_1);
	free(p);
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

/*
 * Both logs joined: the sender's tells what was lost at either end, too, and what it did not send. What this receiver did not
 * take is not its matter, only that of the sender's own bar.
 */
static void judge_joined(const struct analysis *a, struct verdict *v)
{
	const bool senders = a->limit.of == LIMIT_OF_LAUNCH_ERROR;
	uint64_t twice = 0, not_sent = 0;

	if (senders && v->source != SOURCE_COUNT)
		twice = a->lost_late[v->source];
	v->due = 0;
	for (size_t i = 0; i < a->tx->count; i++) {
		const struct tx_stream *s = a->tx->streams[i];

		if (!senders && !selection_has(&a->taken, s->run, s->stream))
			continue;
		v->due += s->counts.records;
		not_sent += s->counts.records - s->counts.sent;
	}
	v->missed = not_sent + a->join.not_received + (v->late > twice ? v->late - twice : 0);
}

static void judge_rx(const struct analysis *a, struct verdict *v)
{
	/* frames of other runs that were seen too are not the sender's */
	bool one_run = a->joined && a->tx->count;
	struct rx_stream *total = rx_metrics_total(a->rx, one_run ? &a->tx->streams[0]->run : NULL);

	if (!total)
		return;
	*v = verdict_of_rx(total, a->rx->options.deadline_ns, a->limit.sla);
	rx_stream_free(total);
}

/*
 * A frame whose record had no room on the way to the log is none that was lost: which of them, nobody knows. Without the sender's
 * log the missing records are no gap where they are the last ones, and were due all the same.
 */
static void forgive_unlogged(const struct analysis *a, struct verdict *v)
{
	uint64_t lost = a->joined ? a->join.not_received : v->missed - v->late;

	if (!a->rx || (!a->joined && a->limit.of == LIMIT_OF_LAUNCH_ERROR))
		return;
	v->unlogged = a->rx_lacks < lost ? a->rx_lacks : lost;
	v->missed -= v->unlogged < v->missed ? v->unlogged : v->missed;
	if (!a->joined) {
		v->due += a->rx_lacks - v->unlogged;
		v->unlogged = a->rx_lacks;
	}
}

struct verdict analysis_verdict(const struct analysis *a)
{
	struct verdict v = { .source = SOURCE_COUNT };

	if (a->tx && (!a->rx || a->limit.of == LIMIT_OF_LAUNCH_ERROR)) {
		v = verdict_of_tx(a->tx, a->limit.sla);
	} else if (a->rx) {
		judge_rx(a, &v);
	} else if (a->wake) {
		v.due = a->wake->latency.count + a->wake->skipped + a->wake->unsynced;
		v.late = a->wake->late;
		v.missed = a->wake->late + a->wake->skipped;
		v.unjudged = a->wake->unsynced;
		v.source = SOURCE_USER;
	}
	if (a->joined)
		judge_joined(a, &v);
	forgive_unlogged(a, &v);
	v.limit = a->limit;
	v.other = a->other_limit;
	verdict_finish(&v, a->limit.deadline_ns, a->limit.sla);
	return v;
}

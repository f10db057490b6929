// SPDX-License-Identifier: GPL-2.0-only
#include "report/compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct block {
	struct histogram *values[SOURCE_COUNT];
	uint64_t late[SOURCE_COUNT];
};

/* One pass over a log. */
struct collector {
	struct compare_log *log;
	enum stamp_source rx_stamp;
	uint64_t expected, seen; /* records: for the number of the block */
	size_t block_count;
	struct block blocks[COMPARE_BLOCKS];
};

static void collect(struct collector *c, enum stamp_source source, int64_t stamp, int64_t due,
		    uint64_t seq, uint16_t stream)
{
	size_t index = (size_t)((unsigned __int128)c->seen * c->block_count / c->expected);
	struct block *block = &c->blocks[index < c->block_count ? index : c->block_count - 1];
	struct histogram *h;
	int64_t value;

	if (stamp == STAMP_NONE || due == STAMP_NONE || __builtin_sub_overflow(stamp, due, &value))
		return;
	h = histogram_at(&block->values[source]);
	if (!h)
		return;
	histogram_add(h, value, seq, stream);
	block->late[source] += c->log->deadline_ns && value > c->log->deadline_ns;
}

static int collect_frame(void *context, const struct joined_frame *f, struct error *err)
{
	struct collector *c = context;

	(void)err;
	if (f->rx && !(f->rx->flags & RX_UNSYNCED) &&
	    (f->verdict == SEQUENCE_IN_ORDER || f->verdict == SEQUENCE_REORDERED)) {
		const struct rx_record *r = f->rx;
		uint64_t seq = (uint64_t)r->seq;

		collect(c, SOURCE_HW, r->rx_hw, r->launch, seq, r->stream);
		collect(c, c->rx_stamp, r->rx_xdp, r->launch, seq, r->stream);
		collect(c, SOURCE_USER, r->rx_user, r->launch, seq, r->stream);
	} else if (f->tx && (f->tx->status & (TX_SENT | TX_UNSYNCED)) == TX_SENT) {
		const struct tx_record *r = f->tx;
		uint64_t seq = (uint64_t)r->seq;

		collect(c, SOURCE_HW, r->tx_hw, r->launch, seq, r->stream);
		collect(c, SOURCE_SW, r->tx_sw, r->launch, seq, r->stream);
		collect(c, SOURCE_USER, r->submit, r->launch, seq, r->stream);
	} else if (f->wake && !(f->wake->status & TX_UNSYNCED)) {
		collect(c, SOURCE_USER, f->wake->wake, f->wake->expected, (uint64_t)f->wake->seq,
			f->wake->stream);
	}
	c->seen++;
	return 0;
}

/* The blocks of one source as counts over one ascending list of buckets: quick to add up. */
struct table {
	size_t bucket_count, cell_count;
	struct histogram_bucket *buckets;
	struct cell {
		uint32_t bucket;
		uint64_t count;
	} * cells;
	size_t first[COMPARE_BLOCKS + 1]; /* cells of block b: first[b] to first[b + 1] */
	uint64_t *sums; /* counts of a resample */
};

static void free_table(struct table *t)
{
	free(t->buckets);
	free(t->cells);
	free(t->sums);
}

static int make_table(struct table *t, const struct collector *c, enum stamp_source source)
{
	const struct histogram *whole = &c->log->sources[source].whole;
	struct histogram_bucket bucket;
	uint32_t cursor = 0;
	size_t cells = 0;

	memset(t, 0, sizeof(*t));
	while (histogram_next(whole, &cursor, &bucket))
		t->bucket_count++;
	for (size_t b = 0; b < c->block_count; b++)
		for (cursor = 0; c->blocks[b].values[source] &&
				 histogram_next(c->blocks[b].values[source], &cursor, &bucket);)
			cells++;
	t->buckets = calloc(t->bucket_count + 1, sizeof(*t->buckets));
	t->sums = calloc(t->bucket_count + 1, sizeof(*t->sums));
	t->cells = calloc(cells + 1, sizeof(*t->cells));
	if (!t->buckets || !t->sums || !t->cells)
		return -1;
	cursor = 0;
	for (size_t i = 0; histogram_next(whole, &cursor, &t->buckets[i]);)
		i++;
	for (size_t b = 0; b < c->block_count; b++) {
		uint32_t place = 0;

		t->first[b] = t->cell_count;
		for (cursor = 0; c->blocks[b].values[source] &&
				 histogram_next(c->blocks[b].values[source], &cursor, &bucket);) {
			while (t->buckets[place].low < bucket.low)
				place++;
			t->cells[t->cell_count++] = (struct cell){ place, bucket.count };
		}
	}
	t->first[c->block_count] = t->cell_count;
	return 0;
}

static double percentile_of(const struct table *t, uint64_t total, uint64_t tail)
{
	uint64_t rank = total - total / tail, before = 0;

	for (size_t i = 0; i < t->bucket_count; i++) {
		if (before + t->sums[i] >= rank) {
			double low = (double)t->buckets[i].low, high = (double)t->buckets[i].high;

			return low +
			       (high - low) * ((double)(rank - before) - 0.5) / (double)t->sums[i];
		}
		before += t->sums[i];
	}
	return 0.0;
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void resample_once(const struct collector *c, enum stamp_source source, struct table *t,
			  uint64_t *random, double stats[COMPARE_STATS])
{
	uint64_t total = 0, late = 0;
	long double sum = 0;

	memset(t->sums, 0, t->bucket_count * sizeof(*t->sums));
	for (size_t i = 0; i < c->block_count; i++) {
		size_t b = (size_t)(next_random(random) % c->block_count);
		const struct histogram *h = c->blocks[b].values[source];

		if (!h)
			continue;
		for (size_t k = t->first[b]; k < t->first[b + 1]; k++)
			t->sums[t->cells[k].bucket] += t->cells[k].count;
		total += h->count;
		sum += (long double)h->sum;
		late += c->blocks[b].late[source];
	}
	if (!total)
		return;
	stats[COMPARE_MEAN] = (double)(sum / (long double)total);
	stats[COMPARE_P99] = percentile_of(t, total, 100);
	stats[COMPARE_P99_9] = percentile_of(t, total, 1000);
	stats[COMPARE_MISS_RATE] = (double)late / (double)total;
}

static int resample(struct collector *c, enum stamp_source source)
{
	struct compare_source *s = &c->log->sources[source];
	uint64_t random = 0x9e3779b97f4a7c15ULL; /* the same answer each time */
	double stats[COMPARE_STATS] = { 0 };
	struct table table;

	if (c->block_count < COMPARE_BLOCKS_MIN)
		return 0;
	s->resampled = calloc(COMPARE_STATS, sizeof(*s->resampled));
	if (!s->resampled || make_table(&table, c, source)) {
		if (s->resampled)
			free_table(&table);
		return -1;
	}
	for (size_t r = 0; r < COMPARE_RESAMPLES; r++) {
		resample_once(c, source, &table, &random, stats);
		for (int i = 0; i < COMPARE_STATS; i++)
			s->resampled[i][r] = stats[i];
	}
	free_table(&table);
	return 0;
}

static void free_blocks(struct collector *c)
{
	for (size_t b = 0; b < COMPARE_BLOCKS; b++)
		for (int i = 0; i < SOURCE_COUNT; i++) {
			if (c->blocks[b].values[i])
				histogram_free(c->blocks[b].values[i]);
			free(c->blocks[b].values[i]);
		}
}

static int sum_up(struct collector *c, struct error *err)
{
	for (int i = 0; i < SOURCE_COUNT; i++) {
		struct compare_source *s = &c->log->sources[i];

		for (size_t b = 0; b < c->block_count; b++) {
			if (!c->blocks[b].values[i])
				continue;
			histogram_merge(&s->whole, c->blocks[b].values[i]);
			s->late += c->blocks[b].late[i];
		}
		if (s->whole.count && resample(c, (enum stamp_source)i))
			return error_errno(err, ENOMEM, "--compare");
	}
	return 0;
}

static size_t blocks_for(uint64_t records)
{
	uint64_t count = records / COMPARE_BLOCK_SAMPLES;

	return count < 1 ? 1 : count > COMPARE_BLOCKS ? COMPARE_BLOCKS : (size_t)count;
}

int compare_add(struct compare *compare, const char *name, struct log_reader *log,
		const struct analysis_options *options, struct error *err)
{
	struct analysis_logs logs = { 0 };
	struct analysis_options with_sink = *options;
	struct collector *c = calloc(1, sizeof(*c));
	struct analysis analysis;
	int result;

	if (!c || compare->count == COMPARE_LOGS) {
		free(c);
		return c ? error_input(err, "--compare: more than %d logs", COMPARE_LOGS)
			 : error_errno(err, ENOMEM, "--compare");
	}
	c->log = &compare->logs[compare->count];
	c->log->name = strdup(name);
	c->log->kind = log_kind(log);
	c->expected = log_count(log) ? log_count(log) : 1;
	c->block_count = blocks_for(log_count(log));
	switch (c->log->kind) {
	case RECORD_RX:
		logs.rx = log;
		break;
	case RECORD_TX:
		logs.tx = log;
		break;
	case RECORD_WAKE:
		logs.wake = log;
		break;
	case RECORD_SYNC:
		free(c->log->name);
		free(c);
		return error_input(err, "log '%.128s': sync logs cannot be compared", name);
	}
	compare->count++;
	c->rx_stamp = analysis_rx_stamp(log);
	c->log->deadline_ns = analysis_deadline(options, log);
	with_sink.sinks[with_sink.sink_count++] = (struct frame_sink){ collect_frame, c };
	result = analysis_run(&analysis, &with_sink, &logs, err);
	if (!result)
		result = sum_up(c, err);
	if (!result)
		c->log->verdict = analysis_verdict(&analysis);
	analysis_free(&analysis);
	free_blocks(c);
	free(c);
	return result;
}

int compare_finish(struct compare *compare, struct error *err)
{
	if (compare->count < 2)
		return error_input(err,
				   "--compare: needs two logs or more, the first is the baseline");
	for (size_t i = 1; i < compare->count; i++)
		if (compare->logs[i].kind != compare->logs[0].kind)
			return error_input(err,
					   "--compare: '%.128s' is of another kind than '%.128s'; "
					   "compare logs of one kind",
					   compare->logs[i].name, compare->logs[0].name);
	for (int i = 0; i < SOURCE_COUNT; i++) {
		bool all = true;

		for (size_t k = 0; k < compare->count; k++)
			all &= compare->logs[k].sources[i].whole.count > 0;
		if (all) {
			compare->source = (enum stamp_source)i;
			return 0;
		}
	}
	return error_input(err, "--compare: the logs have stamps of no common source to compare");
}

/* The value itself; false: too few samples, or no deadline. */
static bool value_of(const struct compare *compare, size_t index, enum compare_stat stat,
		     double *value)
{
	const struct compare_log *log = &compare->logs[index];
	const struct compare_source *s = &log->sources[compare->source];
	int64_t ns = 0;
	bool known = true;

	switch (stat) {
	case COMPARE_MEAN:
		*value = histogram_mean(&s->whole);
		return true;
	case COMPARE_P99:
		known = histogram_percentile(&s->whole, 100, &ns);
		break;
	case COMPARE_P99_9:
		known = histogram_percentile(&s->whole, 1000, &ns);
		break;
	default:
		*value = (double)s->late / (double)s->whole.count;
		return log->deadline_ns != 0;
	}
	*value = (double)ns;
	return known;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Whether so many values lie above the percentile, in both logs, that drawing them anew tells their noise. */
static bool tail_filled(const struct compare_source *a, const struct compare_source *b,
			enum compare_stat stat)
{
	uint64_t tail = stat == COMPARE_P99 ? 100 : stat == COMPARE_P99_9 ? 1000 : 0;

	return a->whole.count >= tail * COMPARE_TAIL_SAMPLES &&
	       b->whole.count >= tail * COMPARE_TAIL_SAMPLES;
}

bool compare_change(const struct compare *compare, size_t index, enum compare_stat stat,
		    struct compare_change *change)
{
	const struct compare_source *a = &compare->logs[0].sources[compare->source];
	const struct compare_source *b = &compare->logs[index].sources[compare->source];
	double before, after, differences[COMPARE_RESAMPLES];

	memset(change, 0, sizeof(*change));
	if (!value_of(compare, 0, stat, &before) || !value_of(compare, index, stat, &after))
		return false;
	change->change = after - before;
	if (!a->resampled || !b->resampled || !tail_filled(a, b, stat))
		return true;
	/* both series were drawn with one seed: pair them shifted, so that the draws differ */
	for (size_t i = 0; i < COMPARE_RESAMPLES; i++)
		differences[i] =
			b->resampled[stat][(i + COMPARE_RESAMPLES / 2) % COMPARE_RESAMPLES] -
			a->resampled[stat][i];
	qsort(differences, COMPARE_RESAMPLES, sizeof(*differences), compare_doubles);
	change->known = true;
	change->low = differences[COMPARE_RESAMPLES * 25 / 1000];
	change->high = differences[COMPARE_RESAMPLES * 975 / 1000 - 1];
	change->real = change->low > 0 || change->high < 0;
	return true;
}

void compare_free(struct compare *compare)
{
	for (size_t i = 0; i < compare->count; i++) {
		free(compare->logs[i].name);
		for (int k = 0; k < SOURCE_COUNT; k++) {
			histogram_free(&compare->logs[i].sources[k].whole);
			free(compare->logs[i].sources[k].resampled);
		}
	}
	memset(compare, 0, sizeof(*compare));
}

// SPDX-License-Identifier: GPL-2.0-only
#include "data/join.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"

#define READ_RECORDS 2048
#define HEADS 16384
#define RUNS 16 /* of the sender's log: one, unless someone glued logs together */
/* a frame that left later than this after the received one's launch cannot be it */
#define LAUNCH_SLACK_NS (10 * NSEC_PER_SEC)

_Static_assert((HEADS & (HEADS - 1)) == 0, "a power of two");

struct chunk {
	uint32_t next; /* index + 1 of the next chunk with the same hash */
	uint32_t run;
	uint16_t stream;
	uint64_t base; /* seq / JOIN_CHUNK */
	uint64_t begun_at; /* value of join.loaded when its first record came */
	uint64_t present[JOIN_CHUNK / 64];
	uint64_t received[JOIN_CHUNK / 64];
	struct tx_record records[JOIN_CHUNK];
};

struct join {
	struct log_reader *tx;
	join_sent_fn sent;
	join_lost_fn lost;
	void *context;
	struct join_counts counts;
	bool ended;
	bool shares_run;
	uint64_t loaded; /* records read */
	uint64_t matched_at; /* where in the log the newest match is, to the chunk */
	unsigned int impatience; /* searches in a row that the look-ahead ended */
	int64_t newest_launch;
	uint32_t runs[RUNS];
	size_t run_count;
	uint32_t oldest; /* the chunk that is given up next */
	uint32_t used;
	struct chunk *last_stored, *last_found;
	uint32_t heads[HEADS]; /* index + 1 */
	struct chunk *chunks[JOIN_CHUNKS];
	size_t buffered, taken;
	struct tx_record buffer[READ_RECORDS];
};

static uint32_t head_of(uint32_t run, uint16_t stream, uint64_t base)
{
	uint64_t key = base * 0x9e3779b97f4a7c15ULL ^
		       ((uint64_t)run << 16 | stream) * 0xc2b2ae3d27d4eb4fULL;

	return (uint32_t)(key >> 40) & (HEADS - 1);
}

static bool is_chunk(const struct chunk *c, uint32_t run, uint16_t stream, uint64_t base)
{
	return c->base == base && c->stream == stream && c->run == run;
}

static struct chunk *find_chunk(const struct join *j, uint32_t run, uint16_t stream, uint64_t base)
{
	for (uint32_t i = j->heads[head_of(run, stream, base)]; i; i = j->chunks[i - 1]->next)
		if (is_chunk(j->chunks[i - 1], run, stream, base))
			return j->chunks[i - 1];
	return NULL;
}

/* Tells which of its frames were never received. */
static void settle(struct join *j, const struct chunk *c)
{
	for (uint32_t i = 0; i < JOIN_CHUNK; i++) {
		uint64_t bit = 1ULL << (i % 64);

		if (!(c->present[i / 64] & bit) || c->received[i / 64] & bit)
			continue;
		j->counts.not_received++;
		if (j->lost)
			j->lost(j->context, &c->records[i]);
	}
}

static void unlink_chunk(struct join *j, uint32_t index)
{
	struct chunk *c = j->chunks[index];
	uint32_t *link = &j->heads[head_of(c->run, c->stream, c->base)];

	while (*link != index + 1)
		link = &j->chunks[*link - 1]->next;
	*link = c->next;
}

static struct chunk *make_chunk(struct join *j, uint32_t run, uint16_t stream, uint64_t base)
{
	uint32_t index, *head = &j->heads[head_of(run, stream, base)];
	struct chunk *c = NULL;

	if (j->used < JOIN_CHUNKS)
		c = malloc(sizeof(*c));
	if (c) {
		index = j->used++;
		j->chunks[index] = c;
	} else {
		/* the window is full (or memory is): the chunk that was begun first goes */
		if (!j->used)
			return NULL;
		index = j->oldest++ % j->used;
		c = j->chunks[index];
		settle(j, c);
		unlink_chunk(j, index);
		if (j->last_found == c)
			j->last_found = NULL;
	}
	memset(c, 0, offsetof(struct chunk, records));
	c->run = run;
	c->stream = stream;
	c->base = base;
	c->begun_at = j->loaded;
	c->next = *head;
	*head = index + 1;
	return c;
}

static void note_run(struct join *j, uint32_t run)
{
	for (size_t i = 0; i < j->run_count; i++)
		if (j->runs[i] == run)
			return;
	if (j->run_count < RUNS)
		j->runs[j->run_count++] = run;
}

static void store(struct join *j, const struct tx_record *r)
{
	uint64_t seq = (uint64_t)r->seq, base = seq / JOIN_CHUNK, bit = 1ULL << (seq % 64);
	uint32_t place = (uint32_t)(seq % JOIN_CHUNK);
	struct chunk *c = j->last_stored;

	if (!c || !is_chunk(c, r->run, r->stream, base)) {
		c = find_chunk(j, r->run, r->stream, base);
		if (!c)
			c = make_chunk(j, r->run, r->stream, base);
		if (!c)
			return;
		j->last_stored = c;
		note_run(j, r->run);
	}
	if (c->present[place / 64] & bit) {
		j->counts.repeated++;
		return;
	}
	j->counts.sent++;
	c->present[place / 64] |= bit;
	c->records[place] = *r;
}

/* Takes the next record of the sender's log in; false at its end or on failure. */
static bool load(struct join *j, struct error *err)
{
	const struct tx_record *r;
	bool wanted = true;

	if (j->taken == j->buffered) {
		int64_t n = j->ended ? 0 : log_read(j->tx, j->buffer, READ_RECORDS, err);

		if (n <= 0) {
			j->ended = true;
			return false;
		}
		j->buffered = (size_t)n;
		j->taken = 0;
	}
	r = &j->buffer[j->taken++];
	j->loaded++;
	if (j->sent)
		wanted = j->sent(j->context, r);
	if (r->stream == RECORD_STREAM_SYNC || !(r->status & TX_SENT))
		return true;
	if (r->launch > j->newest_launch)
		j->newest_launch = r->launch;
	if (wanted)
		store(j, r);
	else
		j->counts.not_taken++;
	return true;
}

static const struct tx_record *look_up(struct join *j, const struct rx_record *rx)
{
	uint64_t seq = (uint64_t)rx->seq, base = seq / JOIN_CHUNK, bit = 1ULL << (seq % 64);
	uint32_t place = (uint32_t)(seq % JOIN_CHUNK);
	struct chunk *c = j->last_found;

	if (!c || !is_chunk(c, rx->run, rx->stream, base)) {
		c = find_chunk(j, rx->run, rx->stream, base);
		if (!c)
			return NULL;
		j->last_found = c;
	}
	if (!(c->present[place / 64] & bit))
		return NULL;
	if (!(c->received[place / 64] & bit)) {
		c->received[place / 64] |= bit;
		j->counts.matched++;
	}
	return &c->records[place];
}

static bool may_be_ahead(const struct join *j, const struct rx_record *rx)
{
	/* the difference cannot overflow: both are checked to be positive */
	return rx->launch > 0 && j->newest_launch >= 0 &&
	       j->newest_launch - rx->launch <= LAUNCH_SLACK_NS;
}

const struct tx_record *join_find(struct join *j, const struct rx_record *rx, struct error *err)
{
	const struct tx_record *found = look_up(j, rx);
	bool limited = j->impatience < JOIN_PATIENCE;

	while (!found && may_be_ahead(j, rx)) {
		if (limited && j->loaded - j->matched_at >= JOIN_AHEAD) {
			j->impatience++;
			break;
		}
		if (!load(j, err))
			break;
		/* only the record that just came in can be the one */
		if (j->last_stored &&
		    is_chunk(j->last_stored, rx->run, rx->stream, (uint64_t)rx->seq / JOIN_CHUNK))
			found = look_up(j, rx);
	}
	if (!j->shares_run)
		for (size_t i = 0; i < j->run_count; i++)
			j->shares_run |= j->runs[i] == rx->run;
	if (!found) {
		j->counts.not_sent++;
		return NULL;
	}
	j->impatience = 0;
	if (j->last_found->begun_at > j->matched_at)
		j->matched_at = j->last_found->begun_at;
	return found;
}

int join_finish(struct join *j, struct error *err)
{
	int status = err->status;

	while (load(j, err))
		;
	for (uint32_t i = 0; i < j->used; i++) {
		uint32_t index = j->used == JOIN_CHUNKS ? (j->oldest + i) % j->used : i;

		settle(j, j->chunks[index]);
	}
	return err->status != status ? -1 : 0;
}

struct join *join_new(struct log_reader *tx, join_sent_fn sent, join_lost_fn lost, void *context)
{
	struct join *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->tx = tx;
	j->sent = sent;
	j->lost = lost;
	j->context = context;
	return j;
}

struct join_counts join_counts(const struct join *j)
{
	return j->counts;
}

bool join_shares_run(const struct join *j)
{
	return j->shares_run;
}

void join_free(struct join *j)
{
	if (!j)
		return;
	for (uint32_t i = 0; i < j->used; i++)
		free(j->chunks[i]);
	free(j);
}

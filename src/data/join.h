/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds to each received frame the sender's record of it, by run, stream and sequence number, while
 * both logs are read once from front to back. The sender's log is read ahead as far as needed and kept
 * in a window of JOIN_WINDOW records (about 100 MB at most, however long the logs are), so both must
 * be roughly in the same order, as logs of one run are.
 *
 * A received number that is far ahead (forged, or after a long outage) makes the window move on only
 * when JOIN_PATIENCE frames in a row agree, so that it costs nothing but its own match.
 */
#ifndef DATA_JOIN_H
#define DATA_JOIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "data/logfile.h"
#include "data/record.h"

#define JOIN_CHUNK 128 /* consecutive numbers of one stream, kept together */
#define JOIN_CHUNKS 11000
#define JOIN_WINDOW (JOIN_CHUNK * JOIN_CHUNKS)
#define JOIN_AHEAD (JOIN_WINDOW / 2) /* read ahead of the newest match */
#define JOIN_PATIENCE 64

struct join;

struct join_counts {
	uint64_t sent; /* records of frames that were sent */
	uint64_t matched; /* of them, received at least once */
	uint64_t not_received;
	uint64_t not_sent; /* received, but the sender's log does not have it (in the window) */
	uint64_t
		not_taken; /* were sent, and are not joined: neither in `sent` nor in `not_received` */
	uint64_t
		repeated; /* numbers that the sender's log has twice: damaged, or two logs in one */
};

/* For each record of the sender's log, in its order, as soon as it is read. False: it is not joined. */
typedef bool (*join_sent_fn)(void *context, const struct tx_record *record);
/* For each frame that was sent and never received, when it leaves the window. */
typedef void (*join_lost_fn)(void *context, const struct tx_record *record);

/* `tx` is borrowed and read by the join alone. Either callback may be NULL. NULL without memory. */
struct join *join_new(struct log_reader *tx, join_sent_fn sent, join_lost_fn lost, void *context);

/*
 * The sender's record of a received frame, or NULL; valid until the next call. Returns NULL with
 * err->status set when the sender's log cannot be read.
 */
const struct tx_record *join_find(struct join *join, const struct rx_record *rx, struct error *err);

/* Reads the rest and tells what was never received. Returns 0, or -1 with the error. */
int join_finish(struct join *join, struct error *err);

struct join_counts join_counts(const struct join *join);

/* Did any received frame's run appear in the sender's log? */
bool join_shares_run(const struct join *join);

void join_free(struct join *join);

#endif

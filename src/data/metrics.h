/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is measured, fed record by record: on the sender (tx_metrics), on the receiver (rx_metrics) and
 * from wake-ups alone (wake_metrics). Frames marked unsynced are counted and kept out of all
 * statistics of time. All are single-threaded, belong to the thread that does no cyclic work, make no
 * system call, and are bounded whatever arrives: at most METRICS_STREAMS pairs of run and stream.
 *
 * When the table is full the pair with the fewest frames among a few is given up (never one with
 * METRICS_SETTLED frames): a flood of forged runs cannot push out an honest stream. What is given up
 * or refused is counted in `other_frames`. On the receiver a pair that has been silent for METRICS_SILENT_NS makes room,
 * too, for runs that come one after the other for days: its figures stay in the total.
 */
#ifndef DATA_METRICS_H
#define DATA_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/units.h"
#include "data/histogram.h"
#include "data/record.h"
#include "data/sequence.h"
#include "data/source.h"

#define METRICS_STREAMS 1024
#define METRICS_SETTLED 16
#define METRICS_SILENT_NS (60 * NSEC_PER_SEC)
#define METRICS_STEADY_BYTES (16U << 20)

/* Sender ---------------------------------------------------------------------------------------- */

struct tx_options {
	/*
	 * The cyclic thread is due to wake up `lead_ns` before the launch of the first frame of each
	 * cycle ("lead_ns" in the log's description). Negative: not known, no wake-up latency.
	 */
	int64_t lead_ns;
	int64_t deadline_ns; /* a launch error above it is late; 0: none */
	/*
	 * Of a run that goes on: the memory for statistics is taken beforehand, that of a stream with its first frame, not as
	 * values come; as long as all of it is below METRICS_STEADY_BYTES.
	 */
	bool steady;
};

struct tx_counts {
	uint64_t records; /* frames that were due */
	uint64_t sent;
	uint64_t skipped, refused, link_down, paused; /* not sent */
	uint64_t missed, invalid; /* reported by the qdisc */
	uint64_t unsynced; /* sent, but not in the statistics */
	uint64_t untimed; /* of them, those that left as far as is known */
	uint64_t late[SOURCE_COUNT]; /* of those in launch_error[], beyond the deadline */
};

/* One stream in one run, or the total of several. */
struct tx_stream {
	uint32_t run;
	uint16_t stream;
	bool total;
	struct tx_counts counts;
	int64_t first_launch, last_launch;
	/* TX stamp - launch: hw, sw, and `user` (the kernel call's return); NULL: none so far */
	struct histogram *launch_error[SOURCE_COUNT];
};

struct tx_metrics {
	struct tx_options options;
	struct histogram wake; /* wake - (launch - lead), once for each wake-up; source: user */
	struct histogram submit; /* submit - wake, once for each wake-up; source: user */
	uint64_t other_frames;
	int64_t last_wake;
	size_t count;
	size_t steady_bytes; /* taken in advance for histograms, bounded */
	struct tx_stream *former; /* of the record before; none is given up */
	struct tx_stream *streams[METRICS_STREAMS];
	uint16_t slots[2 * METRICS_STREAMS]; /* hash of (run, stream) to index + 1 */
};

struct tx_metrics *tx_metrics_new(const struct tx_options *options); /* NULL without memory */
void tx_metrics_add(struct tx_metrics *metrics, const struct tx_record *record);
/* The same for up to TX_BLOCK records in their order: faster where they are of many streams. */
#define TX_BLOCK 16384
void tx_metrics_add_block(struct tx_metrics *metrics, const struct tx_record *records,
			  size_t count);
/* The total over all pairs, or over those of `run`; the caller frees it with tx_stream_free(). */
struct tx_stream *tx_metrics_total(const struct tx_metrics *metrics, const uint32_t *run);
void tx_stream_free(struct tx_stream *stream);
void tx_metrics_free(struct tx_metrics *metrics);

/* The best source that has values (hw before sw before user); SOURCE_COUNT: none has. */
enum stamp_source tx_best_source(const struct tx_stream *stream);

/* Receiver -------------------------------------------------------------------------------------- */

struct rx_options {
	enum stamp_source stamp; /* what rx_record.rx_xdp holds: SOURCE_XDP or SOURCE_SW */
	int64_t deadline_ns; /* latency (RX - launch) above it is late; 0: none */
	bool no_peer_path; /* leave the stamps in the frames alone: the sender's log is at hand */
	bool no_recent; /* no live line is shown: `recent` stays empty */
	/*
	 * Of a run that goes on: the memory for a stream's statistics is taken when it has METRICS_SETTLED frames, not as
	 * values come, as long as all of it is below METRICS_STEADY_BYTES.
	 */
	bool steady;
};

struct rx_counts {
	struct sequence_counts sequence;
	uint64_t unsynced; /* received, but not in the statistics of time */
	uint64_t late[SOURCE_COUNT]; /* of those in latency[], beyond the deadline */
	/* of those in latency[], whether beyond the deadline is not known: of lost records the kernel has but a histogram */
	uint64_t unsure[SOURCE_COUNT];
};

struct rx_peer; /* RX stamps of the last frames, for the sender's stamp that follows later */

/* One stream in one run, or the total of several. */
struct rx_stream {
	uint32_t run;
	uint16_t stream;
	bool total;
	uint64_t frames;
	struct rx_counts counts; /* read it through rx_stream_counts() */
	uint16_t size_min, size_max;
	int64_t first_launch, last_launch;
	int64_t last_user; /* when user space took its last record */
	uint64_t first_seq;
	struct sequence *sequence; /* NULL in a total, and before the second frame */
	struct histogram *latency[SOURCE_COUNT]; /* RX - launch */
	struct histogram *path[SOURCE_COUNT][SOURCE_COUNT]; /* RX - TX: [of RX][of TX] */
	/* latency less that of the frame numbered one lower (RFC 3393), both in order */
	struct histogram *variation[SOURCE_COUNT];
	/* the former frame, for the variation */
	uint64_t last_seq;
	int64_t last_latency[SOURCE_COUNT];
	uint8_t last_valid; /* bit per source */
	struct rx_peer *peer;
	bool steady; /* its histograms have their memory */
};

/* What arrived since rx_metrics_reset_recent(), for the live line. */
struct rx_recent {
	uint64_t frames, late;
	struct histogram latency[SOURCE_COUNT], variation[SOURCE_COUNT];
};

struct rx_metrics {
	struct rx_options options;
	uint64_t other_frames;
	uint64_t other_pairs; /* run and stream pairs given up or refused */
	struct rx_stream *former; /* total of the pairs that made room; NULL: none did */
	uint64_t former_pairs; /* so many */
	struct rx_recent recent;
	size_t peer_bytes; /* held by all rx_peer, bounded */
	size_t steady_bytes; /* taken in advance for histograms, bounded */
	size_t count;
	size_t hand;
	struct rx_stream *streams[METRICS_STREAMS];
	uint16_t slots[2 * METRICS_STREAMS];
};

struct rx_metrics *rx_metrics_new(const struct rx_options *options); /* NULL without memory */

/*
 * Counts one frame. Returns its stream and, where `verdict` is not NULL, what its number means; NULL
 * when the table is full of settled streams (counted in other_frames).
 */
struct rx_stream *rx_metrics_add(struct rx_metrics *metrics, const struct rx_record *record,
				 enum sequence_verdict *verdict);

/*
 * A stream of which no record came, to be filled in by the caller. NULL without room or memory: its `frames` are counted in
 * other_frames.
 */
struct rx_stream *rx_metrics_unseen(struct rx_metrics *metrics, uint32_t run, uint16_t stream,
				    uint64_t frames);

/* Adds the path delay of a frame whose TX stamps are known from the sender's log. */
void rx_stream_add_path(struct rx_metrics *metrics, struct rx_stream *stream,
			const struct rx_record *rx, const struct tx_record *tx);

struct rx_counts rx_stream_counts(const struct rx_stream *stream);

/* Frames, without duplicates and strays, that should have arrived as far as the receiver can tell. */
uint64_t rx_expected(const struct rx_counts *counts);

/* The total over all pairs, or over those of `run`; the caller frees it with rx_stream_free(). */
struct rx_stream *rx_metrics_total(const struct rx_metrics *metrics, const uint32_t *run);
/* The total's counts alone, without memory. */
struct rx_counts rx_metrics_counts(const struct rx_metrics *metrics);
void rx_metrics_reset_recent(struct rx_metrics *metrics);
void rx_stream_free(struct rx_stream *stream);
void rx_metrics_free(struct rx_metrics *metrics);

/*
 * The source that verdicts are based on: the best one that at least half of the frames have;
 * SOURCE_COUNT when no frame has a stamp.
 */
enum stamp_source rx_best_source(const struct rx_stream *stream);

/* The path with the best sources that have values; NULL: none. */
const struct histogram *rx_best_path(const struct rx_stream *stream, enum stamp_source *rx,
				     enum stamp_source *tx);

/* Wake-ups alone -------------------------------------------------------------------------------- */

struct wake_metrics {
	int64_t deadline_ns; /* 0: none */
	uint64_t late;
	uint64_t skipped; /* fell due while the thread was still late: never woken up for */
	uint64_t unsynced;
	int64_t next_seq; /* number of the wake-up that comes next; 0: none so far */
	struct histogram latency; /* wake - expected; source: user */
};

/* A zeroed struct (but for the deadline) is empty. */
void wake_metrics_add(struct wake_metrics *metrics, const struct wake_record *record);
void wake_metrics_free(struct wake_metrics *metrics);

#endif

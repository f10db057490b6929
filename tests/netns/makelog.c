// SPDX-License-Identifier: GPL-2.0-only
/*
 * makelog: logs with known faults, for tests of the report. All is a function of the sequence number, so
 * that a test can compute the figures itself.
 *
 * makelog --tx FILE --rx FILE --frames N [--streams N] [--cycle NS] [--run N] [--lose N] [--duplicate N]
 *         [--reorder N] [--late N] [--skip-first N] [--skip-last N] [--hw] [--seed N] [--skipped N]
 *         [--early NS] [--clocks NS] [--unsynced N] [--tx-late N] [--tx-unsynced N]
 *         [--rx-only N] [--tx-deadline NS] [--tx-sla PPB] [--rx-deadline NS] [--rx-sla PPB]
 * Every N-th frame (of each stream) is lost, doubled, swapped with its successor, 1 ms late, or received
 * while not in sync (and 37 s off); --skipped: the sender skipped one before each N-th. --early: the receiver's clock
 * is behind by that much; --clocks: both logs
 * carry sync records that tell such an offset from the master. --tx-late, --tx-unsynced: every N-th frame left 1 ms after its
 * launch, or while the sender was not in sync. --rx-only: the receiver took this stream alone. The others are the bars that the logs name.
 * makelog --wake FILE --frames N ...   and   makelog --sync FILE --frames N ...
 */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/logfile.h"

#define BASE 1800000000000000000LL

static struct {
	const char *tx, *rx, *wake, *sync;
	uint64_t frames, streams, cycle, run, lose, duplicate, reorder, late, skip_first, skip_last,
		seed, offset, early, clocks, unsynced, skipped, tx_late, tx_unsynced, tx_deadline,
		tx_sla, rx_deadline, rx_sla, rx_only;
	bool hw;
} o = { .frames = 1000, .streams = 1, .cycle = 1000000, .run = 0x1234abcd, .seed = 1 };

static uint64_t hash(uint64_t x)
{
	x += o.seed * 0x9e3779b97f4a7c15ULL;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

static void die(const struct error *err)
{
	exit(error_report(err));
}

static struct log_writer *create(const char *path, enum record_kind kind)
{
	json_t *description = json_pack("{s:s, s:s, s:s, s:{s:I, s:I, s:s}, s:[{s:i, s:s, s:i}]}",
					"host", "made", "stamps", "xdp", "mac", "02:00:00:00:00:01",
					"options", "cycle_ns", (json_int_t)o.cycle, "lead_ns",
					(json_int_t)100000, "pacing", "timer", "streams", "id", 0,
					"dest", "91:e0:f0:00:fe:00", "size", 64);
	uint64_t deadline = kind == RECORD_RX ? o.rx_deadline : o.tx_deadline;
	uint64_t sla = kind == RECORD_RX ? o.rx_sla : o.tx_sla;
	json_t *options = json_object_get(description, "options");
	struct error err = ERROR_INIT;
	struct log_writer *log;

	if (deadline)
		json_object_set_new(options, "deadline_ns", json_integer((json_int_t)deadline));
	if (sla)
		json_object_set_new(options, "sla_ppb", json_integer((json_int_t)sla));
	if (kind == RECORD_RX && o.rx_only)
		json_object_set_new(options, "only_streams",
				    json_pack("[I]", (json_int_t)o.rx_only));
	log = log_create(path, kind, description, &err);
	if (!log)
		die(&err);
	json_decref(description);
	return log;
}

static void append(struct log_writer *log, const void *record)
{
	struct error err = ERROR_INIT;

	if (log && log_append(log, record, 1, &err))
		die(&err);
}

static void finish(struct log_writer *log)
{
	struct error err = ERROR_INIT;

	if (log_close(log, &err))
		die(&err);
}

static bool every(uint64_t n, uint64_t seq)
{
	return n && seq % n == n - 1;
}

static struct tx_record tx_of(uint64_t seq, uint64_t stream)
{
	int64_t launch = BASE + (int64_t)(seq * o.cycle + stream * 1000);
	uint64_t h = hash(seq * 64);
	int64_t wake = BASE + (int64_t)(seq * o.cycle) - 100000 + (int64_t)(h % 5000);

	return (struct tx_record){
		.seq = (int64_t)seq,
		.launch = launch,
		.wake = wake,
		.submit = wake + 3000 + (int64_t)(h >> 20 & 1023),
		.tx_sched = launch - 2000,
		.tx_sw = launch + (int64_t)(h >> 32 & 2047) - 200 +
			 (every(o.tx_late, seq) ? 1000000 : 0),
		.tx_hw = o.hw ? launch + (int64_t)(h >> 48 & 63) : STAMP_NONE,
		.stream = (uint16_t)stream,
		.status = TX_SENT | (seq + 1 == o.frames ? TX_LAST : 0) |
			  (every(o.tx_unsynced, seq) ? TX_UNSYNCED : 0),
		.run = (uint32_t)o.run,
	};
}

static struct rx_record rx_of(uint64_t seq, uint64_t stream)
{
	struct tx_record tx = tx_of(seq, stream);
	uint64_t h = hash(seq * 64 + stream + 1);
	/* a long tail: one in 1024 up to 60 us, else 5 to 13 us */
	int64_t delay = 5000 + (int64_t)(h % 8192) +
			((h >> 40) % 1024 ? 0 : (int64_t)(h >> 13 & 65535));

	if (every(o.late, seq))
		delay += 1000000;
	if (every(o.unsynced, seq))
		delay += 37000000000;
	delay -= (int64_t)o.early;
	return (struct rx_record){
		.seq = (int64_t)seq,
		.launch = tx.launch,
		.rx_hw = o.hw ? tx.launch + delay - 3000 : STAMP_NONE,
		.rx_xdp = tx.launch + delay,
		.rx_user = tx.launch + delay + 4000 + (int64_t)(h >> 50 & 4095),
		.stream = (uint16_t)stream,
		.flags = every(o.unsynced, seq) ? RX_UNSYNCED : 0,
		.size = 64,
		.run = (uint32_t)o.run,
	};
}

static void append_clock(struct log_writer *log, uint64_t seq)
{
	const struct sync_record s = {
		.time = BASE + (int64_t)(seq * o.cycle),
		.master_offset = seq % 200 ? -(int64_t)o.clocks : (int64_t)o.clocks / 2,
		.phc_offset = 10,
		.phc_window = 400,
		.rx_stream = RECORD_STREAM_SYNC,
		.stream = RECORD_STREAM_SYNC,
		.status = SYNC_GOOD | SYNC_HAVE_MASTER | SYNC_HAVE_PHC,
		.run = (uint32_t)o.run,
	};

	append(log, &s);
}

static void make_frames(void)
{
	struct log_writer *tx = o.tx ? create(o.tx, RECORD_TX) : NULL;
	struct log_writer *rx = o.rx ? create(o.rx, RECORD_RX) : NULL;

	for (uint64_t seq = 0; seq < o.frames; seq++) {
		if (o.clocks && seq % 100 == 0) {
			append_clock(tx, seq);
			append_clock(rx, seq);
		}
		for (uint64_t stream = 0; stream < o.streams; stream++) {
			uint64_t arriving = seq;
			struct tx_record t = tx_of(seq, stream);
			struct rx_record r;

			if (every(o.skipped, seq))
				append(tx, &(struct tx_record){ .seq = (int64_t)seq,
								.launch = t.launch - 1000,
								.stream = t.stream,
								.status = TX_SKIPPED,
								.run = t.run });
			append(tx, &t);
			/* swapped: the N-th with the one behind it */
			if (every(o.reorder, seq) && seq + 1 < o.frames)
				arriving = seq + 1;
			else if (seq && every(o.reorder, seq - 1))
				arriving = seq - 1;
			if (arriving < o.skip_first || arriving >= o.frames - o.skip_last ||
			    every(o.lose, arriving))
				continue;
			if (o.rx_only && stream != o.rx_only)
				continue;
			r = rx_of(arriving, stream);
			append(rx, &r);
			if (every(o.duplicate, arriving))
				append(rx, &r);
		}
	}
	if (tx)
		finish(tx);
	if (rx)
		finish(rx);
}

static void make_wakeups(void)
{
	struct log_writer *log = create(o.wake, RECORD_WAKE);

	for (uint64_t seq = 0; seq < o.frames; seq++) {
		uint64_t h = hash(seq);
		struct wake_record w = {
			.seq = (int64_t)seq,
			.expected = BASE + (int64_t)(seq * o.cycle),
			.run = (uint32_t)o.run,
		};

		w.wake = w.expected + (int64_t)o.offset + 2000 + (int64_t)(h % 4096) +
			 ((h >> 40) % 1024 ? 0 : (int64_t)(h >> 13 & 65535)) +
			 (every(o.late, seq) ? 1000000 : 0);
		append(log, &w);
	}
	finish(log);
}

static void make_sync(void)
{
	struct log_writer *log = create(o.sync, RECORD_SYNC);

	for (uint64_t seq = 0; seq < o.frames; seq++) {
		struct sync_record s = {
			.time = BASE + (int64_t)seq * 1000000000,
			.master_offset = (int64_t)(hash(seq) % 201) - 100,
			.phc_offset = (int64_t)(hash(seq + 1000000) % 401) - 200,
			.phc_window = 1000,
			.rx_stream = RECORD_STREAM_SYNC,
			.stream = RECORD_STREAM_SYNC,
			.status = SYNC_GOOD | SYNC_HAVE_MASTER | SYNC_HAVE_PHC,
			.run = (uint32_t)o.run,
		};

		append(log, &s);
	}
	finish(log);
}

int main(int argc, char **argv)
{
	enum {
		TX = 256,
		RX,
		WAKE,
		SYNC,
		HW,
		NUMBERS
	};
	static const struct {
		const char *name;
		uint64_t *value;
	} numbers[] = {
		{ "frames", &o.frames },
		{ "streams", &o.streams },
		{ "cycle", &o.cycle },
		{ "run", &o.run },
		{ "lose", &o.lose },
		{ "duplicate", &o.duplicate },
		{ "reorder", &o.reorder },
		{ "late", &o.late },
		{ "skip-first", &o.skip_first },
		{ "skip-last", &o.skip_last },
		{ "seed", &o.seed },
		{ "offset", &o.offset },
		{ "early", &o.early },
		{ "clocks", &o.clocks },
		{ "unsynced", &o.unsynced },
		{ "skipped", &o.skipped },
		{ "tx-late", &o.tx_late },
		{ "tx-unsynced", &o.tx_unsynced },
		{ "tx-deadline", &o.tx_deadline },
		{ "tx-sla", &o.tx_sla },
		{ "rx-deadline", &o.rx_deadline },
		{ "rx-only", &o.rx_only },
		{ "rx-sla", &o.rx_sla },
	};
	enum {
		NUMBER_COUNT = sizeof(numbers) / sizeof(numbers[0])
	};
	struct option options[NUMBER_COUNT + 6] = {
		{ "tx", 1, NULL, TX },     { "rx", 1, NULL, RX }, { "wake", 1, NULL, WAKE },
		{ "sync", 1, NULL, SYNC }, { "hw", 0, NULL, HW },
	};
	int key;

	for (int i = 0; i < NUMBER_COUNT; i++)
		options[5 + i] = (struct option){ numbers[i].name, 1, NULL, NUMBERS + i };
	while ((key = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		switch (key) {
		case TX:
			o.tx = optarg;
			break;
		case RX:
			o.rx = optarg;
			break;
		case WAKE:
			o.wake = optarg;
			break;
		case SYNC:
			o.sync = optarg;
			break;
		case HW:
			o.hw = true;
			break;
		case '?':
			return 2;
		default:
			*numbers[key - NUMBERS].value = strtoull(optarg, NULL, 0);
		}
	}
	if (o.wake)
		make_wakeups();
	else if (o.sync)
		make_sync();
	else
		make_frames();
	return 0;
}

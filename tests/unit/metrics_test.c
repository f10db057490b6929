// SPDX-License-Identifier: GPL-2.0-only
#include "cmocka_all.h"

#include <malloc.h>
#include <string.h>

#include "base/units.h"
#include "data/metrics.h"
#include "report/figures.h"

#define BASE 1000000000000LL
#define CYCLE 1000000LL

static struct rx_metrics *rx_new(int64_t deadline_ns)
{
	struct rx_options options = { .stamp = SOURCE_XDP, .deadline_ns = deadline_ns };
	struct rx_metrics *m = rx_metrics_new(&options);

	assert_non_null(m);
	return m;
}

/* A frame that came `latency` ns after its launch, seen by XDP. */
static struct rx_record frame(int64_t seq, int64_t latency)
{
	int64_t launch = BASE + seq * CYCLE;

	return (struct rx_record){
		.seq = seq, .launch = launch, .rx_xdp = launch + latency, .run = 1
	};
}

static void latency_and_variation(void **state)
{
	struct rx_metrics *m = rx_new(300);
	static const int64_t latencies[] = { 100, 250, 90, 400, 310 };
	const struct histogram *h;
	struct rx_stream *s;

	(void)state;
	for (int64_t i = 0; i < 5; i++) {
		struct rx_record r = frame(i, latencies[i]);

		rx_metrics_add(m, &r, NULL);
	}
	s = m->streams[0];
	h = s->latency[SOURCE_XDP];
	assert_int_equal(h->count, 5);
	assert_int_equal(h->min, 90);
	assert_int_equal(h->max, 400);
	assert_int_equal(h->max_seq, 3);
	assert_null(s->latency[SOURCE_HW]);
	assert_null(s->latency[SOURCE_SW]);
	/* RFC 3393: +150, -160, +310, -90 */
	h = s->variation[SOURCE_XDP];
	assert_int_equal(h->count, 4);
	assert_int_equal(h->min, -160);
	assert_int_equal(h->max, 310);
	assert_true(histogram_mean(h) == 52.5);
	assert_int_equal(rx_stream_counts(s).late[SOURCE_XDP], 2);
	assert_int_equal(m->recent.late, 2);
	assert_int_equal(rx_best_source(s), SOURCE_XDP);
	rx_metrics_free(m);
}

static void variation_needs_neighbours(void **state)
{
	/* 1 is lost, 3 and 4 are swapped: only 5 has its neighbour (4 came late, not in order) */
	static const int64_t order[] = { 0, 2, 4, 3, 5 };
	struct rx_metrics *m = rx_new(0);
	enum sequence_verdict verdict;
	struct rx_record r;

	(void)state;
	for (int64_t i = 0; i < 5; i++) {
		r = frame(order[i], 100 + order[i]);
		rx_metrics_add(m, &r, &verdict);
		assert_int_equal(verdict, order[i] == 3 ? SEQUENCE_REORDERED : SEQUENCE_IN_ORDER);
	}
	assert_int_equal(m->streams[0]->variation[SOURCE_XDP]->count, 1);
	assert_int_equal(m->streams[0]->variation[SOURCE_XDP]->max_seq, 5);
	/* a duplicate is no second sample */
	rx_metrics_add(m, &r, &verdict);
	assert_int_equal(verdict, SEQUENCE_DUPLICATE);
	assert_int_equal(m->streams[0]->latency[SOURCE_XDP]->count, 5);
	assert_int_equal(m->streams[0]->frames, 6);
	rx_metrics_free(m);
}

static void sources_are_not_mixed(void **state)
{
	struct rx_metrics *m = rx_new(1000);
	struct rx_stream *s;

	(void)state;
	for (int64_t i = 0; i < 10; i++) {
		struct rx_record r = frame(i, 500);

		r.rx_hw = i < 3 ? r.launch + 100 : STAMP_NONE;
		r.rx_user = r.launch + 2000;
		rx_metrics_add(m, &r, NULL);
	}
	s = m->streams[0];
	assert_int_equal(s->latency[SOURCE_HW]->count, 3);
	assert_int_equal(s->latency[SOURCE_HW]->max, 100);
	assert_int_equal(s->latency[SOURCE_XDP]->count, 10);
	assert_int_equal(s->latency[SOURCE_XDP]->min, 500);
	assert_int_equal(s->latency[SOURCE_USER]->min, 2000);
	/* hw stamps on fewer than half of the frames do not decide */
	assert_int_equal(rx_best_source(s), SOURCE_XDP);
	assert_int_equal(rx_stream_counts(s).late[SOURCE_USER], 10);
	assert_int_equal(rx_stream_counts(s).late[SOURCE_XDP], 0);
	rx_metrics_free(m);
}

static void unsynced_frames_are_counted_and_kept_out(void **state)
{
	struct rx_metrics *m = rx_new(300);

	(void)state;
	for (int64_t i = 0; i < 4; i++) {
		struct rx_record r = frame(i, i == 2 ? 37000000000LL : 100);

		r.flags = i == 2 ? RX_UNSYNCED : 0;
		rx_metrics_add(m, &r, NULL);
	}
	assert_int_equal(m->streams[0]->latency[SOURCE_XDP]->max, 100);
	assert_int_equal(rx_stream_counts(m->streams[0]).unsynced, 1);
	assert_int_equal(rx_stream_counts(m->streams[0]).late[SOURCE_XDP], 0);
	assert_int_equal(rx_stream_counts(m->streams[0]).sequence.lost, 0);
	/* the variation bridges no unsynced frame */
	assert_int_equal(m->streams[0]->variation[SOURCE_XDP]->count, 1);
	rx_metrics_free(m);
}

static void the_senders_stamp_follows_later(void **state)
{
	struct rx_metrics *m = rx_new(0);
	struct rx_stream *s;

	(void)state;
	for (int64_t i = 0; i < 2000; i++) {
		struct rx_record r = frame(i, 500);

		if (i >= 300) {
			/* frame i carries the TX time of frame i - 300: 200 ns after its launch */
			r.flags = RX_STAMP | (i < 1000 ? RX_STAMP_HW : 0);
			r.stamp_distance = 300;
			r.peer_tx = BASE + (i - 300) * CYCLE + (i < 1000 ? 200 : 150);
		}
		rx_metrics_add(m, &r, NULL);
	}
	s = m->streams[0];
	assert_int_equal(s->path[SOURCE_XDP][SOURCE_HW]->min, 300);
	assert_int_equal(s->path[SOURCE_XDP][SOURCE_HW]->max, 300);
	/* kept since the first stamp told the distance: 300 frames later they match */
	assert_int_equal(s->path[SOURCE_XDP][SOURCE_HW]->count, 400);
	assert_int_equal(s->path[SOURCE_XDP][SOURCE_SW]->count, 1000);
	assert_int_equal(s->path[SOURCE_XDP][SOURCE_SW]->min, 350);
	assert_int_equal(s->path[SOURCE_XDP][SOURCE_SW]->min_seq, 700);
	rx_metrics_free(m);
}

static void a_flood_of_forged_runs_spares_the_honest_stream(void **state)
{
	struct rx_metrics *m = rx_new(0);
	uint64_t random = 1;
	struct rx_stream *s = NULL;

	(void)state;
	/* 300 forged frames between two honest ones: 300,000 a second at a 1 ms cycle */
	for (int64_t i = 0; i < 1000; i++) {
		struct rx_record r = frame(i, 500);

		s = rx_metrics_add(m, &r, NULL);
		for (int k = 0; k < 300; k++) {
			random = random * 6364136223846793005ULL + 1442695040888963407ULL;
			r.run = (uint32_t)(random >> 32) | 2;
			r.stream = (uint16_t)(random & 0x3fff);
			r.seq = (int64_t)random;
			rx_metrics_add(m, &r, NULL);
		}
	}
	assert_non_null(s);
	assert_int_equal(s->run, 1);
	assert_int_equal(s->frames, 1000);
	assert_int_equal(rx_stream_counts(s).sequence.lost, 0);
	assert_int_equal(m->count, METRICS_STREAMS);
	assert_true(m->other_pairs > 290000);
	rx_metrics_free(m);
}

/* A receiver that stays while senders are started again and again. */
static void a_pair_that_fell_silent_makes_room_and_stays_in_the_total(void **state)
{
	struct rx_metrics *m = rx_new(0);
	const int64_t begin = 1000 * NSEC_PER_SEC;
	struct rx_stream *total, *s;
	struct rx_record r;

	(void)state;
	for (uint32_t run = 1; run <= METRICS_STREAMS; run++)
		for (int64_t seq = 0; seq < METRICS_SETTLED + 1; seq++) {
			r = frame(seq == 5 ? 0 : seq, 500); /* one lost, one twice */
			r.run = run;
			r.rx_user = begin;
			rx_metrics_add(m, &r, NULL);
		}
	r = frame(0, 9000);
	r.run = 7000;
	r.rx_user = begin + METRICS_SILENT_NS;
	assert_null(rx_metrics_add(m, &r, NULL));
	assert_int_equal(m->other_frames, 1);
	/* one goes on */
	r = frame(METRICS_SETTLED + 1, 500);
	r.run = 9;
	r.rx_user = begin + METRICS_SILENT_NS;
	rx_metrics_add(m, &r, NULL);
	for (uint32_t run = 7000; run < 7000 + METRICS_STREAMS - 1; run++)
		for (int64_t seq = 0; seq < METRICS_SETTLED; seq++) {
			r = frame(seq, 9000);
			r.run = run;
			r.rx_user = begin + METRICS_SILENT_NS + 1;
			s = rx_metrics_add(m, &r, NULL);
			assert_non_null(s);
			assert_int_equal(s->run, run);
		}
	assert_int_equal(m->count, METRICS_STREAMS);
	assert_int_equal(m->former_pairs, METRICS_STREAMS - 1);
	assert_int_equal(m->other_frames, 1);
	total = rx_metrics_total(m, NULL);
	assert_int_equal(total->frames, METRICS_STREAMS * (METRICS_SETTLED + 1) + 1 +
						(METRICS_STREAMS - 1) * METRICS_SETTLED);
	assert_int_equal(total->counts.sequence.lost, METRICS_STREAMS);
	assert_int_equal(total->counts.sequence.duplicate, METRICS_STREAMS);
	assert_int_equal(rx_metrics_counts(m).sequence.lost, METRICS_STREAMS);
	assert_int_equal(total->latency[SOURCE_XDP]->count,
			 METRICS_STREAMS * METRICS_SETTLED + 1 +
				 (METRICS_STREAMS - 1) * METRICS_SETTLED);
	rx_stream_free(total);
	/* the one that went on is followed still */
	r = frame(METRICS_SETTLED + 2, 500);
	r.run = 9;
	assert_int_equal(rx_metrics_add(m, &r, NULL)->frames, METRICS_SETTLED + 3);
	rx_metrics_free(m);
}

static void a_single_frame_counts(void **state)
{
	struct rx_metrics *m = rx_new(0);
	struct rx_record r = frame(77, 500);
	struct rx_stream *total;

	(void)state;
	rx_metrics_add(m, &r, NULL);
	assert_int_equal(rx_stream_counts(m->streams[0]).sequence.unique, 1);
	assert_int_equal(m->streams[0]->latency[SOURCE_XDP]->count, 1);
	r.seq = 75;
	rx_metrics_add(m, &r, NULL);
	assert_int_equal(rx_stream_counts(m->streams[0]).sequence.unique, 2);
	assert_int_equal(rx_stream_counts(m->streams[0]).sequence.reordered, 1);
	assert_int_equal(rx_stream_counts(m->streams[0]).sequence.lost, 1);
	r.run = 5;
	rx_metrics_add(m, &r, NULL);
	total = rx_metrics_total(m, NULL);
	assert_int_equal(rx_stream_counts(total).sequence.unique, 3);
	rx_stream_free(total);
	rx_metrics_free(m);
}

static void settled_streams_are_never_given_up(void **state)
{
	struct rx_metrics *m = rx_new(0);
	struct rx_record r;

	(void)state;
	for (uint16_t stream = 0; stream < METRICS_STREAMS; stream++)
		for (int64_t i = 0; i < METRICS_SETTLED; i++) {
			r = frame(i, 1);
			r.stream = stream;
			assert_non_null(rx_metrics_add(m, &r, NULL));
		}
	r.stream = METRICS_STREAMS;
	assert_null(rx_metrics_add(m, &r, NULL));
	assert_int_equal(m->other_frames, 1);
	for (uint16_t stream = 0; stream < METRICS_STREAMS; stream++) {
		r = frame(METRICS_SETTLED, 1);
		r.stream = stream;
		assert_int_equal(rx_metrics_add(m, &r, NULL)->frames, METRICS_SETTLED + 1);
	}
	rx_metrics_free(m);
}

static void extreme_stamps_do_no_harm(void **state)
{
	static const int64_t extremes[] = { INT64_MIN, INT64_MAX, -1, 1, 0 };
	struct figure figures[FIGURES_MAX];
	struct rx_metrics *m = rx_new(1);
	struct rx_stream *total;

	(void)state;
	for (int i = 0; i < 3125; i++) {
		struct rx_record r = {
			.seq = i,
			.launch = extremes[i % 5],
			.rx_hw = extremes[i / 5 % 5],
			.rx_xdp = extremes[i / 25 % 5],
			.rx_user = extremes[i / 125 % 5],
			.peer_tx = extremes[i / 625 % 5],
			.flags = RX_STAMP,
			.stamp_distance = (uint16_t)(i * 37),
		};

		rx_metrics_add(m, &r, NULL);
	}
	total = rx_metrics_total(m, NULL);
	assert_true(figures_of_rx(total, false, figures) >= 6);
	rx_stream_free(total);
	rx_metrics_free(m);
}

/* A frame as it comes over veth: with the stamp of the one before. */
static struct rx_record stamped_frame(int64_t seq, int64_t latency)
{
	struct rx_record r = frame(seq, latency);

	r.rx_user = r.rx_xdp + 1000;
	r.flags = RX_STAMP;
	r.stamp_distance = 1;
	r.peer_tx = r.launch - CYCLE + 10;
	return r;
}

static void a_receiver_that_goes_on_takes_no_more_memory(void **state)
{
	struct rx_options options = { .stamp = SOURCE_XDP, .steady = true };
	struct rx_metrics *m = rx_metrics_new(&options);
	struct mallinfo2 before;
	int64_t seq = 0;

	(void)state;
	assert_non_null(m);
	for (; seq <= 2 * METRICS_SETTLED; seq++) {
		struct rx_record r = stamped_frame(seq, 1000);

		/* the sender has no stamp yet when it begins */
		r.flags = seq > METRICS_SETTLED ? RX_STAMP : 0;
		rx_metrics_add(m, &r, NULL);
	}
	/* latency of two sources, variation and path */
	assert_int_equal(m->steady_bytes, 4 * HISTOGRAM_RESERVED_BYTES);
	before = mallinfo2();
	for (int64_t latency = 1; latency < 8 * NSEC_PER_SEC; latency *= 2, seq += 2) {
		struct rx_record late = stamped_frame(seq, latency),
				 early = stamped_frame(seq + 1, -latency);

		/* a sender whose threads were kept waiting stamps later */
		late.stamp_distance = 5000;
		rx_metrics_add(m, &late, NULL);
		rx_metrics_add(m, &early, NULL);
		rx_metrics_reset_recent(m);
	}
	assert_int_equal(mallinfo2().uordblks, before.uordblks);
	assert_int_equal(m->streams[0]->variation[SOURCE_XDP]->max, 4294967296 + 2147483648);
	rx_metrics_free(m);
}

static void very_many_streams_do_not_take_it_all(void **state)
{
	struct rx_options options = { .stamp = SOURCE_XDP, .steady = true };
	struct rx_metrics *m = rx_metrics_new(&options);

	(void)state;
	assert_non_null(m);
	for (uint16_t stream = 0; stream < METRICS_STREAMS; stream++)
		for (int64_t seq = 0; seq <= METRICS_SETTLED; seq++) {
			struct rx_record r = stamped_frame(seq, 1000 + seq);

			r.stream = stream;
			rx_metrics_add(m, &r, NULL);
		}
	assert_in_range(m->steady_bytes, METRICS_STEADY_BYTES - HISTOGRAM_RESERVED_BYTES,
			METRICS_STEADY_BYTES);
	assert_int_equal(m->streams[METRICS_STREAMS - 1]->latency[SOURCE_XDP]->count,
			 METRICS_SETTLED + 1);
	assert_int_equal(rx_metrics_counts(m).sequence.unique,
			 METRICS_STREAMS * (METRICS_SETTLED + 1));
	rx_metrics_free(m);
}

static void a_sender_that_goes_on_takes_no_more_memory(void **state)
{
	struct tx_options options = { .lead_ns = 0, .steady = true };
	struct tx_metrics *m = tx_metrics_new(&options);
	struct tx_record r = {
		.launch = BASE, .wake = BASE, .submit = BASE + 10, .status = TX_SENT
	};
	struct mallinfo2 before;

	(void)state;
	assert_non_null(m);
	r.tx_sw = r.launch + 20;
	tx_metrics_add(m, &r);
	assert_int_equal(m->steady_bytes, 2 * HISTOGRAM_RESERVED_BYTES);
	before = mallinfo2();
	for (int64_t late = 1; late < 8 * NSEC_PER_SEC; late *= 2) {
		r.seq++;
		r.launch += CYCLE;
		r.wake = r.launch + late;
		r.submit = r.wake + late;
		r.tx_sw = r.launch - late;
		tx_metrics_add(m, &r);
	}
	assert_int_equal(mallinfo2().uordblks, before.uordblks);
	assert_int_equal(m->wake.max, 8589934592 / 2);
	tx_metrics_free(m);
}

static void totals_add_up(void **state)
{
	struct rx_metrics *m = rx_new(200);
	uint32_t run = 2;
	struct rx_stream *total;

	(void)state;
	for (int64_t i = 0; i < 100; i++)
		for (uint32_t r = 1; r <= 2; r++)
			for (uint16_t stream = 0; stream < 3; stream++) {
				struct rx_record record = frame(i, 100 * r + stream);

				record.run = r;
				record.stream = stream;
				if (i % 10 != 5 || r == 1)
					rx_metrics_add(m, &record, NULL);
			}
	total = rx_metrics_total(m, &run);
	assert_int_equal(total->frames, 270);
	assert_int_equal(rx_stream_counts(total).sequence.lost, 30);
	assert_int_equal(rx_stream_counts(total).late[SOURCE_XDP], 180);
	assert_int_equal(total->latency[SOURCE_XDP]->min, 200);
	assert_int_equal(total->latency[SOURCE_XDP]->max_stream, 2);
	rx_stream_free(total);
	total = rx_metrics_total(m, NULL);
	assert_int_equal(total->frames, 570);
	assert_int_equal(total->latency[SOURCE_XDP]->count, 570);
	rx_stream_free(total);
	rx_metrics_free(m);
}

static void the_sender(void **state)
{
	struct tx_options options = { .lead_ns = 100000, .deadline_ns = 50 };
	struct tx_metrics *m = tx_metrics_new(&options);
	struct tx_stream *total;

	(void)state;
	for (int64_t i = 0; i < 10; i++)
		for (uint16_t stream = 0; stream < 2; stream++) {
			struct tx_record r = { .seq = i,
					       .launch = BASE + i * CYCLE + stream * 1000 };

			r.stream = stream;
			r.run = 9;
			r.wake = BASE + i * CYCLE - 100000 + 700; /* 700 ns late */
			r.submit = r.wake + 2500;
			r.tx_hw = r.launch + 10 + i * 10; /* 10 to 100 ns */
			r.status = TX_SENT;
			if (i == 3) {
				/* out of sync: no figure, and not one of those that were sent */
				r.status = TX_SKIPPED | (stream ? 0 : TX_UNSYNCED);
				r.wake = stream ? STAMP_NONE : r.launch + 5000000;
				r.submit = r.tx_hw = STAMP_NONE;
			}
			if (i == 4)
				r.status = TX_SENT | TX_MISSED;
			if (i == 5)
				r.status = TX_SENT | TX_UNSYNCED;
			tx_metrics_add(m, &r);
		}
	total = tx_metrics_total(m, NULL);
	assert_int_equal(total->counts.records, 20);
	assert_int_equal(total->counts.sent, 18);
	assert_int_equal(total->counts.skipped, 2);
	assert_int_equal(total->counts.missed, 2);
	assert_int_equal(total->counts.unsynced, 2);
	assert_int_equal(total->launch_error[SOURCE_HW]->count, 16);
	assert_int_equal(total->launch_error[SOURCE_HW]->min, 10);
	assert_int_equal(total->launch_error[SOURCE_HW]->max, 100);
	assert_int_equal(total->launch_error[SOURCE_HW]->max_seq, 9);
	/* 50 is on time: of 10 20 30 50 70 80 90 100 four are beyond, for each stream */
	assert_int_equal(total->counts.late[SOURCE_HW], 8);
	assert_null(total->launch_error[SOURCE_SW]);
	assert_int_equal(tx_best_source(total), SOURCE_HW);
	/* once for each cycle, and by the first frame's launch */
	assert_int_equal(m->wake.count, 8);
	assert_int_equal(m->wake.min, 700);
	assert_int_equal(m->wake.max, 700);
	assert_int_equal(m->submit.count, 8);
	assert_int_equal(m->submit.max, 2500);
	tx_stream_free(total);
	tx_metrics_free(m);
}

/* A block is measured stream by stream: the figures are those of one record after the other. */
static void a_block_of_the_senders_records(void **state)
{
	const struct tx_options options = { .lead_ns = 1000, .deadline_ns = 40 };
	struct tx_metrics *one = tx_metrics_new(&options), *block = tx_metrics_new(&options);
	static struct tx_record records[1000];

	(void)state;
	for (int i = 0; i < 1000; i++) {
		int64_t launch = BASE + i / 3 * CYCLE;

		/* streams 7 and 263 end in the same 8 bits */
		records[i] = (struct tx_record){ .seq = i / 3,
						 .launch = launch,
						 .wake = launch - 900 + i / 3 % 50,
						 .submit = launch - 800,
						 .tx_sw = launch + i % 60,
						 .stream = (uint16_t)(7 + i % 3 * 256),
						 .status = i % 10 ? TX_SENT : TX_SKIPPED,
						 .run = 1 };
		if (i % 100 == 99)
			records[i].stream = RECORD_STREAM_SYNC;
		if (i % 50 == 1)
			records[i].status |= TX_UNSYNCED;
		tx_metrics_add(one, &records[i]);
	}
	tx_metrics_add_block(block, records, 1000);
	assert_int_equal(block->count, 3);
	assert_int_equal(block->wake.count, one->wake.count);
	assert_int_equal(block->wake.count, 333);
	assert_true(block->wake.sum == one->wake.sum);
	for (size_t i = 0; i < 3; i++) {
		const struct histogram *a, *b;
		const struct tx_stream *other = NULL;

		for (size_t k = 0; k < 3; k++)
			if (one->streams[k]->stream == block->streams[i]->stream)
				other = one->streams[k];
		assert_non_null(other);
		assert_memory_equal(&block->streams[i]->counts, &other->counts,
				    sizeof(other->counts));
		assert_int_equal(block->streams[i]->last_launch, other->last_launch);
		a = block->streams[i]->launch_error[SOURCE_SW];
		b = other->launch_error[SOURCE_SW];
		assert_int_equal(a->count, b->count);
		assert_true(a->count > 200);
		assert_true(a->sum == b->sum);
		assert_int_equal(a->max_seq, b->max_seq);
	}
	tx_metrics_free(one);
	tx_metrics_free(block);
}

static void wake_ups(void **state)
{
	struct wake_metrics m = { .deadline_ns = 1000 };

	(void)state;
	for (int64_t i = 1; i <= 3; i++) {
		struct wake_record r = { .seq = i, .expected = BASE, .wake = BASE + i * 500 };

		wake_metrics_add(&m, &r);
	}
	assert_int_equal(m.latency.count, 3);
	assert_int_equal(m.late, 1);
	assert_int_equal(m.latency.max_seq, 3);
	wake_metrics_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(latency_and_variation),
		cmocka_unit_test(variation_needs_neighbours),
		cmocka_unit_test(sources_are_not_mixed),
		cmocka_unit_test(unsynced_frames_are_counted_and_kept_out),
		cmocka_unit_test(the_senders_stamp_follows_later),
		cmocka_unit_test(a_flood_of_forged_runs_spares_the_honest_stream),
		cmocka_unit_test(a_pair_that_fell_silent_makes_room_and_stays_in_the_total),
		cmocka_unit_test(a_single_frame_counts),
		cmocka_unit_test(settled_streams_are_never_given_up),
		cmocka_unit_test(extreme_stamps_do_no_harm),
		cmocka_unit_test(a_receiver_that_goes_on_takes_no_more_memory),
		cmocka_unit_test(very_many_streams_do_not_take_it_all),
		cmocka_unit_test(a_sender_that_goes_on_takes_no_more_memory),
		cmocka_unit_test(totals_add_up),
		cmocka_unit_test(the_sender),
		cmocka_unit_test(a_block_of_the_senders_records),
		cmocka_unit_test(wake_ups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The publisher: sets everything up, runs the cyclic loop in a thread of its own and the rest beside it,
 * and puts everything back.
 *
 *	p = publisher_open(&options, &err);	checks and sets up; nothing has been sent
 *	publisher_run(p, &events, &err);	until done or stopped; everything is restored when it returns
 *	publisher_metrics(p) ...		the figures
 *	publisher_close(p);
 *
 * Threads: the cyclic one (cycle.h); the collecting one (error queues, metrics); the writing one (log
 * file), so that a slow disk does not let the error queues run over; and the caller's, which follows the
 * link, takes signals and shows what is going on.
 */
#ifndef ENGINE_PUBLISHER_H
#define ENGINE_PUBLISHER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/stream.h"
#include "data/histogram.h"
#include "data/metrics.h"
#include "engine/collector.h"
#include "engine/cycle.h"
#include "engine/pacing.h"
#include "engine/sync_guard.h"
#include "host/link.h"
#include "host/realtime.h"

#define CYCLE_MIN_NS 31250LL
#define CYCLE_MAX_NS 10000000000LL

enum link_loss {
	LINK_LOSS_WAIT, /* frames are withheld until it is back */
	LINK_LOSS_STOP,
};

struct publisher_options {
	char ifname[80]; /* as given; checked by publisher_open() */
	int64_t cycle_ns;
	uint64_t cycles; /* UINT64_MAX: until stopped */
	struct stream *streams; /* borrowed until publisher_close() */
	unsigned count;
	uint16_t ethertype;
	bool has_source;
	uint8_t source[6]; /* else the interface's own */
	bool has_base;
	int64_t base_ns; /* TAI */
	struct pacing_request pacing;
	struct realtime_request realtime;
	bool stamps_auto;
	unsigned stamps; /* STAMP_... */
	uint32_t stamp_every; /* 0: choose */
	int64_t deadline_ns; /* a launch error above it is late; 0: none */
	double sla; /* fraction that must leave in time, for the log; 0: none */
	const char *log_path; /* NULL: none */
	bool no_recent; /* no live line is shown: `recent` of publisher_metrics() stays empty */
	bool strict; /* a real-time shortfall is an error */
	enum link_loss link_loss;
	/*
	 * Starts gates in the kernel again that a link loss stopped, and installs the schedule on an interface that was made
	 * anew; 0, or -1 with the error. Called in the thread of
	 * publisher_run(), without capabilities. NULL: they are not this run's to start.
	 */
	int (*restart_gates)(void *context, struct error *err);
	void *restart_context;
	struct sync_guard_options sync;
	char *const *argv; /* for the log's description */
	const struct wake_clock
		*clock; /* what the cyclic thread sleeps by (blame); NULL: the system's */
};

struct publisher;

/* What the caller shows and hears. All are called in the thread of publisher_run(). */
struct publisher_events {
	void (*started)(void *context, struct publisher *publisher);
	void (*tick)(void *context, struct publisher *publisher); /* once a second */
	/* one line, no newline; `warning`: something is not as it should be */
	void (*say)(void *context, bool warning, const char *text);
	void *context;
};

struct device;

/*
 * What can be known to be wrong before anything is changed on the system for its sake (a schedule installed): the frames
 * against MTU and cycle, and the log. `device` is the interface as it is now. Returns 0, or -1 with the error.
 */
int publisher_check(const struct publisher_options *options, const struct device *device,
		    struct error *err);

struct publisher *publisher_open(const struct publisher_options *options, struct error *err);

/* Returns 0, or -1 with the error when it could not start, or had to end. */
int publisher_run(struct publisher *publisher, const struct publisher_events *events,
		  struct error *err);

void publisher_close(struct publisher *publisher); /* NULL is allowed */

/* Flags that other threads may set at any time between open and close. */
struct cycle_control *publisher_control(struct publisher *publisher);

/* What was set up. Valid from publisher_open(), `realtime` and `base_ns` from started() on. */
struct publisher_setup {
	struct link_info link;
	char driver[32];
	uint32_t speed_mbps; /* 0: unknown */
	int phc_index; /* -1: none */
	struct pacing pacing;
	bool gates; /* taprio stands on the interface */
	bool software_gates; /* taprio without offload: it does not survive a link loss */
	struct realtime realtime;
	unsigned stamps; /* in force */
	uint32_t stamp_every;
	char stamps_note[200]; /* why a stamp that was asked for is not to be had; "" */
	int64_t base_ns;
	int64_t wire_ns; /* all frames of the fullest cycle; 0: speed unknown */
	uint32_t run;
	int tai_offset_s;
	const char *sync; /* the verdict on the clocks, as sync_guard_verdict() gives it */
};

const struct publisher_setup *publisher_setup(const struct publisher *publisher);

/* What has been counted beside the metrics. */
struct publisher_counts {
	struct collector_counts collector;
	uint64_t
		unattributed; /* messages of the error queue that are no answer to a frame of ours */
	uint64_t events_lost; /* the ring to the collecting thread was full */
	uint64_t log_lost; /* records that are not in the log */
	int last_refusal; /* errno of the last frame that sendmmsg() refused; 0: none */
	uint64_t steps; /* of the clock */
	uint64_t link_losses;
	uint64_t sync_losses;
	int64_t unsynced_ns; /* for how long the clocks were not in sync, of all losses */
	uint64_t unjudged; /* frames that count as good before it was known (struct sync_hold) */
	bool stopped_early; /* by --on-link-loss stop or --on-sync-loss stop */
};

void publisher_counts(const struct publisher *publisher, struct publisher_counts *counts);

/*
 * The metrics, locked against the collecting thread until publisher_metrics_unlock(). `recent` (may be
 * NULL): what came since it was asked for last; it is emptied on unlocking.
 */
struct publisher_recent {
	struct histogram wake; /* wake-up latency */
	struct histogram launch_error[SOURCE_COUNT];
};

const struct tx_metrics *publisher_metrics(struct publisher *publisher,
					   const struct publisher_recent **recent);
void publisher_metrics_unlock(struct publisher *publisher);

#endif

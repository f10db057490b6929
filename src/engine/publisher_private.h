/* SPDX-License-Identifier: GPL-2.0-only */
/* Inside of the publisher: shared by setup.c, publisher.c and collect.c alone. */
#ifndef ENGINE_PUBLISHER_PRIVATE_H
#define ENGINE_PUBLISHER_PRIVATE_H

#include <jansson.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

#include "base/spsc.h"
#include "data/logfile.h"
#include "engine/feedback.h"
#include "engine/publisher.h"
#include "engine/sync_hold.h"
#include "engine/transmit.h"
#include "host/hwtstamp.h"
#include "host/netlink.h"
#include "tc/nic.h"

/* From another thread to the caller's, which puts it into words. */
struct publisher_note {
	enum {
		NOTE_STEP, /* the clock was stepped by `value` ns */
		NOTE_LOG_FAILED, /* publisher->log_error */
	} kind;
	int64_t value;
};

struct publisher {
	struct publisher_options options;
	struct publisher_setup setup;
	struct publisher_counts counts; /* of the caller's thread */
	int64_t *wire_ns; /* by stream */
	const struct nic *nic;

	struct netlink *nl;
	struct link_monitor *monitor;
	struct hwtstamp *hwtstamp;
	struct transmit *transmit;
	struct sync_guard *sync; /* NULL: nothing to watch */
	struct cycle_control control;
	struct cycle cycle;
	struct spsc events; /* cyclic -> collecting: struct cycle_event */
	bool cycle_ready;

	/* collecting thread */
	struct collector *collector;
	struct feedback_reader *feedback;
	struct waker watch; /* of the clock, beside the cyclic thread's: for stamps across a step */
	struct sync_hold
		*hold; /* records until the clocks of their moment are known; NULL: none waits */
	pthread_mutex_t metrics_lock;
	struct tx_metrics *metrics;
	struct publisher_recent recent;
	int64_t recent_wake; /* wake-up counted last */
	int64_t link_asked; /* TAI: when the interface was asked last, for a refused frame */
	bool link_ran; /* its answer */
	_Atomic bool link_doubted; /* it said no, and publisher_run() is to look for itself */
	_Atomic uint64_t unattributed;
	struct spsc notes; /* collecting -> caller: struct publisher_note */

	/* writing thread */
	struct log_writer *log;
	struct spsc records; /* collecting -> writing: struct tx_record */
	atomic_bool collected; /* no more records will come */
	struct spsc log_notes; /* writing -> caller: struct publisher_note */
	struct error log_error;

	int wake_fd; /* eventfd: notes, or an end */
	int signal_fd;
	int tick_fd;
	sem_t ready, go;
	atomic_bool
		written; /* the writing thread is done; or there is none and the collecting one is */
	pthread_t cyclic_thread, collecting_thread, writing_thread;
	bool cyclic_started, collecting_started, writing_started;
};

/* collect.c */
void *publisher_collect(void *publisher); /* thread */
void *publisher_write(void *publisher); /* thread */
/* The `record` of the collector's settings; `context` is the publisher. */
void publisher_take_record(void *context, const struct tx_record *record);
/* The `give` of a struct sync_hold. */
void publisher_give_record(void *context, const void *record, bool lost);
void publisher_wake_caller(struct publisher *publisher);

/* load.c: pure */
/*
 * Checks what the streams put on the wire: sizes against the MTU, and the fullest cycle against its length.
 * `wire_ns` receives each stream's time for one frame, *busiest_ns the fullest cycle's; speed 0: unknown,
 * all times 0.
 */
int load_check(const struct stream *streams, unsigned count, int64_t cycle_ns, uint32_t mtu,
	       uint32_t speed_mbps, const char *ifname, int64_t *wire_ns, int64_t *busiest_ns,
	       struct error *err);

/* describe.c */
json_t *publisher_describe(const struct publisher *publisher);

/*
 * SIGINT, SIGTERM and SIGHUP wait for the run's signalfd from here on, in every thread made later. Called
 * before the first change of the system. Writes which they are into `signals`.
 */
void publisher_block_signals(sigset_t *signals);

#endif

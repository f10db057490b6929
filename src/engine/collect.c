// SPDX-License-Identifier: GPL-2.0-only
/* The collecting and the writing thread of the publisher. */
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/publisher_private.h"
#include "host/capability.h"
#include "host/link.h"

#define COLLECT_MAX_NS (20 * NSEC_PER_MSEC)
#define COLLECT_MIN_NS (1 * NSEC_PER_MSEC)
#define WRITE_NS (100 * NSEC_PER_MSEC)
#define PASS_MAX \
	2048 /* held records at a turn: more than come anew, less than the writer's ring takes */
#define LAST_LOOK_NS \
	NSEC_PER_SEC /* how long the end of a run waits for the clocks of its last frames */

static void sleep_ns(int64_t ns)
{
	struct timespec time = ns_to_timespec(ns);

	clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

void publisher_wake_caller(struct publisher *p)
{
	uint64_t one = 1;

	if (write(p->wake_fd, &one, sizeof(one)) < 0)
		return; /* it counts already */
}

/* Everything but memory: with locked memory, allocations beyond the limit need CAP_IPC_LOCK. */
static void drop_privileges(void)
{
	struct error ignored = ERROR_INIT;

	capability_keep_only(1ULL << CAP_IPC_LOCK, &ignored);
}

/* Into statistics and log. */
static void take(struct publisher *p, const struct tx_record *record)
{
	int64_t wake;

	tx_metrics_add(p->metrics, record);
	if (p->log)
		spsc_push(&p->records, record);
	if (p->options.no_recent || record->status & TX_UNSYNCED)
		return;
	if (record->wake != STAMP_NONE && record->wake != p->recent_wake) {
		p->recent_wake = record->wake;
		wake = record->wake - (record->launch - p->setup.pacing.lead_ns);
		histogram_add(&p->recent.wake, wake, (uint64_t)record->seq, record->stream);
	}
	if (!(record->status & TX_SENT))
		return;
	if (record->tx_hw != STAMP_NONE)
		histogram_add(&p->recent.launch_error[SOURCE_HW], record->tx_hw - record->launch,
			      (uint64_t)record->seq, record->stream);
	if (record->tx_sw != STAMP_NONE)
		histogram_add(&p->recent.launch_error[SOURCE_SW], record->tx_sw - record->launch,
			      (uint64_t)record->seq, record->stream);
	if (record->submit != STAMP_NONE)
		histogram_add(&p->recent.launch_error[SOURCE_USER], record->submit - record->launch,
			      (uint64_t)record->seq, record->stream);
}

void publisher_give_record(void *context, const void *held, bool lost)
{
	struct tx_record record;

	memcpy(&record, held, sizeof(record));
	/* a skipped one for its wake-up */
	if (lost && record.status & (TX_SENT | TX_REFUSED | TX_SKIPPED))
		record.status |= TX_UNSYNCED;
	take(context, &record);
}

/*
 * Was a frame that the kernel refused lost to the link? Who follows the link may learn of it only later: then the
 * interface itself is asked, if it was not since that frame.
 */
static bool lost_to_link(struct publisher *p, int64_t submit)
{
	if (atomic_load(&p->control.link_down))
		return true;
	if (submit >= p->link_asked) {
		p->link_asked = tai_now_ns();
		p->link_ran = link_runs(p->transmit->settings.ifindex);
		if (!p->link_ran) {
			atomic_store(&p->link_doubted, true);
			publisher_wake_caller(p);
		}
	}
	return !p->link_ran;
}

void publisher_take_record(void *context, const struct tx_record *taken)
{
	struct publisher *p = context;
	struct tx_record record;

	if (!p->hold && !(taken->status & TX_REFUSED)) {
		take(p, taken);
		return;
	}
	record = *taken;
	/* an interface that is being removed refuses frames, for lack of room it says, before it is seen to be down */
	if (record.status & TX_REFUSED && lost_to_link(p, record.submit))
		record.status = (uint16_t)((record.status & ~TX_REFUSED) | TX_LINK_DOWN);
	if (p->hold)
		sync_hold_put(p->hold, &record, clock_now_ns(CLOCK_MONOTONIC));
	else
		take(p, &record);
}

/* What the watch has found out since. Returns how many records wait on. */
static size_t pass_held(struct publisher *p)
{
	struct sync_window window;

	if (!p->hold)
		return 0;
	sync_guard_window(p->sync, &window);
	return sync_hold_pass(p->hold, &window, PASS_MAX);
}

/* The last frames: a look at the clocks after them tells. */
static void release_last(struct publisher *p)
{
	int64_t end = clock_now_ns(CLOCK_MONOTONIC) + LAST_LOOK_NS;
	struct sync_window window;
	size_t left;

	if (!p->hold)
		return;
	sync_guard_hurry(p->sync);
	for (;;) {
		pthread_mutex_lock(&p->metrics_lock);
		left = pass_held(p);
		pthread_mutex_unlock(&p->metrics_lock);
		if (!left || clock_now_ns(CLOCK_MONOTONIC) > end)
			break;
		sleep_ns(COLLECT_MIN_NS);
	}
	pthread_mutex_lock(&p->metrics_lock);
	sync_guard_window(p->sync, &window);
	sync_hold_flush(p->hold, &window);
	pthread_mutex_unlock(&p->metrics_lock);
}

/* A stamp also goes back into the frames, for the receiver's path delay: hardware, else software. */
static void take_feedback(void *context, const struct feedback *feedback)
{
	struct publisher *p = context;
	int stream = collector_feedback(p->collector, feedback);
	bool hw = feedback->kind == FEEDBACK_HW;

	if (stream < 0 || (!hw && (feedback->kind != FEEDBACK_SW || (p->setup.stamps & STAMP_HW))))
		return;
	struct transmit_stamp stamp = { feedback->seq, feedback->time, hw };

	spsc_push(&p->transmit->stamps[stream], &stamp);
}

/* Smaller ones change no figure more than the clocks do that make them. */
#define STEP_VOID_NS (100 * NSEC_PER_USEC)

/* The clocks are read one after the other: the step may lie between. */
#define STEP_SLACK_NS NSEC_PER_MSEC

/* `seen_ns`: CLOCK_MONOTONIC when it was seen; INT64_MIN where all before it has been told already. */
static void take_step(struct publisher *p, int64_t step_ns, int64_t seen_ns)
{
	if (step_ns >= STEP_VOID_NS || step_ns <= -STEP_VOID_NS)
		collector_stepped(p->collector, seen_ns);
}

static void drain_events(struct publisher *p, int64_t now)
{
	struct cycle_event event;

	while (spsc_pop(&p->events, &event)) {
		if (event.kind == CYCLE_STEP) {
			struct publisher_note note = { NOTE_STEP, event.step_ns };

			/* frames come through the same ring, in their order */
			take_step(p, event.step_ns, INT64_MIN);
			spsc_push(&p->notes, &note);
			publisher_wake_caller(p);
		} else {
			collector_event(p->collector, &event, now);
		}
	}
}

_Static_assert(FEEDBACK_ROUND <= COLLECTOR_EARLY, "a round's stamps wait for their events");

/* Returns whether there is more to be had at once. */
static bool collect_once(struct publisher *p)
{
	int64_t now = clock_now_ns(CLOCK_MONOTONIC), tai;
	int fds[TRANSMIT_SOCKETS];
	unsigned count = transmit_descriptors(p->transmit, fds);
	uint64_t unknown = 0;
	bool more = false;

	pthread_mutex_lock(&p->metrics_lock);
	drain_events(p, now);
	/* events before each round of stamps: those of a fast sender would have to wait, and find no room */
	for (unsigned i = 0;
	     p->setup.stamps || p->setup.pacing.kind == PACING_LAUNCH_TIME ? i < count : 0; i++) {
		more |= feedback_read(p->feedback, fds[i], take_feedback, p, &unknown) ==
			FEEDBACK_ROUND;
		drain_events(p, now);
	}
	/* before anything is handed on: a stamp may have been read, and set against TAI, after a step */
	if (waker_look(&p->watch, &tai) == WAKE_STEPPED)
		take_step(p, p->watch.step_ns, p->watch.seen_monotonic_ns + STEP_SLACK_NS);
	collector_settle(p->collector, now);
	pass_held(p);
	pthread_mutex_unlock(&p->metrics_lock);
	if (unknown)
		atomic_fetch_add(&p->unattributed, unknown);
	return more;
}

/* How often: so that neither the events' ring nor an error queue fills up, and seldom enough to be cheap. */
static int64_t interval_of(const struct publisher *p)
{
	uint64_t frames = 0;
	int64_t interval;

	for (unsigned i = 0; i < p->options.count; i++)
		frames += p->options.streams[i].frames;
	interval = 1000 * p->options.cycle_ns / (int64_t)(frames ? frames : 1);
	if (interval > COLLECT_MAX_NS)
		return COLLECT_MAX_NS;
	return interval < COLLECT_MIN_NS ? COLLECT_MIN_NS : interval;
}

void *publisher_collect(void *context)
{
	struct publisher *p = context;
	int64_t interval = interval_of(p);

	waker_init(&p->watch, &wake_clock_system, 0, NULL);
	drop_privileges();
	for (;;) {
		bool done = atomic_load_explicit(&p->cycle.done, memory_order_acquire);

		bool more = collect_once(p);

		if (done && (!collector_waiting(p->collector) || atomic_load(&p->control.abort)))
			break;
		if (!more)
			sleep_ns(interval);
	}
	pthread_mutex_lock(&p->metrics_lock);
	collector_flush(p->collector);
	pthread_mutex_unlock(&p->metrics_lock);
	release_last(p);
	atomic_store_explicit(&p->collected, true, memory_order_release);
	if (!p->log)
		atomic_store(&p->written, true);
	publisher_wake_caller(p);
	return NULL;
}

void *publisher_write(void *context)
{
	struct publisher *p = context;
	struct tx_record batch[64];
	struct sync_record sync;
	int64_t flushed = clock_now_ns(CLOCK_MONOTONIC);
	bool done;

	drop_privileges();
	do {
		struct error err = ERROR_INIT;
		int failed = 0;
		size_t count;

		done = atomic_load_explicit(&p->collected, memory_order_acquire);
		do {
			for (count = 0; count < 64 && spsc_pop(&p->records, &batch[count]);)
				count++;
			if (count)
				failed |= log_append(p->log, batch, count, &err);
		} while (count == 64);
		/* one a second, of the clocks */
		while (sync_guard_record(p->sync, &sync))
			failed |= log_append(p->log, &sync, 1, &err);
		if (clock_now_ns(CLOCK_MONOTONIC) - flushed >= NSEC_PER_SEC) {
			failed |= log_flush(p->log, &err);
			flushed = clock_now_ns(CLOCK_MONOTONIC);
		}
		if (failed && !p->log_error.status) {
			struct publisher_note note = { NOTE_LOG_FAILED, 0 };

			p->log_error = err;
			spsc_push(&p->log_notes, &note);
			publisher_wake_caller(p);
		}
		if (!done)
			sleep_ns(WRITE_NS);
	} while (!done);
	atomic_store(&p->written, true);
	publisher_wake_caller(p);
	return NULL;
}

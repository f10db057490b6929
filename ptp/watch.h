/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Watches the clock chain beside a running publisher or receiver, in a thread of its own: asks ptp4l and
 * measures the PHC once a second, and at once when ptp4l tells of a change (port state, master, offset). In
 * between a glance each 100 ms compares PHC, CLOCK_TAI and the kernel's TAI offset alone.
 *
 * The chain counts as lost with the first look that is not good, and as recovered after some good ones in a
 * row. What cannot be told (a reading too coarse under load) changes nothing at first.
 *
 * A loss is noticed after it has come about. So the watch also says back to when it holds: to the last time at
 * which the link that is now wrong was seen to be good. See struct sync_window.
 */
#ifndef PTP_WATCH_H
#define PTP_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "data/record.h"
#include "ptp/snapshot.h"
#include "ptp/sync.h"

#define SYNC_SETTLE 3 /* good looks in a row that make a recovery */
#define SYNC_DOUBT 3 /* looks in a row that cannot tell, and count as a loss */
/* So long after its moment it is known whether the chain was good: those looks, a second apart, and what one takes. */
#define SYNC_KNOWN_NS ((SYNC_DOUBT * 2 + 1) * 500000000LL)

/* What makes the difference between a look and the state. Pure. */
struct sync_latch {
	bool good;
	int good_looks, doubtful_looks; /* in a row */
};

/* Takes one look; returns whether `good` changed. */
bool sync_latch_take(struct sync_latch *latch, enum sync_verdict verdict);

/*
 * What is known about moments that have passed, all CLOCK_MONOTONIC ns. The latest loss reaches from
 * `lost_from_ns` (exclusive; last seen good) to `lost_to_ns` (inclusive; the recovery), INT64_MAX while it lasts.
 */
struct sync_window {
	int64_t vouched_ns; /* up to here all is known: a whole look found it good, or lost */
	int64_t lost_from_ns, lost_to_ns;
};

enum sync_trust {
	SYNC_TRUST_OPEN, /* not known yet: a look at the clocks is still to come */
	SYNC_TRUST_GOOD,
	SYNC_TRUST_LOST,
};

/* Was the chain good at this moment? Pure. */
enum sync_trust sync_window_judge(const struct sync_window *window, int64_t at_ns);

struct sync_note {
	enum {
		SYNC_NOTE_LOST,
		SYNC_NOTE_RECOVERED,
		SYNC_NOTE_CHANGE
	} kind;
	int64_t after_ns; /* RECOVERED: how long it was lost */
	char text[640]; /* one line */
};

struct sync_watch_config {
	struct sync_bars bars;
	uint32_t run; /* for the records */
	bool good; /* the state to begin with: what the gate found */
	bool marks; /* frames are marked while it is lost: so are the records */
	/* set to 1 while the chain is lost, to 0 while it is good, by the watching thread, so that no one
	 * has to be woken up for it; either may be NULL. Borrowed until sync_watch_stop(). */
	atomic_uint *lost_flag[2];
	bool lost_once_good; /* the second one: a chain that has never been good cannot be lost */
	int wake_fd; /* an eventfd that is written to when there is a note; -1: none. Borrowed. */
};

struct sync_watch;

/*
 * Starts the thread; it takes over `source`, also on failure. Returns NULL with the error filled in. The
 * thread runs with all signals blocked.
 */
struct sync_watch *sync_watch_start(struct sync_source *source,
				    const struct sync_watch_config *config, struct error *err);

/* In sync at present? May be asked by any thread at any time; neither waits nor locks. */
bool sync_watch_good(const struct sync_watch *watch);

/* What is known about the past. Any thread; waits for nothing but the copying of three numbers. */
void sync_watch_window(struct sync_watch *watch, struct sync_window *window);

/* Has it look as soon as it can, so that what lies open is known without waiting for the next second. */
void sync_watch_hurry(struct sync_watch *watch);

/* How often it was lost so far, and the time lost in all, ns. */
uint64_t sync_watch_losses(const struct sync_watch *watch, int64_t *lost_ns);

/* Takes the oldest note or record of a second; false when there is none. One consuming thread each. */
bool sync_watch_note(struct sync_watch *watch, struct sync_note *note);
bool sync_watch_record(struct sync_watch *watch, struct sync_record *record);

/*
 * Ends the thread: its last records and notes can still be taken until sync_watch_free(). Takes a few
 * timeouts of ptp4l's socket at most. NULL is allowed for both.
 */
void sync_watch_stop(struct sync_watch *watch);
void sync_watch_free(struct sync_watch *watch);

/* What the waiting for a good chain asks and tells meanwhile; both may be NULL. */
struct sync_gate_events {
	bool (*interrupted)(void *context);
	void (*waiting)(void *context, const char *text); /* when what is wrong changes */
	void *context;
};

/*
 * Looks once a second until the chain is good (SYNC_SETTLE times in a row, once if the first look is good), at
 * most `wait_ns`. Returns the verdict; `text` (640 octets) then says which link decides and its fix.
 */
enum sync_verdict sync_gate(struct sync_source *source, const struct sync_bars *bars,
			    int64_t wait_ns, const struct sync_gate_events *events, char *text,
			    size_t size);

#endif

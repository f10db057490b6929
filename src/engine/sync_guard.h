/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Holds a publisher or receiver to the clock chain: waits for it at the start or refuses, watches it while
 * it runs, and says what happens to it.
 *
 *	sync_guard_open()	may wait; refuses with the link that is wrong and its fix
 *	sync_guard_watch()	from then on the flags follow the chain
 *	sync_guard_speak()	whenever wake_fd says so
 *	sync_guard_close()
 */
#ifndef ENGINE_SYNC_GUARD_H
#define ENGINE_SYNC_GUARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "data/record.h"
#include "ptp/ptp4l.h"
#include "ptp/watch.h"

enum sync_policy {
	SYNC_POLICY_AUTO, /* require where launch times need it and the interface has a PHC; else ignore */
	SYNC_POLICY_REQUIRE, /* does not start when it is not good */
	SYNC_POLICY_WARN, /* says so, starts, marks what it sends */
	SYNC_POLICY_IGNORE, /* measures where it can, for the log; nothing else */
};

enum sync_loss {
	SYNC_LOSS_AUTO, /* pause under require, else warn */
	SYNC_LOSS_WARN, /* goes on; frames are marked, and kept out of the statistics */
	SYNC_LOSS_PAUSE, /* withholds frames until it is good again */
	SYNC_LOSS_STOP, /* ends the run */
};

struct sync_guard_options {
	enum sync_policy policy;
	int64_t limit_ns; /* 0: 1 us with a PHC, 100 us with software stamps */
	int64_t wait_ns; /* at the start */
	enum sync_loss loss;
	struct ptp4l_config ptp4l; /* socket borrowed; domain and transport_specific -1: tried */
};

/* domain and transport_specific to be tried, 10 s of waiting; the rest 0. */
#define SYNC_GUARD_DEFAULTS                                                                  \
	{                                                                                    \
		.wait_ns = 10000000000LL, .ptp4l = {.domain = -1, .transport_specific = -1 } \
	}

/* `warning`: something is not as it should be. One line, no newline. */
typedef void (*sync_guard_say)(void *context, bool warning, const char *text);

struct sync_guard;

/*
 * Applies the policy at the start. `timed`: the run's launch times depend on the clocks (pacing launch-time
 * or gate). Messages go to stderr. SIGINT, SIGTERM and SIGHUP end the waiting; the caller's disposition of
 * them takes its course after everything was cleaned up. Returns 0 and *guard (NULL: nothing to watch:
 * ignored, and there is neither a PHC nor a ptp4l asked for), or -1 with the error.
 */
int sync_guard_open(const struct sync_guard_options *options, const char *ifname, bool timed,
		    struct sync_guard **guard, struct error *err);

/* For the log: "good", "not good: port: ...", "ignored", "not applicable". NULL guard is allowed. */
const char *sync_guard_verdict(const struct sync_guard *guard);

/*
 * Starts watching. `unsynced` and `paused` (either may be NULL) are set and cleared as the policy says by the
 * watching thread itself; a stop is `paused` set at once, then sync_guard_speak() returns true. `wake_fd` is
 * an eventfd, -1: none. All are borrowed until sync_guard_stop(). The thread inherits capabilities and CPUs
 * of the calling one. NULL guard is allowed: nothing happens.
 */
int sync_guard_watch(struct sync_guard *guard, uint32_t run, atomic_uint *unsynced,
		     atomic_uint *paused, int wake_fd, struct error *err);

/* Says what happened since the last call. Returns true when the run is to be stopped. NULL is allowed. */
bool sync_guard_speak(struct sync_guard *guard, sync_guard_say say, void *context);

/* Takes the oldest record of a second; false when there is none. For the thread that writes the log. */
bool sync_guard_record(struct sync_guard *guard, struct sync_record *record);

/* In sync at present; true for NULL and under "ignore". Any thread, any time. */
bool sync_guard_good(const struct sync_guard *guard);

/*
 * What is known about the past, to hold back and mark what was sent before a loss was noticed. NULL, and under
 * "ignore": all is vouched for.
 */
void sync_guard_window(const struct sync_guard *guard, struct sync_window *window);

/* Does it mark? Then what was sent has to be held back until its moment is known. */
bool sync_guard_marks(const struct sync_guard *guard);

/* Wants what still lies open to be looked at soon: at the end of a run. */
void sync_guard_hurry(struct sync_guard *guard);

/* Losses so far, and the time they took, ns. */
uint64_t sync_guard_losses(const struct sync_guard *guard, int64_t *lost_ns);

/* Ends the watching; what is left can still be taken. NULL is allowed for both. */
void sync_guard_stop(struct sync_guard *guard);
void sync_guard_close(struct sync_guard *guard);

#endif

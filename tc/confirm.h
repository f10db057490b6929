/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process of its own that takes a schedule back unless it is told in time that all is well: it outlives its parent,
 * the terminal and the connection. It begins before the first change, so that an apply that is killed in the middle is
 * taken back too.
 */
#ifndef TC_CONFIRM_H
#define TC_CONFIRM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "tc/deployment.h"
#include "tc/state.h"

struct confirm_guard {
	struct process process;
	int socket; /* to it */
};

/*
 * Starts the guard for the interface. `deployment` is what confirm_restart() installs anew; the guard has a copy. `close_fd`
 * (or -1) is closed in it: the lock. Returns 0 or -1.
 */
int confirm_start(struct confirm_guard *guard, const char *interface,
		  const struct deployment *deployment, int close_fd, struct error *err);

/* All is applied: the guard begins to wait `timeout_ns` for the confirmation. Returns 0, or -1 when it is gone. */
int confirm_wait_begin(struct confirm_guard *guard, int64_t timeout_ns);

/* The caller took everything back by itself: the guard ends. */
void confirm_cancel(struct confirm_guard *guard);

/*
 * Of what deploy_apply() was told to hold: the guard starts gates in the kernel again that a link loss stopped, and installs
 * all of it on an interface that was made anew (see deploy_restart()); it is awaited, at most 20 s. Needs no capabilities,
 * the guard has its own. Returns 0, or -1 with the error; the schedule is then taken back at the end as before.
 */
int confirm_restart(struct confirm_guard *guard, const char *interface, struct error *err);

/*
 * Of what deploy_apply() was told to hold: true when the guard has ended before its time, since `tsnpub schedule clear` took
 * the schedule back, or because it was killed. Cheap, and does not wait.
 */
bool confirm_is_over(const struct confirm_guard *guard);

/*
 * Of what deploy_apply() was told to hold: the name that the interface has now, which was another one when it was applied.
 * False: it is gone, or nothing is held on it any more.
 */
bool confirm_name_now(const char *interface, char now[16]);

/* Then: true when the schedule was taken back, false when its record still names the guard. */
bool confirm_is_undone(const struct confirm_guard *guard, const char *interface);

/*
 * Ends what deploy_apply() was told to hold: the guard takes the schedule back, which is awaited, at most 20 s. Needs no
 * capabilities, the guard has its own. Returns 0, or -1 with the error.
 */
int confirm_release(struct confirm_guard *guard, const char *interface, struct error *err);

/* From another process: tells the guard of a record that the schedule may stay. Returns 0, or -1 (it is gone). */
int confirm_tell(struct process guard);

/*
 * Takes an unconfirmed or cut-off apply back: what was there before it, and its record. Waits for the lock up to 10 s.
 * The guard's work; also `tsnpub schedule clear`'s for a cut-off apply. `only_guard`: do nothing unless the record names
 * this process as its guard. Returns 0 or -1.
 */
int confirm_take_back(const char *interface, bool only_guard, struct error *err);

#endif

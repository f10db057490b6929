/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A schedule may reset the adapter, and ptp4l then has to lock again: what stood before is noted, and awaited afterwards.
 */
#ifndef CLI_SCHEDULE_CLOCKS_H
#define CLI_SCHEDULE_CLOCKS_H

#include <signal.h>
#include <stdbool.h>

#include "base/error.h"
#include "ptp/sync.h"

struct schedule_clocks {
	char interface[16];
	bool was_synchronised; /* a ptp4l ran on the interface, and the chain was good */
	enum sync_role role; /* in which it was: the one to come back */
	bool ptp4l_ran; /* it ran, but the chain was not good: nothing is awaited */
};

/* Looks at ptp4l before anything is changed. Never fails: without ptp4l there is nothing to await. */
void schedule_clocks_note(struct schedule_clocks *clocks, const char *interface);

/*
 * Waits until the chain is as good as it was, at most 60 s. A look is believed only 3 s after the gates are in force at
 * `base_ns` (TAI; a change in place waits for it, 0: now): until then ptp4l may not yet have asked for a stamp that does not
 * come. A base time more than 60 s ahead is not awaited. Returns 0, or -1 with the error that names the check which is still
 * not good.
 */
int schedule_clocks_wait(const struct schedule_clocks *clocks, int64_t base_ns,
			 const volatile sig_atomic_t *interrupted, struct error *err);

#endif

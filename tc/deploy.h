/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Installs a deployment on an interface, step by step, so that it either stands as it was asked for or everything is as
 * it was before.
 */
#ifndef TC_DEPLOY_H
#define TC_DEPLOY_H

#include <signal.h>

#include "tc/confirm.h"
#include "tc/device.h"
#include "tc/findings.h"
#include "tc/installed.h"
#include "tc/prepare.h"
#include "tc/state.h"

struct deploy_options {
	const char *file; /* name of the YAML file, for the record */
	bool force; /* also where what is there cannot be put back */
	bool brought_up; /* the caller switched the interface on: a rollback switches it off */
	int64_t confirm_ns; /* 0: stays; else taken back unless confirmed */
	/*
	 * Not NULL: the schedule stands as long as this process lives and holds the guard, which is filled in (see
	 * confirm_release()). Excludes confirm_ns.
	 */
	struct confirm_guard *hold;
	int64_t carrier_ns; /* how long to wait for carrier */
	/* Called when gates or classes stand and the carrier is back, before etf; -1 with the error fails the apply. */
	int (*after_root)(void *context, struct error *err);
	/* Called when all stands, before the record says so: the proof; -1 fails the apply. */
	int (*proof)(void *context, struct error *err);
	/* A line on what is about to happen; may be NULL. */
	void (*say)(void *context, const char *line);
	void *context;
	const volatile sig_atomic_t *interrupted; /* looked at between steps; may be NULL */
};

struct deploy_result {
	bool live; /* a running schedule was changed in place */
	int64_t base_ns; /* of the gates */
	int64_t gap_ns; /* from the removal of the former schedule to the new one in place; 0: none was removed */
	char before[160]; /* what was there */
	struct findings notes; /* of the read-back: what the kernel made smaller */
};

/*
 * The caller holds the lock (`lock`, closed in the guard process) and has validated against this device. Returns 0; or
 * -1 with the error after a rollback, whose own failure is part of the error.
 */
int deploy_apply(struct netlink *nl, struct device *device, const struct deployment *deployment,
		 int lock, const struct deploy_options *options, struct deploy_result *result,
		 struct error *err);

/*
 * How a running schedule would be changed: true in place; false: `why` (160 bytes) says why it has to be removed first.
 * `stopped`: the link went down since it was applied (state_link_changed()).
 */
bool deploy_is_live(const struct installed *installed, bool stopped, const struct device *device,
		    const struct deployment *deployment, char why[160]);

/*
 * Gates in the kernel that a link loss stopped: deletes the deployment and installs it anew, in the same phase; or installs
 * it on an interface that was removed and made anew, whose own qdiscs the record then holds. The caller
 * holds the lock, and is, or acts for, the guard that the record names. Waits up to 5 s for carrier. On an error the record
 * stays, so that the guard can still take back. Returns 0 or -1.
 */
int deploy_restart(const char *interface, const struct deployment *deployment, struct process guard,
		   struct error *err);

/* Undoes the apply that the record tells of: what was there before it comes back, and the record before it. 0 or -1. */
int deploy_take_back(const struct state *state, struct error *err);

/* Undoes all that followed one another: what was there before the first. Removes the record. 0 or -1. */
int deploy_clear(const struct state *state, struct error *err);

#endif

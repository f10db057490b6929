/* SPDX-License-Identifier: GPL-2.0-only */
/* From a file to a deployment on a real interface: what `apply`, `check` and the publisher share. */
#ifndef CLI_SCHEDULE_READY_H
#define CLI_SCHEDULE_READY_H

#include "cli/schedule_file.h"
#include "host/netlink.h"
#include "tc/device.h"
#include "tc/prepare.h"

struct schedule_ready {
	struct schedule_file file;
	struct device device;
	struct preparation preparation;
	bool brought_up; /* the interface was switched on for this */
};

/*
 * Reads the interface of the file (it must name one), refuses those that cannot carry a schedule, validates against this
 * NIC. With `carrier_ns` the interface is switched on if need be and carrier is awaited; without, an unknown speed is
 * taken from the file, or 1 Gb/s. Findings and warnings are printed. `ready->file` is loaded before. Returns 0, or the
 * exit status after it has printed why (and switched the interface off again).
 */
int schedule_get_ready(struct netlink *nl, struct schedule_ready *ready, int64_t carrier_ns);

/* The same, but where it is not the schedule that is wrong nothing is printed: -1, and `err` says why. */
int schedule_try_ready(struct netlink *nl, struct schedule_ready *ready, int64_t carrier_ns,
		       struct error *err);

/*
 * A schedule that would silence ssh or ptp4l is refused unless `force`, which warns. Returns 0, or -1 with the error.
 */
int schedule_refuse_silence(struct netlink *nl, const struct schedule_ready *ready, bool force,
			    struct error *err);

#endif

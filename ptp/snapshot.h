/* SPDX-License-Identifier: GPL-2.0-only */
/* Fills a struct sync_snapshot from the machine: ptp4l, PHC, kernel clock, processes. */
#ifndef PTP_SNAPSHOT_H
#define PTP_SNAPSHOT_H

#include "base/error.h"
#include "ptp/ptp4l.h"
#include "ptp/sync.h"

struct sync_source;

struct sync_source_config {
	const char *iface; /* NULL: the one that ptp4l runs on */
	struct ptp4l_config ptp4l;
	const char *proc; /* NULL: /proc */
	/* how long one snapshot alone measures the PHC's frequency; 0: not at all. Repeated snapshots
	 * measure it from one to the next. */
	int64_t frequency_ns;
};

/*
 * `config` and its strings are borrowed. Returns NULL with the error filled in (no such interface, no
 * memory). Nothing is opened yet. sync_source_close() allows NULL.
 */
struct sync_source *sync_source_open(const struct sync_source_config *config, struct error *err);
void sync_source_close(struct sync_source *source);

/*
 * Takes a snapshot: connects to ptp4l if it is not connected, asks it for all data sets, reads the PHC.
 * What cannot be had is marked in the snapshot; it never fails as a whole. Takes a few timeouts of ptp4l's
 * socket at most. `full`: also looks through /proc (else the last look is repeated).
 */
void sync_source_read(struct sync_source *source, bool full, struct sync_snapshot *snapshot);

/*
 * Renews in a snapshot what is cheap to have: PHC against system clock, the kernel's clock and TAI offset, and how
 * far CLOCK_TAI was stepped since the last glance or snapshot. What ptp4l said stays as it is. Some 10 us
 * beside the reading of the PHC.
 */
void sync_source_glance(struct sync_source *source, struct sync_snapshot *snapshot);

/* The connection to ptp4l, NULL when there is none at present: for subscriptions. */
struct ptp4l *sync_source_ptp4l(struct sync_source *source);

/* How often it was made: a new one, perhaps to another process, knows of no subscription. */
unsigned int sync_source_connections(const struct sync_source *source);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PTP hardware clocks: which one an interface has, how far it is from the system clock, how fast it runs.
 */
#ifndef PTP_PHC_H
#define PTP_PHC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define PHC_NAME_SIZE 32
#define PHC_SAMPLES 25 /* PTP_MAX_SAMPLES */

/* In falling order of quality. */
enum phc_method {
	PHC_NONE = 0,
	PHC_PRECISE, /* PTP_SYS_OFFSET_PRECISE: both clocks latched by hardware */
	PHC_EXTENDED, /* PTP_SYS_OFFSET_EXTENDED: system, PHC, system around the register read */
	PHC_BASIC, /* PTP_SYS_OFFSET: system stamps around the whole driver call */
};

struct phc_reading {
	enum phc_method method;
	int64_t phc_ns; /* the PHC's time at the reading */
	int64_t realtime_offset_ns; /* PHC - CLOCK_REALTIME */
	int64_t tai_offset_ns; /* PHC - CLOCK_TAI */
	int64_t window_ns; /* the PHC was read within this time: the offsets are good to half of it */
};

/* One point of PHC against CLOCK_MONOTONIC_RAW, for its frequency. */
struct phc_point {
	int64_t raw_ns, phc_ns, window_ns;
};

/*
 * The index of the PHC of `iface` (ETHTOOL_GET_TS_INFO), -1 when it has none. `hardware` (may be NULL):
 * whether it stamps transmitted and received frames in hardware. Returns 0, or -1 with the error filled in
 * (no such interface).
 */
int phc_index_of(const char *iface, int *index, bool *hardware, struct error *err);

/* The clock's name from /sys/class/ptp, "" when unreadable. `name` holds PHC_NAME_SIZE bytes. */
void phc_name(int index, char *name);

/*
 * Opens /dev/ptp<index> for reading. Returns the file descriptor, or -1 with the error (EACCES: which
 * permission is missing).
 */
int phc_open(int index, struct error *err);

/* Measures with the best method that the driver has. Returns 0, or -1 with the error filled in. */
int phc_read(int fd, struct phc_reading *reading, struct error *err);

/* Reads the PHC between two readings of CLOCK_MONOTONIC_RAW; the tightest of some. Returns 0 or -errno. */
int phc_point(int fd, struct phc_point *point);

/*
 * Frequency of the PHC against CLOCK_MONOTONIC_RAW between two points, ppb; `uncertainty_ppb` from their
 * windows. Pure. The points must be at least 1 us apart.
 */
int64_t phc_frequency_ppb(const struct phc_point *from, const struct phc_point *to,
			  int64_t *uncertainty_ppb);

/*
 * Picks the tightest of `count` {system, PHC, system} triples (ns). Returns its index; offset PHC - system
 * at the middle of the window. Triples whose system clock ran backwards (a step) are passed over; -1 when
 * none is left. Pure.
 */
int phc_best_triple(const int64_t triples[][3], int count, int64_t *offset_ns, int64_t *window_ns);

/* "precise", "extended", "basic" */
const char *phc_method_name(enum phc_method method);

#endif

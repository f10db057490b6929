/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who steers this machine's clocks: the kernel's own account (adjtimex), and the processes that are known
 * to do it. /proc is read as hostile: anyone may name a process chronyd.
 */
#ifndef PTP_STEERING_H
#define PTP_STEERING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct kernel_clock {
	bool known; /* adjtimex answered */
	bool unsynced; /* STA_UNSYNC */
	int status; /* STA_* */
	int64_t max_error_ns; /* grows 500 us a second since it was last set */
	int64_t est_error_ns;
	int64_t frequency_ppb; /* what the steering applies */
	int tai_offset; /* s; 0: nobody has set it */
};

void kernel_clock_read(struct kernel_clock *clock);

/*
 * Sets the kernel's TAI offset (adjtimex ADJ_TAI) and reads it back. Returns 0, or -1 with the error
 * (EPERM: CAP_SYS_TIME is missing). It moves CLOCK_TAI: for explicit requests only.
 */
int kernel_clock_set_tai(int offset_s, struct error *err);

enum steerer_kind {
	STEERER_NTP, /* disciplines the system clock from NTP */
	STEERER_PHC2SYS,
	STEERER_TS2PHC,
	STEERER_PTP4L,
};

struct steerer {
	enum steerer_kind kind;
	int pid;
	char name[24];
	bool privileged; /* holds CAP_SYS_TIME: without it nothing is set */
	bool system_clock; /* by its command line it steers CLOCK_REALTIME */
	bool phc; /* ... it steers a PHC */
};

#define STEERERS_MAX 16

struct steering {
	bool known; /* /proc could be read */
	bool partial; /* more processes than we look at, or others' are hidden (hidepid) */
	int count;
	struct steerer steerer[STEERERS_MAX];
};

/* Looks through `proc` ("/proc", or a test's directory). Bounded in time and memory. */
void steering_read(const char *proc, struct steering *steering);

/*
 * Recognises one process: `comm` as in /proc/PID/comm (15 characters at most), its command line (`size`
 * bytes, arguments end in NUL; a NUL stands behind them) and effective capabilities. False: none of ours. Pure.
 */
bool steerer_recognise(const char *comm, const char *cmdline, int size, uint64_t capabilities,
		       struct steerer *steerer);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Is the clock chain grandmaster -> ptp4l -> PHC -> system clock -> CLOCK_TAI good? A table of checks over
 * one snapshot. Pure: the snapshot is filled elsewhere (ptp/snapshot.h), so that each case can be tested.
 */
#ifndef PTP_SYNC_H
#define PTP_SYNC_H

#include <stdbool.h>
#include <stdint.h>

#include "ptp/management.h"
#include "ptp/phc.h"
#include "ptp/ptp4l.h"
#include "ptp/steering.h"

#define SYNC_IFACE_SIZE 16
#define SYNC_LIMIT_HARDWARE_NS 1000 /* default limit of offsets with a PHC */
#define SYNC_LIMIT_SOFTWARE_NS 100000 /* ... with software stamps, which are good to tens of us */

#define PHC_INDEX_NONE -1 /* the interface has none */
#define PHC_INDEX_UNKNOWN -2 /* no interface to ask */

struct sync_port {
	struct mgmt_port ds;
	bool have_np, have_properties, have_hwclock;
	struct mgmt_port_np np;
	struct mgmt_port_properties properties;
	struct mgmt_port_hwclock hwclock;
};

struct sync_snapshot {
	int64_t tai_ns; /* CLOCK_TAI at the end of the reading */
	char iface
		[SYNC_IFACE_SIZE]; /* the interface looked at; "": none given and none told by ptp4l */
	bool iface_given;

	struct ptp4l_status ptp4l;
	bool have_default, have_current, have_parent, have_time_properties, have_time_status;
	struct mgmt_default default_ds;
	struct mgmt_current current;
	struct mgmt_parent parent;
	struct mgmt_time_properties time_properties;
	struct mgmt_time_status time_status;
	int port_count;
	struct sync_port ports[PTP4L_PORTS_MAX];
	int port; /* index of the interface's port, -1: none, or not to be told */
	bool port_names_known; /* the read-only socket does not tell them */
	bool have_ingress_age;
	int64_t ingress_age_ns; /* since the last sync message arrived */

	int phc_index;
	bool hardware_stamps; /* the interface stamps frames in hardware */
	char phc_name[PHC_NAME_SIZE];
	bool have_phc;
	struct phc_reading phc;
	char phc_error[192]; /* why have_phc is false although there is a PHC */
	bool have_frequency;
	int64_t frequency_ppb, frequency_uncertainty_ppb; /* PHC against CLOCK_MONOTONIC_RAW */

	struct kernel_clock kernel;
	struct steering steering;

	/* against the snapshot before; only when there was one */
	bool have_before;
	int64_t elapsed_ns; /* CLOCK_MONOTONIC_RAW */
	bool have_phc_step;
	int64_t phc_step_ns; /* what the PHC moved beyond CLOCK_MONOTONIC_RAW */
	int64_t tai_step_ns; /* the same of CLOCK_TAI */
	bool gm_changed;
	uint8_t gm_before[8];
	/* the port was SLAVE at the first look; then being one's own grandmaster is a loss */
	bool began_as_slave;
};

enum sync_role {
	SYNC_ROLE_ANY, /* slave or grandmaster, as ptp4l decides */
	SYNC_ROLE_SLAVE,
	SYNC_ROLE_MASTER,
};

struct sync_bars {
	int64_t limit_ns; /* of the offsets; 0: SYNC_LIMIT_* by the kind of stamps */
	enum sync_role role;
};

/* In rising order of how the verdict is decided: one wrong makes it not good. */
enum sync_result {
	SYNC_NOT_APPLICABLE,
	SYNC_OK,
	SYNC_UNKNOWN, /* a permission is missing, or it cannot be measured well enough */
	SYNC_WRONG,
};

enum sync_check_id {
	CHECK_PTP4L,
	CHECK_PORT,
	CHECK_TIMESTAMPING,
	CHECK_GRANDMASTER,
	CHECK_OFFSET,
	CHECK_FRESH,
	CHECK_DELAY,
	CHECK_TIMESCALE,
	CHECK_PHC,
	CHECK_PHC_TAI,
	CHECK_PHC_FREQUENCY,
	CHECK_STEPS,
	CHECK_TAI_OFFSET,
	CHECK_KERNEL_CLOCK,
	CHECK_NTP,
	CHECK_STEERING,
	CHECK_COUNT,
};

struct sync_check {
	const char *name; /* static */
	enum sync_result result;
	char value[128]; /* what was found, with its unit; may be empty */
	char limit[64]; /* what was asked for; may be empty */
	char reason[256]; /* why it is wrong, or a remark; may be empty */
	char fix[256]; /* what to do; only when wrong or unknown */
};

enum sync_verdict {
	SYNC_VERDICT_GOOD,
	SYNC_VERDICT_NOT_GOOD,
	SYNC_VERDICT_CANNOT_TELL,
};

struct sync_report {
	struct sync_check check[CHECK_COUNT];
	enum sync_verdict verdict;
	int first; /* the link that decides: first wrong, else first unknown check; -1 when good */
	int64_t limit_ns; /* the limit that was applied */
};

/* Judges the snapshot. */
void sync_judge(const struct sync_snapshot *snapshot, const struct sync_bars *bars,
		struct sync_report *report);

/* "good", "not good", "cannot tell" */
const char *sync_verdict_name(enum sync_verdict verdict);
const char *sync_result_name(enum sync_result result); /* "ok", "wrong", "unknown", "n/a" */

/*
 * Is the offset from the master a present one? ptp4l goes on telling the last one, and its grandmaster, when no
 * master is heard any more.
 */
bool sync_follows_master(const struct sync_snapshot *snapshot);

/* The state of the interface's port, PORT_UNKNOWN when it is not known. */
unsigned int sync_port_state(const struct sync_snapshot *snapshot);

/*
 * How far this machine's CLOCK_TAI may be from the grandmaster's time, ns: |offset from master| (0 on a
 * grandmaster) + |PHC - TAI| + half the reading's window. -1 when it cannot be told.
 */
int64_t sync_uncertainty_ns(const struct sync_snapshot *snapshot);

#endif

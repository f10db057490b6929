/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What each NIC and its driver can do about schedules: one table, one row a part. A row is what Linux 6.12's driver
 * does; drivers that are not in the table get the generic row, and the kernel's own words decide. Pure.
 */
#ifndef TC_NIC_H
#define TC_NIC_H

#include <stdbool.h>
#include <stdint.h>

enum nic_can {
	NIC_NO,
	NIC_YES,
	NIC_UNKNOWN
};

#define NIC_REFUSALS_MAX 8
#define NIC_TRAPS_MAX 6

/* Which of several queues with frames is served first. */
enum nic_urgent {
	NIC_URGENT_UNKNOWN,
	NIC_URGENT_LOWEST,
	NIC_URGENT_HIGHEST
};

/* What a refusal means on this driver: matched by errno and, if given, by a part of the kernel's words. */
struct nic_refusal {
	int errnum; /* positive; 0: any */
	const char *extack; /* part of the kernel's message, or NULL: any */
	const char *meaning; /* NULL ends the list */
};

struct nic {
	const char *driver; /* as ethtool -i says */
	const char *part; /* I225, LS1028A ...; also what --driver takes */
	const char *name; /* in words */
	enum nic_can taprio_offload;
	enum nic_can etf_offload;
	enum nic_can preemption; /* MAC merge */
	enum nic_can max_sdu; /* queueMaxSDU with full offload */
	bool virtual_device; /* no wire: software modes only */
	bool etf_excludes_taprio; /* etf offload and taprio offload exclude each other */
	bool etf_needs_mqprio; /* etf offload only after classes were offloaded */
	bool mqprio_hw; /* mqprio with hw 1 */
	bool mqprio_ends_launch; /* mqprio with hw 1 is a mode in which launch times are ignored, without a word */
	bool max_sdu_by_queue; /* the limit of class number N is kept on queue N */
	bool opens_once; /* each queue may open once a cycle */
	bool no_extension; /* cycle-time-extension refused */
	bool base_in_past; /* base time must lie in the past */
	bool no_live_change; /* a second schedule is refused: delete, then add */
	bool mode_switch_resets; /* link bounces when TSN mode is entered or left */
	bool keeps_windows; /* a frame never leaves the window of its class */
	bool counts_window_drops;
	bool counts_overruns;
	uint16_t
		gated_frame_max; /* bytes with the Ethernet header: longer ones do not leave with gates or launch times; 0: any */
	uint8_t max_sdu_short; /* bytes that a limit on the SDU is too short by in full offload: igc adds 12 for a header of 14 */
	uint16_t queues_max; /* 0: ask the device */
	uint8_t xdp_queues; /* TX queues that native XDP takes for itself, beside those of the classes: one a CPU of the part */
	uint64_t etf_queues; /* bit q: queue q can launch; 0: all */
	int64_t cycle_max_ns;
	uint32_t launch_step_ns; /* granularity of launch times */
	int64_t launch_ahead_max_ns; /* furthest launch time ahead; 0: one cycle beyond the running one; -1: no limit */
	int64_t handover_quiet_ns; /* a frame handed over so shortly before a cycle's end may miss its launch; 0: any time will do */
	enum nic_urgent urgent;
	const char *urgent_queue; /* which queue wins when several are open, in words */
	const char *traps[NIC_TRAPS_MAX]; /* NULL ends the list */
	struct nic_refusal refusals[NIC_REFUSALS_MAX];
};

/* The rows, for a listing; *count receives their number. The last is the generic row. */
const struct nic *nic_table(unsigned *count);

/*
 * The row of a device. `driver` as ethtool -i says; `firmware` tells the models of the simulated NIC apart; `pci_id` is
 * "8086:125b" or "" (tells I225 and I226 apart). Never NULL.
 */
const struct nic *nic_find(const char *driver, const char *firmware, const char *pci_id);

/* The row for the text after --driver: a driver ("igc"), a part ("I226"); NULL if unknown. Case does not matter. */
const struct nic *nic_by_name(const char *name);

/* In words, for a NIC with mqprio_ends_launch on which that has happened; the fix is part of it. */
extern const char nic_launch_ignored[];

/* What a refusal by the kernel means on this NIC; NULL where nothing is known. `extack` may be "". */
const char *nic_explain(const struct nic *nic, int errnum, const char *extack);

#endif

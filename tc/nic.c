// SPDX-License-Identifier: GPL-2.0-only
#include "tc/nic.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/units.h"

#define CYCLE_KERNEL_MAX 2147483647LL /* taprio keeps the cycle below 2^31 ns */
#define ENOTSUPP_KERNEL 524

#define QUEUE_0 "queue 0 is served first"

#define IGC_TRAPS                                                                                 \
	"entering and leaving TSN mode resets the adapter: the link bounces and the PHC steps a " \
	"little; ptp4l has to "                                                                   \
	"lock again",                                                                             \
		"a frame whose launch time lies more than one cycle ahead leaves in the wrong "   \
		"cycle",                                                                          \
		"no jumbo frames in TSN mode",                                                    \
		"frames for a queue that never opens are dropped by the driver",                  \
		"tx_overruns is always 0 and window drops are not counted"

#define IGC_ANY_REFUSAL                                                                    \
	{ ERANGE, NULL, "igc takes no negative base time" },                               \
	{                                                                                  \
		EINVAL, "Device failed to setup taprio offload",                           \
			"igc answers this to a queue that opens twice in a cycle, to a "   \
			"cycle-time-extension, to commands other than SetGateStates, and " \
			"(I225) to a base time in the future"                              \
	}

#define IGC_FIELDS                                                                      \
	.driver = "igc", .taprio_offload = NIC_YES, .etf_offload = NIC_YES,             \
	.preemption = NIC_UNKNOWN, .max_sdu = NIC_YES, .max_sdu_short = 2,              \
	.max_sdu_by_queue = true, .opens_once = true, .no_extension = true,             \
	.mqprio_ends_launch = true, .mode_switch_resets = true, .queues_max = 4,        \
	.gated_frame_max = 1600, .cycle_max_ns = CYCLE_KERNEL_MAX, .launch_step_ns = 1, \
	.launch_ahead_max_ns = 0, .handover_quiet_ns = 5 * NSEC_PER_USEC,               \
	.urgent = NIC_URGENT_LOWEST, .urgent_queue = QUEUE_0, .traps = { IGC_TRAPS }

static const struct nic table[] = {
	{
		IGC_FIELDS,
		.part = "I225",
		.name = "Intel I225 (igc)",
		.base_in_past = true,
		.no_live_change = true,
		.keeps_windows = false, /* erratum: a frame may cross the window's end */
		.refusals = { IGC_ANY_REFUSAL,
			      { EALREADY, NULL,
				"the I225 takes no second schedule while one runs: delete it first "
				"(tsnpub does)" } },
	},
	{
		IGC_FIELDS,
		.part = "I226",
		.name = "Intel I226 (igc)",
		.keeps_windows = true,
		.refusals = { IGC_ANY_REFUSAL },
	},
	{
		.driver = "fsl_enetc",
		.part = "LS1028A",
		.name = "NXP LS1028A ENETC (fsl_enetc)",
		.taprio_offload = NIC_YES,
		.etf_offload = NIC_YES,
		.preemption = NIC_YES,
		.max_sdu = NIC_YES,
		.etf_excludes_taprio = true,
		.etf_needs_mqprio = true,
		.mqprio_hw = true,
		.keeps_windows = true,
		.counts_window_drops = true,
		.queues_max = 8,
		.xdp_queues = 2,
		.cycle_max_ns = CYCLE_KERNEL_MAX,
		.launch_step_ns = 32,
		.launch_ahead_max_ns = 500 * NSEC_PER_MSEC,
		.urgent = NIC_URGENT_HIGHEST,
		.urgent_queue = "the highest queue is served first",
		.traps = { "launch times are rounded to 32 ns and wrap after 1.07 s: keep the lead "
			   "below 0.5 s",
			   "the number of gate entries is limited by a hardware register that no "
			   "interface shows",
			   "XDP takes one TX ring per CPU: attach XDP before a schedule with 8 "
			   "classes" },
		.refusals = { { EBUSY, NULL,
				"this port cannot do etf and taprio in hardware at once: choose "
				"mode mqprio with "
				"launch times, or taprio alone (full-offload, software release in "
				"the slot)" },
			      { EOPNOTSUPP, "ETF",
				"etf offload needs classes in hardware first (mqprio with hw 1)" },
			      { EINVAL, "Device failed to setup taprio offload",
				"most likely more gate entries than the hardware's list holds; "
				"fewer gates may do" } },
	},
	{
		.driver = "igb",
		.part = "I210",
		.name = "Intel I210 (igb)",
		.taprio_offload = NIC_NO,
		.etf_offload = NIC_YES,
		.preemption = NIC_NO,
		.max_sdu = NIC_NO,
		.keeps_windows = true,
		.queues_max = 4,
		.etf_queues = 0x3,
		.cycle_max_ns = CYCLE_KERNEL_MAX,
		.launch_step_ns = 32,
		.launch_ahead_max_ns = 500 * NSEC_PER_MSEC,
		.urgent = NIC_URGENT_LOWEST,
		.urgent_queue = QUEUE_0,
		.traps = { "launch times work on queues 0 and 1 only, in steps of 32 ns, and wrap "
			   "after 1 s" },
		.refusals = { { EOPNOTSUPP, "taprio",
				"the I210 has no gates: use mode mqprio with launch times, "
				"txtime-assist or software" },
			      { EINVAL, "ETF", "the I210 launches on queues 0 and 1 only" } },
	},
	{
		.driver = "tsnsim",
		.part = "ideal",
		.name = "simulated NIC, model ideal (tsnsim)",
		.taprio_offload = NIC_YES,
		.etf_offload = NIC_YES,
		.preemption = NIC_NO,
		.max_sdu = NIC_YES,
		.keeps_windows = true,
		.counts_window_drops = true,
		.counts_overruns = true,
		.queues_max = 4,
		.cycle_max_ns = CYCLE_KERNEL_MAX,
		.launch_step_ns = 1,
		.launch_ahead_max_ns = -1,
		.urgent = NIC_URGENT_HIGHEST,
		.urgent_queue = "the highest class is served first",
	},
	{
		.driver = "mscc_felix",
		.part = "felix",
		.name = "LS1028A switch port (mscc_felix)",
		.taprio_offload = NIC_YES,
		.etf_offload = NIC_NO,
		.preemption = NIC_YES,
		.max_sdu = NIC_YES,
		.keeps_windows = true,
		.queues_max = 8,
		.cycle_max_ns = CYCLE_KERNEL_MAX,
		.launch_step_ns = 1,
		.launch_ahead_max_ns = -1,
		.urgent = NIC_URGENT_HIGHEST,
		.urgent_queue = "the highest queue is served first",
		.traps = { "a switch port cannot stamp frames other than PTP's" },
	},
	{
		.driver = "veth",
		.part = "veth",
		.name = "virtual Ethernet pair (veth)",
		.taprio_offload = NIC_NO,
		.etf_offload = NIC_NO,
		.preemption = NIC_NO,
		.max_sdu = NIC_NO,
		.virtual_device = true,
		.keeps_windows = true,
		.cycle_max_ns = CYCLE_KERNEL_MAX,
		.launch_step_ns = 1,
		.launch_ahead_max_ns = -1,
		.urgent = NIC_URGENT_HIGHEST,
		.urgent_queue = "the highest class is served first",
		.traps = { "gates and launch times are the kernel's: precise to microseconds at "
			   "best" },
	},
	{
		.driver = "",
		.part = "generic",
		.name = "a NIC that is not in the table",
		.taprio_offload = NIC_UNKNOWN,
		.etf_offload = NIC_UNKNOWN,
		.preemption = NIC_UNKNOWN,
		.max_sdu = NIC_UNKNOWN,
		.keeps_windows = true,
		.cycle_max_ns = CYCLE_KERNEL_MAX,
		.launch_step_ns = 1,
		.launch_ahead_max_ns = -1,
		.urgent_queue = "which queue is served first is the driver's choice",
	},
};

#define ROWS (sizeof(table) / sizeof(table[0]))

/* Refusals that mean the same on every NIC. */
static const struct nic_refusal refusals_anywhere[] = {
	{ ENOENT, "Specified qdisc",
	  "the kernel module is missing: modprobe sch_taprio (sch_etf, sch_mqprio), or install "
	  "a kernel that has it" },
	{ 0, "Specified qdisc kind is unknown",
	  "the kernel module is missing: modprobe sch_taprio (sch_etf, sch_mqprio), "
	  "or install a kernel that has it" },
	{ 0, "Specified qdisc not found",
	  "the kernel module is missing: modprobe sch_taprio (sch_etf, sch_mqprio), or "
	  "install a kernel that has it" },
	{ 0, "Multi-queue device is required",
	  "the interface has one TX queue: ethtool -L IFACE combined 4, or create the veth pair "
	  "with numtxqueues 4" },
	{ 0, "Can only be attached as root",
	  "another qdisc is in the way; tsnpub attaches at the root" },
	{ 0, "Device does not have a PTP clock",
	  "no gates in hardware without a PHC; use mode software" },
	{ 0, "Device does not support taprio offload",
	  "this driver has no gates in hardware; use mode software" },
	{ 0, "'clockid' cannot be specified", "with full offload the PHC is the clock" },
	{ 0, "'clockid' is mandatory",
	  "without full offload the kernel needs to be told the clock (CLOCK_TAI)" },
	{ 0, "mutually exclusive", "txtime-assist and full offload exclude each other" },
	{ 0, "Invalid interval for schedule entry",
	  "a gate is shorter than 60 bytes take at the link's speed; with the link down the kernel "
	  "assumes 10 Mb/s" },
	{ 0, "There should be at least one entry",
	  "taprio needs at least one gate: write gates:, or streams: to plan them from" },
	{ 0, "Dynamic clockids are not supported",
	  "a PHC cannot be the clock of etf; it is CLOCK_TAI (tsnpub takes it)" },

	{ 0, "'cycle_time' is too small",
	  "the cycle is shorter than its entries' shortest possible sum" },
	{ 0, "'cycle_time' is too big", "the kernel keeps the cycle below 2^31 ns (2.147 s)" },
	{ 0, "integer out of range",
	  "a value is beyond what the kernel takes; the cycle stays below 2^31 ns (2.147 s)" },
	{ 0, "Number of traffic classes is greater", "more classes than the device has TX queues" },
	{ 0, "Queues ",
	  "a class names a queue that the device has not: ethtool -l IFACE shows how many are on" },
	{ 0, "No queues for TC", "a class has no queue" },
	{ 0, "Invalid traffic class in priority",
	  "a priority is mapped to a class that does not exist" },
	{ 0, "Changing the 'clockid'", "delete the schedule first (tsnpub does)" },
	{ 0, "Changing 'flags'",
	  "the mode of a running schedule cannot be changed: delete it first (tsnpub does)" },
	{ 0, "Changing the traffic mapping",
	  "classes of a running schedule cannot be changed: delete it first (tsnpub does)" },
	{ 0, "txtime-delay can only be set", "txtime-delay belongs to mode txtime-assist" },
	{ 0, "does not handle queueMaxSDU",
	  "this driver cannot limit frame sizes by class: remove max-frame" },
	{ 0, "Device does not support preemption",
	  "this NIC cannot preempt frames: remove preemptible" },
	{ 0, "reemption",
	  "this NIC cannot preempt frames, or MAC merge is off on it: remove preemptible" },
	{ 0, "does not support ETF offload",
	  "this NIC cannot launch by time: offload: off, or another NIC" },
	{ 0, "failed to setup ETF hardware offload",
	  "the driver refuses launch times on this queue or in this state" },
	{ 0, "Change operation not supported",
	  "etf cannot be changed: delete, then add (tsnpub does)" },
	{ 0, "Invalid clockid. CLOCK_TAI", "etf offload works on CLOCK_TAI only" },
	{ 0, "Delta must be positive", "delta must not be negative" },
	{ 0, "exclusivity", "a qdisc of that kind stands there already" },
	{ EPERM, NULL,
	  "CAP_NET_ADMIN is missing: run as root, or setcap cap_net_admin+ep on the program" },
	{ EACCES, NULL,
	  "CAP_NET_ADMIN is missing: run as root, or setcap cap_net_admin+ep on the program" },
	{ EBUSY, NULL, "the device is in use in a way that excludes this" },
	{ ENODEV, NULL, "the interface is gone" },
	{ EOPNOTSUPP, "Device failed to setup taprio offload",
	  "this driver has no gates in hardware; use mode software" },
	{ ENOTSUPP_KERNEL, NULL, "the kernel does not support this request on this device" },
};

const char nic_launch_ignored[] =
	"mqprio stands there with hw 1, a mode in which this NIC ignores launch times: etf hands "
	"each frame over its "
	"delta early, and it leaves at once; use hw 0 (tsnpub schedule apply does)";

const struct nic *nic_table(unsigned *count)
{
	*count = ROWS;
	return table;
}

const struct nic *nic_by_name(const char *name)
{
	static const struct {
		const char *alias;
		const char *part;
	} aliases[] = {
		{ "igc", "I226" }, { "enetc", "LS1028A" }, { "fsl_enetc", "LS1028A" },
		{ "igb", "I210" }, { "tsnsim", "ideal" },  { "sim", "ideal" },
	};

	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (!strcasecmp(name, aliases[i].alias))
			name = aliases[i].part;
	for (size_t i = 0; i < ROWS; i++)
		if (!strcasecmp(name, table[i].part) ||
		    (table[i].driver[0] && !strcasecmp(name, table[i].driver)))
			return &table[i];
	return NULL;
}

const struct nic *nic_find(const char *driver, const char *firmware, const char *pci_id)
{
	static const char *const i225[] = { "8086:0d9f", "8086:15f2", "8086:15f3", "8086:5502",
					    "8086:15fd" };

	if (!strcmp(driver, "igc")) {
		for (size_t i = 0; i < sizeof(i225) / sizeof(i225[0]); i++)
			if (!strcasecmp(pci_id, i225[i]))
				return nic_by_name("I225");
		return nic_by_name("I226");
	}
	/* 82575 to I350 share igb's name and have no launch time */
	if (!strcmp(driver, "igb") && strcasecmp(pci_id, "8086:1533") &&
	    strcasecmp(pci_id, "8086:1536") && strcasecmp(pci_id, "8086:1537") &&
	    strcasecmp(pci_id, "8086:1538") && strcasecmp(pci_id, "8086:157b") &&
	    strcasecmp(pci_id, "8086:157c"))
		return &table[ROWS - 1];
	if (!strcmp(driver, "tsnsim"))
		for (size_t i = 0; i < ROWS; i++)
			if (strcasestr(firmware, table[i].part))
				return &table[i];
	for (size_t i = 0; i < ROWS - 1; i++)
		if (!strcmp(driver, table[i].driver))
			return &table[i];
	return &table[ROWS - 1];
}

static const char *match(const struct nic_refusal *refusals, size_t count, int errnum,
			 const char *extack)
{
	for (size_t i = 0; i < count && refusals[i].meaning; i++)
		if ((!refusals[i].errnum || refusals[i].errnum == errnum) &&
		    (!refusals[i].extack || strstr(extack, refusals[i].extack)))
			return refusals[i].meaning;
	return NULL;
}

const char *nic_explain(const struct nic *nic, int errnum, const char *extack)
{
	const char *meaning = match(nic->refusals, NIC_REFUSALS_MAX, errnum, extack);

	if (meaning)
		return meaning;
	return match(refusals_anywhere, sizeof(refusals_anywhere) / sizeof(refusals_anywhere[0]),
		     errnum, extack);
}

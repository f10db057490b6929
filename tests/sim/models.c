// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parts that a port can imitate: one row each. To add a model, add a row; a limit that no
 * field expresses yet becomes a new field, tested where the limit bites.
 */
#include <linux/if_vlan.h>
#include "tsnsim.h"

/*
 * name, part		what `model=` takes; the part in words
 * tx_queues, rx_queues	ports can be narrowed with `queues=`
 * max_speed_mbps	ethtool refuses more
 * driver		whose counters, coalescing and EEE rules it has
 * stamp_slots		TX stamps that may be outstanding at once, 0: no limit
 * launch, launch_queues how launch times are encoded; queues below launch_queues take etf offload
 * max_gates		most entries in a gate control list
 * taprio, mqprio	the driver has that offload
 * caps_*		TC_QUERY_CAPS is answered for that qdisc
 * broken_mqprio, queue_max_sdu, gate_per_txq  what the answer is for taprio
 * sdu_header		bytes that queueMaxSDU is widened by to limit a frame without its FCS
 * sdu_without_tag	a VLAN tag is not counted against that limit
 * strict_cycle		a frame must end before the cycle does, however long the gate stays open
 * cycle_extension	cycle_time_extension is honoured, else refused
 * contiguous_gates	a queue may open once per cycle only
 * past_base_only	a base time in the future is refused
 * no_live_replace	a second REPLACE answers EALREADY
 * negative_base	a base time below 0 is taken
 * window_drops		a frame that fits no window is dropped and counted; else it blocks its queue
 * overruns		the driver reports tx_overruns (always 0)
 * drop_closed		the driver drops frames of a queue that no entry opens
 * closed_waits		such frames wait in the part; else window_drops holds for them too
 * tsn_mode		has a legacy and a TSN transmit mode; to switch resets the adapter
 * etf_needs_tc		etf offload needs traffic classes first
 * etf_excludes_taprio	etf and taprio exclude each other
 * one_queue_per_tc	mqprio: as many classes as queues, one queue each
 * mqprio_ends_launch	mqprio offload is a mode without launch times: etf's are ignored
 * queue0_first		in TSN mode queue 0 has the highest priority, else the highest class
 * xdp_kfuncs		XDP metadata kfuncs rx_timestamp and rx_hash
 * xdp_takes_rings	an XDP program reserves one TX ring for each possible CPU
 * crosststamp		PTP_SYS_OFFSET_PRECISE
 * vlan_strip		rx-vlan-offload is on from the start
 * vlan_filter		rx-vlan-filter is on from the start: frames of VLANs that no device
 *			has are dropped, unless the port is promiscuous; else there is none
 * preemption		MAC merge can be switched on (frames are never cut in the model)
 * throttles		coalescing sets the least time between interrupts; else that from the
 *			first frame to its interrupt
 */
const struct tsnsim_model tsnsim_models[] = {
	{
		.name = "ideal", .part = "a port without a flaw",
		.tx_queues = 4, .rx_queues = 4, .max_speed_mbps = 2500,
		.launch = TSNSIM_LAUNCH_EXACT, .launch_queues = TSNSIM_MAX_QUEUES,
		.max_gates = TSNSIM_MAX_GATES,
		.taprio = true, .mqprio = true, .caps_mqprio = true, .caps_taprio = true,
		.queue_max_sdu = true, .sdu_header = ETH_HLEN, .sdu_without_tag = true,
		.cycle_extension = true, .negative_base = true,
		.window_drops = true, .closed_waits = true, .overruns = true,
		.xdp_kfuncs = true, .crosststamp = true,
	}, {
		.name = "i225", .part = "Intel I225 (igc)",
		.tx_queues = 4, .rx_queues = 4, .max_speed_mbps = 2500,
		.driver = TSNSIM_DRIVER_IGC,
		.stamp_slots = 4, .launch = TSNSIM_LAUNCH_IGC, .launch_queues = 4,
		.max_gates = TSNSIM_MAX_GATES,
		.taprio = true, .mqprio = true, .caps_mqprio = true, .caps_taprio = true,
		.broken_mqprio = true, .queue_max_sdu = true, .sdu_header = ETH_HLEN - ETH_TLEN,
		.gate_per_txq = true,
		.strict_cycle = true, .contiguous_gates = true,
		.past_base_only = true, .no_live_replace = true,
		.overruns = true, .drop_closed = true, .tsn_mode = true, .one_queue_per_tc = true,
		.mqprio_ends_launch = true, .queue0_first = true,
		.xdp_kfuncs = true, .crosststamp = true, .throttles = true,
	}, {
		.name = "i226", .part = "Intel I226 (igc)",
		.tx_queues = 4, .rx_queues = 4, .max_speed_mbps = 2500,
		.driver = TSNSIM_DRIVER_IGC,
		.stamp_slots = 4, .launch = TSNSIM_LAUNCH_IGC, .launch_queues = 4,
		.max_gates = TSNSIM_MAX_GATES,
		.taprio = true, .mqprio = true, .caps_mqprio = true, .caps_taprio = true,
		.broken_mqprio = true, .queue_max_sdu = true, .sdu_header = ETH_HLEN - ETH_TLEN,
		.gate_per_txq = true,
		.strict_cycle = true, .contiguous_gates = true,
		.overruns = true, .drop_closed = true, .tsn_mode = true, .one_queue_per_tc = true,
		.mqprio_ends_launch = true, .queue0_first = true,
		.xdp_kfuncs = true, .crosststamp = true, .throttles = true,
	}, {
		.name = "i210", .part = "Intel I210 (igb)",
		.tx_queues = 4, .rx_queues = 4, .max_speed_mbps = 1000,
		.driver = TSNSIM_DRIVER_IGB,
		.stamp_slots = 1, .launch = TSNSIM_LAUNCH_IGB, .launch_queues = 2,
		.caps_taprio = true, .broken_mqprio = true, .queue0_first = true,
		.vlan_strip = true, .vlan_filter = true, .throttles = true,
	}, {
		.name = "ls1028a", .part = "NXP LS1028A ENETC port (fsl_enetc)",
		.tx_queues = 8, .rx_queues = 4, .max_speed_mbps = 2500,
		.driver = TSNSIM_DRIVER_ENETC,
		.launch = TSNSIM_LAUNCH_ENETC, .launch_queues = TSNSIM_MAX_QUEUES,
		.max_gates = 64,
		.taprio = true, .mqprio = true, .caps_mqprio = true, .caps_taprio = true,
		.queue_max_sdu = true, .sdu_header = VLAN_ETH_HLEN,
		.cycle_extension = true, .negative_base = true, .window_drops = true,
		.etf_needs_tc = true, .etf_excludes_taprio = true,
		.xdp_takes_rings = true, .vlan_strip = true, .preemption = true,
	},
	{ }
};

const struct tsnsim_model *tsnsim_model_find(const char *name)
{
	const struct tsnsim_model *m;

	for (m = tsnsim_models; m->name; m++)
		if (!strcmp(m->name, name))
			return m;
	return NULL;
}

void tsnsim_model_names(char *buf, size_t size)
{
	const struct tsnsim_model *m;
	size_t at = 0;

	buf[0] = '\0';
	for (m = tsnsim_models; m->name; m++)
		at += scnprintf(buf + at, size - at, "%s%s", at ? ", " : "", m->name);
}

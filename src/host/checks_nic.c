// SPDX-License-Identifier: GPL-2.0-only
/* The doctor's checks of the network device: what it is, and how it is set. */
#include <linux/net_tstamp.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "host/doctor.h"
#include "host/facts.h"
#include "host/irq.h"

#define NET "/sys/class/net/%s"

/* Without --iface there is nothing to judge. */
static bool no_device(const struct exam *exam, struct finding *finding)
{
	if (exam->nic.name[0])
		return false;
	finding_is(finding, VERDICT_UNKNOWN, "no device was named: --iface");
	return true;
}

static void change_setting(const struct exam *exam, struct finding *finding,
			   enum ethtool_setting setting, uint32_t value)
{
	struct change change = { .kind = CHANGE_ETHTOOL };

	snprintf(change.target, sizeof(change.target), "%s", exam->nic.name);
	snprintf(change.key, sizeof(change.key), "%s", ethtool_setting_name(setting));
	snprintf(change.value, sizeof(change.value), "%u", value);
	finding_change(finding, &change, false);
}

static void link_state(const struct exam *exam, struct finding *finding)
{
	const struct ethtool_link *link = &exam->nic.link;

	if (no_device(exam, finding))
		return;
	if (!exam->nic.link_known) {
		finding_is(finding, VERDICT_UNKNOWN, "the link cannot be read");
	} else if (!link->carrier) {
		finding_is(finding, VERDICT_BAD, "no carrier");
		finding_fix(finding, "ip link set %s up; check the cable and the peer",
			    exam->nic.name);
	} else if (!link->speed_mbps) {
		finding_is(finding, VERDICT_OK, "up, the driver names no speed");
	} else if (!link->full_duplex) {
		finding_is(finding, VERDICT_BAD, "%u Mb/s, half duplex", link->speed_mbps);
		finding_fix(finding, "ethtool -s %s autoneg on, and the same at the peer",
			    exam->nic.name);
	} else if (link->speed_mbps < 1000) {
		/* a full frame that is on the wire already is waited for: 1538 bytes */
		finding_costs(exam, finding, wire_time_ns(1514, link->speed_mbps),
			      "%u Mb/s: a full frame holds the wire for %lld us", link->speed_mbps,
			      (long long)(wire_time_ns(1514, link->speed_mbps) / NSEC_PER_USEC));
		finding_fix(finding, "ethtool -s %s autoneg on; use a cable and peer of 1 Gb/s",
			    exam->nic.name);
	} else {
		finding_is(finding, VERDICT_OK, "%u Mb/s, full duplex", link->speed_mbps);
	}
}

/* Bridges, bonds and VLAN devices have no queues of their own; switch ports cannot stamp. */
static void kind(const struct exam *exam, struct finding *finding)
{
	char uevent[512], type[32] = "";
	const char *at;

	if (no_device(exam, finding))
		return;
	if (fact_text(exam->root, uevent, sizeof(uevent), NET "/uevent", exam->nic.name) < 0) {
		finding_is(finding, VERDICT_UNKNOWN, NET " is not readable", exam->nic.name);
		return;
	}
	at = strstr(uevent, "DEVTYPE=");
	if (at)
		snprintf(type, sizeof(type), "%.*s", (int)strcspn(at + 8, "\n"), at + 8);
	if (!strcmp(type, "dsa") || fact_exists(exam->root, NET "/dsa_port", exam->nic.name)) {
		finding_is(finding, VERDICT_WARN, "a port of a switch (DSA)");
		finding_fix(finding,
			    "switch ports do not stamp frames that are not PTP: publish and "
			    "receive on the device that the switch hangs on (`ip link show "
			    "%s` names it behind the @)",
			    exam->nic.name);
	} else if (!strcmp(type, "bond") || !strcmp(type, "bridge") || !strcmp(type, "vlan") ||
		   !strcmp(type, "macvlan") || !strcmp(type, "team")) {
		finding_is(finding, VERDICT_BAD, "a stacked device (%s)", type);
		finding_fix(finding,
			    "use the device below it (`ip link show %s`); tsnpub writes the "
			    "VLAN tag itself: --vlan",
			    exam->nic.name);
	} else if (fact_exists(exam->root, NET "/device", exam->nic.name)) {
		finding_is(finding, VERDICT_OK, "%s%s%s%s%s",
			   exam->nic.part ? exam->nic.part : "a device",
			   exam->nic.driver.name[0] ? ", driver " : "", exam->nic.driver.name,
			   exam->nic.driver.bus[0] ? ", " : "", exam->nic.driver.bus);
	} else {
		finding_is(finding, VERDICT_WARN, "virtual%s%s",
			   exam->nic.driver.name[0] ? ", driver " : "", exam->nic.driver.name);
		finding_fix(finding,
			    "virtual devices show the software's timing only; for frames on "
			    "a wire name a physical one");
	}
}

static void stamping(const struct exam *exam, struct finding *finding)
{
	const struct ethtool_stamping *s = &exam->nic.stamping;
	bool tx = s->so_timestamping & SOF_TIMESTAMPING_TX_HARDWARE;
	bool rx = s->so_timestamping & SOF_TIMESTAMPING_RX_HARDWARE;
	bool all = s->rx_filters & 1U << HWTSTAMP_FILTER_ALL;

	if (no_device(exam, finding))
		return;
	if (s->phc_index < 0) {
		finding_is(finding, VERDICT_WARN, "no hardware clock (PHC)");
		finding_fix(finding,
			    "software stamps only; for stamps on the wire use a NIC such as "
			    "I225, I226 or LS1028A");
	} else if (!tx || !rx) {
		finding_is(finding, VERDICT_WARN, "/dev/ptp%d, but no %s%s%s hardware stamps",
			   s->phc_index, tx ? "" : "transmit", !tx && !rx ? " and no " : "",
			   rx ? "" : "receive");
		finding_fix(finding, "update the kernel, or use a NIC whose driver stamps");
	} else if (!all) {
		finding_is(finding, VERDICT_WARN,
			   "/dev/ptp%d; received frames are stamped only if they are PTP",
			   s->phc_index);
		finding_fix(finding, "receive on a NIC that stamps all frames (I225, I226, "
				     "LS1028A's enetc)");
	} else {
		finding_is(finding, VERDICT_OK, "/dev/ptp%d, stamps sent and received frames",
			   s->phc_index);
	}
}

static const char *yes_no(char flag)
{
	return flag == 'y' ? "yes" : flag == 'n' ? "no" : "unknown";
}

static void offloads(const struct exam *exam, struct finding *finding)
{
	const struct nic_facts *nic = &exam->nic;
	char taprio = kernel_config(exam->config, "CONFIG_NET_SCH_TAPRIO");
	char etf = kernel_config(exam->config, "CONFIG_NET_SCH_ETF");

	if (no_device(exam, finding))
		return;
	if (taprio == 'n' || etf == 'n') {
		finding_is(finding, VERDICT_WARN, "this kernel has no %s%s%s",
			   etf == 'n' ? "etf (LaunchTime)" : "",
			   etf == 'n' && taprio == 'n' ? " and no " : "",
			   taprio == 'n' ? "taprio" : "");
		finding_fix(finding,
			    "use a kernel with CONFIG_NET_SCH_TAPRIO and CONFIG_NET_SCH_ETF");
		return;
	}
	if (!nic->part) {
		finding_is(finding, VERDICT_UNKNOWN, "%s%snot in the table of NICs",
			   nic->driver.name, nic->driver.name[0] ? ": " : "");
		finding_fix(finding, "try: tsnpub schedule check --iface %s", nic->name);
		return;
	}
	finding_is(finding,
		   nic->launch_time == 'n' || nic->taprio == 'n'   ? VERDICT_WARN
		   : nic->launch_time == 'y' && nic->taprio == 'y' ? VERDICT_OK
								   : VERDICT_UNKNOWN,
		   "%s: LaunchTime %s, taprio %s%s%s", nic->part, yes_no(nic->launch_time),
		   yes_no(nic->taprio), nic->ability_note ? "; " : "",
		   nic->ability_note ? nic->ability_note : "");
	if (finding->verdict == VERDICT_WARN)
		finding_fix(finding, "what the NIC cannot do the kernel does in software, at "
				     "microseconds of jitter; I225-LM, I226-LM and I226-IT can");
	else if (finding->verdict == VERDICT_UNKNOWN)
		finding_fix(finding, "try: tsnpub schedule check --iface %s", nic->name);
}

static void queues(const struct exam *exam, struct finding *finding)
{
	const struct nic_setting *combined = &exam->nic.settings[ETHTOOL_CHANNELS_COMBINED];
	const struct nic_setting *tx = &exam->nic.settings[ETHTOOL_CHANNELS_TX];
	uint32_t count, max;

	if (no_device(exam, finding))
		return;
	if (!combined->known && !tx->known) {
		char path[64];
		int64_t number = 0;

		/* as many transmit queues as sysfs shows */
		for (int i = 0; i < 64; i++) {
			snprintf(path, sizeof(path), "queues/tx-%d", i);
			number += fact_exists(exam->root, NET "/%s", exam->nic.name, path);
		}
		count = (uint32_t)number;
		max = count;
	} else {
		count = combined->value + tx->value;
		max = combined->max > tx->max ? combined->max : tx->max;
	}
	if (!count) {
		finding_is(finding, VERDICT_UNKNOWN, "the number of queues cannot be read");
	} else if (count > 1) {
		finding_is(finding, VERDICT_OK, "%u transmit queues of at most %u", count, max);
	} else if (max > 1) {
		finding_is(finding, VERDICT_WARN, "1 transmit queue of at most %u", max);
		change_setting(exam, finding,
			       combined->known && combined->max > 1 ? ETHTOOL_CHANNELS_COMBINED
								    : ETHTOOL_CHANNELS_TX,
			       max < 4 ? max : 4);
	} else {
		finding_is(finding, VERDICT_WARN, "1 transmit queue, and no more to be had");
		finding_fix(finding, "taprio and mqprio need several queues: use another NIC (or "
				     "more CPUs: igc has one queue a CPU, up to 4)");
	}
}

static void coalescing(const struct exam *exam, struct finding *finding)
{
	const struct nic_setting *s = exam->nic.settings;
	const struct nic_setting *rx = &s[ETHTOOL_RX_USECS], *tx = &s[ETHTOOL_TX_USECS];
	bool adaptive_rx = s[ETHTOOL_ADAPTIVE_RX].known && s[ETHTOOL_ADAPTIVE_RX].value;
	bool adaptive_tx = s[ETHTOOL_ADAPTIVE_TX].known && s[ETHTOOL_ADAPTIVE_TX].value;
	uint32_t worst = 0;

	if (no_device(exam, finding))
		return;
	if (!rx->known && !tx->known) {
		finding_is(finding, VERDICT_OK, "this device has none");
		return;
	}
	if (rx->known && rx->value > worst)
		worst = rx->value;
	if (tx->known && tx->value > worst)
		worst = tx->value;
	if (!worst && !adaptive_rx && !adaptive_tx) {
		finding_is(finding, VERDICT_OK, "off");
		return;
	}
	/* adaptive moderation goes up to hundreds of us under load */
	finding_costs(exam, finding,
		      adaptive_rx || adaptive_tx ? 200 * NSEC_PER_USEC
						 : (int64_t)worst * NSEC_PER_USEC,
		      "rx-usecs %u, tx-usecs %u%s", rx->value, tx->value,
		      adaptive_rx || adaptive_tx ? ", adaptive" : "");
	if (adaptive_rx)
		change_setting(exam, finding, ETHTOOL_ADAPTIVE_RX, 0);
	if (adaptive_tx)
		change_setting(exam, finding, ETHTOOL_ADAPTIVE_TX, 0);
	if (rx->known && rx->value)
		change_setting(exam, finding, ETHTOOL_RX_USECS, 0);
	if (tx->known && tx->value)
		change_setting(exam, finding, ETHTOOL_TX_USECS, 0);
}

#define RING_WANTED 64

static void rings(const struct exam *exam, struct finding *finding)
{
	const struct nic_setting *rx = &exam->nic.settings[ETHTOOL_RING_RX];
	const struct nic_setting *tx = &exam->nic.settings[ETHTOOL_RING_TX];
	uint32_t speed = exam->nic.link.speed_mbps ? exam->nic.link.speed_mbps : 1000;
	uint32_t longest;

	if (no_device(exam, finding))
		return;
	if (!rx->known && !tx->known) {
		finding_is(finding, VERDICT_OK, "this device has none to set");
		return;
	}
	longest = rx->value > tx->value ? rx->value : tx->value;
	if (longest <= RING_WANTED) {
		finding_is(finding, VERDICT_OK, "rx %u, tx %u", rx->value, tx->value);
		return;
	}
	/* a full ring of full frames stands before a frame; classes of their own avoid that */
	finding_costs(exam, finding, (int64_t)longest * wire_time_ns(1514, speed),
		      "rx %u, tx %u descriptors: up to %lld us of full frames queue in front",
		      rx->value, tx->value,
		      (long long)(longest * wire_time_ns(1514, speed) / NSEC_PER_USEC));
	if (finding->verdict == VERDICT_BAD)
		finding->verdict = VERDICT_WARN;
	if (rx->value > RING_WANTED)
		change_setting(exam, finding, ETHTOOL_RING_RX, RING_WANTED);
	if (tx->value > RING_WANTED)
		change_setting(exam, finding, ETHTOOL_RING_TX, RING_WANTED);
}

static void bundling(const struct exam *exam, struct finding *finding)
{
	char on[160] = "", fixed[160] = "";
	int known = 0;

	if (no_device(exam, finding))
		return;
	for (int i = 0; i < NIC_FEATURES; i++) {
		struct change change = { .kind = CHANGE_FEATURE, .value = "off" };
		const char *name = nic_feature_name((enum nic_feature)i);
		char *list = exam->nic.features[i].fixed ? fixed : on;
		size_t used = strlen(list);

		if (!exam->nic.features[i].known)
			continue;
		known++;
		if (!exam->nic.features[i].on)
			continue;
		snprintf(list + used, 160 - used, "%s%s", used ? ", " : "", name);
		if (exam->nic.features[i].fixed)
			continue;
		snprintf(change.target, sizeof(change.target), "%s", exam->nic.name);
		snprintf(change.key, sizeof(change.key), "%s", name);
		finding_change(finding, &change, false);
	}
	if (!known) {
		finding_is(finding, VERDICT_UNKNOWN, "the features cannot be read");
	} else if (!on[0] && !fixed[0]) {
		finding_is(finding, VERDICT_OK, "gso, tso, gro and lro are off");
	} else if (!on[0]) {
		finding_is(finding, VERDICT_OK, "%s cannot be switched off on this device", fixed);
	} else {
		/* one bundle of 64 KiB on the wire */
		finding_costs(exam, finding,
			      43 * wire_time_ns(1514, exam->nic.link.speed_mbps
							      ? exam->nic.link.speed_mbps
							      : 1000),
			      "on: %s", on);
		if (finding->verdict == VERDICT_BAD)
			finding->verdict = VERDICT_WARN;
	}
}

static void eee(const struct exam *exam, struct finding *finding)
{
	const struct nic_setting *s = &exam->nic.settings[ETHTOOL_EEE];

	if (no_device(exam, finding))
		return;
	if (!s->known) {
		finding_is(finding, VERDICT_OK, "this device has none");
	} else if (!s->value) {
		finding_is(finding, VERDICT_OK, "off");
	} else {
		/* IEEE 802.3az, Tw_sys: 16.5 us at 1 Gb/s, 30 us at 100 Mb/s */
		finding_costs(exam, finding,
			      exam->nic.link.speed_mbps && exam->nic.link.speed_mbps < 1000 ? 30000
											    : 16500,
			      "on");
		change_setting(exam, finding, ETHTOOL_EEE, 0);
	}
}

static void flow_control(const struct exam *exam, struct finding *finding)
{
	const struct nic_setting *rx = &exam->nic.settings[ETHTOOL_PAUSE_RX];
	const struct nic_setting *tx = &exam->nic.settings[ETHTOOL_PAUSE_TX];
	const struct nic_setting *autoneg = &exam->nic.settings[ETHTOOL_PAUSE_AUTONEG];
	uint32_t speed = exam->nic.link.speed_mbps ? exam->nic.link.speed_mbps : 1000;

	if (no_device(exam, finding))
		return;
	if (!rx->known && !tx->known) {
		finding_is(finding, VERDICT_OK, "this device has none");
		return;
	}
	if (!rx->value && !tx->value) {
		finding_is(finding, VERDICT_OK, "off");
		return;
	}
	/* IEEE 802.3 Annex 31B: up to 65,535 quanta of 512 bit times */
	finding_costs(exam, finding, 65535LL * 512 * 1000 / speed, "pause frames: %s%s%s",
		      rx->value ? "obeyed" : "", rx->value && tx->value ? " and " : "",
		      tx->value ? "sent" : "");
	if (finding->verdict == VERDICT_BAD)
		finding->verdict = VERDICT_WARN;
	if (autoneg->known && autoneg->value)
		change_setting(exam, finding, ETHTOOL_PAUSE_AUTONEG, 0);
	if (rx->value)
		change_setting(exam, finding, ETHTOOL_PAUSE_RX, 0);
	if (tx->value)
		change_setting(exam, finding, ETHTOOL_PAUSE_TX, 0);
}

static void queue_length(const struct exam *exam, struct finding *finding)
{
	int64_t length;

	if (no_device(exam, finding))
		return;
	if (fact_number(exam->root, &length, NET "/tx_queue_len", exam->nic.name)) {
		finding_is(finding, VERDICT_UNKNOWN, NET "/tx_queue_len is not readable",
			   exam->nic.name);
	} else if (!length) {
		finding_is(finding, VERDICT_OK, "0");
	} else if (!exam->nic.link.speed_mbps) {
		finding_is(finding, VERDICT_OK, "%lld frames", (long long)length);
	} else {
		finding_costs(exam, finding, length * wire_time_ns(1514, exam->nic.link.speed_mbps),
			      "%lld frames", (long long)length);
		if (finding->verdict == VERDICT_BAD)
			finding->verdict = VERDICT_WARN;
		finding_change_file(finding, "0", NET "/tx_queue_len", exam->nic.name);
	}
}

/* etf drops each frame that has no launch time: no place for what knows nothing of launch times. */
static void etf_traffic(const struct exam *exam, struct finding *finding)
{
	const struct nic_facts *nic = &exam->nic;
	char list[64] = "";
	size_t used = 0;

	if (no_device(exam, finding))
		return;
	for (unsigned p = 0; p < 16; p++)
		if (nic->etf_priorities & 1U << p)
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%u",
						 used ? ", " : "", p);
	if (!nic->qdiscs_known) {
		finding_is(finding, VERDICT_UNKNOWN, "the qdiscs cannot be read");
	} else if (nic->mqprio_launch && nic->mqprio_launch_note && !(nic->etf_priorities & 1)) {
		finding_is(finding, VERDICT_BAD, "launch times are ignored: %s",
			   nic->mqprio_launch_note);
		finding_fix(finding,
			    "tsnpub schedule apply, or tc qdisc del dev %s root and the "
			    "same mqprio with hw 0",
			    nic->name);
	} else if (!nic->etf_priorities) {
		finding_is(finding, VERDICT_OK, "no etf that drops frames without a launch time");
	} else if (!(nic->etf_priorities & 1)) {
		finding_is(finding, VERDICT_OK, "only frames of priority %s need a launch time",
			   list);
	} else {
		finding_is(
			finding, VERDICT_BAD,
			"etf on the queue of priority 0, that of ptp4l, ARP and ssh: dropped, and "
			"ptp4l goes FAULTY");
		finding_fix(finding,
			    "give priority 0 a class without launch-time (tsnpub schedule "
			    "apply), or tc qdisc del dev %s root",
			    nic->name);
	}
}

static void busy_poll(const struct exam *exam, struct finding *finding)
{
	int64_t poll, read;

	if (no_device(exam, finding))
		return;
	if (fact_number(exam->root, &poll, "/proc/sys/net/core/busy_poll") ||
	    fact_number(exam->root, &read, "/proc/sys/net/core/busy_read")) {
		finding_is(finding, VERDICT_UNKNOWN, "this kernel has no busy polling");
	} else if (poll && read) {
		finding_is(finding, VERDICT_OK, "%lld us", (long long)read);
	} else {
		finding_costs(exam, finding, 0, "off");
		if (finding->verdict == VERDICT_BAD)
			finding->verdict = VERDICT_WARN;
		finding_change_file(finding, "50", "/proc/sys/net/core/busy_poll");
		finding_change_file(finding, "50", "/proc/sys/net/core/busy_read");
	}
}

static void xdp(const struct exam *exam, struct finding *finding)
{
	const struct nic_facts *nic = &exam->nic;

	if (no_device(exam, finding))
		return;
	if (!nic->xdp_known) {
		finding_is(finding, VERDICT_UNKNOWN, "this kernel does not tell (it needs 6.3)");
	} else if (!(nic->xdp_features & NIC_XDP_BASIC)) {
		finding_is(finding, VERDICT_WARN, "the driver has no native XDP");
		finding_fix(finding, "tsnpub receive falls back to generic XDP: stamps are taken "
				     "later, in the network stack");
	} else {
		finding_is(finding, VERDICT_OK, "native%s%s%s",
			   nic->xdp_features & NIC_XDP_ZEROCOPY ? ", zero copy" : "",
			   nic->xdp_metadata & NIC_XDP_RX_TIMESTAMP ? ", hardware stamps" : "",
			   nic->xdp_metadata & NIC_XDP_RX_HASH ? ", hash" : "");
	}
}

static const struct check checks[] = {
	{ "link", GROUP_NIC, "without carrier nothing is sent; a slow link delays every frame", 0,
	  link_state },
	{ "device", GROUP_NIC,
	  "stacked devices and switch ports have no stamps and no launch times", 0, kind },
	{ "stamping", GROUP_NIC, "without hardware stamps the jitter on the wire cannot be seen", 0,
	  stamping },
	{ "offloads", GROUP_NIC, "LaunchTime and gates in hardware are exact to tens of ns", 0,
	  offloads },
	{ "queues", GROUP_NIC, "each traffic class needs a queue of its own", 0, queues },
	{ "coalescing", GROUP_NIC, "interrupts are held back to save work", 0, coalescing },
	{ "rings", GROUP_NIC, "frames that wait in long rings delay the next one", 0, rings },
	{ "bundling", GROUP_NIC, "bundles of frames go out and come in as bursts", 0, bundling },
	{ "eee", GROUP_NIC, "Energy-Efficient Ethernet has to wake the link before each frame", 0,
	  eee },
	{ "flow-control", GROUP_NIC, "a peer that is overrun stops the transmitter", 0,
	  flow_control },
	{ "queue-length", GROUP_NIC, "frames that wait in software delay the next one", 0,
	  queue_length },
	{ "etf", GROUP_NIC, "etf drops frames that have no launch time, ptp4l's too", 0,
	  etf_traffic },
	/* interrupt and soft interrupt until the thread runs */
	{ "busy-poll", GROUP_NIC, "a socket that polls needs no interrupt to be woken",
	  10 * NSEC_PER_USEC, busy_poll },
	{ "xdp", GROUP_NIC, "native XDP takes its stamp first thing in the driver", 0, xdp },
};

const struct check_table checks_nic = { checks, sizeof(checks) / sizeof(checks[0]) };

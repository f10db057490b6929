// SPDX-License-Identifier: GPL-2.0-only
/* Each branch of each check of the network device, over made-up facts and trees. */
#include "cmocka_all.h"

#include <linux/net_tstamp.h>

#include "base/units.h"
#include "host/doctor.h"
#include "tree.h"

#define NET "/sys/class/net/x0"
#define FILES_MAX 6

/* What makes this device different from one that is as it should be. */
typedef void (*differ)(struct nic_facts *nic);

struct scenario {
	const char *check;
	enum verdict verdict;
	const char *value, *fix; /* parts; fix "": none at all; NULL: whatever */
	int changes;
	differ differ;
	const char *files[FILES_MAX][2];
	const char *boot; /* NULL: none */
};

static void set(struct nic_facts *nic, enum ethtool_setting setting, uint32_t value, uint32_t max)
{
	nic->settings[setting] = (struct nic_setting){ true, value, max };
}

static void a_good_device(struct nic_facts *nic)
{
	memset(nic, 0, sizeof(*nic));
	strcpy(nic->name, "x0");
	strcpy(nic->driver.name, "igc");
	strcpy(nic->driver.bus, "0000:03:00.0");
	nic->link_known = true;
	nic->link = (struct ethtool_link){ true, 1000, true, true };
	nic->stamping = (struct ethtool_stamping){
		.so_timestamping = SOF_TIMESTAMPING_TX_HARDWARE | SOF_TIMESTAMPING_RX_HARDWARE,
		.rx_filters = 1U << HWTSTAMP_FILTER_ALL,
		.phc_index = 0,
	};
	nic->part = "Intel I226";
	nic->launch_time = nic->taprio = 'y';
	set(nic, ETHTOOL_RX_USECS, 0, 0);
	set(nic, ETHTOOL_TX_USECS, 0, 0);
	set(nic, ETHTOOL_RING_RX, 64, 4096);
	set(nic, ETHTOOL_RING_TX, 64, 4096);
	set(nic, ETHTOOL_CHANNELS_COMBINED, 4, 4);
	set(nic, ETHTOOL_EEE, 0, 0);
	set(nic, ETHTOOL_PAUSE_RX, 0, 0);
	set(nic, ETHTOOL_PAUSE_TX, 0, 0);
	set(nic, ETHTOOL_PAUSE_AUTONEG, 1, 0);
	for (int i = 0; i < NIC_FEATURES; i++)
		nic->features[i].known = true;
	nic->qdiscs_known = true;
	nic->xdp_known = true;
	nic->xdp_features = NIC_XDP_BASIC | NIC_XDP_ZEROCOPY;
	nic->xdp_metadata = NIC_XDP_RX_TIMESTAMP;
}

static void etf_5_7(struct nic_facts *nic)
{
	nic->etf_priorities = 0xa0;
}

static void etf_0(struct nic_facts *nic)
{
	nic->etf_priorities = 0x81;
}

static void mqprio_launch(struct nic_facts *nic)
{
	nic->mqprio_launch = true;
}

static void mqprio_ignores(struct nic_facts *nic)
{
	nic->mqprio_launch = true;
	nic->mqprio_launch_note = "a mode of this NIC";
}

static void no_qdiscs(struct nic_facts *nic)
{
	nic->qdiscs_known = false;
}

static void no_name(struct nic_facts *n)
{
	n->name[0] = '\0';
}
static void no_link_known(struct nic_facts *n)
{
	n->link_known = false;
}
static void no_carrier(struct nic_facts *n)
{
	n->link.carrier = false;
}
static void no_speed(struct nic_facts *n)
{
	n->link.speed_mbps = 0;
}
static void half_duplex(struct nic_facts *n)
{
	n->link.full_duplex = false;
}
static void slow(struct nic_facts *n)
{
	n->link.speed_mbps = 100;
}
static void no_clock(struct nic_facts *n)
{
	n->stamping.phc_index = -1;
}
static void no_tx_stamps(struct nic_facts *n)
{
	n->stamping.so_timestamping = SOF_TIMESTAMPING_RX_HARDWARE;
}
static void ptp_only(struct nic_facts *n)
{
	n->stamping.rx_filters = 1U << HWTSTAMP_FILTER_PTP_V2_EVENT;
}
static void not_in_table(struct nic_facts *n)
{
	n->part = NULL;
}
static void no_taprio(struct nic_facts *n)
{
	n->taprio = 'n';
	n->ability_note = "a note";
}
static void one_queue(struct nic_facts *n)
{
	set(n, ETHTOOL_CHANNELS_COMBINED, 1, 4);
}
static void one_queue_only(struct nic_facts *n)
{
	set(n, ETHTOOL_CHANNELS_COMBINED, 1, 1);
}
static void queues_unknown(struct nic_facts *n)
{
	n->settings[ETHTOOL_CHANNELS_COMBINED].known = false;
}
static void coalesces(struct nic_facts *n)
{
	set(n, ETHTOOL_RX_USECS, 33, 0);
}
static void adapts(struct nic_facts *n)
{
	set(n, ETHTOOL_ADAPTIVE_RX, 1, 0);
	set(n, ETHTOOL_ADAPTIVE_TX, 1, 0);
}
static void coalesces_little(struct nic_facts *n)
{
	set(n, ETHTOOL_RX_USECS, 3, 0);
}
static void no_coalescing(struct nic_facts *n)
{
	n->settings[ETHTOOL_RX_USECS].known = n->settings[ETHTOOL_TX_USECS].known = false;
}
static void long_rings(struct nic_facts *n)
{
	set(n, ETHTOOL_RING_RX, 256, 4096);
	set(n, ETHTOOL_RING_TX, 256, 4096);
}
static void no_rings(struct nic_facts *n)
{
	n->settings[ETHTOOL_RING_RX].known = n->settings[ETHTOOL_RING_TX].known = false;
}
static void bundles(struct nic_facts *n)
{
	n->features[NIC_GSO].on = n->features[NIC_GRO].on = true;
}
static void bundles_always(struct nic_facts *n)
{
	n->features[NIC_GSO].on = n->features[NIC_GSO].fixed = true;
}
static void features_unknown(struct nic_facts *n)
{
	memset(n->features, 0, sizeof(n->features));
}
static void saves_energy(struct nic_facts *n)
{
	set(n, ETHTOOL_EEE, 1, 0);
}
static void no_eee(struct nic_facts *n)
{
	n->settings[ETHTOOL_EEE].known = false;
}
static void pauses(struct nic_facts *n)
{
	set(n, ETHTOOL_PAUSE_RX, 1, 0);
	set(n, ETHTOOL_PAUSE_TX, 1, 0);
}
static void no_pause(struct nic_facts *n)
{
	n->settings[ETHTOOL_PAUSE_RX].known = n->settings[ETHTOOL_PAUSE_TX].known = false;
}
static void xdp_unknown(struct nic_facts *n)
{
	n->xdp_known = false;
}
static void no_xdp(struct nic_facts *n)
{
	n->xdp_features = 0;
}

static void no_stamps(struct nic_facts *n)
{
	n->stamping.so_timestamping = 0;
}
static void no_rx_stamps(struct nic_facts *n)
{
	n->stamping.so_timestamping = SOF_TIMESTAMPING_TX_HARDWARE;
}
static void abilities_unknown(struct nic_facts *n)
{
	n->taprio = n->launch_time = '?';
}
static void coalesces_on_transmit(struct nic_facts *n)
{
	set(n, ETHTOOL_TX_USECS, 100, 0);
}
static void long_receive_ring(struct nic_facts *n)
{
	set(n, ETHTOOL_RING_RX, 256, 4096);
	n->link.speed_mbps = 0;
}
static void bundles_at_no_speed(struct nic_facts *n)
{
	n->features[NIC_LRO].on = true;
	n->features[NIC_TSO].known = false;
	n->link.speed_mbps = 0;
}
static void saves_energy_slowly(struct nic_facts *n)
{
	set(n, ETHTOOL_EEE, 1, 0);
	n->link.speed_mbps = 100;
}
static void obeys_pauses(struct nic_facts *n)
{
	set(n, ETHTOOL_PAUSE_RX, 1, 0);
	n->settings[ETHTOOL_PAUSE_AUTONEG].known = false;
}
static void hashes(struct nic_facts *n)
{
	n->xdp_features = NIC_XDP_BASIC;
	n->xdp_metadata = NIC_XDP_RX_HASH;
}
static void another_driver(struct nic_facts *n)
{
	strcpy(n->driver.name, "igb");
}

#define JUDGED(name, is, found, remedy) \
	.check = name, .verdict = VERDICT_##is, .value = found, .fix = remedy
#define DEVICE                                   \
	{                                        \
		NET "/device/vendor", "0x8086\n" \
	}

static const struct scenario scenarios[] = {
	{ JUDGED("link", OK, "1000 Mb/s", "") },
	{ JUDGED("link", UNKNOWN, "no device", NULL), .differ = no_name },
	{ JUDGED("link", UNKNOWN, "cannot be read", NULL), .differ = no_link_known },
	{ JUDGED("link", BAD, "no carrier", "ip link set x0 up"), .differ = no_carrier },
	{ JUDGED("link", OK, "no speed", ""), .differ = no_speed },
	{ JUDGED("link", BAD, "half duplex", "autoneg on"), .differ = half_duplex },
	{ JUDGED("link", BAD, "100 Mb/s: a full frame holds the wire for 123 us", "1 Gb/s"),
	  .differ = slow },
	{ JUDGED("device", OK, "Intel I226, driver igc, 0000:03:00.0", ""),
	  .files = { { NET "/uevent", "INTERFACE=x0\n" }, DEVICE } },
	{ JUDGED("device", UNKNOWN, "not readable", NULL) },
	{ JUDGED("device", UNKNOWN, "no device", NULL), .differ = no_name },
	{ JUDGED("device", WARN, "switch", "hangs on"),
	  .files = { { NET "/uevent", "DEVTYPE=dsa\nINTERFACE=x0\n" } } },
	{ JUDGED("device", BAD, "stacked device (bond)", "below"),
	  .files = { { NET "/uevent", "DEVTYPE=bond\n" } } },
	{ JUDGED("device", BAD, "stacked device (vlan)", "--vlan"),
	  .files = { { NET "/uevent", "DEVTYPE=vlan\n" } } },
	{ JUDGED("device", WARN, "virtual, driver igc", "physical"),
	  .files = { { NET "/uevent", "INTERFACE=x0\n" } } },
	{ JUDGED("stamping", OK, "/dev/ptp0", "") },
	{ JUDGED("stamping", UNKNOWN, "no device", NULL), .differ = no_name },
	{ JUDGED("stamping", WARN, "no hardware clock", "software stamps"), .differ = no_clock },
	{ JUDGED("stamping", WARN, "no transmit hardware stamps", "update"),
	  .differ = no_tx_stamps },
	{ JUDGED("stamping", WARN, "only if they are PTP", "all frames"), .differ = ptp_only },
	{ JUDGED("offloads", OK, "Intel I226: LaunchTime yes, taprio yes", "") },
	{ JUDGED("offloads", UNKNOWN, "no device", NULL), .differ = no_name },
	{ JUDGED("offloads", UNKNOWN, "igc: not in the table", "schedule check"),
	  .differ = not_in_table },
	{ JUDGED("offloads", WARN, "taprio no; a note", "in software"), .differ = no_taprio },
	{ JUDGED("offloads", WARN, "no taprio", "CONFIG_NET_SCH_TAPRIO"),
	  .files = { { "/proc/config.gz", "CONFIG_NET_SCH_ETF=m\n" } } },
	{ JUDGED("queues", OK, "4 transmit queues of at most 4", "") },
	{ JUDGED("queues", UNKNOWN, "no device", NULL), .differ = no_name },
	{ JUDGED("queues", WARN, "1 transmit queue of at most 4", "ethtool -L x0 combined 4"),
	  .changes = 1, .differ = one_queue },
	{ JUDGED("queues", WARN, "no more", "another NIC"), .differ = one_queue_only },
	{ JUDGED("queues", OK, "2 transmit queues", ""), .differ = queues_unknown,
	  .files = { { NET "/queues/tx-0/x", "" }, { NET "/queues/tx-1/x", "" } } },
	{ JUDGED("queues", UNKNOWN, "cannot be read", NULL), .differ = queues_unknown },
	{ JUDGED("coalescing", OK, "off", "") },
	{ JUDGED("coalescing", UNKNOWN, "no device", NULL), .differ = no_name },
	{ JUDGED("coalescing", OK, "has none", ""), .differ = no_coalescing },
	{ JUDGED("coalescing", WARN, "rx-usecs 33", "ethtool -C x0 rx-usecs 0"), .changes = 1,
	  .differ = coalesces },
	{ JUDGED("coalescing", OK, "rx-usecs 3", NULL), .differ = coalesces_little },
	{ JUDGED("coalescing", BAD, "adaptive",
		 "ethtool -C x0 adaptive-rx off; ethtool -C x0 adaptive-tx off"),
	  .changes = 2, .differ = adapts },
	{ JUDGED("rings", OK, "rx 64, tx 64", "") },
	{ JUDGED("rings", UNKNOWN, "no device", NULL), .differ = no_name },
	{ JUDGED("rings", OK, "none to set", ""), .differ = no_rings },
	{ JUDGED("rings", WARN, "up to 3149 us", "ethtool -G x0 rx 64; ethtool -G x0 tx 64"),
	  .changes = 2, .differ = long_rings },
	{ JUDGED("bundling", OK, "are off", "") },
	{ JUDGED("bundling", UNKNOWN, "no device", NULL), .differ = no_name },
	{ JUDGED("bundling", UNKNOWN, "cannot be read", NULL), .differ = features_unknown },
	{ JUDGED("bundling", OK, "cannot be switched off", ""), .differ = bundles_always },
	{ JUDGED("bundling", WARN, "tx-generic-segmentation, rx-gro",
		 "ethtool -K x0 tx-generic-segmentation off; ethtool -K x0 rx-gro off"),
	  .changes = 2, .differ = bundles },
	{ JUDGED("eee", OK, "off", "") },
	{ JUDGED("eee", UNKNOWN, "no device", NULL), .differ = no_name },
	{ JUDGED("eee", OK, "has none", ""), .differ = no_eee },
	{ JUDGED("eee", WARN, "on", "ethtool --set-eee x0 eee off"), .changes = 1,
	  .differ = saves_energy },
	{ JUDGED("flow-control", OK, "off", "") },
	{ JUDGED("flow-control", UNKNOWN, "no device", NULL), .differ = no_name },
	{ JUDGED("flow-control", OK, "has none", ""), .differ = no_pause },
	{ JUDGED("flow-control", WARN, "obeyed and sent", "ethtool -A x0 autoneg off"),
	  .changes = 3, .differ = pauses },
	{ JUDGED("etf", OK, "no etf", "") },
	{ JUDGED("etf", OK, "only frames of priority 5, 7 need", ""), .differ = etf_5_7 },
	{ JUDGED("etf", BAD, "ptp4l goes FAULTY", "tc qdisc del dev x0 root"), .differ = etf_0 },
	{ JUDGED("etf", OK, "no etf", ""), .differ = mqprio_launch },
	{ JUDGED("etf", BAD, "launch times are ignored: a mode of this NIC", "with hw 0"),
	  .differ = mqprio_ignores },
	{ JUDGED("etf", UNKNOWN, "cannot be read", NULL), .differ = no_qdiscs },
	{ JUDGED("etf", UNKNOWN, "no device", NULL), .differ = no_name },
	{ JUDGED("queue-length", OK, "0", ""), .files = { { NET "/tx_queue_len", "0\n" } } },
	{ JUDGED("queue-length", UNKNOWN, "no device", NULL), .differ = no_name },
	{ JUDGED("queue-length", UNKNOWN, "not readable", NULL) },
	{ JUDGED("queue-length", OK, "1000 frames", ""), .differ = no_speed,
	  .files = { { NET "/tx_queue_len", "1000\n" } } },
	{ JUDGED("queue-length", WARN, "1000 frames", "echo 0 > " NET "/tx_queue_len"),
	  .changes = 1, .files = { { NET "/tx_queue_len", "1000\n" } } },
	{ JUDGED("busy-poll", UNKNOWN, "no busy polling", NULL) },
	{ JUDGED("busy-poll", UNKNOWN, "no device", NULL), .differ = no_name },
	{ JUDGED("busy-poll", OK, "50 us", ""),
	  .files = { { "/proc/sys/net/core/busy_poll", "50\n" },
		     { "/proc/sys/net/core/busy_read", "50\n" } } },
	{ JUDGED("busy-poll", WARN, "off", "echo 50 > /proc/sys/net/core/busy_read"), .changes = 2,
	  .files = { { "/proc/sys/net/core/busy_poll", "0\n" },
		     { "/proc/sys/net/core/busy_read", "50\n" } } },
	{ JUDGED("xdp", OK, "native, zero copy, hardware stamps", "") },
	{ JUDGED("xdp", UNKNOWN, "no device", NULL), .differ = no_name },
	{ JUDGED("xdp", UNKNOWN, "does not tell", NULL), .differ = xdp_unknown },
	{ JUDGED("xdp", WARN, "no native XDP", "generic"), .differ = no_xdp },
	{ JUDGED("aspm", UNKNOWN, "no device", NULL), .differ = no_name },
	{ JUDGED("aspm", OK, "virtual", "") },
	{ JUDGED("aspm", OK, "not offered", ""), .files = { DEVICE } },
	{ JUDGED("aspm", OK, "off for this device", ""),
	  .files = { DEVICE, { NET "/device/link/l1_aspm", "0\n" } } },
	{ JUDGED("aspm", WARN, "on: l1_aspm, l1_2_aspm; I226",
		 "echo 0 > " NET "/device/link/l1_aspm; echo 0 > " NET "/device/link/l1_2_aspm"),
	  .changes = 2,
	  .files = { DEVICE,
		     { NET "/device/link/l1_aspm", "1\n" },
		     { NET "/device/link/l1_2_aspm", "1\n" } },
	  .boot = "pcie_aspm=off" },
	{ JUDGED("aspm", WARN, "policy powersave", "echo performance >"), .changes = 1,
	  .files = { DEVICE,
		     { "/sys/module/pcie_aspm/parameters/policy",
		       "default performance [powersave]\n" } },
	  .boot = "pcie_aspm=off" },
	{ JUDGED("aspm", OK, "pcie_aspm=off", ""),
	  .files = { DEVICE, { "/proc/cmdline", "quiet pcie_aspm=off\n" } } },
	{ JUDGED("aspm", UNKNOWN, "no state", NULL),
	  .files = { DEVICE, { NET "/device/link/clkpm", "0\n" } } },
	{ JUDGED("nic-power", UNKNOWN, "no device", NULL), .differ = no_name },
	{ JUDGED("nic-power", OK, "virtual", "") },
	{ JUDGED("nic-power", UNKNOWN, "not readable", NULL), .files = { DEVICE } },
	{ JUDGED("nic-power", OK, "always on", ""),
	  .files = { { NET "/device/power/control", "on\n" } } },
	{ JUDGED("nic-power", BAD, "auto", "echo on > " NET "/device/power/control"), .changes = 1,
	  .files = { { NET "/device/power/control", "auto\n" } } },
	{ JUDGED("nic-power", OK, "does not suspend", ""),
	  .files = { { NET "/device/power/control", "auto\n" },
		     { NET "/device/power/runtime_status", "unsupported\n" } } },
	{ JUDGED("nic-irqs", UNKNOWN, "no device", NULL), .differ = no_name },
	{ JUDGED("nic-irqs", OK, "virtual", "") },
	{ JUDGED("nic-irqs", UNKNOWN, "not visible", NULL), .files = { DEVICE } },
	{ JUDGED("nic-irqs", OK, "1, all off", ""),
	  .files = { { NET "/device/msi_irqs/5", "msix\n" },
		     { "/proc/interrupts", "     CPU0 CPU1\n 5: 1 2  x  x0-TxRx-0\n" },
		     { "/proc/irq/5/smp_affinity_list", "0\n" } } },
	{ JUDGED("nic-irqs", BAD, "1 of 1 on the real-time CPUs: 5 x0-TxRx-0",
		 "echo 0 > /proc/irq/5/smp_affinity_list"),
	  .changes = 1,
	  .files = { { NET "/device/msi_irqs/5", "msix\n" },
		     { "/proc/interrupts", "     CPU0 CPU1\n 5: 1 2  x  x0-TxRx-0\n" },
		     { "/proc/irq/5/smp_affinity_list", "0-1\n" } } },
	{ JUDGED("nic-irqs", BAD, "1 of 1", NULL), .changes = 1,
	  .files = { { NET "/device/irq", "5\n" },
		     { "/proc/interrupts", "     CPU0 CPU1\n 5: 1 2  x  x0\n" },
		     { "/proc/irq/5/smp_affinity_list", "1\n" } } },
	{ JUDGED("device", WARN, "switch", "hangs on"),
	  .files = { { NET "/uevent", "INTERFACE=x0\n" }, { NET "/dsa_port", "" } } },
	{ JUDGED("device", BAD, "stacked device (bridge)", "below"),
	  .files = { { NET "/uevent", "DEVTYPE=bridge\n" } } },
	{ JUDGED("device", BAD, "stacked device (macvlan)", "below"),
	  .files = { { NET "/uevent", "DEVTYPE=macvlan\n" } } },
	{ JUDGED("device", BAD, "stacked device (team)", "below"),
	  .files = { { NET "/uevent", "DEVTYPE=team\n" } } },
	{ JUDGED("stamping", WARN, "no transmit and no receive hardware stamps", "update"),
	  .differ = no_stamps },
	{ JUDGED("stamping", WARN, "no receive hardware stamps", "update"),
	  .differ = no_rx_stamps },
	{ JUDGED("offloads", WARN, "no etf (LaunchTime) and no taprio", "CONFIG_NET_SCH_ETF"),
	  .files = { { "/proc/config.gz", "CONFIG_X=y\n" } } },
	{ JUDGED("offloads", WARN, "no etf (LaunchTime)", "CONFIG_NET_SCH_ETF"),
	  .files = { { "/proc/config.gz", "CONFIG_NET_SCH_TAPRIO=m\n" } } },
	{ JUDGED("offloads", UNKNOWN, "LaunchTime unknown, taprio unknown", "schedule check"),
	  .differ = abilities_unknown },
	{ JUDGED("coalescing", BAD, "tx-usecs 100", "ethtool -C x0 tx-usecs 0"), .changes = 1,
	  .differ = coalesces_on_transmit },
	{ JUDGED("rings", WARN, "rx 256, tx 64", "ethtool -G x0 rx 64"), .changes = 1,
	  .differ = long_receive_ring },
	{ JUDGED("bundling", WARN, "on: rx-lro", "ethtool -K x0 rx-lro off"), .changes = 1,
	  .differ = bundles_at_no_speed },
	{ JUDGED("eee", WARN, "on", "ethtool --set-eee x0 eee off"), .changes = 1,
	  .differ = saves_energy_slowly },
	{ JUDGED("flow-control", WARN, "pause frames: obeyed", "ethtool -A x0 rx off"),
	  .changes = 1, .differ = obeys_pauses },
	{ JUDGED("xdp", OK, "native, hash", NULL), .differ = hashes },
	{ JUDGED("aspm", WARN, "on: l1_aspm", "link/l1_aspm"), .changes = 1,
	  .differ = another_driver, .files = { DEVICE, { NET "/device/link/l1_aspm", "1\n" } },
	  .boot = "pcie_aspm=off" },
	/* of the clock, but only with a device that has one */
	{ JUDGED("gptp", BAD, "ptp4l is not running", "ptp4l -f"),
	  .files = { { "/proc/cmdline", "\n" } } },
};

static void judge(const struct scenario *scenario, size_t index)
{
	struct error err = ERROR_INIT;
	struct finding finding;
	const struct check *check = NULL;
	char root[64];
	struct exam exam = { .root = root, .cycle_ns = NSEC_PER_MSEC, .rt_priority = 80 };

	tree_make(root);
	tree_write(root, "/sys/devices/system/cpu/online", "0-1\n");
	tree_write(root, "/sys/devices/system/cpu/isolated", "1\n");
	for (size_t i = 0; i < FILES_MAX && scenario->files[i][0]; i++)
		tree_write(root, scenario->files[i][0], scenario->files[i][1]);
	a_good_device(&exam.nic);
	if (scenario->differ)
		scenario->differ(&exam.nic);
	assert_int_equal(exam_gather(&exam, 0, &err), 0);
	for (size_t i = 0; i < doctor_count(); i++)
		if (!strcmp(doctor_check(i)->name, scenario->check))
			check = doctor_check(i);
	assert_non_null(check);
	doctor_judge(&exam, check, &finding);
	if (finding.verdict != scenario->verdict || !strstr(finding.value, scenario->value) ||
	    (scenario->fix && *scenario->fix && !strstr(finding.fix, scenario->fix)) ||
	    (scenario->fix && !*scenario->fix && finding.fix[0]) ||
	    strcmp(finding.boot, scenario->boot ? scenario->boot : "") ||
	    (int)finding.change_count != scenario->changes)
		fail_msg("scenario %zu, %s: %s '%s', fix '%s', boot '%s', %zu changes", index,
			 scenario->check, verdict_name(finding.verdict), finding.value, finding.fix,
			 finding.boot, finding.change_count);
	finding_free(&finding);
	exam_free(&exam);
	tree_remove(root);
}

static void every_branch(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		judge(&scenarios[i], i);
}

static void every_check_has_scenarios(void **state)
{
	(void)state;
	for (size_t i = 0; i < doctor_count(); i++) {
		const struct check *check = doctor_check(i);
		bool found = check->group != GROUP_NIC;

		for (size_t j = 0; j < sizeof(scenarios) / sizeof(scenarios[0]); j++)
			found |= !strcmp(scenarios[j].check, check->name);
		if (!found)
			fail_msg("%s has no scenario", check->name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_branch),
		cmocka_unit_test(every_check_has_scenarios),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

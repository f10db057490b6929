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

#define DEVICE                                   \
	{                                        \
		NET "/device/vendor", "0x8086\n" \
	}

static const struct scenario scenarios[] = {
	{ "link", VERDICT_OK, "1000 Mb/s", "", 0, NULL, {}, NULL },
	{ "link", VERDICT_UNKNOWN, "no device", NULL, 0, no_name, {}, NULL },
	{ "link", VERDICT_UNKNOWN, "cannot be read", NULL, 0, no_link_known, {}, NULL },
	{ "link", VERDICT_BAD, "no carrier", "ip link set x0 up", 0, no_carrier, {}, NULL },
	{ "link", VERDICT_OK, "no speed", "", 0, no_speed, {}, NULL },
	{ "link", VERDICT_BAD, "half duplex", "autoneg on", 0, half_duplex, {}, NULL },
	{ "link",
	  VERDICT_BAD,
	  "100 Mb/s: a full frame holds the wire for 123 us",
	  "1 Gb/s",
	  0,
	  slow,
	  {},
	  NULL },
	{ "device",
	  VERDICT_OK,
	  "Intel I226, driver igc, 0000:03:00.0",
	  "",
	  0,
	  NULL,
	  { { NET "/uevent", "INTERFACE=x0\n" }, DEVICE },
	  NULL },
	{ "device", VERDICT_UNKNOWN, "not readable", NULL, 0, NULL, {}, NULL },
	{ "device", VERDICT_UNKNOWN, "no device", NULL, 0, no_name, {}, NULL },
	{ "device",
	  VERDICT_WARN,
	  "switch",
	  "hangs on",
	  0,
	  NULL,
	  { { NET "/uevent", "DEVTYPE=dsa\nINTERFACE=x0\n" } },
	  NULL },
	{ "device",
	  VERDICT_BAD,
	  "stacked device (bond)",
	  "below",
	  0,
	  NULL,
	  { { NET "/uevent", "DEVTYPE=bond\n" } },
	  NULL },
	{ "device",
	  VERDICT_BAD,
	  "stacked device (vlan)",
	  "--vlan",
	  0,
	  NULL,
	  { { NET "/uevent", "DEVTYPE=vlan\n" } },
	  NULL },
	{ "device",
	  VERDICT_WARN,
	  "virtual, driver igc",
	  "physical",
	  0,
	  NULL,
	  { { NET "/uevent", "INTERFACE=x0\n" } },
	  NULL },
	{ "stamping", VERDICT_OK, "/dev/ptp0", "", 0, NULL, {}, NULL },
	{ "stamping", VERDICT_UNKNOWN, "no device", NULL, 0, no_name, {}, NULL },
	{ "stamping", VERDICT_WARN, "no hardware clock", "software stamps", 0, no_clock, {}, NULL },
	{ "stamping",
	  VERDICT_WARN,
	  "no transmit hardware stamps",
	  "update",
	  0,
	  no_tx_stamps,
	  {},
	  NULL },
	{ "stamping", VERDICT_WARN, "only if they are PTP", "all frames", 0, ptp_only, {}, NULL },
	{ "offloads", VERDICT_OK, "Intel I226: LaunchTime yes, taprio yes", "", 0, NULL, {}, NULL },
	{ "offloads", VERDICT_UNKNOWN, "no device", NULL, 0, no_name, {}, NULL },
	{ "offloads",
	  VERDICT_UNKNOWN,
	  "igc: not in the table",
	  "schedule check",
	  0,
	  not_in_table,
	  {},
	  NULL },
	{ "offloads", VERDICT_WARN, "taprio no; a note", "in software", 0, no_taprio, {}, NULL },
	{ "offloads",
	  VERDICT_WARN,
	  "no taprio",
	  "CONFIG_NET_SCH_TAPRIO",
	  0,
	  NULL,
	  { { "/proc/config.gz", "CONFIG_NET_SCH_ETF=m\n" } },
	  NULL },
	{ "queues", VERDICT_OK, "4 transmit queues of at most 4", "", 0, NULL, {}, NULL },
	{ "queues", VERDICT_UNKNOWN, "no device", NULL, 0, no_name, {}, NULL },
	{ "queues",
	  VERDICT_WARN,
	  "1 transmit queue of at most 4",
	  "ethtool -L x0 combined 4",
	  1,
	  one_queue,
	  {},
	  NULL },
	{ "queues", VERDICT_WARN, "no more", "another NIC", 0, one_queue_only, {}, NULL },
	{ "queues",
	  VERDICT_OK,
	  "2 transmit queues",
	  "",
	  0,
	  queues_unknown,
	  { { NET "/queues/tx-0/x", "" }, { NET "/queues/tx-1/x", "" } },
	  NULL },
	{ "queues", VERDICT_UNKNOWN, "cannot be read", NULL, 0, queues_unknown, {}, NULL },
	{ "coalescing", VERDICT_OK, "off", "", 0, NULL, {}, NULL },
	{ "coalescing", VERDICT_UNKNOWN, "no device", NULL, 0, no_name, {}, NULL },
	{ "coalescing", VERDICT_OK, "has none", "", 0, no_coalescing, {}, NULL },
	{ "coalescing",
	  VERDICT_WARN,
	  "rx-usecs 33",
	  "ethtool -C x0 rx-usecs 0",
	  1,
	  coalesces,
	  {},
	  NULL },
	{ "coalescing", VERDICT_OK, "rx-usecs 3", NULL, 0, coalesces_little, {}, NULL },
	{ "coalescing",
	  VERDICT_BAD,
	  "adaptive",
	  "ethtool -C x0 adaptive-rx off; ethtool -C x0 adaptive-tx off",
	  2,
	  adapts,
	  {},
	  NULL },
	{ "rings", VERDICT_OK, "rx 64, tx 64", "", 0, NULL, {}, NULL },
	{ "rings", VERDICT_UNKNOWN, "no device", NULL, 0, no_name, {}, NULL },
	{ "rings", VERDICT_OK, "none to set", "", 0, no_rings, {}, NULL },
	{ "rings",
	  VERDICT_WARN,
	  "up to 3149 us",
	  "ethtool -G x0 rx 64; ethtool -G x0 tx 64",
	  2,
	  long_rings,
	  {},
	  NULL },
	{ "bundling", VERDICT_OK, "are off", "", 0, NULL, {}, NULL },
	{ "bundling", VERDICT_UNKNOWN, "no device", NULL, 0, no_name, {}, NULL },
	{ "bundling", VERDICT_UNKNOWN, "cannot be read", NULL, 0, features_unknown, {}, NULL },
	{ "bundling", VERDICT_OK, "cannot be switched off", "", 0, bundles_always, {}, NULL },
	{ "bundling",
	  VERDICT_WARN,
	  "tx-generic-segmentation, rx-gro",
	  "ethtool -K x0 tx-generic-segmentation off; ethtool -K x0 rx-gro off",
	  2,
	  bundles,
	  {},
	  NULL },
	{ "eee", VERDICT_OK, "off", "", 0, NULL, {}, NULL },
	{ "eee", VERDICT_UNKNOWN, "no device", NULL, 0, no_name, {}, NULL },
	{ "eee", VERDICT_OK, "has none", "", 0, no_eee, {}, NULL },
	{ "eee", VERDICT_WARN, "on", "ethtool --set-eee x0 eee off", 1, saves_energy, {}, NULL },
	{ "flow-control", VERDICT_OK, "off", "", 0, NULL, {}, NULL },
	{ "flow-control", VERDICT_UNKNOWN, "no device", NULL, 0, no_name, {}, NULL },
	{ "flow-control", VERDICT_OK, "has none", "", 0, no_pause, {}, NULL },
	{ "flow-control",
	  VERDICT_WARN,
	  "obeyed and sent",
	  "ethtool -A x0 autoneg off",
	  3,
	  pauses,
	  {},
	  NULL },
	{ "etf", VERDICT_OK, "no etf", "", 0, NULL, {}, NULL },
	{ "etf", VERDICT_OK, "only frames of priority 5, 7 need", "", 0, etf_5_7, {}, NULL },
	{ "etf", VERDICT_BAD, "ptp4l goes FAULTY", "tc qdisc del dev x0 root", 0, etf_0, {}, NULL },
	{ "etf", VERDICT_UNKNOWN, "cannot be read", NULL, 0, no_qdiscs, {}, NULL },
	{ "etf", VERDICT_UNKNOWN, "no device", NULL, 0, no_name, {}, NULL },
	{ "queue-length", VERDICT_OK, "0", "", 0, NULL, { { NET "/tx_queue_len", "0\n" } }, NULL },
	{ "queue-length", VERDICT_UNKNOWN, "no device", NULL, 0, no_name, {}, NULL },
	{ "queue-length", VERDICT_UNKNOWN, "not readable", NULL, 0, NULL, {}, NULL },
	{ "queue-length",
	  VERDICT_OK,
	  "1000 frames",
	  "",
	  0,
	  no_speed,
	  { { NET "/tx_queue_len", "1000\n" } },
	  NULL },
	{ "queue-length",
	  VERDICT_WARN,
	  "1000 frames",
	  "echo 0 > " NET "/tx_queue_len",
	  1,
	  NULL,
	  { { NET "/tx_queue_len", "1000\n" } },
	  NULL },
	{ "busy-poll", VERDICT_UNKNOWN, "no busy polling", NULL, 0, NULL, {}, NULL },
	{ "busy-poll", VERDICT_UNKNOWN, "no device", NULL, 0, no_name, {}, NULL },
	{ "busy-poll",
	  VERDICT_OK,
	  "50 us",
	  "",
	  0,
	  NULL,
	  { { "/proc/sys/net/core/busy_poll", "50\n" },
	    { "/proc/sys/net/core/busy_read", "50\n" } },
	  NULL },
	{ "busy-poll",
	  VERDICT_WARN,
	  "off",
	  "echo 50 > /proc/sys/net/core/busy_read",
	  2,
	  NULL,
	  { { "/proc/sys/net/core/busy_poll", "0\n" }, { "/proc/sys/net/core/busy_read", "50\n" } },
	  NULL },
	{ "xdp", VERDICT_OK, "native, zero copy, hardware stamps", "", 0, NULL, {}, NULL },
	{ "xdp", VERDICT_UNKNOWN, "no device", NULL, 0, no_name, {}, NULL },
	{ "xdp", VERDICT_UNKNOWN, "does not tell", NULL, 0, xdp_unknown, {}, NULL },
	{ "xdp", VERDICT_WARN, "no native XDP", "generic", 0, no_xdp, {}, NULL },
	{ "aspm", VERDICT_UNKNOWN, "no device", NULL, 0, no_name, {}, NULL },
	{ "aspm", VERDICT_OK, "virtual", "", 0, NULL, {}, NULL },
	{ "aspm", VERDICT_OK, "not offered", "", 0, NULL, { DEVICE }, NULL },
	{ "aspm",
	  VERDICT_OK,
	  "off for this device",
	  "",
	  0,
	  NULL,
	  { DEVICE, { NET "/device/link/l1_aspm", "0\n" } },
	  NULL },
	{ "aspm",
	  VERDICT_WARN,
	  "on: l1_aspm, l1_2_aspm; I226",
	  "echo 0 > " NET "/device/link/l1_aspm; echo 0 > " NET "/device/link/l1_2_aspm",
	  2,
	  NULL,
	  { DEVICE,
	    { NET "/device/link/l1_aspm", "1\n" },
	    { NET "/device/link/l1_2_aspm", "1\n" } },
	  "pcie_aspm=off" },
	{ "aspm",
	  VERDICT_WARN,
	  "policy powersave",
	  "echo performance >",
	  1,
	  NULL,
	  { DEVICE,
	    { "/sys/module/pcie_aspm/parameters/policy", "default performance [powersave]\n" } },
	  "pcie_aspm=off" },
	{ "aspm",
	  VERDICT_OK,
	  "pcie_aspm=off",
	  "",
	  0,
	  NULL,
	  { DEVICE, { "/proc/cmdline", "quiet pcie_aspm=off\n" } },
	  NULL },
	{ "aspm",
	  VERDICT_UNKNOWN,
	  "no state",
	  NULL,
	  0,
	  NULL,
	  { DEVICE, { NET "/device/link/clkpm", "0\n" } },
	  NULL },
	{ "nic-power", VERDICT_UNKNOWN, "no device", NULL, 0, no_name, {}, NULL },
	{ "nic-power", VERDICT_OK, "virtual", "", 0, NULL, {}, NULL },
	{ "nic-power", VERDICT_UNKNOWN, "not readable", NULL, 0, NULL, { DEVICE }, NULL },
	{ "nic-power",
	  VERDICT_OK,
	  "always on",
	  "",
	  0,
	  NULL,
	  { { NET "/device/power/control", "on\n" } },
	  NULL },
	{ "nic-power",
	  VERDICT_BAD,
	  "auto",
	  "echo on > " NET "/device/power/control",
	  1,
	  NULL,
	  { { NET "/device/power/control", "auto\n" } },
	  NULL },
	{ "nic-power",
	  VERDICT_OK,
	  "does not suspend",
	  "",
	  0,
	  NULL,
	  { { NET "/device/power/control", "auto\n" },
	    { NET "/device/power/runtime_status", "unsupported\n" } },
	  NULL },
	{ "nic-irqs", VERDICT_UNKNOWN, "no device", NULL, 0, no_name, {}, NULL },
	{ "nic-irqs", VERDICT_OK, "virtual", "", 0, NULL, {}, NULL },
	{ "nic-irqs", VERDICT_UNKNOWN, "not visible", NULL, 0, NULL, { DEVICE }, NULL },
	{ "nic-irqs",
	  VERDICT_OK,
	  "1, all off",
	  "",
	  0,
	  NULL,
	  { { NET "/device/msi_irqs/5", "msix\n" },
	    { "/proc/interrupts", "     CPU0 CPU1\n 5: 1 2  x  x0-TxRx-0\n" },
	    { "/proc/irq/5/smp_affinity_list", "0\n" } },
	  NULL },
	{ "nic-irqs",
	  VERDICT_BAD,
	  "1 of 1 on the real-time CPUs: 5 x0-TxRx-0",
	  "echo 0 > /proc/irq/5/smp_affinity_list",
	  1,
	  NULL,
	  { { NET "/device/msi_irqs/5", "msix\n" },
	    { "/proc/interrupts", "     CPU0 CPU1\n 5: 1 2  x  x0-TxRx-0\n" },
	    { "/proc/irq/5/smp_affinity_list", "0-1\n" } },
	  NULL },
	{ "nic-irqs",
	  VERDICT_BAD,
	  "1 of 1",
	  NULL,
	  1,
	  NULL,
	  { { NET "/device/irq", "5\n" },
	    { "/proc/interrupts", "     CPU0 CPU1\n 5: 1 2  x  x0\n" },
	    { "/proc/irq/5/smp_affinity_list", "1\n" } },
	  NULL },
	/* of the clock, but only with a device that has one */
	{ "gptp",
	  VERDICT_BAD,
	  "ptp4l is not running",
	  "ptp4l -f",
	  0,
	  NULL,
	  { { "/proc/cmdline", "\n" } },
	  NULL },
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

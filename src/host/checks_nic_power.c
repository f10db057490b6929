// SPDX-License-Identifier: GPL-2.0-only
/* The doctor's checks of the network device's power management, and of its interrupts. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "host/doctor.h"
#include "host/facts.h"
#include "host/irq.h"

#define DEVICE "/sys/class/net/%s/device"

static bool not_physical(const struct exam *exam, struct finding *finding)
{
	if (!exam->nic.name[0]) {
		finding_is(finding, VERDICT_UNKNOWN, "no device was named: --iface");
		return true;
	}
	if (!fact_exists(exam->root, DEVICE, exam->nic.name)) {
		finding_is(finding, VERDICT_OK, "not a matter for a virtual device");
		return true;
	}
	return false;
}

static void aspm(const struct exam *exam, struct finding *finding)
{
	static const char *const states[] = { "l0s_aspm",  "l1_aspm",    "l1_1_aspm",
					      "l1_2_aspm", "l1_1_pcipm", "l1_2_pcipm" };
	char policy[128] = "", on[128] = "";
	int64_t value;
	bool seen = false;

	if (not_physical(exam, finding))
		return;
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		size_t used = strlen(on);

		if (fact_number(exam->root, &value, DEVICE "/link/%s", exam->nic.name, states[i]))
			continue;
		seen = true;
		if (!value)
			continue;
		snprintf(on + used, sizeof(on) - used, "%s%s", used ? ", " : "", states[i]);
		finding_change_file(finding, "0", DEVICE "/link/%s", exam->nic.name, states[i]);
	}
	fact_text(exam->root, policy, sizeof(policy), "/sys/module/pcie_aspm/parameters/policy");
	if (on[0]) {
		finding_costs(exam, finding, 0, "on: %s%s", on,
			      !strcmp(exam->nic.driver.name, "igc")
				      ? "; I226 is known to stall on reception in L1.2"
				      : "");
		finding_boot(finding, "pcie_aspm=off");
	} else if (seen) {
		finding_is(finding, VERDICT_OK, "off for this device");
	} else if (cmdline_find(exam->cmdline, "pcie_aspm", NULL, 0) &&
		   strstr(exam->cmdline, "pcie_aspm=off")) {
		finding_is(finding, VERDICT_OK, "pcie_aspm=off");
	} else if (strstr(policy, "[powersave]") || strstr(policy, "[powersupersave]")) {
		finding_costs(exam, finding, 0, "policy %s",
			      strstr(policy, "[powersave]") ? "powersave" : "powersupersave");
		finding_change_file(finding, "performance",
				    "/sys/module/pcie_aspm/parameters/policy");
		finding_boot(finding, "pcie_aspm=off");
	} else if (policy[0] || !fact_exists(exam->root, DEVICE "/link", exam->nic.name)) {
		finding_is(finding, VERDICT_OK, "not offered for this device");
	} else {
		finding_is(finding, VERDICT_UNKNOWN, "no state is shown");
	}
}

static void power(const struct exam *exam, struct finding *finding)
{
	char text[64], status[64];

	if (not_physical(exam, finding))
		return;
	fact_text(exam->root, status, sizeof(status), DEVICE "/power/runtime_status",
		  exam->nic.name);
	if (!strcmp(status, "unsupported")) {
		finding_is(finding, VERDICT_OK, "the driver does not suspend it");
	} else if (fact_text(exam->root, text, sizeof(text), DEVICE "/power/control",
			     exam->nic.name) <= 0) {
		finding_is(finding, VERDICT_UNKNOWN, DEVICE "/power/control is not readable",
			   exam->nic.name);
	} else if (!strcmp(text, "on")) {
		finding_is(finding, VERDICT_OK, "always on");
	} else {
		finding_costs(exam, finding, 0, "%s: the device may be suspended", text);
		finding_change_file(finding, "on", DEVICE "/power/control", exam->nic.name);
	}
}

#define NIC_IRQS_MAX 128

/* The device's interrupts: its MSI vectors, or the one of its own. Returns how many. */
static int device_irqs(const struct exam *exam, int *numbers)
{
	char path[FACT_PATH_MAX];
	struct dirent *entry;
	int64_t number;
	int count = 0;
	DIR *dir;

	if (snprintf(path, sizeof(path), "%s" DEVICE "/msi_irqs", exam->root, exam->nic.name) >=
	    (int)sizeof(path))
		return 0;
	dir = opendir(path);
	if (!dir && snprintf(path, sizeof(path), "%s" DEVICE "/../msi_irqs", exam->root,
			     exam->nic.name) < (int)sizeof(path))
		dir = opendir(path); /* a virtio device: those of the PCI device it sits on */
	while (dir && count < NIC_IRQS_MAX && (entry = readdir(dir)))
		if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9')
			numbers[count++] = atoi(entry->d_name);
	if (dir)
		closedir(dir);
	if (!count && !fact_number(exam->root, &number, DEVICE "/irq", exam->nic.name) &&
	    number > 0)
		numbers[count++] = (int)number;
	return count;
}

static void nic_irqs(const struct exam *exam, struct finding *finding)
{
	char names[160] = "", rest[CPULIST_TEXT];
	int numbers[NIC_IRQS_MAX];
	int count, seen = 0, here = 0;

	if (not_physical(exam, finding))
		return;
	count = device_irqs(exam, numbers);
	cpulist_format(&exam->housekeeping, rest, sizeof(rest));
	for (int i = 0; i < count; i++) {
		char label[16];
		const struct irq *irq;
		struct change change = { .kind = CHANGE_FILE, .optional = true };
		size_t used = strlen(names);

		snprintf(label, sizeof(label), "%d", numbers[i]);
		irq = irq_find(exam->irqs, exam->irq_count, label);
		if (!irq || !irq->known)
			continue;
		seen++;
		if (!cpulist_overlap(&irq->effective, &exam->cpus))
			continue;
		here++;
		if (used < sizeof(names) - 40)
			snprintf(names + used, sizeof(names) - used, "%s%s %.24s", used ? ", " : "",
				 irq->label, irq->name);
		snprintf(change.target, sizeof(change.target), "/proc/irq/%d/smp_affinity_list",
			 irq->number);
		snprintf(change.value, sizeof(change.value), "%s", rest);
		if (rest[0])
			finding_change(finding, &change, false);
	}
	if (!seen)
		finding_is(finding, VERDICT_UNKNOWN, "the device's interrupts are not visible");
	else if (!here)
		finding_is(finding, VERDICT_OK, "%d, all off the real-time CPUs", seen);
	else
		finding_costs(exam, finding, 0, "%d of %d on the real-time CPUs: %s", here, seen,
			      names);
}

static const struct check checks[] = {
	/* PCI Express Base Specification, L1 exit latency: up to 64 us */
	{ "aspm", GROUP_NIC, "leaving PCIe L1 delays the frame's way to and from memory",
	  64 * NSEC_PER_USEC, aspm },
	{ "nic-power", GROUP_NIC, "a suspended device takes milliseconds to come back",
	  10 * NSEC_PER_MSEC, power },
	{ "nic-irqs", GROUP_NIC,
	  "its handlers and soft interrupts run where the cyclic thread runs", 100 * NSEC_PER_USEC,
	  nic_irqs },
};

const struct check_table checks_nic_power = { checks, sizeof(checks) / sizeof(checks[0]) };

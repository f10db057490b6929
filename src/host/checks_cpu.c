// SPDX-License-Identifier: GPL-2.0-only
/* The doctor's checks of the real-time CPUs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "host/doctor.h"
#include "host/facts.h"

#define CPU_DIR "/sys/devices/system/cpu"

static void isolation(const struct exam *exam, struct finding *finding)
{
	struct cpulist missing = cpulist_without(&exam->cpus, &exam->isolated);
	char text[CPULIST_TEXT], have[CPULIST_TEXT];

	if (!fact_exists(exam->root, CPU_DIR "/isolated")) {
		finding_is(finding, VERDICT_UNKNOWN, CPU_DIR "/isolated is not there");
		return;
	}
	cpulist_format(&exam->isolated, have, sizeof(have));
	if (cpulist_empty(&missing)) {
		finding_is(finding, VERDICT_OK, "CPU %s", have);
		return;
	}
	cpulist_format(&exam->cpus, text, sizeof(text));
	finding_costs(exam, finding, 0, "CPU %s is not isolated (isolated: %s)", text,
		      have[0] ? have : "none");
	if (cpulist_empty(&exam->housekeeping)) {
		finding_fix(finding, "no CPU is left for the rest of the system: name fewer with "
				     "--cpu");
		return;
	}
	finding_fix(finding, "boot with isolcpus=managed_irq,domain,%s", text);
	finding_boot(finding, "isolcpus=managed_irq,domain,%s", text);
}

static void nohz_full(const struct exam *exam, struct finding *finding)
{
	char text[CPULIST_TEXT];
	struct cpulist full, missing;
	char supported = kernel_config(exam->config, "CONFIG_NO_HZ_FULL");

	fact_cpulist(exam->root, &full, CPU_DIR "/nohz_full");
	missing = cpulist_without(&exam->cpus, &full);
	if (cpulist_empty(&missing)) {
		finding_is(finding, VERDICT_OK, "CPU %s",
			   cpulist_format(&full, text, sizeof(text)));
		return;
	}
	if (supported == 'n') {
		finding_costs(exam, finding, 0, "this kernel cannot: it lacks CONFIG_NO_HZ_FULL");
		finding_fix(finding, "use a kernel with CONFIG_NO_HZ_FULL (Debian's has it)");
		return;
	}
	cpulist_format(&exam->cpus, text, sizeof(text));
	finding_costs(exam, finding, 0, "CPU %s keeps its tick", text);
	if (cpulist_empty(&exam->housekeeping)) {
		finding_fix(finding, "no CPU is left to keep the time: name fewer with --cpu");
		return;
	}
	finding_fix(finding, "boot with nohz_full=%s", text);
	finding_boot(finding, "nohz_full=%s", text);
}

static void rcu_nocbs(const struct exam *exam, struct finding *finding)
{
	char text[CPULIST_TEXT], value[CPULIST_TEXT];
	struct cpulist full, offloaded = { 0 }, missing;

	/* nohz_full takes the callbacks away as well */
	fact_cpulist(exam->root, &full, CPU_DIR "/nohz_full");
	if (cmdline_find(exam->cmdline, "rcu_nocbs", value, sizeof(value))) {
		if (!value[0] || !strcmp(value, "all"))
			offloaded = exam->online;
		else
			cpulist_parse(value, &offloaded);
	}
	missing = cpulist_without(&exam->cpus, &full);
	missing = cpulist_without(&missing, &offloaded);
	if (cpulist_empty(&missing)) {
		finding_is(finding, VERDICT_OK, "callbacks are offloaded");
		return;
	}
	cpulist_format(&exam->cpus, text, sizeof(text));
	if (kernel_config(exam->config, "CONFIG_RCU_NOCB_CPU") == 'n') {
		finding_costs(exam, finding, 0, "this kernel cannot: it lacks CONFIG_RCU_NOCB_CPU");
		finding_fix(finding, "use a kernel with CONFIG_RCU_NOCB_CPU (Debian's has it)");
		return;
	}
	finding_costs(exam, finding, 0, "CPU %s runs RCU callbacks",
		      cpulist_format(&missing, value, sizeof(value)));
	if (cpulist_empty(&exam->housekeeping)) {
		finding_fix(finding, "no CPU is left to run them: name fewer with --cpu");
		return;
	}
	finding_fix(finding, "boot with rcu_nocbs=%s", text);
	finding_boot(finding, "rcu_nocbs=%s", text);
}

/* isolcpus alone does not keep away what sets its own affinity; a cpuset does. */
static void cpusets(const struct exam *exam, struct finding *finding)
{
	static const char *const slices[] = { "system.slice", "user.slice", "init.scope" };
	char open[128] = "", rest[CPULIST_TEXT];
	int seen = 0;

	for (size_t i = 0; i < sizeof(slices) / sizeof(slices[0]); i++) {
		struct cpulist effective;

		if (fact_cpulist(exam->root, &effective, "/sys/fs/cgroup/%s/cpuset.cpus.effective",
				 slices[i]) &&
		    fact_cpulist(exam->root, &effective, "/sys/fs/cgroup/cpuset/%s/cpuset.cpus",
				 slices[i]))
			continue;
		seen++;
		if (cpulist_overlap(&effective, &exam->cpus)) {
			size_t used = strlen(open);

			snprintf(open + used, sizeof(open) - used, "%s%s", used ? ", " : "",
				 slices[i]);
		}
	}
	if (!seen) {
		finding_is(finding, VERDICT_UNKNOWN,
			   "no cpuset of system.slice, user.slice or "
			   "init.scope is there");
		return;
	}
	if (!open[0]) {
		finding_is(finding, VERDICT_OK, "services and users are kept off");
		return;
	}
	finding_costs(exam, finding, 0, "%s may use the real-time CPUs", open);
	if (cpulist_empty(&exam->housekeeping)) {
		finding_fix(finding, "no CPU is left for them: name fewer with --cpu");
		return;
	}
	cpulist_format(&exam->housekeeping, rest, sizeof(rest));
	finding_fix(finding,
		    "for s in system.slice user.slice init.scope; do systemctl set-property "
		    "--runtime $s AllowedCPUs=%s; done",
		    rest);
}

static void governor(const struct exam *exam, struct finding *finding)
{
	char text[64], first[64] = "";
	int slow = 0, seen = 0;

	cpulist_for_each(cpu, &exam->cpus)
	{
		if (fact_text(exam->root, text, sizeof(text),
			      CPU_DIR "/cpu%d/cpufreq/scaling_governor", cpu) <= 0)
			continue;
		seen++;
		if (!strcmp(text, "performance"))
			continue;
		if (!slow++)
			snprintf(first, sizeof(first), "%s", text);
		finding_change_file(finding, "performance",
				    CPU_DIR "/cpu%d/cpufreq/scaling_governor", cpu);
	}
	if (!seen)
		finding_is(finding, VERDICT_OK, "no frequency scaling is visible here");
	else if (!slow)
		finding_is(finding, VERDICT_OK, "performance");
	else
		finding_costs(exam, finding, 0, "%s on %d of the real-time CPUs", first, slow);
}

static void turbo(const struct exam *exam, struct finding *finding)
{
	int64_t value;

	if (!fact_number(exam->root, &value, CPU_DIR "/intel_pstate/no_turbo")) {
		if (value) {
			finding_is(finding, VERDICT_OK, "off");
			return;
		}
		finding_costs(exam, finding, 0, "on (intel_pstate)");
		finding_change_file(finding, "1", CPU_DIR "/intel_pstate/no_turbo");
	} else if (!fact_number(exam->root, &value, CPU_DIR "/cpufreq/boost")) {
		if (!value) {
			finding_is(finding, VERDICT_OK, "off");
			return;
		}
		finding_costs(exam, finding, 0, "on");
		finding_change_file(finding, "0", CPU_DIR "/cpufreq/boost");
	} else {
		finding_is(finding, VERDICT_OK, "not visible here");
	}
}

#define IDLE_STATES_MAX 16

static void idle_states(const struct exam *exam, struct finding *finding)
{
	int64_t worst_us = 0, latency, disabled;
	char name[64], worst[64] = "", driver[64];
	bool seen = false;

	if (cmdline_find(exam->cmdline, "idle", name, sizeof(name)) && !strcmp(name, "poll")) {
		finding_is(finding, VERDICT_OK, "idle=poll");
		return;
	}
	cpulist_for_each(cpu, &exam->cpus)
	{
		for (int state = 0; state < IDLE_STATES_MAX; state++) {
			if (fact_number(exam->root, &latency,
					CPU_DIR "/cpu%d/cpuidle/state%d/latency", cpu, state))
				break;
			seen = true;
			if (fact_number(exam->root, &disabled,
					CPU_DIR "/cpu%d/cpuidle/state%d/disable", cpu, state))
				disabled = 0;
			/* states that are left within 2 us stay: without any, the CPU spins */
			if (disabled || latency <= 2)
				continue;
			finding_change_file(finding, "1", CPU_DIR "/cpu%d/cpuidle/state%d/disable",
					    cpu, state);
			if (latency <= worst_us)
				continue;
			worst_us = latency;
			fact_text(exam->root, worst, sizeof(worst),
				  CPU_DIR "/cpu%d/cpuidle/state%d/name", cpu, state);
		}
	}
	if (!seen) {
		finding_is(finding, VERDICT_OK, "none are visible here");
		return;
	}
	if (!worst_us) {
		finding_is(finding, VERDICT_OK, "none deeper than 2 us");
		return;
	}
	finding_costs(exam, finding, worst_us * NSEC_PER_USEC,
		      "%s takes %lld us to leave (held off while tsnpub runs)", worst,
		      (long long)worst_us);
	/* while a run holds /dev/cpu_dma_latency at 0 they are not entered */
	if (finding->verdict == VERDICT_BAD)
		finding->verdict = VERDICT_WARN;
	fact_text(exam->root, driver, sizeof(driver), CPU_DIR "/cpuidle/current_driver");
	finding_boot(finding, "processor.max_cstate=1");
	if (!strcmp(driver, "intel_idle"))
		finding_boot(finding, "intel_idle.max_cstate=0");
}

static void smt(const struct exam *exam, struct finding *finding)
{
	struct cpulist siblings, busy = { 0 };
	char text[CPULIST_TEXT];

	cpulist_for_each(cpu, &exam->cpus)
	{
		if (fact_cpulist(exam->root, &siblings,
				 CPU_DIR "/cpu%d/topology/thread_siblings_list", cpu))
			continue;
		siblings = cpulist_and(&siblings, &exam->online);
		cpulist_for_each(other, &siblings)
		{
			if (cpulist_has(&exam->cpus, other) || cpulist_has(&busy, other))
				continue;
			cpulist_add(&busy, other);
			if (fact_exists(exam->root, CPU_DIR "/cpu%d/online", other))
				finding_change_file(finding, "0", CPU_DIR "/cpu%d/online", other);
		}
	}
	if (cpulist_empty(&busy)) {
		finding_is(finding, VERDICT_OK, "no other CPU shares the core");
		return;
	}
	finding_costs(exam, finding, 0, "CPU %s shares the core",
		      cpulist_format(&busy, text, sizeof(text)));
	if (!finding->change_count)
		finding_fix(finding,
			    "CPU %s cannot be taken offline: choose a real-time CPU on "
			    "another core",
			    text);
}

static void thermal(const struct exam *exam, struct finding *finding)
{
	int64_t core, package, total = 0;
	bool seen = false;

	cpulist_for_each(cpu, &exam->cpus)
	{
		if (!fact_number(exam->root, &core,
				 CPU_DIR "/cpu%d/thermal_throttle/core_throttle_count", cpu)) {
			seen = true;
			total += core;
		}
		if (!fact_number(exam->root, &package,
				 CPU_DIR "/cpu%d/thermal_throttle/package_throttle_count", cpu))
			total += package;
	}
	if (!seen)
		finding_is(finding, VERDICT_UNKNOWN, "no counter of thermal throttling is here");
	else if (!total)
		finding_is(finding, VERDICT_OK, "never throttled since boot");
	else {
		finding_is(finding, VERDICT_WARN, "throttled %lld times since boot",
			   (long long)total);
		finding_fix(finding, "mend the cooling; lower the frequency limit "
				     "(scaling_max_freq) below what the cooling can take");
	}
}

static void hypervisor(const struct exam *exam, struct finding *finding)
{
	char *cpuinfo = fact_file(exam->root, "/proc/cpuinfo", 65536);
	char type[64];
	bool guest = false;

	if (fact_text(exam->root, type, sizeof(type), "/sys/hypervisor/type") > 0) {
		guest = true;
	} else if (cpuinfo) {
		const char *flags = strstr(cpuinfo, "\nflags");
		const char *end = flags ? strchr(flags + 1, '\n') : NULL;
		const char *word = flags ? strstr(flags, " hypervisor") : NULL;

		snprintf(type, sizeof(type), "hypervisor");
		guest = word && (!end || word < end);
	}
	if (!cpuinfo && !guest)
		finding_is(finding, VERDICT_UNKNOWN, "/proc/cpuinfo is not readable");
	else if (!guest)
		finding_is(finding, VERDICT_OK, "none: this is the machine itself");
	else {
		finding_costs(exam, finding, 0, "this is a virtual machine (%s)", type);
		finding_fix(finding, "measure and publish on the machine itself; figures from here "
				     "show the hypervisor's jitter as well");
	}
	free(cpuinfo);
}

static void mitigations(const struct exam *exam, struct finding *finding)
{
	char value[64];

	if (cmdline_find(exam->cmdline, "mitigations", value, sizeof(value)) &&
	    !strcmp(value, "off"))
		finding_is(finding, VERDICT_OK, "off, at the price of security");
	else
		finding_is(finding, VERDICT_OK,
			   "on: they cost up to some microseconds a system "
			   "call; switching them off trades away security, so "
			   "it is only mentioned");
}

static void firmware(const struct exam *exam, struct finding *finding)
{
	(void)exam;
	finding_is(finding, VERDICT_UNKNOWN,
		   "System Management Interrupts are not visible to the "
		   "kernel; only a measurement shows them");
	finding_fix(finding, "tsnpub latency --duration 1h --tracer hwlat; in the firmware's setup "
			     "switch off USB legacy support and power management");
}

static const struct check checks[] = {
	/* 87 to 18 us: worst wake-up with isolcpus, nohz_full and rcu_nocbs, a field report */
	{ "isolation", GROUP_CPU, "the scheduler puts other threads beside the cyclic one",
	  70 * NSEC_PER_USEC, isolation },
	{ "nohz-full", GROUP_CPU, "the periodic tick interrupts the cyclic thread",
	  10 * NSEC_PER_USEC, nohz_full },
	{ "rcu-nocbs", GROUP_CPU, "RCU callbacks run in soft interrupts, in bursts",
	  20 * NSEC_PER_USEC, rcu_nocbs },
	{ "cpusets", GROUP_CPU, "isolcpus alone does not stop a service that sets its own affinity",
	  70 * NSEC_PER_USEC, cpusets },
	{ "governor", GROUP_CPU, "a CPU that runs slow when idle is slow at each wake-up",
	  50 * NSEC_PER_USEC, governor },
	{ "turbo", GROUP_CPU, "the clock changes with the load of other cores", 10 * NSEC_PER_USEC,
	  turbo },
	{ "idle-states", GROUP_CPU, "leaving a deep sleep state delays the timer's interrupt", 0,
	  idle_states },
	{ "smt", GROUP_CPU, "a sibling shares the core's units and caches", 20 * NSEC_PER_USEC,
	  smt },
	{ "thermal", GROUP_CPU, "a CPU that is too hot is stopped by its own hardware", 0,
	  thermal },
	/* a virtual CPU waits for its turn: milliseconds */
	{ "hypervisor", GROUP_CPU, "a virtual CPU is stopped whenever its host pleases",
	  3 * NSEC_PER_MSEC, hypervisor },
	{ "mitigations", GROUP_CPU, "each entry into the kernel flushes buffers and predictors", 0,
	  mitigations },
	{ "firmware", GROUP_CPU, "SMIs stop all CPUs for tens to hundreds of microseconds", 0,
	  firmware },
};

const struct check_table checks_cpu = { checks, sizeof(checks) / sizeof(checks[0]) };

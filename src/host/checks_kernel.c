// SPDX-License-Identifier: GPL-2.0-only
/* The doctor's checks of the kernel. Where a cost is given, its origin stands beside it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "host/doctor.h"
#include "host/facts.h"

static void rt_kernel(const struct exam *exam, struct finding *finding)
{
	char release[128] = "";
	int major = 0, minor = 0;

	fact_text(exam->root, release, sizeof(release), "/proc/sys/kernel/osrelease");
	if (exam->realtime_kernel) {
		finding_is(finding, VERDICT_OK, "PREEMPT_RT, %s", release);
		return;
	}
	if (!release[0] && !fact_exists(exam->root, "/proc/version")) {
		finding_is(finding, VERDICT_UNKNOWN, "/proc/sys/kernel/osrelease is not there");
		return;
	}
	finding_costs(exam, finding, 0, "no PREEMPT_RT, %s", release);
	kernel_version(exam->root, &major, &minor);
	if (major > 6 || (major == 6 && minor >= 12))
		finding_fix(finding, "install a kernel built with CONFIG_PREEMPT_RT (Debian: apt "
				     "install linux-image-rt-amd64), then reboot");
	else
		finding_fix(finding, "install a kernel with PREEMPT_RT (mainline from 6.12 on; "
				     "Debian: apt install linux-image-rt-amd64), then reboot");
}

static void preempt_mode(const struct exam *exam, struct finding *finding)
{
	char text[256];
	const char *mode = NULL;

	if (exam->realtime_kernel) {
		finding_is(finding, VERDICT_OK, "full (PREEMPT_RT)");
		return;
	}
	if (fact_text(exam->root, text, sizeof(text), "/sys/kernel/debug/sched/preempt") > 0)
		mode = strstr(text, "(full)")        ? "full"
		       : strstr(text, "(lazy)")      ? "lazy"
		       : strstr(text, "(voluntary)") ? "voluntary"
		       : strstr(text, "(none)")      ? "none"
						     : NULL;
	else if (cmdline_find(exam->cmdline, "preempt", text, sizeof(text)))
		mode = !strcmp(text, "full")        ? "full"
		       : !strcmp(text, "lazy")      ? "lazy"
		       : !strcmp(text, "voluntary") ? "voluntary"
		       : !strcmp(text, "none")      ? "none"
						    : NULL;
	if (!mode)
		mode = kernel_config(exam->config, "CONFIG_PREEMPT") == 'y'        ? "full"
		       : kernel_config(exam->config, "CONFIG_PREEMPT_LAZY") == 'y' ? "lazy"
		       : kernel_config(exam->config, "CONFIG_PREEMPT_VOLUNTARY") == 'y'
			       ? "voluntary"
		       : kernel_config(exam->config, "CONFIG_PREEMPT_NONE") == 'y' ? "none"
										   : NULL;
	if (!mode) {
		finding_is(finding, VERDICT_UNKNOWN,
			   "neither debugfs nor the kernel's configuration tell");
		return;
	}
	if (!strcmp(mode, "full")) {
		finding_is(finding, VERDICT_OK, "full");
		return;
	}
	finding_costs(exam, finding, 0, "%s: kernel code is not preempted at once", mode);
	finding_fix(finding, "boot with preempt=full%s",
		    kernel_config(exam->config, "CONFIG_PREEMPT_DYNAMIC") == 'n'
			    ? " (this kernel cannot: it lacks CONFIG_PREEMPT_DYNAMIC)"
			    : "");
	if (kernel_config(exam->config, "CONFIG_PREEMPT_DYNAMIC") != 'n')
		finding_boot(finding, "preempt=full");
}

static void rt_throttling(const struct exam *exam, struct finding *finding)
{
	int64_t runtime, period;

	if (fact_number(exam->root, &runtime, "/proc/sys/kernel/sched_rt_runtime_us") ||
	    fact_number(exam->root, &period, "/proc/sys/kernel/sched_rt_period_us")) {
		finding_is(finding, VERDICT_UNKNOWN,
			   "/proc/sys/kernel/sched_rt_runtime_us is not "
			   "readable");
		return;
	}
	if (runtime < 0 || runtime >= period) {
		finding_is(finding, VERDICT_OK, "off");
		return;
	}
	/* only a thread that does not sleep runs into it, so it is never worse than a warning */
	finding_is(finding, VERDICT_WARN, "real-time threads get %lld of %lld us",
		   (long long)runtime, (long long)period);
	finding->cost_ns = (period - runtime) * NSEC_PER_USEC;
	finding_change_file(finding, "-1", "/proc/sys/kernel/sched_rt_runtime_us");
}

/* From 6.12 on a deadline server gives ordinary threads their share of a CPU that real-time ones fill. */
static void fair_server(const struct exam *exam, struct finding *finding)
{
	int64_t runtime, most = 0;
	int major, minor, readable = 0;

	cpulist_for_each(cpu, &exam->cpus)
	{
		if (fact_number(exam->root, &runtime,
				"/sys/kernel/debug/sched/fair_server/cpu%d/runtime", cpu))
			continue;
		readable++;
		if (runtime > 0)
			finding_change_file(finding, "0",
					    "/sys/kernel/debug/sched/fair_server/cpu%d/runtime",
					    cpu);
		if (runtime > most)
			most = runtime;
	}
	if (readable && !most) {
		finding_is(finding, VERDICT_OK, "off");
	} else if (readable) {
		finding_is(finding, VERDICT_WARN,
			   "takes up to %lld us a second from real-time "
			   "threads",
			   (long long)(most / NSEC_PER_USEC));
		finding->cost_ns = most;
	} else if (kernel_version(exam->root, &major, &minor) &&
		   (major < 6 || (major == 6 && minor < 12))) {
		finding_is(finding, VERDICT_OK, "this kernel has none (it came with 6.12)");
	} else {
		finding_is(finding, VERDICT_UNKNOWN, "debugfs is not readable");
		finding_fix(finding, "mount -t debugfs none /sys/kernel/debug, as root");
	}
}

static void clocksource(const struct exam *exam, struct finding *finding)
{
	static const char dir[] = "/sys/devices/system/clocksource/clocksource0";
	char current[64], available[256];

	if (fact_text(exam->root, current, sizeof(current), "%s/current_clocksource", dir) <= 0) {
		finding_is(finding, VERDICT_UNKNOWN, "%s is not readable", dir);
		return;
	}
	fact_text(exam->root, available, sizeof(available), "%s/available_clocksource", dir);
	if (!strcmp(current, "tsc") || !strcmp(current, "arch_sys_counter") ||
	    !strncmp(current, "kvm-clock", 9) || !strcmp(current, "hyperv_clocksource_tsc_page")) {
		finding_is(finding, VERDICT_OK, "%s", current);
		return;
	}
	finding_costs(exam, finding, 0, "%s: each reading of the time leaves the CPU", current);
	if (cmdline_find(available, "tsc", NULL, 0))
		finding_change_file(finding, "tsc", "%s/current_clocksource", dir);
	else
		finding_fix(finding, "the kernel found its faster clock unstable: see `dmesg | "
				     "grep -i clocksource`; update the firmware");
}

static void threadirqs(const struct exam *exam, struct finding *finding)
{
	if (exam->realtime_kernel) {
		finding_is(finding, VERDICT_OK, "implied by PREEMPT_RT");
	} else if (cmdline_find(exam->cmdline, "threadirqs", NULL, 0)) {
		finding_is(finding, VERDICT_OK, "on");
	} else if (!exam->cmdline[0]) {
		finding_is(finding, VERDICT_UNKNOWN, "/proc/cmdline is not readable");
	} else {
		finding_costs(exam, finding, 0, "off: handlers run to their end before any thread");
		finding_fix(finding, "boot with threadirqs");
		finding_boot(finding, "threadirqs");
	}
}

static void watchdog(const struct exam *exam, struct finding *finding)
{
	char text[CPULIST_TEXT], rest[CPULIST_TEXT];
	struct cpulist mask;
	int64_t on;

	if (fact_number(exam->root, &on, "/proc/sys/kernel/watchdog")) {
		finding_is(finding, VERDICT_OK, "this kernel has none");
		return;
	}
	if (fact_cpulist(exam->root, &mask, "/proc/sys/kernel/watchdog_cpumask"))
		mask = exam->online;
	if (!on || !cpulist_overlap(&mask, &exam->cpus)) {
		finding_is(finding, VERDICT_OK, on ? "not on the real-time CPUs" : "off");
		return;
	}
	finding_costs(exam, finding, 0, "runs on CPU %s",
		      cpulist_format(&mask, text, sizeof(text)));
	mask = cpulist_without(&mask, &exam->cpus);
	if (cpulist_empty(&mask))
		finding_change_file(finding, "0", "/proc/sys/kernel/watchdog");
	else
		finding_change_file(finding, cpulist_format(&mask, rest, sizeof(rest)),
				    "/proc/sys/kernel/watchdog_cpumask");
}

static void huge_pages(const struct exam *exam, struct finding *finding)
{
	static const char path[] = "/sys/kernel/mm/transparent_hugepage/enabled";
	char text[64];

	if (fact_text(exam->root, text, sizeof(text), "%s", path) == -ENOENT) {
		finding_is(finding, VERDICT_OK, "this kernel has none");
	} else if (strstr(text, "[always]")) {
		finding_costs(exam, finding, 0,
			      "always: pages are gathered behind the programs' "
			      "back");
		finding_change_file(finding, "madvise", "%s", path);
	} else if (strchr(text, '[')) {
		finding_is(finding, VERDICT_OK, "%s",
			   strstr(text, "[never]") ? "never" : "madvise");
	} else {
		finding_is(finding, VERDICT_UNKNOWN, "%s is not readable", path);
	}
}

static void debug_kernel(const struct exam *exam, struct finding *finding)
{
	static const char *const options[] = {
		"CONFIG_KASAN",          "CONFIG_PROVE_LOCKING", "CONFIG_DEBUG_PREEMPT",
		"CONFIG_DEBUG_KMEMLEAK", "CONFIG_KCSAN",         "CONFIG_DEBUG_OBJECTS",
	};
	char found[200] = "";

	if (!exam->config) {
		finding_is(finding, VERDICT_UNKNOWN,
			   "neither /proc/config.gz nor /boot has the configuration");
		return;
	}
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (kernel_config(exam->config, options[i]) == 'y') {
			size_t used = strlen(found);

			snprintf(found + used, sizeof(found) - used, "%s%s", used ? " " : "",
				 options[i]);
		}
	if (!found[0]) {
		finding_is(finding, VERDICT_OK, "none of the costly debugging options");
		return;
	}
	finding_costs(exam, finding, 0, "%s", found);
	finding_fix(finding, "use a kernel without these options");
}

/* What tsnpub's commands ask of the kernel. */
static void abilities(const struct exam *exam, struct finding *finding)
{
	static const struct {
		const char *option, *for_what;
	} options[] = {
		{ "CONFIG_NET_SCH_TAPRIO", "taprio" },
		{ "CONFIG_NET_SCH_ETF", "etf (LaunchTime)" },
		{ "CONFIG_NET_SCH_MQPRIO", "mqprio" },
		{ "CONFIG_PTP_1588_CLOCK", "PTP hardware clocks" },
		{ "CONFIG_BPF_SYSCALL", "XDP" },
		{ "CONFIG_DEBUG_INFO_BTF", "blame (BTF)" },
		{ "CONFIG_NET_RX_BUSY_POLL", "busy polling" },
	};
	char missing[200] = "";

	if (!exam->config) {
		finding_is(finding, VERDICT_UNKNOWN,
			   "neither /proc/config.gz nor /boot has the configuration");
		finding_fix(finding, "modprobe configs, or install /boot/config-$(uname -r)");
		return;
	}
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (kernel_config(exam->config, options[i].option) == 'n') {
			size_t used = strlen(missing);

			snprintf(missing + used, sizeof(missing) - used, "%s%s", used ? ", " : "",
				 options[i].for_what);
		}
	if (!missing[0]) {
		finding_is(finding, VERDICT_OK, "taprio, etf, mqprio, PTP clocks, XDP, BTF");
		return;
	}
	finding_is(finding, VERDICT_WARN, "this kernel lacks %s", missing);
	finding_fix(finding, "use a kernel that has them (Debian's and Ubuntu's do)");
}

static const struct check checks[] = {
	/* 3.4 ms to 87 us: worst wake-up under load before and after, a field report */
	{ "rt-kernel", GROUP_KERNEL,
	  "without PREEMPT_RT the kernel holds the CPU for milliseconds under load",
	  3 * NSEC_PER_MSEC, rt_kernel },
	{ "preemption", GROUP_KERNEL,
	  "short of full preemption a wake-up waits for the kernel code that is running",
	  NSEC_PER_MSEC, preempt_mode },
	{ "rt-throttling", GROUP_KERNEL,
	  "a real-time thread that is busy (spin, busy poll) is stopped when its share is used up",
	  0, rt_throttling },
	{ "fair-server", GROUP_KERNEL,
	  "ordinary threads that starve get the CPU for up to this time, real-time or not", 0,
	  fair_server },
	/* an access to the HPET or ACPI timer: 1 to 5 us */
	{ "clocksource", GROUP_KERNEL, "HPET and ACPI timer take microseconds for each reading",
	  5 * NSEC_PER_USEC, clocksource },
	/* an sdhci handler of 312 us on the same CPU: the deadline hunt of a field report */
	{ "threadirqs", GROUP_KERNEL,
	  "threaded interrupt handlers can be preempted by the cyclic thread, others cannot",
	  312 * NSEC_PER_USEC, threadirqs },
	{ "watchdog", GROUP_KERNEL,
	  "the lockup detector's timer and thread run above SCHED_FIFO 80", 10 * NSEC_PER_USEC,
	  watchdog },
	{ "huge-pages", GROUP_KERNEL,
	  "khugepaged moves pages and interrupts all CPUs to flush their address caches",
	  10 * NSEC_PER_USEC, huge_pages },
	{ "debug-kernel", GROUP_KERNEL, "debugging options lengthen every path through the kernel",
	  100 * NSEC_PER_USEC, debug_kernel },
	{ "abilities", GROUP_KERNEL, "what the kernel was built without no setting can bring back",
	  0, abilities },
};

const struct check_table checks_kernel = { checks, sizeof(checks) / sizeof(checks[0]) };

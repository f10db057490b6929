// SPDX-License-Identifier: GPL-2.0-only
/* Each branch of each check of kernel, CPU, interrupts, clock and process, over made-up trees. */
#include "cmocka_all.h"

#include "base/units.h"
#include "host/doctor.h"
#include "host/irq.h"
#include "find_check.h"
#include "tree.h"

#define CPU "/sys/devices/system/cpu"
#define FILES_MAX 12
#define FIFO_STAT(name, priority, policy, flags)                                                 \
	"7 (" name ") S 1 7 7 0 -1 " flags " 0 0 0 0 0 0 0 0 -51 0 1 0 9 0 0 1 0 0 0 0 0 0 0 2 " \
	"0 0 0 0 17 1 " priority " " policy " 0 0\n"
#define STATUS(caps, cpus) "Name:\tx\nCapEff:\t" caps "\nCpus_allowed_list:\t" cpus "\n"
#define LIMITS(rtprio, memlock)                                    \
	"Limit                     Soft Limit           Hard\n"    \
	"Max locked memory         " memlock "  8388608   bytes\n" \
	"Max realtime priority     " rtprio "   0 \n"

struct scenario {
	const char *check;
	enum verdict verdict;
	const char *value; /* part of the value */
	const char *fix; /* part of the fix; "" none at all; NULL: whatever */
	const char *boot; /* the whole of it; NULL: none */
	const char *files[FILES_MAX][2]; /* over the tree that all have */
	int64_t cycle_ns; /* 0: 1 ms */
	int cpu; /* 0: CPU 3 */
	int changes;
	bool all_cpus; /* every CPU is real-time */
};

#define JUDGED(name, is, found, remedy) \
	.check = name, .verdict = VERDICT_##is, .value = found, .fix = remedy

/* In every tree: a good machine of 4 CPUs, of which CPU 3 is isolated. */
static const char *const common[][2] = {
	{ CPU "/online", "0-3\n" },
	{ CPU "/isolated", "3\n" },
	{ CPU "/nohz_full", "3\n" },
	{ "/proc/cmdline", "root=/dev/sda1 isolcpus=managed_irq,domain,3 nohz_full=3\n" },
	{ "/proc/sys/kernel/osrelease", "6.12.1-rt-amd64\n" },
	{ "/proc/version", "Linux version 6.12.1-rt SMP PREEMPT_RT\n" },
};

static const struct scenario scenarios[] = {
	/* kernel */
	{ JUDGED("rt-kernel", OK, "PREEMPT_RT, 6.12.1-rt-amd64", "") },
	{ JUDGED("rt-kernel", BAD, "no PREEMPT_RT", "CONFIG_PREEMPT_RT"),
	  .files = { { "/sys/kernel/realtime", "0\n" } } },
	{ JUDGED("rt-kernel", BAD, "no PREEMPT_RT, 5.10.0", "mainline from 6.12"),
	  .files = { { "/proc/version", "Linux SMP\n" },
		     { "/proc/sys/kernel/osrelease", "5.10.0\n" } } },
	{ JUDGED("rt-kernel", WARN, "no PREEMPT_RT", NULL),
	  .files = { { "/proc/version", "Linux SMP\n" } }, .cycle_ns = 100 * NSEC_PER_MSEC },
	{ JUDGED("rt-kernel", OK, "no PREEMPT_RT", NULL),
	  .files = { { "/proc/version", "Linux SMP\n" } }, .cycle_ns = 10 * NSEC_PER_SEC },
	{ JUDGED("rt-kernel", UNKNOWN, "is not there", NULL),
	  .files = { { "/proc/version", NULL }, { "/proc/sys/kernel/osrelease", NULL } } },
	{ JUDGED("rt-kernel", OK, "PREEMPT_RT", NULL),
	  .files = { { "/proc/version", "Linux SMP\n" }, { "/sys/kernel/realtime", "1\n" } } },
	{ JUDGED("rt-kernel", OK, "PREEMPT_RT", NULL),
	  .files = { { "/proc/version", "Linux SMP\n" },
		     { "/proc/config.gz", "CONFIG_PREEMPT_RT=y\n" } } },
	{ JUDGED("preemption", OK, "PREEMPT_RT", "") },
	{ JUDGED("preemption", OK, "full", ""),
	  .files = { { "/proc/version", "" },
		     { "/sys/kernel/debug/sched/preempt", "none voluntary (full)\n" } } },
	{ JUDGED("preemption", BAD, "lazy", "preempt=full"), .boot = "preempt=full",
	  .files = { { "/proc/version", "" },
		     { "/sys/kernel/debug/sched/preempt", "full (lazy)\n" } } },
	{ JUDGED("preemption", BAD, "voluntary", NULL), .boot = "preempt=full",
	  .files = { { "/proc/version", "" }, { "/proc/cmdline", "preempt=voluntary" } } },
	{ JUDGED("preemption", BAD, "none", "lacks CONFIG_PREEMPT_DYNAMIC"),
	  .files = { { "/proc/version", "" }, { "/proc/config.gz", "CONFIG_PREEMPT_NONE=y\n" } } },
	{ JUDGED("preemption", OK, "full", NULL),
	  .files = { { "/proc/version", "" }, { "/proc/config.gz", "CONFIG_PREEMPT=y\n" } } },
	{ JUDGED("preemption", UNKNOWN, "neither", NULL), .files = { { "/proc/version", "" } } },
	{ JUDGED("preemption", BAD, "lazy", "preempt=full"), .boot = "preempt=full",
	  .files = { { "/proc/version", "" }, { "/proc/cmdline", "preempt=lazy" } } },
	{ JUDGED("preemption", BAD, "none", NULL), .boot = "preempt=full",
	  .files = { { "/proc/version", "" }, { "/proc/cmdline", "preempt=none" } } },
	{ JUDGED("preemption", OK, "full", ""),
	  .files = { { "/proc/version", "" }, { "/proc/cmdline", "preempt=full" } } },
	{ JUDGED("preemption", UNKNOWN, "neither", NULL),
	  .files = { { "/proc/version", "" }, { "/proc/cmdline", "preempt=sometimes" } } },
	{ JUDGED("preemption", BAD, "none", NULL), .boot = "preempt=full",
	  .files = { { "/proc/version", "" },
		     { "/sys/kernel/debug/sched/preempt", "(none) voluntary full\n" } } },
	{ JUDGED("preemption", BAD, "voluntary", "lacks CONFIG_PREEMPT_DYNAMIC"),
	  .files = { { "/proc/version", "" },
		     { "/proc/config.gz", "CONFIG_PREEMPT_VOLUNTARY=y\n" } } },
	{ JUDGED("preemption", BAD, "lazy", NULL), .boot = "preempt=full",
	  .files = { { "/proc/version", "" },
		     { "/proc/config.gz", "CONFIG_PREEMPT_LAZY=y\nCONFIG_PREEMPT_DYNAMIC=y\n" } } },
	{ JUDGED("rt-throttling", OK, "off", ""),
	  .files = { { "/proc/sys/kernel/sched_rt_runtime_us", "-1\n" },
		     { "/proc/sys/kernel/sched_rt_period_us", "1000000\n" } } },
	{ JUDGED("rt-throttling", WARN, "950000 of 1000000 us",
		 "echo -1 > /proc/sys/kernel/sched_rt_runtime_us"),
	  .files = { { "/proc/sys/kernel/sched_rt_runtime_us", "950000\n" },
		     { "/proc/sys/kernel/sched_rt_period_us", "1000000\n" } },
	  .changes = 1 },
	{ JUDGED("rt-throttling", UNKNOWN, "not readable", NULL) },
	{ JUDGED("rt-throttling", OK, "off", ""),
	  .files = { { "/proc/sys/kernel/sched_rt_runtime_us", "1000000\n" },
		     { "/proc/sys/kernel/sched_rt_period_us", "1000000\n" } } },
	{ JUDGED("rt-throttling", UNKNOWN, "not readable", NULL),
	  .files = { { "/proc/sys/kernel/sched_rt_runtime_us", "95%\n" },
		     { "/proc/sys/kernel/sched_rt_period_us", "1000000\n" } } },
	{ JUDGED("fair-server", UNKNOWN, "debugfs", "mount") },
	{ JUDGED("fair-server", OK, "came with 6.12", ""),
	  .files = { { "/proc/sys/kernel/osrelease", "6.1.0\n" } } },
	{ JUDGED("fair-server", OK, "off", ""),
	  .files = { { "/sys/kernel/debug/sched/fair_server/cpu3/runtime", "0\n" } } },
	{ JUDGED("fair-server", OK, "came with 6.12", ""),
	  .files = { { "/proc/sys/kernel/osrelease", "5.15.0\n" } } },
	{ JUDGED("fair-server", WARN, "50000 us",
		 "echo 0 > /sys/kernel/debug/sched/fair_server/cpu3/runtime"),
	  .files = { { "/sys/kernel/debug/sched/fair_server/cpu3/runtime", "50000000\n" } },
	  .changes = 1 },
	{ JUDGED("clocksource", UNKNOWN, "not readable", NULL) },
	{ JUDGED("clocksource", OK, "tsc", ""),
	  .files = { { "/sys/devices/system/clocksource/clocksource0/current_clocksource",
		       "tsc\n" } } },
	{ JUDGED("clocksource", OK, "arch_sys_counter", ""),
	  .files = { { "/sys/devices/system/clocksource/clocksource0/current_clocksource",
		       "arch_sys_counter\n" } } },
	{ JUDGED("clocksource", OK, "kvm-clock", ""),
	  .files = { { "/sys/devices/system/clocksource/clocksource0/current_clocksource",
		       "kvm-clock\n" } } },
	{ JUDGED("clocksource", WARN, "hpet", "echo tsc >"),
	  .files = { { "/sys/devices/system/clocksource/clocksource0/current_clocksource",
		       "hpet\n" },
		     { "/sys/devices/system/clocksource/clocksource0/available_clocksource",
		       "tsc hpet acpi_pm\n" } },
	  .cycle_ns = 250000, .changes = 1 },
	{ JUDGED("clocksource", OK, "hyperv_clocksource_tsc_page", ""),
	  .files = { { "/sys/devices/system/clocksource/clocksource0/current_clocksource",
		       "hyperv_clocksource_tsc_page\n" } } },
	/* whose name is no tsc that can be written there */
	{ JUDGED("clocksource", WARN, "acpi_pm", "unstable"),
	  .files = { { "/sys/devices/system/clocksource/clocksource0/current_clocksource",
		       "acpi_pm\n" },
		     { "/sys/devices/system/clocksource/clocksource0/available_clocksource",
		       "hyperv_clocksource_tsc_page acpi_pm\n" } },
	  .cycle_ns = 100 * NSEC_PER_USEC },
	{ JUDGED("clocksource", WARN, "acpi_pm", "unstable"),
	  .files = { { "/sys/devices/system/clocksource/clocksource0/current_clocksource",
		       "acpi_pm\n" },
		     { "/sys/devices/system/clocksource/clocksource0/available_clocksource",
		       "hpet acpi_pm\n" } },
	  .cycle_ns = 250000 },
	{ JUDGED("threadirqs", OK, "implied", "") },
	{ JUDGED("threadirqs", OK, "on", ""),
	  .files = { { "/proc/version", "" }, { "/proc/cmdline", "threadirqs\n" } } },
	{ JUDGED("threadirqs", BAD, "off", "threadirqs"), .boot = "threadirqs",
	  .files = { { "/proc/version", "" } } },
	{ JUDGED("threadirqs", UNKNOWN, "cmdline", NULL),
	  .files = { { "/proc/version", "" }, { "/proc/cmdline", NULL } } },
	{ JUDGED("watchdog", OK, "has none", "") },
	{ JUDGED("watchdog", OK, "off", ""), .files = { { "/proc/sys/kernel/watchdog", "0\n" } } },
	{ JUDGED("watchdog", OK, "not on the real-time", ""),
	  .files = { { "/proc/sys/kernel/watchdog", "1\n" },
		     { "/proc/sys/kernel/watchdog_cpumask", "0-2\n" } } },
	{ JUDGED("watchdog", WARN, "CPU 0-3", "echo 0-2 > /proc/sys/kernel/watchdog_cpumask"),
	  .files = { { "/proc/sys/kernel/watchdog", "1\n" },
		     { "/proc/sys/kernel/watchdog_cpumask", "0-3\n" } },
	  .changes = 1 },
	{ JUDGED("watchdog", WARN, "CPU 3", "echo 0 > /proc/sys/kernel/watchdog"),
	  .files = { { "/proc/sys/kernel/watchdog", "1\n" },
		     { "/proc/sys/kernel/watchdog_cpumask", "3\n" } },
	  .changes = 1 },
	{ JUDGED("huge-pages", OK, "has none", "") },
	{ JUDGED("huge-pages", WARN, "always", "echo madvise >"),
	  .files = { { "/sys/kernel/mm/transparent_hugepage/enabled",
		       "[always] madvise never\n" } },
	  .changes = 1 },
	{ JUDGED("huge-pages", OK, "never", ""),
	  .files = { { "/sys/kernel/mm/transparent_hugepage/enabled",
		       "always madvise [never]\n" } } },
	{ JUDGED("huge-pages", UNKNOWN, "not readable", NULL),
	  .files = { { "/sys/kernel/mm/transparent_hugepage/enabled", "" } } },
	{ JUDGED("debug-kernel", UNKNOWN, "neither", NULL) },
	{ JUDGED("debug-kernel", OK, "none of", ""),
	  .files = { { "/proc/config.gz", "CONFIG_KASAN_GENERIC=y\n" } } },
	{ JUDGED("debug-kernel", BAD, "CONFIG_KASAN CONFIG_PROVE_LOCKING", "without"),
	  .files = { { "/proc/config.gz", "CONFIG_PROVE_LOCKING=y\nCONFIG_KASAN=y\n" } } },
	{ JUDGED("abilities", UNKNOWN, "neither", "modprobe configs") },
	{ JUDGED("abilities", WARN, "lacks taprio, mqprio, XDP", NULL),
	  .files = { { "/proc/config.gz",
		       "CONFIG_NET_SCH_ETF=m\nCONFIG_PTP_1588_CLOCK=y\nCONFIG_DEBUG_INFO_BTF=y"
		       "\nCONFIG_NET_RX_BUSY_POLL=y\n" } } },
	{ JUDGED("abilities", OK, "taprio", ""),
	  .files = { { "/boot/config-6.12.1-rt-amd64",
		       "CONFIG_NET_SCH_TAPRIO=m\nCONFIG_NET_SCH_MQPRIO=m\nCONFIG_NET_SCH_ETF=m\n"
		       "CONFIG_PTP_1588_CLOCK=y\nCONFIG_DEBUG_INFO_BTF=y\nCONFIG_BPF_SYSCALL=y\n"
		       "CONFIG_NET_RX_BUSY_POLL=y\n" } } },
	/* CPU */
	{ JUDGED("isolation", OK, "CPU 3", "") },
	{ JUDGED("isolation", WARN, "CPU 2 is not isolated (isolated: 3)", "domain,2"),
	  .boot = "isolcpus=managed_irq,domain,2", .cpu = 2 },
	{ JUDGED("isolation", BAD, "CPU 2 is not isolated", NULL),
	  .boot = "isolcpus=managed_irq,domain,2", .cycle_ns = 250000, .cpu = 2 },
	{ JUDGED("isolation", WARN, "0-3 is not isolated", "no CPU is left"), .all_cpus = true },
	{ JUDGED("isolation", UNKNOWN, "not there", NULL), .files = { { CPU "/isolated", NULL } } },
	{ JUDGED("nohz-full", OK, "CPU 3", "") },
	{ JUDGED("nohz-full", WARN, "CPU 2 keeps its tick", "nohz_full=2"), .boot = "nohz_full=2",
	  .cpu = 2 },
	{ JUDGED("nohz-full", WARN, "CPU 3 keeps", NULL), .boot = "nohz_full=3",
	  .files = { { CPU "/nohz_full", "(null)\n" } } },
	{ JUDGED("nohz-full", WARN, "lacks CONFIG_NO_HZ_FULL", "use a kernel"),
	  .files = { { CPU "/nohz_full", NULL }, { "/proc/config.gz", "CONFIG_X=y\n" } } },
	{ JUDGED("rcu-nocbs", OK, "offloaded", "") },
	{ JUDGED("rcu-nocbs", OK, "offloaded", ""),
	  .files = { { CPU "/nohz_full", "\n" }, { "/proc/cmdline", "rcu_nocbs" } } },
	/* none is left: no boot parameter, and no advice to set one */
	{ JUDGED("rcu-nocbs", WARN, "runs RCU", "no CPU is left"),
	  .files = { { CPU "/nohz_full", "\n" }, { "/proc/cmdline", "" } }, .all_cpus = true },
	{ JUDGED("nohz-full", WARN, "keeps its tick", "no CPU is left"), .all_cpus = true },
	{ JUDGED("cpusets", WARN, "system.slice may use", "no CPU is left"),
	  .files = { { "/sys/fs/cgroup/system.slice/cpuset.cpus.effective", "0-3\n" } },
	  .all_cpus = true },
	{ JUDGED("rcu-nocbs", OK, "offloaded", ""),
	  .files = { { CPU "/nohz_full", "\n" }, { "/proc/cmdline", "rcu_nocbs=2-3" } } },
	{ JUDGED("rcu-nocbs", OK, "offloaded", ""),
	  .files = { { CPU "/nohz_full", "\n" }, { "/proc/cmdline", "rcu_nocbs=all" } } },
	{ JUDGED("rcu-nocbs", WARN, "CPU 3 runs RCU", "rcu_nocbs=3"), .boot = "rcu_nocbs=3",
	  .files = { { CPU "/nohz_full", "\n" }, { "/proc/cmdline", "rcu_nocbs=0-2" } } },
	{ JUDGED("rcu-nocbs", WARN, "lacks CONFIG_RCU_NOCB_CPU", "use a kernel"),
	  .files = { { CPU "/nohz_full", "\n" }, { "/proc/config.gz", "CONFIG_X=y\n" } } },
	{ JUDGED("cpusets", UNKNOWN, "no cpuset", NULL) },
	{ JUDGED("cpusets", OK, "kept off", ""),
	  .files = { { "/sys/fs/cgroup/system.slice/cpuset.cpus.effective", "0-2\n" } } },
	{ JUDGED("cpusets", WARN, "system.slice, user.slice may use", "AllowedCPUs=0-2"),
	  .files = { { "/sys/fs/cgroup/system.slice/cpuset.cpus.effective", "0-3\n" },
		     { "/sys/fs/cgroup/cpuset/user.slice/cpuset.cpus", "3\n" },
		     { "/sys/fs/cgroup/init.scope/cpuset.cpus.effective", "0\n" } } },
	{ JUDGED("governor", OK, "no frequency scaling", "") },
	{ JUDGED("governor", OK, "performance", ""),
	  .files = { { CPU "/cpu3/cpufreq/scaling_governor", "performance\n" } } },
	{ JUDGED("governor", WARN, "powersave on 2", "cpu2/cpufreq"),
	  .files = { { CPU "/cpu1/cpufreq/scaling_governor", "performance\n" },
		     { CPU "/cpu2/cpufreq/scaling_governor", "powersave\n" },
		     { CPU "/cpu3/cpufreq/scaling_governor", "schedutil\n" } },
	  .changes = 2, .all_cpus = true },
	{ JUDGED("governor", WARN, "powersave",
		 "echo performance > " CPU "/cpu3/cpufreq/scaling_governor"),
	  .files = { { CPU "/cpu3/cpufreq/scaling_governor", "powersave\n" } }, .changes = 1 },
	{ JUDGED("turbo", OK, "not visible", "") },
	{ JUDGED("turbo", OK, "off", ""), .files = { { CPU "/intel_pstate/no_turbo", "1\n" } } },
	{ JUDGED("turbo", WARN, "on (intel_pstate)", "echo 1 > " CPU "/intel_pstate/no_turbo"),
	  .files = { { CPU "/intel_pstate/no_turbo", "0\n" } }, .changes = 1 },
	{ JUDGED("turbo", OK, "off", ""), .files = { { CPU "/cpufreq/boost", "0\n" } } },
	{ JUDGED("turbo", WARN, "on", "echo 0 > " CPU "/cpufreq/boost"),
	  .files = { { CPU "/cpufreq/boost", "1\n" } }, .changes = 1 },
	{ JUDGED("idle-states", OK, "none are visible", "") },
	{ JUDGED("idle-states", OK, "none deeper", ""),
	  .files = { { "/proc/cmdline", "idle=nomwait" },
		     { CPU "/cpu3/cpuidle/state0/latency", "1\n" } } },
	{ JUDGED("idle-states", WARN, "C6 takes 133 us", NULL), .boot = "processor.max_cstate=1",
	  .all_cpus = true,
	  .files = { { CPU "/cpu2/cpuidle/state0/latency", "133\n" },
		     { CPU "/cpu2/cpuidle/state0/name", "C6\n" },
		     { CPU "/cpu3/cpuidle/state0/latency", "20\n" },
		     { CPU "/cpu3/cpuidle/state0/name", "C3\n" } },
	  .changes = 2 },
	{ JUDGED("idle-states", OK, "idle=poll", ""),
	  .files = { { "/proc/cmdline", "idle=poll" } } },
	{ JUDGED("idle-states", OK, "none deeper", ""),
	  .files = { { CPU "/cpu3/cpuidle/state0/latency", "0\n" },
		     { CPU "/cpu3/cpuidle/state1/latency", "2\n" },
		     { CPU "/cpu3/cpuidle/state2/latency", "133\n" },
		     { CPU "/cpu3/cpuidle/state2/disable", "1\n" } } },
	{ JUDGED("idle-states", WARN, "C6 takes 133 us", "state2/disable"),
	  .boot = "processor.max_cstate=1 intel_idle.max_cstate=0",
	  .files = { { CPU "/cpu3/cpuidle/state0/latency", "0\n" },
		     { CPU "/cpu3/cpuidle/state1/latency", "10\n" },
		     { CPU "/cpu3/cpuidle/state2/latency", "133\n" },
		     { CPU "/cpu3/cpuidle/state2/name", "C6\n" },
		     { CPU "/cpuidle/current_driver", "intel_idle\n" } },
	  .changes = 2 },
	{ JUDGED("idle-states", OK, "WFI takes 5 us", NULL),
	  .files = { { CPU "/cpu3/cpuidle/state0/latency", "5\n" },
		     { CPU "/cpu3/cpuidle/state0/name", "WFI\n" } } },
	{ JUDGED("smt", OK, "no other", "") },
	{ JUDGED("smt", OK, "no other", ""),
	  .files = { { CPU "/cpu3/topology/thread_siblings_list", "3,7\n" } } },
	{ JUDGED("smt", WARN, "CPU 1 shares", "echo 0 > " CPU "/cpu1/online"),
	  .files = { { CPU "/cpu3/topology/thread_siblings_list", "1,3\n" },
		     { CPU "/cpu1/online", "1\n" } },
	  .changes = 1 },
	{ JUDGED("smt", WARN, "CPU 0 shares", "cannot be taken offline"),
	  .files = { { CPU "/cpu3/topology/thread_siblings_list", "0,3\n" } } },
	{ JUDGED("smt", OK, "no other", ""), .all_cpus = true,
	  .files = { { CPU "/cpu3/topology/thread_siblings_list", "2-3\n" } } },
	{ JUDGED("thermal", UNKNOWN, "no counter", NULL) },
	{ JUDGED("thermal", OK, "never", ""),
	  .files = { { CPU "/cpu3/thermal_throttle/core_throttle_count", "0\n" } } },
	{ JUDGED("thermal", WARN, "throttled 5 times", "cooling"),
	  .files = { { CPU "/cpu3/thermal_throttle/core_throttle_count", "2\n" },
		     { CPU "/cpu3/thermal_throttle/package_throttle_count", "3\n" } } },
	{ JUDGED("hypervisor", UNKNOWN, "cpuinfo", NULL) },
	{ JUDGED("hypervisor", OK, "none", ""),
	  .files = { { "/proc/cpuinfo",
		       "processor\t: 0\nflags\t\t: fpu tsc\nbugs : hypervisor\n" } } },
	{ JUDGED("hypervisor", BAD, "virtual machine", "the machine itself"),
	  .files = { { "/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor tsc\n" } } },
	{ JUDGED("hypervisor", BAD, "(xen)", NULL),
	  .files = { { "/sys/hypervisor/type", "xen\n" } } },
	{ JUDGED("hypervisor", OK, "none", ""),
	  .files = { { "/proc/cpuinfo", "processor\t: 0\nFeatures\t: fp asimd\n" } } },
	{ JUDGED("mitigations", OK, "only mentioned", "") },
	{ JUDGED("mitigations", OK, "only mentioned", ""),
	  .files = { { "/proc/cmdline", "mitigations=auto,nosmt" } } },
	{ JUDGED("mitigations", OK, "price of security", ""),
	  .files = { { "/proc/cmdline", "mitigations=off" } } },
	{ JUDGED("firmware", UNKNOWN, "System Management", "hwlat") },
	/* interrupts */
	{ JUDGED("irqbalance", OK, "not running", "") },
	{ JUDGED("irqbalance", OK, "not running", ""),
	  .files = { { "/proc/7/stat", FIFO_STAT("irqbalanced", "0", "0", "0") } } },
	{ JUDGED("irqbalance", BAD, "running (pid 7)", "systemctl stop irqbalance"),
	  .files = { { "/proc/7/stat", FIFO_STAT("irqbalance", "0", "0", "0") } }, .changes = 1 },
	{ JUDGED("irq-affinity", UNKNOWN, "/proc/interrupts", NULL) },
	{ JUDGED("irq-affinity", UNKNOWN, "no affinity", NULL),
	  .files = { { "/proc/interrupts", "     CPU0 CPU1 CPU2 CPU3\n 5: 1 2 3 4  x  a\n" } } },
	{ JUDGED("irq-affinity", OK, "all 1 are kept off", ""),
	  .files = { { "/proc/interrupts", "     CPU0 CPU1 CPU2 CPU3\n 5: 1 2 3 4  x  a\n" },
		     { "/proc/irq/5/smp_affinity_list", "0-3\n" },
		     { "/proc/irq/5/effective_affinity_list", "1\n" } } },
	{ JUDGED("irq-affinity", BAD, "1 of 2 run on the real-time CPUs: 89 mmc0",
		 "for i in 89; do echo 0-2 > /proc/irq/$i/smp_affinity_list; done"),
	  .files = { { "/proc/interrupts", "     CPU0 CPU1 CPU2 CPU3\n 5: 1 2 3 4  x  a\n 89: 0 0 "
					   "0 9   PCI-MSI  mmc0\n" },
		     { "/proc/irq/5/smp_affinity_list", "0-2\n" },
		     { "/proc/irq/89/smp_affinity_list", "0-3\n" },
		     { "/proc/irq/89/effective_affinity_list", "3\n" } },
	  .changes = 1 },
	/* moved away, which it will be at its next interrupt */
	{ JUDGED("irq-affinity", OK, "all 1 are kept off", ""),
	  .files = { { "/proc/interrupts", "     CPU0 CPU1 CPU2 CPU3\n 5: 1 2 3 4  x  a\n" },
		     { "/proc/irq/5/smp_affinity_list", "0-2\n" },
		     { "/proc/irq/5/effective_affinity_list", "3\n" } } },
	{ JUDGED("irq-affinity", BAD, "1 of 1 run", "no CPU is left"),
	  .files = { { "/proc/interrupts", "     CPU0 CPU1 CPU2 CPU3\n 5: 1 2 3 4  x  a\n" },
		     { "/proc/irq/5/smp_affinity_list", "1\n" } },
	  .all_cpus = true },
	{ JUDGED("irq-default", UNKNOWN, "not readable", NULL) },
	{ JUDGED("irq-default", WARN, "may come", "no CPU is left"), .all_cpus = true,
	  .files = { { "/proc/irq/default_smp_affinity", "f\n" } } },
	{ JUDGED("workqueues", WARN, "may use", "no CPU is left"), .all_cpus = true,
	  .files = { { "/sys/devices/virtual/workqueue/cpumask", "f\n" } } },
	{ JUDGED("irq-default", OK, "stay off", ""),
	  .files = { { "/proc/irq/default_smp_affinity", "7\n" } } },
	{ JUDGED("irq-default", WARN, "may come", "echo 7 > /proc/irq/default_smp_affinity"),
	  .files = { { "/proc/irq/default_smp_affinity", "0000000f\n" } }, .changes = 1 },
	{ JUDGED("irq-activity", UNKNOWN, "not compared", NULL) },
	{ JUDGED("workqueues", UNKNOWN, "not readable", NULL) },
	{ JUDGED("workqueues", OK, "stays off", ""),
	  .files = { { "/sys/devices/virtual/workqueue/cpumask", "7\n" } } },
	{ JUDGED("workqueues", WARN, "may use", "echo 7 > /sys/devices/virtual/workqueue/cpumask"),
	  .files = { { "/sys/devices/virtual/workqueue/cpumask", "f\n" } }, .changes = 1 },
	/* clock */
	{ JUDGED("gptp", WARN, "ptp4l is not running", NULL) },
	{ JUDGED("gptp", WARN, "phc2sys is not", "phc2sys -a -r"),
	  .files = { { "/proc/7/stat", FIFO_STAT("ptp4l", "0", "0", "0") } } },
	{ JUDGED("gptp", OK, "are running", ""),
	  .files = { { "/proc/7/stat", FIFO_STAT("ptp4l", "0", "0", "0") },
		     { "/proc/8/stat", FIFO_STAT("phc2sys", "0", "0", "0") } } },
	{ JUDGED("one-master", OK, "nobody", "") },
	{ JUDGED("one-master", WARN, "systemd-timesyn sets", "systemctl stop systemd-timesyncd"),
	  .files = { { "/proc/8/stat", FIFO_STAT("systemd-timesyn", "0", "0", "0") } } },
	{ JUDGED("one-master", BAD, "ntpd and phc2sys", "systemctl stop ntpd"),
	  .files = { { "/proc/8/stat", FIFO_STAT("ntpd", "0", "0", "0") },
		     { "/proc/9/stat", FIFO_STAT("phc2sys", "0", "0", "0") } } },
	{ JUDGED("one-master", OK, "phc2sys alone", ""),
	  .files = { { "/proc/8/stat", FIFO_STAT("phc2sys", "0", "0", "0") } } },
	{ JUDGED("one-master", WARN, "chronyd sets", "systemctl stop chronyd"),
	  .files = { { "/proc/8/stat", FIFO_STAT("chronyd", "0", "0", "0") } } },
	{ JUDGED("one-master", BAD, "systemd-timesyn and phc2sys",
		 "systemctl stop systemd-timesyncd"),
	  .files = { { "/proc/8/stat", FIFO_STAT("systemd-timesyn", "0", "0", "0") },
		     { "/proc/9/stat", FIFO_STAT("phc2sys", "0", "0", "0") } } },
	/* process */
	{ JUDGED("rtprio", UNKNOWN, "limits", NULL) },
	{ JUDGED("rtprio", OK, "CAP_SYS_NICE", ""),
	  .files = { { "/proc/self/status", STATUS("000001ffffffffff", "0-3") } } },
	{ JUDGED("rtprio", BAD, "RLIMIT_RTPRIO is 0", "rtprio 80"),
	  .files = { { "/proc/self/status", STATUS("0", "0-3") },
		     { "/proc/self/limits", LIMITS("0", "65536") } } },
	{ JUDGED("rtprio", OK, "RLIMIT_RTPRIO allows 80", ""),
	  .files = { { "/proc/self/limits", LIMITS("80", "65536") } } },
	{ JUDGED("memlock", UNKNOWN, "limits", NULL) },
	{ JUDGED("memlock", OK, "CAP_IPC_LOCK", ""),
	  .files = { { "/proc/self/status", STATUS("000001ffffffffff", "0-3") } } },
	{ JUDGED("memlock", BAD, "RLIMIT_MEMLOCK is 64 KiB", "memlock unlimited"),
	  .files = { { "/proc/self/limits", LIMITS("0", "65536") } } },
	{ JUDGED("memlock", OK, "allows", ""),
	  .files = { { "/proc/self/limits", LIMITS("0", "unlimited") } } },
	{ JUDGED("rt-budget", UNKNOWN, "cgroup", NULL) },
	{ JUDGED("rt-budget", OK, "no budget", ""),
	  .files = { { "/proc/self/cgroup", "0::/user.slice\n" } } },
	{ JUDGED("rt-budget", BAD, "/a/b has none", "/sys/fs/cgroup/cpu/a/b/cpu.rt_runtime_us"),
	  .files = { { "/proc/self/cgroup", "3:cpuset:/x\n2:cpu:/a/b\n0::/\n" },
		     { "/sys/fs/cgroup/cpu/a/b/cpu.rt_runtime_us", "0\n" } } },
	{ JUDGED("rt-budget", OK, "950000 us", ""),
	  .files = { { "/proc/self/cgroup", "2:cpu,cpuacct:/a" },
		     { "/sys/fs/cgroup/cpu,cpuacct/a/cpu.rt_runtime_us", "950000\n" } } },
	{ JUDGED("rt-budget", OK, "no budget", ""),
	  .files = { { "/proc/self/cgroup", "2:cpu:/../../etc\n" } } },
	{ JUDGED("rt-budget", OK, "-1 us", ""),
	  .files = { { "/proc/self/cgroup", "2:memory,cpu,cpuacct:/a\n" },
		     { "/sys/fs/cgroup/cpu/a/cpu.rt_runtime_us", "-1\n" } } },
	{ JUDGED("rtprio", OK, "RLIMIT_RTPRIO allows 80", ""),
	  .files = { { "/proc/self/limits", LIMITS("unlimited", "0") } } },
	{ JUDGED("memlock", OK, "allows", ""),
	  .files = { { "/proc/self/limits", LIMITS("0", "67108864") } } },
	{ JUDGED("privileges", UNKNOWN, "status", NULL) },
	{ JUDGED("privileges", OK, "all", ""),
	  .files = { { "/proc/self/status", STATUS("000001ffffffffff", "0-3") } } },
	{ JUDGED("privileges", WARN, "CAP_NET_RAW, CAP_NET_ADMIN, CAP_SYS_NICE", "setcap"),
	  .files = { { "/proc/self/status", STATUS("0000000000200000", "0-3") } } },
	{ JUDGED("own-cpus", UNKNOWN, "status", NULL) },
	{ JUDGED("own-cpus", UNKNOWN, "status", NULL),
	  .files = { { "/proc/self/status", STATUS("0", "all of them") } } },
	{ JUDGED("own-cpus", OK, "may be used", ""),
	  .files = { { "/proc/self/status", STATUS("0", "0-2") } } },
	{ JUDGED("own-cpus", WARN, "CPU 0 only", "cpuset"),
	  .files = { { "/proc/self/status", STATUS("0", "0") } }, .cpu = 2 },
	{ JUDGED("rivals", OK, "nobody", ""),
	  .files = { { "/proc/7/task/7/stat", FIFO_STAT("migration/3", "99", "1", "2097152") },
		     { "/proc/7/task/7/status", STATUS("0", "3") },
		     { "/proc/8/task/8/stat", FIFO_STAT("low", "79", "1", "0") },
		     { "/proc/8/task/8/status", STATUS("0", "3") } } },
	/* by design of the kernel, or of no harm */
	{ JUDGED("rivals", OK, "nobody", ""),
	  .files = { { "/proc/7/task/7/stat", FIFO_STAT("irq/9-acpi", "99", "1", "2097152") },
		     { "/proc/7/task/7/status", STATUS("0", "3") },
		     { "/proc/8/task/8/stat", FIFO_STAT("idle_inject/3", "99", "1", "2097152") },
		     { "/proc/8/task/8/status", STATUS("0", "3") },
		     { "/proc/9/task/9/stat", FIFO_STAT("watchdogd", "99", "1", "2097152") },
		     { "/proc/9/task/9/status", STATUS("0", "3") },
		     { "/proc/10/task/10/stat", FIFO_STAT("cpuhp/3", "99", "1", "2097152") },
		     { "/proc/10/task/10/status", STATUS("0", "3") },
		     { "/proc/11/task/11/stat", FIFO_STAT("rcuc/3", "99", "1", "2097152") },
		     { "/proc/11/task/11/status", STATUS("0", "3") } } },
	{ JUDGED("rivals", OK, "nobody",
		 ""), /* a name of the kernel's in user space, gone meanwhile */
	  .files = { { "/proc/7/task/7/stat", FIFO_STAT("rcuc/3", "99", "1", "0") } } },
	{ JUDGED("rivals", OK, "nobody", ""), /* not real-time; a status without CPUs */
	  .files = { { "/proc/7/task/7/stat", FIFO_STAT("other", "0", "0", "0") },
		     { "/proc/7/task/7/status", STATUS("0", "3") },
		     { "/proc/8/task/8/stat", FIFO_STAT("odd", "99", "1", "0") },
		     { "/proc/8/task/8/status", "Name:\tx\n" } } },
	{ JUDGED("rivals", BAD, "1: rr[7] RR 99", "chrt -f -p 79 7"), .all_cpus = true,
	  .files = { { "/proc/7/task/7/stat", FIFO_STAT("rr", "99", "2", "0") },
		     { "/proc/7/task/7/status", STATUS("0", "0-3") } } },
	{ JUDGED("rivals", BAD, "5: ", "taskset"),
	  .files = { { "/proc/7/task/3/stat", FIFO_STAT("a", "99", "1", "0") },
		     { "/proc/7/task/4/stat", FIFO_STAT("b", "99", "1", "0") },
		     { "/proc/7/task/5/stat", FIFO_STAT("c", "99", "1", "0") },
		     { "/proc/7/task/6/stat", FIFO_STAT("d", "99", "1", "0") },
		     { "/proc/7/task/7/stat", FIFO_STAT("e", "99", "1", "0") },
		     { "/proc/7/task/3/status", STATUS("0", "3") },
		     { "/proc/7/task/4/status", STATUS("0", "3") },
		     { "/proc/7/task/5/status", STATUS("0", "3") },
		     { "/proc/7/task/6/status", STATUS("0", "3") },
		     { "/proc/7/task/7/status", STATUS("0", "3") } } },
	{ JUDGED("rivals", BAD, "1: hog[7] FIFO 99", "taskset -p -c 0-2 7"),
	  .files = { { "/proc/7/task/7/stat", FIFO_STAT("hog", "99", "1", "0") },
		     { "/proc/7/task/7/status", STATUS("0", "0-3") } } },
	{ JUDGED("rivals", OK, "nobody", ""),
	  .files = { { "/proc/7/task/7/stat", FIFO_STAT("elsewhere", "99", "1", "0") },
		     { "/proc/7/task/7/status", STATUS("0", "0-2") } } },
};

static char root[64];

static void make_tree(const struct scenario *scenario)
{
	char path[256];

	tree_make(root);
	for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
		tree_write(root, common[i][0], common[i][1]);
	for (size_t i = 0; i < FILES_MAX && scenario->files[i][0]; i++) {
		if (scenario->files[i][1]) {
			tree_write(root, scenario->files[i][0], scenario->files[i][1]);
			continue;
		}
		snprintf(path, sizeof(path), "%s%s", root, scenario->files[i][0]);
		remove(path);
	}
}

static void judge(const struct scenario *scenario, size_t index)
{
	struct error err = ERROR_INIT;
	struct exam exam = { .root = root,
			     .cycle_ns = scenario->cycle_ns ? scenario->cycle_ns : NSEC_PER_MSEC,
			     .rt_priority = 80,
			     .tai_offset = EXAM_UNKNOWN };
	struct finding finding;

	make_tree(scenario);
	if (scenario->all_cpus)
		cpulist_parse("0-3", &exam.cpus);
	else if (scenario->cpu)
		cpulist_add(&exam.cpus, scenario->cpu);
	assert_int_equal(exam_gather(&exam, 0, &err), 0);
	if (!scenario->all_cpus)
		assert_true(cpulist_has(&exam.cpus, scenario->cpu ? scenario->cpu : 3));
	doctor_judge(&exam, find_check(scenario->check), &finding);
	if (finding.verdict != scenario->verdict || !strstr(finding.value, scenario->value) ||
	    (scenario->fix && *scenario->fix && !strstr(finding.fix, scenario->fix)) ||
	    (scenario->fix && !*scenario->fix && finding.fix[0]) ||
	    strcmp(finding.boot, scenario->boot ? scenario->boot : "") ||
	    (int)finding.change_count != scenario->changes)
		fail_msg("scenario %zu, %s: %s '%s', fix '%s', boot '%s', %zu changes", index,
			 scenario->check, verdict_name(finding.verdict), finding.value, finding.fix,
			 finding.boot, finding.change_count);
	/* what is not good has a reason, and a remedy or a cause of not knowing */
	assert_true(strlen(finding.check->why) > 10);
	if (finding.verdict == VERDICT_WARN || finding.verdict == VERDICT_BAD)
		assert_true(finding.fix[0]);
	finding_free(&finding);
	exam_free(&exam);
	tree_remove(root);
}

static void every_branch_over_a_tree(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		judge(&scenarios[i], i);
}

/* A new check without a scenario is noticed here; those of the NIC have a test of their own. */
static void every_check_has_scenarios(void **state)
{
	(void)state;
	for (size_t i = 0; i < doctor_count(); i++) {
		const struct check *check = doctor_check(i);
		bool found = check->group == GROUP_NIC || !strcmp(check->name, "tai-offset");

		for (size_t j = 0; j < sizeof(scenarios) / sizeof(scenarios[0]); j++)
			found |= !strcmp(scenarios[j].check, check->name);
		if (!found)
			fail_msg("%s has no scenario", check->name);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(check->name, doctor_check(j)->name);
	}
}

static void interrupts_are_compared(void **state)
{
	static const struct scenario none = { .check = "irq-activity" };
	struct error err = ERROR_INIT;
	struct exam exam = { .root = root, .cycle_ns = NSEC_PER_MSEC, .rt_priority = 80 };
	struct finding finding;

	(void)state;
	make_tree(&none);
	tree_write(root, "/proc/interrupts",
		   "     CPU0 CPU1 CPU2 CPU3\n 5: 1 2 3 40  x  mmc0\nLOC: 1 1 1 90  timer\n");
	assert_int_equal(exam_gather(&exam, 1, &err), 0);
	exam.irq_seconds = 2;
	exam.irqs[0].count = 140;
	exam.irqs[1].count = 290;
	doctor_judge(&exam, find_check("irq-activity"), &finding);
	assert_int_equal(finding.verdict, VERDICT_BAD);
	assert_string_equal(finding.value, "50 device interrupts a second, most of them 5 mmc0");
	exam.irqs[0].count = 40;
	doctor_judge(&exam, find_check("irq-activity"), &finding);
	assert_int_equal(finding.verdict, VERDICT_OK);
	assert_string_equal(finding.value,
			    "no device interrupt in 2.0 s; 100/s others (timer, IPIs)");
	exam_free(&exam);
	tree_remove(root);
}

static void cpus_that_are_not_there(void **state)
{
	static const struct scenario none = { .check = "" };
	struct error err = ERROR_INIT;
	struct exam exam = { .root = root, .cycle_ns = NSEC_PER_MSEC };

	(void)state;
	make_tree(&none);
	cpulist_parse("3,9", &exam.cpus);
	assert_int_equal(exam_gather(&exam, 0, &err), -1);
	assert_int_equal(err.status, STATUS_INPUT);
	assert_string_equal(err.text, "--cpu: CPU 9 is not online; 0-3 are");
	tree_remove(root);
	tree_make(root);
	err = (struct error)ERROR_INIT;
	assert_int_equal(exam_gather(&exam, 0, &err), -1);
	assert_int_equal(err.status, STATUS_SYSTEM);
	tree_remove(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_branch_over_a_tree),
		cmocka_unit_test(every_check_has_scenarios),
		cmocka_unit_test(interrupts_are_compared),
		cmocka_unit_test(cpus_that_are_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/* The checks over trees whose files hold what no kernel writes: each answers, and none reads or writes astray. */
#include "cmocka_all.h"

#include "base/units.h"
#include "host/doctor.h"
#include "tree.h"

#define CPU "/sys/devices/system/cpu"
#define NET "/sys/class/net/x0"
#define LONG (300 * 1024)
#define ROUNDS 60

/* What the checks read, and what may stand there. */
static const char *const files[][2] = {
	{ "/proc/version", "Linux version 6.12.1-rt SMP PREEMPT_RT\n" },
	{ "/proc/cmdline",
	  "root=/dev/sda1 isolcpus=managed_irq,domain,3 rcu_nocbs=2-3 \"a b\" -- x\n" },
	{ "/proc/sys/kernel/osrelease", "6.12.1-rt-amd64\n" },
	{ "/proc/sys/kernel/sched_rt_runtime_us", "950000\n" },
	{ "/proc/sys/kernel/sched_rt_period_us", "1000000\n" },
	{ "/proc/sys/kernel/watchdog", "1\n" },
	{ "/proc/sys/kernel/watchdog_cpumask", "0-3\n" },
	{ "/proc/sys/net/core/busy_poll", "0\n" },
	{ "/proc/sys/net/core/busy_read", "50\n" },
	{ "/proc/config.gz", "CONFIG_PREEMPT=y\nCONFIG_NET_SCH_ETF=m\nCONFIG_KASAN=y\n" },
	{ "/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor tsc\n" },
	{ "/proc/interrupts",
	  "     CPU0 CPU1 CPU2 CPU3\n 5: 1 2 3 4  x  a\n 89: 0 0 0 9   PCI  mmc0\nNMI: 1\n" },
	{ "/proc/irq/default_smp_affinity", "0000000f\n" },
	{ "/proc/irq/5/smp_affinity_list", "0-3\n" },
	{ "/proc/irq/5/effective_affinity_list", "3\n" },
	{ "/proc/7/stat", "7 (irqbalance) S 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 -51 0 1 0 9 0\n" },
	{ "/proc/7/task/7/stat", "7 (a) b) S 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 -51 0 1 0 9 0 0 1 0 0 0 "
				 "0 0 0 0 2 0 0 0 0 17 1 99 1 0 0\n" },
	{ "/proc/7/task/7/status", "Name:\tx\nCapEff:\t0\nCpus_allowed_list:\t0-3\n" },
	{ "/proc/self/status", "Name:\tx\nCapEff:\t00000000a80425fb\nCpus_allowed_list:\t0-3\n" },
	{ "/proc/self/limits",
	  "Max locked memory         65536  8388608   bytes\nMax realtime priority     0   0 \n" },
	{ "/proc/self/cgroup", "3:cpuset:/x\n2:cpu,cpuacct:/a/b\n0::/\n" },
	{ "/sys/kernel/realtime", "1\n" },
	{ "/sys/kernel/debug/sched/preempt", "none voluntary (full)\n" },
	{ "/sys/kernel/debug/sched/fair_server/cpu3/runtime", "50000000\n" },
	{ "/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n" },
	{ "/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n" },
	{ "/sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet\n" },
	{ "/sys/devices/virtual/workqueue/cpumask", "f\n" },
	{ "/sys/fs/cgroup/system.slice/cpuset.cpus.effective", "0-3\n" },
	{ "/sys/hypervisor/type", "xen\n" },
	{ "/sys/module/pcie_aspm/parameters/policy", "[default] performance powersave\n" },
	{ CPU "/isolated", "3\n" },
	{ CPU "/nohz_full", "(null)\n" },
	{ CPU "/intel_pstate/no_turbo", "0\n" },
	{ CPU "/cpu3/cpufreq/scaling_governor", "powersave\n" },
	{ CPU "/cpu3/cpuidle/state0/latency", "133\n" },
	{ CPU "/cpu3/cpuidle/state0/name", "C6\n" },
	{ CPU "/cpu3/topology/thread_siblings_list", "1,3\n" },
	{ CPU "/cpu3/thermal_throttle/core_throttle_count", "2\n" },
	{ CPU "/cpu1/online", "1\n" },
	{ NET "/uevent", "DEVTYPE=vlan\nINTERFACE=x0\nIFINDEX=2\n" },
	{ NET "/tx_queue_len", "1000\n" },
	{ NET "/device/link/l1_aspm", "1\n" },
	{ NET "/device/power/control", "auto\n" },
	{ NET "/device/power/runtime_status", "active\n" },
	{ NET "/device/irq", "5\n" },
};
#define FILES (sizeof(files) / sizeof(files[0]))

static char root[64];
static char text[LONG + 1];

static void fill(const char *part)
{
	size_t length = strlen(part);

	for (size_t i = 0; i + length <= LONG; i += length)
		memcpy(text + i, part, length);
	text[LONG / length * length] = '\0';
}

/* All checks over the tree as it is now. */
static void examine(void)
{
	struct error err = ERROR_INIT;
	struct exam exam = { .root = root, .cycle_ns = NSEC_PER_MSEC, .rt_priority = 80 };

	strcpy(exam.nic.name, "x0");
	tree_write(root, CPU "/online", "0-3\n");
	assert_int_equal(exam_gather(&exam, 0, &err), 0);
	for (size_t i = 0; i < doctor_count(); i++) {
		struct finding finding;

		doctor_judge(&exam, doctor_check(i), &finding);
		assert_in_range(finding.verdict, VERDICT_OK, VERDICT_UNKNOWN);
		assert_true(finding.value[0]);
		/* one line, printable, whatever the files say */
		for (const char *c = finding.value; *c; c++)
			assert_true((unsigned char)*c >= ' ' && *c != 0x7f);
		for (const char *c = finding.fix; *c; c++)
			assert_true((unsigned char)*c >= ' ' && *c != 0x7f);
		finding_free(&finding);
	}
	exam_free(&exam);
}

static void the_same_in_all_files(void **state)
{
	static const char *const rubbish[] = {
		"",
		"\n",
		"-",
		"99999999999999999999",
		"-99999999999999999999",
		"9223372036854775807",
		"-9223372036854775808",
		"9007199254740993",
		"\xff\xfe\x01",
		"\x1b[31mred\x07\n\n\n",
		"[",
		"]",
		"a[b",
		"(",
		":::\n:",
		"CPU CPU0 CPU99999999\n:\n5:\n5: x\n6: 1 2 3 4 5 6 7 8 9\n",
		"DEVTYPE=",
		"Max realtime priority",
		"\nCapEff:",
		"\nCpus_allowed_list:",
		"2:cpu:",
		"0-4294967295",
		"7 (",
		"7 ()",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rubbish) / sizeof(rubbish[0]); i++) {
		tree_make(root);
		for (size_t j = 0; j < FILES; j++)
			tree_write(root, files[j][0], rubbish[i]);
		examine();
		tree_remove(root);
	}
}

static void long_lines(void **state)
{
	static const char *const parts[] = { "x",  "1",   "0,", "1-2,", " CPU1",   "\n",
					     ": ", "[a]", "(",  "/a",   "2:cpu:/", "f,f" };

	(void)state;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		tree_make(root);
		fill(parts[i]);
		for (size_t j = 0; j < FILES; j++)
			tree_write(root, files[j][0], text);
		examine();
		tree_remove(root);
	}
}

/* What may stand there, with some bytes changed, cut off, or doubled. The same in each run. */
static void damaged(void **state)
{
	uint64_t random = 88172645463325252ULL; /* Marsaglia, Xorshift RNGs, 2003 */

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		tree_make(root);
		for (size_t j = 0; j < FILES; j++) {
			size_t length = strlen(files[j][1]), changes;

			memcpy(text, files[j][1], length + 1);
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			changes = random >> 60;
			if (!(random >> 8 & 7)) {
				memcpy(text + length, files[j][1], length + 1);
				length *= 2;
			}
			for (size_t k = 0; k < changes; k++) {
				random ^= random << 13;
				random ^= random >> 7;
				random ^= random << 17;
				text[random % length] = (char)(random >> 32 & 0xff ? random >> 32
										   : ' ');
			}
			if (!(random >> 16 & 7))
				text[random % length] = '\0';
			tree_write(root, files[j][0], text);
		}
		examine();
		tree_remove(root);
	}
}

/* A pipe in place of a file is not waited for. */
static void pipes(void **state)
{
	char path[256];

	(void)state;
	tree_make(root);
	for (size_t j = 0; j < FILES; j++) {
		tree_write(root, files[j][0], "");
		snprintf(path, sizeof(path), "%s%s", root, files[j][0]);
		assert_int_equal(remove(path), 0);
		assert_int_equal(mkfifo(path, 0600), 0);
	}
	alarm(60);
	examine();
	alarm(0);
	tree_remove(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_in_all_files),
		cmocka_unit_test(long_lines),
		cmocka_unit_test(damaged),
		cmocka_unit_test(pipes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/* The doctor's checks of what this process, and so a publisher started like it, may do. */
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "host/doctor.h"
#include "host/facts.h"

/* The effective capabilities; false where they cannot be read. */
static bool capabilities(const struct exam *exam, uint64_t *set)
{
	char *status = fact_file(exam->root, "/proc/self/status", 65536);
	const char *line = status ? strstr(status, "\nCapEff:") : NULL;

	if (line)
		*set = strtoull(line + 8, NULL, 16);
	free(status);
	return line;
}

static bool has(uint64_t set, int capability)
{
	return set >> capability & 1;
}

/* The soft limit of a row of /proc/self/limits; -1: unlimited; false where it cannot be read. */
static bool limit(const struct exam *exam, const char *row, int64_t *value)
{
	char *limits = fact_file(exam->root, "/proc/self/limits", 65536);
	const char *line = limits ? strstr(limits, row) : NULL;

	if (line) {
		line += strlen(row);
		line += strspn(line, " ");
		*value = !strncmp(line, "unlimited", 9) ? -1 : atoll(line);
	}
	free(limits);
	return line;
}

static void rtprio(const struct exam *exam, struct finding *finding)
{
	uint64_t caps;
	int64_t max;

	if (capabilities(exam, &caps) && has(caps, CAP_SYS_NICE)) {
		finding_is(finding, VERDICT_OK, "CAP_SYS_NICE");
		return;
	}
	if (!limit(exam, "Max realtime priority", &max)) {
		finding_is(finding, VERDICT_UNKNOWN, "/proc/self/limits is not readable");
	} else if (max < 0 || max >= exam->rt_priority) {
		finding_is(finding, VERDICT_OK, "RLIMIT_RTPRIO allows %d", exam->rt_priority);
	} else {
		finding_is(finding, VERDICT_BAD, "RLIMIT_RTPRIO is %lld, no CAP_SYS_NICE",
			   (long long)max);
		finding_fix(finding,
			    "run as root, or give CAP_SYS_NICE, or in "
			    "/etc/security/limits.conf: @realtime - rtprio %d",
			    exam->rt_priority);
	}
}

/* What a publisher locks: program, buffers and thread stacks. */
#define MEMLOCK_NEEDED (64LL * 1024 * 1024)

static void memlock(const struct exam *exam, struct finding *finding)
{
	uint64_t caps;
	int64_t max;

	if (capabilities(exam, &caps) && has(caps, CAP_IPC_LOCK)) {
		finding_is(finding, VERDICT_OK, "CAP_IPC_LOCK");
		return;
	}
	if (!limit(exam, "Max locked memory", &max)) {
		finding_is(finding, VERDICT_UNKNOWN, "/proc/self/limits is not readable");
	} else if (max < 0 || max >= MEMLOCK_NEEDED) {
		finding_is(finding, VERDICT_OK, "RLIMIT_MEMLOCK allows it");
	} else {
		finding_is(finding, VERDICT_BAD, "RLIMIT_MEMLOCK is %lld KiB, no CAP_IPC_LOCK",
			   (long long)(max / 1024));
		finding_fix(finding, "run as root, or give CAP_IPC_LOCK, or in "
				     "/etc/security/limits.conf: @realtime - memlock unlimited");
	}
}

/* A control group without real-time budget refuses SCHED_FIFO with EPERM, also to root. */
static void rt_budget(const struct exam *exam, struct finding *finding)
{
	char *groups = fact_file(exam->root, "/proc/self/cgroup", 65536);
	char path[512] = "";
	int64_t runtime;

	for (char *line = groups; line && *line;) {
		char *end = strchr(line, '\n');
		char *controllers = strchr(line, ':');
		char *group = controllers ? strchr(controllers + 1, ':') : NULL;

		if (end)
			*end = '\0';
		if (group) {
			*group = '\0';
			/* "cpu" or "cpu,cpuacct", but not "cpuset" */
			if (!strcmp(controllers + 1, "cpu") ||
			    !strncmp(controllers + 1, "cpu,", 4) ||
			    strstr(controllers + 1, ",cpu,"))
				snprintf(path, sizeof(path), "%s", group + 1);
		}
		if (!end)
			break;
		line = end + 1;
	}
	if (!groups) {
		finding_is(finding, VERDICT_UNKNOWN, "/proc/self/cgroup is not readable");
	} else if (!path[0] || strstr(path, "..") ||
		   (fact_number(exam->root, &runtime, "/sys/fs/cgroup/cpu%s/cpu.rt_runtime_us",
				path) &&
		    fact_number(exam->root, &runtime,
				"/sys/fs/cgroup/cpu,cpuacct%s/cpu.rt_runtime_us", path))) {
		finding_is(finding, VERDICT_OK, "control groups take no budget here");
	} else if (runtime > 0 || runtime == -1) {
		finding_is(finding, VERDICT_OK, "%lld us", (long long)runtime);
	} else {
		finding_is(finding, VERDICT_BAD,
			   "control group %.128s has none: SCHED_FIFO is "
			   "refused",
			   path);
		finding_fix(finding,
			    "echo 950000 > /sys/fs/cgroup/cpu%.128s/cpu.rt_runtime_us (the groups "
			    "above it first), or start it from the root group: echo $$ > "
			    "/sys/fs/cgroup/cpu/cgroup.procs",
			    path);
	}
	free(groups);
}

static void privileges(const struct exam *exam, struct finding *finding)
{
	static const struct {
		int capability;
		const char *name;
	} wanted[] = {
		{ CAP_NET_RAW, "CAP_NET_RAW" },   { CAP_NET_ADMIN, "CAP_NET_ADMIN" },
		{ CAP_SYS_NICE, "CAP_SYS_NICE" }, { CAP_BPF, "CAP_BPF" },
		{ CAP_PERFMON, "CAP_PERFMON" },
	};
	char missing[128] = "";
	uint64_t caps;

	if (!capabilities(exam, &caps)) {
		finding_is(finding, VERDICT_UNKNOWN, "/proc/self/status is not readable");
		return;
	}
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		size_t used = strlen(missing);

		/* CAP_SYS_ADMIN includes CAP_BPF and CAP_PERFMON */
		if (has(caps, wanted[i].capability) ||
		    (wanted[i].capability >= CAP_PERFMON && has(caps, CAP_SYS_ADMIN)))
			continue;
		snprintf(missing + used, sizeof(missing) - used, "%s%s", used ? ", " : "",
			 wanted[i].name);
	}
	if (!missing[0]) {
		finding_is(finding, VERDICT_OK, "all that the commands need");
	} else {
		finding_is(finding, VERDICT_WARN, "missing: %s", missing);
		finding_fix(finding, "run as root, or: setcap "
				     "cap_net_raw,cap_net_admin,cap_sys_nice,cap_ipc_lock,cap_bpf,"
				     "cap_perfmon+ep $(command -v tsnpub)");
	}
}

static void own_cpus(const struct exam *exam, struct finding *finding)
{
	char *status = fact_file(exam->root, "/proc/self/status", 65536);
	const char *line = status ? strstr(status, "\nCpus_allowed_list:") : NULL;
	struct cpulist allowed, missing;
	char text[CPULIST_TEXT];

	if (line) {
		snprintf(text, sizeof(text), "%.*s", (int)strcspn(line + 19, "\n"), line + 19);
		for (char *p = text; *p; p++)
			if (*p == '\t')
				*p = ' ';
	}
	free(status);
	if (!line || cpulist_parse(text, &allowed)) {
		finding_is(finding, VERDICT_UNKNOWN, "/proc/self/status is not readable");
		return;
	}
	missing = cpulist_without(&exam->cpus, &allowed);
	/* isolated CPUs are not in the affinity that is inherited, and may be chosen all the same */
	missing = cpulist_without(&missing, &exam->isolated);
	if (cpulist_empty(&missing)) {
		finding_is(finding, VERDICT_OK, "the real-time CPUs may be used");
		return;
	}
	finding_is(finding, VERDICT_WARN, "started with CPU %s only",
		   cpulist_format(&allowed, text, sizeof(text)));
	finding_fix(finding,
		    "the cyclic thread sets its own affinity; if that is refused, widen the "
		    "cpuset of its control group (AllowedCPUs=)");
}

struct rivals {
	const struct exam *exam;
	int count, first;
	char names[160];
};

/* Threads of the kernel that stand above everyone by design and run briefly. */
static bool is_kernels_own(const struct thread_fact *thread)
{
	return thread->kernel &&
	       (!strncmp(thread->name, "migration/", 10) || !strncmp(thread->name, "irq/", 4) ||
		!strncmp(thread->name, "idle_inject", 11) ||
		!strncmp(thread->name, "watchdog", 8) || !strncmp(thread->name, "cpuhp/", 6) ||
		!strncmp(thread->name, "rcu", 3));
}

static bool rival(const struct thread_fact *thread, void *context)
{
	struct rivals *rivals = context;
	const struct exam *exam = rivals->exam;
	struct cpulist allowed = { 0 };
	char status[4096];
	const char *line;
	size_t used = strlen(rivals->names);

	if ((thread->policy != SCHED_FIFO && thread->policy != SCHED_RR) ||
	    thread->rt_priority < exam->rt_priority || is_kernels_own(thread))
		return true;
	if (fact_text(exam->root, status, sizeof(status), "/proc/%d/task/%d/status", thread->pid,
		      thread->tid) <= 0)
		return true;
	line = strstr(status, "\nCpus_allowed_list:");
	if (line) {
		char text[CPULIST_TEXT];

		line += 19;
		line += strspn(line, " \t");
		snprintf(text, sizeof(text), "%.*s", (int)strcspn(line, "\n"), line);
		cpulist_parse(text, &allowed);
	}
	if (!cpulist_overlap(&allowed, &exam->cpus))
		return true;
	if (!rivals->count)
		rivals->first = thread->tid;
	if (rivals->count++ < 4)
		snprintf(rivals->names + used, sizeof(rivals->names) - used, "%s%.16s[%d] %s %d",
			 used ? ", " : "", thread->name, thread->tid,
			 thread->policy == SCHED_FIFO ? "FIFO" : "RR", thread->rt_priority);
	return true;
}

static void rivals(const struct exam *exam, struct finding *finding)
{
	struct rivals found = { .exam = exam };
	char rest[CPULIST_TEXT];

	if (fact_threads(exam->root, true, rival, &found) < 0) {
		finding_is(finding, VERDICT_UNKNOWN, "/proc is not readable");
	} else if (!found.count) {
		finding_is(finding, VERDICT_OK, "nobody has priority %d or more there",
			   exam->rt_priority);
	} else {
		finding_costs(exam, finding, 0, "%d: %s%s", found.count, found.names,
			      found.count > 4 ? " ..." : "");
		if (cpulist_empty(&exam->housekeeping))
			finding_fix(finding, "chrt -f -p %d %d",
				    exam->rt_priority > 1 ? exam->rt_priority - 1 : 1, found.first);
		else
			finding_fix(finding,
				    "taskset -p -c %s %d, or a lower priority: chrt -f -p %d %d",
				    cpulist_format(&exam->housekeeping, rest, sizeof(rest)),
				    found.first, exam->rt_priority > 1 ? exam->rt_priority - 1 : 1,
				    found.first);
	}
}

static const struct check checks[] = {
	{ "rtprio", GROUP_PROCESS, "without SCHED_FIFO any other thread is let in first", 0,
	  rtprio },
	{ "memlock", GROUP_PROCESS, "memory that is not locked can fault in the loop", 0, memlock },
	{ "rt-budget", GROUP_PROCESS, "a control group may refuse or stop real-time threads", 0,
	  rt_budget },
	{ "privileges", GROUP_PROCESS, "each command names what it needs and drops the rest", 0,
	  privileges },
	{ "own-cpus", GROUP_PROCESS, "a thread can only run where its cpuset allows", 0, own_cpus },
	{ "rivals", GROUP_PROCESS, "real-time threads of the same or higher priority run first",
	  NSEC_PER_MSEC, rivals },
};

const struct check_table checks_process = { checks, sizeof(checks) / sizeof(checks[0]) };

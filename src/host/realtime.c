// SPDX-License-Identifier: GPL-2.0-only
#include "host/realtime.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/units.h"
#include "host/capability.h"

#define CPUS_MAX 4096
#define STACK_DEFAULT (128 * 1024) /* of locked memory */
#define STACK_TOUCHED (64 * 1024)

/* sched_setattr(2): the C library of this age has no wrapper and no structure for it */
struct deadline_attr {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime;
	uint64_t deadline;
	uint64_t period;
};

void realtime_init(struct realtime *rt, const struct realtime_request *request)
{
	memset(rt, 0, sizeof(*rt));
	rt->request = *request;
	rt->cpu = REALTIME_CPU_NONE;
	rt->latency_fd = -1;
}

__attribute__((format(printf, 2, 3))) static void shortfall(struct realtime *rt, const char *format,
							    ...)
{
	va_list args;

	if (rt->shortfalls == REALTIME_SHORTFALLS_MAX)
		return;
	va_start(args, format);
	vsnprintf(rt->shortfall[rt->shortfalls++], REALTIME_TEXT, format, args);
	va_end(args);
}

/* VmLck of /proc/self/status in KiB, -1 when unknown. */
static long locked_kib(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];
	long kib = -1;

	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "VmLck: %ld", &kib) == 1)
			break;
	fclose(file);
	return kib;
}

static void lock_memory(struct realtime *rt)
{
	/* one arena that is never given back: locked memory must not grow by a heap for each thread */
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_TRIM_THRESHOLD, -1);
	/* what the set-up has freed would be locked with the rest */
	malloc_trim(0);
	if (mlockall(MCL_CURRENT | MCL_FUTURE) < 0) {
		int reason = errno;

		/* half locked would be worse than not: later allocations would fail at the limit */
		munlockall();
		shortfall(rt,
			  "memory is not locked, page faults will delay wake-ups: mlockall: %s; "
			  "run as root, or give CAP_IPC_LOCK or a larger `ulimit -l`",
			  strerror(reason));
		return;
	}
	if (locked_kib() == 0) {
		shortfall(rt, "memory is not locked although mlockall succeeded (VmLck: 0 kB)");
		return;
	}
	rt->memory_locked = true;
}

static void hold_latency(struct realtime *rt)
{
	static const char path[] = "/dev/cpu_dma_latency";
	int32_t latency_us = 0, effective_us = -1;
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0 || write(fd, &latency_us, sizeof(latency_us)) != sizeof(latency_us)) {
		int reason = errno;

		if (fd >= 0)
			close(fd);
		shortfall(rt, "CPU sleep states are not held off: %s: %s%s", path, strerror(reason),
			  reason == EACCES || reason == EPERM ? "; run as root" : "");
		return;
	}
	rt->latency_fd = fd;
	if (read(fd, &effective_us, sizeof(effective_us)) != sizeof(effective_us) ||
	    effective_us != 0) {
		shortfall(rt,
			  "CPU sleep states are not held off: %s reads %d us after 0 was written",
			  path, effective_us);
		return;
	}
	rt->latency_held = true;
}

void realtime_process(struct realtime *rt)
{
	lock_memory(rt);
	hold_latency(rt);
}

void realtime_release(struct realtime *rt)
{
	if (rt->latency_fd >= 0)
		close(rt->latency_fd); /* closing withdraws the request */
	rt->latency_fd = -1;
	if (rt->memory_locked)
		munlockall();
}

int realtime_choose_cpu(void)
{
	FILE *file = fopen("/sys/devices/system/cpu/isolated", "re");
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
	int cpu = -1;

	if (file) {
		if (fscanf(file, "%d", &cpu) != 1)
			cpu = -1;
		fclose(file);
	}
	if (cpu < 0 && set && sched_getaffinity(0, size, set) == 0)
		for (int i = 0; i < CPUS_MAX; i++)
			if (CPU_ISSET_S(i, size, set))
				cpu = i;
	CPU_FREE(set);
	return cpu < 0 ? 0 : cpu;
}

/* The one CPU that the calling thread may run on, or REALTIME_CPU_NONE. */
static int only_cpu(void)
{
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
	int cpu = REALTIME_CPU_NONE;

	if (set && sched_getaffinity(0, size, set) == 0 && CPU_COUNT_S(size, set) == 1)
		for (int i = 0; cpu == REALTIME_CPU_NONE; i++)
			if (CPU_ISSET_S(i, size, set))
				cpu = i;
	CPU_FREE(set);
	return cpu;
}

static void pin(struct realtime *rt)
{
	int cpu = rt->request.cpu;
	cpu_set_t *set;
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);

	if (cpu == REALTIME_CPU_NONE || rt->request.policy == REALTIME_DEADLINE) {
		rt->cpu = only_cpu();
		return;
	}
	if (cpu == REALTIME_CPU_ANY)
		cpu = realtime_choose_cpu();
	set = CPU_ALLOC(CPUS_MAX);
	if (!set || cpu >= CPUS_MAX) {
		CPU_FREE(set);
		shortfall(rt, "the cyclic thread is not pinned to CPU %d: no memory for the mask",
			  cpu);
		return;
	}
	CPU_ZERO_S(size, set);
	CPU_SET_S(cpu, size, set);
	if (sched_setaffinity(0, size, set) < 0)
		shortfall(rt,
			  "the cyclic thread is not pinned to CPU %d: sched_setaffinity: %s; "
			  "the CPU must be online and in the cpuset of this control group",
			  cpu, strerror(errno));
	else if (only_cpu() != cpu)
		shortfall(
			rt,
			"the cyclic thread is not on CPU %d alone: the kernel changed its affinity",
			cpu);
	CPU_FREE(set);
	rt->cpu = only_cpu();
}

static const char *policy_name(enum realtime_policy policy)
{
	static const char *const names[] = { "SCHED_OTHER", "SCHED_FIFO", "SCHED_RR",
					     "SCHED_DEADLINE" };

	return names[policy];
}

/* Why the kernel refuses a real-time policy, and what to do. */
static const char *policy_fix(int reason, enum realtime_policy policy)
{
	if (reason != EPERM)
		return "";
	if (policy == REALTIME_DEADLINE && capability_have(CAP_SYS_NICE))
		return "; SCHED_DEADLINE needs the affinity of all CPUs of its cpuset: do not run "
		       "it under taskset";
	if (capability_have(CAP_SYS_NICE))
		return "; this control group has no real-time budget (cpu.rt_runtime_us): run it "
		       "in the root group";
	return "; run as root, or give CAP_SYS_NICE or a larger `ulimit -r`";
}

static int set_deadline(struct realtime *rt)
{
	/* the kernel's bounds (sched_deadline_period_min_us, ..._max_us): 100 us to 4.19 s */
	const int64_t period_min_ns = 100 * NSEC_PER_USEC, period_max_ns = 4 * NSEC_PER_SEC;
	int64_t period = rt->request.cycle_ns > 0 ? rt->request.cycle_ns : NSEC_PER_MSEC;
	struct deadline_attr attr = { .size = sizeof(attr), .policy = SCHED_DEADLINE };

	if (period < period_min_ns)
		period *= (period_min_ns + period - 1) / period;
	if (period > period_max_ns)
		period = period_max_ns;
	/* half of the CPU at most: the kernel admits 95 % in all */
	rt->runtime_ns = period / 2 < 10 * NSEC_PER_MSEC ? period / 2 : 10 * NSEC_PER_MSEC;
	rt->period_ns = period;
	attr.runtime = (uint64_t)rt->runtime_ns;
	attr.deadline = (uint64_t)period;
	attr.period = (uint64_t)period;
	return (int)syscall(SYS_sched_setattr, 0, &attr, 0);
}

static void set_policy(struct realtime *rt)
{
	enum realtime_policy wanted = rt->request.policy;
	struct sched_param param = { .sched_priority = 0 };
	int result;

	if (wanted == REALTIME_DEADLINE) {
		result = set_deadline(rt);
	} else {
		if (wanted != REALTIME_OTHER)
			param.sched_priority = rt->request.priority;
		result = sched_setscheduler(0,
					    wanted == REALTIME_FIFO ? SCHED_FIFO
					    : wanted == REALTIME_RR ? SCHED_RR
								    : SCHED_OTHER,
					    &param);
	}
	int reason = errno;

	/* what counts is what the kernel says now, of this very thread */
	switch (sched_getscheduler(0)) {
	case SCHED_FIFO:
		rt->policy = REALTIME_FIFO;
		break;
	case SCHED_RR:
		rt->policy = REALTIME_RR;
		break;
	case SCHED_DEADLINE:
		rt->policy = REALTIME_DEADLINE;
		break;
	default:
		rt->policy = REALTIME_OTHER;
	}
	param.sched_priority = 0;
	sched_getparam(0, &param);
	rt->priority = param.sched_priority;
	if (result < 0)
		shortfall(rt, "the cyclic thread runs as %s, not as %s: %s%s",
			  policy_name(rt->policy), policy_name(wanted), strerror(reason),
			  policy_fix(reason, wanted));
	else if (rt->policy != wanted || ((wanted == REALTIME_FIFO || wanted == REALTIME_RR) &&
					  rt->priority != rt->request.priority))
		shortfall(rt,
			  "the cyclic thread runs as %s %d, not as %s %d: the kernel changed it",
			  policy_name(rt->policy), rt->priority, policy_name(wanted),
			  rt->request.priority);
}

static void touch_stack(void)
{
	volatile unsigned char room[STACK_TOUCHED];

	for (size_t i = 0; i < sizeof(room); i += 1024)
		room[i] = 1;
}

void realtime_leave_restartable_sequences(void)
{
#ifdef RSEQ_SIG
	struct rseq *area = (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);

	/* where it is registered under another size, nothing changes */
	if (__rseq_size)
		syscall(SYS_rseq, area, sizeof(*area), RSEQ_FLAG_UNREGISTER, RSEQ_SIG);
#endif
}

void realtime_thread(struct realtime *rt)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	touch_stack();
	prctl(PR_SET_TIMERSLACK, 1UL, 0, 0, 0); /* matters where no real-time policy could be had */
	pin(rt);
	set_policy(rt);
}

int realtime_thread_create(pthread_t *thread, void *(*run)(void *), void *arg, size_t stack_size)
{
	pthread_attr_t attr;
	sigset_t all, before;
	int result;

	result = pthread_attr_init(&attr);
	if (result)
		return result;
	result = pthread_attr_setstacksize(&attr, stack_size ? stack_size : STACK_DEFAULT);
	if (!result) {
		/* inherited by the new thread: there is no moment in which it could take a signal */
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		result = pthread_create(thread, &attr, run, arg);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	pthread_attr_destroy(&attr);
	return result;
}

char *realtime_describe(const struct realtime *rt, char buffer[REALTIME_TEXT])
{
	char policy[64], cpu[32], runtime[DURATION_TEXT], period[DURATION_TEXT];

	if (rt->policy == REALTIME_DEADLINE)
		snprintf(policy, sizeof(policy), "SCHED_DEADLINE %s in %s",
			 format_duration(rt->runtime_ns, runtime),
			 format_duration(rt->period_ns, period));
	else if (rt->policy == REALTIME_OTHER)
		snprintf(policy, sizeof(policy), "%s", policy_name(rt->policy));
	else
		snprintf(policy, sizeof(policy), "%s %d", policy_name(rt->policy), rt->priority);
	if (rt->cpu >= 0)
		snprintf(cpu, sizeof(cpu), "CPU %d", rt->cpu);
	else
		snprintf(cpu, sizeof(cpu), "any CPU");
	snprintf(buffer, REALTIME_TEXT, "%s on %s, memory %slocked, CPU sleep states %s", policy,
		 cpu, rt->memory_locked ? "" : "not ", rt->latency_held ? "held off" : "allowed");
	return buffer;
}

int realtime_parse_policy(const char *what, const char *text, enum realtime_policy *policy,
			  struct error *err)
{
	static const struct {
		const char *name;
		enum realtime_policy policy;
	} names[] = {
		{ "fifo", REALTIME_FIFO },
		{ "rr", REALTIME_RR },
		{ "deadline", REALTIME_DEADLINE },
		{ "other", REALTIME_OTHER },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(text, names[i].name)) {
			*policy = names[i].policy;
			return 0;
		}
	return error_input(err, "%s '%.64s': unknown policy; use fifo, rr, deadline or other", what,
			   text);
}

int realtime_parse_cpu(const char *what, const char *text, int *cpu, struct error *err)
{
	long configured = sysconf(_SC_NPROCESSORS_CONF);
	uint64_t number;
	char path[64];
	char online = '1';
	int fd;

	if (parse_number(what, text, 0, configured > 0 ? (uint64_t)configured - 1 : 0, &number,
			 err) < 0)
		return -1;
	/* CPU 0 often has no such file, since it cannot be taken offline */
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", (unsigned)number);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		if (read(fd, &online, 1) != 1)
			online = '1';
		close(fd);
	}
	if (online != '1')
		return error_input(err, "%s '%s': this CPU is offline; echo 1 > %s", what, text,
				   path);
	*cpu = (int)number;
	return 0;
}

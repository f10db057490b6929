// SPDX-License-Identifier: GPL-2.0-only
/* What can be done about a culprit: commands wherever there are some. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/blame_report.h"

struct place {
	int cpu;
	const char *others;
	bool ordinary;
	char *buffer;
};

static void say(const struct place *place, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void say(const struct place *place, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(place->buffer, BLAME_ADVICE, format, args);
	va_end(args);
}

static void move_irq(const struct place *place, unsigned int irq)
{
	if (*place->others)
		say(place, "move it: echo %s > /proc/irq/%u/smp_affinity_list", place->others, irq);
	else
		say(place, "there is no other CPU to move it to");
}

static void on_softirq(const struct place *place, uint32_t vector)
{
	switch (vector) {
	case 2: /* NET_TX */
	case 3: /* NET_RX */
		say(place, "move the network device's interrupts and queues to other CPUs (tsnpub "
			   "doctor --iface NAME --fix), or receive by busy polling");
		break;
	case 1: /* TIMER */
	case 8: /* HRTIMER */
		say(place,
		    "boot with isolcpus=%d nohz_full=%d, and start what sets timers on others",
		    place->cpu, place->cpu);
		break;
	case 4: /* BLOCK */
	case 5: /* IRQ_POLL */
		say(place, "move the disk's interrupts to other CPUs: tsnpub doctor --fix");
		break;
	case 9: /* RCU */
		say(place, "boot with rcu_nocbs=%d", place->cpu);
		break;
	case 7: /* SCHED */
		say(place, "boot with isolcpus=%d: it then takes no part in load balancing",
		    place->cpu);
		break;
	default:
		say(place,
		    "find the driver that raises it (its interrupt stands in `tsnpub latency "
		    "--blame`) and move that interrupt away");
	}
}

static void on_vector(const struct place *place, uint32_t vector)
{
	if (vector == BLAME_LOCAL_TIMER)
		say(place, "keep other timers and the tick off: boot with isolcpus=%d nohz_full=%d",
		    place->cpu, place->cpu);
	else if (vector == BLAME_THERMAL)
		say(place, "mend the cooling");
	else
		say(place,
		    "other CPUs ask this one to do something: boot with isolcpus=%d nohz_full=%d "
		    "rcu_nocbs=%d",
		    place->cpu, place->cpu, place->cpu);
}

/* The timer of a sleep: of whom only the CPU's threads can tell. */
static void on_sleeper(const struct place *place)
{
	if (*place->others)
		say(place,
		    "a thread sleeps on this CPU: for t in $(ps -eLo psr=,tid= | awk '$1 == %d { "
		    "print $2 }'); do taskset -p -c %s $t; done",
		    place->cpu, place->others);
	else
		say(place, "a thread sleeps on this CPU: ps -eLo psr,tid,rtprio,comm --sort psr");
}

static void on_timer(const struct place *place, const char *symbol)
{
	static const struct {
		const char *name, *advice;
	} callbacks[] = {
		{ "sched_rt_period_timer", "echo -1 > /proc/sys/kernel/sched_rt_runtime_us" },
		{ "sched_cfs_period_timer",
		  "no CPU quota for what runs here: systemctl set-property "
		  "UNIT CPUQuota=" },
		{ "watchdog_timer_fn", "echo 0 > /proc/sys/kernel/watchdog" },
		{ "perf_mux_hrtimer_handler", "end what counts events: pkill perf" },
		{ "perf_swevent_hrtimer", "end what counts events: pkill perf" },
	};
	const char *module = strchr(symbol, '[');

	for (size_t i = 0; i < sizeof(callbacks) / sizeof(callbacks[0]); i++)
		if (!strcmp(symbol, callbacks[i].name)) {
			say(place, "%s", callbacks[i].advice);
			return;
		}
	if (!strncmp(symbol, "tick_", strlen("tick_")))
		say(place, "the tick: boot with nohz_full=%d", place->cpu);
	else if (!strcmp(symbol, "hrtimer_wakeup"))
		on_sleeper(place);
	else if (module && *place->others)
		say(place,
		    "a driver's timer: start what uses it elsewhere: taskset -c %s COMMAND; or "
		    "unload it: modprobe -r %.*s",
		    place->others, (int)strcspn(module + 1, "]"), module + 1);
	else
		say(place, "see what has set it: grep -F -B 1 -A 2 '%.40s' /proc/timer_list",
		    *symbol ? symbol : "#");
}

/* Threads of the kernel that belong to this CPU cannot be moved. True: said what can be done. */
static bool on_kernel_thread(const struct place *place, const char *name)
{
	unsigned int irq;

	if (sscanf(name, "irq/%u-", &irq) == 1)
		move_irq(place, irq);
	else if (!strncmp(name, "ksoftirqd/", 10))
		say(place,
		    "soft interrupts that were put off: see which in the table of interrupts; "
		    "move their devices' interrupts: tsnpub doctor --fix");
	else if (!strncmp(name, "rcuc/", 5) || !strncmp(name, "rcuo", 4) ||
		 !strncmp(name, "rcu_", 4))
		say(place, "boot with rcu_nocbs=%d", place->cpu);
	else if (!strncmp(name, "migration/", 10))
		say(place,
		    "threads are moved between CPUs: boot with isolcpus=%d, and pin threads from "
		    "their start: taskset -c",
		    place->cpu);
	else if (!strncmp(name, "kworker/u", 9) && *place->others)
		say(place,
		    "keep unbound work off: boot with isolcpus=%d nohz_full=%d, or write the mask "
		    "of "
		    "CPUs %s to /sys/devices/virtual/workqueue/cpumask",
		    place->cpu, place->cpu, place->others);
	else if (!strncmp(name, "kworker/", 8))
		say(place,
		    "work that a driver has queued on this CPU: boot with isolcpus=%d "
		    "nohz_full=%d, and start what uses the driver elsewhere",
		    place->cpu, place->cpu);
	else
		return false;
	return true;
}

static void on_thread(const struct place *place, const struct blame_part *part)
{
	if (on_kernel_thread(place, part->name))
		return;
	if (place->ordinary && !part->priority) {
		say(place, "the cyclic thread shares the CPU with others: let it have a real-time "
			   "policy (--policy fifo, as root or with CAP_SYS_NICE)");
		return;
	}
	if (part->priority && *place->others)
		say(place, "taskset -p -c %s %u, or lower its priority: chrt -f -p 1 %u",
		    place->others, part->number, part->number);
	else if (*place->others)
		say(place,
		    "it was in kernel code that is not preempted: taskset -p -c %s %u, and use a "
		    "PREEMPT_RT kernel",
		    place->others, part->number);
	else if (part->priority)
		say(place, "lower its priority: chrt -f -p 1 %u", part->number);
	else
		say(place, "it was in kernel code that is not preempted: use a PREEMPT_RT kernel");
}

char *blame_advice(const struct blame_part *part, const char *symbol,
		   const struct blame_place *where, char buffer[BLAME_ADVICE])
{
	const struct place place = { where->cpu, where->others, where->ordinary, buffer };

	buffer[0] = '\0';
	switch (part->category) {
	case BLAME_PART_IRQ:
		move_irq(&place, part->number);
		break;
	case BLAME_PART_VECTOR:
		on_vector(&place, part->number);
		break;
	case BLAME_PART_TIMER:
		on_timer(&place, symbol);
		break;
	case BLAME_PART_SOFTIRQ:
		on_softirq(&place, part->number);
		break;
	case BLAME_PART_THREAD:
		on_thread(&place, part);
		break;
	case BLAME_PART_IRQS_OFF:
		say(&place, "taskset -p -c %s %u; `--tracer irqsoff` shows the code",
		    *place.others ? place.others : "OTHER-CPU", part->number);
		break;
	case BLAME_PART_UNSEEN:
		say(&place,
		    "tsnpub latency --tracer hwlat tells firmware (SMI) from sleep states; in "
		    "a virtual machine it is the hypervisor");
		break;
	case BLAME_PART_AWAY:
		say(&place, "nothing held this CPU: look at the sender (its launch error, its "
			    "--blame), the switches between, and the NIC's interrupt moderation");
		break;
	case BLAME_PART_LOST:
		say(&place, "a flood: the table of interrupts tells which came most often");
		break;
	case BLAME_PART_ARMED_LATE:
		say(&place,
		    "whole milliseconds are too coarse: sleep by clock_nanosleep or timerfd");
		break;
	case BLAME_PART_THROTTLED:
		if (where->fair_server)
			say(&place, "echo 0 > /sys/kernel/debug/sched/fair_server/cpu%d/runtime",
			    place.cpu);
		else
			say(&place, "echo -1 > /proc/sys/kernel/sched_rt_runtime_us");
		break;
	case BLAME_PART_OWN:
		say(&place,
		    "its work of the cycle before took too long: a longer cycle, or less to "
		    "do");
		break;
	default:
		break;
	}
	return buffer;
}

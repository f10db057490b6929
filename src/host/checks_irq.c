// SPDX-License-Identifier: GPL-2.0-only
/* The doctor's checks of interrupts and of what the kernel runs on its own on the real-time CPUs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "host/doctor.h"
#include "host/facts.h"
#include "host/irq.h"

struct name_search {
	const char *name;
	int pid; /* 0: not there */
};

static bool search_name(const struct thread_fact *thread, void *context)
{
	struct name_search *search = context;

	if (strcmp(thread->name, search->name))
		return true;
	search->pid = thread->pid;
	return false;
}

static void irqbalance(const struct exam *exam, struct finding *finding)
{
	struct name_search search = { "irqbalance", 0 };
	struct change change = { .kind = CHANGE_SERVICE,
				 .target = "irqbalance",
				 .value = "stopped" };

	if (fact_threads(exam->root, false, search_name, &search) < 0) {
		finding_is(finding, VERDICT_UNKNOWN, "/proc is not readable");
	} else if (!search.pid) {
		finding_is(finding, VERDICT_OK, "not running");
	} else {
		finding_costs(exam, finding, 0, "running (pid %d)", search.pid);
		finding_change(finding, &change, false);
	}
}

/* Interrupts that may run on a real-time CPU: how many, and the first few names. */
static void irq_affinity(const struct exam *exam, struct finding *finding)
{
	char names[160] = "", rest[CPULIST_TEXT], numbers[480] = "";
	int total = 0, here = 0, listed = 0;

	if (exam->irq_count < 0) {
		finding_is(finding, VERDICT_UNKNOWN, "/proc/interrupts is not readable");
		return;
	}
	cpulist_format(&exam->housekeeping, rest, sizeof(rest));
	for (int i = 0; i < exam->irq_count; i++) {
		const struct irq *irq = &exam->irqs[i];
		struct change change = { .kind = CHANGE_FILE, .optional = true };
		size_t used = strlen(names);

		if (irq->number < 0 || !irq->known)
			continue;
		total++;
		if (!cpulist_overlap(&irq->effective, &exam->cpus))
			continue;
		here++;
		if (here <= 4 && used < sizeof(names) - 40)
			snprintf(names + used, sizeof(names) - used, "%s%s %.24s", used ? ", " : "",
				 irq->label, irq->name);
		used = strlen(numbers);
		if (used + strlen(irq->label) + 1 < sizeof(numbers)) {
			snprintf(numbers + used, sizeof(numbers) - used, "%s%s", used ? " " : "",
				 irq->label);
			listed++;
		}
		snprintf(change.target, sizeof(change.target), "/proc/irq/%d/smp_affinity_list",
			 irq->number);
		snprintf(change.value, sizeof(change.value), "%s", rest);
		if (rest[0])
			finding_change(finding, &change, true);
	}
	if (!total) {
		finding_is(finding, VERDICT_UNKNOWN, "no affinity is readable below /proc/irq");
		return;
	}
	if (!here) {
		finding_is(finding, VERDICT_OK, "all %d are kept off the real-time CPUs", total);
		return;
	}
	finding_costs(exam, finding, 0, "%d of %d run on the real-time CPUs: %s%s", here, total,
		      names, here > 4 ? " ..." : "");
	if (!rest[0])
		finding_fix(finding, "no CPU is left for them: name fewer with --cpu");
	else if (listed == here && strlen(numbers) + strlen(rest) + 64 < sizeof(finding->fix))
		finding_fix(finding,
			    "for i in %s; do echo %s > /proc/irq/$i/smp_affinity_list; done",
			    numbers, rest);
	else /* more than one line holds */
		finding_fix(finding,
			    "for i in /proc/irq/[0-9]*; do echo %s > $i/smp_affinity_list; done",
			    rest);
}

static void irq_default(const struct exam *exam, struct finding *finding)
{
	char text[512], mask[CPULIST_TEXT];
	struct cpulist allowed;

	if (fact_text(exam->root, text, sizeof(text), "/proc/irq/default_smp_affinity") <= 0 ||
	    cpulist_parse_mask(text, &allowed)) {
		finding_is(finding, VERDICT_UNKNOWN,
			   "/proc/irq/default_smp_affinity is not readable");
		return;
	}
	if (!cpulist_overlap(&allowed, &exam->cpus)) {
		finding_is(finding, VERDICT_OK, "new interrupts stay off the real-time CPUs");
		return;
	}
	finding_costs(exam, finding, 0, "new interrupts may come to the real-time CPUs");
	if (!cpulist_empty(&exam->housekeeping))
		finding_change_file(finding,
				    cpulist_format_mask(&exam->housekeeping, mask, sizeof(mask)),
				    "/proc/irq/default_smp_affinity");
	else
		finding_fix(finding, "no CPU is left for them: name fewer with --cpu");
}

/* What really arrived there within the look that exam_gather() took. */
static void irq_activity(const struct exam *exam, struct finding *finding)
{
	uint64_t device = 0, all = 0, most = 0;
	const struct irq *busiest = NULL;

	if (exam->irq_count < 0 || !exam->irqs_before || exam->irq_seconds <= 0) {
		finding_is(finding, VERDICT_UNKNOWN, "the counters were not compared");
		return;
	}
	for (int i = 0; i < exam->irq_count; i++) {
		const struct irq *irq = &exam->irqs[i];
		const struct irq *before = irq_find(exam->irqs_before, exam->irqs_before_count,
						    irq->label);
		uint64_t count = before && irq->count > before->count ? irq->count - before->count
								      : 0;

		all += count;
		if (irq->number < 0)
			continue;
		device += count;
		if (count > most) {
			most = count;
			busiest = irq;
		}
	}
	if (!device) {
		finding_is(finding, VERDICT_OK,
			   "no device interrupt in %.1f s; %.0f/s others (timer, IPIs)",
			   exam->irq_seconds, (double)all / exam->irq_seconds);
		return;
	}
	finding_costs(exam, finding, 0, "%.0f device interrupts a second, most of them %s %.40s",
		      (double)device / exam->irq_seconds, busiest->label, busiest->name);
	finding_fix(finding, "move them away (irq-affinity); `tsnpub latency --blame` shows how "
			     "long each one holds the CPU");
}

/* Unbound kernel work may be kept off by a mask of its own. */
static void workqueues(const struct exam *exam, struct finding *finding)
{
	static const char path[] = "/sys/devices/virtual/workqueue/cpumask";
	char text[512], mask[CPULIST_TEXT];
	struct cpulist allowed;

	if (fact_text(exam->root, text, sizeof(text), "%s", path) <= 0 ||
	    cpulist_parse_mask(text, &allowed)) {
		finding_is(finding, VERDICT_UNKNOWN, "%s is not readable", path);
		return;
	}
	if (!cpulist_overlap(&allowed, &exam->cpus)) {
		finding_is(finding, VERDICT_OK, "unbound work stays off the real-time CPUs");
		return;
	}
	finding_costs(exam, finding, 0, "unbound kernel work may use the real-time CPUs");
	if (!cpulist_empty(&exam->housekeeping))
		finding_change_file(finding,
				    cpulist_format_mask(&exam->housekeeping, mask, sizeof(mask)),
				    "%s", path);
	else
		finding_fix(finding, "no CPU is left for it: name fewer with --cpu");
}

static const struct check checks[] = {
	{ "irqbalance", GROUP_IRQ, "it moves interrupts back to the real-time CPUs",
	  100 * NSEC_PER_USEC, irqbalance },
	/* an sdhci handler of 312 us: the deadline hunt of a field report */
	{ "irq-affinity", GROUP_IRQ, "a handler holds the CPU as long as it likes",
	  312 * NSEC_PER_USEC, irq_affinity },
	{ "irq-default", GROUP_IRQ, "a device that comes later (hotplug, driver reload) lands here",
	  20 * NSEC_PER_USEC, irq_default },
	{ "irq-activity", GROUP_IRQ, "interrupts that do arrive there delay the cyclic thread",
	  312 * NSEC_PER_USEC, irq_activity },
	{ "workqueues", GROUP_IRQ, "kernel work competes for the CPU and holds its locks",
	  20 * NSEC_PER_USEC, workqueues },
};

const struct check_table checks_irq = { checks, sizeof(checks) / sizeof(checks[0]) };

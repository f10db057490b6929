/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The doctor: one table of checks, each of which finds out one thing about the machine, judges it for the
 * cycle wanted, and says why it matters and how it is mended.
 *
 * A check sees the machine through `struct exam`: /proc and /sys below a root, and facts that were gathered
 * beforehand (network device, clock). So every branch of a check can be tested over a made-up tree.
 */
#ifndef HOST_DOCTOR_H
#define HOST_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "host/change.h"
#include "host/cpulist.h"
#include "host/nic_facts.h"

enum verdict {
	VERDICT_OK,
	VERDICT_WARN,
	VERDICT_BAD,
	VERDICT_UNKNOWN,
};
#define VERDICTS 4

enum check_group {
	GROUP_KERNEL,
	GROUP_CPU,
	GROUP_IRQ,
	GROUP_NIC,
	GROUP_CLOCK,
	GROUP_PROCESS,
};
#define GROUPS 6

struct irq;
struct finding;

/* What the checks look at. */
struct exam {
	const char *root; /* in front of /proc and /sys; "" for this machine */
	struct cpulist cpus; /* the real-time CPUs */
	int64_t cycle_ns;
	int rt_priority; /* of the cyclic thread, 1 to 99 */
	struct nic_facts nic; /* nic.name[0] is 0: no device was named */
	int tai_offset; /* seconds; EXAM_UNKNOWN where it was not read */
	/* gathered by exam_gather() */
	struct cpulist online, isolated,
		housekeeping; /* housekeeping: online without the real-time ones */
	char cmdline[4096];
	char *config; /* the kernel's, or NULL */
	bool realtime_kernel;
	struct irq *irqs;
	int irq_count; /* negative: not readable */
	struct irq *irqs_before; /* the same somewhat earlier, for rates; may be NULL */
	int irqs_before_count;
	double irq_seconds; /* between the two; 0: no rates */
};

#define EXAM_UNKNOWN (-100000)

/* One row of the table. */
struct check {
	const char *name; /* "rt-kernel": stable, for scripts */
	enum check_group group;
	const char *why; /* one line: what it does to determinism */
	int64_t cost_ns; /* what it may cost one cycle when wrong; 0: judge() says, or it has no measure */
	void (*judge)(const struct exam *exam, struct finding *finding);
};

struct finding {
	const struct check *check;
	enum verdict verdict;
	int64_t cost_ns; /* 0: not a matter of time */
	char value[256]; /* what was found */
	char fix[640]; /* what to do, exact; "" when nothing is to be done */
	char boot[256]; /* boot parameters, separated by blanks; "" */
	struct change *changes; /* what --fix does */
	size_t change_count;
	bool failed; /* out of memory */
};

/* The tables, one for each file of checks. */
struct check_table {
	const struct check *checks;
	size_t count;
};

extern const struct check_table checks_kernel, checks_cpu, checks_irq, checks_nic, checks_nic_power,
	checks_clock, checks_process;

/* --- For checks --- */

/* Sets verdict and value. */
void finding_is(struct finding *finding, enum verdict verdict, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Something that costs up to `cost_ns` in a cycle: bad from a tenth of the cycle on, a warning from a
 * hundredth, and good below that. `cost_ns` 0: the check's own.
 */
void finding_costs(const struct exam *exam, struct finding *finding, int64_t cost_ns,
		   const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The remedy in words or commands. */
void finding_fix(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A remedy that --fix can apply. Its command is appended to the fix text unless `quiet`. */
void finding_change(struct finding *finding, const struct change *change, bool quiet);
void finding_change_file(struct finding *finding, const char *value, const char *path, ...)
	__attribute__((format(printf, 3, 4)));

/* A boot parameter: "nohz_full=1". */
void finding_boot(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* --- For the command --- */

/*
 * Fills in what all checks need from exam->root, cpus, cycle_ns and the rest. Without real-time CPUs the
 * first isolated CPU is taken, else the last one online. `pause_ns` is slept between two looks at the
 * interrupt counters (0: no rates). 0 or -1.
 */
int exam_gather(struct exam *exam, int64_t pause_ns, struct error *err);
void exam_free(struct exam *exam);

/* How many checks there are; the check of that index in the order of the groups. */
size_t doctor_count(void);
const struct check *doctor_check(size_t index);

/* Judges one check. finding_free() gives the changes back. */
void doctor_judge(const struct exam *exam, const struct check *check, struct finding *finding);
void finding_free(struct finding *finding);

const char *verdict_name(enum verdict verdict);
const char *group_name(enum check_group group);

/*
 * The boot parameters of all findings that are not good as one line, each once. Returns `buffer`, ""
 * when there are none.
 */
char *doctor_boot_line(const struct finding *findings, size_t count, char *buffer, size_t size);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* Sets of CPUs and the two forms in which the kernel writes them: "0-3,5" and "00000000,0000002f". Pure. */
#ifndef HOST_CPULIST_H
#define HOST_CPULIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CPULIST_MAX 1024 /* CPUs 0 to 1023; higher ones are passed over */
#define CPULIST_TEXT 256

struct cpulist {
	uint64_t bits[CPULIST_MAX / 64];
};

/* "0-3,5", "", and the kernel's "(null)" for an empty one. 0, or -1 (the list is then empty). */
int cpulist_parse(const char *text, struct cpulist *list);
/* "00000003" or "ffffffff,00000001", most significant first. 0, or -1 (the list is then empty). */
int cpulist_parse_mask(const char *text, struct cpulist *list);

/* Both return `buffer`; what does not fit is cut at a comma, with "..." behind it. */
char *cpulist_format(const struct cpulist *list, char *buffer, size_t size);
char *cpulist_format_mask(const struct cpulist *list, char *buffer, size_t size);

bool cpulist_has(const struct cpulist *list,
		 int cpu); /* false for a CPU outside 0 to CPULIST_MAX - 1 */
void cpulist_add(struct cpulist *list, int cpu);
bool cpulist_empty(const struct cpulist *list);
int cpulist_count(const struct cpulist *list);
int cpulist_next(const struct cpulist *list,
		 int cpu); /* first one above `cpu` (-1: of all), or -1 */
int cpulist_last(const struct cpulist *list); /* -1: empty */
bool cpulist_equal(const struct cpulist *a, const struct cpulist *b);
bool cpulist_overlap(const struct cpulist *a, const struct cpulist *b);
struct cpulist cpulist_and(const struct cpulist *a, const struct cpulist *b);
struct cpulist cpulist_without(const struct cpulist *a, const struct cpulist *b);

#define cpulist_for_each(cpu, list) \
	for (int cpu = cpulist_next(list, -1); cpu >= 0; cpu = cpulist_next(list, cpu))

#endif

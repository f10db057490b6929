/* SPDX-License-Identifier: GPL-2.0-only */
/* Interrupts: their names, where they may run, and how often they did. */
#ifndef HOST_IRQ_H
#define HOST_IRQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/cpulist.h"

#define IRQ_NAME 64

/* Rows of /proc/interrupts are either numbered (devices) or labelled ("LOC": of the architecture). */
struct irq {
	int number; /* -1: of the architecture */
	char label[16]; /* "36", "LOC" */
	char name[IRQ_NAME]; /* its handlers: "mmc0", "enp1s0-TxRx-1"; "Local timer interrupts" */
	uint64_t count; /* on the CPUs that were asked for */
	bool known; /* the two lists could be read */
	struct cpulist allowed; /* smp_affinity_list */
	/* where it goes from its next interrupt on: effective_affinity_list, else `allowed` */
	struct cpulist effective;
};

/*
 * Reads the table under `root`; `count` of each is summed over `cpus`. The caller frees `*list`. Returns how
 * many, or -errno.
 */
int irq_list(const char *root, const struct cpulist *cpus, struct irq **list);

/* The table from the text of /proc/interrupts alone, without the affinities. Pure. */
int irq_parse(const char *text, const struct cpulist *cpus, struct irq **list);

const struct irq *irq_find(const struct irq *list, int count, const char *label);

#endif

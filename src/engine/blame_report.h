/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The culprits of a run: late wake-ups collected, ranked by the worst and by the total of what each one took,
 * with advice that can be carried out.
 */
#ifndef ENGINE_BLAME_REPORT_H
#define ENGINE_BLAME_REPORT_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "engine/blame.h"
#include "engine/blame_split.h"

#define BLAME_CULPRITS 128
#define BLAME_WORST 5 /* late wake-ups that are shown in full */
#define BLAME_LATE_PARTS 16

struct blame_culprit {
	struct blame_part part; /* ns: the worst */
	uint64_t times; /* late wake-ups that it had a part in */
	int64_t total_ns;
};

struct blame_late {
	int64_t late_ns;
	int64_t due; /* CLOCK_MONOTONIC */
	size_t count;
	struct blame_part
		parts[BLAME_LATE_PARTS]; /* the largest; `rest_ns` is the sum of the others */
	int64_t rest_ns;
};

struct blame_tally {
	int cpu;
	bool ordinary; /* the cyclic thread has no real-time policy */
	bool frames; /* late frames, not wake-ups: for the words */
	uint64_t late; /* wake-ups looked at */
	int64_t late_ns; /* their sum */
	uint64_t unkept;
	int64_t threshold_ns; /* the last one in force; INT64_MAX or 0: none was */
	bool follows; /* it is that of the measured distribution, known only after a while */
	struct blame_culprit culprits[BLAME_CULPRITS];
	size_t culprit_count;
	int64_t other_ns; /* of culprits beyond the table */
	struct blame_late worst[BLAME_WORST]; /* worst first */
	size_t worst_count;
};

/* Splits the case and adds it. Returns how late it was. Pure. */
int64_t blame_tally_add(struct blame_tally *tally, const struct blame_case *late);

/* Takes what blame has kept. */
void blame_collect(struct blame *blame, struct blame_tally *tally);

/*
 * What to do about a part, one line with commands; `symbol` is what blame_symbols() says of the part's address. Returns
 * `buffer`. Pure.
 */
#define BLAME_ADVICE 256

struct blame_place {
	int cpu; /* the real-time thread's */
	const char *others; /* the CPUs that are left for the rest ("0,2-3"; "" for none) */
	bool ordinary; /* the thread there has no real-time policy */
	bool fair_server; /* this kernel has one in the place of real-time throttling (from 6.12 on) */
};

char *blame_advice(const struct blame_part *part, const char *symbol,
		   const struct blame_place *place, char buffer[BLAME_ADVICE]);

/*
 * The kernel's names of addresses: "culprit_timer [tsnsim]", "" where it is not known. `kallsyms` is an open
 * /proc/kallsyms (blame_kallsyms()), -1: none. `symbols[i]` has BLAME_TEXT bytes.
 */
void blame_symbols(int kallsyms, const uint64_t *addresses, char (*symbols)[BLAME_TEXT],
		   size_t count);

/* The report: ranking, worst cases, and time held by each interrupt (`blame` may be NULL: without). */
void blame_print(FILE *out, const struct blame_tally *tally, const struct blame *blame);
json_t *blame_json(const struct blame_tally *tally, const struct blame *blame);

#endif

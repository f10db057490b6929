/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Blame: while a cyclic thread runs, BPF programs note what runs on its CPU; when it wakes up late, the
 * history of that moment is kept and later split into culprits (blame_split.h).
 *
 *	blame = blame_open(cpu, &err);           before memory is locked; needs CAP_BPF, CAP_PERFMON
 *	blame_set_threshold(blame, over, most)   wake-ups later than this are kept
 *	clock.watch = blame_watch(blame)         of the clock that the cyclic thread sleeps by
 *	while (blame_take(blame, &late)) {...; blame_release(blame); }     now and then, another thread, or after the run
 *	blame_close(blame)
 *
 * The cyclic thread does all that must be done while it runs: where it spins on the only CPU no other thread comes to it
 * before it ends. It costs it a few stores and comparisons a wake-up, and some more for a late one. The programs go with
 * the process, however it ends.
 */
#ifndef ENGINE_BLAME_H
#define ENGINE_BLAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "engine/blame_split.h"
#include "host/wakeup.h"

struct blame;

/*
 * Loads and attaches the programs for one CPU. Tracepoints that this kernel does not have are left out
 * (blame_missing()). NULL with the error: no BTF, no permission, none of the tracepoints.
 */
struct blame *blame_open(int cpu, struct error *err);
void blame_close(struct blame *blame); /* NULL is allowed */

/* The two halves of it: the programs are taken by the kernel, and from the second on they run. */
struct blame *blame_load(int cpu, struct error *err);
int blame_attach(struct blame *blame, struct error *err);

/* What this kernel does not show, in words: "IPIs, thermal events"; "" for nothing. */
const char *blame_missing(const struct blame *blame);

/*
 * A descriptor of /proc/kallsyms that was opened by blame_load(): the kernel shows addresses to whom opens the file
 * with the privilege for it, also when that is given up later. -1: none. It stays blame's.
 */
int blame_kallsyms(const struct blame *blame);

/*
 * What is later than `over_ns` is kept, from the watch's begin() to its end(); 0: what is later than usual
 * (blame_usual.h). `most_ns`: but never more than this is needed for it; 0: no such bound. Before the watch is used.
 */
void blame_set_threshold(struct blame *blame, int64_t over_ns, int64_t most_ns);

/* The threshold now; INT64_MAX: the run has not begun. */
int64_t blame_threshold(const struct blame *blame);

/* Watches the waits of one thread, on the CPU of blame_open(). It stays blame's. */
const struct wake_watch *blame_watch(struct blame *blame);

/* Follows another CPU, and no thread: for frames that are taken there. */
void blame_follow_cpu(struct blame *blame, int cpu);

/*
 * Copies what ran lately on that CPU, which goes on: events, count and `frame` of *recent are set, valid until the
 * next call. Returns the time (CLOCK_MONOTONIC) from which on it is complete. Not beside blame_take().
 */
int64_t blame_look(struct blame *blame, struct blame_case *recent);

/* Follows nothing any more; what was kept and counted stays. */
void blame_stop(struct blame *blame);

/*
 * The next late wake-up, the oldest first; false when there is none. Its events are valid until
 * blame_release(), which must follow each true. One thread at a time, not the cyclic one.
 */
bool blame_take(struct blame *blame, struct blame_case *late);
void blame_release(struct blame *blame);

/* Late wake-ups whose histories were not kept: there was room for later ones only, or they were on another CPU. */
uint64_t blame_unkept(const struct blame *blame);

/* Time held by each interrupt since blame_open(): copies up to `max` of them, returns how many. */
size_t blame_holds(const struct blame *blame, struct blame_hold *holds, size_t max);

/* The P10 of some values, and by how much those of their quarters differ: what is less than that tells nothing. */
struct blame_tenth {
	int64_t ns, noise_ns;
};

/*
 * What blame costs, measured by a thread of its own on that CPU, before the cyclic one is there: the P10 lateness
 * of BLAME_COST_WAKES wake-ups 250 us apart (50 us where it only spins), since those that nothing disturbs tell best; the
 * last `spin_ns` of each are busy, as the cyclic thread's. Called before blame_open() with NULL, and after it with the new `blame`, which has no
 * threshold yet; the difference is all that blame adds to a wake-up. Takes 0.1 s. Returns 0, or a negative errno.
 */
#define BLAME_COST_WAKES 400
#define BLAME_COST_PRIORITY 80

int blame_cost_lateness(int cpu, int64_t spin_ns, struct blame *blame,
			struct blame_tenth *lateness);

/* Of values in the order in which they came, 40 or more; sorts them by pieces. */
struct blame_tenth blame_tenth_of(int64_t *values, size_t count);

int64_t blame_cost_noise(const struct blame_tenth *with, const struct blame_tenth *without);

/*
 * What blame adds, in words: "4 ns later, no more than the noise of 9 ns: P10 20 instead of 16 ns". Returns `buffer`.
 */
#define BLAME_COST_TEXT 160
char *blame_cost_text(const struct blame_tenth *with, const struct blame_tenth *without,
		      char buffer[BLAME_COST_TEXT]);

/* Forgets what the interrupts held until now: the measuring is none of the run's. */
void blame_forget(struct blame *blame);

#endif

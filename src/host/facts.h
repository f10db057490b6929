/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Facts about a machine, read from its /proc and /sys (and /boot). `root` is put in front of each path:
 * "" for this machine, or a directory with a recorded or made-up tree.
 */
#ifndef HOST_FACTS_H
#define HOST_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/cpulist.h"

#define FACT_PATH_MAX 1024

/*
 * The file's text, its trailing white space cut, bytes that are no printable text replaced by '?' (line
 * breaks and tabs stay). At most size - 1 bytes. Returns the length, or -errno with "" in `buffer`.
 */
int fact_text(const char *root, char *buffer, size_t size, const char *path, ...)
	__attribute__((format(printf, 4, 5)));

/* The file's text as one whole number. 0, -errno, or -EINVAL where it is none. */
int fact_number(const char *root, int64_t *value, const char *path, ...)
	__attribute__((format(printf, 3, 4)));

/* The file's text as a list of CPUs ("0-3,5"). 0 or -errno. */
int fact_cpulist(const char *root, struct cpulist *list, const char *path, ...)
	__attribute__((format(printf, 3, 4)));

bool fact_exists(const char *root, const char *path, ...) __attribute__((format(printf, 2, 3)));

/* All of a file (at most `max` bytes) in allocated memory with a 0 behind it, or NULL. The caller frees. */
char *fact_file(const char *root, const char *path, size_t max);

/*
 * Is the word or the "name=value" on the kernel command line? The value (the last one wins) goes into
 * `value`, which may be NULL. Pure.
 */
bool cmdline_find(const char *cmdline, const char *name, char *value, size_t size);

/* The kernel's configuration (/proc/config.gz, /boot/config-RELEASE), or NULL. The caller frees. */
char *kernel_config_load(const char *root);

/* 'y', 'm', 'n' (not set), or '?' where there is no configuration. `option`: "CONFIG_NET_SCH_ETF". Pure. */
char kernel_config(const char *config, const char *option);

/* Major and minor of "6.12.3-rt1" in /proc/sys/kernel/osrelease; false where there is none. */
bool kernel_version(const char *root, int *major, int *minor);

struct thread_fact {
	int pid, tid;
	char name[32];
	int policy; /* SCHED_* */
	int rt_priority; /* 1 to 99, 0: not real-time */
	bool kernel; /* a kernel thread */
};

/*
 * Calls `each` for each process (threads false) or each thread (true). Ends early where it returns
 * false. Returns how many were seen, or -errno.
 */
int fact_threads(const char *root, bool threads, bool (*each)(const struct thread_fact *, void *),
		 void *context);

/* Reads one line of /proc/PID/stat. False where it is malformed. Pure. */
bool parse_thread_stat(const char *text, struct thread_fact *thread);

#endif

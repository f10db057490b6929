/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Settings of the kernel's tracers that all instances of tracefs share, and what they were. They are noted in a
 * file, so that the next run finds them where this one and its watch were killed together.
 */
#ifndef HOST_TRACER_SETTINGS_H
#define HOST_TRACER_SETTINGS_H

#include <stddef.h>

#define TRACER_NOTE "/run/tsnpub/tracer"
#define TRACER_SHARED_MAX 4

struct tracer_shared {
	const char *name; /* below tracefs, one of those that this program changes */
	char was[256];
	char becomes[32],
		later[32]; /* what we write at first, and once the run has begun; "" or the same: nothing else */
};

struct tracer_settings {
	struct tracer_shared shared[TRACER_SHARED_MAX];
	int count;
};

/* Notes what a setting is now, and what it is to become. 0 or a negative errno; -ENOSPC: they are all there. */
int tracer_share(struct tracer_settings *settings, const char *tracefs, const char *name,
		 const char *becomes);

/* Writes a file of tracefs. 0 or a negative errno. */
int tracer_write(const char *directory, const char *name, const char *text);

void tracer_put_back(const struct tracer_settings *settings, const char *tracefs);

/* Into the file `path`, whose directory is made. 0 or a negative errno. */
int tracer_note(const struct tracer_settings *settings, const char *path);

/*
 * Puts back what the file tells, as far as it still has the value that a run of ours gave it, and removes the file.
 * `names` receives the names of what was put back, "a, b". Returns how many; 0 where there is no such file. What is not
 * ours in the file is passed over.
 */
int tracer_recover(const char *path, const char *tracefs, char *names, size_t size);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A directory of the process's own for sockets and files that others must find by a path. One that is left behind
 * by a process that was killed is removed by a later one: a living owner holds a lock (flock) on its directory, a
 * dead one does not.
 */
#ifndef BASE_SCRATCH_H
#define BASE_SCRATCH_H

#include <stddef.h>

#define SCRATCH_PATH 64

struct scratch {
	char path[SCRATCH_PATH]; /* empty: there is none */
	int fd; /* of the directory, locked */
};

#define SCRATCH_INIT   \
	{              \
		"", -1 \
	}

/* Makes PLACE/NAME.XXXXXX, mode 0700, in the first of /run, $XDG_RUNTIME_DIR and /tmp where that works. 0 or -errno. */
int scratch_make(struct scratch *scratch, const char *name);

/* Removes what dead owners of this user left of that name in these places. */
void scratch_clean(const char *name);

/* Removes the directory with the plain files and sockets in it. One that was never made is allowed. */
void scratch_remove(struct scratch *scratch);

#endif

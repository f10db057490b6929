/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Applying changes so that they can be taken back: the former value is in the state file before the new one
 * is set, so that even a run that was killed can be undone.
 *
 * A group of changes is applied as a whole or not at all. The state file is JSON, mode 0600, replaced
 * atomically; a lock beside it keeps two runs apart. Network devices belong to a namespace: a change made in
 * another one is kept for an undo there.
 */
#ifndef HOST_FIX_H
#define HOST_FIX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "host/change.h"

#define FIX_STATE "/run/tsnpub/doctor.json"

struct fix;

/*
 * Opens the state below `root` ("" for this machine). `create`: make the directory and lock; without it a
 * missing state file is an empty one. Returns NULL with the error filled in: no permission, another run,
 * damaged file.
 */
struct fix *fix_open(const char *root, bool create, struct error *err);
void fix_close(struct fix *fix); /* NULL is allowed */

size_t fix_count(const struct fix *fix); /* changes that can be taken back */

/*
 * Applies the changes that are not in force already. On failure those of this call are put back, and -1
 * is returned. `*made` counts the changes made; `*refused` the optional ones that the kernel refused. Both
 * may be NULL.
 */
int fix_apply(struct fix *fix, const struct change *changes, size_t count, size_t *made,
	      size_t *refused, struct error *err);

/* Puts back whatever this fix_open() has applied. 0, or -1 with the first error; the rest is still tried. */
int fix_rollback(struct fix *fix, struct error *err);

/*
 * Puts back all changes in the file, the last one first. A value that somebody else has changed since is
 * left alone; what cannot be put back stays in the file. `report` is called for each.
 */
enum fix_undone {
	FIX_RESTORED,
	FIX_CHANGED_SINCE, /* `text`: the value now */
	FIX_GONE, /* no such device or file any more */
	FIX_ELSEWHERE, /* of another network namespace */
	FIX_FAILED, /* `text`: why */
};
int fix_undo(struct fix *fix,
	     void (*report)(const struct change *was, enum fix_undone result, const char *text,
			    void *context),
	     void *context, struct error *err);

#endif

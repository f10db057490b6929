/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BASE_TMPDIR_H
#define BASE_TMPDIR_H

#include <stdlib.h>

/* The directory for temporary files: TMPDIR, or /tmp where that is not set, or empty. Not to be freed. */
static inline const char *temporary_directory(void)
{
	const char *directory = getenv("TMPDIR");

	return directory && *directory ? directory : "/tmp";
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Capabilities of the calling thread (capabilities(7)): named in errors when they are missing, and given
 * up when they are no longer needed. By the system calls themselves: no library is needed for that.
 */
#ifndef HOST_CAPABILITY_H
#define HOST_CAPABILITY_H

#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Is the capability (CAP_NET_RAW ...) effective in the calling thread? */
bool capability_have(int capability);

/* "CAP_NET_RAW"; "another capability" for those that this program never needs. Static text. */
const char *capability_name(int capability);

/*
 * Gives up every capability of the calling thread that is not in `keep` (bit n: capability n), and sets
 * no_new_privs, so that none comes back by exec. Threads made later inherit the rest. Reads the result
 * back. Returns 0 or -1.
 */
int capability_keep_only(uint64_t keep, struct error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* The tc commands that would install the same deployment by hand. Pure. */
#ifndef TC_COMMANDS_H
#define TC_COMMANDS_H

#include <stddef.h>

#include "tc/deployment.h"

/*
 * Command number `index` (from 0) for `interface` into a string that the caller frees; NULL when there are no more, or
 * memory is short. `base_ns`: the base time to name.
 */
char *deployment_command(const struct deployment *deployment, const char *interface,
			 int64_t base_ns, unsigned index);

#endif

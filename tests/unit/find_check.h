/* SPDX-License-Identifier: GPL-2.0-only */
/* A check of the doctor, by its name. Include cmocka_all.h before it. */
#ifndef FIND_CHECK_H
#define FIND_CHECK_H

#include <string.h>

#include "host/doctor.h"

static inline const struct check *find_check(const char *name)
{
	for (size_t i = 0; i < doctor_count(); i++)
		if (!strcmp(doctor_check(i)->name, name))
			return doctor_check(i);
	fail_msg("no check is called %s", name);
	return NULL;
}

#endif

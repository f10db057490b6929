/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a check found: a list of one-line messages, each with the path of the value in the YAML file
 * ("schedule.gates[3].duration"), so that whoever prints it can name the line. Pure.
 */
#ifndef TC_FINDINGS_H
#define TC_FINDINGS_H

#include <stddef.h>

#define FINDINGS_MAX 64 /* of further ones the last is kept, and the others are counted */

enum finding_level {
	FINDING_NOTE, /* worth knowing */
	FINDING_WARNING, /* works, but not as well as one would think */
	FINDING_ERROR, /* must not be deployed */
};

struct finding {
	enum finding_level level;
	char path[64];
	char text[400];
};

struct findings {
	unsigned count;
	unsigned errors; /* all of them, also those beyond FINDINGS_MAX */
	unsigned warnings;
	unsigned dropped; /* did not fit */
	struct finding list[FINDINGS_MAX];
};

/* `path` is a plain string; the message is printf's. One that stands there already word for word is not repeated. */
void finding_add(struct findings *findings, enum finding_level level, const char *path,
		 const char *format, ...) __attribute__((format(printf, 4, 5)));

/* "error", "warning", "note" */
const char *finding_level_name(enum finding_level level);

#endif

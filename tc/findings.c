// SPDX-License-Identifier: GPL-2.0-only
#include "tc/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void finding_add(struct findings *findings, enum finding_level level, const char *path,
		 const char *format, ...)
{
	struct finding finding = { .level = level };
	va_list args;

	snprintf(finding.path, sizeof(finding.path), "%s", path);
	va_start(args, format);
	vsnprintf(finding.text, sizeof(finding.text), format, args);
	va_end(args);
	for (unsigned i = 0; i < findings->count; i++)
		if (findings->list[i].level == level &&
		    !strcmp(findings->list[i].path, finding.path) &&
		    !strcmp(findings->list[i].text, finding.text))
			return;
	if (level == FINDING_ERROR)
		findings->errors++;
	if (level == FINDING_WARNING)
		findings->warnings++;
	if (findings->count == FINDINGS_MAX) {
		/* the newest is kept in the last place: a sum over all of them comes last */
		findings->dropped++;
		findings->list[FINDINGS_MAX - 1] = finding;
		return;
	}
	findings->list[findings->count++] = finding;
}

const char *finding_level_name(enum finding_level level)
{
	static const char *const names[] = { "note", "warning", "error" };

	return names[level];
}

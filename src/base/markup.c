// SPDX-License-Identifier: GPL-2.0-only
#include "base/markup.h"

void markup_put(FILE *out, const char *text)
{
	for (; *text; text++)
		switch (*text) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc((unsigned char)*text < 0x20 && *text != '\n' ? '?' : *text, out);
		}
}

// SPDX-License-Identifier: GPL-2.0-only
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MORE_DESCRIPTORS "`ulimit -n` is their limit"

void printable(char *text)
{
	for (unsigned char *at = (unsigned char *)text; *at; at++)
		if (*at < ' ' || *at == 0x7f)
			*at = '?';
		/* U+0080 to U+009F, such as the terminal's other escape, in UTF-8 */
		else if (at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0)
			at[0] = at[1] = '?';
}

static void set(struct error *err, int status, const char *format, va_list args)
{
	err->status = status;
	vsnprintf(err->text, sizeof(err->text), format, args);
	printable(err->text);
}

int error_input(struct error *err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set(err, STATUS_INPUT, format, args);
	va_end(args);
	return -1;
}

int error_system(struct error *err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set(err, STATUS_SYSTEM, format, args);
	va_end(args);
	return -1;
}

static void add_errno(struct error *err, int errnum)
{
	size_t used = strlen(err->text);
	const char *name = strerrorname_np(errnum);

	if (name)
		snprintf(err->text + used, sizeof(err->text) - used, ": %s (%s)", strerror(errnum),
			 name);
	else /* the kernel's own numbers, such as ENOTSUPP (524), have no name in libc */
		snprintf(err->text + used, sizeof(err->text) - used, ": errno %d%s", errnum,
			 errnum == 524 ? " (ENOTSUPP)" : "");
}

int error_errno(struct error *err, int errnum, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set(err, STATUS_SYSTEM, format, args);
	va_end(args);
	add_errno(err, errnum);
	return errnum == EMFILE ? error_fix(err, MORE_DESCRIPTORS) : -1;
}

int error_fix(struct error *err, const char *format, ...)
{
	size_t used = strlen(err->text);
	va_list args;

	if (used + 3 > sizeof(err->text))
		return -1;
	memcpy(err->text + used, "; ", 3);
	va_start(args, format);
	vsnprintf(err->text + used + 2, sizeof(err->text) - used - 2, format, args);
	va_end(args);
	printable(err->text);
	return -1;
}

int error_file(struct error *err, int errnum, const char *path, const char *format, ...)
{
	const char *slash = strrchr(path, '/');
	int length = slash && slash != path ? (int)(slash - path) : 1;
	const char *directory = slash ? path : ".";
	char parent[129];
	va_list args;

	va_start(args, format);
	set(err, STATUS_SYSTEM, format, args);
	va_end(args);
	add_errno(err, errnum);
	if (length > 128)
		length = 128;
	switch (errnum) {
	case ENOENT:
		snprintf(parent, sizeof(parent), "%.*s", length, directory);
		/* such as /proc; what was cut short is another directory */
		if (length < 128 && access(parent, F_OK) == 0)
			return error_fix(err, "'%s' takes no file of that name: name one elsewhere",
					 parent);
		return error_fix(err, "make its directory first: mkdir -p '%.*s'", length,
				 directory);
	case EACCES:
	case EPERM:
		return error_fix(err,
				 "name a file in a directory that this user may write, '%.*s' is "
				 "none",
				 length, directory);
	case EROFS:
		return error_fix(err, "'%.*s' is mounted read-only: name a file elsewhere", length,
				 directory);
	case ENOSPC:
	case EDQUOT:
		return error_fix(err, "make room in '%.*s', or name a file elsewhere", length,
				 directory);
	case EFBIG:
		return error_fix(err, "`ulimit -f` is the limit of a file's size");
	case EMFILE:
		return error_fix(err, MORE_DESCRIPTORS);
	default:
		return error_fix(err, "name another file");
	}
}

void error_prefix(struct error *err, const char *format, ...)
{
	char prefixed[sizeof(err->text)];
	size_t used;
	va_list args;

	va_start(args, format);
	vsnprintf(prefixed, sizeof(prefixed), format, args);
	va_end(args);
	used = strlen(prefixed);
	snprintf(prefixed + used, sizeof(prefixed) - used, ": %s", err->text);
	printable(prefixed);
	memcpy(err->text, prefixed, sizeof(err->text));
}

int error_report(const struct error *err)
{
	fflush(stdout);
	fprintf(stderr, "tsnpub: %s\n", err->text);
	return err->status ? err->status : STATUS_SYSTEM;
}

static void message(const char *kind, const char *format, va_list args)
{
	char text[512];

	vsnprintf(text, sizeof(text), format, args);
	printable(text);
	fflush(stdout);
	fprintf(stderr, "tsnpub: %s%s\n", kind, text);
}

void message_warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	message("warning: ", format, args);
	va_end(args);
}

void message_note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	message("", format, args);
	va_end(args);
}

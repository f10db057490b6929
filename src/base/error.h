/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Errors that reach the user: one line that says what failed, why, and what to do.
 *
 * A function that can fail takes a `struct error *` and returns 0, or a negative value after it has
 * filled the error in. The caller hands it on or prints it; it is printed once, by the command.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

/* Exit statuses of every command. */
enum status {
	STATUS_GOOD = 0, /* done, and within its bars */
	STATUS_BAR_MISSED = 1, /* done, but a bar was missed (deadline, SLA, sync, check) */
	STATUS_INPUT = 2, /* the user's input is wrong */
	STATUS_SYSTEM = 3, /* the system refuses or lacks something */
};

struct error {
	int status; /* STATUS_INPUT or STATUS_SYSTEM; 0: nothing was reported */
	char text[512]; /* one line without its newline; control characters are replaced by '?' */
};

#define ERROR_INIT    \
	{             \
		0, "" \
	}

/* The user's input is wrong (status 2). Returns -1, so that `return error_input(...)` reads well. */
int error_input(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Control characters become '?': text that quotes hostile input stays one line and does not steer a terminal. Errors and
 * messages do so by themselves.
 */
void printable(char *text);

/* The system refuses or lacks something (status 3). Returns -1. */
int error_system(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As error_system, with ": " and the name and text of `errnum` behind the message. Returns -1. */
int error_errno(struct error *err, int errnum, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * As error_errno, about a file or directory that cannot be written: the fix that the reason calls for stands behind it
 * ("; make its directory first: mkdir -p DIR"). Returns -1.
 */
int error_file(struct error *err, int errnum, const char *path, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Puts "; FIX" behind the text that is already there. Returns -1. */
int error_fix(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts "PREFIX: " in front of the text that is already there, to name a file, a line or a stream. */
void error_prefix(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints "tsnpub: TEXT" on stderr and returns the status to exit with. */
int error_report(const struct error *err);

/* Messages that are no errors, one line each on stderr: "tsnpub: warning: ..." and "tsnpub: ...". */
void message_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void message_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What all commands do with their command line: argp, with --help and --version, and errors of one line
 * each instead of argp's two.
 */
#ifndef CLI_ARGUMENTS_H
#define CLI_ARGUMENTS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * As argp_parse() without flags. Returns 0, or -1 with the error (status 2): that of the parser, where it has
 * filled `err` in before it returned EINVAL, else what argp itself has to say, with the command's --help as the
 * fix. --help, --usage and --version are added; they print and exit.
 */
int arguments_parse(const struct argp *argp, int argc, char **argv, void *input, struct error *err);

/*
 * Where the text of an option goes, for parsers that convert only once all options are known: `at` is the
 * offset in the input of a `const char *`, or for a flag of a `bool`. A table ends with key 0.
 */
struct argument_place {
	int key;
	size_t at;
	bool flag;
};

#define ARGUMENT_TEXT(key, type, member)           \
	{                                          \
		key, offsetof(type, member), false \
	}
#define ARGUMENT_FLAG(key, type, member)          \
	{                                         \
		key, offsetof(type, member), true \
	}
#define ARGUMENT_END        \
	{                   \
		0, 0, false \
	}

/* Stores it: 0; or ARGP_ERR_UNKNOWN where the table has no such key. For use in an argp parser. */
error_t arguments_store(const struct argument_place *places, void *input, int key, char *arg);

/* The same for a command that takes options alone: a word beside them is an error. */
error_t arguments_store_options(const struct argument_place *places, struct argp_state *state,
				int key, char *arg);

/*
 * The one word that a command takes beside its options, or an option that names the same: 0, or EINVAL with an error when
 * there is one already. `what` is "file", "interface".
 */
error_t arguments_take_one(const char *what, const char **place, const char *arg,
			   struct error *err);

/* One of the words, by its place in the list. Returns 0, or -1 with an error that lists them. */
int parse_word(const char *what, const char *text, const char *const *words, size_t count,
	       unsigned *value, struct error *err);

/* An EtherType of a payload: 0x600 to 0xffff, but not that of a VLAN tag. Returns 0, or -1 with the error. */
int parse_ethertype(const char *what, const char *text, uint16_t *ethertype, struct error *err);

#endif

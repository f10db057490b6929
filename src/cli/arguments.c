// SPDX-License-Identifier: GPL-2.0-only
#include "cli/arguments.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli/command.h"
#include "report/output.h"

#define KEY_USAGE 0x6900 /* far from the commands' own keys */
#define MESSAGE_MAX 240

static const struct argp_option help_options[] = {
	{ "help", '?', NULL, 0, "list the options", -1 },
	{ NULL, 'h', NULL, OPTION_ALIAS, NULL, 0 },
	{ "usage", KEY_USAGE, NULL, 0, "show the options in short", 0 },
	{ "version", 'V', NULL, 0, "print the version", 0 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

/* For the parser of these options: its return value ends the parsing without argp's own message. */
#define PRINTED ECANCELED

static error_t parse_help(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	switch (key) {
	case '?':
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return PRINTED;
	case KEY_USAGE:
		argp_state_help(state, stdout, ARGP_HELP_USAGE);
		return PRINTED;
	case 'V':
		puts("tsnpub " TSNPUB_VERSION);
		return PRINTED;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* The last place of `part` in `text`, or NULL. */
static char *last_of(char *text, const char *part)
{
	char *last = NULL;

	for (char *at = text; (at = strstr(at, part)); at++)
		last = at;
	return last;
}

/*
 * argp's words: "NAME: unrecognized option '--x'\nTry `NAME --help' or `NAME --usage' for more information.\n",
 * the second line wrapped, and sometimes twice. The option is quoted as it is, line breaks and all, so the second
 * line is looked for from behind.
 */
static void take_words(char *words, const char *name, struct error *err)
{
	static const char end[] = "information.\n";
	size_t length = strlen(words), name_length = strlen(name);
	char *text = words, *hint;

	while (length > strlen(end) && !strcmp(words + length - strlen(end), end) &&
	       (hint = last_of(words, "\nTry `"))) {
		hint[1] = '\0';
		length = strlen(words);
	}
	if (!strncmp(text, name, name_length) && !strncmp(text + name_length, ": ", 2))
		text += name_length + 2;
	length = strlen(text);
	if (length && text[length - 1] == '\n')
		text[--length] = '\0';
	error_input(err, "%.*s%s; `%s --help` lists the options", MESSAGE_MAX,
		    length ? text : "wrong usage", length > MESSAGE_MAX ? "..." : "", name);
}

int arguments_parse(const struct argp *argp, int argc, char **argv, void *input, struct error *err)
{
	static const struct argp help = { help_options, parse_help, NULL, NULL, NULL, NULL, NULL };
	const struct argp_child children[] = {
		{ argp, 0, NULL, 0 },
		{ &help, 0, NULL, 0 },
		{ NULL, 0, NULL, 0 },
	};
	/* without a parser: argp hands the input on to the first child */
	const struct argp top = { .children = children };
	FILE *real = stderr, *memory;
	char *words = NULL;
	size_t size;
	int result;

	memory = open_memstream(&words, &size);
	if (!memory)
		return error_errno(err, errno, "cannot read the command line");
	/* getopt, below argp, knows no other way */
	stderr = memory;
	result = argp_parse(&top, argc, argv, ARGP_NO_EXIT | ARGP_NO_HELP, NULL, input);
	stderr = real;
	if (fclose(memory))
		result = ENOMEM;
	if (result == PRINTED) /* to a full disk, this must not look like success */
		exit(output_stdout_done(err) ? error_report(err) : STATUS_GOOD);
	if (result && !err->status) {
		if (words && *words)
			take_words(words, argv[0], err);
		else
			error_errno(err, result, "cannot read the command line");
	}
	free(words);
	return result ? -1 : 0;
}

error_t arguments_store(const struct argument_place *places, void *input, int key, char *arg)
{
	for (; places->key; places++) {
		void *at = (char *)input + places->at;

		if (places->key != key)
			continue;
		if (places->flag)
			*(bool *)at = true;
		else
			*(const char **)at = arg;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

error_t arguments_store_options(const struct argument_place *places, struct argp_state *state,
				int key, char *arg)
{
	if (key == ARGP_KEY_ARG) {
		argp_error(state, "'%s': takes no argument", arg);
		return EINVAL;
	}
	return arguments_store(places, state->input, key, arg);
}

error_t arguments_take_one(const char *what, const char **place, const char *arg, struct error *err)
{
	if (*place) {
		error_input(err, "'%.64s': one %s at a time", arg, what);
		return EINVAL;
	}
	*place = arg;
	return 0;
}

int parse_word(const char *what, const char *text, const char *const *words, size_t count,
	       unsigned *value, struct error *err)
{
	char list[128] = "";

	for (size_t i = 0; i < count; i++) {
		size_t used = strlen(list);

		if (!strcmp(text, words[i])) {
			*value = (unsigned)i;
			return 0;
		}
		snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "", words[i]);
	}
	return error_input(err, "%s '%.64s': one of %s", what, text, list);
}

int parse_ethertype(const char *what, const char *text, uint16_t *ethertype, struct error *err)
{
	uint64_t value;

	if (parse_number(what, text, 0x600, 0xffff, &value, err))
		return -1;
	if (value == 0x8100 || value == 0x88a8)
		return error_input(err, "%s %.32s: is that of a VLAN tag, not of a payload", what,
				   text);
	*ethertype = (uint16_t)value;
	return 0;
}

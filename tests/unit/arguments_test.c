// SPDX-License-Identifier: GPL-2.0-only
/* Wrong command lines: one line each, with the command's --help as the fix. */
#include "cmocka_all.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/arguments.h"

struct input {
	const char *cycle;
	bool json;
	struct error *err;
};

static const struct argp_option options[] = {
	{ "cycle", 'c', "TIME", 0, "cycle", 0 },
	{ "json", 'j', NULL, 0, "json", 0 },
	{ "jitter", 0x200, NULL, 0, "jitter", 0 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const struct argument_place places[] = {
		ARGUMENT_TEXT('c', struct input, cycle),
		ARGUMENT_FLAG('j', struct input, json),
		ARGUMENT_END,
	};
	struct input *input = state->input;

	if (key != ARGP_KEY_ARG)
		return arguments_store(places, input, key, arg);
	if (!strcmp(arg, "own")) {
		error_input(input->err, "own words");
		return EINVAL;
	}
	argp_error(state, "'%s': takes no argument", arg);
	return EINVAL;
}

static const struct argp argp = { options, parse, NULL, NULL, NULL, NULL, NULL };
static struct input input;
static struct error err;

/* Parses one or two words. */
static int parse_words(const char *first, const char *second)
{
	char name[] = "tsnpub some", a[4096], b[64];
	char *argv[] = { name, a, second ? b : NULL, NULL };

	snprintf(a, sizeof(a), "%s", first);
	snprintf(b, sizeof(b), "%s", second ? second : "");
	memset(&err, 0, sizeof(err));
	input = (struct input){ .err = &err };
	return arguments_parse(&argp, second ? 3 : 2, argv, &input, &err);
}

static void assert_refused(const char *word, const char *text)
{
	assert_int_equal(parse_words(word, NULL), -1);
	assert_int_equal(err.status, STATUS_INPUT);
	assert_string_equal(err.text, text);
}

static void options_are_stored(void **state)
{
	(void)state;
	assert_int_equal(parse_words("--json", "--cycle=250us"), 0);
	assert_true(input.json);
	assert_string_equal(input.cycle, "250us");
	assert_int_equal(err.status, 0);
	assert_int_equal(parse_words("-j", NULL), 0);
	assert_true(input.json);
	assert_null(input.cycle);
}

#define SEE "; `tsnpub some --help` lists the options"

static void wrong_ones_are_one_line(void **state)
{
	(void)state;
	assert_refused("--foo", "unrecognized option '--foo'" SEE);
	assert_refused("--j", "option '--j' is ambiguous; possibilities: '--json' '--jitter'" SEE);
	assert_refused("--cycle", "option '--cycle' requires an argument" SEE);
	assert_refused("--json=3", "option '--json' doesn't allow an argument" SEE);
	assert_refused("-x", "invalid option -- 'x'" SEE);
	assert_refused("file", "'file': takes no argument" SEE);
	assert_refused("own", "own words");
	/* known to argp, but to no parser's table */
	assert_refused("--jitter",
		       "--jitter: (PROGRAM ERROR) Option should have been recognized!?" SEE);
}

static void hostile_ones_stay_one_line(void **state)
{
	char word[4000] = "--";

	(void)state;
	assert_refused("--a\nTry `b\n\033c", "unrecognized option '--a?Try `b??c'" SEE);
	memset(word + 2, 'y', sizeof(word) - 3);
	assert_int_equal(parse_words(word, NULL), -1);
	assert_non_null(strstr(err.text, "yyy...; `tsnpub some --help` lists the options"));
}

static void words_are_listed(void **state)
{
	static const char *const words[] = { "one", "two", "three" };
	unsigned value = 9;

	(void)state;
	assert_int_equal(parse_word("--which", "three", words, 3, &value, &err), 0);
	assert_int_equal(value, 2);
	assert_int_equal(parse_word("--which", "four", words, 3, &value, &err), -1);
	assert_string_equal(err.text, "--which 'four': one of one, two, three");
	assert_int_equal(value, 2);
}

static void ethertypes_of_payloads(void **state)
{
	uint16_t ethertype = 0;

	(void)state;
	assert_int_equal(parse_ethertype("--ethertype", "0x88b6", &ethertype, &err), 0);
	assert_int_equal(ethertype, 0x88b6);
	assert_int_equal(parse_ethertype("--ethertype", "0x8100", &ethertype, &err), -1);
	assert_non_null(strstr(err.text, "of a VLAN tag"));
	assert_int_equal(parse_ethertype("--ethertype", "0x5ff", &ethertype, &err), -1);
	assert_int_equal(parse_ethertype("--ethertype", "0x10000", &ethertype, &err), -1);
	assert_int_equal(ethertype, 0x88b6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_are_stored),
		cmocka_unit_test(wrong_ones_are_one_line),
		cmocka_unit_test(hostile_ones_stay_one_line),
		cmocka_unit_test(words_are_listed),
		cmocka_unit_test(ethertypes_of_payloads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

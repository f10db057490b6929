// SPDX-License-Identifier: GPL-2.0-only
/* The link that decides, as one line for publisher and receiver. */
#include "cmocka_all.h"

#include <stdio.h>
#include <string.h>

#include "ptp/sync_text.h"

static struct sync_report report;

static void fix_is(const char *fix)
{
	report = (struct sync_report){ .first = CHECK_PTP4L };
	report.check[CHECK_PTP4L] =
		(struct sync_check){ .name = "ptp4l", .result = SYNC_WRONG, .reason = "why" };
	snprintf(report.check[CHECK_PTP4L].fix, sizeof(report.check[CHECK_PTP4L].fix), "%s", fix);
}

static void assert_line(const char *fix, const char *line)
{
	char text[640];

	fix_is(fix);
	sync_first_wrong(&report, text, sizeof(text));
	assert_string_equal(text, line);
}

static void the_options_of_publisher_and_receiver_are_named(void **state)
{
	(void)state;
	assert_line("name it with --socket", "ptp4l: why; fix: name it with --sync-socket");
	assert_line("a larger --limit; or wait", "ptp4l: why; fix: a larger --sync-limit; or wait");
	assert_line("if --domain or --transport-specific is given, is it right?",
		    "ptp4l: why; fix: if --sync-domain is given, is it right?");
	/* what `tsnpub sync` itself does keeps its name */
	assert_line("`tsnpub sync --print-setup` and --set-tai-offset",
		    "ptp4l: why; fix: `tsnpub sync --print-setup` and --set-tai-offset");
}

/* Also within the name of an option, which is longer than the one it stands for. */
static void what_does_not_fit_is_cut(void **state)
{
	char text[640], cut[640];
	size_t length;

	(void)state;
	fix_is("a larger --limit, or name it with --socket, if it is there");
	sync_first_wrong(&report, text, sizeof(text));
	length = strlen(text);
	for (size_t size = 1; size <= length; size++) {
		memset(cut, 'x', sizeof(cut));
		sync_first_wrong(&report, cut, size);
		assert_int_equal(strlen(cut), size - 1);
		assert_memory_equal(cut, text, size - 1);
		assert_int_equal(cut[size], 'x');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_options_of_publisher_and_receiver_are_named),
		cmocka_unit_test(what_does_not_fit_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

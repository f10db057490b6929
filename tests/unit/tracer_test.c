// SPDX-License-Identifier: GPL-2.0-only
#include "cmocka_all.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/tracer.h"
#include "host/tracer_settings.h"
#include "tree.h"

static void lines_of_timerlat(void **state)
{
	struct tracer_verdict v = { 0 };

	(void)state;
	assert_true(
		tracer_parse(TRACER_TIMERLAT,
			     "          <idle>-0       [001] d.h1.    54.029328: #1     context    "
			     "irq timer_latency       932 ns",
			     &v));
	assert_true(
		tracer_parse(TRACER_TIMERLAT,
			     "      timerlat/1-868     [001] .....    54.029339: #1     context "
			     "thread timer_latency     11700 ns",
			     &v));
	assert_true(
		tracer_parse(TRACER_TIMERLAT,
			     " a: b-1 [001] ..... 54.0: #2     context thread timer_latency 9 ns",
			     &v) ||
		v.samples == 2);
	assert_int_equal(v.irq_max_ns, 932);
	assert_int_equal(v.thread_max_ns, 11700);
	assert_false(tracer_parse(TRACER_TIMERLAT, "# tracer: timerlat", &v));
	assert_false(tracer_parse(TRACER_TIMERLAT,
				  "x-1 [001] . 5.0: #1 context nobody timer_latency 99999999 ns",
				  &v));
	assert_false(tracer_parse(TRACER_TIMERLAT, "x: #1 context irq timer_latency -5 ns", &v));
	assert_false(tracer_parse(TRACER_TIMERLAT, "", &v));
}

static void lines_of_osnoise(void **state)
{
	struct tracer_verdict v = { 0 };

	(void)state;
	assert_true(tracer_parse(
		TRACER_OSNOISE,
		"       osnoise/1-860     [001] ....    81.637220: 1000000        190  "
		"99.98100       9     18      2   1007     19      1",
		&v));
	assert_true(tracer_parse(TRACER_OSNOISE,
				 " x-1 [001] .... 82.6: 1000000 10 99.99900 11 0 0 3 1 0", &v));
	assert_int_equal(v.noise_ns, 200000);
	assert_int_equal(v.runtime_ns, 2000000000);
	assert_int_equal(v.single_max_ns, 11000);
	assert_int_equal(v.hw, 18);
	assert_int_equal(v.nmi, 2);
	assert_int_equal(v.irq, 1010);
	assert_int_equal(v.softirq, 20);
	assert_int_equal(v.thread, 1);
	assert_false(tracer_parse(TRACER_OSNOISE, "x: 9223372036854775807 1 1 1 1 1 1 1 1", &v));
}

static void lines_of_hwlat(void **state)
{
	struct tracer_verdict v = { 0 };

	(void)state;
	assert_true(tracer_parse(
		TRACER_HWLAT,
		"           <...>-1729  [001] d...   678.473449: #1     inner/outer(us):   "
		"11/12    ts:1581527483.343962693 count:6",
		&v));
	assert_int_equal(v.samples, 1);
	assert_int_equal(v.single_max_ns, 12000);
	assert_false(tracer_parse(TRACER_HWLAT, "x: #1 inner/outer(us): -1/5", &v));
}

static void head_of_irqsoff(void **state)
{
	struct tracer_verdict v = { 0 };

	(void)state;
	assert_true(tracer_parse(
		TRACER_IRQSOFF,
		"# latency: 259 us, #4/4, CPU#2 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:4)", &v));
	assert_true(tracer_parse(TRACER_IRQSOFF, "#  => started at: __lock_task_sighand", &v));
	assert_true(
		tracer_parse(TRACER_IRQSOFF, "#  => ended at:   _raw_spin_unlock_irqrestore", &v));
	assert_int_equal(v.irqsoff_max_ns, 259000);
	assert_string_equal(v.irqsoff_from, "__lock_task_sighand");
	assert_string_equal(v.irqsoff_to, "_raw_spin_unlock_irqrestore");
	assert_false(tracer_parse(TRACER_IRQSOFF, "# latency: much", &v));
}

static void times_of_lines(void **state)
{
	(void)state;
	assert_int_equal(
		tracer_line_time("  tsnpub-316     [000] d.h.1   361.168311: #1     context"),
		361168311000);
	assert_int_equal(tracer_line_time("x: 1.5: y"), 0);
	assert_int_equal(tracer_line_time(": "), 0);
	assert_int_equal(tracer_line_time(""), 0);
	assert_int_equal(tracer_line_time("[000] d.h.1   .168311: #1"), 0);
	assert_int_equal(tracer_line_time("99999999999.999999: #1"), 0);
}

/* What was written after the offender is not shown, and no more than the end. */
static void the_end_of_the_trace(void **state)
{
	struct tracer *t = calloc(1, sizeof(*t));

	(void)state;
	assert_non_null(t);
	assert_null(tracer_last_line(t, 0));
	for (int i = 0; i < TRACER_LINES + 10; i++)
		snprintf(t->last[t->lines++ % TRACER_LINES], TRACER_LINE,
			 "  [000] d   %d.000000: #1", i);
	assert_string_equal(tracer_last_line(t, TRACER_LINES_SHOWN - 1),
			    "  [000] d   521.000000: #1");
	assert_null(tracer_last_line(t, TRACER_LINES_SHOWN));
	t->until_ns = 15000000000;
	assert_string_equal(tracer_last_line(t, 0), "  [000] d   10.000000: #1");
	assert_string_equal(tracer_last_line(t, 5), "  [000] d   15.000000: #1");
	assert_null(tracer_last_line(t, 6));
	t->until_ns = 1; /* all that is left came later */
	assert_null(tracer_last_line(t, 0));
	free(t);
}

static char *setting(const char *root, const char *name, char text[64])
{
	char path[80];

	snprintf(path, sizeof(path), "/%s", name);
	tree_read(root, path, text, 64);
	text[strcspn(text, "\n")] = '\0';
	return text;
}

/* A run and its watch were killed together: the next one puts back what is still as that run left it. */
static void somebody_elses_tracer(void **state)
{
	char root[64], text[256], wanted[160];

	(void)state;
	tree_make(root);
	tree_write(root, "/current_tracer", "nop\n");
	tree_write(root, "/instances/a/current_tracer", "hwlat\n");
	tree_write(root, "/instances/b/x", "\n");
	assert_false(tracer_rival(TRACER_TIMERLAT, root, text, sizeof(text)));
	assert_false(tracer_rival(TRACER_OSNOISE, root, text, sizeof(text)));
	assert_false(tracer_rival(TRACER_IRQSOFF, root, text, sizeof(text)));
	assert_true(tracer_rival(TRACER_HWLAT, root, text, sizeof(text)));
	snprintf(wanted, sizeof(wanted), "hwlat is active in %s/instances/a", root);
	assert_string_equal(text, wanted);
	/* these two have theirs in common */
	tree_write(root, "/current_tracer", "timerlat\n");
	tree_write(root, "/instances/a/current_tracer", "nop\n");
	assert_true(tracer_rival(TRACER_TIMERLAT, root, text, sizeof(text)));
	assert_true(tracer_rival(TRACER_OSNOISE, root, text, sizeof(text)));
	snprintf(wanted, sizeof(wanted), "timerlat is active in %s", root);
	assert_string_equal(text, wanted);
	assert_false(tracer_rival(TRACER_HWLAT, root, text, sizeof(text)));
	tree_remove(root);
}

/* A tree, and the path in it where the note of a run would be. */
static void make_noted(char root[64], const char *name, char note[128])
{
	assert_non_null(tree_make(root));
	snprintf(note, 128, "%s/%s", root, name);
}

static void what_a_killed_run_left_is_put_back(void **state)
{
	struct tracer_settings settings = { .count = 0 };
	char root[64], note[128], names[128], text[64];

	(void)state;
	make_noted(root, "run/tracer", note);
	tree_write(root, "/osnoise/cpus", "0-3\n");
	tree_write(root, "/osnoise/stop_tracing_us", "0\n");
	tree_write(root, "/osnoise/stop_tracing_total_us", "0\n");
	tree_write(root, "/hwlat_detector/mode", "none [round-robin] per-cpu\n");
	assert_int_equal(tracer_recover(note, root, names, sizeof(names)), 0);
	assert_int_equal(tracer_share(&settings, root, "osnoise/cpus", "2"), 0);
	assert_int_equal(tracer_share(&settings, root, "osnoise/nothing", "0"), -ENOENT);
	assert_int_equal(tracer_share(&settings, root, "hwlat_detector/mode", "none"), 0);
	assert_int_equal(tracer_share(&settings, root, "osnoise/stop_tracing_us", "0"), 0);
	strcpy(settings.shared[2].later, "100");
	assert_int_equal(tracer_share(&settings, root, "osnoise/stop_tracing_total_us", "0"), 0);
	strcpy(settings.shared[3].later, "100");
	assert_int_equal(tracer_share(&settings, root, "osnoise/cpus", "3"), -ENOSPC);
	assert_int_equal(tracer_note(&settings, note), 0);
	for (int i = 0; i < settings.count; i++)
		assert_int_equal(
			tracer_write(root, settings.shared[i].name, settings.shared[i].becomes), 0);
	tree_write(root, "/osnoise/stop_tracing_us", "100\n");
	/* somebody has chosen this one since */
	tree_write(root, "/osnoise/stop_tracing_total_us", "50\n");
	assert_int_equal(tracer_recover(note, root, names, sizeof(names)), 3);
	assert_string_equal(names, "osnoise/cpus, hwlat_detector/mode, osnoise/stop_tracing_us");
	assert_string_equal(setting(root, "osnoise/cpus", text), "0-3");
	assert_string_equal(setting(root, "hwlat_detector/mode", text), "round-robin");
	assert_string_equal(setting(root, "osnoise/stop_tracing_us", text), "0");
	assert_string_equal(setting(root, "osnoise/stop_tracing_total_us", text), "50");
	/* once */
	assert_int_equal(access(note, F_OK), -1);
	tree_remove(root);
}

static void a_note_that_is_not_ours_does_no_harm(void **state)
{
	char root[64], note[128], names[128], text[64];

	(void)state;
	make_noted(root, "note", note);
	tree_write(root, "/osnoise/cpus", "2\n");
	tree_write(root, "/trace_clock", "local\n");
	tree_write(root, "/note",
		   "trace_clock|x|local|\n../run|a|b|c\nosnoise/cpus\n|||\nosnoise/cpus|7|1|\n\n");
	assert_int_equal(tracer_recover(note, root, names, sizeof(names)), 0);
	assert_string_equal(names, "");
	assert_string_equal(setting(root, "osnoise/cpus", text), "2");
	assert_string_equal(setting(root, "trace_clock", text), "local");
	tree_remove(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_timerlat),
		cmocka_unit_test(lines_of_osnoise),
		cmocka_unit_test(lines_of_hwlat),
		cmocka_unit_test(head_of_irqsoff),
		cmocka_unit_test(times_of_lines),
		cmocka_unit_test(the_end_of_the_trace),
		cmocka_unit_test(somebody_elses_tracer),
		cmocka_unit_test(what_a_killed_run_left_is_put_back),
		cmocka_unit_test(a_note_that_is_not_ours_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

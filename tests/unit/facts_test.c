// SPDX-License-Identifier: GPL-2.0-only
#include "cmocka_all.h"

#include <errno.h>
#include <sched.h>
#include <zlib.h>

#include "host/cpulist.h"
#include "host/facts.h"
#include "host/irq.h"
#include "tree.h"

static void lists_of_cpus(void **state)
{
	static const struct {
		const char *text, *again;
	} good[] = {
		{ "0-3,5\n", "0-3,5" },  { "", "" },
		{ "(null)\n", "" },      { "7", "7" },
		{ "0,1,2", "0-2" },      { "1022-1023", "1022-1023" },
		{ "3-99999", "3-1023" },
	};
	static const char *const bad[] = { "a",  "1-",  "-1",  "3-1",           "1,,2",
					   "1,", "1 2", "0x3", "99999999999999" };
	struct cpulist list;
	char text[CPULIST_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(cpulist_parse(good[i].text, &list), 0);
		assert_string_equal(cpulist_format(&list, text, sizeof(text)), good[i].again);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(cpulist_parse(bad[i], &list), -1);
		assert_true(cpulist_empty(&list));
	}
	/* what does not fit is cut at a comma */
	cpulist_parse("1,3,5,7,9,11,13", &list);
	assert_string_equal(cpulist_format(&list, text, 10), "1,3,5...");
	assert_int_equal(cpulist_count(&list), 7);
	assert_int_equal(cpulist_last(&list), 13);
}

static void masks_of_cpus(void **state)
{
	struct cpulist list;
	char text[CPULIST_TEXT];

	(void)state;
	assert_int_equal(cpulist_parse_mask("00000001,0000002f\n", &list), 0);
	assert_string_equal(cpulist_format(&list, text, sizeof(text)), "0-3,5,32");
	assert_string_equal(cpulist_format_mask(&list, text, sizeof(text)), "1,0000002f");
	assert_int_equal(cpulist_parse_mask("3", &list), 0);
	assert_string_equal(cpulist_format_mask(&list, text, sizeof(text)), "3");
	assert_int_equal(cpulist_parse_mask("", &list), -1);
	assert_int_equal(cpulist_parse_mask("3z", &list), -1);
	assert_int_equal(cpulist_parse_mask("3 3", &list), -1);
}

static void words_of_the_command_line(void **state)
{
	static const char line[] = "root=/dev/sda1 isolcpus=2,3 isolcpus=managed_irq,1 threadirqs "
				   "x=\"a b\" -- nohz_full=9";
	char value[32];

	(void)state;
	assert_true(cmdline_find(line, "isolcpus", value, sizeof(value)));
	assert_string_equal(value, "managed_irq,1");
	assert_true(cmdline_find(line, "threadirqs", value, sizeof(value)));
	assert_string_equal(value, "");
	assert_true(cmdline_find(line, "x", value, sizeof(value)));
	assert_string_equal(value, "\"a b\"");
	assert_false(cmdline_find(line, "nohz_full", NULL, 0));
	assert_false(cmdline_find(line, "thread", NULL, 0));
	assert_false(cmdline_find(line, "irqs", NULL, 0));
	assert_false(cmdline_find("", "x", NULL, 0));
}

static void kernel_configuration(void **state)
{
	char root[64], path[128];
	char *config;
	gzFile file;

	(void)state;
	tree_make(root);
	assert_null(kernel_config_load(root));
	assert_int_equal(kernel_config(NULL, "CONFIG_A"), '?');
	tree_write(root, "/proc/sys/kernel/osrelease", "6.12.1-rt\n");
	tree_write(root, "/boot/config-6.12.1-rt",
		   "CONFIG_ABC=y\n# CONFIG_B is not set\nCONFIG_C=m\n");
	config = kernel_config_load(root);
	assert_non_null(config);
	assert_int_equal(kernel_config(config, "CONFIG_A"), 'n');
	assert_int_equal(kernel_config(config, "CONFIG_ABC"), 'y');
	assert_int_equal(kernel_config(config, "CONFIG_B"), 'n');
	assert_int_equal(kernel_config(config, "CONFIG_C"), 'm');
	free(config);
	/* the running kernel's own comes first */
	snprintf(path, sizeof(path), "%s/proc/config.gz", root);
	file = gzopen(path, "w");
	gzputs(file, "CONFIG_B=y\n");
	gzclose(file);
	config = kernel_config_load(root);
	assert_int_equal(kernel_config(config, "CONFIG_B"), 'y');
	assert_int_equal(kernel_config(config, "CONFIG_ABC"), 'n');
	free(config);
	tree_remove(root);
}

static void hostile_files_are_bounded(void **state)
{
	char root[64], text[16];
	int64_t number;
	struct cpulist list;

	(void)state;
	tree_make(root);
	tree_write(root, "/long", "0123456789012345678901234567890123456789");
	assert_int_equal(fact_text(root, text, sizeof(text), "/long"), 15);
	assert_string_equal(text, "012345678901234");
	tree_write(root, "/esc", "a\033[2Jb\001\n");
	assert_int_equal(fact_text(root, text, sizeof(text), "/esc"), 7);
	assert_string_equal(text, "a?[2Jb?");
	tree_write(root, "/number", "12 apples\n");
	assert_int_equal(fact_number(root, &number, "/number"), -EINVAL);
	tree_write(root, "/number", "99999999999999999999999\n");
	assert_int_equal(fact_number(root, &number, "/number"), -EINVAL);
	tree_write(root, "/number", "-7\n");
	assert_int_equal(fact_number(root, &number, "/%s", "number"), 0);
	assert_int_equal(number, -7);
	assert_int_equal(fact_number(root, &number, "/none"), -ENOENT);
	tree_write(root, "/list", "0-x");
	assert_int_equal(fact_cpulist(root, &list, "/list"), -EINVAL);
	tree_remove(root);
}

static void lines_of_stat(void **state)
{
	static const char good[] =
		"12 (a) b (c) S 1 12 12 0 -1 2097216 0 0 0 0 0 0 0 0 -51 0 1 0 9 0 "
		"0 18446744073709551615 0 0 0 0 0 0 0 2147483647 0 0 0 0 17 1 50 1 "
		"0 0 0 0 0 0 0 0 0 0 0";
	struct thread_fact thread;
	char cut[sizeof(good)];

	(void)state;
	assert_true(parse_thread_stat(good, &thread));
	assert_int_equal(thread.tid, 12);
	assert_string_equal(thread.name, "a) b (c");
	assert_int_equal(thread.policy, SCHED_FIFO);
	assert_int_equal(thread.rt_priority, 50);
	assert_true(thread.kernel);
	/* cut off anywhere before the policy it is refused */
	for (size_t length = 0; length < strlen(good) - 30; length++) {
		memcpy(cut, good, length);
		cut[length] = '\0';
		assert_false(parse_thread_stat(cut, &thread));
	}
}

static const char interrupts[] =
	"           CPU0       CPU2       \n"
	" 24:          1          7  IO-APIC   5-edge      ACPI:Ged\n"
	" 89:        100      20000  PCI-MSI 524288-edge      mmc0, i801_smbus\n"
	"IPI0:         5          6       Rescheduling interrupts\n"
	"LOC:      55577      66008   Local timer interrupts\n"
	"ERR:          3\n";

static void rows_of_interrupts(void **state)
{
	struct cpulist cpus;
	struct irq *list;
	int count;

	(void)state;
	cpulist_parse("1-2", &cpus);
	count = irq_parse(interrupts, &cpus, &list);
	assert_int_equal(count, 5);
	assert_int_equal(list[0].number, 24);
	assert_string_equal(list[0].name, "ACPI:Ged");
	assert_int_equal(list[0].count, 7); /* the second column is CPU 2's */
	assert_string_equal(list[1].name, "mmc0, i801_smbus");
	assert_int_equal(list[1].count, 20000);
	assert_int_equal(list[2].number, -1);
	assert_string_equal(list[2].label, "IPI0");
	assert_string_equal(list[3].name, "Local timer interrupts");
	assert_ptr_equal(irq_find(list, count, "LOC"), &list[3]);
	assert_null(irq_find(list, count, "25"));
	free(list);
	/* cut off anywhere it is still read within its bounds */
	for (size_t length = 0; length < sizeof(interrupts); length++) {
		char *cut = strndup(interrupts, length);

		count = irq_parse(cut, &cpus, &list);
		assert_true(count >= 0 && count <= 5);
		free(list);
		free(cut);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_of_cpus),
		cmocka_unit_test(masks_of_cpus),
		cmocka_unit_test(words_of_the_command_line),
		cmocka_unit_test(kernel_configuration),
		cmocka_unit_test(hostile_files_are_bounded),
		cmocka_unit_test(lines_of_stat),
		cmocka_unit_test(rows_of_interrupts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

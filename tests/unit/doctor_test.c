// SPDX-License-Identifier: GPL-2.0-only
/* The doctor beyond single checks over small trees: many CPUs and interrupts, clocks that no file tells, the boot line. */
#include "cmocka_all.h"

#include "base/units.h"
#include "find_check.h"
#include "host/irq.h"
#include "tree.h"

/* What one line does not hold is not left out in silence. */
static void remedies_of_many_cpus_and_interrupts(void **state)
{
	struct error err = ERROR_INIT;
	char root[64];
	struct exam exam = { .root = root, .cycle_ns = NSEC_PER_MSEC };
	char interrupts[16384] = "     CPU0 CPU1\n", path[128];
	struct finding finding;

	(void)state;
	tree_make(root);
	tree_write(root, "/sys/devices/system/cpu/online", "0-64\n");
	cpulist_parse("1-64", &exam.cpus);
	for (int i = 0; i < 300; i++) {
		size_t used = strlen(interrupts);

		snprintf(interrupts + used, sizeof(interrupts) - used, "%d: 0 0  x  eth%d\n",
			 1000 + i, i);
		snprintf(path, sizeof(path), "/proc/irq/%d/smp_affinity_list", 1000 + i);
		tree_write(root, path, "64\n");
		if (i > 64)
			continue;
		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", i);
		tree_write(root, path, "powersave\n");
	}
	tree_write(root, "/proc/interrupts", interrupts);
	assert_int_equal(exam_gather(&exam, 0, &err), 0);
	doctor_judge(&exam, find_check("irq-affinity"), &finding);
	assert_int_equal(finding.change_count, 300);
	assert_string_equal(finding.fix,
			    "for i in /proc/irq/[0-9]*; do echo 0 > $i/smp_affinity_list; done");
	finding_free(&finding);
	doctor_judge(&exam, find_check("governor"), &finding);
	assert_int_equal(finding.change_count, 64);
	assert_non_null(strstr(finding.fix, "/cpu1/"));
	/* at its end, and once */
	assert_string_equal(strstr(finding.fix, "; ..."),
			    "; ... (all of them: tsnpub doctor --fix)");
	finding_free(&finding);
	exam_free(&exam);
	tree_remove(root);
}

static void offset_of_tai(void **state)
{
	struct exam exam = { .root = "", .cycle_ns = NSEC_PER_MSEC, .tai_offset = 37 };
	struct finding finding;

	(void)state;
	doctor_judge(&exam, find_check("tai-offset"), &finding);
	assert_int_equal(finding.verdict, VERDICT_OK);
	assert_string_equal(finding.value, "TAI - UTC = 37 s");
	exam.tai_offset = 0;
	doctor_judge(&exam, find_check("tai-offset"), &finding);
	assert_int_equal(finding.verdict, VERDICT_WARN);
	exam.tai_offset = EXAM_UNKNOWN;
	doctor_judge(&exam, find_check("tai-offset"), &finding);
	assert_int_equal(finding.verdict, VERDICT_UNKNOWN);
}

static void one_line_for_the_boot_loader(void **state)
{
	struct finding findings[4] = {
		{ .verdict = VERDICT_BAD, .boot = "isolcpus=3 x=1" },
		{ .verdict = VERDICT_OK, .boot = "never=1" },
		{ .verdict = VERDICT_WARN, .boot = "x=1 isolcpus=3 x=11" },
		{ .verdict = VERDICT_UNKNOWN, .boot = "" },
	};
	char line[128], small[12];

	(void)state;
	assert_string_equal(doctor_boot_line(findings, 4, line, sizeof(line)),
			    "isolcpus=3 x=1 x=11");
	assert_string_equal(doctor_boot_line(findings, 4, small, sizeof(small)), "x=1 x=11");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(remedies_of_many_cpus_and_interrupts),
		cmocka_unit_test(offset_of_tai),
		cmocka_unit_test(one_line_for_the_boot_loader),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

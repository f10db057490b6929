// SPDX-License-Identifier: GPL-2.0-only
#include "cmocka_all.h"

#include <signal.h>
#include <sys/wait.h>

#include "host/fix.h"
#include "tree.h"

static char root[64];

static int set_up(void **state)
{
	(void)state;
	tree_make(root);
	tree_write(root, "/proc/sys/kernel/random/boot_id", "one\n");
	tree_write(root, "/proc/irq/5/smp_affinity_list", "0-1\n");
	tree_write(root, "/sys/a", "powersave\n");
	tree_write(root, "/sys/b", "always [madvise] never\n");
	tree_write(root, "/run/x", "");
	/* it can be read, and not be written to: as a file that the kernel guards */
	char path[128];

	snprintf(path, sizeof(path), "%s/sys/guarded", root);
	assert_int_equal(symlink("a", path), 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	tree_remove(root);
	return 0;
}

static const struct change changes[] = {
	{ .kind = CHANGE_FILE, .target = "/proc/irq/5/smp_affinity_list", .value = "0" },
	{ .kind = CHANGE_FILE, .target = "/sys/a", .value = "performance" },
};
static const struct change into_a_directory = { .kind = CHANGE_FILE,
						.target = "/sys",
						.value = "1" };
static const struct change guarded = { .kind = CHANGE_FILE,
				       .target = "/sys/guarded",
				       .value = "1" };
static const struct change missing = { .kind = CHANGE_FILE, .target = "/sys/none", .value = "1" };

static enum fix_undone results[8];
static size_t result_count;

static void note_result(const struct change *was, enum fix_undone result, const char *text,
			void *context)
{
	(void)was;
	(void)text;
	(void)context;
	if (result_count < 8)
		results[result_count++] = result;
}

static void expect_file(const char *path, const char *wanted)
{
	char text[256];

	assert_string_equal(tree_read(root, path, text, sizeof(text)), wanted);
}

static struct fix *open_fix(void)
{
	struct error err = ERROR_INIT;
	struct fix *fix = fix_open(root, true, &err);

	assert_string_equal(err.text, "");
	assert_non_null(fix);
	return fix;
}

static void applied_and_undone(void **state)
{
	struct error err = ERROR_INIT;
	size_t made = 0, refused = 0;
	struct fix *fix = open_fix();

	(void)state;
	assert_int_equal(fix_apply(fix, changes, 2, &made, &refused, &err), 0);
	assert_int_equal(made, 2);
	expect_file("/proc/irq/5/smp_affinity_list", "0");
	expect_file("/sys/a", "performance");
	/* a second time there is nothing to do */
	made = 0;
	assert_int_equal(fix_apply(fix, changes, 2, &made, &refused, &err), 0);
	assert_int_equal(made, 0);
	fix_close(fix);
	/* another run, as after a kill */
	fix = open_fix();
	assert_int_equal(fix_count(fix), 2);
	result_count = 0;
	assert_int_equal(fix_undo(fix, note_result, NULL, &err), 0);
	assert_int_equal(result_count, 2);
	assert_int_equal(results[0], FIX_RESTORED);
	expect_file("/proc/irq/5/smp_affinity_list", "0-1");
	expect_file("/sys/a", "powersave");
	assert_int_equal(fix_count(fix), 0);
	fix_close(fix);
	assert_int_equal(access("/tmp/none", F_OK), -1);
	/* nothing is left to undo */
	fix = open_fix();
	assert_int_equal(fix_count(fix), 0);
	fix_close(fix);
}

static void half_way_failure_undoes_itself(void **state)
{
	const struct change *last[] = { &into_a_directory, &guarded };
	struct fix *fix = open_fix();

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct change list[3] = { changes[0], changes[1], *last[i] };
		struct error err = ERROR_INIT;

		assert_int_equal(fix_apply(fix, list, 3, NULL, NULL, &err), -1);
		assert_non_null(strstr(err.text, last[i]->target));
		expect_file("/proc/irq/5/smp_affinity_list", "0-1");
		expect_file("/sys/a", "powersave");
		assert_int_equal(fix_count(fix), 0);
	}
	fix_close(fix);
}

static void refused_when_optional(void **state)
{
	struct change list[2] = { into_a_directory, changes[1] };
	struct error err = ERROR_INIT;
	size_t made = 0, refused = 0;
	struct fix *fix = open_fix();

	(void)state;
	/* what cannot be read is a failure all the same */
	list[0].optional = true;
	assert_int_equal(fix_apply(fix, list, 2, &made, &refused, &err), -1);
	/* what is not there is passed over */
	list[0] = missing;
	assert_int_equal(fix_apply(fix, list, 2, &made, &refused, &err), 0);
	assert_int_equal(made, 1);
	assert_int_equal(refused, 0);
	list[0] = guarded;
	list[0].optional = true;
	assert_int_equal(fix_apply(fix, list, 2, &made, &refused, &err), 0);
	assert_int_equal(refused, 1);
	assert_int_equal(fix_count(fix), 1);
	fix_close(fix);
}

static void a_choice_in_brackets_is_put_back(void **state)
{
	struct change choice = { .kind = CHANGE_FILE, .target = "/sys/b", .value = "never" };
	struct error err = ERROR_INIT;
	struct fix *fix = open_fix();

	(void)state;
	assert_int_equal(fix_apply(fix, &choice, 1, NULL, NULL, &err), 0);
	assert_int_equal(fix_undo(fix, note_result, NULL, &err), 0);
	expect_file("/sys/b", "madvise");
	fix_close(fix);
}

static void rollback_undoes_this_run_only(void **state)
{
	struct error err = ERROR_INIT;
	struct fix *fix = open_fix();

	(void)state;
	assert_int_equal(fix_apply(fix, changes, 1, NULL, NULL, &err), 0);
	fix_close(fix);
	fix = open_fix();
	assert_int_equal(fix_apply(fix, changes, 2, NULL, NULL, &err), 0);
	assert_int_equal(fix_rollback(fix, &err), 0);
	expect_file("/proc/irq/5/smp_affinity_list", "0");
	expect_file("/sys/a", "powersave");
	assert_int_equal(fix_count(fix), 1);
	fix_close(fix);
}

static void what_others_have_set_is_left_alone(void **state)
{
	struct error err = ERROR_INIT;
	struct fix *fix = open_fix();

	(void)state;
	assert_int_equal(fix_apply(fix, changes, 2, NULL, NULL, &err), 0);
	tree_write(root, "/sys/a", "schedutil\n");
	result_count = 0;
	assert_int_equal(fix_undo(fix, note_result, NULL, &err), 0);
	assert_int_equal(results[0], FIX_CHANGED_SINCE);
	assert_int_equal(results[1], FIX_RESTORED);
	expect_file("/sys/a", "schedutil\n");
	fix_close(fix);
}

static void the_oldest_value_wins(void **state)
{
	struct change again = changes[1];
	struct error err = ERROR_INIT;
	struct fix *fix = open_fix();

	(void)state;
	assert_int_equal(fix_apply(fix, changes, 2, NULL, NULL, &err), 0);
	strcpy(again.value, "ondemand");
	assert_int_equal(fix_apply(fix, &again, 1, NULL, NULL, &err), 0);
	assert_int_equal(fix_undo(fix, note_result, NULL, &err), 0);
	expect_file("/sys/a", "powersave");
	fix_close(fix);
}

/* A second run that was killed when it had noted what it would write: the first one's value is no stranger's. */
static void killed_before_it_wrote(void **state)
{
	struct change again = changes[1];
	struct error err = ERROR_INIT;
	struct fix *fix = open_fix();
	char text[4096];

	(void)state;
	assert_int_equal(fix_apply(fix, &changes[1], 1, NULL, NULL, &err), 0);
	strcpy(again.value, "ondemand");
	assert_int_equal(fix_apply(fix, &again, 1, NULL, NULL, &err), 0);
	fix_close(fix);
	/* one that has come to its end leaves nothing of that */
	assert_null(strstr(tree_read(root, FIX_STATE, text, sizeof(text)), "before"));
	tree_write(root, "/sys/a", "performance\n");
	fix = open_fix();
	result_count = 0;
	assert_int_equal(fix_undo(fix, note_result, NULL, &err), 0);
	assert_int_equal(results[0], FIX_CHANGED_SINCE);
	fix_close(fix);
	tree_write(root, FIX_STATE,
		   "{\"version\": 1, \"boot_id\": \"one\", \"changes\": [{\"kind\": \"file\", "
		   "\"target\": \"/sys/a\", \"key\": \"\", \"was\": \"powersave\", \"set\": "
		   "\"ondemand\", \"before\": \"performance\"}]}");
	fix = open_fix();
	result_count = 0;
	assert_int_equal(fix_undo(fix, note_result, NULL, &err), 0);
	assert_int_equal(results[0], FIX_RESTORED);
	expect_file("/sys/a", "powersave");
	fix_close(fix);
}

/* What stands in the file while a setting is being written. */
static void noted_before_it_is_written(void **state)
{
	struct change change = { .kind = CHANGE_FILE, .target = "/sys/looks", .value = "1" };
	struct error err = ERROR_INIT;
	struct fix *fix = open_fix();
	char path[128], text[4096];
	pid_t writer;

	(void)state;
	/* a pipe: the write waits for this test to read */
	snprintf(path, sizeof(path), "%s/sys/looks", root);
	assert_int_equal(mkfifo(path, 0600), 0);
	writer = fork();
	if (!writer) {
		fix_apply(fix, &change, 1, NULL, NULL, &err);
		_exit(0);
	}
	for (int i = 0; i < 1000 && !*tree_read(root, FIX_STATE, text, sizeof(text)); i++)
		usleep(10000);
	kill(writer, SIGKILL);
	waitpid(writer, NULL, 0);
	assert_non_null(strstr(text, "\"set\": \"1\""));
	assert_non_null(strstr(text, "\"before\": \"\""));
	fix_close(fix);
}

static void two_at_once_are_refused(void **state)
{
	struct error err = ERROR_INIT;
	struct fix *fix = open_fix();

	(void)state;
	assert_null(fix_open(root, true, &err));
	assert_non_null(strstr(err.text, "another tsnpub doctor"));
	fix_close(fix);
}

static void damaged_state_is_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "{", "damaged" },
		{ "[]", "another version" },
		{ "{\"version\": 2}", "another version" },
		{ "{\"version\": 1, \"boot_id\": \"one\"}", "no list" },
		{ "{\"version\": 1, \"boot_id\": \"one\", \"changes\": [{}]}", "change 0" },
		{ "{\"version\": 1, \"boot_id\": \"one\", \"changes\": [{\"kind\": \"file\", "
		  "\"target\": "
		  "\"/etc/passwd\", \"key\": \"\", \"was\": \"\", \"set\": \"\"}]}",
		  "change 0" },
		{ "{\"version\": 1, \"boot_id\": \"one\", \"changes\": [{\"kind\": \"file\", "
		  "\"target\": "
		  "\"/proc/../etc/passwd\", \"key\": \"\", \"was\": \"\", \"set\": \"\"}]}",
		  "change 0" },
		{ "{\"version\": 1, \"boot_id\": \"one\", \"changes\": [{\"kind\": \"service\", "
		  "\"target\": \"sshd\", \"key\": \"\", \"was\": \"running\", \"set\": "
		  "\"stopped\"}]}",
		  "change 0" },
	};
	char path[128];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error err = ERROR_INIT;

		tree_write(root, FIX_STATE, bad[i].text);
		assert_null(fix_open(root, true, &err));
		assert_non_null(strstr(err.text, bad[i].says));
		assert_int_equal(err.status, STATUS_SYSTEM);
	}
	/* one that others may write to is not believed */
	struct error err = ERROR_INIT;

	tree_write(root, FIX_STATE, "{\"version\": 1, \"boot_id\": \"one\", \"changes\": []}");
	snprintf(path, sizeof(path), "%s%s", root, FIX_STATE);
	assert_int_equal(chmod(path, 0666), 0);
	assert_null(fix_open(root, true, &err));
	assert_int_equal(chmod(path, 0600), 0);
	/* nor somebody else's */
	if (!geteuid()) {
		assert_int_equal(chown(path, 65534, 65534), 0);
		assert_null(fix_open(root, true, &err));
		assert_non_null(strstr(err.text, "no state file of the doctor"));
		assert_int_equal(chown(path, 0, 0), 0);
	} else {
		print_message("not root: a file of another user cannot be made\n");
	}
	/* nor a pipe, which is not waited for, nor a link */
	assert_int_equal(remove(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(60);
	assert_null(fix_open(root, true, &err));
	alarm(0);
	assert_non_null(strstr(err.text, "no state file of the doctor"));
	assert_int_equal(remove(path), 0);
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_null(fix_open(root, true, &err));
	assert_non_null(strstr(err.text, "cannot read"));
	assert_int_equal(remove(path), 0);
	/* that of an earlier boot is empty */
	err = (struct error)ERROR_INIT;
	tree_write(root, FIX_STATE, "{\"version\": 1, \"boot_id\": \"one\", \"changes\": []}");
	tree_write(root, "/proc/sys/kernel/random/boot_id", "two\n");
	struct fix *fix = fix_open(root, true, &err);

	assert_non_null(fix);
	assert_int_equal(fix_count(fix), 0);
	fix_close(fix);
}

static void commands_are_exact(void **state)
{
	static const struct {
		struct change change;
		const char *command;
	} list[] = {
		{ { CHANGE_FILE, false, "/proc/irq/89/smp_affinity_list", "", "3" },
		  "echo 3 > /proc/irq/89/smp_affinity_list" },
		{ { CHANGE_ETHTOOL, false, "enp1s0", "rx-usecs", "0" },
		  "ethtool -C enp1s0 rx-usecs 0" },
		{ { CHANGE_ETHTOOL, false, "enp1s0", "adaptive-rx", "0" },
		  "ethtool -C enp1s0 adaptive-rx off" },
		{ { CHANGE_ETHTOOL, false, "enp1s0", "ring-tx", "64" }, "ethtool -G enp1s0 tx 64" },
		{ { CHANGE_ETHTOOL, false, "enp1s0", "pause-autoneg", "0" },
		  "ethtool -A enp1s0 autoneg off" },
		{ { CHANGE_ETHTOOL, false, "enp1s0", "channels-combined", "4" },
		  "ethtool -L enp1s0 combined 4" },
		{ { CHANGE_ETHTOOL, false, "enp1s0", "eee", "0" },
		  "ethtool --set-eee enp1s0 eee off" },
		{ { CHANGE_FEATURE, false, "enp1s0", "rx-gro", "off" },
		  "ethtool -K enp1s0 rx-gro off" },
		{ { CHANGE_SERVICE, false, "irqbalance", "", "stopped" },
		  "systemctl stop irqbalance" },
	};
	char text[512];

	(void)state;
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		assert_string_equal(change_command(&list[i].change, text, sizeof(text)),
				    list[i].command);
	assert_true(change_same(&list[0].change, "0-1", "0,1"));
	assert_false(change_same(&list[0].change, "0-1", "0"));
	assert_false(change_same(&list[1].change, "0", "00"));
	assert_int_equal(change_kind_find("nonsense"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(applied_and_undone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(half_way_failure_undoes_itself, set_up, tear_down),
		cmocka_unit_test_setup_teardown(refused_when_optional, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_choice_in_brackets_is_put_back, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(rollback_undoes_this_run_only, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_others_have_set_is_left_alone, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_oldest_value_wins, set_up, tear_down),
		cmocka_unit_test_setup_teardown(killed_before_it_wrote, set_up, tear_down),
		cmocka_unit_test_setup_teardown(noted_before_it_is_written, set_up, tear_down),
		cmocka_unit_test_setup_teardown(two_at_once_are_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(damaged_state_is_refused, set_up, tear_down),
		cmocka_unit_test(commands_are_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

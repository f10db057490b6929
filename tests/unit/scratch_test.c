// SPDX-License-Identifier: GPL-2.0-only
/* Directories of one's own, and those that killed processes left behind. */
#include "cmocka_all.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/scratch.h"

static char name[32]; /* this test's own */

static bool exists(const char *path)
{
	struct stat st;

	return !lstat(path, &st);
}

static void put_file(const struct scratch *scratch, const char *file)
{
	int fd = openat(scratch->fd, file, O_CREAT | O_WRONLY, 0600);

	assert_true(fd >= 0);
	close(fd);
}

/* A process that makes one, tells its path, and waits to be killed. */
static pid_t someone(char path[SCRATCH_PATH])
{
	int tell[2];
	pid_t pid;

	assert_int_equal(pipe(tell), 0);
	pid = fork();
	if (!pid) {
		struct scratch scratch = SCRATCH_INIT;

		if (scratch_make(&scratch, name))
			_exit(1);
		put_file(&scratch, "socket");
		if (write(tell[1], scratch.path, SCRATCH_PATH) != SCRATCH_PATH)
			_exit(1);
		for (;;)
			pause();
	}
	close(tell[1]);
	assert_int_equal(read(tell[0], path, SCRATCH_PATH), SCRATCH_PATH);
	close(tell[0]);
	return pid;
}

static void it_goes_with_what_is_in_it(void **state)
{
	struct scratch scratch = SCRATCH_INIT, none = SCRATCH_INIT;
	char path[SCRATCH_PATH];
	struct stat st;

	(void)state;
	assert_int_equal(scratch_make(&scratch, name), 0);
	strcpy(path, scratch.path);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	put_file(&scratch, "one");
	put_file(&scratch, "two");
	scratch_remove(&scratch);
	assert_false(exists(path));
	scratch_remove(&scratch);
	scratch_remove(&none);
	assert_true(fcntl(0, F_GETFD) >= 0);
}

static void the_living_stay_the_dead_go(void **state)
{
	struct scratch mine = SCRATCH_INIT;
	char living[SCRATCH_PATH], dead[SCRATCH_PATH], longer[SCRATCH_PATH + 8];
	pid_t a = someone(living), b = someone(dead);

	(void)state;
	assert_int_equal(scratch_make(&mine, name), 0);
	kill(b, SIGKILL);
	waitpid(b, NULL, 0);
	assert_true(exists(dead));
	/* of another name */
	snprintf(longer, sizeof(longer), "%sx", dead);
	assert_int_equal(mkdir(longer, 0700), 0);
	scratch_clean(name);
	assert_true(exists(living));
	assert_true(exists(mine.path));
	assert_false(exists(dead));
	assert_true(exists(longer));
	rmdir(longer);
	kill(a, SIGKILL);
	waitpid(a, NULL, 0);
	scratch_remove(&mine);
	scratch_clean(name);
	assert_false(exists(living));
}

static void what_someone_else_put_there_is_not_followed(void **state)
{
	char target[] = "/tmp/tsnpub-target.XXXXXX", path[64], link[64];
	int fd;

	(void)state;
	assert_non_null(mkdtemp(target));
	snprintf(path, sizeof(path), "%s/file", target);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	close(fd);
	snprintf(link, sizeof(link), "/tmp/%s.aaaaaa", name);
	assert_int_equal(symlink(target, link), 0);
	scratch_clean(name);
	assert_true(exists(path));
	unlink(link);
	/* another user's: it could be looked into by root only, and stays */
	if (!geteuid()) {
		assert_int_equal(rename(target, link), 0);
		assert_int_equal(chown(link, 65534, 65534), 0);
		scratch_clean(name);
		assert_true(exists(link));
		assert_int_equal(rename(link, target), 0);
	}
	unlink(path);
	rmdir(target);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_goes_with_what_is_in_it),
		cmocka_unit_test(the_living_stay_the_dead_go),
		cmocka_unit_test(what_someone_else_put_there_is_not_followed),
	};

	snprintf(name, sizeof(name), "tsnpub-test%d", getpid());
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/* Who is at the other end of an ssh session, by environments of any kind. */
#include "cmocka_all.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/process.h"
#include "host/session.h"

static char client[SESSION_CLIENT];

static bool of(const char *text, size_t size)
{
	/* its own block: what is read beyond it the sanitizer sees */
	char *copy = malloc(size + !size);
	bool found;

	assert_non_null(copy);
	memcpy(copy, text, size);
	found = session_client_of(copy, size, client);
	free(copy);
	return found;
}

/* exit status of a child that this kernel cannot start, since it is for another architecture */
#define FOREIGN 77

static void the_client_is_found(void **state)
{
	static const char environment[] =
		"TERM=xterm\0MY_SSH_CONNECTION=x\0SSH_CONNECTION=192.0.2.9 50000 192.0.2.1 22\0A=b";

	(void)state;
	assert_true(of(environment, sizeof(environment)));
	assert_string_equal(client, "192.0.2.9");
	assert_true(of("SSH_CLIENT=fe80::1%eth0 5 22", 28));
	assert_string_equal(client, "fe80::1%eth0");
}

static void others_have_none(void **state)
{
	char long_one[200] = "SSH_CLIENT=";

	(void)state;
	assert_false(of("", 0));
	assert_false(of("SSH_CLIENT=", 11));
	assert_false(of("SSH_CLIENT= 5 22", 16));
	assert_false(of("TERM=SSH_CLIENT=1", 17));
	memset(long_one + 11, '1', sizeof(long_one) - 11);
	assert_false(of(long_one, sizeof(long_one)));
}

/* As under sudo: the variable is gone, the parent still has it. */
static void parents_are_asked(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	pid = fork();
	if (!pid) {
		setenv("SSH_CONNECTION", "198.51.100.7 1 198.51.100.1 22", 1);
		/* a process's environment is what it was started with */
		execl("/proc/self/exe", "session_test", "parent", (char *)NULL);
		_exit(errno == ENOEXEC ? FOREIGN : 9);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == FOREIGN) {
		/* not skip(): this cmocka calls that "not ok" */
		print_message("# not tested: an emulated program cannot start itself anew\n");
		return;
	}
	assert_int_equal(status, 0);
}

static int child_of_one(void)
{
	int status = 1;
	pid_t pid = fork();

	if (!pid) {
		unsetenv("SSH_CONNECTION");
		_exit(!session_ssh_client(client) || strcmp(client, "198.51.100.7") != 0);
	}
	waitpid(pid, &status, 0);
	return status != 0;
}

/* In a container the first process often does not ask for its children: one that ended must not be waited for. */
static void a_process_that_ended_does_not_live(void **state)
{
	struct process child;
	siginfo_t info;
	pid_t pid = fork();

	(void)state;
	if (!pid)
		for (;;)
			pause();
	child = process_of(pid);
	assert_true(process_lives(child));
	assert_int_equal(kill(pid, SIGKILL), 0);
	/* it has ended, and nobody has asked */
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_false(process_lives(child));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_false(process_lives(child));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_client_is_found),
		cmocka_unit_test(others_have_none),
		cmocka_unit_test(parents_are_asked),
		cmocka_unit_test(a_process_that_ended_does_not_live),
	};

	if (argc == 2 && !strcmp(argv[1], "parent"))
		return child_of_one();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

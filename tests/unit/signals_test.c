// SPDX-License-Identifier: GPL-2.0-only
#include "cmocka_all.h"

#include "base/signals.h"

static volatile sig_atomic_t caught;

static void on_signal(int number)
{
	caught = number;
}

static void interrupt_and_hangup_end_a_command(void **state)
{
	sigset_t set;

	(void)state;
	signal(SIGHUP, SIG_DFL);
	signals_that_end(&set);
	assert_true(sigismember(&set, SIGINT) == 1 && sigismember(&set, SIGTERM) == 1 &&
		    sigismember(&set, SIGHUP) == 1);
	assert_int_equal(sigismember(&set, SIGQUIT), 0);
	signals_catch(on_signal);
	raise(SIGHUP);
	assert_int_equal(caught, SIGHUP);
	/* who catches it ends by it as well */
	signals_that_end(&set);
	assert_int_equal(sigismember(&set, SIGHUP), 1);
}

static void under_nohup_a_hangup_ends_nothing(void **state)
{
	sigset_t set;

	(void)state;
	/* a shell without job control ignores SIGINT for what runs in the background; scripts send it all the same */
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signals_that_end(&set);
	assert_int_equal(sigismember(&set, SIGHUP), 0);
	assert_int_equal(sigismember(&set, SIGINT), 1);
	assert_int_equal(sigismember(&set, SIGTERM), 1);
	caught = 0;
	signals_catch(on_signal);
	raise(SIGHUP);
	assert_int_equal(caught, 0);
	raise(SIGINT);
	assert_int_equal(caught, SIGINT);
	signal(SIGHUP, SIG_DFL);
	signal(SIGINT, SIG_DFL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(interrupt_and_hangup_end_a_command),
		cmocka_unit_test(under_nohup_a_hangup_ends_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
#include "cmocka_all.h"

#include <sched.h>
#include <string.h>
#include <sys/rseq.h>

#include "host/realtime.h"

static void *enter(void *arg)
{
	struct realtime *rt = arg;

	realtime_thread(rt);
	return (void *)(long)sched_getscheduler(0);
}

/* With or without the privilege: what is said to be in force is what the kernel says. */
static void the_policy_said_is_the_policy_in_force(void **state)
{
	struct realtime_request request = { .policy = REALTIME_FIFO,
					    .priority = 5,
					    .cpu = REALTIME_CPU_ANY };
	struct realtime rt;
	pthread_t thread;
	void *scheduler;

	(void)state;
	realtime_init(&rt, &request);
	assert_int_equal(realtime_thread_create(&thread, enter, &rt, 0), 0);
	pthread_join(thread, &scheduler);
	if ((long)scheduler == SCHED_FIFO) {
		assert_int_equal(rt.policy, REALTIME_FIFO);
		assert_int_equal(rt.priority, 5);
	} else {
		assert_int_equal(rt.policy, REALTIME_OTHER);
		assert_true(rt.shortfalls > 0);
		assert_non_null(strstr(rt.shortfall[rt.shortfalls - 1], "not as SCHED_FIFO"));
	}
	assert_int_equal(rt.cpu, realtime_choose_cpu());
	realtime_release(&rt);
}

static void *cpu_known(void *arg)
{
	struct realtime *rt = arg;
	long known = 0;

	realtime_thread(rt);
	realtime_leave_restartable_sequences();
#ifdef RSEQ_SIG
	const volatile struct rseq *area =
		(void *)((char *)__builtin_thread_pointer() + __rseq_offset);

	/* the kernel writes there with each change of CPU, as long as it is registered */
	known = __rseq_size && (int)area->cpu_id >= 0;
#endif
	return (void *)(known << 1 | (sched_getcpu() == rt->cpu));
}

/* Each wake-up would be dearer for what no one asks for; and who asks is still told. */
static void the_kernel_does_not_tell_the_thread_its_cpu_at_each_wakeup(void **state)
{
	struct realtime_request request = { .policy = REALTIME_OTHER, .cpu = REALTIME_CPU_ANY };
	struct realtime rt;
	pthread_t thread;
	void *result;

	(void)state;
	realtime_init(&rt, &request);
	assert_int_equal(realtime_thread_create(&thread, cpu_known, &rt, 0), 0);
	pthread_join(thread, &result);
	assert_int_equal((long)result, 1);
	realtime_release(&rt);
}

static void wrong_policies_and_cpus_are_refused(void **state)
{
	struct error err = ERROR_INIT;
	enum realtime_policy policy = REALTIME_OTHER;
	int cpu = -7;

	(void)state;
	assert_int_equal(realtime_parse_policy("--policy", "rr", &policy, &err), 0);
	assert_int_equal(policy, REALTIME_RR);
	assert_int_equal(realtime_parse_policy("--policy", "FIFO", &policy, &err), -1);
	assert_int_equal(err.status, STATUS_INPUT);
	assert_int_equal(realtime_parse_cpu("--cpu", "0", &cpu, &err), 0);
	assert_int_equal(cpu, 0);
	assert_int_equal(realtime_parse_cpu("--cpu", "99999", &cpu, &err), -1);
	assert_int_equal(realtime_parse_cpu("--cpu", "-1", &cpu, &err), -1);
	assert_int_equal(cpu, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_policy_said_is_the_policy_in_force),
		cmocka_unit_test(the_kernel_does_not_tell_the_thread_its_cpu_at_each_wakeup),
		cmocka_unit_test(wrong_policies_and_cpus_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

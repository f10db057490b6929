// SPDX-License-Identifier: GPL-2.0-only
/*
 * hog CPU PRIORITY HOLD_US PERIOD_US COUNT: a SCHED_FIFO thread that keeps a CPU busy for HOLD_US, COUNT times, once in
 * each PERIOD_US. PRIORITY 0: an ordinary thread.
 */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

int main(int argc, char **argv)
{
	struct sched_param param = { 0 };
	int64_t hold, period, next;
	cpu_set_t set;

	if (argc != 6) {
		fprintf(stderr, "hog CPU PRIORITY HOLD_US PERIOD_US COUNT\n");
		return 2;
	}
	CPU_ZERO(&set);
	CPU_SET((size_t)atoi(argv[1]), &set);
	param.sched_priority = atoi(argv[2]);
	if (sched_setaffinity(0, sizeof(set), &set) ||
	    (param.sched_priority && sched_setscheduler(0, SCHED_FIFO, &param))) {
		perror("hog");
		return 3;
	}
	hold = atoll(argv[3]) * 1000;
	period = atoll(argv[4]) * 1000;
	next = now_ns() + period;
	for (int i = 0; i < atoi(argv[5]); i++, next += period) {
		struct timespec until = { next / 1000000000LL, next % 1000000000LL };
		int64_t start;

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		start = now_ns();
		while (now_ns() < start + hold)
			;
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/* What blame costs: how much later a thread wakes up with it than without. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "engine/blame.h"
#include "host/realtime.h"

#define WARM_UP 32
#define PERIOD_NS (250 * NSEC_PER_USEC)
/* where all of it is spent busy, and nobody else gets the CPU */
#define SPIN_PERIOD_NS (50 * NSEC_PER_USEC)

struct rehearsal {
	int cpu;
	int64_t spin_ns;
	struct blame *blame; /* NULL: not attached yet */
	int64_t lateness[BLAME_COST_WAKES];
};

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static int64_t tenth(int64_t *values, size_t count)
{
	qsort(values, count, sizeof(*values), by_value);
	return values[count / 10];
}

struct blame_tenth blame_tenth_of(int64_t *values, size_t count)
{
	int64_t least = INT64_MAX, most = INT64_MIN;

	for (size_t i = 0; i < 4; i++) {
		int64_t value = tenth(values + i * (count / 4), count / 4);

		if (value < least)
			least = value;
		if (value > most)
			most = value;
	}
	return (struct blame_tenth){ tenth(values, count), most - least };
}

int64_t blame_cost_noise(const struct blame_tenth *with, const struct blame_tenth *without)
{
	return with->noise_ns > without->noise_ns ? with->noise_ns : without->noise_ns;
}

char *blame_cost_text(const struct blame_tenth *with, const struct blame_tenth *without,
		      char buffer[BLAME_COST_TEXT])
{
	int64_t noise = blame_cost_noise(with, without);
	int64_t later = with->ns - without->ns;
	char less[64] = "";

	if (later <= noise)
		snprintf(less, sizeof(less), ", no more than the noise of %" PRId64 " ns", noise);
	snprintf(buffer, BLAME_COST_TEXT,
		 "%" PRId64 " ns later%s: P10 %" PRId64 " instead of %" PRId64 " ns",
		 later > 0 ? later : 0, less, with->ns, without->ns);
	return buffer;
}

static void *rehearse(void *context)
{
	struct rehearsal *r = context;
	struct realtime_request request = { .cpu = r->cpu,
					    .policy = REALTIME_FIFO,
					    .priority = BLAME_COST_PRIORITY };
	struct wake_clock clock = wake_clock_system;
	struct realtime realtime;
	struct waker waker;
	int64_t until, now;
	int64_t period = r->spin_ns >= PERIOD_NS ? SPIN_PERIOD_NS : PERIOD_NS;

	realtime_init(&realtime, &request);
	realtime_thread(&realtime); /* a shortfall is the same for both */
	if (r->blame) {
		clock.watch = blame_watch(r->blame);
		clock.watch->begin(clock.watch->context);
	}
	waker_init(&waker, &clock, r->spin_ns, NULL);
	waker_look(&waker, &until);
	for (int i = -WARM_UP; i < BLAME_COST_WAKES; i++) {
		bool stepped;

		until += period;
		stepped = waker_until(&waker, until, &now) == WAKE_STEPPED;
		if (i >= 0)
			r->lateness[i] = stepped ? INT64_MAX : now - until;
		/* none is due before it begins to wait for it */
		if (stepped || now - until > period)
			until = now;
	}
	if (r->blame)
		clock.watch->end(clock.watch->context);
	return NULL;
}

int blame_cost_lateness(int cpu, int64_t spin_ns, struct blame *blame, struct blame_tenth *lateness)
{
	struct rehearsal *r = calloc(1, sizeof(*r));
	pthread_t thread;
	int result;

	if (!r)
		return -ENOMEM;
	r->cpu = cpu;
	r->spin_ns = spin_ns;
	r->blame = blame;
	result = -realtime_thread_create(&thread, rehearse, r, 0);
	if (!result) {
		pthread_join(thread, NULL);
		*lateness = blame_tenth_of(r->lateness, BLAME_COST_WAKES);
	}
	free(r);
	return result;
}

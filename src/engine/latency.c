// SPDX-License-Identifier: GPL-2.0-only
#include "engine/latency.h"

#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/cycle.h"

#define RING_EVENTS 65536 /* 2 s of the shortest cycle */
#define OVERHEAD_ROUNDS 2000

struct latency {
	struct latency_settings settings;
	struct realtime realtime;
	struct cycle cycle;
	struct cycle_control control;
	struct spsc ring;
	struct stream stream;
	int64_t wire_ns;
	struct wake_clock clock;
	int timer_fd, epoll_fd;
	pthread_t thread;
	bool running; /* the thread is to be joined */
	sem_t ready;
	int64_t overhead_ns;
	/* the collector's */
	int64_t first_cycle;
	bool any;
	int64_t last_wake;
	struct latency_counts counts;
};

static const char *const timer_names[LATENCY_TIMERS] = { "nanosleep", "timerfd", "epoll", "spin" };

const char *latency_timer_name(enum latency_timer timer)
{
	return timer_names[timer];
}

int latency_timer_find(const char *name)
{
	for (int i = 0; i < LATENCY_TIMERS; i++)
		if (!strcmp(timer_names[i], name))
			return i;
	return -1;
}

static void sleep_timerfd(void *context, int64_t until_monotonic_ns)
{
	struct latency *l = context;
	struct itimerspec when = { .it_value = ns_to_timespec(until_monotonic_ns) };
	uint64_t expirations;

	if (timerfd_settime(l->timer_fd, TFD_TIMER_ABSTIME, &when, NULL) ||
	    read(l->timer_fd, &expirations, sizeof(expirations)) < 0)
		return; /* the loop looks at the clock and comes back */
}

/* Event loops round the time left up to the milliseconds that epoll_wait() takes. */
static void sleep_epoll(void *context, int64_t until_monotonic_ns)
{
	struct latency *l = context;
	int64_t left = until_monotonic_ns - clock_now_ns(CLOCK_MONOTONIC);
	struct epoll_event event;

	if (left > 0)
		epoll_wait(l->epoll_fd, &event, 1,
			   (int)((left + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC));
}

static int64_t now_tai(void *context)
{
	(void)context;
	return clock_now_ns(CLOCK_TAI);
}

static int64_t now_monotonic(void *context)
{
	(void)context;
	return clock_now_ns(CLOCK_MONOTONIC);
}

static int choose_clock(struct latency *l, struct error *err)
{
	l->clock = wake_clock_system;
	if (l->settings.timer == LATENCY_TIMERFD) {
		l->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
		if (l->timer_fd < 0)
			return error_errno(err, errno, "--timer timerfd");
		l->clock = (struct wake_clock){ now_tai, now_monotonic, sleep_timerfd, l, NULL };
	} else if (l->settings.timer == LATENCY_EPOLL) {
		l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
		if (l->epoll_fd < 0)
			return error_errno(err, errno, "--timer epoll");
		l->clock = (struct wake_clock){ now_tai, now_monotonic, sleep_epoll, l, NULL };
	}
	l->cycle.clock = l->settings.wrap ? l->settings.wrap(l->settings.wrap_context, &l->clock)
					  : &l->clock;
	return 0;
}

/* There is nothing to send: each frame counts as sent at once. */
static void send_nothing(void *context, struct cycle_frame *frames, unsigned count)
{
	(void)context;
	for (unsigned i = 0; i < count; i++)
		frames[i].status = TX_SENT;
}

/*
 * What one round does beside sleeping: it looks at the clocks and passes the event on. Measured in the
 * cyclic thread, before the loop, into a ring that is emptied again.
 */
static int64_t measure_overhead(struct latency *l)
{
	struct cycle_event event = { .kind = CYCLE_FRAME };
	struct waker waker;
	int64_t start, now;
	struct spsc ring;

	if (spsc_init(&ring, OVERHEAD_ROUNDS, sizeof(event)))
		return 0;
	waker_init(&waker, l->cycle.clock, 0, NULL);
	start = clock_now_ns(CLOCK_MONOTONIC);
	for (int i = 0; i < OVERHEAD_ROUNDS; i++) {
		waker_look(&waker, &now);
		event.launch = now;
		spsc_push(&ring, &event);
	}
	start = clock_now_ns(CLOCK_MONOTONIC) - start;
	spsc_free(&ring);
	return start / OVERHEAD_ROUNDS;
}

static void *run(void *context)
{
	struct latency *l = context;

	realtime_thread(&l->realtime);
	l->overhead_ns = measure_overhead(l);
	sem_post(&l->ready);
	cycle_run(&l->cycle);
	return NULL;
}

int latency_start(struct latency **result, const struct latency_settings *settings,
		  struct error *err)
{
	struct latency *l = calloc(1, sizeof(*l));
	int reason;

	*result = NULL;
	if (!l)
		return error_errno(err, ENOMEM, "latency");
	l->settings = *settings;
	l->timer_fd = l->epoll_fd = -1;
	sem_init(&l->ready, 0, 0);
	realtime_init(&l->realtime, &settings->realtime);
	l->stream = (struct stream){ .every = 1, .frames = 1, .size = FRAME_SIZE_MIN };
	if (spsc_init(&l->ring, RING_EVENTS, sizeof(struct cycle_event))) {
		error_errno(err, ENOMEM, "latency");
		goto fail;
	}
	if (choose_clock(l, err) < 0)
		goto fail;
	l->cycle.settings = (struct cycle_settings){
		.cycle_ns = settings->cycle_ns,
		/* a late wake-up is measured, however late; only what was slept through is passed over */
		.late_max_ns = settings->cycle_ns - 1,
		.spin_ns = settings->timer == LATENCY_SPIN ? INT64_MAX : 0,
		.cycles = settings->cycles,
		.start_delay_ns = settings->start_delay_ns,
		.stop_over_ns = settings->stop_over_ns,
	};
	l->cycle.streams = &l->stream;
	l->cycle.wire_ns = &l->wire_ns;
	l->cycle.count = 1;
	l->cycle.send = send_nothing;
	l->cycle.control = &l->control;
	l->cycle.events = &l->ring;
	if (cycle_init(&l->cycle)) {
		error_errno(err, ENOMEM, "latency");
		goto fail;
	}
	realtime_process(&l->realtime);
	reason = realtime_thread_create(&l->thread, run, l, 0);
	if (reason) {
		error_errno(err, reason, "cannot start the cyclic thread");
		goto fail;
	}
	l->running = true;
	while (sem_wait(&l->ready))
		;
	*result = l;
	return 0;

fail:
	latency_free(l);
	return -1;
}

void latency_stop(struct latency *l)
{
	cycle_control_stop(&l->control);
}

static void take_event(struct latency *l, const struct cycle_event *event,
		       void (*take)(void *, const struct wake_record *), void *context)
{
	struct wake_record record = { .expected = event->launch, .wake = event->wake };

	if (event->kind == CYCLE_STEP)
		l->counts.steps++;
	if (event->kind != CYCLE_FRAME || event->wake == STAMP_NONE)
		return;
	if (!l->any)
		l->first_cycle = event->cycle;
	/* due before the last wake-up: nobody slept */
	if (l->any && event->launch <= l->last_wake) {
		l->last_wake = event->wake;
		return;
	}
	l->any = true;
	l->last_wake = event->wake;
	record.seq = event->cycle - l->first_cycle;
	/* the loop goes on for some cycles to flag the last frame of a stream: nobody asked for those */
	if ((uint64_t)record.seq >= l->settings.cycles)
		return;
	take(context, &record);
}

bool latency_collect(struct latency *l, void (*take)(void *, const struct wake_record *),
		     void *context)
{
	/* read first: what comes after it is taken below, or by the next call */
	bool done = atomic_load_explicit(&l->cycle.done, memory_order_acquire);
	struct cycle_event event;

	while (spsc_pop(&l->ring, &event))
		take_event(l, &event, take, context);
	return !done;
}

const struct realtime *latency_realtime(const struct latency *l)
{
	return &l->realtime;
}

void latency_counts(const struct latency *l, struct latency_counts *counts)
{
	*counts = l->counts;
	counts->lost = atomic_load(&l->ring.dropped);
	counts->overhead_ns = l->overhead_ns;
}

void latency_free(struct latency *l)
{
	if (!l)
		return;
	if (l->running) {
		latency_stop(l);
		latency_stop(l); /* twice: at once */
		pthread_join(l->thread, NULL);
	}
	realtime_release(&l->realtime);
	cycle_free(&l->cycle);
	spsc_free(&l->ring);
	if (l->timer_fd >= 0)
		close(l->timer_fd);
	if (l->epoll_fd >= 0)
		close(l->epoll_fd);
	sem_destroy(&l->ready);
	free(l);
}

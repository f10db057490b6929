// SPDX-License-Identifier: GPL-2.0-only
/* The run itself: threads, signals, link. */
#include "engine/publisher.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/signals.h"
#include "engine/publisher_private.h"
#include "host/capability.h"

#define DOWN_LOOK_MS 50

struct run {
	struct publisher *p;
	const struct publisher_events *events;
	int64_t down_since_ns; /* CLOCK_MONOTONIC, 0: the link is there */
	bool stopping;
	bool requeued; /* it was said that the qdiscs are others */
};

__attribute__((format(printf, 3, 4))) static void say(const struct run *run, bool warning,
						      const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	run->events->say(run->events->context, warning, text);
}

static void *cyclic(void *context)
{
	struct publisher *p = context;
	struct error ignored = ERROR_INIT;

	realtime_thread(&p->setup.realtime);
	realtime_leave_restartable_sequences();
	capability_keep_only(0, &ignored);
	sem_post(&p->ready);
	while (sem_wait(&p->go) < 0)
		;
	if (!atomic_load(&p->control.abort))
		cycle_run(&p->cycle);
	else
		atomic_store(&p->cycle.done, true);
	return NULL;
}

/* The helpers keep off the cyclic thread's CPU, where there is another one. */
static void keep_off(int cpu)
{
	cpu_set_t set;

	if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof(set), &set) < 0)
		return;
	CPU_CLR(cpu, &set);
	if (CPU_COUNT(&set))
		sched_setaffinity(0, sizeof(set), &set);
}

/* Only now: a failure before it leaves an earlier log alone, and the description tells what is in force. */
static int create_log(struct publisher *p, struct error *err)
{
	json_t *description;

	if (!p->options.log_path)
		return 0;
	description = publisher_describe(p);
	if (!description)
		return error_errno(err, ENOMEM, "cannot describe the run");
	p->log = log_create(p->options.log_path, RECORD_TX, description, err);
	json_decref(description);
	return p->log ? 0 : -1;
}

/* The cyclic thread, and what needs privileges, or the description of what is in force. */
static int start_cyclic(struct publisher *p, struct error *err)
{
	const struct realtime *rt = &p->setup.realtime;
	int result;

	realtime_process(&p->setup.realtime);
	result = realtime_thread_create(&p->cyclic_thread, cyclic, p, 0);
	if (result)
		return error_errno(err, result, "cannot start the cyclic thread");
	p->cyclic_started = true;
	while (sem_wait(&p->ready) < 0)
		;
	if (p->options.strict && rt->shortfalls)
		return error_system(err, "--strict: %s", rt->shortfall[0]);
	if (create_log(p, err) < 0)
		return -1;
	keep_off(rt->cpu);
	return 0;
}

/* The others, which have no more privileges than this one. */
static int start_helpers(struct publisher *p, struct error *err)
{
	int result;

	result = realtime_thread_create(&p->collecting_thread, publisher_collect, p, 0);
	if (result)
		return error_errno(err, result, "cannot start the collecting thread");
	p->collecting_started = true;
	if (!p->log)
		return 0;
	result = realtime_thread_create(&p->writing_thread, publisher_write, p, 0);
	if (result)
		return error_errno(err, result, "cannot start the writing thread");
	p->writing_started = true;
	return 0;
}

/* Ends what start_cyclic() and start_helpers() have begun, as far as they got. */
static void join_threads(struct publisher *p, bool failed)
{
	if (failed) {
		atomic_store(&p->control.stop, 2);
		atomic_store(&p->control.abort, 1);
		sem_post(&p->go);
	}
	if (p->cyclic_started)
		pthread_join(p->cyclic_thread, NULL);
	if (p->collecting_started)
		pthread_join(p->collecting_thread, NULL);
	else
		atomic_store(&p->collected, true);
	if (p->writing_started)
		pthread_join(p->writing_thread, NULL);
	p->cyclic_started = p->collecting_started = p->writing_started = false;
}

/* Before frames are sent again. `anew`: it is another interface of that name. */
static void restart_gates(struct run *run, const char *interface, bool anew)
{
	const struct publisher_options *options = &run->p->options;
	const char *why = anew ? "the interface was made anew, without its schedule"
			       : "the kernel stopped its gates for good when the link went";
	struct error err = ERROR_INIT;

	if (!options->restart_gates)
		say(run, true, "%s: %s%s; `tsnpub schedule apply` %s", interface, why,
		    anew ? "" : ": frames of closed classes stay in the queue",
		    anew ? "installs it again" : "starts them again");
	else if (options->restart_gates(options->restart_context, &err))
		say(run, true, "%s: %s, and it could not be put right: %s", interface, why,
		    err.text);
	else
		say(run, false, "%s: %s", interface,
		    anew ? "the interface was made anew, and the schedule is installed on it again"
			 : "the gates, which the kernel stopped when the link went, run again");
}

static void stop_for_link(struct run *run)
{
	struct publisher *p = run->p;

	if (p->options.link_loss != LINK_LOSS_STOP || run->stopping)
		return;
	run->stopping = true;
	p->counts.stopped_early = true;
	cycle_control_stop(&p->control);
}

/* What was read back at the start then need not be so any more; a NIC or qdisc says nothing of it. */
static void qdiscs_changed(struct run *run, bool by_itself)
{
	struct publisher *p = run->p;

	if (!link_monitor_requeued(p->monitor) || by_itself || run->requeued)
		return;
	run->requeued = true;
	say(run, true,
	    "%s: its qdiscs were changed in mid-run: that frames leave by pacing %s is not known "
	    "from here on; start anew to have it read back",
	    p->setup.link.name, pacing_name(p->setup.pacing.kind));
}

/* Links that were back before the kernel told of their loss: frames went out meanwhile, and into nothing. */
static void link_flapped(struct run *run)
{
	struct publisher *p = run->p;
	uint32_t times = link_monitor_unseen(p->monitor);

	if (!times)
		return;
	p->counts.link_losses += times;
	say(run, true, "%s: the link was lost (no carrier) and soon back, %u time%s%s",
	    p->setup.link.name, times, times == 1 ? "" : "s",
	    p->options.link_loss == LINK_LOSS_STOP ? "; stopping (--on-link-loss stop)"
						   : "; frames sent meanwhile are lost");
	stop_for_link(run);
}

static void link_changed(struct run *run)
{
	struct publisher *p = run->p;
	enum link_change change;
	struct link_info link;
	char gone[DURATION_TEXT];
	struct error err = ERROR_INIT;
	bool by_itself = false;

	while ((change = link_monitor_next(p->monitor, &link)) != LINK_NO_CHANGE) {
		int64_t now = clock_now_ns(CLOCK_MONOTONIC);

		if (change == LINK_UP) {
			bool anew = link.index != p->transmit->settings.ifindex;

			if (anew && transmit_rebind(p->transmit, link.index, &err) < 0) {
				say(run, true, "%s", err.text);
				continue;
			}
			if (run->down_since_ns)
				say(run, false, "%s: the link is back after %s; going on in phase",
				    link.name,
				    format_duration((now - run->down_since_ns) / NSEC_PER_MSEC *
							    NSEC_PER_MSEC,
						    gone));
			if (run->down_since_ns && (anew ? p->setup.gates || p->options.restart_gates
							: p->setup.software_gates))
				restart_gates(run, link.name, anew);
			by_itself |= run->down_since_ns != 0 && (anew || p->options.restart_gates);
			run->down_since_ns = 0;
			atomic_store(&p->control.link_down, 0);
			continue;
		}
		atomic_store(&p->control.link_down, 1);
		if (!run->down_since_ns) {
			run->down_since_ns = now;
			p->counts.link_losses++;
		} else if (change != LINK_GONE) {
			continue; /* one way of being down after another */
		}
		say(run, true, "%s: %s; %s", p->setup.link.name,
		    change == LINK_GONE ? "the interface was removed"
		    : link.up           ? "the link was lost (no carrier)"
					: "the interface was switched off",
		    p->options.link_loss == LINK_LOSS_STOP
			    ? "stopping (--on-link-loss stop)"
			    : "frames are withheld until it is back");
		stop_for_link(run);
	}
	link_flapped(run);
	qdiscs_changed(run, by_itself);
}

static void take_signals(struct run *run)
{
	struct signalfd_siginfo info;
	struct publisher *p = run->p;

	while (read(p->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		char cycle[DURATION_TEXT];

		cycle_control_stop(&p->control);
		if (!run->stopping && p->options.cycle_ns > NSEC_PER_SEC)
			say(run, false,
			    "ending with a last frame, within %s; once more to end at once",
			    format_duration(p->options.cycle_ns, cycle));
		run->stopping = true;
	}
}

/* As a step is known: by some 100 ns, between two readings of the clock. */
static int64_t rounded(int64_t step_ns)
{
	int64_t half = step_ns < 0 ? -NSEC_PER_USEC / 2 : NSEC_PER_USEC / 2;

	return (step_ns + half) / NSEC_PER_USEC * NSEC_PER_USEC;
}

static void take_note(struct run *run, const struct publisher_note *note)
{
	struct publisher *p = run->p;
	char step[DURATION_TEXT];

	if (note->kind == NOTE_LOG_FAILED) {
		say(run, true, "%s; the run goes on without a log", p->log_error.text);
		return;
	}
	p->counts.steps++;
	say(run, true, "the clock was stepped by %s; going on in the same phase%s",
	    format_duration(rounded(note->value), step),
	    note->value < 0 && p->setup.pacing.kind == PACING_LAUNCH_TIME
		    ? " (etf refuses launch times before its last one: install it anew if frames "
		      "are refused)"
		    : "");
}

static void take_sync_notes(struct run *run)
{
	struct publisher *p = run->p;

	if (!sync_guard_speak(p->sync, run->events->say, run->events->context) || run->stopping)
		return;
	run->stopping = true;
	p->counts.stopped_early = true;
	cycle_control_stop(&p->control);
}

static void take_notes(struct run *run)
{
	struct publisher_note note;
	uint64_t count;

	if (read(run->p->wake_fd, &count, sizeof(count)) < 0)
		return;
	while (spsc_pop(&run->p->notes, &note))
		take_note(run, &note);
	while (spsc_pop(&run->p->log_notes, &note))
		take_note(run, &note);
	take_sync_notes(run);
}

void publisher_block_signals(sigset_t *signals)
{
	signals_that_end(signals);
	sigprocmask(SIG_BLOCK, signals, NULL);
	signal(SIGPIPE, SIG_IGN); /* a closed stderr must not end the run without its restoring */
}

static int open_descriptors(struct publisher *p, struct error *err)
{
	const struct itimerspec second = { .it_interval = { 1, 0 }, .it_value = { 1, 0 } };
	sigset_t signals;

	publisher_block_signals(&signals);
	p->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	p->tick_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (p->signal_fd < 0 || p->tick_fd < 0 || timerfd_settime(p->tick_fd, 0, &second, NULL) < 0)
		return error_errno(err, errno, "cannot watch signals and time");
	return 0;
}

static void follow(struct run *run)
{
	struct publisher *p = run->p;
	struct pollfd fds[] = {
		{ .fd = p->signal_fd, .events = POLLIN },
		{ .fd = p->wake_fd, .events = POLLIN },
		{ .fd = p->tick_fd, .events = POLLIN },
		{ .fd = link_monitor_fd(p->monitor), .events = POLLIN },
	};
	uint64_t ticks;

	while (!atomic_load(&p->written)) {
		/* the kernel may hold the news of a link that is back for a second */
		int ready = poll(fds, sizeof(fds) / sizeof(fds[0]),
				 run->down_since_ns ? DOWN_LOOK_MS : -1);

		if (ready < 0)
			continue;
		if (!ready || atomic_exchange(&p->link_doubted, false)) {
			link_monitor_look(p->monitor);
			link_changed(run);
		}
		if (fds[0].revents)
			take_signals(run);
		if (fds[3].revents)
			link_changed(run);
		if (fds[1].revents)
			take_notes(run);
		if (fds[2].revents && read(p->tick_fd, &ticks, sizeof(ticks)) == sizeof(ticks))
			run->events->tick(run->events->context, p);
	}
	take_notes(run);
	/* what the kernel has not told yet belongs to the run */
	link_monitor_look(p->monitor);
	link_changed(run);
}

int publisher_run(struct publisher *p, const struct publisher_events *events, struct error *err)
{
	struct run run = { .p = p, .events = events };
	struct error restore_err = ERROR_INIT;
	uint64_t keep = 1ULL << CAP_IPC_LOCK;
	int result;

	result = open_descriptors(p, err);
	if (!result)
		result = start_cyclic(p, err);
	if (!result) {
		if (p->hwtstamp && hwtstamp_will_restore(p->hwtstamp))
			keep |= 1ULL << CAP_NET_ADMIN;
		/* before there are more threads: what has been said to run has no more than it needs, each of them */
		if (capability_keep_only(keep, &restore_err) < 0)
			say(&run, true, "%s", restore_err.text);
		result = start_helpers(p, err);
	}
	if (result) {
		join_threads(p, true);
		realtime_release(&p->setup.realtime);
		return result;
	}
	/* after the capabilities are gone, and off the cyclic thread's CPU: its thread inherits both */
	result = sync_guard_watch(p->sync, p->setup.run, &p->control.unsynced, &p->control.paused,
				  p->wake_fd, err);
	if (result) {
		join_threads(p, true);
		realtime_release(&p->setup.realtime);
		return result;
	}
	if (!p->setup.link.running) {
		run.down_since_ns = clock_now_ns(CLOCK_MONOTONIC);
		atomic_store(&p->control.link_down, 1);
		say(&run, true, "%s: no link (no carrier); frames are withheld until it is there",
		    p->setup.link.name);
	}
	link_changed(&run);
	events->started(events->context, p);
	sem_post(&p->go);
	follow(&run);
	sync_guard_stop(p->sync);
	take_sync_notes(&run);
	p->counts.sync_losses = sync_guard_losses(p->sync, &p->counts.unsynced_ns);
	join_threads(p, false);
	realtime_release(&p->setup.realtime);
	if (p->hwtstamp) {
		if (hwtstamp_restore(p->hwtstamp, &restore_err) < 0)
			say(&run, true, "%s", restore_err.text);
		p->hwtstamp = NULL;
	}
	if (p->log) {
		p->counts.log_lost = log_lost(p->log) + p->records.dropped;
		log_lacks(p->log, p->records.dropped);
		if (log_close(p->log, &restore_err) < 0)
			say(&run, true, "%s", restore_err.text);
		p->log = NULL;
	}
	return 0;
}

struct cycle_control *publisher_control(struct publisher *p)
{
	return &p->control;
}

const struct publisher_setup *publisher_setup(const struct publisher *p)
{
	return &p->setup;
}

void publisher_counts(const struct publisher *p, struct publisher_counts *counts)
{
	*counts = p->counts;
	counts->collector = *collector_counts(p->collector);
	counts->unattributed = atomic_load(&p->unattributed);
	counts->events_lost = atomic_load(&p->events.dropped);
	counts->unjudged = p->hold ? sync_hold_untold(p->hold) : 0;
	counts->last_refusal = p->transmit->last_refusal;
}

const struct tx_metrics *publisher_metrics(struct publisher *p,
					   const struct publisher_recent **recent)
{
	pthread_mutex_lock(&p->metrics_lock);
	if (recent)
		*recent = &p->recent;
	return p->metrics;
}

void publisher_metrics_unlock(struct publisher *p)
{
	histogram_reset(&p->recent.wake);
	for (int i = 0; i < SOURCE_COUNT; i++)
		histogram_reset(&p->recent.launch_error[i]);
	pthread_mutex_unlock(&p->metrics_lock);
}

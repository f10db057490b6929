// SPDX-License-Identifier: GPL-2.0-only
#include "engine/rx_session.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/signals.h"
#include "base/units.h"
#include "data/logfile.h"
#include "data/metrics.h"
#include "data/sync_metrics.h"
#include "engine/rx_blame.h"
#include "engine/rx_describe.h"
#include "engine/rx_explain.h"
#include "engine/rx_finish.h"
#include "engine/rx_live.h"
#include "engine/rx_summary.h"
#include "engine/sync_hold.h"
#include "host/capability.h"
#include "host/link.h"
#include "host/netlink.h"
#include "report/output.h"

#define DRAIN_LIMIT 8192 /* records before signals and the clock are looked at again */
/*
 * Few frames: each is announced at once. Many: sleeping a little and taking them in one go costs far
 * less CPU time than a wake-up for each; the ring holds some 400 ms of 300,000 frames/s.
 */
#define MANY 8
#define NAP_NS 1000000L
#define LONG_NAP_NS 4000000L /* after more than 2 * MANY */
#define NICE (-15) /* a receiver that is not scheduled for a second loses records */
#define LOOK_NS 20000000L /* so often are signals and the link looked at when there is no sleep */
#define STRAGGLERS_MS 2 /* frames that come right behind another are not announced */
#define CHECK_NS 100000000LL
#define TICK_NS NSEC_PER_SEC
#define LAST_LOOK_NS NSEC_PER_SEC /* how long the end waits for the clocks of the last frames */

struct session {
	const struct rx_session_options *options;
	struct receiver *receiver;
	struct rx_metrics *metrics;
	struct rx_finish *finish;
	struct rx_blame *blame; /* NULL: not asked for, or not to be had */
	struct sync_guard *sync; /* NULL: nothing to watch */
	struct sync_hold
		*hold; /* records until the clocks of their moment are known; NULL: none waits */
	size_t held; /* how many wait */
	struct sync_metrics clocks;
	struct log_writer *log;
	struct link_monitor *monitor;
	struct rx_live live;
	struct error err; /* of the log, from within the handler */
	int signals, ifindex;
	int64_t start_ns, now_ns; /* CLOCK_MONOTONIC */
	int64_t next_tick_ns, next_check_ns;
	uint64_t taken; /* frames of ours, strays and duplicates too */
	uint64_t records_lost; /* as of the last second */
	uint64_t nic_frames, nic_missed; /* at the start */
	const char *ended;
	bool gone;
	bool out_of_sync; /* and that ended it */
};

static void say(struct session *session, const char *text, const char *detail)
{
	live_end(&session->live.line);
	message_note("%s: %s%s", session->options->receiver.ifname, text, detail);
}

/* `result`: of log_append() or log_flush(). They fail once, and lose what comes after in silence. */
static void check_log(struct session *session, int result)
{
	if (!result)
		return;
	live_end(&session->live.line);
	message_warn("%s; the run goes on without a log", session->err.text);
}

static void log_records(struct session *session, const void *records, size_t count)
{
	if (session->log)
		check_log(session, log_append(session->log, records, count, &session->err));
}

static void flush_log(struct session *session)
{
	if (session->log)
		check_log(session, log_flush(session->log, &session->err));
}

static void take(struct session *session, const struct rx_record *records, size_t count)
{
	rx_live_seen(&session->live, records, count);
	for (size_t i = 0; i < count; i++) {
		enum sequence_verdict verdict = SEQUENCE_STRAY;

		rx_metrics_add(session->metrics, &records[i], &verdict);
		if (records[i].flags & RX_LAST &&
		    (verdict == SEQUENCE_IN_ORDER || verdict == SEQUENCE_REORDERED))
			rx_finish_last(session->finish, records[i].run, records[i].stream,
				       session->now_ns);
	}
	log_records(session, records, count);
}

static void nap(long ns)
{
	const struct timespec time = { 0, ns };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

/* The `give` of the held records. */
static void give(void *context, const void *held, bool lost)
{
	struct rx_record record;

	memcpy(&record, held, sizeof(record));
	if (lost)
		record.flags |= RX_UNSYNCED;
	take(context, &record, 1);
}

static void handle(void *context, const struct rx_record *records, size_t count)
{
	struct session *session = context;
	uint64_t limit = session->options->count;
	int64_t now_ns;

	if (limit && session->taken + count > limit)
		count = (size_t)(limit - session->taken);
	session->taken += count;
	rx_blame_add(session->blame, records, count);
	if (!session->hold) {
		take(session, records, count);
		return;
	}
	now_ns = clock_now_ns(CLOCK_MONOTONIC);
	for (size_t i = 0; i < count; i++) {
		/* it may end the run: not to wait a second for that */
		if (records[i].flags & RX_LAST)
			sync_guard_hurry(session->sync);
		sync_hold_put(session->hold, &records[i], now_ns);
	}
}

/* What the watch has found out since. */
static void pass_held(struct session *session)
{
	struct sync_window window;

	if (!session->hold)
		return;
	sync_guard_window(session->sync, &window);
	session->held = sync_hold_pass(session->hold, &window, DRAIN_LIMIT);
}

/* The rest, at the end: a look at the clocks after it tells. */
static void release_held(struct session *session)
{
	int64_t end_ns = clock_now_ns(CLOCK_MONOTONIC) + LAST_LOOK_NS;
	struct sync_window window;

	if (!session->hold)
		return;
	sync_guard_hurry(session->sync);
	for (;;) {
		sync_guard_window(session->sync, &window);
		if (!sync_hold_pass(session->hold, &window, SIZE_MAX) ||
		    clock_now_ns(CLOCK_MONOTONIC) > end_ns)
			break;
		nap(NAP_NS);
	}
	sync_hold_flush(session->hold, &window);
}

static void say_sync(void *context, bool warning, const char *text)
{
	struct session *session = context;

	live_end(&session->live.line);
	if (warning)
		message_warn("%s", text);
	else
		message_note("%s", text);
}

/* What the thread that watches the clocks has to tell. */
static void take_sync(struct session *session)
{
	struct sync_record record;

	while (sync_guard_record(session->sync, &record)) {
		sync_metrics_add(&session->clocks, &record);
		log_records(session, &record, 1);
	}
	if (!sync_guard_speak(session->sync, say_sync, session))
		return;
	session->ended = "the loss of clock sync";
	session->out_of_sync = true;
}

static void watch_link(struct session *session)
{
	struct link_info link;
	enum link_change change;
	char times[32];
	uint32_t unseen;

	while (!session->gone &&
	       (change = link_monitor_next(session->monitor, &link)) != LINK_NO_CHANGE) {
		if (change == LINK_GONE) {
			say(session, "the interface is gone", "");
			session->gone = true;
		} else if (change == LINK_DOWN) {
			say(session, "the link is down",
			    link.up ? " (no carrier); waiting for it"
				    : " (switched off); waiting for it");
		} else {
			say(session, "the link is up", "");
		}
	}
	unseen = link_monitor_unseen(session->monitor);
	if (unseen) {
		snprintf(times, sizeof(times), "%u time%s", unseen, unseen == 1 ? "" : "s");
		say(session, "the link was lost (no carrier) and soon back, ", times);
	}
	/* a new interface of the same name is not the one that the program is attached to */
	if (!session->gone && !receiver_alive(session->receiver)) {
		say(session, "the XDP program is no longer attached", "");
		session->gone = true;
	}
	if (session->gone)
		session->ended = "the loss of the interface";
}

/* The last frame of a stream may be among those whose records were lost. */
static void note_lost_last(void *context, const struct receiver_exact *exact)
{
	struct session *session = context;

	if (exact->records_lost && exact->last)
		rx_finish_last(session->finish, exact->run, exact->stream, session->now_ns);
}

static void look_for_lost_last(struct session *session)
{
	struct rx_counters counters;

	receiver_counters(session->receiver, &counters);
	if (counters.records_lost == session->records_lost)
		return;
	session->records_lost = counters.records_lost;
	receiver_each_exact(session->receiver, note_lost_last, session);
}

/* Frames, those without a record too. */
static uint64_t came(const struct session *session)
{
	return session->taken + session->records_lost;
}

static void each_second(struct session *session)
{
	struct error err = ERROR_INIT;

	receiver_tick(session->receiver);
	look_for_lost_last(session);
	if (rx_blame_tick(session->blame, receiver_busiest_cpu(session->receiver), &err) < 0) {
		live_end(&session->live.line);
		message_warn("--blame is not available: %s", err.text);
	}
	take_sync(session);
	flush_log(session);
	if (!session->options->quiet)
		rx_live_show(&session->live,
			     &(struct rx_live_facts){
				     .receiver = session->receiver,
				     .metrics = session->metrics,
				     .elapsed_ns = session->now_ns - session->start_ns,
				     .duration_ns = session->options->duration_ns,
				     .deadline_ns = session->options->deadline_ns,
				     .taken = came(session),
				     .count = session->options->count,
			     });
}

static void look_for_the_end(struct session *session)
{
	const struct rx_session_options *options = session->options;

	if (options->count && came(session) >= options->count)
		session->ended = "the count of frames";
	else if (options->duration_ns &&
		 session->now_ns - session->start_ns >= options->duration_ns)
		session->ended = "the duration";
	else if (!options->stay && session->now_ns >= session->next_check_ns &&
		 rx_finish_check(session->finish, session->metrics, session->now_ns))
		session->ended = "the last frame";
	if (session->now_ns >= session->next_check_ns)
		session->next_check_ns = session->now_ns + CHECK_NS;
}

static void take_signals(struct session *session)
{
	struct signalfd_siginfo info;

	if (read(session->signals, &info, sizeof(info)) == sizeof(info))
		session->ended = info.ssi_signo == SIGINT ? "an interrupt" : "a signal";
}

/* How long poll() may sleep, in ms. */
static int sleep_ms(const struct session *session, int64_t taken)
{
	int64_t until = session->next_tick_ns - session->now_ns;

	if (taken)
		return STRAGGLERS_MS;
	if ((session->finish->finished || session->held) && until > CHECK_NS)
		until = CHECK_NS;
	if (session->options->duration_ns) {
		int64_t left = session->start_ns + session->options->duration_ns - session->now_ns;

		if (until > left)
			until = left;
	}
	return until < 0 ? 0 : (int)(until / NSEC_PER_MSEC) + 1;
}

/* As many as the ring holds at most: each has 8 bytes of the ring's own. */
static int64_t ring_records(const struct rx_session_options *options)
{
	return (int64_t)(options->receiver.ring_bytes / (sizeof(struct rx_event) + 8));
}

static int loop(struct session *session, struct error *err)
{
	struct pollfd fds[3] = {
		{ .fd = receiver_fd(session->receiver), .events = POLLIN },
		{ .fd = session->signals, .events = POLLIN },
		{ .fd = link_monitor_fd(session->monitor), .events = POLLIN },
	};
	const int64_t spin_ns = session->options->receiver.xdp_mode == XDP_MODE_AUTO ||
						receiver_setup(session->receiver)->xdp
					? session->options->receiver.busy_poll_ns
					: 0;
	int64_t busy_until = 0, next_look_ns = 0;

	session->start_ns = session->now_ns = clock_now_ns(CLOCK_MONOTONIC);
	session->next_tick_ns = session->start_ns + TICK_NS;
	while (!session->ended) {
		int64_t taken = receiver_drain(session->receiver, DRAIN_LIMIT, handle, session,
					       err);
		bool spinning;
		int ready;

		if (taken < 0)
			return -1;
		rx_blame_drained(session->blame);
		session->now_ns = clock_now_ns(CLOCK_MONOTONIC);
		pass_held(session);
		if (session->now_ns >= session->next_tick_ns) {
			each_second(session);
			session->next_tick_ns += TICK_NS;
			if (session->next_tick_ns <= session->now_ns)
				session->next_tick_ns = session->now_ns + TICK_NS;
		}
		look_for_the_end(session);
		if (taken)
			busy_until = session->now_ns + spin_ns;
		spinning = spin_ns && session->now_ns < busy_until;
		if (spinning || taken > MANY) {
			if (!spinning && taken < DRAIN_LIMIT)
				nap(taken > 2 * MANY ? LONG_NAP_NS : NAP_NS);
			if (session->now_ns < next_look_ns)
				continue;
			next_look_ns = session->now_ns + LOOK_NS;
			ready = poll(fds, 3, 0);
		} else {
			ready = poll(fds, 3, sleep_ms(session, taken));
		}
		if (ready <= 0)
			continue;
		if (fds[1].revents)
			take_signals(session);
		if (fds[2].revents)
			watch_link(session);
	}
	/* what is in the ring still belongs to the run; not what a flood goes on to bring */
	if (receiver_drain(session->receiver, ring_records(session->options), handle, session,
			   err) < 0)
		return -1;
	release_held(session);
	return 0;
}

static int open_log(struct session *session, const struct link_info *link, struct error *err)
{
	json_t *description;

	if (!session->options->log_path)
		return 0;
	description = rx_describe(session->options, receiver_setup(session->receiver), link,
				  sync_guard_verdict(session->sync));
	if (!description)
		return error_errno(err, ENOMEM, "log");
	session->log = log_create(session->options->log_path, RECORD_RX, description, err);
	json_decref(description);
	return session->log ? 0 : -1;
}

static int block_signals(struct session *session, struct error *err)
{
	sigset_t set;

	signals_that_end(&set);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return error_errno(err, errno, "sigprocmask");
	session->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return session->signals < 0 ? error_errno(err, errno, "signalfd") : 0;
}

static int start(struct session *session, struct error *err)
{
	const struct rx_session_options *options = session->options;
	struct rx_options metrics = { .deadline_ns = options->deadline_ns,
				      .no_recent = options->quiet,
				      .steady = true };
	const struct receiver_setup *setup;
	struct link_info link;
	struct netlink *nl;
	int ret;

	if (block_signals(session, err))
		return -1;
	nl = netlink_open(NETLINK_ROUTE, err);
	if (!nl)
		return -1;
	ret = link_get(nl, options->receiver.ifname, &link, err);
	netlink_close(nl);
	if (ret)
		return -1;
	if (sync_guard_open(&options->sync, options->receiver.ifname, false, &session->sync, err))
		return -1;
	session->ifindex = link.index;
	rx_nic_counts(link.index, &session->nic_frames, &session->nic_missed);
	session->monitor = link_monitor_open(&link, err);
	if (!session->monitor)
		return -1;
	if (options->blame)
		session->blame = rx_blame_open(options->blame_over_ns);
	session->receiver = receiver_open(&options->receiver, err);
	if (!session->receiver)
		return -1;
	setup = receiver_setup(session->receiver);
	metrics.stamp = setup->software;
	session->metrics = rx_metrics_new(&metrics);
	session->finish = memory_touched(sizeof(*session->finish));
	if (!session->metrics || !session->finish)
		return error_errno(err, ENOMEM, "receiver");
	if (open_log(session, &link, err))
		return -1;
	setpriority(PRIO_PROCESS, 0, NICE); /* as good as it gets: no need to say so */
	if (capability_keep_only(receiver_capabilities(session->receiver), err))
		return -1;
	if (sync_guard_marks(session->sync)) {
		session->hold = sync_hold_new(0, give, session);
		if (!session->hold)
			return error_errno(err, ENOMEM, "cannot hold records back");
	}
	if (sync_guard_watch(session->sync, 0, NULL, NULL, -1, err))
		return -1;
	for (unsigned int i = 0; i < setup->note_count; i++)
		message_note("%s", setup->notes[i]);
	if (!options->quiet) {
		message_note("%s: %s", options->receiver.ifname, setup->text);
		if (!link.running)
			message_note("%s: the link is down%s; waiting for it",
				     options->receiver.ifname, link.up ? " (no carrier)" : "");
	}
	if (options->ready_fd >= 0 && write(options->ready_fd, "\n", 1) != 1)
		message_warn("--ready-fd %d: %s", options->ready_fd, strerror(errno));
	return 0;
}

static void correct(void *context, const struct receiver_exact *exact)
{
	struct session *session = context;

	rx_correct(session->metrics, receiver_setup(session->receiver)->source, exact);
}

static int summarise(struct session *session, struct error *err)
{
	const struct rx_session_options *options = session->options;
	struct rx_facts facts = {
		.options = &options->receiver,
		.setup = receiver_setup(session->receiver),
		.other_frames = session->metrics->other_frames,
	};
	struct verdict verdict;
	struct rx_stream *total;
	struct rx_summary summary = {
		.facts = &facts,
		.metrics = session->metrics,
		.verdict = &verdict,
		.elapsed_ns = clock_now_ns(CLOCK_MONOTONIC) - session->start_ns,
		.ended = session->ended,
		.log_path = options->log_path,
		.sync = sync_guard_verdict(session->sync),
		.clocks = &session->clocks,
		.blame = session->blame,
	};

	rx_blame_end(session->blame);
	sync_guard_stop(session->sync);
	take_sync(session);
	flush_log(session);
	summary.log_lost = session->log ? log_lost(session->log) : 0;
	summary.sync_losses = sync_guard_losses(session->sync, &summary.unsynced_ns);
	summary.unjudged = session->hold ? sync_hold_untold(session->hold) : 0;
	receiver_tick(session->receiver);
	receiver_counters(session->receiver, &facts.counters);
	facts.socket_drops = receiver_socket_drops(session->receiver);
	rx_facts_gather(&facts, session->ifindex, session->nic_frames, session->nic_missed);
	if (facts.counters.records_lost)
		receiver_each_exact(session->receiver, correct, session);
	if (session->log)
		log_lacks(session->log, facts.counters.records_lost);
	total = rx_metrics_total(session->metrics, NULL);
	if (!total)
		return error_errno(err, ENOMEM, "summary");
	verdict = verdict_of_rx(total, options->deadline_ns, options->sla);
	rx_stream_free(total);
	if (options->json) {
		if (rx_summary_json(stdout, &summary, err))
			return -1;
	} else {
		rx_summary_text(stdout, &summary);
		if (output_stdout_done(err))
			return -1;
	}
	if (session->gone)
		return STATUS_SYSTEM;
	if (session->out_of_sync)
		return STATUS_BAR_MISSED;
	return (!verdict.judged || verdict.met) && session->metrics->count ? STATUS_GOOD
									   : STATUS_BAR_MISSED;
}

int rx_session_run(const struct rx_session_options *options, struct error *err)
{
	struct session session = { .options = options, .signals = -1 };
	struct error closing = ERROR_INIT;
	int ret;

	live_init(&session.live.line, stderr);
	ret = start(&session, err);
	if (!ret)
		ret = loop(&session, err);
	live_end(&session.live.line);
	if (!ret)
		ret = summarise(&session, err);
	if (log_close(session.log, &closing)) {
		message_warn("%s", closing.text);
		closing.status = 0;
	}
	if (receiver_close(session.receiver, &closing)) {
		message_warn("%s", closing.text);
		if (ret == STATUS_GOOD)
			ret = STATUS_SYSTEM;
	}
	rx_blame_close(session.blame);
	sync_guard_close(session.sync);
	sync_hold_free(session.hold);
	sync_metrics_free(&session.clocks);
	link_monitor_close(session.monitor);
	rx_metrics_free(session.metrics);
	free(session.finish);
	if (session.signals >= 0)
		close(session.signals);
	return ret;
}

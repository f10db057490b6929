// SPDX-License-Identifier: GPL-2.0-only
#include "ptp/watch.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/spsc.h"
#include "ptp/sync_record.h"
#include "ptp/sync_text.h"

#define SUBSCRIBE_S 180
#define RENEW_NS (60 * NSEC_PER_SEC)
#define EVENTS (MGMT_EVENT_PORT_STATE | MGMT_EVENT_TIME_SYNC | MGMT_EVENT_PARENT_DATA_SET)
#define STACK_SIZE (256 << 10) /* under locked memory the default of 8 MiB would be resident */
#define HASTE_NS (50 * NSEC_PER_MSEC) /* a flood of changes is looked at no more often */
#define GLANCE_NS (100 * NSEC_PER_MSEC)

struct sync_watch {
	struct sync_source *source;
	struct sync_watch_config config;
	struct spsc notes, records;
	pthread_t thread;
	bool started, joined;
	int stop_fd; /* written to: `stop` is set, or someone is in a hurry */
	atomic_bool stop;
	atomic_bool good;
	pthread_mutex_t lock;
	struct sync_window window; /* under `lock` */
	_Atomic uint64_t losses;
	_Atomic int64_t lost_ns;

	/* the thread's own */
	struct sync_snapshot snapshot, glanced;
	struct mgmt_time_status
		heard; /* at the last look; a notification comes also while the snapshot is being filled */
	struct sync_report report;
	struct sync_latch latch;
	/* when all, and the machine's own clocks, were last seen to be good */
	int64_t looked_ns, glanced_ns;
	unsigned int subscribed; /* the connection: another one needs its own subscription */
	int64_t renew_ns, lost_since_ns;
	uint64_t looks;
	unsigned int port_state;
	int told; /* the link that was wrong at the last look */
	bool was_good; /* at any time */
	bool changed; /* something cannot wait for the next second: ptp4l told of a change, or a hurry */
};

bool sync_latch_take(struct sync_latch *latch, enum sync_verdict verdict)
{
	bool before = latch->good;

	latch->good_looks = verdict == SYNC_VERDICT_GOOD ? latch->good_looks + 1 : 0;
	latch->doubtful_looks = verdict == SYNC_VERDICT_CANNOT_TELL ? latch->doubtful_looks + 1 : 0;
	if (verdict == SYNC_VERDICT_NOT_GOOD || latch->doubtful_looks >= SYNC_DOUBT)
		latch->good = false;
	else if (latch->good_looks >= SYNC_SETTLE)
		latch->good = true;
	return latch->good != before;
}

enum sync_trust sync_window_judge(const struct sync_window *window, int64_t at_ns)
{
	if (at_ns > window->lost_from_ns && at_ns <= window->lost_to_ns)
		return SYNC_TRUST_LOST;
	return at_ns <= window->vouched_ns ? SYNC_TRUST_GOOD : SYNC_TRUST_OPEN;
}

static void wake_up(const struct sync_watch *w)
{
	const uint64_t one = 1;

	/* it cannot fail but for a counter that is full, and then the reader is awake */
	if (w->config.wake_fd >= 0 && write(w->config.wake_fd, &one, sizeof(one)) < 0)
		return;
}

static void tell(struct sync_watch *w, const struct sync_note *note)
{
	spsc_push(&w->notes, note);
	wake_up(w);
}

static void set_flags(struct sync_watch *w)
{
	w->was_good |= w->latch.good;
	for (int i = 0; i < 2; i++) {
		bool spared = i == 1 && w->config.lost_once_good && !w->was_good;

		if (w->config.lost_flag[i])
			atomic_store(w->config.lost_flag[i], !w->latch.good && !spared);
	}
	atomic_store(&w->good, w->latch.good);
}

static void note_change(struct sync_watch *w, bool changed)
{
	unsigned int state = sync_port_state(&w->snapshot);
	struct sync_note note = { .kind = SYNC_NOTE_CHANGE };
	int64_t now = clock_now_ns(CLOCK_MONOTONIC);

	if (changed && !w->latch.good) {
		w->lost_since_ns = now;
		atomic_fetch_add(&w->losses, 1);
		note.kind = SYNC_NOTE_LOST;
		sync_first_wrong(&w->report, note.text, sizeof(note.text));
	} else if (changed) {
		note.kind = SYNC_NOTE_RECOVERED;
		note.after_ns = now - w->lost_since_ns;
		atomic_fetch_add(&w->lost_ns, note.after_ns);
		sync_first_wrong(&w->report, note.text, sizeof(note.text));
	} else if (!w->latch.good && w->report.first >= 0 && w->report.first != w->told) {
		snprintf(note.text, sizeof(note.text), "still out of sync: ");
		sync_first_wrong(&w->report, note.text + strlen(note.text),
				 sizeof(note.text) - strlen(note.text));
	} else if (w->looks > 1 && state != w->port_state) {
		snprintf(note.text, sizeof(note.text), "port %s -> %s",
			 port_state_name(w->port_state), port_state_name(state));
	}
	w->port_state = state;
	w->told = w->report.first;
	if (note.text[0])
		tell(w, &note);
	/* also where another link decides */
	if (w->snapshot.gm_changed && w->report.first != CHECK_GRANDMASTER) {
		note.kind = SYNC_NOTE_CHANGE;
		snprintf(note.text, sizeof(note.text), "%s",
			 w->report.check[CHECK_GRANDMASTER].reason);
		tell(w, &note);
	}
}

/* When this link was last seen to be good. */
static int64_t check_good_ns(const struct sync_watch *w, int check)
{
	bool glanced_at = check == CHECK_PHC_TAI || check == CHECK_STEPS ||
			  check == CHECK_TAI_OFFSET;

	return glanced_at && w->glanced_ns > w->looked_ns ? w->glanced_ns : w->looked_ns;
}

/* When all the links that are wrong now were last seen to be good. */
static int64_t last_good_ns(const struct sync_watch *w)
{
	int64_t last_ns = INT64_MAX;

	for (int i = 0; i < CHECK_COUNT; i++)
		if (w->report.check[i].result == SYNC_WRONG && check_good_ns(w, i) < last_ns)
			last_ns = check_good_ns(w, i);
	return last_ns < INT64_MAX ? last_ns : w->looked_ns;
}

/* After a look that began at `begin_ns`. */
static void update_window(struct sync_watch *w, int64_t begin_ns, bool changed)
{
	int64_t now = clock_now_ns(CLOCK_MONOTONIC);

	pthread_mutex_lock(&w->lock);
	if (changed && !w->latch.good) {
		w->window.lost_from_ns = last_good_ns(w);
		w->window.lost_to_ns = INT64_MAX;
	} else if (changed) {
		w->window.lost_to_ns = now;
	}
	if (!w->latch.good || changed)
		w->window.vouched_ns = now;
	else if (w->report.verdict == SYNC_VERDICT_GOOD)
		w->window.vouched_ns = begin_ns;
	pthread_mutex_unlock(&w->lock);
}

/* Good looks count by the second, bad ones at once. */
static void conclude(struct sync_watch *w, int64_t begin_ns, bool regular)
{
	bool changed = false;

	if (regular || w->report.verdict == SYNC_VERDICT_NOT_GOOD) {
		changed = sync_latch_take(&w->latch, w->report.verdict);
		/* frames of this moment are marked by the flags, those before by the window */
		set_flags(w);
	}
	update_window(w, begin_ns, changed);
	if (regular || w->report.verdict == SYNC_VERDICT_NOT_GOOD)
		note_change(w, changed);
	if (w->report.verdict == SYNC_VERDICT_GOOD)
		w->looked_ns = begin_ns;
}

/* The machine's own clocks, while all was good at the last look. */
static void glance(struct sync_watch *w)
{
	int64_t begin_ns = clock_now_ns(CLOCK_MONOTONIC);
	struct sync_report before = w->report;

	if (!w->latch.good || before.verdict != SYNC_VERDICT_GOOD)
		return;
	w->glanced = w->snapshot;
	sync_source_glance(w->source, &w->glanced);
	sync_judge(&w->glanced, &w->config.bars, &w->report);
	if (w->report.verdict == SYNC_VERDICT_NOT_GOOD)
		conclude(w, begin_ns, false);
	else if (w->report.verdict == SYNC_VERDICT_GOOD)
		w->glanced_ns = begin_ns;
	else
		w->report = before; /* too coarse: the next one may tell */
}

static void look(struct sync_watch *w, bool regular)
{
	int64_t begin_ns = clock_now_ns(CLOCK_MONOTONIC);
	struct sync_record record;

	w->changed = false;
	/* processes come and go slowly, and /proc is large */
	sync_source_read(w->source, regular && w->looks % 5 == 0, &w->snapshot);
	w->looks++;
	w->heard = w->snapshot.time_status;
	sync_judge(&w->snapshot, &w->config.bars, &w->report);
	conclude(w, begin_ns, regular);
	if (!regular)
		return;
	sync_record_make(&w->snapshot, &w->report, w->config.run, &record);
	if (!w->latch.good) {
		record.status &= (uint16_t)~SYNC_GOOD;
		record.status |= w->config.marks ? SYNC_MARKED : 0;
	}
	spsc_push(&w->records, &record);
}

static void on_notify(void *context, const struct mgmt_tlv *tlv)
{
	struct sync_watch *w = context;
	const struct mgmt_time_status *status = &tlv->data.time_status;

	switch (tlv->id) {
	case MGMT_TIME_STATUS_NP:
		/* one with each sync message: only what is out of line needs a look */
		if (status->gm_present != w->heard.gm_present ||
		    memcmp(status->gm, w->heard.gm, 8) ||
		    status->master_offset_ns > w->report.limit_ns ||
		    status->master_offset_ns < -w->report.limit_ns)
			w->changed = true;
		break;
	case MGMT_PORT_DATA_SET:
	case MGMT_PARENT_DATA_SET:
		w->changed = true;
		break;
	}
}

static void subscribe(struct sync_watch *w, int64_t now_ns)
{
	struct ptp4l *client = sync_source_ptp4l(w->source);
	struct ptp4l_status status;
	int rc;

	if (!client ||
	    (w->subscribed == sync_source_connections(w->source) && now_ns < w->renew_ns))
		return;
	w->subscribed = sync_source_connections(w->source);
	w->renew_ns = now_ns + RENEW_NS;
	ptp4l_on_notify(client, on_notify, w);
	/* refused on a read-only socket: then the look of each second has to do. An answer that is late is asked for again */
	rc = ptp4l_subscribe(client, EVENTS, SUBSCRIBE_S, &status);
	if (rc && rc != -PTP4L_REFUSED)
		w->renew_ns = now_ns + NSEC_PER_SEC;
}

static bool stopped(const struct sync_watch *w)
{
	return atomic_load(&w->stop);
}

/* Until `until_ns`, a change, or the end. Returns false at the end. */
static bool wait_until(struct sync_watch *w, int64_t until_ns)
{
	int64_t begin_ns = clock_now_ns(CLOCK_MONOTONIC);

	for (;;) {
		struct ptp4l *client = sync_source_ptp4l(w->source);
		int64_t now = clock_now_ns(CLOCK_MONOTONIC);
		int64_t left = until_ns - now;
		struct pollfd fds[2] = { { .fd = w->stop_fd, .events = POLLIN },
					 { .fd = client ? ptp4l_fd(client) : -1,
					   .events = POLLIN } };
		struct timespec ts;

		if (left <= 0)
			return !stopped(w);
		if (w->changed) {
			if (now - begin_ns >= HASTE_NS)
				return !stopped(w);
			left = HASTE_NS - (now - begin_ns);
		}
		ts = ns_to_timespec(left);
		/* while hurrying, what else ptp4l says can wait in its queue */
		if (ppoll(fds, w->changed ? 1 : 2, &ts, NULL) < 0 && errno != EINTR)
			return false;
		if (fds[0].revents) {
			uint64_t value;

			if (read(w->stop_fd, &value, sizeof(value)) < 0)
				continue;
			if (stopped(w))
				return false;
			w->changed = true; /* someone is in a hurry */
			continue;
		}
		if (!w->changed && fds[1].revents)
			ptp4l_receive(client);
	}
}

static void *watch(void *context)
{
	struct sync_watch *w = context;
	int64_t now = clock_now_ns(CLOCK_MONOTONIC), next = now;

	pthread_setname_np(pthread_self(), "sync-watch");
	for (;;) {
		bool regular = now >= next;

		if (regular || w->changed)
			look(w, regular);
		else
			glance(w);
		now = clock_now_ns(CLOCK_MONOTONIC);
		subscribe(w, now);
		if (regular)
			next += NSEC_PER_SEC;
		if (next <= now) /* ptp4l took its time: no second look to catch up */
			next = now + NSEC_PER_SEC;
		if (!wait_until(w, next < now + GLANCE_NS ? next : now + GLANCE_NS))
			break;
		now = clock_now_ns(CLOCK_MONOTONIC);
	}
	if (!w->latch.good)
		atomic_fetch_add(&w->lost_ns, clock_now_ns(CLOCK_MONOTONIC) - w->lost_since_ns);
	return NULL;
}

struct sync_watch *sync_watch_start(struct sync_source *source,
				    const struct sync_watch_config *config, struct error *err)
{
	struct sync_watch *w = calloc(1, sizeof(*w));
	pthread_attr_t attributes;
	sigset_t all, before;
	int rc;

	if (!w) {
		sync_source_close(source);
		error_errno(err, ENOMEM, "cannot watch the clocks");
		return NULL;
	}
	w->source = source;
	w->config = *config;
	w->latch.good = config->good;
	w->told = -1;
	w->lost_since_ns = w->looked_ns = clock_now_ns(CLOCK_MONOTONIC);
	pthread_mutex_init(&w->lock, NULL);
	w->window = (struct sync_window){ .vouched_ns = w->looked_ns };
	if (!config->good)
		w->window = (struct sync_window){ w->looked_ns, 0, INT64_MAX };
	set_flags(w);
	w->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	/* records: ten minutes of a writer that is held up */
	if (w->stop_fd < 0 || spsc_init(&w->notes, 64, sizeof(struct sync_note)) ||
	    spsc_init(&w->records, 600, sizeof(struct sync_record))) {
		error_errno(err, w->stop_fd < 0 ? errno : ENOMEM, "cannot watch the clocks");
		goto out;
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	rc = pthread_create(&w->thread, &attributes, watch, w);
	pthread_attr_destroy(&attributes);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc) {
		error_errno(err, rc, "cannot start the thread that watches the clocks");
		goto out;
	}
	w->started = true;
	return w;
out:
	sync_watch_free(w);
	return NULL;
}

bool sync_watch_good(const struct sync_watch *w)
{
	return atomic_load_explicit(&w->good, memory_order_relaxed);
}

void sync_watch_window(struct sync_watch *w, struct sync_window *window)
{
	pthread_mutex_lock(&w->lock);
	*window = w->window;
	pthread_mutex_unlock(&w->lock);
}

static void kick(struct sync_watch *w)
{
	const uint64_t one = 1;

	/* it cannot fail but for a counter that is full, and then the thread is awake */
	if (write(w->stop_fd, &one, sizeof(one)) < 0)
		return;
}

void sync_watch_hurry(struct sync_watch *w)
{
	kick(w);
}

uint64_t sync_watch_losses(const struct sync_watch *w, int64_t *lost_ns)
{
	*lost_ns = atomic_load(&w->lost_ns);
	return atomic_load(&w->losses);
}

bool sync_watch_note(struct sync_watch *w, struct sync_note *note)
{
	return spsc_pop(&w->notes, note);
}

bool sync_watch_record(struct sync_watch *w, struct sync_record *record)
{
	return spsc_pop(&w->records, record);
}

void sync_watch_stop(struct sync_watch *w)
{
	if (!w || !w->started || w->joined)
		return;
	atomic_store(&w->stop, true);
	kick(w);
	pthread_join(w->thread, NULL);
	w->joined = true;
}

void sync_watch_free(struct sync_watch *w)
{
	if (!w)
		return;
	sync_watch_stop(w);
	sync_source_close(w->source);
	if (w->stop_fd >= 0)
		close(w->stop_fd);
	spsc_free(&w->notes);
	spsc_free(&w->records);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

enum sync_verdict sync_gate(struct sync_source *source, const struct sync_bars *bars,
			    int64_t wait_ns, const struct sync_gate_events *events, char *text,
			    size_t size)
{
	int64_t start = clock_now_ns(CLOCK_MONOTONIC), next = start;
	struct sync_snapshot *snapshot = malloc(sizeof(*snapshot));
	struct sync_report *report = malloc(sizeof(*report));
	enum sync_verdict verdict = SYNC_VERDICT_CANNOT_TELL;
	int told = -1;
	int good = 0;

	snprintf(text, size, "no memory to look at the clocks");
	for (uint64_t looks = 0; snapshot && report; looks++) {
		struct timespec until;

		sync_source_read(source, looks % 5 == 0, snapshot);
		sync_judge(snapshot, bars, report);
		sync_first_wrong(report, text, size);
		verdict = report->verdict;
		good = verdict == SYNC_VERDICT_GOOD ? good + 1 : 0;
		if (good >= SYNC_SETTLE || (good && !looks))
			break;
		/* good, but not for long enough yet: that is no verdict */
		if (verdict == SYNC_VERDICT_GOOD) {
			verdict = SYNC_VERDICT_NOT_GOOD;
			snprintf(text, size, "the clock chain has been good for %d s only", good);
		}
		if (events && events->waiting && wait_ns && report->first != told && !good)
			events->waiting(events->context, text);
		told = report->first;
		next += NSEC_PER_SEC;
		if (next - start > wait_ns ||
		    (events && events->interrupted && events->interrupted(events->context)))
			break;
		until = ns_to_timespec(next);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	}
	free(snapshot);
	free(report);
	return verdict;
}

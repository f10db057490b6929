// SPDX-License-Identifier: GPL-2.0-only
#include "engine/sync_guard.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/signals.h"
#include "base/units.h"
#include "ptp/watch.h"

struct sync_guard {
	enum sync_policy policy;
	enum sync_loss loss;
	int64_t limit_ns;
	struct sync_source *source; /* until it is watched */
	struct sync_watch *watch;
	bool good; /* at the start */
	bool pauses; /* a receiver has nothing to withhold */
	char verdict[512]; /* without the fix */
};

static void say(sync_guard_say to_say, void *context, bool warning, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static void say(sync_guard_say to_say, void *context, bool warning, const char *format, ...)
{
	char text[800];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	to_say(context, warning, text);
}

/* They are blocked while the gate waits, so that its socket is removed before one of them ends us. */
static bool is_interrupted(void *context)
{
	sigset_t pending, ending;

	(void)context;
	sigpending(&pending);
	signals_that_end(&ending);
	sigandset(&pending, &pending, &ending);
	return !sigisemptyset(&pending);
}

static void tell_waiting(void *context, const char *text)
{
	(void)context;
	message_note("waiting for the clocks: %s", text);
}

/* Returns 0, or -1 with the error: the policy forbids to start. */
static int pass_gate(struct sync_guard *guard, int64_t wait_ns, struct error *err)
{
	const struct sync_bars bars = { .limit_ns = guard->limit_ns };
	const struct sync_gate_events events = { is_interrupted, tell_waiting, NULL };
	enum sync_verdict verdict;
	const char *fix;
	char text[640];

	/* only "require" has something to wait for: "warn" starts in any case */
	verdict = sync_gate(guard->source, &bars,
			    guard->policy == SYNC_POLICY_REQUIRE ? wait_ns : 0, &events, text,
			    sizeof(text));
	guard->good = verdict == SYNC_VERDICT_GOOD;
	if (guard->good) {
		snprintf(guard->verdict, sizeof(guard->verdict), "good");
		return 0;
	}
	/* without the fix, which is for now and not for the log */
	fix = strstr(text, "; fix: ");
	snprintf(guard->verdict, sizeof(guard->verdict), "%.16s: %.*s", sync_verdict_name(verdict),
		 fix ? (int)(fix - text) : (int)sizeof(text), text);
	if (guard->policy == SYNC_POLICY_WARN)
		message_warn("the clocks are %s: %s",
			     verdict == SYNC_VERDICT_NOT_GOOD ? "not in sync"
							      : "not known to be in sync",
			     text);
	if (guard->policy != SYNC_POLICY_REQUIRE)
		return 0;
	if (is_interrupted(NULL))
		return error_system(err, "interrupted while waiting for the clocks");
	return error_system(
		err, "the clocks are %s: %s (--sync warn starts all the same)",
		verdict == SYNC_VERDICT_NOT_GOOD ? "not in sync" : "not known to be in sync", text);
}

int sync_guard_open(const struct sync_guard_options *options, const char *ifname, bool timed,
		    struct sync_guard **result, struct error *err)
{
	struct sync_source_config config = { .iface = ifname,
					     .ptp4l = options->ptp4l,
					     .frequency_ns = 100 * NSEC_PER_MSEC };
	struct sync_guard *guard;
	sigset_t signals, before;
	bool failed;
	int phc;

	*result = NULL;
	if (phc_index_of(ifname, &phc, NULL, err)) {
		if (err->status == STATUS_INPUT)
			return -1;
		phc = -1; /* a kernel that cannot be asked */
	}
	guard = calloc(1, sizeof(*guard));
	if (!guard)
		return error_errno(err, ENOMEM, "cannot watch the clocks");
	guard->policy = options->policy;
	if (guard->policy == SYNC_POLICY_AUTO)
		guard->policy = timed && phc >= 0 ? SYNC_POLICY_REQUIRE : SYNC_POLICY_IGNORE;
	guard->loss = options->loss;
	if (guard->loss == SYNC_LOSS_AUTO)
		guard->loss = guard->policy == SYNC_POLICY_REQUIRE ? SYNC_LOSS_PAUSE
								   : SYNC_LOSS_WARN;
	guard->limit_ns = options->limit_ns;
	if (guard->policy == SYNC_POLICY_IGNORE && phc < 0 && !options->ptp4l.socket) {
		sync_guard_close(guard);
		return 0;
	}
	signals_that_end(&signals);
	sigprocmask(SIG_BLOCK, &signals, &before);
	guard->source = sync_source_open(&config, err);
	failed = !guard->source || pass_gate(guard, options->wait_ns, err);
	if (failed || is_interrupted(NULL))
		sync_guard_close(guard);
	else
		*result = guard;
	/* a signal that came meanwhile may end the process here */
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (!failed && !*result)
		return error_system(err, "interrupted while looking at the clocks");
	return failed ? -1 : 0;
}

const char *sync_guard_verdict(const struct sync_guard *guard)
{
	return guard ? guard->verdict : "not applicable";
}

int sync_guard_watch(struct sync_guard *guard, uint32_t run, atomic_uint *unsynced,
		     atomic_uint *paused, int wake_fd, struct error *err)
{
	struct sync_watch_config config = { .run = run, .wake_fd = wake_fd };

	if (!guard)
		return 0;
	config.bars.limit_ns = guard->limit_ns;
	config.good = guard->good;
	config.marks = sync_guard_marks(guard);
	if (guard->policy != SYNC_POLICY_IGNORE) {
		/* frames that are under way when it is lost are marked, also where it pauses */
		config.lost_flag[0] = unsynced;
		if (guard->loss != SYNC_LOSS_WARN)
			config.lost_flag[1] = paused;
		/* "warn" starts in any case; what was never good is no loss that stops it */
		config.lost_once_good = guard->loss == SYNC_LOSS_STOP;
		guard->pauses = guard->loss == SYNC_LOSS_PAUSE && paused;
		if (guard->pauses && !guard->good)
			message_note("frames are withheld until the clocks are in sync "
				     "(--on-sync-loss pause)");
	}
	guard->watch = sync_watch_start(guard->source, &config, err);
	guard->source = NULL;
	return guard->watch ? 0 : -1;
}

bool sync_guard_speak(struct sync_guard *guard, sync_guard_say to_say, void *context)
{
	static const char *const consequence[] = {
		[SYNC_LOSS_WARN] = "frames are marked and not counted in the statistics",
		[SYNC_LOSS_PAUSE] = "pausing",
		[SYNC_LOSS_STOP] = "stopping",
	};
	struct sync_note note;
	bool stop = false;

	if (!guard || !guard->watch)
		return false;
	while (sync_watch_note(guard->watch, &note)) {
		char duration[DURATION_TEXT];

		if (guard->policy == SYNC_POLICY_IGNORE)
			continue;
		switch (note.kind) {
		case SYNC_NOTE_LOST:
			say(to_say, context, true, "clocks out of sync (%s): %s",
			    consequence[guard->loss == SYNC_LOSS_PAUSE && !guard->pauses
						? SYNC_LOSS_WARN
						: guard->loss],
			    note.text);
			stop |= guard->loss == SYNC_LOSS_STOP;
			break;
		case SYNC_NOTE_RECOVERED:
			say(to_say, context, false, "clocks in sync again after %s",
			    format_duration(note.after_ns / NSEC_PER_MSEC * NSEC_PER_MSEC,
					    duration));
			break;
		case SYNC_NOTE_CHANGE:
			say(to_say, context, false, "clocks: %s", note.text);
			break;
		}
	}
	return stop;
}

bool sync_guard_record(struct sync_guard *guard, struct sync_record *record)
{
	return guard && guard->watch && sync_watch_record(guard->watch, record);
}

bool sync_guard_good(const struct sync_guard *guard)
{
	if (!guard || guard->policy == SYNC_POLICY_IGNORE)
		return true;
	return guard->watch ? sync_watch_good(guard->watch) : guard->good;
}

void sync_guard_window(const struct sync_guard *guard, struct sync_window *window)
{
	if (guard && guard->policy != SYNC_POLICY_IGNORE && guard->watch)
		sync_watch_window(guard->watch, window);
	else
		*window = (struct sync_window){ .vouched_ns = INT64_MAX };
}

bool sync_guard_marks(const struct sync_guard *guard)
{
	return guard && guard->policy != SYNC_POLICY_IGNORE;
}

void sync_guard_hurry(struct sync_guard *guard)
{
	if (guard && guard->watch)
		sync_watch_hurry(guard->watch);
}

uint64_t sync_guard_losses(const struct sync_guard *guard, int64_t *lost_ns)
{
	*lost_ns = 0;
	return guard && guard->watch ? sync_watch_losses(guard->watch, lost_ns) : 0;
}

void sync_guard_stop(struct sync_guard *guard)
{
	if (guard)
		sync_watch_stop(guard->watch);
}

void sync_guard_close(struct sync_guard *guard)
{
	if (!guard)
		return;
	sync_watch_free(guard->watch);
	sync_source_close(guard->source);
	free(guard);
}

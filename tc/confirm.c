// SPDX-License-Identifier: GPL-2.0-only
#include "tc/confirm.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#include "base/clock.h"
#include "tc/deploy.h"

#define CONFIRMED SIGUSR1
#define RELEASE_PATIENCE_NS (20 * NSEC_PER_SEC)
#define LOCK_PATIENCE_NS (10 * NSEC_PER_SEC)

/* What the parent writes into the pipe. */
struct order {
	char what; /* 'w': wait for the confirmation, 'x': end */
	int64_t timeout_ns;
};

int confirm_take_back(const char *interface, bool only_guard, struct error *err)
{
	static struct state state;
	int64_t end = clock_now_ns(CLOCK_MONOTONIC) + LOCK_PATIENCE_NS;
	int lock, result;

	while ((lock = state_lock(interface, err)) < 0) {
		struct timespec pause = ns_to_timespec(50 * NSEC_PER_MSEC);

		if (clock_now_ns(CLOCK_MONOTONIC) > end)
			return -1;
		nanosleep(&pause, NULL);
	}
	result = state_read(interface, &state, err);
	if (result) {
		close(lock);
		return result < 0 ? -1 : 0;
	}
	/* another apply may stand there by now: it is not this guard's to undo */
	if (only_guard && (state.guard.pid != getpid() ||
			   (state.step != STATE_UNCONFIRMED && state.step != STATE_APPLYING)))
		result = 0;
	else
		result = deploy_take_back(&state, err);
	state_free(&state);
	close(lock);
	return result;
}

static int read_order(int fd, struct order *order)
{
	size_t have = 0;

	while (have < sizeof(*order)) {
		ssize_t n = read(fd, (char *)order + have, sizeof(*order) - have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		have += (size_t)n;
	}
	return 0;
}

static void guard_main(const char *interface, int orders, int answer, int close_fd)
{
	struct error err = ERROR_INIT;
	struct order order;
	sigset_t waited;
	pid_t self = getpid();
	int null = open("/dev/null", O_RDWR);

	sigfillset(&waited);
	sigprocmask(SIG_SETMASK, &waited, NULL);
	sigemptyset(&waited);
	sigaddset(&waited, CONFIRMED);
	sigaddset(&waited, SIGTERM);
	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	if (null > 2)
		close(null);
	if (close_fd >= 0)
		close(close_fd);
	if (chdir("/") || write(answer, &self, sizeof(self)) != sizeof(self))
		_exit(1);
	close(answer);
	/* the parent ended without a word: it was killed in the middle */
	if (!read_order(orders, &order)) {
		struct timespec timeout = ns_to_timespec(order.timeout_ns);

		if (order.what != 'w')
			_exit(0);
		if (sigtimedwait(&waited, NULL, &timeout) == CONFIRMED)
			_exit(0);
	}
	openlog("tsnpub", LOG_PID, LOG_DAEMON);
	if (confirm_take_back(interface, true, &err))
		syslog(LOG_ERR, "schedule on %s was not confirmed, and taking it back failed: %s",
		       interface, err.text);
	else
		syslog(LOG_NOTICE, "schedule on %s was not confirmed and was taken back",
		       interface);
	_exit(0);
}

int confirm_start(struct confirm_guard *guard, const char *interface, int close_fd,
		  struct error *err)
{
	int orders[2], answer[2];
	pid_t pid, self = 0;
	ssize_t n;

	if (pipe2(orders, O_CLOEXEC))
		return error_errno(err, errno, "pipe");
	if (pipe2(answer, O_CLOEXEC)) {
		error_errno(err, errno, "pipe");
		close(orders[0]);
		close(orders[1]);
		return -1;
	}
	pid = fork();
	if (pid == 0) {
		/* a session of its own, and a parent that is gone: nothing that ends them ends it */
		setsid();
		close(orders[1]);
		close(answer[0]);
		if (fork() == 0)
			guard_main(interface, orders[0], answer[1], close_fd);
		_exit(0);
	}
	close(orders[0]);
	close(answer[1]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	do
		n = pid > 0 ? read(answer[0], &self, sizeof(self)) : -1;
	while (n < 0 && errno == EINTR);
	close(answer[0]);
	if (n != sizeof(self)) {
		close(orders[1]);
		return error_system(
			err, "%s: the process that would take the schedule back cannot be started",
			interface);
	}
	guard->process = process_of(self);
	guard->pipe = orders[1];
	return 0;
}

static int give_order(struct confirm_guard *guard, struct order order)
{
	ssize_t n;

	do
		n = write(guard->pipe, &order, sizeof(order));
	while (n < 0 && errno == EINTR);
	close(guard->pipe);
	guard->pipe = -1;
	return n == sizeof(order) ? 0 : -1;
}

int confirm_wait_begin(struct confirm_guard *guard, int64_t timeout_ns)
{
	return give_order(guard, (struct order){ 'w', timeout_ns });
}

void confirm_cancel(struct confirm_guard *guard)
{
	give_order(guard, (struct order){ 'x', 0 });
}

/* The record still names that guard: its work is not done. Unreadable counts as done. */
static bool state_is_of(const char *interface, struct process guard)
{
	static struct state state;
	struct error ignored = ERROR_INIT;
	bool ours;

	if (state_read(interface, &state, &ignored))
		return false;
	ours = state.guard.pid == guard.pid && state.guard.start == guard.start;
	state_free(&state);
	return ours;
}

int confirm_release(struct confirm_guard *guard, const char *interface, struct error *err)
{
	int64_t end = clock_now_ns(CLOCK_MONOTONIC) + RELEASE_PATIENCE_NS;
	struct timespec pause = ns_to_timespec(10 * NSEC_PER_MSEC);

	close(guard->pipe);
	guard->pipe = -1;
	while (process_lives(guard->process)) {
		if (clock_now_ns(CLOCK_MONOTONIC) > end)
			return error_system(err,
					    "%s: the schedule was not taken back within 20 s; "
					    "`tsnpub schedule show %s` "
					    "tells more",
					    interface, interface);
		nanosleep(&pause, NULL);
	}
	if (state_is_of(interface, guard->process))
		return error_system(err,
				    "%s: taking the schedule back failed; `tsnpub schedule clear "
				    "%s` tries again",
				    interface, interface);
	return 0;
}

int confirm_tell(struct process guard)
{
	return process_lives(guard) && !kill(guard.pid, CONFIRMED) ? 0 : -1;
}

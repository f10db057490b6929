// SPDX-License-Identifier: GPL-2.0-only
#include "tc/confirm.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#include "base/clock.h"
#include "tc/deploy.h"

#define CONFIRMED SIGUSR1
#define RELEASE_PATIENCE_NS (20 * NSEC_PER_SEC)
#define LOCK_PATIENCE_NS (10 * NSEC_PER_SEC)

/* What the parent sends. */
struct order {
	char what; /* 'w': wait for the confirmation, 'r': restart the gates and answer, 'x': end */
	int64_t timeout_ns;
};

static int lock_patiently(const char *interface, struct error *err)
{
	int64_t end = clock_now_ns(CLOCK_MONOTONIC) + LOCK_PATIENCE_NS;
	int lock;

	while ((lock = state_lock(interface, err)) < 0 && clock_now_ns(CLOCK_MONOTONIC) <= end) {
		struct timespec pause = ns_to_timespec(50 * NSEC_PER_MSEC);

		nanosleep(&pause, NULL);
	}
	return lock;
}

/* As state_read(), but the interface may have got another name since, which is written into `now`. */
static int read_renamed(const char *interface, struct state *state, char now[IF_NAMESIZE],
			struct error *err)
{
	int result = state_read_former(interface, state, err);

	if (result || if_indextoname((unsigned int)state->ifindex, now))
		return result;
	state_free(state);
	return 1;
}

int confirm_take_back(const char *interface, bool only_guard, struct error *err)
{
	static struct state state;
	char now[IF_NAMESIZE];
	int lock = lock_patiently(interface, err), result;

	if (lock < 0)
		return -1;
	/* from a command line a name means who has it now */
	result = only_guard ? read_renamed(interface, &state, now, err)
			    : state_read(interface, &state, err);
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

/* 0, or -1: the parent ended. */
static int read_order(int fd, struct order *order)
{
	ssize_t n;

	do
		n = recv(fd, order, sizeof(*order), 0);
	while (n < 0 && errno == EINTR);
	return n == sizeof(*order) ? 0 : -1;
}

/* The answer is the error's text, empty when all is well. */
static void restart(const char *interface, const struct deployment *deployment, int fd)
{
	struct error err = ERROR_INIT;
	int lock = lock_patiently(interface, &err);

	if (lock >= 0) {
		err = (struct error)ERROR_INIT;
		deploy_restart(interface, deployment, process_self(), &err);
		close(lock);
	}
	send(fd, err.text, strlen(err.text) + 1, MSG_NOSIGNAL);
}

/* Waits for orders, the confirmation and the time; returns when the schedule is to be taken back. */
static void guard_wait(const char *interface, const struct deployment *deployment, int orders,
		       int signals, int timer)
{
	struct pollfd fds[] = { { signals, POLLIN, 0 },
				{ timer, POLLIN, 0 },
				{ orders, POLLIN, 0 } };
	struct itimerspec time = { 0 };
	struct signalfd_siginfo info;
	struct order order;
	sigset_t both;

	for (;;) {
		if (poll(fds, sizeof(fds) / sizeof(fds[0]), -1) < 0)
			continue;
		if (fds[0].revents && read(signals, &info, sizeof(info)) == sizeof(info)) {
			/* confirmed, or another has cleared it already */
			if (info.ssi_signo == CONFIRMED)
				_exit(0);
			return;
		}
		if (fds[1].revents)
			return;
		if (!fds[2].revents)
			continue;
		/* the parent ended without a word: it was killed in the middle */
		if (read_order(orders, &order))
			return;
		if (order.what == 'r') {
			restart(interface, deployment, orders);
			continue;
		}
		if (order.what != 'w')
			_exit(0);
		fds[2].fd = -1;
		time.it_value = ns_to_timespec(order.timeout_ns);
		sigemptyset(&both);
		sigaddset(&both, CONFIRMED);
		sigaddset(&both, SIGTERM);
		if (signalfd(signals, &both, 0) < 0 || timerfd_settime(timer, 0, &time, NULL))
			return;
	}
}

static void guard_main(const char *interface, const struct deployment *deployment, int orders,
		       int answer, int close_fd)
{
	struct error err = ERROR_INIT;
	sigset_t all, confirmed;
	pid_t self = getpid();
	int null = open("/dev/null", O_RDWR), signals, timer;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	sigemptyset(&confirmed);
	sigaddset(&confirmed, CONFIRMED);
	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	if (null > 2)
		close(null);
	if (close_fd >= 0)
		close(close_fd);
	/* neither the machine's sleep nor a debugger ends the time that was given, and the first counts to it */
	signals = signalfd(-1, &confirmed, SFD_CLOEXEC);
	timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC);
	if (signals < 0 || timer < 0 || chdir("/") ||
	    write(answer, &self, sizeof(self)) != sizeof(self))
		_exit(1);
	close(answer);
	guard_wait(interface, deployment, orders, signals, timer);
	openlog("tsnpub", LOG_PID, LOG_DAEMON);
	if (confirm_take_back(interface, true, &err))
		syslog(LOG_ERR, "schedule on %s was not confirmed, and taking it back failed: %s",
		       interface, err.text);
	else
		syslog(LOG_NOTICE, "schedule on %s was not confirmed and was taken back",
		       interface);
	_exit(0);
}

int confirm_start(struct confirm_guard *guard, const char *interface,
		  const struct deployment *deployment, int close_fd, struct error *err)
{
	int orders[2], answer[2];
	pid_t pid, self = 0;
	ssize_t n;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, orders))
		return error_errno(err, errno, "socket pair");
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
			guard_main(interface, deployment, orders[0], answer[1], close_fd);
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
	guard->socket = orders[1];
	return 0;
}

static int give_order(const struct confirm_guard *guard, struct order order)
{
	ssize_t n;

	do
		n = send(guard->socket, &order, sizeof(order), MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n == sizeof(order) ? 0 : -1;
}

static void leave(struct confirm_guard *guard)
{
	close(guard->socket);
	guard->socket = -1;
}

int confirm_wait_begin(struct confirm_guard *guard, int64_t timeout_ns)
{
	int result = give_order(guard, (struct order){ 'w', timeout_ns });

	leave(guard);
	return result;
}

void confirm_cancel(struct confirm_guard *guard)
{
	give_order(guard, (struct order){ 'x', 0 });
	leave(guard);
}

int confirm_restart(struct confirm_guard *guard, const char *interface, struct error *err)
{
	struct pollfd fd = { guard->socket, POLLIN, 0 };
	char answer[sizeof(err->text)] = "";
	int ready;
	ssize_t n;

	/* an answer that came too late last time is not this one's */
	while (recv(guard->socket, answer, sizeof(answer), MSG_DONTWAIT) > 0)
		;
	memset(answer, 0, sizeof(answer));
	if (give_order(guard, (struct order){ 'r', 0 }))
		return error_system(err, "%s: the process that holds the schedule is gone",
				    interface);
	do
		ready = poll(&fd, 1, (int)(RELEASE_PATIENCE_NS / NSEC_PER_MSEC));
	while (ready < 0 && errno == EINTR);
	n = ready > 0 ? recv(guard->socket, answer, sizeof(answer) - 1, 0) : -1;
	if (n <= 0)
		return error_system(err, "%s: no answer from the process that holds the schedule",
				    interface);
	return answer[0] ? error_system(err, "%s", answer) : 0;
}

/* The record still names that guard: its work is not done. Unreadable counts as done. */
static bool state_is_of(const char *interface, struct process guard)
{
	static struct state state;
	struct error ignored = ERROR_INIT;
	char now[IF_NAMESIZE];
	bool ours;

	if (read_renamed(interface, &state, now, &ignored))
		return false;
	ours = state.guard.pid == guard.pid && state.guard.start == guard.start;
	state_free(&state);
	return ours;
}

bool confirm_name_now(const char *interface, char now[IF_NAMESIZE])
{
	static struct state state;
	struct error ignored = ERROR_INIT;

	if (read_renamed(interface, &state, now, &ignored))
		return false;
	state_free(&state);
	return true;
}

bool confirm_is_over(const struct confirm_guard *guard)
{
	char any;
	ssize_t n = recv(guard->socket, &any, sizeof(any), MSG_PEEK | MSG_DONTWAIT);

	return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

bool confirm_is_undone(const struct confirm_guard *guard, const char *interface)
{
	return !state_is_of(interface, guard->process);
}

int confirm_release(struct confirm_guard *guard, const char *interface, struct error *err)
{
	int64_t end = clock_now_ns(CLOCK_MONOTONIC) + RELEASE_PATIENCE_NS;
	struct timespec pause = ns_to_timespec(10 * NSEC_PER_MSEC);

	leave(guard);
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

// SPDX-License-Identifier: GPL-2.0-only
#include "ptp/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define END_WAIT_NS (2 * NSEC_PER_SEC)
#define RESTART_NS NSEC_PER_SEC

struct child {
	const char *const *argv;
	pid_t pid; /* 0: not running */
	int fd; /* its output */
	char line[512];
	size_t length;
	int starts; /* within the minute from `since_ns` */
	int64_t since_ns, restart_ns;
};

struct supervisor {
	supervisor_line line;
	void *context;
	int count;
	struct child child[SUPERVISE_CHILDREN];
};

/* In the child: never returns. What went wrong goes through `report` as an errno. */
static void become(const char *const *argv, int out, int report, pid_t parent)
{
	sigset_t none;
	int errnum;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(127);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGINT, SIG_IGN); /* Ctrl-C is the parent's: it ends us in order */
	signal(SIGPIPE, SIG_DFL);
	if (dup2(out, STDOUT_FILENO) >= 0 && dup2(out, STDERR_FILENO) >= 0)
		execvp(argv[0], (char *const *)argv);
	errnum = errno;
	if (write(report, &errnum, sizeof(errnum)) < 0)
		_exit(126);
	_exit(127);
}

/* Returns the process, its output in *fd; or -1 with errno. */
static pid_t spawn(const char *const *argv, int *fd)
{
	int out[2], report[2];
	pid_t parent = getpid(), pid;
	int errnum = 0;

	if (pipe2(out, O_CLOEXEC))
		return -1;
	if (pipe2(report, O_CLOEXEC)) {
		close(out[0]);
		close(out[1]);
		return -1;
	}
	pid = fork();
	if (pid == 0)
		become(argv, out[1], report[1], parent);
	errnum = pid < 0 ? errno : 0;
	close(out[1]);
	close(report[1]);
	/* ends without a word when exec succeeds */
	if (pid > 0 && read(report[0], &errnum, sizeof(errnum)) == sizeof(errnum)) {
		waitpid(pid, NULL, 0);
		pid = -1;
	}
	close(report[0]);
	if (pid < 0) {
		close(out[0]);
		errno = errnum;
		return -1;
	}
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	*fd = out[0];
	return pid;
}

static int start_error(const char *const *argv, struct error *err)
{
	if (errno == ENOENT)
		return error_system(err,
				    "there is no program '%s': install linuxptp (apt install "
				    "linuxptp)",
				    argv[0]);
	return error_errno(err, errno, "cannot start %s", argv[0]);
}

struct supervisor *supervisor_new(supervisor_line line, void *context)
{
	struct supervisor *s = calloc(1, sizeof(*s));

	if (s) {
		s->line = line;
		s->context = context;
	}
	return s;
}

int supervisor_start(struct supervisor *s, const char *const *argv, struct error *err)
{
	struct child *child = &s->child[s->count];

	if (s->count == SUPERVISE_CHILDREN)
		return error_system(err, "too many programs to run");
	child->pid = spawn(argv, &child->fd);
	if (child->pid < 0)
		return start_error(argv, err);
	child->argv = argv;
	child->starts = 1;
	child->since_ns = clock_now_ns(CLOCK_MONOTONIC);
	s->count++;
	return 0;
}

static void hand_on(struct supervisor *s, struct child *child)
{
	for (size_t i = 0; i < child->length; i++)
		if ((unsigned char)child->line[i] < 0x20 || child->line[i] == 0x7f)
			child->line[i] = '?';
	child->line[child->length] = '\0';
	if (child->length)
		s->line(s->context, child->argv[0], child->line);
	child->length = 0;
}

static void close_output(struct child *child)
{
	if (child->fd >= 0)
		close(child->fd);
	child->fd = -1;
}

static void take_output(struct supervisor *s, struct child *child)
{
	char bytes[2048];
	ssize_t n;

	/* bounded: a chatterbox must not keep us from the others */
	for (int turn = 0; turn < 16; turn++) {
		n = child->fd >= 0 ? read(child->fd, bytes, sizeof(bytes)) : -1;
		if (n == 0)
			close_output(child);
		if (n <= 0)
			return;
		for (ssize_t i = 0; i < n; i++) {
			if (bytes[i] == '\n' || child->length == sizeof(child->line) - 1)
				hand_on(s, child);
			if (bytes[i] != '\n')
				child->line[child->length++] = bytes[i];
		}
	}
}

static int ended(struct supervisor *s, struct child *child, int status, struct error *err)
{
	int64_t now = clock_now_ns(CLOCK_MONOTONIC);
	char text[128];

	take_output(s, child);
	hand_on(s, child);
	close_output(child);
	child->pid = 0;
	if (WIFSIGNALED(status))
		snprintf(text, sizeof(text), "ended by signal %d", WTERMSIG(status));
	else
		snprintf(text, sizeof(text), "ended with status %d", WEXITSTATUS(status));
	s->line(s->context, child->argv[0], text);
	if (now - child->since_ns > 60 * NSEC_PER_SEC) {
		child->starts = 0;
		child->since_ns = now;
	}
	if (child->starts >= SUPERVISE_STARTS)
		return error_system(err,
				    "%s %s for the %dth time within a minute: given up, see its "
				    "last lines above",
				    child->argv[0], text, child->starts);
	child->restart_ns = now + RESTART_NS;
	return 0;
}

static int restart_due(struct supervisor *s, struct error *err)
{
	int64_t now = clock_now_ns(CLOCK_MONOTONIC);

	for (int i = 0; i < s->count; i++) {
		struct child *child = &s->child[i];

		if (child->pid || now < child->restart_ns)
			continue;
		child->pid = spawn(child->argv, &child->fd);
		if (child->pid < 0) {
			child->pid = 0;
			return start_error(child->argv, err);
		}
		child->starts++;
		s->line(s->context, child->argv[0], "started again");
	}
	return 0;
}

int supervisor_turn(struct supervisor *s, int64_t wait_ns, struct error *err)
{
	struct pollfd fds[SUPERVISE_CHILDREN];
	struct timespec ts = ns_to_timespec(wait_ns);

	for (int i = 0; i < s->count; i++)
		fds[i] = (struct pollfd){ .fd = s->child[i].pid ? s->child[i].fd : -1,
					  .events = POLLIN };
	if (ppoll(fds, (nfds_t)s->count, &ts, NULL) > 0)
		for (int i = 0; i < s->count; i++)
			if (fds[i].revents)
				take_output(s, &s->child[i]);
	for (int i = 0; i < s->count; i++) {
		int status;

		if (s->child[i].pid && waitpid(s->child[i].pid, &status, WNOHANG) > 0 &&
		    ended(s, &s->child[i], status, err))
			return -1;
	}
	return restart_due(s, err);
}

static bool all_ended(struct supervisor *s)
{
	bool all = true;

	for (int i = 0; i < s->count; i++) {
		struct child *child = &s->child[i];

		if (child->pid && waitpid(child->pid, NULL, WNOHANG) > 0) {
			take_output(s, child);
			hand_on(s, child);
			close_output(child);
			child->pid = 0;
		}
		all &= !child->pid;
	}
	return all;
}

void supervisor_free(struct supervisor *s)
{
	int64_t deadline = clock_now_ns(CLOCK_MONOTONIC) + END_WAIT_NS;
	const struct timespec pause = { 0, 10 * NSEC_PER_MSEC };
	bool killed = false;

	if (!s)
		return;
	/* the last first: phc2sys asks ptp4l */
	for (int i = s->count - 1; i >= 0; i--)
		if (s->child[i].pid)
			kill(s->child[i].pid, SIGTERM);
	while (!all_ended(s)) {
		if (!killed && clock_now_ns(CLOCK_MONOTONIC) > deadline) {
			for (int i = 0; i < s->count; i++)
				if (s->child[i].pid)
					kill(s->child[i].pid, SIGKILL);
			killed = true;
		}
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	}
	free(s);
}

int supervise_first_line(const char *const *argv, char *text, size_t size, struct error *err)
{
	int64_t deadline = clock_now_ns(CLOCK_MONOTONIC) + END_WAIT_NS;
	size_t length = 0;
	pid_t pid;
	int fd;

	text[0] = '\0';
	pid = spawn(argv, &fd);
	if (pid < 0)
		return start_error(argv, err);
	for (;;) {
		int64_t left = deadline - clock_now_ns(CLOCK_MONOTONIC);
		struct pollfd pollfd = { .fd = fd, .events = POLLIN };
		struct timespec ts = ns_to_timespec(left > 0 ? left : 0);
		char c;

		if (left <= 0 || ppoll(&pollfd, 1, &ts, NULL) <= 0 || read(fd, &c, 1) != 1 ||
		    c == '\n' || length + 1 >= size)
			break;
		text[length++] = (unsigned char)c < 0x20 || c == 0x7f ? '?' : c;
		text[length] = '\0';
	}
	close(fd);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "host/load.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/tmpdir.h"
#include "host/process.h"

#define MEMORY_SIZE (32UL * 1024 * 1024)
#define IO_SIZE (1024 * 1024)
/* of 1 ms and more: what runs as somebody else cannot be ended, nor waited for */
#define ENDING_ROUNDS 1000
#define TIMER_PERIOD_NS (500 * NSEC_PER_USEC)

static void load_cpu(void)
{
	volatile double x = 1.0;

	for (;;)
		for (int i = 0; i < 100000; i++)
			x = x * 1.0000001 + 1e-9;
}

static void load_memory(void)
{
	for (;;) {
		/* mapped anew each time: page faults, zeroing, and flushes of the address caches */
		char *memory = mmap(NULL, MEMORY_SIZE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory == MAP_FAILED)
			_exit(1);
		for (size_t i = 0; i < MEMORY_SIZE; i += 4096)
			memory[i] = (char)i;
		memmove(memory, memory + MEMORY_SIZE / 2, MEMORY_SIZE / 2);
		munmap(memory, MEMORY_SIZE);
	}
}

static void load_io(void)
{
	/* of this process alone: as a static one the real-time programs would lock it into memory */
	char *block = calloc(1, IO_SIZE);
	const struct timespec pause = { .tv_nsec = 1000000 };
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%.480s/tsnpub-load-XXXXXX", temporary_directory());
	fd = mkstemp(path);
	if (!block || fd < 0)
		_exit(1);
	unlink(path);
	for (;;) {
		if (pwrite(fd, block, IO_SIZE, 0) < 0 || fdatasync(fd) < 0)
			_exit(1);
		if (pread(fd, block, IO_SIZE, 0) < 0)
			_exit(1);
		nanosleep(&pause, NULL);
	}
}

static void load_timers(void)
{
	const struct itimerspec period = { .it_interval = { .tv_nsec = TIMER_PERIOD_NS },
					   .it_value = { .tv_nsec = TIMER_PERIOD_NS } };
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	uint64_t count;

	if (fd < 0 || timerfd_settime(fd, 0, &period, NULL))
		_exit(1);
	while (read(fd, &count, sizeof(count)) > 0)
		;
	_exit(1);
}

static void load_switches(void)
{
	int there[2], back[2];
	char token = 0;
	pid_t pid;

	if (pipe(there) || pipe(back))
		_exit(1);
	pid = fork();
	if (pid < 0)
		_exit(1);
	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		if (write(pid ? there[1] : back[1], &token, 1) != 1 ||
		    read(pid ? back[0] : there[0], &token, 1) != 1)
			_exit(1);
	}
}

static void run_builtin(void)
{
	static void (*const kinds[])(void) = { load_cpu, load_memory, load_io, load_timers,
					       load_switches };
	int status = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		pid_t pid = fork();

		if (pid < 0)
			_exit(1);
		if (pid)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		kinds[i]();
		_exit(1);
	}
	/* they do not end; the first one that does is a failure */
	wait(&status);
	_exit(1);
}

static void reset_signals(void)
{
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void be_load(const char *command, pid_t parent, int error_fd)
{
	int null_fd = open("/dev/null", O_RDWR);

	reset_signals();
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* it may have died before that; in a PID namespace its number is 0 from here */
	if (getppid() != parent && getppid() != 0)
		_exit(1);
	if (null_fd >= 0) {
		dup2(null_fd, 0);
		dup2(null_fd, 1);
		dup2(null_fd, 2);
	}
	if (!strcmp(command, LOAD_BUILTIN)) {
		close(error_fd);
		run_builtin();
	}
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	if (write(error_fd, &errno, sizeof(errno)) < 0)
		_exit(126);
	_exit(127);
}

static int exit_status(int wait_status)
{
	return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

/* Ends all children, and what becomes a child by that: in each round those whose parents the last one has ended. */
static void end_children(void)
{
	const struct timespec pause = { .tv_nsec = NSEC_PER_MSEC };
	pid_t self = getpid(), ended;

	for (int round = 0; round < ENDING_ROUNDS; round++) {
		DIR *processes = opendir("/proc");
		const struct dirent *entry;

		while (processes && (entry = readdir(processes))) {
			pid_t pid = (pid_t)atoi(entry->d_name);

			if (pid > 0 && process_parent(pid) == self)
				kill(pid, SIGKILL);
		}
		if (processes)
			closedir(processes);
		do
			ended = waitpid(-1, NULL, WNOHANG);
		while (ended > 0);
		/* no child is left */
		if (ended < 0)
			return;
		nanosleep(&pause, NULL);
	}
}

/*
 * Where there is no namespace to contain the load: a process between, to which all comes back whose parent has ended, that of
 * a daemon also. It ends all of it when the load's first process has ended, or it is asked to, or its parent is gone.
 */
static void keep_load(const char *command, pid_t parent, int error_fd)
{
	pid_t self = getpid(), shell, ended = 0;
	int wait_status = 0;
	sigset_t signals;

	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	setpgid(0, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(1);
	shell = fork();
	if (!shell)
		be_load(command, self, error_fd);
	if (shell < 0)
		_exit(write(error_fd, &errno, sizeof(errno)) < 0 ? 126 : 127);
	close(error_fd);
	while (ended != shell && sigwaitinfo(&signals, NULL) != SIGTERM)
		do
			ended = waitpid(-1, &wait_status, WNOHANG);
		while (ended > 0 && ended != shell);
	end_children();
	_exit(exit_status(wait_status));
}

int load_start(struct load *load, const char *command, struct error *err)
{
	int pipe_fd[2], old_namespace, reason = 0;
	pid_t parent = getpid();

	memset(load, 0, sizeof(*load));
	if (!*command)
		return error_input(err,
				   "--load: the command is empty; write 'stress-ng --cpu 0' or "
				   "builtin");
	if (pipe2(pipe_fd, O_CLOEXEC))
		return error_errno(err, errno, "--load");
	/* with a PID namespace of its own all of it dies with its first process */
	old_namespace = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);
	load->contained = old_namespace >= 0 && !unshare(CLONE_NEWPID);
	load->pid = fork();
	if (!load->pid) {
		close(pipe_fd[0]);
		if (load->contained)
			be_load(command, parent, pipe_fd[1]);
		keep_load(command, parent, pipe_fd[1]);
	}
	reason = errno;
	/* later children of this process belong to the old one again */
	if (load->contained && setns(old_namespace, CLONE_NEWPID))
		message_warn("--load: cannot return to the PID namespace: %s", strerror(errno));
	if (old_namespace >= 0)
		close(old_namespace);
	close(pipe_fd[1]);
	if (load->pid < 0) {
		load->pid = 0;
		close(pipe_fd[0]);
		return error_errno(err, reason, "--load");
	}
	setpgid(load->pid, load->pid);
	if (read(pipe_fd[0], &reason, sizeof(reason)) != sizeof(reason))
		reason = 0;
	close(pipe_fd[0]);
	if (reason) {
		load_stop(load);
		return error_errno(err, reason, "--load: cannot start /bin/sh");
	}
	return 0;
}

bool load_ended(struct load *load, int *status)
{
	int wait_status;

	if (!load->pid || waitpid(load->pid, &wait_status, WNOHANG) != load->pid)
		return false;
	*status = exit_status(wait_status);
	load->pid = 0;
	return true;
}

void load_stop(struct load *load)
{
	if (!load->pid)
		return;
	kill(load->pid, load->contained ? SIGKILL : SIGTERM);
	while (waitpid(load->pid, NULL, 0) < 0 && errno == EINTR)
		;
	load->pid = 0;
}

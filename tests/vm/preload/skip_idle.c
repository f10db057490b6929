// SPDX-License-Identifier: GPL-2.0-only
/*
 * LD_PRELOAD for QEMU: where the guest's CPU halts, its thread itself sets the virtual clock to the next timer and runs it.
 * QEMU (-icount sleep=off) leaves that to its main thread: two changes of threads for each idle time of the guest, tens of
 * microseconds of the host, a fifth of what a guest with a short cycle takes, and both CPUs of a small machine are busy with
 * one guest.
 *
 * Built from functions that QEMU (7.2 and 10) exports for its plugins and modules. Where they are missing nothing is changed.
 * The guest sees no difference: the same timers run at the same virtual times. A device whose ioeventfd is on would have its
 * notices wait too: there is to be none.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CLOCK_OF_GUEST 1 /* QEMU_CLOCK_VIRTUAL */
#define ROUNDS 4 /* a timer may have nothing for the CPU */
#define NOTICE_NS \
	500000 /* how long the main thread may wait for a notice while the guest is busy */

static int (*cond_wait)(pthread_cond_t *cond, pthread_mutex_t *mutex);
static bool (*in_vcpu_thread)(void);
static bool (*all_idle)(void);
static void (*skip_to_next_timer)(void);
static bool (*run_timers)(int clock);
static bool usable;

static __thread bool of_guest; /* this thread runs the guest's CPUs */
static __thread int owed = -1; /* the eventfd of a notice that waits */
static __thread uint64_t noticed_ns;

__attribute__((constructor)) static void look_up(void)
{
	*(void **)&cond_wait = dlsym(RTLD_NEXT, "pthread_cond_wait");
	*(void **)&in_vcpu_thread = dlsym(RTLD_DEFAULT, "qemu_in_vcpu_thread");
	*(void **)&all_idle = dlsym(RTLD_DEFAULT, "all_cpu_threads_idle");
	*(void **)&skip_to_next_timer = dlsym(RTLD_DEFAULT, "icount_start_warp_timer");
	*(void **)&run_timers = dlsym(RTLD_DEFAULT, "qemu_clock_run_timers");
	usable = in_vcpu_thread && all_idle && skip_to_next_timer && run_timers;
}

static ssize_t plain_write(int fd, const void *data, size_t size)
{
	return syscall(SYS_write, fd, data, size);
}

static void give_notice(void)
{
	const uint64_t one = 1;

	if (owed >= 0)
		plain_write(owed, &one, sizeof(one));
	owed = -1;
}

/* Asked for a few descriptors over and over: the last answer is kept. */
static bool is_eventfd(int fd)
{
	static __thread int last = -1;
	static __thread bool answer;
	char path[32], target[32] = "";

	if (fd == last)
		return answer;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (readlink(path, target, sizeof(target) - 1) < 0)
		return false;
	last = fd;
	answer = !strcmp(target, "anon_inode:[eventfd]");
	return answer;
}

/*
 * Each halt and each timer wakes the main thread, which finds nothing to do. Such a notice waits, and is given with a later
 * one, or before this thread waits itself.
 */
ssize_t write(int fd, const void *data, size_t size)
{
	const uint64_t one = 1;
	struct timespec now;
	uint64_t now_ns;

	if (!of_guest || size != sizeof(one) || memcmp(data, &one, sizeof(one)) || !is_eventfd(fd))
		return plain_write(fd, data, size);
	if (owed != fd)
		give_notice();
	clock_gettime(CLOCK_MONOTONIC, &now);
	now_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	if (now_ns - noticed_ns < NOTICE_NS) {
		owed = fd;
		return sizeof(one);
	}
	noticed_ns = now_ns;
	owed = -1;
	return plain_write(fd, data, size);
}

/* The CPUs' thread waits so for the end of a halt; to come back without one is allowed, it looks again. */
int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	if (usable && in_vcpu_thread()) {
		of_guest = true;
		for (int i = 0; i < ROUNDS && all_idle(); i++) {
			skip_to_next_timer();
			run_timers(CLOCK_OF_GUEST);
			if (!all_idle())
				return 0;
		}
		give_notice();
	}
	return cond_wait(cond, mutex);
}

// SPDX-License-Identifier: GPL-2.0-only
#include "host/tracer.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/units.h"
#include "host/facts.h"
#include "host/tracer_settings.h"

#define PREFIX "tsnpub-"

static const struct {
	const char *name;
	const char *option; /* of the kernel's configuration */
} tracers[TRACERS] = {
	[TRACER_TIMERLAT] = { "timerlat", "CONFIG_TIMERLAT_TRACER" },
	[TRACER_OSNOISE] = { "osnoise", "CONFIG_OSNOISE_TRACER" },
	[TRACER_IRQSOFF] = { "irqsoff", "CONFIG_IRQSOFF_TRACER" },
	[TRACER_HWLAT] = { "hwlat", "CONFIG_HWLAT_TRACER" },
};

const char *tracer_name(enum tracer_kind kind)
{
	return tracers[kind].name;
}

int tracer_find(const char *name)
{
	for (int i = 0; i < TRACERS; i++)
		if (!strcmp(tracers[i].name, name))
			return i;
	return -1;
}

static void raise_to(int64_t *value, long long candidate)
{
	if (candidate > *value)
		*value = candidate;
}

/* Times come in us; what cannot be is passed over. */
static bool sane(long long us)
{
	return us >= 0 && us < LLONG_MAX / NSEC_PER_USEC;
}

bool tracer_parse(enum tracer_kind kind, const char *line, struct tracer_verdict *v)
{
	/* "TASK-PID [CPU] FLAGS TIMESTAMP: TEXT" */
	const char *text = strstr(line, ": ");
	long long a, b, runtime, noise, single;
	unsigned long long hw, nmi, irq, softirq, thread;
	char context[16];

	switch (kind) {
	case TRACER_TIMERLAT:
		if (!text ||
		    sscanf(text + 2, " #%lld context %15s timer_latency %lld ns", &a, context,
			   &b) != 3 ||
		    b < 0)
			return false;
		if (!strcmp(context, "irq"))
			raise_to(&v->irq_max_ns, b);
		else if (!strcmp(context, "thread"))
			raise_to(&v->thread_max_ns, b);
		else
			return false;
		v->samples++;
		return true;
	case TRACER_OSNOISE:
		if (!text ||
		    sscanf(text + 2, " %lld %lld %*s %lld %llu %llu %llu %llu %llu", &runtime,
			   &noise, &single, &hw, &nmi, &irq, &softirq, &thread) != 8 ||
		    !sane(runtime) || !sane(noise) || !sane(single))
			return false;
		v->samples++;
		v->runtime_ns += runtime * NSEC_PER_USEC;
		v->noise_ns += noise * NSEC_PER_USEC;
		raise_to(&v->single_max_ns, single * NSEC_PER_USEC);
		v->hw += hw;
		v->nmi += nmi;
		v->irq += irq;
		v->softirq += softirq;
		v->thread += thread;
		return true;
	case TRACER_HWLAT:
		if (!text || sscanf(text + 2, " #%*d inner/outer(us): %lld/%lld", &a, &b) != 2 ||
		    !sane(a) || !sane(b))
			return false;
		v->samples++;
		raise_to(&v->single_max_ns, (a > b ? a : b) * NSEC_PER_USEC);
		return true;
	case TRACER_IRQSOFF:
		if (sscanf(line, "#  => started at: %63s", v->irqsoff_from) == 1 ||
		    sscanf(line, "#  => ended at: %63s", v->irqsoff_to) == 1)
			return true;
		if (sscanf(line, "# latency: %lld us", &a) == 1 && sane(a)) {
			raise_to(&v->irqsoff_max_ns, a * NSEC_PER_USEC);
			v->samples = 1;
			return true;
		}
		return false;
	default:
		return false;
	}
}

int64_t tracer_line_time(const char *line)
{
	/* "... [000] d.h.1   361.168311: irq_noise: ...": seconds before the first ": " */
	const char *end = strstr(line, ": "), *at = end;
	long long seconds, us;

	while (at && at > line && (isdigit((unsigned char)at[-1]) || at[-1] == '.'))
		at--;
	if (!at || sscanf(at, "%9lld.%6lld:", &seconds, &us) != 2)
		return 0;
	return seconds * NSEC_PER_SEC + us * NSEC_PER_USEC;
}

static bool find_tracefs(char path[64])
{
	static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (fact_exists(places[i], "/available_tracers")) {
			snprintf(path, 64, "%s", places[i]);
			return true;
		}
	return false;
}

struct restore {
	char tracefs[64];
	char instance[128];
	struct tracer_settings settings;
};

static void remove_instance(const char *instance)
{
	/* the tracer first: an instance that is in use cannot be removed */
	tracer_write(instance, "tracing_on", "0");
	tracer_write(instance, "current_tracer", "nop");
	for (int i = 0; i < 50 && rmdir(instance) && errno == EBUSY; i++)
		usleep(20000);
}

static void put_back(const struct restore *restore)
{
	remove_instance(restore->instance);
	tracer_put_back(&restore->settings, restore->tracefs);
	unlink(TRACER_NOTE);
}

/* The watch: waits until nobody holds the other end of the pipe. The lock is its own until all is put back. */
static void keep_watch(int pipe_fd, int lock_fd, const struct restore *restore)
{
	int pipe_high = fcntl(pipe_fd, F_DUPFD, 3), lock_high = fcntl(lock_fd, F_DUPFD, 3);
	sigset_t all;
	char byte;

	setsid();
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	/* whatever else was open must not stay open because of this process */
	dup2(pipe_high, 0);
	dup2(lock_high, 1);
	close_range(2, ~0U, 0);
	while (read(0, &byte, 1) < 0 && errno == EINTR)
		;
	put_back(restore);
	_exit(0);
}

/* Instances whose process is gone: left by runs whose watch was killed too. */
static void remove_stale(const char *tracefs)
{
	char path[256];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/instances", tracefs);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		int pid;
		char rest;

		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) ||
		    sscanf(entry->d_name + strlen(PREFIX), "%d%c", &pid, &rest) != 1 || pid <= 0)
			continue;
		if (!kill(pid, 0) || errno != ESRCH)
			continue;
		snprintf(path, sizeof(path), "%s/instances/%.64s", tracefs, entry->d_name);
		remove_instance(path);
	}
	if (dir)
		closedir(dir);
}

/* Does somebody's tracer run there whose settings `kind` would change? */
static bool shares_settings(const char *directory, enum tracer_kind kind, char name[32])
{
	bool noise = kind == TRACER_TIMERLAT || kind == TRACER_OSNOISE;

	if (kind == TRACER_IRQSOFF || fact_text(directory, name, 32, "/current_tracer") <= 0)
		return false;
	return noise ? !strcmp(name, "timerlat") || !strcmp(name, "osnoise")
		     : !strcmp(name, tracers[kind].name);
}

bool tracer_rival(enum tracer_kind kind, const char *tracefs, char *text, size_t size)
{
	char path[256], name[32];
	struct dirent *entry;
	bool found = shares_settings(tracefs, kind, name);
	DIR *dir;

	if (found)
		snprintf(text, size, "%s is active in %s", name, tracefs);
	snprintf(path, sizeof(path), "%s/instances", tracefs);
	dir = found ? NULL : opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/instances/%.128s", tracefs, entry->d_name);
		found = shares_settings(path, kind, name);
		if (found)
			snprintf(text, size, "%s is active in %s", name, path);
	}
	if (dir)
		closedir(dir);
	for (char *c = text; found && *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	return found;
}

/* What will be changed that instances share. The stop is only written by tracer_arm(). */
static int note_shared(struct tracer *t, struct restore *restore, int cpu, int64_t stop_over_ns)
{
	char text[32];
	int result = 0;

	snprintf(text, sizeof(text), "%d", cpu);
	if (t->kind == TRACER_TIMERLAT || t->kind == TRACER_OSNOISE)
		result = tracer_share(&restore->settings, restore->tracefs, "osnoise/cpus", text);
	if (t->kind == TRACER_HWLAT && fact_exists(restore->tracefs, "/hwlat_detector/mode"))
		result = tracer_share(&restore->settings, restore->tracefs, "hwlat_detector/mode",
				      "none");
	if (result || !stop_over_ns)
		return result;
	t->stop_name = t->kind == TRACER_TIMERLAT  ? "osnoise/stop_tracing_total_us"
		       : t->kind == TRACER_OSNOISE ? "osnoise/stop_tracing_us"
						   : NULL;
	if (!t->stop_name)
		return 0;
	snprintf(t->stop_value, sizeof(t->stop_value), "%lld",
		 (long long)((stop_over_ns + NSEC_PER_USEC - 1) / NSEC_PER_USEC));
	/* until then it does not stop, whatever somebody has set */
	result = tracer_share(&restore->settings, restore->tracefs, t->stop_name, "0");
	if (!result)
		strcpy(restore->settings.shared[restore->settings.count - 1].later, t->stop_value);
	return result;
}

static void unlock(struct tracer *t)
{
	if (t->lock_fd >= 0)
		close(t->lock_fd);
	t->lock_fd = -1;
}

/*
 * One at a time: two would note each other's settings as those to go back to. Gone with the last process that
 * holds it, which is the watch.
 */
static int lock(struct tracer *t, struct error *err)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/instances", t->tracefs);
	t->lock_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (t->lock_fd < 0)
		return error_errno(err, errno, "tracer %s: %s", tracers[t->kind].name, path);
	if (!flock(t->lock_fd, LOCK_EX | LOCK_NB))
		return 0;
	unlock(t);
	return error_system(err, "tracer %s: another tsnpub drives a tracer; wait for its end",
			    tracers[t->kind].name);
}

static int refuse(struct tracer *t, struct error *err, int reason, const char *what)
{
	const char *hint = reason == EACCES || reason == EPERM ? "; run as root"
			   : reason == EBUSY ? "; another run of timerlat or osnoise is active"
					     : "";

	error_errno(err, reason, "tracer %s: %s%s", tracers[t->kind].name, what, hint);
	tracer_stop(t);
	return -1;
}

int tracer_start(struct tracer *t, enum tracer_kind kind, int cpu, int64_t stop_over_ns,
		 struct error *err)
{
	struct restore restore = { .settings.count = 0 };
	char text[1024], mask[CPULIST_TEXT];
	struct cpulist cpus = { 0 };
	int pipe_fds[2], result;

	memset(t, 0, sizeof(*t));
	t->kind = kind;
	t->watch_fd = t->pipe_fd = t->on_fd = t->lock_fd = -1;
	if (!find_tracefs(t->tracefs))
		return error_system(err,
				    "tracer %s: no tracefs here%s; mount -t tracefs none "
				    "/sys/kernel/tracing",
				    tracers[kind].name, geteuid() ? ", or no permission" : "");
	if (fact_text(t->tracefs, text, sizeof(text), "/available_tracers") < 0 ||
	    !cmdline_find(text, tracers[kind].name, NULL, 0))
		return error_system(err,
				    "tracer %s: this kernel has none (it lacks %s); it has: %.200s",
				    tracers[kind].name, tracers[kind].option, text);
	if (lock(t, err) < 0)
		return -1;
	remove_stale(t->tracefs);
	/* and shared settings that such a run has left */
	if (tracer_recover(TRACER_NOTE, t->tracefs, text, sizeof(text)))
		message_note("tracer %s: put back what a killed run had left: %s",
			     tracers[kind].name, text);
	if (tracer_rival(kind, t->tracefs, text, sizeof(text))) {
		unlock(t);
		return error_system(err, "tracer %s: %s, whose settings it would change",
				    tracers[kind].name, text);
	}
	snprintf(restore.tracefs, sizeof(restore.tracefs), "%s", t->tracefs);
	snprintf(restore.instance, sizeof(restore.instance), "%s/instances/" PREFIX "%d",
		 t->tracefs, (int)getpid());
	result = note_shared(t, &restore, cpu, stop_over_ns);
	if (result || pipe2(pipe_fds, O_CLOEXEC)) {
		result = result ? -result : errno;
		unlock(t);
		return error_errno(err, result, "tracer %s: cannot set it up", tracers[kind].name);
	}
	/* where it cannot be written there is the watch, which is enough for all but SIGKILL of both */
	tracer_note(&restore.settings, TRACER_NOTE);
	/* the watch begins before anything is changed, so that no moment is unwatched */
	t->watch = fork();
	if (!t->watch) {
		close(pipe_fds[1]);
		keep_watch(pipe_fds[0], t->lock_fd, &restore);
	}
	result = errno;
	close(pipe_fds[0]);
	if (t->watch < 0) {
		close(pipe_fds[1]);
		t->watch = 0;
		unlink(TRACER_NOTE);
		unlock(t);
		return error_errno(err, result, "tracer %s: fork", tracers[kind].name);
	}
	t->watch_fd = pipe_fds[1];
	snprintf(t->instance, sizeof(t->instance), "%s", restore.instance);
	if (mkdir(t->instance, 0750))
		return refuse(t, err, errno, "cannot make its instance");
	for (int i = 0; i < restore.settings.count; i++) {
		const struct tracer_shared *shared = &restore.settings.shared[i];

		result = tracer_write(t->tracefs, shared->name, shared->becomes);
		if (result)
			return refuse(t, err, -result, "cannot set it up");
	}
	cpulist_add(&cpus, cpu);
	result = tracer_write(t->instance, "tracing_cpumask",
			      cpulist_format_mask(&cpus, mask, sizeof(mask)));
	if (result)
		return refuse(t, err, -result, "cannot choose the CPU");
	result = tracer_write(t->instance, "current_tracer", tracers[kind].name);
	if (result)
		return refuse(t, err, -result, "cannot switch it on");
	/* the clock that wake-ups are told by */
	tracer_write(t->instance, "trace_clock", "mono");
	/* who it was: interrupts and threads that held the CPU, as the tracer itself counts them */
	if (stop_over_ns && (kind == TRACER_TIMERLAT || kind == TRACER_OSNOISE))
		tracer_write(t->instance, "events/osnoise/enable", "1");
	snprintf(text, sizeof(text), "%s/trace_pipe", t->instance);
	t->pipe_fd = open(text, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (t->pipe_fd < 0 && kind != TRACER_IRQSOFF)
		return refuse(t, err, errno, "cannot read it");
	result = tracer_write(t->instance, "tracing_on", "1");
	if (result)
		return refuse(t, err, -result, "cannot switch it on");
	return 0;
}

static void take_line(struct tracer *t)
{
	char *last = t->last[t->lines++ % TRACER_LINES];

	t->line[t->used] = '\0';
	t->used = 0;
	tracer_parse(t->kind, t->line, &t->verdict);
	snprintf(last, TRACER_LINE, "%s", t->line);
	for (; *last; last++)
		if (*last < ' ' || *last > '~')
			*last = ' ';
}

static void take_text(struct tracer *t, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (text[i] == '\n')
			take_line(t);
		else if (t->used < sizeof(t->line) - 1)
			t->line[t->used++] = text[i];
}

const char *tracer_last_line(const struct tracer *t, unsigned n)
{
	uint64_t oldest = t->lines < TRACER_LINES ? 0 : t->lines - TRACER_LINES;
	uint64_t end = t->lines, first;

	while (end > oldest && t->until_ns &&
	       tracer_line_time(t->last[(end - 1) % TRACER_LINES]) > t->until_ns)
		end--;
	first = end - oldest < TRACER_LINES_SHOWN ? oldest : end - TRACER_LINES_SHOWN;
	return n < end - first ? t->last[(first + n) % TRACER_LINES] : NULL;
}

void tracer_arm(struct tracer *t)
{
	char path[160];

	if (!t->instance[0] || !t->stop_name || t->on_fd >= 0)
		return;
	snprintf(path, sizeof(path), "%s/tracing_on", t->instance);
	t->on_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (tracer_write(t->tracefs, t->stop_name, t->stop_value))
		message_warn("tracer %s: cannot make it stop by itself", tracers[t->kind].name);
}

void tracer_freeze(struct tracer *t, int64_t monotonic_ns)
{
	if (!t->instance[0])
		return;
	tracer_write(t->instance, "tracing_on", "0");
	t->until_ns = monotonic_ns;
}

void tracer_collect(struct tracer *t)
{
	char text[4096];
	ssize_t got;

	if (!t->instance[0])
		return;
	/* it writes no word of it: the kernel's switch tells */
	if (t->on_fd >= 0 && pread(t->on_fd, text, 1, 0) == 1 && text[0] == '0')
		t->stopped = true;
	/* bounded, so that a tracer that writes faster than this reads cannot hold it */
	for (int i = 0; t->pipe_fd >= 0 && i < 256; i++) {
		got = read(t->pipe_fd, text, sizeof(text));
		if (got <= 0)
			return;
		take_text(t, text, (size_t)got);
	}
}

/* irqsoff keeps the worst one in `trace`, its own file. */
static void take_worst(struct tracer *t)
{
	char path[160], line[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/trace", t->instance);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] != '#')
			break;
		tracer_parse(t->kind, line, &t->verdict);
	}
	if (file)
		fclose(file);
}

void tracer_stop(struct tracer *t)
{
	if (!t->instance[0])
		return;
	tracer_write(t->instance, "tracing_on", "0");
	if (t->kind == TRACER_IRQSOFF)
		take_worst(t);
	else
		tracer_collect(t);
	if (t->pipe_fd >= 0)
		close(t->pipe_fd);
	if (t->on_fd >= 0)
		close(t->on_fd);
	t->pipe_fd = t->on_fd = -1;
	if (t->watch_fd >= 0)
		close(t->watch_fd);
	t->watch_fd = -1;
	while (t->watch > 0 && waitpid(t->watch, NULL, 0) < 0 && errno == EINTR)
		;
	t->watch = 0;
	unlock(t);
	t->instance[0] = '\0';
}

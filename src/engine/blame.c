// SPDX-License-Identifier: GPL-2.0-only
#include "engine/blame.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "bpf/blame.skel.h"
#include "engine/blame_usual.h"

/* A history is free, being written to, kept until it is looked at, or being looked at. */
enum keep {
	KEEP_FREE,
	KEEP_ACTIVE,
	KEEP_KEPT,
	KEEP_TAKEN
};

struct kept {
	_Atomic int state;
	int64_t due, armed, awake;
	_Atomic uint64_t order;
	uint64_t start, end; /* its events, counted as blame_control.head counts */
	bool cut; /* those before `start` were written over */
};

struct blame {
	struct blame_bpf *bpf;
	int cpu;
	char missing[256];
	int kallsyms;
	struct kept kept[BLAME_HISTORIES];
	struct wake_watch watch;
	int64_t over_ns, most_ns;
	_Atomic int64_t threshold;
	_Atomic uint64_t unkept;
	/* the cyclic thread's */
	int64_t armed; /* what its last sleep for that was to end at; 0: it was busy all the time */
	int64_t late; /* its last wake-up; negative: counted already */
	bool begun, ordinary;
	struct usual usual;
	uint32_t active;
	uint64_t order;
	/* since when a CPU is followed: events before are of another one */
	uint64_t follow_head;
	int64_t follow_ns;
	/* the collector's */
	int taken; /* history being looked at, or -1 */
	struct blame_event *copy;
};

/* What each tracepoint shows; several programs may serve one. */
static const struct {
	const char *tracepoint; /* as in "btf_trace_NAME" */
	const char *shows;
	bool needed; /* without it there is no blame at all */
} tracepoints[] = {
	{ "irq_handler_entry", "interrupt handlers", false },
	{ "irq_handler_exit", NULL, false },
	{ "softirq_entry", "soft interrupts", false },
	{ "softirq_exit", NULL, false },
	{ "sched_switch", "threads", true },
	{ "sched_wakeup", "wake-ups", false },
	{ "hrtimer_expire_entry", "timers", false },
	{ "local_timer_entry", "the local timer's interrupt", false },
	{ "local_timer_exit", NULL, false },
	{ "reschedule_entry", "reschedule IPIs", false },
	{ "reschedule_exit", NULL, false },
	{ "call_function_entry", "function call IPIs", false },
	{ "call_function_exit", NULL, false },
	{ "call_function_single_entry", NULL, false },
	{ "call_function_single_exit", NULL, false },
	{ "irq_work_entry", "IRQ work", false },
	{ "irq_work_exit", NULL, false },
	{ "thermal_apic_entry", "thermal events", false },
	{ "thermal_apic_exit", NULL, false },
	{ "ipi_entry", NULL, false }, /* arm64's; x86 has one for each kind */
	{ "ipi_exit", NULL, false },
};

/* Leaves out the programs whose tracepoint this kernel does not have, and notes what is not seen. */
static int choose_programs(struct blame *blame, bool look, struct error *err)
{
	struct btf *btf = btf__load_vmlinux_btf();
	bool has_ipi, has_timer;

	blame->missing[0] = '\0';
	if (!btf)
		return error_system(err, "this kernel has no BTF (/sys/kernel/btf/vmlinux): it was "
					 "built without CONFIG_DEBUG_INFO_BTF");
	has_ipi = btf__find_by_name_kind(btf, "btf_trace_ipi_entry", BTF_KIND_TYPEDEF) > 0;
	for (size_t i = 0; i < sizeof(tracepoints) / sizeof(tracepoints[0]); i++) {
		char name[64];
		struct bpf_program *program;
		size_t used = strlen(blame->missing);

		snprintf(name, sizeof(name), "btf_trace_%s", tracepoints[i].tracepoint);
		if (btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF) > 0)
			continue;
		if (tracepoints[i].needed) {
			btf__free(btf);
			return error_system(err, "this kernel has no tracepoint %s",
					    tracepoints[i].tracepoint);
		}
		snprintf(name, sizeof(name), "blame_%s", tracepoints[i].tracepoint);
		program = bpf_object__find_program_by_name(blame->bpf->obj, name);
		if (program)
			bpf_program__set_autoload(program, false);
		/* arm64 shows all IPIs by one tracepoint, and the timer as an interrupt */
		if (!tracepoints[i].shows || has_ipi)
			continue;
		snprintf(blame->missing + used, sizeof(blame->missing) - used, "%s%s",
			 used ? ", " : "", tracepoints[i].shows);
	}
	has_timer = btf__find_by_name_kind(btf, "btf_trace_local_timer_entry", BTF_KIND_TYPEDEF) >
		    0;
	bpf_program__set_autoload(blame->bpf->progs.blame_local_timer_entry, has_timer && !look);
	bpf_program__set_autoload(blame->bpf->progs.blame_local_timer_look_entry,
				  has_timer && look);
	btf__free(btf);
	return 0;
}

/* What not every kernel allows. */
struct liberties {
	bool look; /* the timer's interrupt notes what it has interrupted */
	bool add; /* BPF adds and fetches at once */
};

static int load(struct blame *blame, const struct liberties *liberties, struct error *err)
{
	int result;

	blame->bpf = blame_bpf__open();
	if (!blame->bpf)
		return error_errno(err, errno ? errno : ENOMEM, "cannot open its BPF programs");
	blame->bpf->rodata->plain_head = !liberties->add;
	if (choose_programs(blame, liberties->look, err) < 0)
		return -1;
	result = blame_bpf__load(blame->bpf);
	if (result)
		return error_errno(err, -result, "the kernel does not take its BPF programs%s",
				   result == -EPERM ? " (needs CAP_BPF and CAP_PERFMON, or root)"
						    : "");
	return 0;
}

/* With as much as this kernel allows; the error is that of the least. */
static int load_any(struct blame *blame, struct error *err)
{
	static const struct liberties all[] = {
		{ true, true }, { false, true }, { true, false }, { false, false }
	};
	size_t count = sizeof(all) / sizeof(all[0]);
	struct error ignored = ERROR_INIT;

	for (size_t i = 0; i < count; i++) {
		if (!load(blame, &all[i], i + 1 < count ? &ignored : err))
			return 0;
		if (i + 1 < count) {
			blame_bpf__destroy(blame->bpf);
			blame->bpf = NULL;
		}
	}
	return -1;
}

static int no_print(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

struct blame *blame_load(int cpu, struct error *err)
{
	struct blame *blame = calloc(1, sizeof(*blame));
	libbpf_print_fn_t print;

	if (!blame) {
		error_errno(err, ENOMEM, "blame");
		return NULL;
	}
	blame->taken = -1;
	blame->cpu = cpu;
	blame->kallsyms = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	atomic_store(&blame->threshold, INT64_MAX);
	blame->over_ns = INT64_MAX;
	atomic_store(&blame->kept[0].state, KEEP_ACTIVE);
	print = libbpf_set_print(no_print);
	blame->copy = malloc(sizeof(struct blame_event) * BLAME_EVENTS);
	if (!blame->copy) {
		error_errno(err, ENOMEM, "blame");
		goto fail;
	}
	if (load_any(blame, err) < 0)
		goto fail;
	libbpf_set_print(print);
	return blame;

fail:
	libbpf_set_print(print);
	blame_close(blame);
	return NULL;
}

int blame_attach(struct blame *blame, struct error *err)
{
	libbpf_print_fn_t print = libbpf_set_print(no_print);
	int result = blame_bpf__attach(blame->bpf);

	libbpf_set_print(print);
	return result ? error_errno(err, -result, "cannot attach to the tracepoints") : 0;
}

struct blame *blame_open(int cpu, struct error *err)
{
	struct blame *blame = blame_load(cpu, err);

	if (blame && blame_attach(blame, err) < 0) {
		blame_close(blame);
		return NULL;
	}
	return blame;
}

void blame_close(struct blame *blame)
{
	if (!blame)
		return;
	blame_bpf__destroy(blame->bpf);
	if (blame->kallsyms >= 0)
		close(blame->kallsyms);
	free(blame->copy);
	free(blame);
}

const char *blame_missing(const struct blame *blame)
{
	return blame->missing;
}

int blame_kallsyms(const struct blame *blame)
{
	return blame->kallsyms;
}

static void follow(struct blame *blame, uint32_t tid)
{
	blame->bpf->data->control.tid = tid;
	*(volatile __u32 *)&blame->bpf->data->control.cpu = (uint32_t)blame->cpu;
}

void blame_follow_cpu(struct blame *blame, int cpu)
{
	struct blame_control *control = &blame->bpf->data->control;

	blame_stop(blame);
	/* what the former CPU was in the middle of does not end on this one */
	control->irq_since = control->vector_since = control->softirq_since = 0;
	blame->follow_head = *(volatile __u64 *)&control->head;
	blame->follow_ns = clock_now_ns(CLOCK_MONOTONIC);
	blame->cpu = cpu;
	follow(blame, 0);
}

void blame_stop(struct blame *blame)
{
	*(volatile __u32 *)&blame->bpf->data->control.cpu = BLAME_NO_CPU;
}

#define TAKEN_AWAY 4 /* attempts at one that the collector does not take meanwhile */

/* A history that is to be written to from now on: a free one, else that of the least late one, if it is less than `late`. */
static int choose_next(struct blame *blame, int64_t late)
{
	for (int attempt = 0; attempt < TAKEN_AWAY; attempt++) {
		int64_t least = late;
		int kept = KEEP_KEPT, best = -1;

		for (int i = 0; i < BLAME_HISTORIES; i++) {
			const struct kept *k = &blame->kept[i];
			int state = atomic_load_explicit(&k->state, memory_order_acquire);

			if (state == KEEP_FREE)
				return i;
			if (state == KEEP_KEPT && k->awake - k->due < least) {
				least = k->awake - k->due;
				best = i;
			}
		}
		if (best < 0)
			break;
		/* else the collector has come for it just now, and gives back another one */
		if (atomic_compare_exchange_strong(&blame->kept[best].state, &kept, KEEP_ACTIVE)) {
			atomic_fetch_add_explicit(&blame->unkept, 1, memory_order_relaxed);
			return best;
		}
	}
	atomic_fetch_add_explicit(&blame->unkept, 1, memory_order_relaxed);
	return -1;
}

/*
 * Keeps the active history and lets the programs go on in another one. In the cyclic thread, on the CPU that
 * they write on: what they write meanwhile belongs to an interrupt, goes into the one or the other, and counts
 * for neither.
 */
static void keep(struct blame *blame, int64_t due, int64_t awake)
{
	struct kept *kept = &blame->kept[blame->active];
	const volatile __u64 *head = &blame->bpf->data->control.head;
	int next;

	/* its CPU went offline, or somebody has moved it: what ran where it woke up is not known */
	if (sched_getcpu() != blame->cpu) {
		atomic_fetch_add_explicit(&blame->unkept, 1, memory_order_relaxed);
		return;
	}
	next = choose_next(blame, awake - due);
	if (next < 0)
		return;
	kept->due = due;
	kept->armed = blame->armed;
	kept->awake = awake;
	atomic_store_explicit(&kept->order, blame->order++, memory_order_relaxed);
	kept->end = *head;
	atomic_store_explicit(&blame->kept[next].state, KEEP_ACTIVE, memory_order_relaxed);
	*(volatile __u32 *)&blame->bpf->data->control.active = (uint32_t)next;
	blame->kept[next].start = *head;
	kept->cut = blame->kept[next].start - kept->start > BLAME_EVENTS;
	if (kept->cut)
		kept->start = blame->kept[next].start - BLAME_EVENTS;
	atomic_store_explicit(&kept->state, KEEP_KEPT, memory_order_release);
	blame->active = (uint32_t)next;
}

void blame_set_threshold(struct blame *blame, int64_t over_ns, int64_t most_ns)
{
	blame->over_ns = over_ns;
	blame->most_ns = most_ns;
}

int64_t blame_threshold(const struct blame *blame)
{
	return atomic_load_explicit(&blame->threshold, memory_order_relaxed);
}

static void move_threshold(struct blame *blame)
{
	int64_t threshold = blame->over_ns ? blame->over_ns : usual_threshold(&blame->usual);

	if (blame->most_ns && threshold > blame->most_ns)
		threshold = blame->most_ns;
	atomic_store_explicit(&blame->threshold, threshold, memory_order_relaxed);
}

static bool is_ordinary(void)
{
	int policy = sched_getscheduler(0);

	return policy == SCHED_OTHER || policy == SCHED_BATCH || policy == SCHED_IDLE;
}

#define BEGINNING 16

/* The warming up has told what is usual: it counts as so many wake-ups, since the first ones are judged by it. */
static void watched_begin(void *context)
{
	struct blame *blame = context;
	int64_t median = usual_median(&blame->usual);

	memset(&blame->usual, 0, sizeof(blame->usual));
	for (int i = 0; i < BEGINNING; i++)
		usual_add(&blame->usual, median);
	blame->late = -1;
	blame->ordinary = is_ordinary();
	follow(blame, (uint32_t)syscall(SYS_gettid));
	blame->kept[blame->active].start = *(const volatile __u64 *)&blame->bpf->data->control.head;
	blame->begun = true;
	move_threshold(blame);
}

static void watched_end(void *context)
{
	struct blame *blame = context;

	blame_stop(blame);
	blame->begun = false;
}

/* Counts the last wake-up here, where the thread has done its work and waits for the next one. */
static void watched_aim(void *context, int64_t due)
{
	struct blame *blame = context;

	(void)due;
	if (blame->late >= 0) {
		usual_add(&blame->usual, blame->late);
		if (blame->begun)
			move_threshold(blame);
		blame->late = -1;
	}
	blame->armed = 0;
	/* no interrupt of the timer is late for it */
	*(volatile __u64 *)&blame->bpf->data->control.due_ns = INT64_MAX;
}

static void watched_sleep(void *context, int64_t until)
{
	struct blame *blame = context;

	blame->armed = until;
	*(volatile __u64 *)&blame->bpf->data->control.due_ns = (uint64_t)until;
}

static void watched_awake(void *context, int64_t due, int64_t awake)
{
	struct blame *blame = context;

	blame->late = awake - due;
	if (blame->begun && blame->late > blame_threshold(blame))
		keep(blame, due, awake);
}

const struct wake_watch *blame_watch(struct blame *blame)
{
	blame->watch = (struct wake_watch){ .begin = watched_begin,
					    .end = watched_end,
					    .aim = watched_aim,
					    .sleep = watched_sleep,
					    .awake = watched_awake,
					    .context = blame };
	return &blame->watch;
}

/* The oldest that is kept, and now taken; -1: none. */
static int take_oldest(struct blame *blame)
{
	for (;;) {
		uint64_t first = UINT64_MAX;
		int kept = KEEP_KEPT, oldest = -1;

		for (int i = 0; i < BLAME_HISTORIES; i++) {
			uint64_t order = atomic_load_explicit(&blame->kept[i].order,
							      memory_order_relaxed);

			if (atomic_load(&blame->kept[i].state) == KEEP_KEPT && order < first) {
				first = order;
				oldest = i;
			}
		}
		/* where a later one has taken its place meanwhile there is another one that is kept */
		if (oldest < 0 ||
		    atomic_compare_exchange_strong(&blame->kept[oldest].state, &kept, KEEP_TAKEN))
			return oldest;
	}
}

bool blame_take(struct blame *blame, struct blame_case *late)
{
	const struct blame_history *history;
	uint64_t start, count;
	int oldest = take_oldest(blame);

	if (oldest < 0)
		return false;
	blame->taken = oldest;
	history = &blame->bpf->bss->histories[oldest];
	start = blame->kept[oldest].start;
	count = blame->kept[oldest].end - start;
	for (uint64_t i = 0; i < count; i++)
		blame->copy[i] = history->events[(start + i) % BLAME_EVENTS];
	*late = (struct blame_case){
		.due = blame->kept[oldest].due,
		.armed = blame->kept[oldest].armed,
		.awake = blame->kept[oldest].awake,
		.tid = blame->bpf->data->control.tid,
		.events = blame->copy,
		.count = count,
		.begins_in_thread = !blame->kept[oldest].cut,
		.cut = blame->kept[oldest].cut,
		.ordinary = blame->ordinary,
	};
	return true;
}

/* Events that may be in the middle of being written, one for each interrupt that came upon another. */
#define IN_FLIGHT 8

int64_t blame_look(struct blame *blame, struct blame_case *recent)
{
	const volatile __u64 *head = &blame->bpf->data->control.head;
	const struct blame_history *history = &blame->bpf->bss->histories[blame->active];
	uint64_t end = __atomic_load_n(head, __ATOMIC_ACQUIRE);
	uint64_t begin = end > BLAME_EVENTS ? end - BLAME_EVENTS : 0;
	uint64_t intact;

	if (begin < blame->follow_head)
		begin = blame->follow_head;
	for (uint64_t n = begin; n < end; n++)
		blame->copy[n - begin] = history->events[n % BLAME_EVENTS];
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	/* meanwhile the oldest ones may have been written over */
	intact = __atomic_load_n(head, __ATOMIC_ACQUIRE) + IN_FLIGHT;
	intact = intact > BLAME_EVENTS ? intact - BLAME_EVENTS : 0;
	if (intact < begin)
		intact = begin;
	if (intact > end)
		intact = end;
	*recent = (struct blame_case){ .events = blame->copy + (intact - begin),
				       .count = (size_t)(end - intact),
				       .frame = true };
	/* a newest one whose time has not been written yet has that of a former round */
	while (recent->count > 1 && recent->events[recent->count - 1].time_ns <
					    recent->events[recent->count - 2].time_ns)
		recent->count--;
	if (intact == blame->follow_head)
		return blame->follow_ns;
	return recent->count ? (int64_t)recent->events[0].time_ns : INT64_MAX;
}

void blame_release(struct blame *blame)
{
	if (blame->taken < 0)
		return;
	atomic_store_explicit(&blame->kept[blame->taken].state, KEEP_FREE, memory_order_release);
	blame->taken = -1;
}

uint64_t blame_unkept(const struct blame *blame)
{
	return atomic_load(&blame->unkept);
}

size_t blame_holds(const struct blame *blame, struct blame_hold *holds, size_t max)
{
	size_t count = 0;

	for (size_t i = 0; i < BLAME_HOLDS && count < max; i++)
		if (blame->bpf->bss->holds[i].key && blame->bpf->bss->holds[i].count)
			holds[count++] = blame->bpf->bss->holds[i];
	return count;
}

void blame_forget(struct blame *blame)
{
	struct blame_control *control = &blame->bpf->data->control;

	memset(blame->bpf->bss->holds, 0, sizeof(blame->bpf->bss->holds));
	control->holds_lost = 0;
	control->put_off = 0;
	/* what was going on when the CPU was last followed did not last until now */
	control->irq_since = control->vector_since = control->softirq_since = 0;
}

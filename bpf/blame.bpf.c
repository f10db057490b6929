// SPDX-License-Identifier: GPL-2.0-only
/*
 * Notes what runs on one CPU: interrupts, soft interrupts, thread switches, timers. Needs no vmlinux.h: of the
 * kernel's structures only the members that are read are declared, and libbpf finds their offsets (CO-RE).
 *
 * All that is written here is written on one CPU. An interrupt may come between two statements of a program
 * that it interrupts; a place in the history is therefore taken first and filled afterwards.
 */
#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/blame.h"
#include "bpf/bucket.h"

char LICENSE[] SEC("license") = "GPL";

struct irqaction {
	const char *name;
} __attribute__((preserve_access_index));

struct task_struct {
	int pid;
	int prio;
	unsigned int policy;
	char comm[BLAME_NAME];
} __attribute__((preserve_access_index));

struct hrtimer {
	__s64 _softexpires;
	void *function;
} __attribute__((preserve_access_index));

struct pt_regs {
	unsigned long ip;
	unsigned long cs;
} __attribute__((preserve_access_index));

/* What the interrupt that is being handled has interrupted; absent on some kernels. */
extern struct pt_regs *__irq_regs __ksym __weak;

/*
 * Soft interrupts begin and end with interrupts on: one that comes in the middle of counting `head` up would write into
 * the same place. On kernels whose BPF cannot add and fetch at once (arm64 before 5.18) that is so.
 */
const volatile _Bool plain_head = 0;

struct blame_control control = { .cpu = BLAME_NO_CPU };
struct blame_history histories[BLAME_HISTORIES];
struct blame_hold holds[BLAME_HOLDS];
struct blame_put_off put_off_holds[BLAME_PUT_OFF];

static __always_inline int elsewhere(void)
{
	return bpf_get_smp_processor_id() != control.cpu;
}

static __always_inline struct blame_event *next_event(__u64 now, __u8 kind, __u32 number)
{
	struct blame_history *history = &histories[control.active & (BLAME_HISTORIES - 1)];
	__u64 place = plain_head ? control.head++ : __sync_fetch_and_add(&control.head, 1);
	struct blame_event *event = &history->events[place & (BLAME_EVENTS - 1)];

	event->time_ns = now;
	event->number = number;
	event->kind = kind;
	control.own_timer = 0;
	return event;
}

static __always_inline __u32 hold_bucket(__u64 held)
{
	__u32 power = bucket_log2(held);

	return power < BLAME_HOLD_BUCKETS ? power : BLAME_HOLD_BUCKETS - 1;
}

/* Where the kernel has the name of the handler that is being counted; 0: it has none. No argument, since that cannot be a pointer. */
__u64 handler_name;

/*
 * A global function is verified once, by itself; within its callers it would be once for each of them and each time that they
 * call it.
 */
__noinline int count_hold(__u32 key, __u64 held)
{
	__u32 index = (key * 2654435761U) >> 24;

#pragma unroll
	for (int i = 0; i < BLAME_HOLD_PROBES; i++) {
		struct blame_hold *hold = &holds[(index + i) & (BLAME_HOLDS - 1)];

		if (hold->key && hold->key != key)
			continue;
		if (!hold->key) {
			hold->key = key;
			if (handler_name)
				bpf_probe_read_kernel_str(hold->name, sizeof(hold->name),
							  (void *)handler_name);
		}
		hold->count++;
		hold->total_ns += held;
		if (held > hold->max_ns)
			hold->max_ns = held;
		hold->buckets[hold_bucket(held) & (BLAME_HOLD_BUCKETS - 1)]++;
		return 0;
	}
	control.holds_lost++;
	return 0;
}

/* In sched_switch, where no interrupt comes in between. */
static __always_inline void count_put_off(void)
{
	__u32 count = control.put_off;

	for (int i = 0; i < BLAME_PUT_OFF; i++)
		if (i < count)
			count_hold(put_off_holds[i].key, put_off_holds[i].held_ns);
	control.put_off = 0;
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(blame_irq_handler_entry, int irq, struct irqaction *action)
{
	struct blame_event *event;
	__u64 now;

	if (elsewhere())
		return 0;
	now = bpf_ktime_get_ns();
	control.irq_since = now;
	event = next_event(now, BLAME_IRQ_ENTER, irq);
	bpf_probe_read_kernel_str(event->name, sizeof(event->name), action->name);
	return 0;
}

/* What comes upon something else holds the CPU in its place: it begins later by as much. */
static __always_inline void set_back(__u64 *since, __u64 held)
{
	if (*since)
		*since += held;
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(blame_irq_handler_exit, int irq, struct irqaction *action)
{
	__u64 now, held;

	if (elsewhere())
		return 0;
	now = bpf_ktime_get_ns();
	next_event(now, BLAME_IRQ_EXIT, irq);
	if (!control.irq_since)
		return 0;
	held = now - control.irq_since;
	handler_name = (__u64)action->name;
	count_hold(BLAME_KEY(BLAME_IRQ_ENTER, irq), held);
	handler_name = 0;
	set_back(&control.vector_since, held);
	set_back(&control.softirq_since, held);
	control.irq_since = 0;
	return 0;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(blame_softirq_entry, unsigned int vector)
{
	__u64 now;

	if (elsewhere())
		return 0;
	now = bpf_ktime_get_ns();
	control.softirq_since = now;
	next_event(now, BLAME_SOFTIRQ_ENTER, vector);
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(blame_softirq_exit, unsigned int vector)
{
	__u64 now;

	if (elsewhere())
		return 0;
	now = bpf_ktime_get_ns();
	next_event(now, BLAME_SOFTIRQ_EXIT, vector);
	if (control.softirq_since)
		count_hold(BLAME_KEY(BLAME_SOFTIRQ_ENTER, vector), now - control.softirq_since);
	control.softirq_since = 0;
	return 0;
}

/* The fourth argument of later kernels is not used. */
SEC("tp_btf/sched_switch")
int BPF_PROG(blame_sched_switch, _Bool preempt, struct task_struct *previous,
	     struct task_struct *next)
{
	struct blame_event *event;

	if (elsewhere())
		return 0;
	event = next_event(bpf_ktime_get_ns(), BLAME_SWITCH, next->pid);
	event->priority = next->prio;
	event->flags = next->policy;
	/* plain loads, which the verifier allows here: a helper's call costs more than all the rest */
	((__u64 *)event->name)[0] = ((__u64 *)next->comm)[0];
	((__u64 *)event->name)[1] = ((__u64 *)next->comm)[1];
	/* PREEMPT_RT: the soft interrupt's thread is preempted, and no longer holds the CPU */
	if (control.softirq_since)
		control.softirq_since = 0;
	if (control.put_off && (__u32)next->pid != control.tid)
		count_put_off();
	return 0;
}

/* By its own timer, which has just been noted: that says as much. */
SEC("tp_btf/sched_wakeup")
int BPF_PROG(blame_sched_wakeup, struct task_struct *task)
{
	if (elsewhere() || control.own_timer || (__u32)task->pid != control.tid)
		return 0;
	next_event(bpf_ktime_get_ns(), BLAME_WAKEUP, control.tid);
	return 0;
}

/* Its end is not noted: the next event tells, soon enough, and each event delays the wake-up. */
SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(blame_hrtimer_expire_entry, struct hrtimer *timer)
{
	struct blame_event *event;

	if (elsewhere())
		return 0;
	event = next_event(bpf_ktime_get_ns(), BLAME_TIMER, 0);
	event->value = timer->_softexpires;
	event->function = (__u64)timer->function;
	control.own_timer = event->value == control.due_ns;
	return 0;
}

/* Where the interrupt came in: tells who had interrupts off until then. */
static __always_inline void note_interrupted(struct blame_event *event)
{
	struct pt_regs *regs = (void *)0;
	unsigned long ip = 0, cs = 0;
	void *pointer;

	event->flags = 0;
	event->value = 0;
	if (!bpf_core_field_exists(regs->cs) || !&__irq_regs)
		return;
	pointer = bpf_this_cpu_ptr(&__irq_regs);
	if (bpf_probe_read_kernel(&regs, sizeof(regs), pointer) || !regs)
		return;
	if (bpf_core_read(&ip, sizeof(ip), &regs->ip) || bpf_core_read(&cs, sizeof(cs), &regs->cs))
		return;
	event->value = ip;
	event->flags = BLAME_FROM_KNOWN | (cs & 3 ? BLAME_FROM_USER : 0);
}

static __always_inline int vector_entry(__u32 number, int look)
{
	struct blame_event *event;
	__u64 now;

	if (elsewhere())
		return 0;
	now = bpf_ktime_get_ns();
	control.vector_since = now;
	event = next_event(now, BLAME_VECTOR_ENTER, number);
	/* costs as much as all the rest of a wake-up: not for those that come in time */
	if (look && (__s64)(now - control.due_ns) > BLAME_TIMER_LATE_NS)
		note_interrupted(event);
	else
		event->flags = 0;
	return 0;
}

static __always_inline void put_off_hold(__u32 key, __u64 now)
{
	__u32 place = control.put_off;
	__u64 held = now - control.vector_since;

	if (!control.vector_since)
		return;
	set_back(&control.softirq_since, held);
	if (place >= BLAME_PUT_OFF) {
		count_hold(key, held);
		return;
	}
	put_off_holds[place].key = key;
	put_off_holds[place].held_ns = held;
	control.put_off = place + 1;
}

static __always_inline int vector_exit(__u32 number)
{
	__u64 now;

	if (elsewhere())
		return 0;
	now = bpf_ktime_get_ns();
	next_event(now, BLAME_VECTOR_EXIT, number);
	put_off_hold(BLAME_KEY(BLAME_VECTOR_ENTER, number), now);
	control.vector_since = 0;
	return 0;
}

#define ENTRY(tracepoint, name, number, look)          \
	SEC("tp_btf/" #tracepoint "_entry")            \
	int BPF_PROG(blame_##name##_entry, int vector) \
	{                                              \
		return vector_entry(number, look);     \
	}
#define EXIT(tracepoint, number)                            \
	SEC("tp_btf/" #tracepoint "_exit")                  \
	int BPF_PROG(blame_##tracepoint##_exit, int vector) \
	{                                                   \
		return vector_exit(number);                 \
	}
#define VECTOR(tracepoint, number)               \
	ENTRY(tracepoint, tracepoint, number, 0) \
	EXIT(tracepoint, number)

VECTOR(local_timer, BLAME_LOCAL_TIMER)
/* instead of the plain one, where the kernel lets __irq_regs be found (CONFIG_KALLSYMS_ALL) */
ENTRY(local_timer, local_timer_look, BLAME_LOCAL_TIMER, 1)
VECTOR(reschedule, BLAME_RESCHEDULE)
VECTOR(call_function, BLAME_CALL_FUNCTION)
VECTOR(call_function_single, BLAME_CALL_FUNCTION_SINGLE)
VECTOR(irq_work, BLAME_IRQ_WORK)
VECTOR(thermal_apic, BLAME_THERMAL)
VECTOR(ipi, BLAME_IPI)

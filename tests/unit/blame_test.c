// SPDX-License-Identifier: GPL-2.0-only
#include "cmocka_all.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "engine/blame_report.h"
#include "engine/blame_split.h"

#define US 1000LL
#define DUE (1000000 * US) /* when the cyclic thread was due in all cases */
#define RT 77 /* its thread id */

static struct blame_event history[64];
static size_t length;

static struct blame_event *at(int64_t us_after_due, enum blame_kind kind, uint32_t number)
{
	struct blame_event *event = &history[length++];

	memset(event, 0, sizeof(*event));
	event->time_ns = (uint64_t)(DUE + us_after_due * US);
	event->kind = (uint8_t)kind;
	event->number = number;
	return event;
}

static void irq(int64_t us, uint32_t number, const char *name)
{
	memcpy(at(us, BLAME_IRQ_ENTER, number)->name, name, strlen(name));
}

static void run(int64_t us, uint32_t tid, const char *name, uint8_t policy, int16_t priority)
{
	struct blame_event *event = at(us, BLAME_SWITCH, tid);

	event->flags = policy;
	event->priority = priority;
	memcpy(event->name, name, strlen(name));
}

static void idle(int64_t us)
{
	run(us, 0, "swapper/1", 0, 120);
}

static void expire(int64_t us, int64_t due_us)
{
	at(us, BLAME_TIMER, 0)->value = (uint64_t)(DUE + due_us * US);
}

/* The timer's interrupt at `us`, that wakes the cyclic thread, which runs 2 us later. */
static void wake(int64_t us, uint8_t flags, uint64_t ip)
{
	struct blame_event *event = at(us, BLAME_VECTOR_ENTER, BLAME_LOCAL_TIMER);

	event->flags = flags;
	event->value = ip;
	expire(us, 0);
	at(us, BLAME_WAKEUP, RT);
	at(us + 1, BLAME_VECTOR_EXIT, BLAME_LOCAL_TIMER);
	run(us + 2, RT, "tsnpub", SCHED_FIFO, 19);
}

static struct blame_part parts[BLAME_PARTS_MAX];

static int64_t armed = DUE; /* what the sleep was to end at */
static bool is_cut; /* more happened than the history holds */
static bool is_ordinary; /* it has no real-time policy */
static bool is_frame; /* a late frame, not a late wake-up */

static size_t split_until(int64_t awake_us)
{
	const struct blame_case late = { .due = DUE,
					 .awake = DUE + awake_us * US,
					 .armed = armed,
					 .tid = RT,
					 .events = history,
					 .count = length,
					 .begins_in_thread = !is_frame && !is_cut,
					 .cut = is_cut,
					 .ordinary = is_ordinary,
					 .frame = is_frame };
	size_t count = blame_split(&late, parts);
	int64_t sum = 0;

	for (size_t i = 0; i < count; i++) {
		assert_true(parts[i].ns > 0);
		if (i)
			assert_true(parts[i].ns <= parts[i - 1].ns);
		sum += parts[i].ns;
	}
	/* the parts add up to the whole, to the nanosecond */
	assert_int_equal(sum, awake_us > 0 ? awake_us * US : 0);
	length = 0;
	return count;
}

static int64_t part_ns(size_t count, enum blame_category category)
{
	int64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		if (parts[i].category == category)
			sum += parts[i].ns;
	return sum;
}

static void expect_first(size_t count, enum blame_category category, int64_t us, const char *text)
{
	char buffer[BLAME_TEXT];

	assert_true(count > 0);
	if (parts[0].category != category || parts[0].ns != us * US ||
	    strcmp(blame_part_text(&parts[0], buffer), text))
		fail_msg("first is %s '%s' with %lld ns", blame_category_name(parts[0].category),
			 blame_part_text(&parts[0], buffer), (long long)parts[0].ns);
}

/* It was woken in time, but an ordinary thread runs until 102 us after. */
static size_t after_a_shell(uint8_t policy, int16_t priority)
{
	idle(-500);
	wake(0, 0, 0);
	length--;
	run(2, 5, "shell", SCHED_OTHER, 120);
	run(102, RT, "tsnpub", policy, priority);
	return split_until(103);
}

static void handler_holds_the_cpu(void **state)
{
	size_t count;

	(void)state;
	/* it began before the wake-up was due, so only what reaches into it counts */
	idle(-100);
	irq(-10, 89, "mmc0");
	at(290, BLAME_IRQ_EXIT, 89);
	wake(291, BLAME_FROM_KNOWN, 0xffffffff81000000);
	count = split_until(295);
	expect_first(count, BLAME_PART_IRQ, 290, "IRQ 89 mmc0");
	assert_int_equal(part_ns(count, BLAME_PART_UNSEEN), 0);
	/* with the rest of the interrupt behind the thread's own timer */
	assert_int_equal(part_ns(count, BLAME_PART_WAKING), 5 * US);
}

/* As in the laboratory: within another timer's callback, in the same interrupt that wakes the thread. */
static void handler_within_a_timer_callback(void **state)
{
	size_t count;

	(void)state;
	idle(-100);
	at(-5, BLAME_VECTOR_ENTER, BLAME_LOCAL_TIMER);
	expire(-5, -6);
	history[length - 1].function = 0x1234;
	irq(-4, 30, "sdhci");
	at(296, BLAME_IRQ_EXIT, 30);
	expire(298, 0);
	at(298, BLAME_WAKEUP, RT);
	at(300, BLAME_VECTOR_EXIT, BLAME_LOCAL_TIMER);
	run(301, RT, "tsnpub", SCHED_FIFO, 19);
	count = split_until(302);
	expect_first(count, BLAME_PART_IRQ, 296, "IRQ 30 sdhci");
	/* until the next callback began */
	assert_int_equal(part_ns(count, BLAME_PART_TIMER), 2 * US);
	assert_int_equal(part_ns(count, BLAME_PART_WAKING), 4 * US);
}

static void timer_callback_with_interrupts_off(void **state)
{
	size_t count;

	(void)state;
	idle(-100);
	at(-5, BLAME_VECTOR_ENTER, BLAME_LOCAL_TIMER);
	expire(-5, -6);
	history[length - 1].function = 0xabc;
	expire(295, 0);
	at(295, BLAME_WAKEUP, RT);
	at(296, BLAME_VECTOR_EXIT, BLAME_LOCAL_TIMER);
	run(297, RT, "tsnpub", SCHED_FIFO, 19);
	count = split_until(298);
	expect_first(count, BLAME_PART_TIMER, 295, "timer callback 0xabc");
}

static void thread_with_interrupts_off(void **state)
{
	size_t count;

	(void)state;
	run(-50, 500, "modprobe", SCHED_OTHER, 120);
	wake(300, BLAME_FROM_KNOWN, 0xffffffffc0123456);
	count = split_until(303);
	expect_first(count, BLAME_PART_IRQS_OFF, 300,
		     "interrupts off in modprobe[500] SCHED_OTHER");
	assert_true(parts[0].ip == 0xffffffffc0123456);
	/* a timer that interrupts user code cannot have been held off by the kernel */
	run(-50, 500, "stress", SCHED_OTHER, 120);
	wake(300, BLAME_FROM_KNOWN | BLAME_FROM_USER, 0x400000);
	count = split_until(303);
	assert_int_equal(parts[0].category, BLAME_PART_UNSEEN);
	assert_int_equal(parts[0].ns, 290 * US);
}

static void idle_and_late_is_not_seen(void **state)
{
	size_t count;

	(void)state;
	idle(-50);
	wake(500, BLAME_FROM_KNOWN, 0xffffffff81000000);
	count = split_until(503);
	assert_int_equal(parts[0].category, BLAME_PART_UNSEEN);
	/* of which the way itself is allowed for */
	assert_int_equal(parts[0].ns, 490 * US);
	assert_int_equal(part_ns(count, BLAME_PART_WAKING), 13 * US);
	/* the same after the interrupt: the virtual machine did not run */
	idle(-50);
	wake(1, 0, 0);
	count = split_until(403);
	assert_int_equal(parts[0].category, BLAME_PART_UNSEEN);
	assert_int_equal(parts[0].ns, 391 * US);
}

static void other_threads(void **state)
{
	size_t count;

	(void)state;
	run(-500, 9, "hog", SCHED_FIFO, 0);
	at(1, BLAME_VECTOR_ENTER, BLAME_LOCAL_TIMER);
	expire(1, 0);
	at(2, BLAME_WAKEUP, RT);
	at(3, BLAME_VECTOR_EXIT, BLAME_LOCAL_TIMER);
	run(203, 10, "rr", SCHED_RR, 9);
	run(253, RT, "tsnpub", SCHED_FIFO, 19);
	count = split_until(254);
	expect_first(count, BLAME_PART_THREAD, 200, "thread hog[9] SCHED_FIFO 99");
	assert_string_equal(parts[1].name, "rr");
	assert_int_equal(parts[1].priority, 90);
	assert_int_equal(parts[1].ns, 50 * US);
}

static void soft_interrupts(void **state)
{
	size_t count;

	(void)state;
	idle(-50);
	at(-20, BLAME_SOFTIRQ_ENTER, 3);
	at(1, BLAME_VECTOR_ENTER, BLAME_LOCAL_TIMER);
	expire(1, 0);
	at(1, BLAME_WAKEUP, RT);
	at(3, BLAME_VECTOR_EXIT, BLAME_LOCAL_TIMER);
	at(150, BLAME_SOFTIRQ_EXIT, 3);
	at(150, BLAME_SOFTIRQ_ENTER, 7);
	at(160, BLAME_SOFTIRQ_EXIT, 7);
	run(161, RT, "tsnpub", SCHED_FIFO, 19);
	count = split_until(163);
	expect_first(count, BLAME_PART_SOFTIRQ, 148, "softirq NET_RX");
	assert_int_equal(part_ns(count, BLAME_PART_SOFTIRQ), 158 * US);
}

static void held_since_before_the_history(void **state)
{
	size_t count;

	(void)state;
	/* the entries are not in the history: a handler within a soft interrupt */
	at(100, BLAME_IRQ_EXIT, 5);
	at(200, BLAME_SOFTIRQ_EXIT, 1);
	wake(201, 0, 0);
	count = split_until(204);
	assert_int_equal(part_ns(count, BLAME_PART_IRQ), 100 * US);
	assert_int_equal(part_ns(count, BLAME_PART_SOFTIRQ), 100 * US);
}

/* With PREEMPT_RT: the soft interrupt belongs to the thread that was preempted in it. */
static void a_thread_that_preempts_a_soft_interrupt(void **state)
{
	size_t count;

	(void)state;
	run(-50, 30, "irq/30-eth0", SCHED_FIFO, 49);
	at(-40, BLAME_SOFTIRQ_ENTER, 3);
	run(-10, 9, "hog", SCHED_FIFO, 0);
	at(1, BLAME_VECTOR_ENTER, BLAME_LOCAL_TIMER);
	expire(1, 0);
	at(3, BLAME_VECTOR_EXIT, BLAME_LOCAL_TIMER);
	run(300, 30, "irq/30-eth0", SCHED_FIFO, 49);
	at(320, BLAME_SOFTIRQ_EXIT, 3);
	run(325, RT, "tsnpub", SCHED_FIFO, 19);
	count = split_until(327);
	expect_first(count, BLAME_PART_THREAD, 297, "thread hog[9] SCHED_FIFO 99");
	/* and back in it, it is the soft interrupt's again */
	assert_int_equal(part_ns(count, BLAME_PART_SOFTIRQ), 20 * US);
	assert_int_equal(part_ns(count, BLAME_PART_THREAD), (297 + 5) * US);
}

/* The cyclic thread itself had preempted it: what is left later was not held in that thread. */
static void a_soft_interrupt_that_goes_on_after_the_thread(void **state)
{
	size_t count;

	(void)state;
	at(100, BLAME_VECTOR_ENTER, BLAME_RESCHEDULE);
	at(101, BLAME_VECTOR_EXIT, BLAME_RESCHEDULE);
	run(120, 30, "irq/30-eth0", SCHED_FIFO, 49);
	at(130, BLAME_SOFTIRQ_EXIT, 3);
	wake(131, 0, 0);
	count = split_until(134);
	assert_int_equal(part_ns(count, BLAME_PART_OWN), 119 * US);
	assert_int_equal(part_ns(count, BLAME_PART_SOFTIRQ), 0);
}

/* An event loop's timer: who ran while the thread slept on had interrupts on, and kept nobody waiting. */
static void a_timer_that_was_set_for_later(void **state)
{
	size_t count;

	(void)state;
	run(-50, 5, "other", SCHED_OTHER, 120);
	at(701, BLAME_VECTOR_ENTER, BLAME_LOCAL_TIMER);
	expire(701, 700);
	at(702, BLAME_WAKEUP, RT);
	at(703, BLAME_VECTOR_EXIT, BLAME_LOCAL_TIMER);
	run(705, RT, "tsnpub", SCHED_FIFO, 19);
	count = split_until(707);
	expect_first(count, BLAME_PART_ARMED_LATE, 700, "its timer was set for later");
	assert_int_equal(part_ns(count, BLAME_PART_IRQS_OFF), 0);
	assert_int_equal(part_ns(count, BLAME_PART_THREAD), 2 * US);
}

/* A sleeper that is not real-time, with PREEMPT_RT: its timer is handled in a thread, for which others make it wait. */
static void a_timer_that_is_handled_in_a_thread(void **state)
{
	size_t count;

	(void)state;
	run(-50, 5, "other", SCHED_FIFO, 49);
	at(1, BLAME_VECTOR_ENTER, BLAME_LOCAL_TIMER);
	at(2, BLAME_VECTOR_EXIT, BLAME_LOCAL_TIMER);
	run(200, 20, "ktimers/1", SCHED_FIFO, 98);
	at(203, BLAME_SOFTIRQ_ENTER, 8);
	expire(204, 0);
	at(206, BLAME_SOFTIRQ_EXIT, 8);
	run(210, RT, "tsnpub", SCHED_OTHER, 120);
	count = split_until(212);
	expect_first(count, BLAME_PART_THREAD, 198, "thread other[5] SCHED_FIFO 50");
	assert_int_equal(part_ns(count, BLAME_PART_IRQS_OFF), 0);
}

/* It was busy from then on: after a sleep until then, or without one (0). */
static void busy_since(int64_t us)
{
	armed = us ? DUE + us * US : 0;
	if (!us)
		return;
	idle(us - 400);
	at(us + 1, BLAME_VECTOR_ENTER, BLAME_LOCAL_TIMER);
	expire(us + 1, us);
	at(us + 2, BLAME_VECTOR_EXIT, BLAME_LOCAL_TIMER);
	run(us + 4, RT, "tsnpub", SCHED_FIFO, 19);
}

/* A thread that does not sleep, or not to the end: what held it then is named as ever. */
static void busy_until_its_time(void **state)
{
	size_t count;

	(void)state;
	for (int slept = 0; slept < 2; slept++) {
		busy_since(slept ? -100 : 0);
		irq(-10, 9, "mmc0");
		at(30, BLAME_IRQ_EXIT, 9);
		run(40, 5, "hog", SCHED_FIFO, 0);
		run(240, RT, "tsnpub", SCHED_FIFO, 19);
		/* and 100 us in which nothing ran that the kernel knows of */
		count = split_until(340);
		expect_first(count, BLAME_PART_THREAD, 200, "thread hog[5] SCHED_FIFO 99");
		assert_int_equal(part_ns(count, BLAME_PART_IRQ), 30 * US);
		assert_int_equal(part_ns(count, BLAME_PART_UNSEEN), 90 * US);
		assert_int_equal(part_ns(count, BLAME_PART_WAKING), 20 * US);
	}
	/* nothing ran, and it wanted to */
	armed = 0;
	idle(10);
	run(50000, RT, "tsnpub", SCHED_FIFO, 19);
	count = split_until(50001);
	expect_first(count, BLAME_PART_THROTTLED, 49990,
		     "not let run (real-time throttling or the fair server)");
	assert_int_equal(part_ns(count, BLAME_PART_UNSEEN), 0);
	armed = DUE;
}

/* Real-time threads have used up their share: the scheduler gives the CPU to others, though one of them is ready. */
static void throttled(void **state)
{
	size_t count;

	(void)state;
	for (int slept = 0; slept < 2; slept++) {
		busy_since(slept ? -100 : 0);
		run(-50, 5, "shell", SCHED_OTHER, 120);
		irq(100, 9, "mmc0");
		at(130, BLAME_IRQ_EXIT, 9);
		run(200, 6, "batch", SCHED_BATCH, 120);
		/* of these it is no share: a lock that a real-time thread waits for, a deadline */
		run(300, 7, "boosted", SCHED_OTHER, 49);
		run(320, 8, "deadline", 6, -1);
		run(350, RT, "tsnpub", SCHED_FIFO, 19);
		count = split_until(351);
		expect_first(count, BLAME_PART_THROTTLED, 270,
			     "not let run (real-time throttling or the fair server)");
		assert_int_equal(part_ns(count, BLAME_PART_IRQ), 30 * US);
		assert_int_equal(part_ns(count, BLAME_PART_THREAD), 50 * US);
	}
	/* the wake-up came, and still an ordinary one is taken */
	armed = DUE;
	count = after_a_shell(SCHED_FIFO, 19);
	expect_first(count, BLAME_PART_THROTTLED, 100,
		     "not let run (real-time throttling or the fair server)");
	/* of one that shares the CPU with its like it is the others' time */
	is_ordinary = true;
	count = after_a_shell(SCHED_OTHER, 120);
	is_ordinary = false;
	expect_first(count, BLAME_PART_THREAD, 100, "thread shell[5] SCHED_OTHER");
	assert_int_equal(part_ns(count, BLAME_PART_THROTTLED), 0);
	/* it ran before already, and goes on in the kernel: that is its own */
	run(-500, 5, "shell", SCHED_OTHER, 120);
	wake(0, 0, 0);
	length--;
	run(102, RT, "tsnpub", SCHED_FIFO, 19);
	count = split_until(103);
	expect_first(count, BLAME_PART_THREAD, 101, "thread shell[5] SCHED_OTHER");
	assert_int_equal(part_ns(count, BLAME_PART_THROTTLED), 0);
}

/* What the history has no room for is not said to be firmware's or a hypervisor's. */
static void more_than_the_history_holds(void **state)
{
	size_t count;

	(void)state;
	is_cut = true;
	irq(400, 9, "mmc0");
	at(410, BLAME_IRQ_EXIT, 9);
	run(450, 5, "other", SCHED_FIFO, 0);
	run(600, RT, "tsnpub", SCHED_FIFO, 19);
	count = split_until(602);
	expect_first(count, BLAME_PART_LOST, 400, "not kept (more than 1024 events came after it)");
	/* the timer's expiry is among what was not kept: the thread had interrupts on */
	assert_int_equal(part_ns(count, BLAME_PART_THREAD), 150 * US);
	assert_int_equal(part_ns(count, BLAME_PART_IRQS_OFF), 0);
	/* all of it that matters is there */
	irq(-400, 9, "mmc0");
	at(-390, BLAME_IRQ_EXIT, 9);
	idle(-300);
	wake(100, BLAME_FROM_KNOWN, 1);
	count = split_until(103);
	assert_int_equal(part_ns(count, BLAME_PART_LOST), 0);
	is_cut = false;
}

static void not_yet_asleep(void **state)
{
	size_t count;

	(void)state;
	at(100, BLAME_VECTOR_ENTER, BLAME_RESCHEDULE);
	at(101, BLAME_VECTOR_EXIT, BLAME_RESCHEDULE);
	count = split_until(150);
	expect_first(count, BLAME_PART_OWN, 149, "the cyclic thread itself (not asleep yet)");
	assert_int_equal(part_ns(count, BLAME_PART_VECTOR), 1 * US);
}

static void nothing_known_still_adds_up(void **state)
{
	size_t count;

	(void)state;
	count = split_until(100);
	assert_int_equal(part_ns(count, BLAME_PART_OWN), 100 * US);
	assert_int_equal(split_until(0), 0);
	assert_int_equal(split_until(-5), 0);
}

/* Whatever stands in the history, the sum is right and the text is printable. */
static void random_histories_add_up(void **state)
{
	unsigned seed = 1;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		int64_t time = -20, awake = rand_r(&seed) % 300 - 2;
		size_t count, events = (size_t)rand_r(&seed) % 64;

		for (size_t i = 0; i < events; i++) {
			struct blame_event *event =
				at(time, (enum blame_kind)(rand_r(&seed) % 14),
				   (uint32_t)(rand_r(&seed) % 5 ? rand_r(&seed) % 4 : RT));

			event->flags = (uint8_t)rand_r(&seed);
			event->priority = (int16_t)rand_r(&seed);
			event->value = (uint64_t)(DUE + rand_r(&seed) % 3 - 1);
			event->function = (uint64_t)rand_r(&seed) % 100;
			/* mostly forward */
			time += rand_r(&seed) % 20 - 2;
		}
		count = split_until(awake);
		for (size_t i = 0; i < count; i++) {
			char text[BLAME_TEXT];

			assert_true(strlen(blame_part_text(&parts[i], text)) > 3);
			for (const char *c = text; *c; c++)
				assert_in_range((unsigned char)*c, ' ', '~');
		}
	}
}

/* Stamped 300 us late in NET_RX: a thread cannot have kept it waiting, interrupts have. */
static void a_late_frame(void **state)
{
	size_t count;

	(void)state;
	is_frame = true;
	run(-50, 4711, "hog", SCHED_FIFO, 0);
	irq(20, 89, "mmc0");
	at(230, BLAME_IRQ_EXIT, 89);
	expire(240, 0); /* somebody's timer, that happens to be due at the same time */
	idle(255);
	at(260, BLAME_SOFTIRQ_ENTER, 3);
	count = split_until(300);
	is_frame = false;
	expect_first(count, BLAME_PART_IRQ, 210, "IRQ 89 mmc0");
	assert_int_equal(part_ns(count, BLAME_PART_AWAY), 35 * US);
	assert_int_equal(part_ns(count, BLAME_PART_SOFTIRQ), 40 * US);
	/* until the next event: its end is not noted */
	assert_int_equal(part_ns(count, BLAME_PART_TIMER), 15 * US);
	assert_int_equal(part_ns(count, BLAME_PART_THREAD), 0);
	assert_int_equal(part_ns(count, BLAME_PART_WAKING), 0);
}

/* With PREEMPT_RT the receive path is a thread of priority 50: a higher one keeps it waiting, a lower one does not. */
static void a_late_frame_in_a_thread(void **state)
{
	size_t count;

	(void)state;
	is_frame = true;
	run(-50, 12, "bash", SCHED_OTHER, 120);
	irq(10, 31, "tsn1-TxRx-0");
	at(11, BLAME_IRQ_EXIT, 31);
	run(12, 4711, "hog", SCHED_FIFO, 0);
	run(262, 90, "irq/31-tsn1-TxR", SCHED_FIFO, 49);
	at(265, BLAME_SOFTIRQ_ENTER, 3);
	count = split_until(270);
	is_frame = false;
	expect_first(count, BLAME_PART_THREAD, 250, "thread hog[4711] SCHED_FIFO 99");
	assert_int_equal(part_ns(count, BLAME_PART_THREAD), 250 * US);
	/* while bash ran, and from the switch to the soft interrupt */
	assert_int_equal(part_ns(count, BLAME_PART_AWAY), (10 + 1 + 3) * US);
	/* ksoftirqd, which has no priority: any thread does */
	is_frame = true;
	run(-50, 12, "bash", SCHED_OTHER, 120);
	run(40, 9, "ksoftirqd/1", SCHED_OTHER, 120);
	count = split_until(50);
	is_frame = false;
	expect_first(count, BLAME_PART_THREAD, 40, "thread bash[12] SCHED_OTHER");
}

/* Each culprit has the command that helps. */
static void advice_is_a_command(void **state)
{
	static const struct {
		struct blame_part part;
		const char *symbol, *others, *wanted;
	} cases[] = {
		{ { .category = BLAME_PART_THROTTLED },
		  "",
		  "0",
		  "echo -1 > /proc/sys/kernel/sched_rt_runtime_us" },
		{ { .category = BLAME_PART_IRQ, .number = 89 },
		  "",
		  "0,2-3",
		  "move it: echo 0,2-3 > /proc/irq/89/smp_affinity_list" },
		{ { .category = BLAME_PART_IRQ, .number = 89 },
		  "",
		  "",
		  "there is no other CPU to move it to" },
		{ { .category = BLAME_PART_THREAD, .number = 90, .name = "irq/31-tsn1-TxR" },
		  "",
		  "0",
		  "move it: echo 0 > /proc/irq/31/smp_affinity_list" },
		{ { .category = BLAME_PART_THREAD, .number = 7, .name = "hog", .priority = 99 },
		  "",
		  "0",
		  "taskset -p -c 0 7, or lower its priority: chrt -f -p 1 7" },
		{ { .category = BLAME_PART_THREAD, .number = 7, .name = "hog", .priority = 99 },
		  "",
		  "",
		  "lower its priority: chrt -f -p 1 7" },
		{ { .category = BLAME_PART_THREAD, .number = 7, .name = "bash" },
		  "",
		  "",
		  "it was in kernel code that is not preempted: use a PREEMPT_RT kernel" },
		{ { .category = BLAME_PART_THREAD, .number = 20, .name = "rcuc/1" },
		  "",
		  "0",
		  "boot with rcu_nocbs=1" },
		{ { .category = BLAME_PART_SOFTIRQ, .number = 9 },
		  "",
		  "0",
		  "boot with rcu_nocbs=1" },
		{ { .category = BLAME_PART_TIMER },
		  "tick_nohz_handler",
		  "0",
		  "boot with nohz_full=1" },
		{ { .category = BLAME_PART_TIMER },
		  "sched_rt_period_timer",
		  "0",
		  "echo -1 > /proc/sys/kernel/sched_rt_runtime_us" },
		{ { .category = BLAME_PART_TIMER },
		  "watchdog_timer_fn",
		  "0",
		  "echo 0 > /proc/sys/kernel/watchdog" },
		{ { .category = BLAME_PART_TIMER },
		  "hrtimer_wakeup",
		  "0",
		  "awk '$1 == 1 { print $2 }'); do taskset -p -c 0 $t; done" },
		{ { .category = BLAME_PART_TIMER },
		  "culprit_timer [tsnsim]",
		  "0",
		  "taskset -c 0 COMMAND; or unload it: modprobe -r tsnsim" },
		{ { .category = BLAME_PART_TIMER },
		  "some_timer",
		  "0",
		  "grep -F -B 1 -A 2 'some_timer' /proc/timer_list" },
	};
	const struct blame_place newer = { 1, "0", false, true };
	const struct blame_place ordinary = { 1, "0", true, true };
	const struct blame_part shell = { .category = BLAME_PART_THREAD, .name = "bash" };
	char advice[BLAME_ADVICE];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct blame_place place = { 1, cases[i].others, false, false };

		if (!strstr(blame_advice(&cases[i].part, cases[i].symbol, &place, advice),
			    cases[i].wanted))
			fail_msg("'%s' lacks '%s'", advice, cases[i].wanted);
	}
	assert_string_equal(blame_advice(&cases[0].part, "", &newer, advice),
			    "echo 0 > /sys/kernel/debug/sched/fair_server/cpu1/runtime");
	assert_non_null(strstr(blame_advice(&shell, "", &ordinary, advice), "--policy fifo"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(handler_holds_the_cpu),
		cmocka_unit_test(handler_within_a_timer_callback),
		cmocka_unit_test(timer_callback_with_interrupts_off),
		cmocka_unit_test(thread_with_interrupts_off),
		cmocka_unit_test(idle_and_late_is_not_seen),
		cmocka_unit_test(other_threads),
		cmocka_unit_test(soft_interrupts),
		cmocka_unit_test(held_since_before_the_history),
		cmocka_unit_test(a_thread_that_preempts_a_soft_interrupt),
		cmocka_unit_test(a_soft_interrupt_that_goes_on_after_the_thread),
		cmocka_unit_test(a_timer_that_was_set_for_later),
		cmocka_unit_test(a_timer_that_is_handled_in_a_thread),
		cmocka_unit_test(busy_until_its_time),
		cmocka_unit_test(throttled),
		cmocka_unit_test(more_than_the_history_holds),
		cmocka_unit_test(not_yet_asleep),
		cmocka_unit_test(nothing_known_still_adds_up),
		cmocka_unit_test(random_histories_add_up),
		cmocka_unit_test(a_late_frame),
		cmocka_unit_test(a_late_frame_in_a_thread),
		cmocka_unit_test(advice_is_a_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

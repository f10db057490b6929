// SPDX-License-Identifier: GPL-2.0-only
#include "engine/blame_split.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEST_MAX 8
#define KERNEL_PRIORITIES_REALTIME 100 /* MAX_RT_PRIO: the kernel's priorities below it */
#define SOFTIRQ_HRTIMER 8 /* include/linux/interrupt.h */

static const char *const category_names[BLAME_CATEGORIES] = {
	"irq",       "vector", "timer",  "softirq", "thread", "irqs-off", "armed-late",
	"throttled", "own",    "waking", "away",    "lost",   "unseen",
};

const char *blame_category_name(enum blame_category category)
{
	return category_names[category];
}

const char *blame_vector_name(uint32_t vector)
{
	static const char *const names[BLAME_VECTORS] = {
		"local timer",
		"reschedule IPI",
		"function call IPI",
		"function call IPI (single)",
		"IRQ work",
		"thermal event",
		"IPI",
	};

	return vector < BLAME_VECTORS ? names[vector] : "unknown vector";
}

const char *blame_softirq_name(uint32_t vector)
{
	/* include/linux/interrupt.h */
	static const char *const names[] = { "HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
					     "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU" };

	return vector < sizeof(names) / sizeof(names[0]) ? names[vector] : "unknown";
}

/* What holds the CPU on top of the thread. */
struct holder {
	uint8_t kind; /* ..._ENTER */
	uint32_t number;
	char name[BLAME_NAME];
	uint64_t function; /* of a timer */
	bool own; /* the cyclic thread's timer */
};

struct state {
	const struct blame_case *late;
	const struct blame_event *expiry; /* of the cyclic thread's timer, or NULL */
	int64_t fired; /* when the expiry was handled; `awake` where it was not seen */
	int64_t ready; /* from then on the cyclic thread wants to run, that is certain */
	struct holder nest[NEST_MAX];
	int depth;
	/* soft interrupts of threads that were preempted in them */
	struct {
		uint32_t tid, vector;
	} preempted[NEST_MAX];
	int preempted_count;
	/* the thread below */
	bool thread_known;
	uint32_t tid;
	uint8_t policy;
	int16_t priority;
	char name[BLAME_NAME];
	bool let; /* it was let run though the cyclic thread was ready, and comes before it */
	/* the thread in which a frame was stamped; NULL: in an interrupt */
	const struct blame_event *carrier;
	/* where the timer's interrupt came in */
	uint8_t interrupted;
	uint64_t ip;
	struct blame_part *parts;
	size_t count;
	/* a stretch without a holder, which is judged when it ends */
	int64_t quiet_ns;
	struct blame_part quiet;
};

bool blame_same(const struct blame_part *a, const struct blame_part *b)
{
	if (a->category != b->category)
		return false;
	switch (a->category) {
	case BLAME_PART_IRQ:
		return a->number == b->number && !strcmp(a->name, b->name);
	case BLAME_PART_VECTOR:
	case BLAME_PART_SOFTIRQ:
		return a->number == b->number;
	case BLAME_PART_TIMER:
		return a->ip == b->ip;
	case BLAME_PART_THREAD:
	case BLAME_PART_IRQS_OFF:
		return a->number == b->number && !strcmp(a->name, b->name);
	default:
		return true;
	}
}

static void charge(struct state *s, const struct blame_part *part, int64_t ns)
{
	if (ns <= 0)
		return;
	for (size_t i = 0; i < s->count; i++)
		if (blame_same(&s->parts[i], part)) {
			s->parts[i].ns += ns;
			if (!s->parts[i].ip)
				s->parts[i].ip = part->ip;
			return;
		}
	if (s->count == BLAME_PARTS_MAX) {
		/* nothing is left out of the sum */
		s->parts[s->count - 1].ns += ns;
		return;
	}
	if (s->count == BLAME_PARTS_MAX - 1) {
		const struct blame_part rest = { .category = BLAME_PART_UNSEEN };

		s->parts[s->count] = rest;
	} else {
		s->parts[s->count] = *part;
	}
	s->parts[s->count++].ns = ns;
}

/* Ends a stretch without a holder: a short one is the way itself. */
static void end_quiet(struct state *s)
{
	const struct blame_part waking = { .category = BLAME_PART_WAKING };
	int64_t way = s->quiet_ns < BLAME_WAKING_NS ? s->quiet_ns : BLAME_WAKING_NS;

	/* time with interrupts off counts in full when it is more than the way could take */
	if (s->quiet.category == BLAME_PART_IRQS_OFF && s->quiet_ns > BLAME_WAKING_NS)
		way = 0;
	charge(s, &waking, way);
	charge(s, &s->quiet, s->quiet_ns - way);
	s->quiet_ns = 0;
}

static void quiet(struct state *s, const struct blame_part *part, int64_t ns)
{
	if (s->quiet_ns && !blame_same(&s->quiet, part))
		end_quiet(s);
	s->quiet = *part;
	s->quiet_ns += ns;
}

static void name_thread(const struct state *s, struct blame_part *part)
{
	part->number = s->tid;
	part->policy = s->policy;
	part->priority = s->priority;
	memcpy(part->name, s->name, BLAME_NAME);
}

static int16_t realtime_priority(int16_t kernels)
{
	return (int16_t)(kernels >= 0 && kernels < 99 ? 99 - kernels : 0);
}

/* Has the thread that runs kept the one waiting that takes frames? */
static bool kept_waiting(const struct state *s)
{
	return s->carrier && s->thread_known && s->tid && s->tid != s->carrier->number &&
	       s->priority >= realtime_priority(s->carrier->priority);
}

/* Who had the CPU from `from` to `to`, both within the case and on one side of `fired`. */
static void attribute(struct state *s, int64_t from, int64_t to)
{
	struct blame_part part = { 0 };
	int64_t ns = to - from;

	if (ns <= 0)
		return;
	if (s->depth) {
		const struct holder *top = &s->nest[s->depth - 1];

		end_quiet(s);
		part.category = top->kind == BLAME_IRQ_ENTER      ? BLAME_PART_IRQ
				: top->kind == BLAME_VECTOR_ENTER ? BLAME_PART_VECTOR
				: top->own                        ? BLAME_PART_WAKING
				: top->kind == BLAME_TIMER        ? BLAME_PART_TIMER
								  : BLAME_PART_SOFTIRQ;
		part.ip = part.category == BLAME_PART_TIMER ? top->function : 0;
		part.number = top->number;
		if (top->kind == BLAME_IRQ_ENTER)
			memcpy(part.name, top->name, BLAME_NAME);
		charge(s, &part, ns);
		return;
	}
	if (s->late->frame) {
		part.category = BLAME_PART_AWAY;
		if (kept_waiting(s)) {
			part.category = BLAME_PART_THREAD;
			name_thread(s, &part);
		}
		charge(s, &part, ns);
		return;
	}
	if (s->let) {
		end_quiet(s);
		part.category = BLAME_PART_THROTTLED;
		charge(s, &part, ns);
		return;
	}
	part.category = BLAME_PART_UNSEEN;
	if (!s->thread_known || s->tid == 0) {
		quiet(s, &part, ns);
	} else if (s->tid == s->late->tid) {
		/* before the expiry it had not gone to sleep; afterwards it is on its way */
		if (to <= s->fired) {
			end_quiet(s);
			part.category = BLAME_PART_OWN;
			charge(s, &part, ns);
		} else {
			quiet(s, &part, ns);
		}
	} else if (to <= s->fired) {
		if (!(s->interrupted & BLAME_FROM_USER)) {
			part.category = BLAME_PART_IRQS_OFF;
			part.ip = s->ip;
			name_thread(s, &part);
		}
		quiet(s, &part, ns);
	} else {
		end_quiet(s);
		part.category = BLAME_PART_THREAD;
		name_thread(s, &part);
		charge(s, &part, ns);
	}
}

/* Nothing but a soft interrupt outlives a switch, and that only with its thread (PREEMPT_RT). */
static void leave_thread(struct state *s)
{
	for (int i = 0; i < s->depth; i++)
		if (s->nest[i].kind == BLAME_SOFTIRQ_ENTER && s->thread_known &&
		    s->preempted_count < NEST_MAX) {
			s->preempted[s->preempted_count].tid = s->tid;
			s->preempted[s->preempted_count++].vector = s->nest[i].number;
		}
	s->depth = 0;
}

static void return_to_thread(struct state *s)
{
	int kept = 0;

	for (int i = 0; i < s->preempted_count; i++)
		if (s->preempted[i].tid != s->tid)
			s->preempted[kept++] = s->preempted[i];
		else
			s->nest[s->depth++] = (struct holder){ .kind = BLAME_SOFTIRQ_ENTER,
							       .number = s->preempted[i].vector };
	s->preempted_count = kept;
}

static bool enters(uint8_t kind)
{
	return kind == BLAME_IRQ_ENTER || kind == BLAME_VECTOR_ENTER || kind == BLAME_SOFTIRQ_ENTER;
}

static bool leaves(uint8_t kind)
{
	return kind == BLAME_IRQ_EXIT || kind == BLAME_VECTOR_EXIT || kind == BLAME_SOFTIRQ_EXIT;
}

/* The scheduler takes such a thread, or idles, only where no real-time thread may run. */
static bool comes_after_realtime(const struct blame_event *event)
{
	bool ordinary = event->flags == SCHED_OTHER || event->flags == SCHED_BATCH ||
			event->flags == SCHED_IDLE;

	/* not one that holds a lock which a real-time thread waits for */
	return ordinary && event->priority >= KERNEL_PRIORITIES_REALTIME;
}

static void apply(struct state *s, const struct blame_event *event)
{
	/* a callback lasts until the next one, or the end of what runs it */
	if ((event->kind == BLAME_TIMER || event->kind == BLAME_SWITCH ||
	     event->kind == BLAME_SOFTIRQ_ENTER) &&
	    s->depth && s->nest[s->depth - 1].kind == BLAME_TIMER)
		s->depth--;
	if ((enters(event->kind) || event->kind == BLAME_TIMER) && s->depth < NEST_MAX) {
		struct holder *top = &s->nest[s->depth++];

		top->kind = event->kind;
		top->number = event->number;
		memset(top->name, 0, sizeof(top->name));
		if (event->kind == BLAME_IRQ_ENTER)
			memcpy(top->name, event->name, BLAME_NAME);
		top->function = event->kind == BLAME_TIMER ? event->function : 0;
		top->own = event == s->expiry;
	} else if (leaves(event->kind)) {
		/* back to where it was entered; what was entered since has been missed to leave */
		for (int i = s->depth; i-- > 0;)
			if (s->nest[i].kind == event->kind - 1 &&
			    s->nest[i].number == event->number) {
				s->depth = i;
				break;
			}
	} else if (event->kind == BLAME_SWITCH) {
		leave_thread(s);
		s->thread_known = true;
		s->tid = event->number;
		s->policy = event->flags;
		s->priority = realtime_priority(event->priority);
		s->let = !s->late->ordinary && comes_after_realtime(event) &&
			 (int64_t)event->time_ns >= s->ready;
		memset(s->name, 0, sizeof(s->name));
		memcpy(s->name, event->name, BLAME_NAME);
		return_to_thread(s);
	}
}

/* What was left without having been entered was held from before the first event on. */
static void find_first_holders(struct state *s)
{
	int open = 0;

	for (size_t i = 0; i < s->late->count; i++) {
		const struct blame_event *event = &s->late->events[i];

		/* what is left after a switch was held by a thread that comes back */
		if (event->kind == BLAME_SWITCH)
			return;
		if (enters(event->kind)) {
			open++;
		} else if (leaves(event->kind) && open) {
			open--;
		} else if (leaves(event->kind) && s->depth < NEST_MAX) {
			/* the inner one is left first */
			memmove(&s->nest[1], &s->nest[0], (size_t)s->depth * sizeof(s->nest[0]));
			s->nest[0] = (struct holder){ .kind = (uint8_t)(event->kind - 1),
						      .number = event->number };
			s->depth++;
		}
	}
}

/* Is it one of the kernel's that run the receive path? */
static bool carries_frames(const char name[BLAME_NAME])
{
	static const char *const begins[] = { "ksoftirqd/", "irq/", "napi/" };

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (!strncmp(name, begins[i], strlen(begins[i])))
			return true;
	return false;
}

/* The thread in which the frame was stamped. */
static void find_carrier(struct state *s)
{
	for (size_t i = 0; i < s->late->count; i++) {
		const struct blame_event *event = &s->late->events[i];

		if (event->kind == BLAME_SWITCH && (int64_t)event->time_ns <= s->late->awake)
			s->carrier = carries_frames(event->name) ? event : NULL;
	}
}

/* The event in which the cyclic thread's timer expired, and what its interrupt came upon. */
static void find_expiry(struct state *s)
{
	const struct blame_case *late = s->late;
	const struct blame_event *entry = NULL, *waker = NULL, *first = NULL;
	bool soft = false; /* in the soft interrupt that handles timers with PREEMPT_RT */
	uint64_t best = BLAME_TIMER_NEAR_NS + 1;
	int64_t runnable = late->awake;

	s->fired = late->awake;
	s->ready = INT64_MAX;
	if (late->frame) {
		find_carrier(s);
		return;
	}
	if (!late->armed) {
		s->fired = late->due;
		/* it does not sleep */
		s->ready = INT64_MIN;
		return;
	}
	for (size_t i = 0; i < late->count; i++) {
		const struct blame_event *event = &late->events[i];
		int64_t time = (int64_t)event->time_ns;

		if (event->kind == BLAME_VECTOR_ENTER && event->number == BLAME_LOCAL_TIMER)
			entry = event;
		if (entry == event && !first && time >= late->armed)
			first = event;
		if (event->number == SOFTIRQ_HRTIMER &&
		    (event->kind == BLAME_SOFTIRQ_ENTER || event->kind == BLAME_SOFTIRQ_EXIT))
			soft = event->kind == BLAME_SOFTIRQ_ENTER;
		if (event->kind == BLAME_WAKEUP && time >= late->armed && time < runnable) {
			runnable = time;
			waker = i && event[-1].kind == BLAME_TIMER ? &event[-1] : NULL;
		}
		if (event->kind == BLAME_TIMER && time >= late->armed - BLAME_TIMER_NEAR_NS) {
			uint64_t away = event->value > (uint64_t)late->armed
						? event->value - (uint64_t)late->armed
						: (uint64_t)late->armed - event->value;

			if (away >= best)
				continue;
			best = away;
			/* interrupts were on from the one that has raised it */
			if (soft && first)
				entry = first;
			s->fired = soft && first ? (int64_t)first->time_ns : time;
			/* what handles a soft one may be an ordinary thread, which must run before */
			s->ready = soft && first ? INT64_MAX : time;
			s->expiry = event;
			if (entry && entry->flags & BLAME_FROM_KNOWN) {
				s->interrupted = entry->flags;
				s->ip = entry->value;
			}
		}
	}
	if (runnable < late->awake && runnable < s->ready)
		s->ready = runnable;
	/* another CPU may have handled it: then the wake-up tells */
	if (best > BLAME_TIMER_NEAR_NS) {
		s->fired = runnable;
		s->expiry = waker;
	}
	/* or it is what was not kept: interrupts have come since */
	if (best > BLAME_TIMER_NEAR_NS && runnable == late->awake && late->cut && late->count &&
	    (int64_t)late->events[0].time_ns > late->due)
		s->fired = late->due;
}

static int larger_first(const void *a, const void *b)
{
	const struct blame_part *first = a, *second = b;

	return first->ns < second->ns ? 1 : first->ns > second->ns ? -1 : 0;
}

size_t blame_split(const struct blame_case *late, struct blame_part parts[BLAME_PARTS_MAX])
{
	struct state s = { .late = late, .parts = parts };
	int64_t at = late->due;

	if (late->awake <= late->due)
		return 0;
	find_expiry(&s);
	find_first_holders(&s);
	if (late->begins_in_thread) {
		s.thread_known = true;
		s.tid = late->tid;
	}
	/* an event loop's, which takes whole milliseconds */
	if (s.expiry && (int64_t)s.expiry->value > late->due + BLAME_TIMER_NEAR_NS) {
		const struct blame_part later = { .category = BLAME_PART_ARMED_LATE };
		int64_t first = (int64_t)s.expiry->value;

		first = first < late->awake ? first : late->awake;
		charge(&s, &later, first - at);
		at = first;
	}
	if (late->cut && late->count && (int64_t)late->events[0].time_ns > at) {
		const struct blame_part lost = { .category = BLAME_PART_LOST };
		int64_t first = (int64_t)late->events[0].time_ns;

		first = first < late->awake ? first : late->awake;
		charge(&s, &lost, first - at);
		at = first;
	}
	for (size_t i = 0; i <= late->count; i++) {
		int64_t time = i < late->count ? (int64_t)late->events[i].time_ns : late->awake;

		if (time > late->awake)
			time = late->awake;
		if (time > at) {
			/* a stretch that lies on both sides of the expiry is two */
			if (at < s.fired && s.fired < time) {
				attribute(&s, at, s.fired);
				at = s.fired;
			}
			attribute(&s, at, time);
			at = time;
		}
		if (i < late->count)
			apply(&s, &late->events[i]);
	}
	end_quiet(&s);
	qsort(parts, s.count, sizeof(*parts), larger_first);
	return s.count;
}

static const char *policy_text(const struct blame_part *part, char text[32])
{
	switch (part->policy) {
	case SCHED_FIFO:
		snprintf(text, 32, "SCHED_FIFO %d", part->priority);
		break;
	case SCHED_RR:
		snprintf(text, 32, "SCHED_RR %d", part->priority);
		break;
	case 6: /* SCHED_DEADLINE */
		snprintf(text, 32, "SCHED_DEADLINE");
		break;
	default:
		snprintf(text, 32, "SCHED_OTHER");
	}
	return text;
}

char *blame_part_text(const struct blame_part *part, char buffer[BLAME_TEXT])
{
	char policy[32], name[BLAME_NAME + 1];

	/* names come from whoever named a thread or a driver */
	for (size_t i = 0; i <= BLAME_NAME; i++) {
		unsigned char c = (unsigned char)(i < BLAME_NAME ? part->name[i] : 0);

		name[i] = (char)(c && (c < ' ' || c > '~') ? '?' : c);
	}
	switch (part->category) {
	case BLAME_PART_IRQ:
		snprintf(buffer, BLAME_TEXT, "IRQ %u %s", part->number, name);
		break;
	case BLAME_PART_VECTOR:
		snprintf(buffer, BLAME_TEXT, "%s interrupt", blame_vector_name(part->number));
		break;
	case BLAME_PART_SOFTIRQ:
		snprintf(buffer, BLAME_TEXT, "softirq %s", blame_softirq_name(part->number));
		break;
	case BLAME_PART_THREAD:
		snprintf(buffer, BLAME_TEXT, "thread %s[%u] %s", name, part->number,
			 policy_text(part, policy));
		break;
	case BLAME_PART_IRQS_OFF:
		/* without knowing where the timer came in it may as well have been the hypervisor */
		snprintf(buffer, BLAME_TEXT, "interrupts off%s in %s[%u] %s",
			 part->ip ? "" : " (or nothing ran at all)", name, part->number,
			 policy_text(part, policy));
		break;
	case BLAME_PART_TIMER:
		snprintf(buffer, BLAME_TEXT, "timer callback %#llx", (unsigned long long)part->ip);
		break;
	case BLAME_PART_ARMED_LATE:
		snprintf(buffer, BLAME_TEXT, "its timer was set for later");
		break;
	case BLAME_PART_THROTTLED:
		snprintf(buffer, BLAME_TEXT,
			 "not let run (real-time throttling or the fair server)");
		break;
	case BLAME_PART_OWN:
		snprintf(buffer, BLAME_TEXT, "the cyclic thread itself (not asleep yet)");
		break;
	case BLAME_PART_AWAY:
		snprintf(buffer, BLAME_TEXT, "not here yet (sender, network, or interrupts off)");
		break;
	case BLAME_PART_LOST:
		snprintf(buffer, BLAME_TEXT, "not kept (more than %d events came after it)",
			 BLAME_EVENTS);
		break;
	case BLAME_PART_WAKING:
		snprintf(buffer, BLAME_TEXT, "waking to running");
		break;
	default:
		snprintf(buffer, BLAME_TEXT,
			 "not seen by the kernel (SMI, hypervisor, sleep "
			 "state)");
	}
	return buffer;
}

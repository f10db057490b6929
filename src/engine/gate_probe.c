// SPDX-License-Identifier: GPL-2.0-only
#include "engine/gate_probe.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/units.h"
#include "engine/feedback.h"
#include "tc/validate.h"

#define ETHERTYPE 0x88b5
#define ROUNDS_MIN 8
#define ROUNDS_MAX 40
#define TIME_NS (2 * NSEC_PER_SEC) /* for all rounds */
#define STAMP_PATIENCE_NS (50 * NSEC_PER_MSEC) /* beyond two cycles */
#define WAKE_UP_NS (2 * NSEC_PER_MSEC) /* between handing over and etf's deadline */

/* Nearest bridge (IEEE 802.1AB): not forwarded. */
static const uint8_t destination[6] = { 0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e };

struct probing {
	const struct deployment *deployment;
	int64_t base_ns;
	struct gate_probe *probe;
	struct gate_probe_class *current;
	unsigned class;
	bool hw;
	bool answered;
	int64_t stamp_ns;
	struct feedback_reader *reader;
};

static void take(void *context, const struct feedback *feedback)
{
	struct probing *p = context;

	if (feedback->stream != p->class)
		return;
	if (feedback->kind == FEEDBACK_MISSED || feedback->kind == FEEDBACK_INVALID) {
		p->current->missed++;
		p->answered = true;
	} else if (feedback->kind == (p->hw ? FEEDBACK_HW : FEEDBACK_SW)) {
		p->stamp_ns = feedback->time;
		p->answered = true;
	}
}

/* Waits for the stamp of the frame that was sent, not longer than it can take. */
static bool await(struct probing *p, struct transmit *transmit, int64_t until_ns)
{
	int fds[TRANSMIT_SOCKETS];
	unsigned count = transmit_descriptors(transmit, fds);

	p->answered = false;
	p->stamp_ns = -1;
	while (!p->answered) {
		struct pollfd polled[TRANSMIT_SOCKETS];
		int64_t left = until_ns - tai_now_ns();

		if (left <= 0)
			return false;
		for (unsigned i = 0; i < count; i++)
			polled[i] = (struct pollfd){ .fd = fds[i] };
		if (poll(polled, count, (int)(left / NSEC_PER_MSEC) + 1) < 0)
			return false;
		for (unsigned i = 0; i < count; i++)
			feedback_read(p->reader, fds[i], take, p, NULL);
	}
	return p->stamp_ns >= 0;
}

static void judge(struct probing *p, int64_t tolerance_ns)
{
	struct window windows[SCHEDULE_GATES_MAX];
	const struct schedule *schedule = &p->deployment->schedule;
	struct gate_probe_class *c = p->current;
	unsigned n = schedule_windows(schedule, p->class, windows, SCHEDULE_GATES_MAX);
	int64_t at = (p->stamp_ns - p->base_ns) % schedule->cycle_ns;
	bool inside = false;

	at = at < 0 ? at + schedule->cycle_ns : at;
	for (unsigned i = 0; i < n; i++)
		inside |= (at >= windows[i].start_ns && at < windows[i].end_ns + tolerance_ns) ||
			  at + schedule->cycle_ns < windows[i].end_ns + tolerance_ns;
	if (!inside) {
		c->outside++;
		c->worst_ns = at;
	}
	c->first_ns = !c->stamped || at < c->first_ns ? at : c->first_ns;
	c->last_ns = !c->stamped || at > c->last_ns ? at : c->last_ns;
	c->stamped++;
}

/* The r-th of n launch times of a class: in its windows, spread; else any time, spread over the cycle. */
static int64_t choose_time(const struct probing *p, unsigned round, unsigned rounds)
{
	struct window windows[SCHEDULE_GATES_MAX];
	const struct schedule *schedule = &p->deployment->schedule;
	const struct traffic_class *class = &schedule->classes[p->class];
	int64_t cycle = schedule->cycle_ns, earliest = tai_now_ns() + WAKE_UP_NS, at;
	unsigned n = schedule_windows(schedule, p->class, windows, SCHEDULE_GATES_MAX);

	if (p->current->launch) {
		const struct window *window = &windows[round % n];
		int64_t room = window->end_ns - window->start_ns -
			       wire_time_ns(FRAME_SIZE_MIN, p->deployment->speed_mbps);

		at = window->start_ns + (room > 0 ? room * round / rounds : 0);
		earliest += class->delta_ns;
	} else {
		at = cycle * round / rounds;
	}
	return next_in_phase(p->base_ns + at % cycle, cycle, earliest);
}

static int probe_class(struct probing *p, struct transmit *transmit, unsigned rounds,
		       const volatile sig_atomic_t *interrupted)
{
	const struct schedule *schedule = &p->deployment->schedule;

	for (unsigned r = 0; r < rounds && !*interrupted; r++) {
		int64_t at = choose_time(p, r, rounds);
		int64_t send = p->current->launch
				       ? at - schedule->classes[p->class].delta_ns - WAKE_UP_NS / 2
				       : at;
		struct cycle_frame frame = { .seq = r, .launch = at, .stream = 0 };
		struct timespec until = ns_to_timespec(send);

		clock_nanosleep(CLOCK_TAI, TIMER_ABSTIME, &until, NULL);
		transmit_send(transmit, &frame, 1);
		p->current->sent++;
		if (await(p, transmit, at + 2 * schedule->cycle_ns + STAMP_PATIENCE_NS))
			judge(p, p->hw ? 0 : GATE_PROBE_SOFTWARE_NS);
	}
	return *interrupted ? -1 : 0;
}

static int verdict(const struct probing *p, const char *ifname, struct error *err)
{
	const struct schedule *schedule = &p->deployment->schedule;
	const struct gate_probe_class *c = p->current;
	const char *name = schedule->classes[p->class].name, *stamps = p->hw ? "hw" : "sw";
	char at[DURATION_TEXT];

	if (c->outside)
		return error_system(err,
				    "%s: proof failed: %u of %u frames of class '%s' left outside "
				    "of its windows, one at %s of "
				    "the cycle (TX stamp %s)",
				    ifname, c->outside, c->stamped, name,
				    format_duration(c->worst_ns, at), stamps);
	/* a few that got through prove nothing of those that did not */
	if (2 * c->stamped < c->sent)
		return error_system(err,
				    "%s: proof failed: of %u frames of class '%s' %u TX stamps "
				    "(%s) came back; %u were dropped "
				    "by etf",
				    ifname, c->sent, name, c->stamped, stamps, c->missed);
	return 0;
}

/*
 * A launch time that no NIC takes off a frame stays with it, and the kernel then gives the NIC's stamp as one of its own
 * (skb_is_swtx_tstamp()): behind etf without offload, and wherever taprio makes launch times.
 */
static bool hardware_stamps(const struct deployment *deployment, unsigned class)
{
	return deployment->schedule.classes[class].launch_time
		       ? deployment->etf_offload[class]
		       : deployment->mode != SCHEDULE_TXTIME_ASSIST;
}

int gate_probe_run(const char *ifname, int ifindex, const uint8_t source[6],
		   const struct deployment *deployment, int64_t base_ns, bool hw,
		   const volatile sig_atomic_t *interrupted, struct gate_probe *probe,
		   struct error *err)
{
	const struct schedule *schedule = &deployment->schedule;
	int64_t rounds = TIME_NS / (schedule->cycle_ns * 2 *
				    (schedule->class_count ? schedule->class_count : 1));
	struct probing p = { .deployment = deployment, .base_ns = base_ns, .probe = probe };
	static const sig_atomic_t never;
	int result = 0;

	memset(probe, 0, sizeof(*probe));
	rounds = rounds < ROUNDS_MIN ? ROUNDS_MIN : rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds;
	p.reader = feedback_reader_new(ETHERTYPE);
	if (!p.reader)
		return error_system(err, "%s: no memory for the proof", ifname);
	for (p.class = 0; p.class < schedule->class_count && !result; p.class ++) {
		const struct traffic_class *class = &schedule->classes[p.class];
		struct stream stream = { .id = (uint16_t)p.class,
					 .vlan = STREAM_NO_VLAN,
					 .every = 1,
					 .frames = 1,
					 .size = FRAME_SIZE_MIN };
		struct transmit_settings settings = { .ifname = ifname,
						      .ifindex = ifindex,
						      .ethertype = ETHERTYPE,
						      .streams = &stream,
						      .count = 1,
						      .stamp_every = 1 };
		struct transmit *transmit;
		struct window first;

		if (!class->priorities || !schedule_windows(schedule, p.class, &first, 1))
			continue;
		p.hw = hw && hardware_stamps(deployment, p.class);
		if (!p.hw && deployment->mode == SCHEDULE_FULL_OFFLOAD) {
			result = error_system(
				err,
				"%s: the gates of class '%s' cannot be proven: behind etf without "
				"offload there are "
				"no TX stamps of the NIC, and nothing else sees its gates",
				ifname, class->name);
			break;
		}
		settings.stamps = p.hw ? STAMP_HW : STAMP_SW;
		p.current = &probe->classes[p.class];
		p.current->asked = true;
		p.current->hw = p.hw;
		/* under txtime-assist taprio makes the launch times */
		p.current->launch = class->launch_time &&
				    deployment->mode != SCHEDULE_TXTIME_ASSIST;
		memcpy(stream.dest, destination, sizeof(stream.dest));
		memcpy(settings.source, source, sizeof(settings.source));
		settings.launch_time = p.current->launch;
		stream.priority = (uint8_t)__builtin_ctz(class->priorities);
		transmit = transmit_open(&settings, err);
		if (!transmit) {
			result = -1;
			break;
		}
		result = probe_class(&p, transmit, (unsigned)rounds,
				     interrupted ? interrupted : &never);
		transmit_close(transmit);
		if (result)
			error_system(err, "%s: interrupted during the proof", ifname);
		else
			result = verdict(&p, ifname, err);
	}
	feedback_reader_free(p.reader);
	return result;
}

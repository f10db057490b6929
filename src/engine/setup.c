// SPDX-License-Identifier: GPL-2.0-only
/* Everything that is checked and set up before the first frame, and put back after the last. */
#include <errno.h>
#include <linux/if_arp.h>
#include <linux/net_tstamp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/publisher_private.h"
#include "host/ethtool.h"
#include "tc/device.h"
#include "tc/installed.h"

/* frames that the rings hold: those of so long a time, within bounds, since all of it is locked into memory */
#define ROOM_NS (2 * NSEC_PER_SEC)
#define ROOM_MIN 2048
#define ROOM_MAX 65536
#define RECORDS_ROOM 65536 /* a gap fills it at one stroke */
#define NOTES_ROOM 64
#define PATIENCE_SW_NS (100 * NSEC_PER_MSEC)
#define PATIENCE_HW_NS (500 * NSEC_PER_MSEC)
/* NICs have few registers for TX stamps (four on the I225): so many a second are asked for */
#define HW_STAMPS_PER_SECOND 4000

static int check_interface(struct publisher *p, struct error *err)
{
	const struct link_info *link = &p->setup.link;

	if (link->type != ARPHRD_ETHER)
		return error_input(err,
				   "interface '%s': not an Ethernet interface (type %u); `ip link` "
				   "shows link/ether for those",
				   link->name, link->type);
	if (!link->up)
		return error_system(err, "interface '%s' is down; switch it on: ip link set %s up",
				    link->name, link->name);
	if (!link->running && p->options.link_loss == LINK_LOSS_STOP)
		return error_system(
			err,
			"interface '%s' has no link (no carrier); check the cable and the peer",
			link->name);
	if (!p->options.has_source)
		memcpy(p->options.source, link->mac, sizeof(p->options.source));
	if (p->options.source[0] & 1)
		return error_input(err,
				   "source address %02x:...: a multicast address cannot be a "
				   "source (lowest bit of the "
				   "first byte); clear that bit",
				   p->options.source[0]);
	return 0;
}

/* The interface, and what the NIC can do. Without ethtool (a strange device) the rest still works. */
static int read_interface(struct publisher *p, struct ethtool_stamping *stamping, struct error *err)
{
	struct publisher_setup *s = &p->setup;
	struct error ignored = ERROR_INIT;
	struct ethtool *ethtool;
	struct device device;

	*stamping = (struct ethtool_stamping){ .phc_index = -1 };
	if (device_read(p->nl, p->options.ifname, &device, err) < 0)
		return -1;
	s->link = device.link;
	s->speed_mbps = device.speed_mbps;
	s->phc_index = device.phc_index;
	p->nic = device.nic;
	memcpy(s->driver, device.driver.name, sizeof(s->driver));
	if (check_interface(p, err) < 0)
		return -1;
	ethtool = ethtool_open(&ignored);
	if (ethtool) {
		ethtool_stamping(ethtool, s->link.name, stamping, &ignored);
		ethtool_close(ethtool);
	}
	return 0;
}

/* How many frames are due in that time, about. */
static uint64_t frames_in(const struct publisher *p, int64_t time_ns)
{
	uint64_t frames = 0;

	for (unsigned i = 0; i < p->options.count; i++)
		frames += (uint64_t)(time_ns / p->options.cycle_ns) * p->options.streams[i].frames /
			  p->options.streams[i].every;
	return frames;
}

/* Which stamps there will be, switched on in the NIC where that is needed. */
static int set_up_stamps(struct publisher *p, const struct ethtool_stamping *stamping,
			 struct error *err)
{
	struct publisher_setup *s = &p->setup;
	unsigned can = STAMP_SCHED;
	struct hwtstamp_report report;
	uint64_t rate = frames_in(p, NSEC_PER_SEC);

	if (stamping->so_timestamping & SOF_TIMESTAMPING_TX_SOFTWARE)
		can |= STAMP_SW;
	if ((stamping->so_timestamping & SOF_TIMESTAMPING_TX_HARDWARE) && stamping->phc_index >= 0)
		can |= STAMP_HW;
	if (can & STAMP_HW && s->pacing.no_hw_stamps) {
		can &= ~STAMP_HW;
		snprintf(s->stamps_note, sizeof(s->stamps_note),
			 "%s: no hardware TX stamps: no NIC takes the launch time off a frame (etf "
			 "without offload)",
			 s->link.name);
	}
	s->stamps = p->options.stamps_auto ? can & (STAMP_SW | STAMP_HW) : p->options.stamps & can;
	if (!s->stamps_note[0] && !p->options.stamps_auto && s->stamps != p->options.stamps)
		snprintf(s->stamps_note, sizeof(s->stamps_note),
			 "%s: driver %s gives no %s TX stamps", s->link.name,
			 s->driver[0] ? s->driver : "(unknown)",
			 p->options.stamps & ~s->stamps & STAMP_HW ? "hardware" : "software");
	if (s->stamps & STAMP_HW) {
		struct error reason = ERROR_INIT;
		int result = hwtstamp_enable(s->link.name, HWTSTAMP_WANT_TX, &p->hwtstamp, &report,
					     &reason);

		if (result < 0 && !p->options.stamps_auto) {
			*err = reason;
			return -1;
		}
		if (result < 0 || !(report.granted & HWTSTAMP_WANT_TX)) {
			s->stamps &= ~STAMP_HW;
			snprintf(s->stamps_note, sizeof(s->stamps_note),
				 "no hardware TX stamps: %.150s",
				 result < 0 ? reason.text : report.reason);
		}
	}
	s->stamp_every = p->options.stamp_every;
	if (!s->stamp_every)
		s->stamp_every = s->stamps & STAMP_HW && rate > HW_STAMPS_PER_SECOND
					 ? (uint32_t)((rate + HW_STAMPS_PER_SECOND - 1) /
						      HW_STAMPS_PER_SECOND)
					 : 1;
	return 0;
}

static bool realtime_kernel(void)
{
	return access("/sys/kernel/realtime", F_OK) == 0;
}

/* Taprio's gates, as they are or are to come; NULL where there is none, or it cannot be read. */
static struct schedule *read_gates(struct publisher *p)
{
	const struct link_info *link = &p->setup.link;
	struct installed *installed = calloc(1, sizeof(*installed));
	struct schedule *gates = calloc(1, sizeof(*gates));
	struct error ignored = ERROR_INIT;
	bool read;

	read = installed && gates &&
	       installed_read(p->nl, link->index, link->name, installed, &ignored) == 0 &&
	       installed->is_taprio &&
	       (installed_schedule(installed, false, NULL, gates) == 0 ||
		installed_schedule(installed, true, NULL, gates) == 0);
	free(installed);
	if (read)
		return gates;
	free(gates);
	return NULL;
}

/* How far ahead of its launch the NIC takes a frame (tc/nic.h); 0: no limit. */
static int64_t ahead_max(const struct nic *nic, const struct schedule *gates)
{
	if (nic->launch_ahead_max_ns < 0)
		return 0;
	if (nic->launch_ahead_max_ns > 0)
		return nic->launch_ahead_max_ns;
	/* within the next cycle of the gates; a driver without gates counts in seconds */
	return gates ? gates->cycle_ns : NSEC_PER_SEC;
}

static int choose_pacing(struct publisher *p, struct error *err)
{
	struct publisher_setup *s = &p->setup;
	struct schedule *gates = read_gates(p);
	struct qdisc_list qdiscs;
	struct pacing_facts facts = {
		.ifname = s->link.name,
		.streams = p->options.streams,
		.count = p->options.count,
		.cycle_ns = p->options.cycle_ns,
		.qdiscs = &qdiscs,
		.gates = gates,
		.speed_mbps = s->speed_mbps,
		.ahead_max_ns = ahead_max(p->nic, gates),
		.mqprio_ends_launch = p->nic->mqprio_ends_launch,
		.has_base = p->options.has_base,
		.base_ns = p->options.has_base ? p->options.base_ns : 0,
		.realtime_kernel = realtime_kernel(),
	};
	int result = -1;

	s->gates = gates;
	s->software_gates = gates && gates->mode == SCHEDULE_SOFTWARE;
	if (qdisc_list_read(p->nl, s->link.index, s->link.name, &qdiscs, err) == 0) {
		result = pacing_choose(&p->options.pacing, &facts, &s->pacing, err);
		qdisc_list_free(&qdiscs);
	}
	free(gates);
	return result;
}

static int open_transmit(struct publisher *p, struct error *err)
{
	struct transmit_settings settings = {
		.ifname = p->setup.link.name,
		.ifindex = p->setup.link.index,
		.ethertype = p->options.ethertype,
		.run = p->setup.run,
		.streams = p->options.streams,
		.count = p->options.count,
		.launch_time = p->setup.pacing.kind == PACING_LAUNCH_TIME,
		.deadline_mode = p->setup.pacing.deadline_mode,
		.stamps = p->setup.stamps,
		.stamp_every = p->setup.stamp_every,
	};

	memcpy(settings.source, p->options.source, sizeof(settings.source));
	p->transmit = transmit_open(&settings, err);
	return p->transmit ? 0 : -1;
}

/* Two full cycles at least, however long they are. */
static size_t room_of(const struct publisher *p)
{
	uint64_t frames = frames_in(p, ROOM_NS);

	for (unsigned i = 0; i < p->options.count; i++)
		frames += 2 * p->options.streams[i].frames;
	return frames < ROOM_MIN ? ROOM_MIN : frames > ROOM_MAX ? ROOM_MAX : frames;
}

static int make_collector(struct publisher *p, struct error *err)
{
	size_t room = room_of(p);
	struct tx_options metrics = { .lead_ns = p->setup.pacing.lead_ns,
				      .deadline_ns = p->options.deadline_ns,
				      .steady = true };
	struct collector_settings settings = {
		.streams = p->options.streams,
		.wire_ns = p->wire_ns,
		.count = p->options.count,
		.base_ns = p->setup.base_ns,
		.cycle_ns = p->options.cycle_ns,
		.run = p->setup.run,
		.stamps = p->setup.stamps,
		.launch_time = p->setup.pacing.kind == PACING_LAUNCH_TIME,
		.patience_ns = p->setup.stamps & STAMP_HW ? PATIENCE_HW_NS : PATIENCE_SW_NS,
		.room = room,
		.record = publisher_take_record,
		.context = p,
	};

	p->collector = collector_new(&settings);
	p->feedback = feedback_reader_new(p->options.ethertype);
	p->metrics = tx_metrics_new(&metrics);
	if (!p->options.no_recent) {
		histogram_reserve(&p->recent.wake);
		for (int i = 0; i < SOURCE_COUNT; i++)
			if (i != SOURCE_XDP)
				histogram_reserve(&p->recent.launch_error[i]);
	}
	if (sync_guard_marks(p->sync)) {
		p->hold = sync_hold_new(frames_in(p, NSEC_PER_SEC) + 1, publisher_give_record, p);
		if (!p->hold)
			return error_errno(err, ENOMEM, "cannot set up the publisher");
	}
	if (!p->collector || !p->feedback || !p->metrics ||
	    spsc_init(&p->events, room, sizeof(struct cycle_event)) < 0 ||
	    spsc_init(&p->notes, NOTES_ROOM, sizeof(struct publisher_note)) < 0 ||
	    spsc_init(&p->log_notes, NOTES_ROOM, sizeof(struct publisher_note)) < 0 ||
	    (p->options.log_path &&
	     spsc_init(&p->records, RECORDS_ROOM, sizeof(struct tx_record)) < 0))
		return error_errno(err, ENOMEM, "cannot set up the publisher");
	return 0;
}

static int make_cycle(struct publisher *p, struct error *err)
{
	const struct pacing *pacing = &p->setup.pacing;

	p->cycle = (struct cycle){
		.settings = { .cycle_ns = p->options.cycle_ns,
			      .base_ns = p->setup.base_ns,
			      .lead_ns = pacing->lead_ns,
			      .late_max_ns = pacing->late_max_ns,
			      .span_ns = pacing->span_ns,
			      .spin_ns = p->options.pacing.spin_ns,
			      .cycles = p->options.cycles,
			      /* the first wake-ups find cold caches: not the frames' business */
			      .start_delay_ns = 2 * NSEC_PER_MSEC },
		.streams = p->options.streams,
		.wire_ns = p->wire_ns,
		.count = p->options.count,
		.clock = p->options.clock ? p->options.clock : &wake_clock_system,
		.send = transmit_send,
		.send_context = p->transmit,
		.control = &p->control,
		.events = &p->events,
	};
	if (cycle_init(&p->cycle) < 0)
		return error_errno(err, ENOMEM, "cannot set up the cyclic loop");
	p->cycle_ready = true;
	return 0;
}

int publisher_check(const struct publisher_options *options, const struct device *device,
		    struct error *err)
{
	int64_t *wire_ns = calloc(options->count, sizeof(*wire_ns)), busiest_ns;
	int result;

	if (!wire_ns)
		return error_errno(err, ENOMEM, "cannot check the streams");
	result = load_check(options->streams, options->count, options->cycle_ns, device->link.mtu,
			    device->speed_mbps, device->link.name, wire_ns, &busiest_ns, err);
	free(wire_ns);
	return result || !options->log_path ? result : log_try(options->log_path, err);
}

static int set_up(struct publisher *p, struct error *err)
{
	struct publisher_setup *s = &p->setup;
	struct ethtool_stamping stamping;
	sigset_t signals;

	p->wire_ns = calloc(p->options.count, sizeof(*p->wire_ns));
	if (!p->wire_ns)
		return error_errno(err, ENOMEM, "cannot set up the publisher");
	p->nl = netlink_open(NETLINK_ROUTE, err);
	if (!p->nl || read_interface(p, &stamping, err) < 0)
		return -1;
	if (load_check(p->options.streams, p->options.count, p->options.cycle_ns, s->link.mtu,
		       s->speed_mbps, s->link.name, p->wire_ns, &s->wire_ns, err) < 0 ||
	    choose_pacing(p, err) < 0)
		return -1;
	/* before anything is changed: it may wait, and refuse */
	if (sync_guard_open(&p->options.sync, s->link.name, s->pacing.kind != PACING_TIMER,
			    &p->sync, err) < 0)
		return -1;
	s->sync = sync_guard_verdict(p->sync);
	while (!s->run) /* 0 is kept free for "no run" */
		if (getrandom(&s->run, sizeof(s->run), 0) < 0)
			return error_errno(err, errno, "cannot draw a run id");
	s->base_ns = s->pacing.base_ns;
	s->tai_offset_s = tai_offset_seconds();
	/* from here on there is something to put back; what comes meanwhile ends the run as it begins */
	publisher_block_signals(&signals);
	if (set_up_stamps(p, &stamping, err) < 0 || open_transmit(p, err) < 0 ||
	    make_collector(p, err) < 0 || make_cycle(p, err) < 0)
		return -1;
	p->monitor = link_monitor_open(&s->link, err);
	if (!p->monitor)
		return -1;
	p->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (p->wake_fd < 0)
		return error_errno(err, errno, "eventfd");
	realtime_init(&s->realtime, &p->options.realtime);
	/* its buffers are large, and would be locked into memory */
	netlink_close(p->nl);
	p->nl = NULL;
	return 0;
}

struct publisher *publisher_open(const struct publisher_options *options, struct error *err)
{
	struct publisher *p = calloc(1, sizeof(*p));

	if (!p) {
		error_errno(err, ENOMEM, "cannot set up the publisher");
		return NULL;
	}
	p->options = *options;
	p->wake_fd = p->signal_fd = p->tick_fd = -1;
	pthread_mutex_init(&p->metrics_lock, NULL);
	sem_init(&p->ready, 0, 0);
	sem_init(&p->go, 0, 0);
	if (set_up(p, err) < 0) {
		publisher_close(p);
		return NULL;
	}
	return p;
}

void publisher_close(struct publisher *p)
{
	struct error err = ERROR_INIT;

	if (!p)
		return;
	/* what publisher_run() has not put back, since it never ran */
	if (p->hwtstamp && hwtstamp_restore(p->hwtstamp, &err) < 0)
		message_warn("%s", err.text);
	if (p->log && log_close(p->log, &err) < 0)
		message_warn("%s", err.text);
	realtime_release(&p->setup.realtime);
	sync_guard_close(p->sync);
	transmit_close(p->transmit);
	link_monitor_close(p->monitor);
	netlink_close(p->nl);
	collector_free(p->collector);
	sync_hold_free(p->hold);
	feedback_reader_free(p->feedback);
	tx_metrics_free(p->metrics);
	histogram_free(&p->recent.wake);
	for (int i = 0; i < SOURCE_COUNT; i++)
		histogram_free(&p->recent.launch_error[i]);
	if (p->cycle_ready)
		cycle_free(&p->cycle);
	spsc_free(&p->events);
	spsc_free(&p->notes);
	spsc_free(&p->log_notes);
	spsc_free(&p->records);
	for (int i = 0; i < 3; i++) {
		int fd = i == 0 ? p->wake_fd : i == 1 ? p->signal_fd : p->tick_fd;

		if (fd >= 0)
			close(fd);
	}
	sem_destroy(&p->ready);
	sem_destroy(&p->go);
	pthread_mutex_destroy(&p->metrics_lock);
	free(p->wire_ns);
	free(p);
}

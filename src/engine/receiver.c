// SPDX-License-Identifier: GPL-2.0-only
/* Which way frames come in, and what has to be switched on at the interface for it. */
#include "engine/receiver_private.h"

#include <errno.h>
#include <linux/if_packet.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/capability.h"
#include "host/ethtool.h"
#include "host/xdp_features.h"

struct receiver {
	struct receiver_options options;
	struct receiver_setup setup;
	int ifindex;
	const struct receiver_way *way;
	void *state; /* the way's */
	struct hwtstamp *hwtstamp;
	int membership; /* packet socket that only holds memberships; the kernel ends them with it */
};

void receiver_note(struct receiver_setup *setup, const char *format, ...)
{
	va_list args;

	if (setup->note_count >= sizeof(setup->notes) / sizeof(setup->notes[0]))
		return;
	va_start(args, format);
	vsnprintf(setup->notes[setup->note_count++], sizeof(setup->notes[0]), format, args);
	va_end(args);
}

/* Does the driver hand its stamps to XDP? */
static bool stamps_in_xdp(const struct receiver *receiver)
{
	struct xdp_features features = xdp_features(receiver->ifindex);
	struct ethtool_driver driver;
	struct error ignored = ERROR_INIT;

	if (features.metadata_known)
		return features.rx_timestamp;
	/* Linux 6.5 and 6.6 have the function in igc, but do not tell */
	return features.known && !ethtool_driver(receiver->options.ifname, &driver, &ignored) &&
	       !strcmp(driver.name, "igc");
}

/*
 * CAP_PERFMON: without it the verifier guards every access against speculative execution, and gives up on
 * a program of this size.
 */
static const int xdp_capabilities[] = { CAP_BPF, CAP_PERFMON, CAP_NET_ADMIN };

/* The first capability that XDP lacks, or -1. */
static int missing_for_xdp(void)
{
	if (capability_have(CAP_SYS_ADMIN) && capability_have(CAP_NET_ADMIN))
		return -1;
	for (size_t i = 0; i < sizeof(xdp_capabilities) / sizeof(xdp_capabilities[0]); i++)
		if (!capability_have(xdp_capabilities[i]))
			return xdp_capabilities[i];
	return -1;
}

static int name_missing(const char *what, int capability, struct error *err)
{
	return error_system(err,
			    "%s needs %s: run it as root, or give the program its capabilities: "
			    "`setcap cap_bpf,cap_perfmon,cap_net_admin,cap_net_raw+ep`",
			    what, capability_name(capability));
}

static int join_one(int fd, int ifindex, unsigned short type, const uint8_t *address)
{
	struct packet_mreq request = { .mr_ifindex = ifindex, .mr_type = type };

	if (address) {
		request.mr_alen = 6;
		memcpy(request.mr_address, address, 6);
	}
	return setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &request, sizeof(request)) ? -errno
											    : 0;
}

/* Lets the wanted destinations through the NIC's filter, for as long as this process lives. */
static void join(struct receiver *receiver)
{
	const struct receiver_options *options = &receiver->options;
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	int ret = 0;

	receiver->membership = fd;
	if (fd < 0) {
		receiver_note(&receiver->setup,
			      "%s: the streams' multicast addresses cannot be joined (%s): the NIC "
			      "may filter their frames out",
			      options->ifname,
			      errno == EPERM ? "CAP_NET_RAW is missing" : strerror(errno));
		return;
	}
	if (options->promiscuous)
		ret = join_one(fd, receiver->ifindex, PACKET_MR_PROMISC, NULL);
	/* all 256 addresses are more than a NIC's filter has room for */
	else if (!options->stream_count)
		ret = join_one(fd, receiver->ifindex, PACKET_MR_ALLMULTI, NULL);
	for (unsigned int i = 0; !ret && i < options->stream_count; i++) {
		uint8_t address[6] = { 0x91, 0xe0, 0xf0, 0x00, 0xfe, (uint8_t)options->streams[i] };

		if (options->streams[i] <= 0xff)
			ret = join_one(fd, receiver->ifindex, PACKET_MR_MULTICAST, address);
	}
	for (unsigned int i = 0; !ret && i < options->dest_count; i++)
		ret = join_one(fd, receiver->ifindex,
			       options->dests[i][0] & 1 ? PACKET_MR_MULTICAST : PACKET_MR_UNICAST,
			       options->dests[i]);
	if (ret)
		receiver_note(
			&receiver->setup,
			"%s: the streams' addresses cannot be joined (%s): the NIC may filter "
			"their frames out",
			options->ifname, strerror(-ret));
}

/*
 * Switches stamps of all received frames on. Returns 1 if they are, 0 if they are not to be had (`why`
 * says so), -1 with the error filled in.
 */
static int enable_stamps(struct receiver *receiver, char *why, size_t size, struct error *err)
{
	struct hwtstamp_report report;

	if (hwtstamp_enable(receiver->options.ifname, HWTSTAMP_WANT_RX, &receiver->hwtstamp,
			    &report, err)) {
		if (receiver->options.stamps != RECEIVER_AUTO)
			return -1;
		snprintf(why, size, "%s", err->text);
		err->status = 0;
		return 0;
	}
	snprintf(why, size, "%s", report.reason);
	receiver->setup.stamping_changed = report.changed;
	return report.granted & HWTSTAMP_WANT_RX ? 1 : 0;
}

static void disable_stamps(struct receiver *receiver)
{
	struct error ignored = ERROR_INIT;

	if (hwtstamp_restore(receiver->hwtstamp, &ignored))
		receiver_note(&receiver->setup, "%s", ignored.text);
	receiver->hwtstamp = NULL;
	receiver->setup.stamping_changed = false;
}

static int open_xdp(struct receiver *receiver, bool hardware, struct error *err)
{
	receiver->way = &xdp_receiver_way;
	receiver->state = xdp_receiver_open(&receiver->options, receiver->ifindex, hardware,
					    &receiver->setup, err);
	return receiver->state ? 0 : -1;
}

static int open_socket(struct receiver *receiver, bool hardware, struct error *err)
{
	if (!capability_have(CAP_NET_RAW))
		return name_missing("receiving through a socket", CAP_NET_RAW, err);
	receiver->way = &socket_receiver_way;
	receiver->state = socket_receiver_open(&receiver->options, receiver->ifindex, hardware,
					       &receiver->setup, err);
	return receiver->state ? 0 : -1;
}

static int open_auto(struct receiver *receiver, struct error *err)
{
	char why[192] = "";
	int stamps;

	if (missing_for_xdp() >= 0) {
		if (!capability_have(CAP_NET_RAW))
			return name_missing("receiving in XDP", missing_for_xdp(), err);
		receiver_note(&receiver->setup,
			      "no XDP without %s: frames come through a socket, with the kernel's "
			      "software stamps",
			      capability_name(missing_for_xdp()));
		return open_socket(receiver, false, err);
	}
	/* before anything is changed */
	if (xdp_check_free(receiver->ifindex, receiver->options.ifname, err))
		return -1;
	stamps = receiver->options.xdp_mode == XDP_MODE_GENERIC
			 ? 0
			 : enable_stamps(receiver, why, sizeof(why), err);
	if (stamps < 0)
		return -1;
	if (stamps && stamps_in_xdp(receiver)) {
		if (!open_xdp(receiver, true, err))
			return 0;
		receiver_note(&receiver->setup, "no hardware stamps in XDP: %s", err->text);
	}
	if (stamps && !receiver->options.pass) {
		receiver_note(&receiver->setup,
			      "%s: its hardware stamps are not to be had in XDP: frames come "
			      "through a socket (--timestamps xdp: less CPU time, software stamps)",
			      receiver->options.ifname);
		return open_socket(receiver, true, err);
	}
	disable_stamps(receiver);
	if (!open_xdp(receiver, false, err))
		return 0;
	if (!capability_have(CAP_NET_RAW))
		return -1;
	receiver_note(&receiver->setup, "no XDP: %s; frames come through a socket", err->text);
	return open_socket(receiver, false, err);
}

static int open_way(struct receiver *receiver, struct error *err)
{
	char why[192] = "";
	int stamps;

	switch (receiver->options.stamps) {
	case RECEIVER_AUTO:
		return open_auto(receiver, err);
	case RECEIVER_XDP:
	case RECEIVER_HW:
		if (missing_for_xdp() >= 0)
			return name_missing("receiving in XDP", missing_for_xdp(), err);
		if (xdp_check_free(receiver->ifindex, receiver->options.ifname, err))
			return -1;
		if (receiver->options.stamps == RECEIVER_XDP)
			return open_xdp(receiver, false, err);
		stamps = enable_stamps(receiver, why, sizeof(why), err);
		if (stamps < 0)
			return -1;
		if (!stamps)
			return error_system(err,
					    "--timestamps hw: %s: %s; use --timestamps xdp or sw",
					    receiver->options.ifname, why);
		if (!stamps_in_xdp(receiver))
			return error_system(err,
					    "--timestamps hw: the driver of %s does not hand its "
					    "stamps to XDP; use --timestamps hw-socket",
					    receiver->options.ifname);
		return open_xdp(receiver, true, err);
	case RECEIVER_HW_SOCKET:
		stamps = enable_stamps(receiver, why, sizeof(why), err);
		if (stamps < 0)
			return -1;
		if (!stamps)
			receiver_note(&receiver->setup,
				      "%s: no hardware stamps, the kernel's software stamps are "
				      "used: %s",
				      receiver->options.ifname, why);
		return open_socket(receiver, stamps > 0, err);
	case RECEIVER_SW:
		return open_socket(receiver, false, err);
	}
	return error_input(err, "--timestamps: unknown source");
}

struct receiver *receiver_open(const struct receiver_options *options, struct error *err)
{
	struct receiver *receiver = calloc(1, sizeof(*receiver));
	struct error ignored = ERROR_INIT;

	if (!receiver) {
		error_errno(err, ENOMEM, "receiver");
		return NULL;
	}
	receiver->membership = -1;
	receiver->options = *options;
	receiver->ifindex = (int)if_nametoindex(options->ifname);
	if (!receiver->ifindex && errno != ENODEV) {
		error_errno(err, errno, "--iface %s: cannot ask for it", options->ifname);
		goto fail;
	}
	if (!receiver->ifindex) {
		error_input(err, "--iface %s: no such interface; `ip link` lists them",
			    options->ifname);
		goto fail;
	}
	if (open_way(receiver, err))
		goto fail;
	join(receiver);
	return receiver;
fail:
	receiver_close(receiver, &ignored);
	return NULL;
}

const struct receiver_setup *receiver_setup(const struct receiver *receiver)
{
	return &receiver->setup;
}

uint64_t receiver_capabilities(const struct receiver *receiver)
{
	uint64_t needed = receiver->way->capabilities(receiver->state);

	if (hwtstamp_will_restore(receiver->hwtstamp))
		needed |= 1ULL << CAP_NET_ADMIN;
	return needed;
}

int receiver_fd(const struct receiver *receiver)
{
	return receiver->way->fd(receiver->state);
}

int64_t receiver_drain(struct receiver *receiver, int64_t limit, receiver_handler *handler,
		       void *context, struct error *err)
{
	return receiver->way->drain(receiver->state, limit, handler, context, err);
}

void receiver_tick(struct receiver *receiver)
{
	receiver->way->tick(receiver->state);
}

void receiver_counters(const struct receiver *receiver, struct rx_counters *counters)
{
	receiver->way->counters(receiver->state, counters);
}

int receiver_busiest_cpu(struct receiver *receiver)
{
	return receiver->way->busiest_cpu ? receiver->way->busiest_cpu(receiver->state) : -1;
}

uint64_t receiver_socket_drops(const struct receiver *receiver)
{
	return receiver->way->drops(receiver->state);
}

void receiver_each_exact(const struct receiver *receiver,
			 void (*each)(void *context, const struct receiver_exact *exact),
			 void *context)
{
	if (receiver->way->each_exact)
		receiver->way->each_exact(receiver->state, each, context);
}

bool receiver_alive(const struct receiver *receiver)
{
	return receiver->way->alive(receiver->state);
}

int receiver_close(struct receiver *receiver, struct error *err)
{
	int ret;

	if (!receiver)
		return 0;
	if (receiver->state)
		receiver->way->close(receiver->state);
	if (receiver->membership >= 0)
		close(receiver->membership);
	ret = hwtstamp_restore(receiver->hwtstamp, err);
	free(receiver);
	return ret;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The receiver through an AF_PACKET socket: for NICs that give XDP no hardware stamps (ENETC, igb), and
 * where XDP is not to be had. recvmmsg() with SO_TIMESTAMPING; the kernel's stamp beside the hardware's.
 */
#include "engine/receiver_private.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/errqueue.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/net_tstamp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "bpf/receive_parse.h"
#include "bpf/receive_track.h"

#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23
#endif
#ifndef SO_PREFER_BUSY_POLL
#define SO_PREFER_BUSY_POLL 69
#endif

#define MESSAGES 64
#define SNAP 128 /* header, two tags and payload are 62 bytes */
#define BUFFER_BYTES (8 << 20) /* as the kernel counts: with its own overhead for each frame */

struct socket_receiver {
	int fd;
	int ifindex;
	struct receiver_options options;
	bool hardware;
	int64_t tai_offset_ns;
	struct rx_counters counters;
	uint64_t drops;
	struct mmsghdr messages[MESSAGES];
	struct iovec vectors[MESSAGES];
	uint8_t frames[MESSAGES][SNAP];
	_Alignas(8) uint8_t control[MESSAGES][256];
	struct rx_record batch[MESSAGES];
};

/* Frames of our EtherType, tagged ones, those with our magic behind another EtherType, and what begins as all-zero ones do. */
static int set_filter(int fd, uint16_t ethertype)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_PROTOCOL)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ethertype, 7, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_8021Q, 6, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_8021AD, 5, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, RX_ETHERNET_HEADER),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, WIRE_MAGIC, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3),
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, RX_ETHERNET_HEADER - 2),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SNAP),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

static int set_option(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value));
}

struct stamps {
	int64_t hw, sw; /* TAI ns, STAMP_NONE */
	bool tag; /* taken off by NIC or kernel */
	uint32_t size; /* of the frame as it came in; 0: not told */
};

static void read_control(const struct socket_receiver *sock, struct msghdr *msg,
			 struct stamps *stamps)
{
	struct cmsghdr *cmsg;

	*stamps = (struct stamps){ STAMP_NONE, STAMP_NONE, false, 0 };
	for (cmsg = CMSG_FIRSTHDR(msg); cmsg; cmsg = CMSG_NXTHDR(msg, cmsg)) {
		if (cmsg->cmsg_level == SOL_SOCKET && cmsg->cmsg_type == SO_TIMESTAMPING &&
		    cmsg->cmsg_len >= CMSG_LEN(sizeof(struct scm_timestamping))) {
			struct scm_timestamping stamping;

			memcpy(&stamping, CMSG_DATA(cmsg), sizeof(stamping));
			/* software stamps are CLOCK_REALTIME, the hardware's are the PHC's */
			if (stamping.ts[0].tv_sec)
				stamps->sw = timespec_to_ns(stamping.ts[0]) + sock->tai_offset_ns;
			if (stamping.ts[2].tv_sec || stamping.ts[2].tv_nsec)
				stamps->hw = timespec_to_ns(stamping.ts[2]);
		} else if (cmsg->cmsg_level == SOL_PACKET && cmsg->cmsg_type == PACKET_AUXDATA &&
			   cmsg->cmsg_len >= CMSG_LEN(sizeof(struct tpacket_auxdata))) {
			struct tpacket_auxdata aux;

			memcpy(&aux, CMSG_DATA(cmsg), sizeof(aux));
			stamps->tag = aux.tp_status & TP_STATUS_VLAN_VALID;
			stamps->size = aux.tp_len; /* before the filter cut it */
		}
	}
}

static bool wanted(struct socket_receiver *sock, const struct rx_event *event)
{
	const struct receiver_options *options = &sock->options;
	bool found = !options->stream_count;

	for (unsigned int i = 0; !found && i < options->stream_count; i++)
		found = options->streams[i] == event->stream;
	if (!found) {
		sock->counters.ignored_stream++;
		sock->counters.last_ignored_stream = event->stream;
		return false;
	}
	if (options->has_run && event->run != options->run) {
		sock->counters.ignored_run++;
		sock->counters.last_ignored_run = event->run;
		return false;
	}
	return true;
}

/* Returns true if a record was made of the message. */
static bool take(struct socket_receiver *sock, int index, int64_t rx_user, struct rx_record *record)
{
	struct mmsghdr *message = &sock->messages[index];
	uint8_t *frame = sock->frames[index];
	uint32_t size = message->msg_len;
	struct rx_event event = { 0 };
	struct rx_parsed parsed;
	enum rx_verdict verdict;
	struct stamps stamps;

	verdict = rx_parse(frame, frame + (size < SNAP ? size : SNAP), sock->options.ethertype,
			   &parsed);
	if (verdict != RX_OURS) {
		rx_count_other(&sock->counters, verdict, &parsed);
		return false;
	}
	read_control(sock, &message->msg_hdr, &stamps);
	if (stamps.size)
		size = stamps.size;
	if (stamps.tag) {
		parsed.tags++;
		size += RX_TAG_SIZE;
	}
	rx_fill_event(&event, &parsed, size);
	if (!wanted(sock, &event))
		return false;
	sock->counters.ours++;
	sock->counters.bytes += event.size;
	sock->counters.tagged += parsed.tags > 0;
	sock->counters.no_hw_stamp += stamps.hw == STAMP_NONE;
	*record = (struct rx_record){
		.seq = (int64_t)event.seq,
		.launch = (int64_t)event.launch,
		.rx_hw = stamps.hw,
		.rx_xdp = stamps.sw,
		.rx_user = rx_user,
		.peer_tx = (int64_t)event.peer_tx,
		.stream = event.stream,
		.flags = event.flags,
		.size = event.size,
		.run = event.run,
		.stamp_distance = event.stamp_distance,
	};
	return true;
}

static void prepare(struct socket_receiver *sock)
{
	for (int i = 0; i < MESSAGES; i++) {
		struct msghdr *header = &sock->messages[i].msg_hdr;

		sock->vectors[i] = (struct iovec){ sock->frames[i], SNAP };
		header->msg_iov = &sock->vectors[i];
		header->msg_iovlen = 1;
		header->msg_control = sock->control[i];
		header->msg_controllen = sizeof(sock->control[i]);
	}
}

static int64_t drain(void *way, int64_t limit, receiver_handler *handler, void *context,
		     struct error *err)
{
	struct socket_receiver *sock = way;
	int64_t handed = 0;

	while (handed < limit) {
		int64_t rx_user;
		size_t count = 0;
		int got;

		prepare(sock);
		/* MSG_TRUNC: msg_len is the frame's length, not what fitted */
		got = recvmmsg(sock->fd, sock->messages, MESSAGES, MSG_DONTWAIT | MSG_TRUNC, NULL);
		if (got < 0) {
			if (errno == EAGAIN || errno == EINTR)
				break;
			/* told once when the interface goes down; the link's state is watched elsewhere */
			if (errno == ENETDOWN || errno == ENXIO || errno == ENODEV)
				break;
			return error_errno(err, errno, "%s: cannot receive", sock->options.ifname);
		}
		rx_user = tai_now_ns();
		for (int i = 0; i < got; i++)
			if (take(sock, i, rx_user, &sock->batch[count]))
				count++;
		if (count)
			handler(context, sock->batch, count);
		handed += got;
		if (got < MESSAGES)
			break;
	}
	return handed;
}

static uint64_t capabilities(const void *way)
{
	(void)way;
	return 0;
}

static int socket_fd(const void *way)
{
	const struct socket_receiver *sock = way;

	return sock->fd;
}

static void tick(void *way)
{
	struct socket_receiver *sock = way;
	struct tpacket_stats stats;
	socklen_t size = sizeof(stats);

	sock->tai_offset_ns = tai_offset_seconds() * NSEC_PER_SEC;
	if (!getsockopt(sock->fd, SOL_PACKET, PACKET_STATISTICS, &stats, &size))
		sock->drops += stats.tp_drops; /* reading resets it */
}

static void counters(const void *way, struct rx_counters *sum)
{
	const struct socket_receiver *sock = way;

	*sum = sock->counters;
}

static uint64_t drops(const void *way)
{
	const struct socket_receiver *sock = way;

	return sock->drops;
}

static bool alive(const void *way)
{
	const struct socket_receiver *sock = way;
	char name[IFNAMSIZ];

	return if_indextoname((unsigned int)sock->ifindex, name) != NULL;
}

static void socket_close(void *way)
{
	struct socket_receiver *sock = way;

	if (sock->fd >= 0)
		close(sock->fd);
	free(sock);
}

static void set_buffer(struct socket_receiver *sock, struct receiver_setup *setup)
{
	int got = 0;
	socklen_t size = sizeof(got);

	/* the limit of net.core.rmem_max is passed with CAP_NET_ADMIN */
	if (set_option(sock->fd, SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES / 2))
		set_option(sock->fd, SOL_SOCKET, SO_RCVBUF, BUFFER_BYTES / 2);
	getsockopt(sock->fd, SOL_SOCKET, SO_RCVBUF, &got, &size);
	if (got < BUFFER_BYTES)
		receiver_note(
			setup,
			"the socket's buffer is %d KiB instead of %d KiB: bursts may be lost; "
			"`sysctl net.core.rmem_max=%d`",
			got / 1024, BUFFER_BYTES / 1024, BUFFER_BYTES / 2);
}

static void set_busy_poll(struct socket_receiver *sock, struct receiver_setup *setup)
{
	int64_t usecs = (sock->options.busy_poll_ns + NSEC_PER_USEC - 1) / NSEC_PER_USEC;
	int ret;

	if (!usecs)
		return;
	ret = set_option(sock->fd, SOL_SOCKET, SO_BUSY_POLL, (int)usecs);
	if (!ret)
		ret = set_option(sock->fd, SOL_SOCKET, SO_PREFER_BUSY_POLL, 1);
	if (ret)
		receiver_note(setup, "--busy-poll is not fully in force (SO_BUSY_POLL: %s)",
			      errno == EPERM ? "CAP_NET_ADMIN is missing" : strerror(errno));
}

void *socket_receiver_open(const struct receiver_options *options, int ifindex, bool hardware,
			   struct receiver_setup *setup, struct error *err)
{
	struct socket_receiver *sock = memory_touched(sizeof(*sock));
	struct sockaddr_ll address = { .sll_family = AF_PACKET,
				       .sll_protocol = htons(ETH_P_ALL),
				       .sll_ifindex = ifindex };
	int flags = SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE;
	int got = 0;
	socklen_t size = sizeof(got);

	if (!sock) {
		error_errno(err, ENOMEM, "receiver");
		return NULL;
	}
	sock->options = *options;
	sock->ifindex = ifindex;
	sock->hardware = hardware;
	if (hardware)
		flags |= SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE;
	/* protocol 0: nothing comes in before the filter is set */
	sock->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (sock->fd < 0 || set_filter(sock->fd, options->ethertype) ||
	    set_option(sock->fd, SOL_SOCKET, SO_TIMESTAMPING, flags) ||
	    set_option(sock->fd, SOL_PACKET, PACKET_AUXDATA, 1)) {
		error_errno(err, errno, "%s: cannot open a packet socket", options->ifname);
		goto fail;
	}
	if (getsockopt(sock->fd, SOL_SOCKET, SO_TIMESTAMPING, &got, &size) || got != flags) {
		error_system(err, "%s: the kernel does not stamp received frames as asked for",
			     options->ifname);
		goto fail;
	}
	set_option(sock->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1);
	set_buffer(sock, setup);
	set_busy_poll(sock, setup);
	tick(sock);
	if (bind(sock->fd, (struct sockaddr *)&address, sizeof(address))) {
		error_errno(err, errno, "%s: cannot bind a packet socket", options->ifname);
		goto fail;
	}
	setup->xdp = false;
	setup->software = SOURCE_SW;
	setup->source = hardware ? SOURCE_HW : SOURCE_SW;
	snprintf(setup->text, sizeof(setup->text), "packet socket, stamps: %s",
		 hardware ? "hw (the NIC's clock, taken as TAI)"
			  : "sw (the kernel's, on arrival in the stack)");
	return sock;
fail:
	socket_close(sock);
	return NULL;
}

const struct receiver_way socket_receiver_way = {
	.capabilities = capabilities,
	.fd = socket_fd,
	.drain = drain,
	.tick = tick,
	.counters = counters,
	.drops = drops,
	.alive = alive,
	.close = socket_close,
};

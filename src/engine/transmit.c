// SPDX-License-Identifier: GPL-2.0-only
#include "engine/transmit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/errqueue.h>
#include <linux/if_packet.h>
#include <linux/net_tstamp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/cyclic.h"
#include "data/record.h"
#include "engine/frame.h"
#include "host/capability.h"

#define HEAD_SIZE 128 /* of each frame; what is behind it is all zeros, and shared */
/* stamps of a stream that wait for a frame: those of one round of the error queue's reader */
#define STAMPS_ROOM 1024
#define STAMPS_ROOM_MANY 64
#define MANY_STREAMS 64
#define SEND_BUFFER (4 << 20)
#define ERROR_QUEUE_BUFFER (8 << 20)

/* One frame of a cycle: what differs between frames. */
struct transmit_head {
	uint8_t bytes[HEAD_SIZE];
	uint8_t *payload;
	struct iovec iov[2];
	unsigned iovs;
	/* launch time, if any, then the wish for stamps */
	_Alignas(8) uint8_t control[CMSG_SPACE(sizeof(uint64_t)) + CMSG_SPACE(sizeof(uint32_t))];
	uint8_t *launch; /* in `control` */
};

struct transmit_socket {
	int fd;
	int priority;
	unsigned room, count;
	struct mmsghdr *messages;
	struct cycle_frame **frames; /* of each message */
};

static const uint8_t zeros[FRAME_SIZE_MAX];

static uint32_t record_flags(unsigned stamps)
{
	return (stamps & STAMP_SCHED ? SOF_TIMESTAMPING_TX_SCHED : 0) |
	       (stamps & STAMP_SW ? SOF_TIMESTAMPING_TX_SOFTWARE : 0) |
	       (stamps & STAMP_HW ? SOF_TIMESTAMPING_TX_HARDWARE : 0);
}

static int set_stamps(const struct transmit_settings *settings, int fd, struct error *err)
{
	uint32_t flags = SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_RAW_HARDWARE;
	uint32_t effective = 0;
	socklen_t size = sizeof(effective);

	if (!settings->stamps)
		return 0;
	/* by default a hardware stamp replaces the software one */
	if ((settings->stamps & (STAMP_SW | STAMP_HW)) == (STAMP_SW | STAMP_HW))
		flags |= SOF_TIMESTAMPING_OPT_TX_SWHW;
	if (settings->stamp_every == 1)
		flags |= record_flags(settings->stamps);
	if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof(flags)) < 0)
		return error_errno(err, errno,
				   "%s: the kernel refuses TX timestamps (SO_TIMESTAMPING)",
				   settings->ifname);
	if (getsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &effective, &size) < 0 ||
	    effective != flags)
		return error_system(err, "%s: TX timestamps were set to 0x%x, but 0x%x is in force",
				    settings->ifname, flags, effective);
	return 0;
}

static int set_launch_time(const struct transmit_settings *settings, int fd, struct error *err)
{
	struct sock_txtime txtime = {
		.clockid = CLOCK_TAI,
		.flags = SOF_TXTIME_REPORT_ERRORS |
			 (settings->deadline_mode ? SOF_TXTIME_DEADLINE_MODE : 0),
	};
	struct sock_txtime effective = { 0 };
	socklen_t size = sizeof(effective);

	if (!settings->launch_time)
		return 0;
	if (setsockopt(fd, SOL_SOCKET, SO_TXTIME, &txtime, sizeof(txtime)) < 0) {
		int reason = errno;

		error_errno(err, reason, "%s: the kernel refuses launch times (SO_TXTIME)",
			    settings->ifname);
		return reason == EPERM ? error_fix(err, "CAP_NET_ADMIN is missing: run as root, or "
							"give it to the program (setcap)")
				       : -1;
	}
	if (getsockopt(fd, SOL_SOCKET, SO_TXTIME, &effective, &size) < 0 ||
	    effective.clockid != txtime.clockid || effective.flags != txtime.flags)
		return error_system(err, "%s: SO_TXTIME was set, but is not in force as set",
				    settings->ifname);
	return 0;
}

static int bind_to(int fd, int ifindex)
{
	struct sockaddr_ll address = { .sll_family = AF_PACKET, .sll_ifindex = ifindex };

	return bind(fd, (struct sockaddr *)&address, sizeof(address));
}

/* As large as allowed: with CAP_NET_ADMIN beyond the system's limit. */
static void set_buffer(int fd, int force, int option, int size)
{
	if (setsockopt(fd, SOL_SOCKET, force, &size, sizeof(size)) < 0)
		setsockopt(fd, SOL_SOCKET, option, &size, sizeof(size));
}

static int open_socket(const struct transmit_settings *settings, int priority, struct error *err)
{
	int effective = -1;
	socklen_t size = sizeof(effective);
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0) {
		int reason = errno;

		error_errno(err, reason, "cannot open a raw socket");
		return reason == EPERM ? error_fix(err, "CAP_NET_RAW is missing: run as root, or "
							"`setcap cap_net_raw,cap_net_admin,"
							"cap_sys_nice,cap_ipc_lock+ep` the program")
				       : -1;
	}
	if (setsockopt(fd, SOL_SOCKET, SO_PRIORITY, &priority, sizeof(priority)) < 0) {
		int reason = errno;

		error_errno(err, reason, "%s: priority %d", settings->ifname, priority);
		if (reason == EPERM)
			error_fix(
				err,
				"above 6 it needs CAP_NET_ADMIN: run as root, or use --priority 6");
		goto failed;
	}
	if (getsockopt(fd, SOL_SOCKET, SO_PRIORITY, &effective, &size) < 0 ||
	    effective != priority) {
		error_system(err, "%s: priority %d was set, but %d is in force", settings->ifname,
			     priority, effective);
		goto failed;
	}
	set_buffer(fd, SO_SNDBUFFORCE, SO_SNDBUF, SEND_BUFFER);
	set_buffer(fd, SO_RCVBUFFORCE, SO_RCVBUF, ERROR_QUEUE_BUFFER);
	if (set_launch_time(settings, fd, err) < 0 || set_stamps(settings, fd, err) < 0)
		goto failed;
	if (bind_to(fd, settings->ifindex) < 0) {
		error_errno(err, errno, "%s: cannot bind a raw socket to it", settings->ifname);
		goto failed;
	}
	return fd;
failed:
	close(fd);
	return -1;
}

static void prepare_head(const struct transmit_settings *settings, const struct stream *stream,
			 struct transmit_head *head)
{
	struct stream cut = *stream;
	struct msghdr message = { .msg_control = head->control,
				  .msg_controllen = sizeof(head->control) };
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&message);
	uint32_t flags = record_flags(settings->stamps);

	if (cut.size > HEAD_SIZE)
		cut.size = HEAD_SIZE;
	head->payload = head->bytes + frame_build(head->bytes, &cut, settings->source,
						  settings->ethertype, settings->run);
	head->iov[0] = (struct iovec){ head->bytes, cut.size };
	head->iov[1] = (struct iovec){ (void *)(uintptr_t)zeros, stream->size - cut.size };
	head->iovs = stream->size > cut.size ? 2 : 1;
	if (settings->launch_time) {
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_TXTIME;
		cmsg->cmsg_len = CMSG_LEN(sizeof(uint64_t));
		head->launch = CMSG_DATA(cmsg);
		cmsg = CMSG_NXTHDR(&message, cmsg);
	}
	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SO_TIMESTAMPING;
	cmsg->cmsg_len = CMSG_LEN(sizeof(flags));
	memcpy(CMSG_DATA(cmsg), &flags, sizeof(flags));
}

static int prepare_heads(struct transmit *transmit)
{
	const struct transmit_settings *settings = &transmit->settings;
	uint32_t total = 0;

	transmit->first_head = calloc(settings->count, sizeof(*transmit->first_head));
	transmit->stamps = calloc(settings->count, sizeof(*transmit->stamps));
	if (!transmit->first_head || !transmit->stamps)
		return -ENOMEM;
	for (unsigned i = 0; settings->stamps && i < settings->count; i++)
		if (spsc_init(&transmit->stamps[i],
			      settings->count > MANY_STREAMS ? STAMPS_ROOM_MANY : STAMPS_ROOM,
			      sizeof(struct transmit_stamp)) < 0)
			return -ENOMEM;
	for (unsigned i = 0; i < settings->count; i++) {
		transmit->first_head[i] = total;
		total += settings->streams[i].frames;
	}
	transmit->heads = calloc(total, sizeof(*transmit->heads));
	if (!transmit->heads)
		return -ENOMEM;
	for (unsigned i = 0; i < settings->count; i++)
		for (uint32_t f = 0; f < settings->streams[i].frames; f++)
			prepare_head(settings, &settings->streams[i],
				     &transmit->heads[transmit->first_head[i] + f]);
	return 0;
}

static struct transmit_socket *prepare_socket(const struct transmit_settings *settings,
					      int priority, struct error *err)
{
	struct transmit_socket *socket = calloc(1, sizeof(*socket));

	if (!socket)
		goto no_memory;
	socket->priority = priority;
	socket->fd = -1;
	for (unsigned i = 0; i < settings->count; i++)
		if (settings->streams[i].priority == priority)
			socket->room += settings->streams[i].frames;
	socket->messages = calloc(socket->room, sizeof(*socket->messages));
	socket->frames = calloc(socket->room, sizeof(*socket->frames));
	if (!socket->messages || !socket->frames)
		goto no_memory;
	socket->fd = open_socket(settings, priority, err);
	if (socket->fd < 0)
		goto failed;
	return socket;
no_memory:
	error_errno(err, ENOMEM, "cannot prepare the frames");
failed:
	if (socket) {
		free(socket->messages);
		free(socket->frames);
	}
	free(socket);
	return NULL;
}

struct transmit *transmit_open(const struct transmit_settings *settings, struct error *err)
{
	struct transmit *transmit = calloc(1, sizeof(*transmit));
	bool used[8] = { false };

	if (!transmit) {
		error_errno(err, ENOMEM, "cannot prepare the frames");
		return NULL;
	}
	transmit->settings = *settings;
	if (prepare_heads(transmit) < 0) {
		error_errno(err, ENOMEM, "cannot prepare the frames");
		goto failed;
	}
	for (unsigned i = 0; i < settings->count; i++)
		used[settings->streams[i].priority & 7] = true;
	/* highest first: in this order they are handed over */
	for (int priority = 7; priority >= 0; priority--) {
		struct transmit_socket *socket;

		if (!used[priority])
			continue;
		socket = prepare_socket(settings, priority, err);
		if (!socket)
			goto failed;
		transmit->socket_of[priority] = (uint8_t)transmit->sockets;
		transmit->socket[transmit->sockets++] = socket;
	}
	return transmit;
failed:
	transmit_close(transmit);
	return NULL;
}

void transmit_close(struct transmit *transmit)
{
	if (!transmit)
		return;
	for (unsigned i = 0; i < transmit->sockets; i++) {
		close(transmit->socket[i]->fd);
		free(transmit->socket[i]->messages);
		free(transmit->socket[i]->frames);
		free(transmit->socket[i]);
	}
	for (unsigned i = 0; transmit->stamps && i < transmit->settings.count; i++)
		spsc_free(&transmit->stamps[i]);
	free(transmit->first_head);
	free(transmit->heads);
	free(transmit->stamps);
	free(transmit);
}

int transmit_rebind(struct transmit *transmit, int ifindex, struct error *err)
{
	for (unsigned i = 0; i < transmit->sockets; i++)
		if (bind_to(transmit->socket[i]->fd, ifindex) < 0)
			return error_errno(err, errno, "%s: cannot bind to it again",
					   transmit->settings.ifname);
	transmit->settings.ifindex = ifindex;
	return 0;
}

unsigned transmit_descriptors(const struct transmit *transmit, int fds[TRANSMIT_SOCKETS])
{
	for (unsigned i = 0; i < transmit->sockets; i++)
		fds[i] = transmit->socket[i]->fd;
	return transmit->sockets;
}

/* Writes the changing fields and puts the frame into its socket's batch. */
CYCLIC static void enlist(struct transmit *transmit, struct cycle_frame *frame)
{
	const struct transmit_settings *settings = &transmit->settings;
	const struct stream *stream = &settings->streams[frame->stream];
	struct transmit_socket *socket = transmit->socket[transmit->socket_of[stream->priority]];
	struct transmit_head *head = &transmit->heads[transmit->first_head[frame->stream] +
						      (uint32_t)(frame->seq % stream->frames)];
	struct msghdr *message = &socket->messages[socket->count].msg_hdr;
	struct frame_fields fields = { .seq = frame->seq,
				       .launch = frame->launch,
				       .last = frame->last };
	size_t control = 0;
	struct transmit_stamp stamp;

	if (settings->stamps && spsc_pop(&transmit->stamps[frame->stream], &stamp) &&
	    stamp.seq < frame->seq && frame->seq - stamp.seq <= UINT16_MAX) {
		fields.stamp = stamp.stamp;
		fields.stamp_hw = stamp.hw;
		fields.stamp_distance = (uint16_t)(frame->seq - stamp.seq);
	}
	frame_write(head->payload, &fields);
	frame->stamped = settings->stamps && frame->seq % settings->stamp_every == 0;
	if (settings->launch_time) {
		memcpy(head->launch, &frame->launch, sizeof(uint64_t));
		control = CMSG_SPACE(sizeof(uint64_t));
	}
	if (frame->stamped && settings->stamp_every > 1)
		control += CMSG_SPACE(sizeof(uint32_t));
	*message = (struct msghdr){
		.msg_iov = head->iov,
		.msg_iovlen = head->iovs,
		.msg_control = control ? head->control : NULL,
		.msg_controllen = control,
	};
	socket->frames[socket->count++] = frame;
}

static uint16_t status_of(int reason)
{
	return reason == ENETDOWN || reason == ENXIO || reason == ENODEV ? TX_LINK_DOWN
									 : TX_REFUSED;
}

/* Returns how many were taken; one frame with nothing beside it costs the kernel less than a list of one. */
CYCLIC static int hand_over(const struct transmit_socket *socket, unsigned from)
{
	struct mmsghdr *first = &socket->messages[from];
	unsigned count = socket->count - from;

	if (count == 1 && first->msg_hdr.msg_iovlen == 1 && !first->msg_hdr.msg_control)
		return send(socket->fd, first->msg_hdr.msg_iov->iov_base,
			    first->msg_hdr.msg_iov->iov_len, MSG_DONTWAIT) < 0
			       ? -1
			       : 1;
	return sendmmsg(socket->fd, first, count, MSG_DONTWAIT);
}

CYCLIC static void flush(struct transmit *transmit, struct transmit_socket *socket)
{
	unsigned done = 0;

	while (done < socket->count) {
		int sent = hand_over(socket, done);

		if (sent > 0) {
			for (int i = 0; i < sent; i++)
				socket->frames[done + (unsigned)i]->status = TX_SENT;
			done += (unsigned)sent;
			continue;
		}
		if (sent < 0 && errno == EINTR)
			continue;
		/* the first one was refused; the next may be taken, unless there is no device */
		int reason = errno;
		uint16_t status = status_of(reason);

		if (status == TX_REFUSED)
			transmit->last_refusal = reason;
		do {
			socket->frames[done++]->status = status;
		} while (done < socket->count && status == TX_LINK_DOWN);
	}
	socket->count = 0;
}

CYCLIC void transmit_send(void *context, struct cycle_frame *frames, unsigned count)
{
	struct transmit *transmit = context;

	for (unsigned i = 0; i < count; i++)
		enlist(transmit, &frames[i]);
	for (unsigned i = 0; i < transmit->sockets; i++)
		if (transmit->socket[i]->count)
			flush(transmit, transmit->socket[i]);
}

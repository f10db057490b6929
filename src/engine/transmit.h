/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Handing frames to the kernel: AF_PACKET sockets, SO_TXTIME (Documentation/networking/etf and
 * socket(7)), one sendmmsg for each priority of a group.
 *
 * SO_PRIORITY, which selects the traffic class, is a socket's property (a control message for it exists only
 * from Linux 6.14 on), so there is one socket for each priority in use. They are bound with protocol 0 and
 * therefore receive nothing.
 *
 * Everything is prepared: for each frame of a cycle a head that holds all headers and the payload, its
 * iovec and its control messages. Sending writes the changing fields and makes the system call.
 */
#ifndef ENGINE_TRANSMIT_H
#define ENGINE_TRANSMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/spsc.h"
#include "base/stream.h"
#include "engine/cycle.h"

/* Which TX stamps are asked for. */
#define STAMP_SCHED 1U /* SOF_TIMESTAMPING_TX_SCHED: enters the qdisc layer */
#define STAMP_SW 2U /* SOF_TIMESTAMPING_TX_SOFTWARE: handed over by the driver */
#define STAMP_HW 4U /* SOF_TIMESTAMPING_TX_HARDWARE: leaves the NIC */

#define TRANSMIT_SOCKETS 8

struct transmit_settings {
	const char *ifname;
	int ifindex;
	uint8_t source[6];
	uint16_t ethertype;
	uint32_t run;
	const struct stream *streams; /* borrowed, as long as the transmitter lives */
	unsigned count;
	bool launch_time; /* SO_TXTIME on CLOCK_TAI, reporting errors */
	bool deadline_mode; /* SOF_TXTIME_DEADLINE_MODE: as etf is set */
	unsigned stamps; /* STAMP_... bits */
	uint32_t stamp_every; /* ask for stamps of one in n frames of a stream */
};

/* A TX stamp on its way back into the frames, for the receiver's path delay. */
struct transmit_stamp {
	uint64_t seq;
	int64_t stamp; /* TAI ns */
	bool hw;
};

struct transmit_head;
struct transmit_socket;

struct transmit {
	struct transmit_settings settings;
	unsigned sockets;
	struct transmit_socket *socket[TRANSMIT_SOCKETS];
	uint8_t socket_of[8]; /* by priority */
	uint32_t *first_head; /* of each stream */
	struct transmit_head *heads;
	size_t heads_size;
	/*
	 * Of each stream: struct transmit_stamp, from the reader of the error queue. Each frame takes one
	 * along, so that all of them travel although they come back in batches.
	 */
	struct spsc *stamps;
	int last_refusal; /* errno of the last frame that the kernel refused; 0: none */
};

/*
 * Opens the sockets and prepares the frames. Needs CAP_NET_RAW, for SO_TXTIME and priority 7 CAP_NET_ADMIN.
 * NULL with the error filled in; it names the capability.
 */
struct transmit *transmit_open(const struct transmit_settings *settings, struct error *err);
void transmit_close(struct transmit *transmit); /* NULL is allowed */

/* Binds the sockets anew, to an interface that came back under another number. */
int transmit_rebind(struct transmit *transmit, int ifindex, struct error *err);

/* The descriptors whose error queues hold stamps and misses. Returns how many. */
unsigned transmit_descriptors(const struct transmit *transmit, int fds[TRANSMIT_SOCKETS]);

/* A cycle_send: for the cyclic thread alone. `context` is the transmitter. */
void transmit_send(void *context, struct cycle_frame *frames, unsigned count);

#endif

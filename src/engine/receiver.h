/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Receives frames of ours from one interface and hands them over as records: in XDP, or through an
 * AF_PACKET socket where the hardware's stamps are not to be had in XDP. Bounded whatever arrives;
 * everything that is not handed over is counted.
 *
 * One thread uses a receiver. What it set on the system (XDP program, timestamping, multicast
 * membership) goes with receiver_close(), and but for the timestamping also with the process.
 */
#ifndef ENGINE_RECEIVER_H
#define ENGINE_RECEIVER_H

#include <linux/bpf.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bpf/receive.h"
#include "data/histogram.h"
#include "data/record.h"
#include "data/source.h"
#include "engine/xdp_attach.h"

enum receiver_stamps {
	RECEIVER_AUTO, /* the first that works: HW, HW_SOCKET, XDP, SW */
	RECEIVER_HW, /* the NIC's stamps in XDP, else an error */
	RECEIVER_XDP, /* the kernel's clock in XDP */
	RECEIVER_HW_SOCKET, /* the NIC's stamps through a socket; without them SW, and said */
	RECEIVER_SW, /* the kernel's stamps through a socket */
};

#define RECEIVER_DESTS_MAX 64
#define RECEIVER_RING_DEFAULT (16 << 20)
#define RECEIVER_RING_MAX (1 << 30)

struct receiver_options {
	char ifname[IFNAMSIZ];
	enum receiver_stamps stamps;
	enum xdp_mode xdp_mode;
	uint16_t ethertype;
	bool pass; /* frames go on to the network stack as well */
	bool promiscuous;
	uint16_t streams[RX_STREAM_FILTERS];
	unsigned int stream_count; /* 0: all */
	bool has_run;
	uint32_t run;
	uint8_t dests[RECEIVER_DESTS_MAX][6]; /* joined beside the streams' default addresses */
	unsigned int dest_count;
	size_t ring_bytes; /* a power of two, at least a page */
	int64_t busy_poll_ns; /* spin (XDP) or poll the NIC (socket) for so long before sleeping */
};

/* What is in force. */
struct receiver_setup {
	enum stamp_source source; /* that the statistics are based on */
	enum stamp_source software; /* what rx_record.rx_xdp holds: SOURCE_XDP or SOURCE_SW */
	bool xdp; /* else a socket */
	bool native; /* XDP mode */
	bool stamping_changed; /* hardware timestamping was switched on and will be put back */
	uint32_t program_id;
	char text[160]; /* "XDP native (program 12), stamps: xdp (bpf_ktime_get_tai_ns)" */
	/* what could not be had and why, one line each */
	unsigned int note_count;
	char notes[6][320];
};

struct receiver;

/* Returns NULL with the error filled in; then nothing on the system has changed. */
struct receiver *receiver_open(const struct receiver_options *options, struct error *err);

const struct receiver_setup *receiver_setup(const struct receiver *receiver);

/* Capabilities that are still needed after receiver_open(), as for capability_keep_only(). */
uint64_t receiver_capabilities(const struct receiver *receiver);

/* Readable when there is something to drain. */
int receiver_fd(const struct receiver *receiver);

typedef void receiver_handler(void *context, const struct rx_record *records, size_t count);

/*
 * Hands over what has arrived, in batches, at most about `limit` records. Does not wait. Returns how
 * many, or -1 with the error filled in (the socket reported one: interface down or gone).
 */
int64_t receiver_drain(struct receiver *receiver, int64_t limit, receiver_handler *handler,
		       void *context, struct error *err);

/* Once a second: follows changes of the TAI offset, and makes room in the table of streams. */
void receiver_tick(struct receiver *receiver);

/* The sum over all CPUs. */
void receiver_counters(const struct receiver *receiver, struct rx_counters *counters);

/* The CPU that took most frames since the call before; -1: none came, or it is not known (socket). */
int receiver_busiest_cpu(struct receiver *receiver);

/* Frames that never reached the program: the socket's buffer was full (0 in XDP). */
uint64_t receiver_socket_drops(const struct receiver *receiver);

/* One stream in one run, as counted beside the ring: exact though records were lost. */
struct receiver_exact {
	uint32_t run;
	uint16_t stream;
	uint64_t frames, bytes, records_lost;
	uint64_t first; /* the lowest number believed in, since the latest restart */
	uint64_t unique, lost, duplicate, reordered, stray, restarts, gaps, gap_max, reorder_max;
	bool last; /* its last frame came */
	struct histogram latency; /* stamps of setup->source; of neither duplicates nor strays */
};

/* Calls `each` for all streams in no order. XDP only; with a socket every frame has its record. */
void receiver_each_exact(const struct receiver *receiver,
			 void (*each)(void *context, const struct receiver_exact *exact),
			 void *context);

/* True while the XDP program is attached or the socket is bound. */
bool receiver_alive(const struct receiver *receiver);

/* Puts back what was changed; NULL is allowed. Returns 0, or -1 with the error filled in. */
int receiver_close(struct receiver *receiver, struct error *err);

#endif

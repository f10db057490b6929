/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What became of the frames that were not received: counters in words, each with what to do about it.
 * Gathering the facts asks the system; the explaining is pure.
 */
#ifndef ENGINE_RX_EXPLAIN_H
#define ENGINE_RX_EXPLAIN_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "bpf/receive.h"
#include "engine/receiver.h"

struct rx_facts {
	const struct receiver_options *options;
	const struct receiver_setup *setup;
	struct rx_counters counters;
	uint64_t socket_drops;
	uint64_t other_frames; /* of user space's table: too many runs */
	/* the interface */
	char ifname[IFNAMSIZ]; /* as it is called now */
	bool gone, up, running;
	bool nic_counts; /* the following two are known */
	uint64_t nic_frames, nic_missed; /* received and dropped by the NIC meanwhile */
	uint32_t
		foreign_program; /* number of somebody else's XDP program, which comes before a socket; 0: none */
	bool vlan_filter; /* rx-vlan-filter is on */
	bool vlan_strip; /* rx-vlan-hw-parse is on */
};

/* Frames and drops that the interface has counted so far. False: not known. */
bool rx_nic_counts(int ifindex, uint64_t *frames, uint64_t *missed);

/* Fills in what is to be known of the interface; `frames` and `missed` were read at the start. */
void rx_facts_gather(struct rx_facts *facts, int ifindex, uint64_t frames, uint64_t missed);

/* Lines for each kind of frame that was not taken; nothing where all were. Indented by two. */
void rx_explain_drops(FILE *out, const struct rx_facts *facts);

/* Why not a single frame of ours arrived: at least one line. */
void rx_explain_nothing(FILE *out, const struct rx_facts *facts);

#endif

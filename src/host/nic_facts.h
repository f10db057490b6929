/* SPDX-License-Identifier: GPL-2.0-only */
/* What the doctor needs to know of one network device, gathered in one go. */
#ifndef HOST_NIC_FACTS_H
#define HOST_NIC_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "host/ethtool.h"

/* The features that delay or bundle frames, by the kernel's names. */
enum nic_feature {
	NIC_GSO,
	NIC_TSO,
	NIC_TSO6,
	NIC_GRO,
	NIC_GRO_HW,
	NIC_LRO,
	NIC_FEATURES
};

const char *nic_feature_name(enum nic_feature feature);

/* Bits of the kernel's netdev family (xdp-act, xdp-rx-metadata). */
#define NIC_XDP_BASIC 1
#define NIC_XDP_REDIRECT 2
#define NIC_XDP_NDO_XMIT 4
#define NIC_XDP_ZEROCOPY 8
#define NIC_XDP_RX_TIMESTAMP 1
#define NIC_XDP_RX_HASH 2

struct nic_setting {
	bool known;
	uint32_t value, max;
};

struct nic_facts {
	char name[16]; /* "": none */
	struct nic_setting settings[ETHTOOL_SETTINGS];
	struct {
		bool known, on, fixed;
	} features[NIC_FEATURES];
	bool link_known;
	struct ethtool_link link;
	struct ethtool_stamping stamping;
	struct ethtool_driver driver; /* name "" where it names none */
	bool xdp_known;
	uint64_t xdp_features, xdp_metadata;
	bool qdiscs_known;
	uint16_t
		etf_priorities; /* bit p: etf drops frames of priority p that have no launch time */
	bool mqprio_launch; /* mqprio in hardware, and below it etf that leaves launch times to the NIC */
	/* from the table of NIC abilities, where the command has one */
	const char *part; /* "Intel I226-V"; NULL: not in the table */
	char launch_time; /* 'y', 'n' or '?' : can it do LaunchTime (etf offload)? */
	char taprio; /* the same for taprio offload */
	const char
		*mqprio_launch_note; /* what is wrong where mqprio_launch is set; NULL: nothing */
	const char *ability_note; /* a line on its limits, or NULL */
};

/* Reads all of it through netlink. 0, or -1 where there is no such device. */
int nic_facts_gather(const char *name, struct nic_facts *facts, struct error *err);

#endif

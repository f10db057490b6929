/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frame preemption of a port (MAC merge sublayer, IEEE 802.3 clause 99) over ethtool's netlink, from Linux 6.3 on. Reading
 * needs no privilege, setting CAP_NET_ADMIN.
 */
#ifndef HOST_MAC_MERGE_H
#define HOST_MAC_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define MAC_MERGE_ABSENT 1

/* The kernel's numbers. */
enum mac_merge_verify {
	MAC_MERGE_VERIFY_UNKNOWN,
	MAC_MERGE_VERIFY_INITIAL,
	MAC_MERGE_VERIFY_VERIFYING,
	MAC_MERGE_VERIFY_SUCCEEDED,
	MAC_MERGE_VERIFY_FAILED,
	MAC_MERGE_VERIFY_DISABLED,
};

struct mac_merge {
	bool pmac_enabled; /* preemptible frames are received */
	bool tx_enabled; /* and may be sent, once verified */
	bool tx_active; /* are sent preemptibly now */
	bool verify_enabled; /* the peer is asked first */
	enum mac_merge_verify verify;
	uint32_t tx_min_fragment; /* bytes */
	uint32_t rx_min_fragment;
	uint32_t verify_time_ms;
};

/*
 * The body of the request, behind the netlink header: a question where `wanted` is NULL. mac_merge_parse() reads the answer to
 * it: 0, or -EBADMSG. Pure.
 */
struct nlmsghdr;
void mac_merge_put(struct nlmsghdr *nlh, const char *ifname, const struct mac_merge *wanted);
int mac_merge_parse(const struct nlmsghdr *answer, struct mac_merge *state);

/* 0, MAC_MERGE_ABSENT where the port or the kernel has none, or -1 with the error. */
int mac_merge_get(const char *ifname, struct mac_merge *state, struct error *err);

/* Sets pmac_enabled, tx_enabled and verify_enabled, reads back and compares. As above. */
int mac_merge_set(const char *ifname, const struct mac_merge *wanted, struct error *err);

/* "succeeded", "failed" ... */
const char *mac_merge_verify_name(enum mac_merge_verify verify);

#endif

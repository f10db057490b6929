/* SPDX-License-Identifier: GPL-2.0-only */
/* A network interface as the kernel sees it, and word when that changes. Over rtnetlink. */
#ifndef HOST_LINK_H
#define HOST_LINK_H

#include <libmnl/libmnl.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "host/netlink.h"

#define LINK_NAME 16 /* IFNAMSIZ; its headers of libc and of the kernel exclude each other */

struct link_info {
	int index;
	char name[LINK_NAME];
	char kind[16]; /* "veth", "vlan", "dsa" ...; "" for a plain port */
	uint16_t type; /* ARPHRD_ETHER ... */
	uint8_t mac[6];
	uint32_t mtu;
	bool up; /* switched on by the administrator */
	bool running; /* up, and the link is there (carrier, and RFC 2863 operational state, which follows it within a second) */
	uint32_t
		carrier_changes; /* how often the carrier came or went since the interface was made */
	uint32_t
		carrier_losses; /* the part of them that went; 0: the kernel does not tell (before 4.16) */
	uint32_t tx_queues;
	uint32_t tx_queue_length;
	uint32_t promiscuity; /* how many ask for promiscuous mode */
	uint32_t xdp_program; /* id of the attached program, 0: none */
};

/*
 * Pure: could an interface have this name, and a terminal show it? The kernel lets through control characters that are
 * no blanks; they would steer the terminal, and are refused.
 */
bool link_name_is_good(const char *name);

/* The error that there is no such interface, in the words that all commands have for it. Returns -1. */
int link_not_there(const char *name, struct error *err);

/*
 * Reads the interface. An unknown name, or one that is no name, is the user's error (status 2). Needs no
 * privileges. Returns 0 or -1.
 */
int link_get(struct netlink *nl, const char *name, struct link_info *link, struct error *err);

/*
 * Is the interface of that index there, switched on, and its carrier as well, at this moment? Needs no privileges; may wait
 * while another changes interfaces.
 */
bool link_runs(int index);

/*
 * Pure: how often the carrier was lost between two looks at one interface, beyond what their states tell. The kernel tells of
 * changes at most once a second, so that a link which is soon back was never down as far as its messages go; its counter knows.
 * While an interface is switched off, a driver may count what it likes.
 */
uint32_t link_unseen_losses(const struct link_info *before, const struct link_info *now);

/* Pure: an RTM_NEWLINK or RTM_DELLINK message. Returns 0, or -EBADMSG. */
int link_parse(const struct nlmsghdr *message, struct link_info *link);

enum link_change {
	LINK_NO_CHANGE,
	LINK_UP, /* running; `link` is its state (its index may be another one than before) */
	LINK_DOWN, /* switched off, or no carrier */
	LINK_GONE, /* removed, or moved to another network namespace */
};

struct link_monitor;

/*
 * Follows the interface of that name, from its state `now` on. Poll link_monitor_fd() for input, then ask
 * link_monitor_next() until it says LINK_NO_CHANGE; `link` is filled in but for LINK_GONE. Returns NULL
 * with the error filled in. A flood of messages that overruns the socket is answered by reading afresh.
 */
struct link_monitor *link_monitor_open(const struct link_info *now, struct error *err);
int link_monitor_fd(const struct link_monitor *monitor);
enum link_change link_monitor_next(struct link_monitor *monitor, struct link_info *link);
/*
 * Losses of the carrier that link_monitor_next() said nothing of, since this was asked before: the link was back when the
 * kernel told of it.
 */
uint32_t link_monitor_unseen(struct link_monitor *monitor);
/* True once after a qdisc of the interface was installed, changed or removed since this was asked before. */
bool link_monitor_requeued(struct link_monitor *monitor);
/* The next link_monitor_next() reads the interface itself: the kernel may hold its news back for a second. */
void link_monitor_look(struct link_monitor *monitor);
void link_monitor_close(struct link_monitor *monitor); /* NULL is allowed */

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests to the kernel over netlink, through libmnl, with the kernel's extended acknowledgement kept
 * word for word.
 *
 *	struct nlmsghdr *nlh = netlink_request(nl, RTM_GETQDISC, NLM_F_DUMP);
 *	struct tcmsg *tcm = mnl_nlmsg_put_extra_header(nlh, sizeof(*tcm));
 *	...
 *	int result = netlink_talk(nl, nlh, each_qdisc, &list);
 *	if (result < 0)
 *		return netlink_error(err, nl, result, "%s: cannot list the qdiscs", name);
 *
 * One thread at a time may use a socket. Needs no privileges by itself.
 */
#ifndef HOST_NETLINK_H
#define HOST_NETLINK_H

#include <libmnl/libmnl.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct netlink;

/* Largest request in bytes: a taprio schedule of 1,000s of entries fits. */
#define NETLINK_REQUEST_MAX (512 * 1024)
#define NETLINK_REQUEST_SMALL 4096

/* `bus`: NETLINK_ROUTE or NETLINK_GENERIC. NULL with the error filled in. */
struct netlink *netlink_open(int bus, struct error *err);

/* NULL is allowed. */
void netlink_close(struct netlink *nl);

/* For a socket that stays open in locked memory: no request over NETLINK_REQUEST_SMALL bytes from now on. */
void netlink_trim(struct netlink *nl);

/*
 * Starts a request in the socket's own buffer (one at a time; NETLINK_REQUEST_MAX bytes, the caller keeps
 * within them, mnl_attr_put_*_check helps). NLM_F_REQUEST is added, and NLM_F_ACK unless it is a dump.
 */
struct nlmsghdr *netlink_request(struct netlink *nl, uint16_t type, uint16_t flags);

/* Size to give to mnl_attr_put_*_check(). */
#define NETLINK_ROOM NETLINK_REQUEST_MAX

/*
 * Sends the request and handles the answers until the acknowledgement or the end of the dump. `each` is
 * called for each answer, and may be NULL; a negative return of it ends the work with that value (answers
 * still to come are read and thrown away).
 *
 * Returns 0, or -errno as the kernel answered; -EINTR where a dump was changed in its middle (ask again),
 * -ETIMEDOUT where the kernel did not answer within 5 s. netlink_extack() then has the kernel's words.
 */
int netlink_talk(struct netlink *nl, struct nlmsghdr *request,
		 int (*each)(const struct nlmsghdr *answer, void *context), void *context);

/* The kernel's message to the last request, word for word; "" if it gave none. Also warnings to success. */
const char *netlink_extack(const struct netlink *nl);

/* Fills the error in: "MESSAGE: REASON (ERRNO); the kernel says: EXTACK". `result` is netlink_talk()'s. */
int netlink_error(struct error *err, const struct netlink *nl, int result, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The number of a generic netlink family, or a negative errno (-ENOENT: this kernel has none). */
int netlink_family(struct netlink *nl, const char *name);

/*
 * Attributes of an answer into a table: table[type] for type <= max, later ones win, others are passed
 * over. `data` and `size` bound the run; malformed lengths end it. Returns 0, or -EBADMSG if bytes were left
 * over that are no attribute. Pure.
 */
int netlink_attributes(const void *data, size_t size, const struct nlattr **table, uint16_t max);

/* The payload if the attribute is there and at least `size` bytes long, else NULL. Pure. */
const void *netlink_payload(const struct nlattr *attr, size_t size);

/* Copies a string attribute, bounded and always terminated; "" if it is missing. Pure. */
void netlink_string(const struct nlattr *attr, char *text, size_t size);

#endif

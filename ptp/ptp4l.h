/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A client of ptp4l's UNIX socket. It never waits longer than its timeout, whatever the other side does,
 * and tells apart why there is no answer.
 *
 * The client's own socket lies in a directory of its own that is removed on close (after a SIGKILL by the next
 * sync_source_open()), and is connected: the kernel lets nobody but that ptp4l send to it.
 */
#ifndef PTP_PTP4L_H
#define PTP_PTP4L_H

#include <stdbool.h>
#include <stdint.h>

#include "ptp/management.h"

#define PTP4L_SOCKET_SIZE 108 /* sun_path */
#define PTP4L_SCRATCH "tsnpub-ptp" /* the directories of our own sockets: see base/scratch.h */
#define PTP4L_PORTS_MAX 32 /* of one ptp4l; more are not looked at */
#define PTP4L_TIMEOUT_NS 500000000LL

/* In rising order of how much they say: of several sockets the best finding is reported. */
enum ptp4l_fault {
	PTP4L_FINE = 0,
	PTP4L_ABSENT, /* no such path */
	PTP4L_NOT_SOCKET, /* the path is something else, or a socket of another type */
	PTP4L_STALE, /* a socket that nobody has open */
	PTP4L_FORBIDDEN, /* no permission */
	PTP4L_NO_PATH, /* our own socket could not be made */
	PTP4L_SILENT, /* takes messages, answers none: wrong domain or transportSpecific, or hangs */
	PTP4L_STRANGE, /* answers, but to no question of ours (sequence, identity, data set) */
	PTP4L_GARBAGE, /* answers what is no management message */
	PTP4L_GONE, /* was there, and went away */
	PTP4L_REFUSED, /* an error status */
};

struct ptp4l_config {
	const char *socket; /* NULL: the usual paths are tried */
	int domain; /* -1: all are tried, 0 first */
	int transport_specific; /* -1: 0 and 1 are tried */
	int64_t timeout_ns; /* for one question; 0: PTP4L_TIMEOUT_NS */
};

struct ptp4l_status {
	enum ptp4l_fault fault;
	char socket[PTP4L_SOCKET_SIZE]; /* the one that answered, or the one the fault is about */
	char detail[160]; /* why, one line, printable; empty when fine */
	bool read_only; /* ptp4lro: no interface names, no subscription */
	uint8_t domain, transport_specific;
	uint8_t minor_version; /* PTP 2.x */
};

struct ptp4l;

/*
 * Finds a ptp4l that answers. Returns NULL with the fault in `status`. Takes at most three timeouts a
 * socket. ptp4l_close() frees it; NULL is allowed.
 */
struct ptp4l *ptp4l_open(const struct ptp4l_config *config, struct ptp4l_status *status);
void ptp4l_close(struct ptp4l *client);

/*
 * Called for messages that ptp4l sends unasked (see ptp4l_subscribe), also while an answer is awaited.
 * `tlv` is valid during the call.
 */
typedef void (*ptp4l_notified)(void *context, const struct mgmt_tlv *tlv);

/*
 * GET `id`: fills `tlv` with up to `max` answers (one of the clock, or one of each port: `ports` says how
 * many to wait for; fewer are taken when the time is up). Returns how many, or -(enum ptp4l_fault) with
 * status->detail filled in. PTP4L_REFUSED: the error status is in tlv[0].
 */
int ptp4l_get(struct ptp4l *client, uint16_t id, struct mgmt_tlv *tlv, int max, int ports,
	      struct ptp4l_status *status);

/*
 * Asks for MGMT_EVENT_* for `duration_s` seconds (to be renewed); 0 events ends it. Returns 0 or
 * -(enum ptp4l_fault).
 */
int ptp4l_subscribe(struct ptp4l *client, unsigned int events, uint16_t duration_s,
		    struct ptp4l_status *status);
void ptp4l_on_notify(struct ptp4l *client, ptp4l_notified notified, void *context);

/* For poll(); then ptp4l_receive() takes what is there without waiting. */
int ptp4l_fd(const struct ptp4l *client);
void ptp4l_receive(struct ptp4l *client);

/* "absent", "silent" ... for JSON. */
const char *ptp4l_fault_name(enum ptp4l_fault fault);

#endif

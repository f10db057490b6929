/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What was installed on an interface before it was changed, kept as the kernel told it, so that it can be put back
 * exactly. Ingress and clsact qdiscs are not touched by schedules and are not kept.
 */
#ifndef TC_SNAPSHOT_H
#define TC_SNAPSHOT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "host/netlink.h"

#define SNAPSHOT_MESSAGES_MAX 256
#define SNAPSHOT_BYTES_MAX (1 << 20)

struct snapshot_message {
	size_t size;
	uint8_t *bytes; /* an RTM_NEWQDISC message */
};

struct snapshot {
	bool was_up; /* the interface, by its administrator */
	unsigned count;
	struct snapshot_message list[SNAPSHOT_MESSAGES_MAX];
};

/* Reads what is there. snapshot_free() frees it, also after an error. Returns 0 or -1. */
int snapshot_take(struct netlink *nl, int ifindex, const char *name, struct snapshot *snapshot,
		  struct error *err);
void snapshot_free(struct snapshot *snapshot);

/*
 * Removes the root qdisc and puts back what the snapshot has, then reads again and compares. `settle` is called after each
 * change that may reset the adapter, and waits for its link: without it the kernel takes gates for too short, and the
 * frames that fit them for smaller ones. Returns 0, or -1 with the error, which says what is not as it was. The interface's
 * state (up, down) is the caller's.
 */
int snapshot_restore(struct netlink *nl, int ifindex, const char *name,
		     const struct snapshot *snapshot, void (*settle)(void *context), void *context,
		     struct error *err);

/*
 * Can it be put back? Qdiscs with classes or filters of their own cannot. Returns NULL if so, else the kind of the
 * first one that cannot. Pure.
 */
const char *snapshot_obstacle(const struct snapshot *snapshot);

/* The first difference in words, or NULL when both are the same but for counters. Pure; `buffer` holds the text. */
const char *snapshot_difference(const struct snapshot *a, const struct snapshot *b,
				char buffer[160]);

/* "mq (the default)", "taprio 100: with etf on 1 queue" ... Returns buffer. Pure. */
char *snapshot_text(const struct snapshot *snapshot, char buffer[160]);

/* For the state file. From JSON: 0, or -1 when it is no snapshot. */
json_t *snapshot_to_json(const struct snapshot *snapshot);
int snapshot_from_json(const json_t *json, struct snapshot *snapshot);

/* Removes the root qdisc, if one was put there by hand; the kernel then puts its default there. 0 or -errno. */
int qdisc_delete_root(struct netlink *nl, int ifindex);

#endif

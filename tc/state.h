/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The record of what was done to an interface, under /run/tsnpub: written before each step, so that an apply that was
 * cut off can be taken back, and a lock beside it, so that two do not run at once. One record for each interface and
 * network namespace; a reboot clears them, as it clears qdiscs.
 */
#ifndef TC_STATE_H
#define TC_STATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "host/process.h"
#include "tc/snapshot.h"

#define STATE_DIRECTORY "/run/tsnpub"

enum state_step {
	STATE_APPLYING, /* changes are being made; when its process is dead it was cut off */
	STATE_APPLIED,
	STATE_UNCONFIRMED, /* applied, and taken back unless confirmed */
	STATE_BROKEN, /* a rollback failed: neither the new nor the old is there */
};

struct state {
	char interface[16];
	int ifindex;
	enum state_step step;
	char detail[64]; /* what was being done: "taprio", "etf on queue 0" */
	struct process process; /* that applied */
	struct process guard; /* that takes it back unless confirmed */
	int64_t deadline_ns; /* CLOCK_BOOTTIME, of the confirmation */
	char file[256]; /* the YAML file, as it was named; read back, without control characters */
	int64_t base_ns;
	int64_t carrier_changes; /* of the interface when it was applied; -1: not known */
	json_t *deployment; /* deployment_json() of what was applied; owned; may be NULL */
	json_t *preemption; /* MAC merge settings before, or NULL; owned */
	struct snapshot before; /* this apply */
	struct snapshot original; /* the first apply, of those that followed one another */
	json_t *previous; /* the record before this apply, or NULL; owned */
};

/* Frees what it owns; the struct may be zeroed or filled. */
void state_free(struct state *state);

/* Replaces the record atomically. Returns 0 or -1. */
int state_write(const struct state *state, struct error *err);

/*
 * Reads the record of the interface. 0: there is one; 1: there is none (or it is of an interface that was removed since);
 * -1 with the error: unreadable.
 */
int state_read(const char *interface, struct state *state, struct error *err);

/* As state_read(), but the record may be of an interface of that name that was removed: see state->ifindex. */
int state_read_former(const char *interface, struct state *state, struct error *err);

/* Puts the record before this apply back, or removes the record when there was none. Returns 0 or -1. */
int state_revert(const struct state *state, struct error *err);
int state_remove(const char *interface, struct error *err);

/* Names of the interfaces of this network namespace that have a record; at most `room`. Returns their number. */
unsigned state_list(char names[][16], unsigned room);

/* A publisher has deployed it, for as long as it runs. */
bool state_is_held(const struct state *state);

/*
 * Gates in the kernel (mode software) are stopped by it, for good, when the link goes down, which no dump tells. True when
 * the link's carrier has changed since the schedule was applied. `changes`: its count now.
 */
bool state_link_changed(const struct state *state, uint32_t changes);

/* To and from JSON; the parse is strict and pure. state_parse: 0 or -1. */
json_t *state_to_json(const struct state *state);
int state_parse(const json_t *json, struct state *state);

/*
 * Takes the lock of the interface; -1 with an error that names the process that has it. The lock goes with the process;
 * children should close the descriptor. Returns the descriptor.
 */
int state_lock(const char *interface, struct error *err);

#endif

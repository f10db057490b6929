/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One setting of the machine that can be read, written and put back: a file of /proc or /sys, a setting or
 * a feature of a network device, a service. Whatever the doctor can fix is a list of these, and undoing is
 * the same with the former values.
 */
#ifndef HOST_CHANGE_H
#define HOST_CHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum change_kind {
	CHANGE_FILE, /* target: path below the root; value: its text */
	CHANGE_ETHTOOL, /* target: interface; key: ethtool_setting_name() */
	CHANGE_FEATURE, /* target: interface; key: the kernel's name of it; value: "on" or "off" */
	CHANGE_SERVICE, /* target: its process and unit; value: "running" or "stopped" */
};

#define CHANGE_TEXT 256
#define CHANGE_ABSENT 1

struct change {
	enum change_kind kind;
	bool optional; /* the kernel may refuse it (an interrupt it manages itself): no failure */
	char target[CHANGE_TEXT];
	char key[64];
	char value[CHANGE_TEXT];
};

struct changer {
	const char *root; /* in front of paths; "" for this machine */
	struct ethtool *ethtool; /* opened when first needed; changer_close() */
};

void changer_close(struct changer *changer);

/* The value now. 0, CHANGE_ABSENT where this machine has no such setting, or -1. */
int change_read(struct changer *changer, const struct change *change, char value[CHANGE_TEXT],
		struct error *err);

/* Writes `value`, reads it back and compares. 0, CHANGE_ABSENT or -1. */
int change_write(struct changer *changer, const struct change *change, const char *value,
		 struct error *err);

/* Are both texts the same value ("0-1" and "0,1"; "03" and "00000003")? Pure. */
bool change_same(const struct change *change, const char *a, const char *b);

/* The command that makes the change by hand. Returns `buffer`. Pure. */
char *change_command(const struct change *change, char *buffer, size_t size);

/* "file", "ethtool" ...; and back, -1 for another word. */
const char *change_kind_name(enum change_kind kind);
int change_kind_find(const char *name);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* A virtual cable between two network namespaces that vanish with the processes that use them. */
#ifndef HOST_VETH_H
#define HOST_VETH_H

#include "base/error.h"

/*
 * Makes a network namespace without a name: it lives as long as the descriptor or a process in it, so nothing
 * is left behind, whatever ends the program. The caller stays in its own. Needs CAP_SYS_ADMIN.
 * Returns the descriptor (close-on-exec, the caller's to close), or -1 with the error filled in.
 */
int netns_create(struct error *err);

/* Moves the calling thread into the namespace. Returns 0, or -1 with the error filled in. */
int netns_enter(int netns, struct error *err);

/*
 * Creates a veth pair, `name` in namespace `netns` and `peer` in `peer_netns`, both up. Needs CAP_NET_ADMIN.
 * Returns 0, or -1 with the error filled in.
 */
int veth_create(const char *name, int netns, const char *peer, int peer_netns, struct error *err);

#endif

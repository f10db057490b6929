/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Attaching an XDP program through a BPF link, which the kernel takes off by itself when this process
 * ends, however it ends. A program that is there already is never replaced.
 */
#ifndef ENGINE_XDP_ATTACH_H
#define ENGINE_XDP_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum xdp_mode {
	XDP_MODE_AUTO, /* native where the driver has it, else generic */
	XDP_MODE_NATIVE, /* in the driver, before the kernel makes an skb */
	XDP_MODE_GENERIC, /* in the stack, behind it: any driver, later stamps, more CPU time */
};

struct xdp_attachment {
	int link_fd; /* closing it detaches */
	bool native;
	uint32_t program_id;
	char refusal[160]; /* generic under XDP_MODE_AUTO: why native was refused */
};

/*
 * Fails if the interface has an XDP program already: the error names its number, its name and what to
 * do. Returns 0, or -1 with the error filled in.
 */
int xdp_check_free(int ifindex, const char *ifname, struct error *err);

/* The number of the interface's XDP program, whosever it is; 0: none, or it cannot be asked. */
uint32_t xdp_program_on(int ifindex);

/* Attaches and reads back. Needs CAP_NET_ADMIN. Returns 0, or -1 with the error filled in. */
int xdp_attach(int ifindex, const char *ifname, int program_fd, enum xdp_mode mode,
	       struct xdp_attachment *attachment, struct error *err);

/* True while the interface still has our program: it ends with the interface, or by force. */
bool xdp_is_attached(int ifindex, const struct xdp_attachment *attachment);

/* Harmless on one that was never attached (link_fd < 0). */
void xdp_detach(struct xdp_attachment *attachment);

#endif

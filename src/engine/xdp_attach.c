// SPDX-License-Identifier: GPL-2.0-only
#include "engine/xdp_attach.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The program on the interface: its number (0: none), where it is and, if it may be asked for, its name. */
static int query(int ifindex, uint32_t *id, const char **place)
{
	struct bpf_xdp_query_opts opts = { .sz = sizeof(opts) };
	int ret = bpf_xdp_query(ifindex, 0, &opts);

	if (ret)
		return ret;
	*place = "native";
	*id = opts.drv_prog_id;
	if (!*id && opts.skb_prog_id) {
		*id = opts.skb_prog_id;
		*place = "generic";
	}
	if (!*id && opts.hw_prog_id) {
		*id = opts.hw_prog_id;
		*place = "offloaded";
	}
	if (!*id)
		*id = opts.prog_id;
	return 0;
}

static void program_name(uint32_t id, char name[BPF_OBJ_NAME_LEN])
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(id);

	strcpy(name, "?");
	if (fd < 0)
		return;
	if (!bpf_obj_get_info_by_fd(fd, &info, &size) && info.name[0])
		snprintf(name, BPF_OBJ_NAME_LEN, "%s", info.name);
	close(fd);
}

uint32_t xdp_program_on(int ifindex)
{
	const char *place;
	uint32_t id;

	return query(ifindex, &id, &place) ? 0 : id;
}

int xdp_check_free(int ifindex, const char *ifname, struct error *err)
{
	char name[BPF_OBJ_NAME_LEN];
	const char *place;
	uint32_t id = 0;
	int ret = query(ifindex, &id, &place);

	if (ret)
		return error_errno(err, -ret, "%s: cannot ask which XDP program is attached",
				   ifname);
	if (!id)
		return 0;
	program_name(id, name);
	if (!strcmp(name, "receive_xdp"))
		return error_system(
			err,
			"%s: another receiver is running there (XDP program %u '%s', "
			"%s): end it; or start it with --pass, and use --timestamps sw here",
			ifname, id, name, place);
	return error_system(err,
			    "%s: XDP program %u '%s' (%s) is attached already and is not replaced: "
			    "detach it (`ip link set dev %s xdp off`, or end its owner), or use "
			    "--timestamps sw, which sees what that program passes",
			    ifname, id, name, place, ifname);
}

static int attach_link(int ifindex, int program_fd, uint32_t flags)
{
	struct bpf_link_create_opts opts = { .sz = sizeof(opts), .flags = flags };
	int fd = bpf_link_create(program_fd, ifindex, BPF_XDP, &opts);

	return fd < 0 ? -errno : fd;
}

static uint32_t id_of(int program_fd)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);

	return bpf_obj_get_info_by_fd(program_fd, &info, &size) ? 0 : info.id;
}

/* Where the reason is not what its errno says. A veth's own words (extack) do not come through the bpf() call. */
static const char *refusal_hint(int error)
{
	return error == -ENOSPC ? ": fewer RX queues than the other end of the veth pair has TX "
				  "queues; make it with as many (numrxqueues), or ethtool -L"
				: "";
}

int xdp_attach(int ifindex, const char *ifname, int program_fd, enum xdp_mode mode,
	       struct xdp_attachment *attachment, struct error *err)
{
	int fd = -EOPNOTSUPP;

	memset(attachment, 0, sizeof(*attachment));
	attachment->link_fd = -1;
	if (xdp_check_free(ifindex, ifname, err))
		return -1;
	if (mode != XDP_MODE_GENERIC) {
		fd = attach_link(ifindex, program_fd, XDP_FLAGS_DRV_MODE);
		if (fd < 0)
			snprintf(attachment->refusal, sizeof(attachment->refusal), "%s (%s)%s",
				 strerror(-fd), strerrorname_np(-fd) ?: "?", refusal_hint(fd));
		attachment->native = fd >= 0;
	}
	if (fd < 0 && mode != XDP_MODE_NATIVE && fd != -EPERM && fd != -EBUSY)
		fd = attach_link(ifindex, program_fd, XDP_FLAGS_SKB_MODE);
	if (fd == -EPERM)
		return error_errno(err, EPERM, "%s: XDP cannot be attached without CAP_NET_ADMIN",
				   ifname);
	/* someone was faster; EEXIST: in the other mode */
	if ((fd == -EBUSY || fd == -EEXIST) && xdp_check_free(ifindex, ifname, err))
		return -1;
	if (fd == -EBUSY)
		return error_errno(err, EBUSY,
				   "%s: XDP cannot be attached: where the driver takes a TX queue "
				   "for each CPU "
				   "(fsl_enetc), the classes that are installed leave too few; "
				   "start the receiver "
				   "before the schedule, or use --xdp generic",
				   ifname);
	if (fd == -ERANGE || fd == -E2BIG)
		return error_errno(err, -fd, "%s: XDP refused at this MTU; lower it", ifname);
	if (fd < 0)
		return error_errno(err, -fd, "%s: XDP cannot be attached%s%s", ifname,
				   mode == XDP_MODE_NATIVE ? " in native mode (--xdp generic works "
							     "with any driver)"
							   : "",
				   refusal_hint(fd));
	attachment->link_fd = fd;
	attachment->program_id = id_of(program_fd);
	if (!xdp_is_attached(ifindex, attachment)) {
		xdp_detach(attachment);
		return error_system(err, "%s: the kernel took the XDP program and does not show it",
				    ifname);
	}
	return 0;
}

bool xdp_is_attached(int ifindex, const struct xdp_attachment *attachment)
{
	const char *place;
	uint32_t id;

	return !query(ifindex, &id, &place) && id == attachment->program_id;
}

void xdp_detach(struct xdp_attachment *attachment)
{
	if (attachment->link_fd >= 0)
		close(attachment->link_fd);
	attachment->link_fd = -1;
}

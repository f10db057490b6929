// SPDX-License-Identifier: GPL-2.0-only
/*
 * LD_PRELOAD for tc, ip and ethtool: writes each errno that the kernel answers a netlink request or an ioctl with on
 * stderr, as the line "answer EBUSY", since these programs tell it in words of their own, or not at all where the kernel
 * has words for it. What strace would show, for a fifth of its virtual time.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "tests/preload.h"

static void tell(int error)
{
	dprintf(STDERR_FILENO, "answer %s\n", strerrorname_np(error));
}

ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	ssize_t got = syscall(SYS_recvmsg, fd, msg, flags);
	const struct sockaddr_nl *from = msg->msg_name;
	const struct nlmsghdr *h;
	int left = (int)got;

	if (got <= 0 || flags & MSG_PEEK || msg->msg_iovlen != 1 ||
	    (size_t)got > msg->msg_iov->iov_len || !from || from->nl_family != AF_NETLINK)
		return got;
	for (h = msg->msg_iov->iov_base; left > 0 && NLMSG_OK(h, (uint32_t)left);
	     h = NLMSG_NEXT(h, left)) {
		const struct nlmsgerr *answer = NLMSG_DATA(h);

		if (h->nlmsg_type == NLMSG_ERROR && h->nlmsg_len >= NLMSG_LENGTH(sizeof(*answer)) &&
		    answer->error)
			tell(-answer->error);
	}
	return got;
}

static int answered(unsigned long request, void *arg, int result)
{
	(void)request;
	(void)arg;
	if (result < 0) {
		int error = errno;

		tell(error);
		errno = error;
	}
	return result;
}

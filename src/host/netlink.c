// SPDX-License-Identifier: GPL-2.0-only
#include "host/netlink.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#define ANSWER_TIMEOUT_S 5
#define ANSWER_MAX (64 * 1024) /* the kernel never puts more into one datagram of a dump */

struct netlink {
	struct mnl_socket *socket;
	uint32_t seq;
	char extack[256];
	char *request;
	char *answer;
};

struct netlink *netlink_open(int bus, struct error *err)
{
	struct netlink *nl = calloc(1, sizeof(*nl));
	const struct timeval timeout = { .tv_sec = ANSWER_TIMEOUT_S };
	int on = 1;

	if (!nl)
		goto no_memory;
	nl->request = malloc(NETLINK_REQUEST_MAX);
	nl->answer = malloc(ANSWER_MAX);
	if (!nl->request || !nl->answer)
		goto no_memory;
	nl->socket = mnl_socket_open2(bus, SOCK_CLOEXEC);
	if (!nl->socket || mnl_socket_bind(nl->socket, 0, MNL_SOCKET_AUTOPID) < 0) {
		error_errno(err, errno, "netlink socket");
		goto fail;
	}
	/* without these an old kernel answers with less, which is no error */
	mnl_socket_setsockopt(nl->socket, NETLINK_EXT_ACK, &on, sizeof(on));
	mnl_socket_setsockopt(nl->socket, NETLINK_CAP_ACK, &on, sizeof(on));
	setsockopt(mnl_socket_get_fd(nl->socket), SOL_SOCKET, SO_RCVTIMEO, &timeout,
		   sizeof(timeout));
	return nl;

no_memory:
	error_errno(err, ENOMEM, "netlink socket");
fail:
	netlink_close(nl);
	return NULL;
}

void netlink_close(struct netlink *nl)
{
	if (!nl)
		return;
	if (nl->socket)
		mnl_socket_close(nl->socket);
	free(nl->request);
	free(nl->answer);
	free(nl);
}

void netlink_trim(struct netlink *nl)
{
	char *request = realloc(nl->request, NETLINK_REQUEST_SMALL);

	if (request)
		nl->request = request;
}

struct nlmsghdr *netlink_request(struct netlink *nl, uint16_t type, uint16_t flags)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(nl->request);
	bool dump = (flags & NLM_F_DUMP) == NLM_F_DUMP;

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags | (dump ? 0 : NLM_F_ACK);
	nlh->nlmsg_seq = ++nl->seq;
	return nlh;
}

int netlink_attributes(const void *data, size_t size, const struct nlattr **table, uint16_t max)
{
	const char *at = data;

	memset(table, 0, (max + 1u) * sizeof(*table));
	while (size >= sizeof(struct nlattr)) {
		const struct nlattr *attr = (const struct nlattr *)at;
		size_t length = attr->nla_len, step = MNL_ALIGN(length);

		if (length < sizeof(*attr) || length > size)
			return -EBADMSG;
		if (mnl_attr_get_type(attr) <= max)
			table[mnl_attr_get_type(attr)] = attr;
		if (step >= size)
			return 0;
		at += step;
		size -= step;
	}
	return size ? -EBADMSG : 0;
}

const void *netlink_payload(const struct nlattr *attr, size_t size)
{
	if (!attr || mnl_attr_get_payload_len(attr) < size)
		return NULL;
	return mnl_attr_get_payload(attr);
}

void netlink_string(const struct nlattr *attr, char *text, size_t size)
{
	size_t length = attr ? mnl_attr_get_payload_len(attr) : 0;

	if (length >= size)
		length = size - 1;
	if (length)
		memcpy(text, mnl_attr_get_payload(attr), length);
	text[length] = '\0';
}

/* The TLVs behind an acknowledgement: after the error number and the request (or its header alone). */
static void keep_extack(struct netlink *nl, const struct nlmsghdr *nlh, size_t fixed)
{
	const struct nlattr *table[NLMSGERR_ATTR_MAX + 1];

	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS) || nlh->nlmsg_len < NLMSG_HDRLEN + fixed)
		return;
	netlink_attributes((const char *)nlh + NLMSG_HDRLEN + fixed,
			   nlh->nlmsg_len - NLMSG_HDRLEN - fixed, table, NLMSGERR_ATTR_MAX);
	netlink_string(table[NLMSGERR_ATTR_MSG], nl->extack, sizeof(nl->extack));
}

/* 1: go on reading; 0: done; negative: -errno. */
static int one_answer(struct netlink *nl, const struct nlmsghdr *nlh,
		      int (*each)(const struct nlmsghdr *, void *), void *context, int *aborted,
		      bool *interrupted)
{
	if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
		*interrupted = true;
	if (nlh->nlmsg_type == NLMSG_ERROR) {
		const struct nlmsgerr *answer = mnl_nlmsg_get_payload(nlh);
		size_t fixed = sizeof(*answer);

		if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*answer))
			return -EBADMSG;
		if (!(nlh->nlmsg_flags & NLM_F_CAPPED) && answer->error)
			fixed += MNL_ALIGN(answer->msg.nlmsg_len) - NLMSG_HDRLEN;
		keep_extack(nl, nlh, fixed);
		return answer->error > 0 ? -EBADMSG : answer->error;
	}
	if (nlh->nlmsg_type == NLMSG_DONE) {
		int result = 0;

		if (mnl_nlmsg_get_payload_len(nlh) >= sizeof(result))
			memcpy(&result, mnl_nlmsg_get_payload(nlh), sizeof(result));
		keep_extack(nl, nlh, sizeof(result));
		return result < 0 ? result : 0;
	}
	if (nlh->nlmsg_type >= NLMSG_MIN_TYPE && each && !*aborted) {
		int result = each(nlh, context);

		if (result < 0)
			*aborted = result;
	}
	return 1;
}

int netlink_talk(struct netlink *nl, struct nlmsghdr *request,
		 int (*each)(const struct nlmsghdr *, void *), void *context)
{
	uint32_t seq = request->nlmsg_seq, port = mnl_socket_get_portid(nl->socket);
	bool interrupted = false;
	int aborted = 0;

	nl->extack[0] = '\0';
	if (mnl_socket_sendto(nl->socket, request, request->nlmsg_len) < 0)
		return -errno;
	for (;;) {
		ssize_t size = mnl_socket_recvfrom(nl->socket, nl->answer, ANSWER_MAX);
		const struct nlmsghdr *nlh = (const struct nlmsghdr *)nl->answer;
		int left = (int)size;

		if (size < 0 && errno == EINTR)
			continue;
		if (size < 0)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		for (; mnl_nlmsg_ok(nlh, left); nlh = mnl_nlmsg_next(nlh, &left)) {
			int result;

			/* an answer that came too late for an earlier request */
			if (nlh->nlmsg_seq != seq || nlh->nlmsg_pid != port)
				continue;
			result = one_answer(nl, nlh, each, context, &aborted, &interrupted);
			if (result < 0)
				return result;
			if (result == 0)
				return aborted ? aborted : interrupted ? -EINTR : 0;
		}
	}
}

const char *netlink_extack(const struct netlink *nl)
{
	return nl->extack;
}

int netlink_error(struct error *err, const struct netlink *nl, int result, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	error_errno(err, -result, "%s", text);
	if (nl->extack[0]) {
		size_t used = strlen(err->text);

		snprintf(err->text + used, sizeof(err->text) - used, "; the kernel says: %s",
			 nl->extack);
	}
	return -1;
}

static int take_family(const struct nlmsghdr *answer, void *context)
{
	const struct nlattr *table[CTRL_ATTR_MAX + 1];
	const uint16_t *id;

	if (mnl_nlmsg_get_payload_len(answer) < GENL_HDRLEN)
		return -EBADMSG;
	netlink_attributes(mnl_nlmsg_get_payload_offset(answer, GENL_HDRLEN),
			   mnl_nlmsg_get_payload_len(answer) - GENL_HDRLEN, table, CTRL_ATTR_MAX);
	id = netlink_payload(table[CTRL_ATTR_FAMILY_ID], sizeof(*id));
	if (!id)
		return -EBADMSG;
	*(int *)context = *id;
	return 0;
}

int netlink_family(struct netlink *nl, const char *name)
{
	struct nlmsghdr *nlh = netlink_request(nl, GENL_ID_CTRL, 0);
	struct genlmsghdr *genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	int id = -ENOENT, result;

	genl->cmd = CTRL_CMD_GETFAMILY;
	genl->version = 1;
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, name);
	result = netlink_talk(nl, nlh, take_family, &id);
	return result < 0 ? result : id;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The receiver's peer in the bench: what a careful program does without XDP. A packet socket bound to
 * the EtherType, recvmmsg() in batches, the kernel's software stamp from the control message and one
 * reading of the clock a batch, nothing else but counting. Until SIGINT or SIGTERM.
 *
 *	recvmmsg IFACE [BATCH]
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/errqueue.h>
#include <linux/if_packet.h>
#include <linux/net_tstamp.h>
#include <linux/types.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "bpf/wire.h"

#define BATCH_MAX 256
#define SNAP 128

static volatile sig_atomic_t ended;

static void end(int signal_number)
{
	ended = signal_number;
}

static int64_t stamp_of(struct msghdr *msg)
{
	for (struct cmsghdr *cmsg = CMSG_FIRSTHDR(msg); cmsg; cmsg = CMSG_NXTHDR(msg, cmsg))
		if (cmsg->cmsg_level == SOL_SOCKET && cmsg->cmsg_type == SO_TIMESTAMPING) {
			struct scm_timestamping stamping;

			memcpy(&stamping, CMSG_DATA(cmsg), sizeof(stamping));
			return timespec_to_ns(stamping.ts[0]);
		}
	return 0;
}

static int open_socket(const char *ifname)
{
	struct sockaddr_ll address = { .sll_family = AF_PACKET,
				       .sll_protocol = htons(WIRE_ETHERTYPE),
				       .sll_ifindex = (int)if_nametoindex(ifname) };
	int flags = SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE, buffer = 64 << 20;
	int fd = socket(AF_PACKET, SOCK_RAW, 0);

	if (fd < 0 || !address.sll_ifindex ||
	    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof(flags)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof(buffer)) ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address))) {
		perror("recvmmsg");
		exit(3);
	}
	return fd;
}

int main(int argc, char **argv)
{
	static struct mmsghdr messages[BATCH_MAX];
	static struct iovec vectors[BATCH_MAX];
	static uint8_t frames[BATCH_MAX][SNAP], control[BATCH_MAX][64];
	const struct sigaction action = { .sa_handler = end };
	unsigned long long received = 0, stamped = 0, calls = 0;
	int64_t latency_min = INT64_MAX, latency_max = INT64_MIN, latency_sum = 0;
	unsigned int batch = argc > 2 ? (unsigned int)atoi(argv[2]) : 64;
	struct tpacket_stats drops = { 0, 0 };
	socklen_t size = sizeof(drops);
	int fd;

	if (argc < 2 || !batch || batch > BATCH_MAX) {
		fprintf(stderr, "usage: recvmmsg IFACE [BATCH, 1 to %d]\n", BATCH_MAX);
		return 2;
	}
	fd = open_socket(argv[1]);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	while (!ended) {
		int got;

		for (unsigned int i = 0; i < batch; i++) {
			vectors[i] = (struct iovec){ frames[i], SNAP };
			messages[i].msg_hdr.msg_iov = &vectors[i];
			messages[i].msg_hdr.msg_iovlen = 1;
			messages[i].msg_hdr.msg_control = control[i];
			messages[i].msg_hdr.msg_controllen = sizeof(control[i]);
		}
		got = recvmmsg(fd, messages, batch, MSG_WAITFORONE, NULL);
		if (got < 0)
			continue;
		calls++;
		for (int i = 0; i < got; i++) {
			const struct wire_payload *payload = (void *)(frames[i] + 14);
			int64_t stamp = stamp_of(&messages[i].msg_hdr), latency;

			if (payload->magic != htonl(WIRE_MAGIC))
				continue;
			latency = stamp - (int64_t)be64toh(payload->launch);
			latency_min = latency < latency_min ? latency : latency_min;
			latency_max = latency > latency_max ? latency : latency_max;
			latency_sum += latency;
			received++;
			stamped += stamp != 0;
		}
		latency_sum += tai_now_ns() ==
			       0; /* the user's stamp, once a batch as in the receiver */
	}
	getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &drops, &size);
	printf("received %llu, stamped %llu, dropped %u, calls %llu, latency ns min %lld mean %lld "
	       "max %lld\n",
	       received, stamped, drops.tp_drops, calls, (long long)latency_min,
	       (long long)(received ? latency_sum / (int64_t)received : 0), (long long)latency_max);
	return 0;
}

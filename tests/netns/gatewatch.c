// SPDX-License-Identifier: GPL-2.0-only
/*
 * gatewatch TX_IFACE RX_IFACE CYCLE_NS COUNT SPACING_NS PRIORITY[+START_NS]...: sends COUNT frames of each priority, one every SPACING
 * after the other, out of one interface and looks when they arrive on the other: by hardware RX stamps where the interface
 * has them, else by the kernel's. Prints for each priority
 *
 *	PRIORITY sent N received N first NS last NS source hw|sw
 *
 * first and last: smallest and largest stamp modulo the cycle, plus 1 ns: the clocks of sender and receiver may be one apart
 * when they begin together. From START (0) on: with 500000, a frame 2 us after the end of a cycle of 1 ms is at 1002000, and not
 * at 2000, which is before all others. A test's own; knows nothing of schedules.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/errqueue.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define ETHERTYPE 0x88b6
#define PRIORITY_MAX 16

struct seen {
	unsigned sent, received;
	int64_t start, first, last;
	bool hw;
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int open_socket(const char *iface, int protocol)
{
	struct sockaddr_ll address = { .sll_family = AF_PACKET,
				       .sll_protocol = htons((uint16_t)protocol),
				       .sll_ifindex = (int)if_nametoindex(iface) };
	int fd = socket(AF_PACKET, SOCK_RAW, protocol ? htons((uint16_t)protocol) : 0);

	if (fd < 0 || !address.sll_ifindex ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)))
		die(iface);
	return fd;
}

static int open_receiver(const char *iface)
{
	struct hwtstamp_config config = { .tx_type = HWTSTAMP_TX_OFF,
					  .rx_filter = HWTSTAMP_FILTER_ALL };
	struct packet_mreq promiscuous = { .mr_ifindex = (int)if_nametoindex(iface),
					   .mr_type = PACKET_MR_PROMISC };
	struct ifreq request = { .ifr_data = (char *)&config };
	int stamps = SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE |
		     SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE;
	int fd = open_socket(iface, ETHERTYPE), size = 8 << 20;

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", iface);
	ioctl(fd, SIOCSHWTSTAMP, &request); /* not every interface has it */
	if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &stamps, sizeof(stamps)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promiscuous, sizeof(promiscuous)))
		die("receiver");
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	return fd;
}

static void take(const struct msghdr *message, const uint8_t *frame, int64_t cycle,
		 int64_t tai_offset, struct seen *seen)
{
	struct seen *of = &seen[frame[14] % PRIORITY_MAX];

	for (struct cmsghdr *cmsg = CMSG_FIRSTHDR(message); cmsg;
	     cmsg = CMSG_NXTHDR((struct msghdr *)message, cmsg)) {
		struct scm_timestamping stamps;
		int64_t at;

		if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_TIMESTAMPING)
			continue;
		memcpy(&stamps, CMSG_DATA(cmsg), sizeof(stamps));
		of->hw = stamps.ts[2].tv_sec || stamps.ts[2].tv_nsec;
		at = of->hw ? timespec_to_ns(stamps.ts[2])
			    : timespec_to_ns(stamps.ts[0]) + tai_offset;
		at = (at + 1 - of->start) % cycle + of->start;
		if (!of->received || at < of->first)
			of->first = at;
		if (!of->received || at > of->last)
			of->last = at;
		of->received++;
	}
}

static void drain(int fd, int64_t cycle, int64_t tai_offset, struct seen *seen)
{
	uint8_t frame[2048], control[512];
	struct iovec part = { frame, sizeof(frame) };

	for (;;) {
		struct msghdr message = { .msg_iov = &part,
					  .msg_iovlen = 1,
					  .msg_control = control,
					  .msg_controllen = sizeof(control) };

		if (recvmsg(fd, &message, MSG_DONTWAIT) < 15)
			return;
		take(&message, frame, cycle, tai_offset, seen);
	}
}

int main(int argc, char **argv)
{
	struct seen seen[PRIORITY_MAX] = { 0 };
	int64_t cycle, spacing, at, tai_offset = tai_now_ns() - clock_now_ns(CLOCK_REALTIME);
	int receiver, senders[PRIORITY_MAX], count, priorities = argc - 6;

	if (argc < 7 || priorities > PRIORITY_MAX)
		return 2;
	/* a whole number of seconds; the two clocks were read one after the other */
	tai_offset = (tai_offset + NSEC_PER_SEC / 2) / NSEC_PER_SEC * NSEC_PER_SEC;
	cycle = atoll(argv[3]);
	count = atoi(argv[4]);
	spacing = atoll(argv[5]);
	receiver = open_receiver(argv[2]);
	for (int i = 0; i < priorities; i++) {
		int priority = atoi(argv[6 + i]);
		const char *start = strchr(argv[6 + i], '+');

		if (start)
			seen[priority % PRIORITY_MAX].start = atoll(start);
		senders[i] = open_socket(argv[1], 0);
		if (setsockopt(senders[i], SOL_SOCKET, SO_PRIORITY, &priority, sizeof(priority)))
			die("SO_PRIORITY");
	}
	at = tai_now_ns() + NSEC_PER_MSEC;
	for (int n = 0; n < count; n++)
		for (int i = 0; i < priorities; i++, at += spacing) {
			int priority = atoi(argv[6 + i]) % PRIORITY_MAX;
			uint8_t frame[60] = { 0x01,
					      0x80,
					      0xc2,
					      0,
					      0,
					      0x0e,
					      0x02,
					      0,
					      0,
					      0,
					      0,
					      1,
					      ETHERTYPE >> 8,
					      ETHERTYPE & 0xff,
					      (uint8_t)priority };
			struct timespec until = ns_to_timespec(at);

			clock_nanosleep(CLOCK_TAI, TIMER_ABSTIME, &until, NULL);
			if (send(senders[i], frame, sizeof(frame), 0) == sizeof(frame))
				seen[priority].sent++;
			drain(receiver, cycle, tai_offset, seen);
		}
	usleep(300000 + (useconds_t)(3 * cycle / 1000));
	drain(receiver, cycle, tai_offset, seen);
	for (int i = 0; i < priorities; i++) {
		const struct seen *of = &seen[atoi(argv[6 + i]) % PRIORITY_MAX];

		printf("%d sent %u received %u first %lld last %lld source %s\n", atoi(argv[6 + i]),
		       of->sent, of->received, (long long)of->first, (long long)of->last,
		       of->hw ? "hw" : "sw");
	}
	return 0;
}

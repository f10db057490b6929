// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel takes of any sender that sleeps until its cycle and then hands one frame over: clock_nanosleep() and
 * send() in a SCHED_FIFO thread, nothing else. No record of anything, and no frame that anyone could use. With "sw" the
 * kernel takes software stamps, which are fetched as cheaply as the error queue allows, 64 in a call, and thrown away.
 *
 *	floor IFACE FRAMES CYCLE_NS ETHERTYPE CPU PRIORITY none|sw
 */
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <linux/net_tstamp.h>
#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"

#define FRAME_SIZE 60 /* 64 with the checksum */
#define BATCH 64
#define CONTROL 256

/* The stamps of the last frames, unread: where each is put does not matter. */
static void fetch(int fd)
{
	static struct mmsghdr messages[BATCH];
	static struct iovec iov[BATCH];
	static uint8_t frames[BATCH][FRAME_SIZE], control[BATCH][CONTROL];

	for (int i = 0; i < BATCH; i++) {
		iov[i] = (struct iovec){ frames[i], FRAME_SIZE };
		messages[i].msg_hdr = (struct msghdr){ .msg_iov = &iov[i],
						       .msg_iovlen = 1,
						       .msg_control = control[i],
						       .msg_controllen = CONTROL };
	}
	recvmmsg(fd, messages, BATCH, MSG_ERRQUEUE | MSG_DONTWAIT, NULL);
}

int main(int argc, char **argv)
{
	uint8_t frame[FRAME_SIZE] = { 0x91, 0xe0, 0xf0, 0, 0xfe, 0, 2, 0, 0, 0, 0, 1 };
	struct sockaddr_ll address = { .sll_family = AF_PACKET };
	struct sched_param priority = { 0 };
	int64_t next, cycle;
	uint16_t ethertype;
	cpu_set_t cpu;
	long frames;
	uint32_t stamps = SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_TX_SOFTWARE;
	bool stamped;
	int fd;

	if (argc != 8) {
		fprintf(stderr,
			"usage: floor IFACE FRAMES CYCLE_NS ETHERTYPE CPU PRIORITY none|sw\n");
		return 2;
	}
	stamped = !strcmp(argv[7], "sw");
	frames = atol(argv[2]);
	cycle = atol(argv[3]);
	ethertype = htons((uint16_t)strtoul(argv[4], NULL, 0));
	memcpy(frame + 12, &ethertype, sizeof(ethertype));
	CPU_ZERO(&cpu);
	CPU_SET(atoi(argv[5]), &cpu);
	priority.sched_priority = atoi(argv[6]);
	address.sll_ifindex = (int)if_nametoindex(argv[1]);
	fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    sched_setaffinity(0, sizeof(cpu), &cpu) < 0 ||
	    sched_setscheduler(0, SCHED_FIFO, &priority) < 0) {
		perror("floor");
		return 3;
	}
	if (stamped && setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &stamps, sizeof(stamps)) < 0) {
		perror("floor: SO_TIMESTAMPING");
		return 3;
	}
	next = clock_now_ns(CLOCK_MONOTONIC);
	for (long i = 0; i < frames; i++) {
		struct timespec until = ns_to_timespec(next += cycle);

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		if (send(fd, frame, sizeof(frame), MSG_DONTWAIT) < 0) {
			perror("floor: send");
			return 3;
		}
		if (stamped && i % BATCH == BATCH - 1)
			fetch(fd);
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel takes of any sender that sleeps until its cycle and then hands one frame over: clock_nanosleep() and
 * send() in a SCHED_FIFO thread, nothing else. No stamps, no record of anything, and no frame that anyone could use.
 *
 *	floor IFACE FRAMES CYCLE_NS ETHERTYPE CPU PRIORITY
 */
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"

#define FRAME_SIZE 60 /* 64 with the checksum */

int main(int argc, char **argv)
{
	uint8_t frame[FRAME_SIZE] = { 0x91, 0xe0, 0xf0, 0, 0xfe, 0, 2, 0, 0, 0, 0, 1 };
	struct sockaddr_ll address = { .sll_family = AF_PACKET };
	struct sched_param priority = { 0 };
	int64_t next, cycle;
	uint16_t ethertype;
	cpu_set_t cpu;
	long frames;
	int fd;

	if (argc != 7) {
		fprintf(stderr, "usage: floor IFACE FRAMES CYCLE_NS ETHERTYPE CPU PRIORITY\n");
		return 2;
	}
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
	next = clock_now_ns(CLOCK_MONOTONIC);
	for (long i = 0; i < frames; i++) {
		struct timespec until = ns_to_timespec(next += cycle);

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		if (send(fd, frame, sizeof(frame), MSG_DONTWAIT) < 0) {
			perror("floor: send");
			return 3;
		}
	}
	return 0;
}

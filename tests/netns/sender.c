// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sends frames of ours that a well-behaved publisher never would, for tests of the receiver:
 *
 *	sender IFACE [--run HEX] [--stream N] [--vlan VID]... [--ethertype T] [--size N] [--dest MAC] COMMAND...
 *
 * COMMANDs are carried out in order, each on the frames that follow from the sequence number where the
 * one before stopped:
 *
 *	send N			N frames in sequence
 *	lose N			N numbers are left out
 *	duplicate N		sends the last N numbers once more
 *	reorder N		sends the next N numbers backwards
 *	jump SEQ		the next number is SEQ
 *	last			one frame, flagged as the last
 *	sleep MS		pause
 *	gap US			from here on a pause behind every frame
 *	early NS		from here on launch = now + NS (late: negative)
 *	stamp DISTANCE		from here on frames carry a TX stamp of the frame DISTANCE before, launch + 1000 ns
 *	version V		from here on another version of the format
 *	magic HEX		from here on another magic
 *	short N			N frames that end within the payload
 *	zero N			N frames of zeros
 *	other TYPE N		N frames of another EtherType, with a foreign payload
 *	forge N			N frames, each of a run of its own
 *	forge-streams N		N frames, each of another stream and run
 *	new-run HEX		from here on another run, from sequence 0
 *	new-stream N		from here on another stream, from sequence 0
 *	rate FPS		from here on floods are held to so many frames a second (0: not)
 *	flood N			N frames as fast as the kernel takes them; prints the rate
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/types.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "bpf/wire.h"

#define FRAME_MAX 9000
#define BURST 64
#define TAGS_MAX 3

struct sender {
	int fd;
	uint8_t dest[6], source[6];
	uint16_t ethertype, stream, tags[TAGS_MAX];
	int tag_count;
	uint32_t run, magic;
	uint8_t version;
	size_t size;
	uint64_t seq;
	int64_t early_ns, gap_us, rate;
	int stamp_distance; /* 0: no stamps */
	uint32_t random;
};

static void die(const char *what)
{
	fprintf(stderr, "sender: %s: %s\n", what, strerror(errno));
	exit(3);
}

static uint32_t next_random(struct sender *sender)
{
	sender->random = sender->random * 1664525 + 1013904223;
	return sender->random ^ sender->random >> 16;
}

static void *put16(void *at, uint16_t value)
{
	value = htons(value);
	memcpy(at, &value, 2);
	return (uint8_t *)at + 2;
}

/* Returns where the payload begins. */
static uint8_t *put_header(const struct sender *sender, uint8_t *frame, uint16_t ethertype)
{
	uint8_t *at = frame + 12;

	memcpy(frame, sender->dest, 6);
	memcpy(frame + 6, sender->source, 6);
	for (int i = 0; i < sender->tag_count; i++) {
		at = put16(at, i + 1 < sender->tag_count ? 0x88a8 : 0x8100);
		at = put16(at, sender->tags[i]);
	}
	return put16(at, ethertype);
}

static size_t make_frame(const struct sender *sender, uint8_t *frame, uint64_t seq, uint8_t flags)
{
	int64_t launch = tai_now_ns() + sender->early_ns;
	struct wire_payload payload = {
		.magic = htonl(sender->magic),
		.version = sender->version,
		.flags = flags,
		.stream = htons(sender->stream),
		.run = htonl(sender->run),
		.seq = htobe64(seq),
		.launch = htobe64((uint64_t)launch),
	};
	uint8_t *at;

	if (sender->stamp_distance) {
		payload.flags |= WIRE_FLAG_STAMP;
		payload.stamp_distance = htons((uint16_t)sender->stamp_distance);
		payload.stamp = htobe64((uint64_t)launch + 1000);
	}
	memset(frame, 0, sender->size);
	at = put_header(sender, frame, sender->ethertype);
	memcpy(at, &payload, sizeof(payload));
	return sender->size;
}

static void transmit(struct sender *sender, const uint8_t *frame, size_t size)
{
	while (send(sender->fd, frame, size, 0) < 0)
		if (errno != ENOBUFS && errno != EINTR)
			die("send");
	if (sender->gap_us)
		usleep((useconds_t)sender->gap_us);
}

static void send_one(struct sender *sender, uint64_t seq, uint8_t flags)
{
	uint8_t frame[FRAME_MAX];

	transmit(sender, frame, make_frame(sender, frame, seq, flags));
}

static void flood(struct sender *sender, uint64_t count)
{
	static uint8_t frames[BURST][FRAME_MAX];
	struct mmsghdr messages[BURST] = { 0 };
	struct iovec vectors[BURST];
	int64_t begin = clock_now_ns(CLOCK_MONOTONIC), elapsed;
	struct timespec cpu;

	for (int i = 0; i < BURST; i++) {
		vectors[i] = (struct iovec){ frames[i], sender->size };
		messages[i].msg_hdr.msg_iov = &vectors[i];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
	for (uint64_t sent = 0; sent < count;) {
		unsigned int burst = count - sent < BURST ? (unsigned int)(count - sent) : BURST;
		unsigned int done = 0;

		for (unsigned int i = 0; i < burst; i++)
			make_frame(sender, frames[i], sender->seq++, 0);
		while (done < burst) {
			int ret = sendmmsg(sender->fd, messages + done, burst - done, 0);

			if (ret > 0)
				done += (unsigned int)ret;
			else if (ret < 0 && errno != ENOBUFS && errno != EINTR)
				die("sendmmsg");
		}
		sent += burst;
		if (sender->rate) {
			int64_t due = begin + (int64_t)sent * NSEC_PER_SEC / sender->rate;
			struct timespec until = ns_to_timespec(due);

			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		}
	}
	elapsed = clock_now_ns(CLOCK_MONOTONIC) - begin;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	printf("flood: %llu frames in %.3f s, %.0f frames/s, %.3f s of CPU\n",
	       (unsigned long long)count, (double)elapsed / 1e9,
	       (double)count * 1e9 / (double)elapsed, (double)timespec_to_ns(cpu) / 1e9);
}

static void send_short(struct sender *sender, uint64_t count)
{
	uint8_t frame[FRAME_MAX];

	for (uint64_t i = 0; i < count; i++) {
		make_frame(sender, frame, sender->seq, 0);
		transmit(sender, frame, 14 + (size_t)sender->tag_count * 4 + 1 + i % 39);
	}
}

static void send_zeros(struct sender *sender, uint64_t count)
{
	uint8_t frame[60] = { 0 };

	for (uint64_t i = 0; i < count; i++)
		transmit(sender, frame, sizeof(frame));
}

static void send_other(struct sender *sender, uint16_t ethertype, uint64_t count)
{
	uint8_t frame[FRAME_MAX] = { 0 };

	memset(put_header(sender, frame, ethertype), 0xa5, 46);
	for (uint64_t i = 0; i < count; i++)
		transmit(sender, frame, 60);
}

static void forge(struct sender *sender, uint64_t count, int streams)
{
	const uint32_t run = sender->run;
	const uint16_t stream = sender->stream;

	for (uint64_t i = 0; i < count; i++) {
		sender->run = next_random(sender);
		if (streams)
			sender->stream = (uint16_t)next_random(sender);
		send_one(sender, next_random(sender), 0);
	}
	sender->run = run;
	sender->stream = stream;
}

static uint64_t number(const char *text, int base)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, base);
	if (errno || *end || end == text) {
		fprintf(stderr, "sender: '%s' is no number\n", text);
		exit(2);
	}
	return value;
}

/* Carries out one command; returns how many words it took. */
static int command(struct sender *sender, char **word)
{
	const char *name = word[0];
	uint64_t n;

	if (!strcmp(name, "last")) {
		send_one(sender, sender->seq++, WIRE_FLAG_LAST);
		return 1;
	}
	if (!word[1]) {
		fprintf(stderr, "sender: '%s': unknown, or its number is missing\n", name);
		exit(2);
	}
	if (!strcmp(name, "early")) {
		sender->early_ns = strtoll(word[1], NULL, 10);
		return 2;
	}
	n = number(word[1], strcmp(name, "magic") && strcmp(name, "new-run") ? 0 : 16);
	if (!strcmp(name, "send")) {
		for (uint64_t i = 0; i < n; i++)
			send_one(sender, sender->seq++, 0);
	} else if (!strcmp(name, "lose")) {
		sender->seq += n;
	} else if (!strcmp(name, "duplicate")) {
		for (uint64_t i = n; i > 0; i--)
			send_one(sender, sender->seq - i, 0);
	} else if (!strcmp(name, "reorder")) {
		for (uint64_t i = n; i > 0; i--)
			send_one(sender, sender->seq + i - 1, 0);
		sender->seq += n;
	} else if (!strcmp(name, "jump")) {
		sender->seq = n;
	} else if (!strcmp(name, "sleep")) {
		usleep((useconds_t)(n * 1000));
	} else if (!strcmp(name, "gap")) {
		sender->gap_us = (int64_t)n;
	} else if (!strcmp(name, "stamp")) {
		sender->stamp_distance = (int)n;
	} else if (!strcmp(name, "version")) {
		sender->version = (uint8_t)n;
	} else if (!strcmp(name, "magic")) {
		sender->magic = (uint32_t)n;
	} else if (!strcmp(name, "short")) {
		send_short(sender, n);
	} else if (!strcmp(name, "zero")) {
		send_zeros(sender, n);
	} else if (!strcmp(name, "other")) {
		if (!word[2]) {
			fprintf(stderr, "sender: other TYPE N\n");
			exit(2);
		}
		send_other(sender, (uint16_t)n, number(word[2], 0));
		return 3;
	} else if (!strcmp(name, "forge")) {
		forge(sender, n, 0);
	} else if (!strcmp(name, "forge-streams")) {
		forge(sender, n, 1);
	} else if (!strcmp(name, "new-run")) {
		sender->run = (uint32_t)n;
		sender->seq = 0;
	} else if (!strcmp(name, "new-stream")) {
		sender->stream = (uint16_t)n;
		sender->seq = 0;
	} else if (!strcmp(name, "rate")) {
		sender->rate = (int64_t)n;
	} else if (!strcmp(name, "flood")) {
		flood(sender, n);
	} else {
		fprintf(stderr, "sender: unknown command '%s'\n", name);
		exit(2);
	}
	return 2;
}

static void open_socket(struct sender *sender, const char *ifname)
{
	struct sockaddr_ll address = { .sll_family = AF_PACKET,
				       .sll_protocol = 0,
				       .sll_ifindex = (int)if_nametoindex(ifname) };
	struct sockaddr_ll own;
	socklen_t size = sizeof(own);

	if (!address.sll_ifindex)
		die(ifname);
	sender->fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (sender->fd < 0 || bind(sender->fd, (struct sockaddr *)&address, sizeof(address)))
		die("packet socket");
	/*
	 * Some 64 frames, which are this socket's until they are received: where the other CPU takes them out of the veth
	 * device and is held up, sending waits. The device itself drops what is beyond the 256 that it has room for.
	 */
	setsockopt(sender->fd, SOL_SOCKET, SO_SNDBUF, &(int){ 24576 }, sizeof(int));
	if (!getsockname(sender->fd, (struct sockaddr *)&own, &size))
		memcpy(sender->source, own.sll_addr, 6);
}

int main(int argc, char **argv)
{
	struct sender sender = { .dest = { 0x91, 0xe0, 0xf0, 0x00, 0xfe, 0x01 },
				 .ethertype = WIRE_ETHERTYPE,
				 .stream = 1,
				 .run = 0x7e577e57,
				 .magic = WIRE_MAGIC,
				 .version = WIRE_VERSION,
				 .size = 60,
				 .random = (uint32_t)getpid() };
	struct error err = ERROR_INIT;
	char **word = argv + 2;

	if (argc < 3) {
		fprintf(stderr, "usage: sender IFACE [OPTION]... COMMAND...\n");
		return 2;
	}
	for (; word[0] && !strncmp(word[0], "--", 2) && word[1]; word += 2) {
		if (!strcmp(word[0], "--run"))
			sender.run = (uint32_t)number(word[1], 16);
		else if (!strcmp(word[0], "--stream"))
			sender.stream = (uint16_t)number(word[1], 0);
		else if (!strcmp(word[0], "--ethertype"))
			sender.ethertype = (uint16_t)number(word[1], 0);
		else if (!strcmp(word[0], "--size"))
			sender.size = (size_t)number(word[1], 0);
		else if (!strcmp(word[0], "--vlan") && sender.tag_count < TAGS_MAX)
			sender.tags[sender.tag_count++] = (uint16_t)number(word[1], 0);
		else if (!strcmp(word[0], "--dest") &&
			 !parse_mac("--dest", word[1], sender.dest, &err))
			continue;
		else {
			fprintf(stderr, "sender: option '%s %s'\n", word[0], word[1]);
			return 2;
		}
	}
	if (sender.size == 60 && sender.tag_count > 1)
		sender.size = 14 + (size_t)sender.tag_count * 4 + WIRE_PAYLOAD_SIZE;
	if (sender.size < 14 + (size_t)sender.tag_count * 4 + WIRE_PAYLOAD_SIZE ||
	    sender.size > FRAME_MAX) {
		fprintf(stderr, "sender: --size %zu\n", sender.size);
		return 2;
	}
	open_socket(&sender, argv[1]);
	while (*word)
		word += command(&sender, word);
	return 0;
}

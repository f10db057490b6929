// SPDX-License-Identifier: GPL-2.0-only
/*
 * fake_ptp4l PATH MODE [FILE]: listens on PATH as ptp4l does and answers management messages, well or badly:
 *
 *   good       as a ptp4l with one port would; FILE holds lines "name value" that are read anew for each
 *              question (see struct facts), so that a test changes what it says while it runs
 *   chatty     as good, and tells whom asks of a sync message before each answer, if he has subscribed to that
 *   silent     reads and never answers
 *   deaf       never reads: the queue fills
 *   garbage    answers 100 octets of 0xa5
 *   truncated  cuts the answer within its data set
 *   length     claims to be longer than it is
 *   sequence   answers with the sequence number one too low
 *   foreign    answers to another client's identity
 *   request    sends the question back
 *   error      answers NOT_SUPPORTED to all but DEFAULT_DATA_SET
 *   flood      answers for ever, with a wrong sequence number
 *   repeat     gives each answer three times, and an old one before it
 *   late       as good, but gives no answer to the first subscription; each is a line "subscribed" on stdout
 *   dies       answers DEFAULT_DATA_SET once, and is gone before the asker can ask again: it is stopped meanwhile
 *
 * The latest subscriber is told of its port's state and of the master on SIGUSR1 (as ptp4l does when they change), if
 * he has subscribed to that. Each question for TIME_STATUS_NP, one a look at the clocks, is a line "asked" on stdout.
 * Ends on SIGTERM and removes PATH.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "ptp/management.h"

static const char *path;

static void end(int signal)
{
	(void)signal;
	unlink(path);
	_exit(0);
}

/* What the good one says; names as in FILE. */
struct facts {
	long long state, offset, utc, flags, gm, own, sync_age_ms, timestamping, domain,
		transport_specific, ports, delay;
	char iface[16];
};

static void read_facts(const char *file, struct facts *f)
{
	char name[32], value[32];
	FILE *in;

	*f = (struct facts){
		.state = PORT_SLAVE, .utc = 37, .flags = 0x3c, .gm = 0x42, .ports = 1, .delay = 500
	};
	strcpy(f->iface, "lo");
	in = file ? fopen(file, "r") : NULL;
	if (!in)
		return;
	while (fscanf(in, "%31s %31s", name, value) == 2) {
		const struct {
			const char *name;
			long long *value;
		} numbers[] = { { "state", &f->state },
				{ "offset", &f->offset },
				{ "utc", &f->utc },
				{ "flags", &f->flags },
				{ "gm", &f->gm },
				{ "own", &f->own },
				{ "sync_age_ms", &f->sync_age_ms },
				{ "timestamping", &f->timestamping },
				{ "domain", &f->domain },
				{ "ports", &f->ports },
				{ "delay", &f->delay },
				{ "transport_specific", &f->transport_specific } };

		if (!strcmp(name, "iface"))
			snprintf(f->iface, sizeof(f->iface), "%.15s", value);
		for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
			if (!strcmp(name, numbers[i].name))
				*numbers[i].value = strtoll(value, NULL, 0);
	}
	fclose(in);
}

static void put(uint8_t *p, uint64_t value, int octets)
{
	for (int i = 0; i < octets; i++)
		p[i] = (uint8_t)(value >> 8 * (octets - 1 - i));
}

/* Fills in the data of a data set; returns its length, -1: not supported. */
static int answer_data(uint16_t id, const struct facts *f, uint8_t *data)
{
	struct timespec now;

	memset(data, 0, 128);
	switch (id) {
	case MGMT_DEFAULT_DATA_SET:
		data[3] = (uint8_t)f->ports;
		data[5] = 248;
		data[17] = 1;
		data[18] = (uint8_t)f->domain;
		return 20;
	case MGMT_CURRENT_DATA_SET:
		data[1] = 1;
		put(data + 2, (uint64_t)f->offset << 16, 8);
		put(data + 10, (uint64_t)f->delay << 16, 8);
		return 18;
	case MGMT_PARENT_DATA_SET:
		data[19] = 6;
		data[31] = (uint8_t)f->gm;
		return 32;
	case MGMT_TIME_PROPERTIES_DATA_SET:
		put(data, (uint64_t)f->utc, 2);
		data[2] = (uint8_t)f->flags;
		return 4;
	case MGMT_PORT_DATA_SET:
		data[9] = 1;
		data[10] = (uint8_t)f->state;
		data[23] = DELAY_E2E;
		data[25] = 2;
		return 26;
	case MGMT_TIME_STATUS_NP:
		clock_gettime(CLOCK_REALTIME, &now);
		put(data, (uint64_t)f->offset, 8);
		put(data + 8,
		    (uint64_t)(now.tv_sec * 1000000000LL + now.tv_nsec - f->sync_age_ms * 1000000),
		    8);
		data[41] = !f->own;
		data[49] = (uint8_t)f->gm;
		return 50;
	case MGMT_PORT_PROPERTIES_NP:
		data[9] = 1;
		data[10] = (uint8_t)f->state;
		data[11] = (uint8_t)f->timestamping;
		data[12] = (uint8_t)strlen(f->iface);
		strcpy((char *)data + 13, f->iface);
		return 13 + data[12] + !(data[12] & 1);
	case MGMT_SUBSCRIBE_EVENTS_NP:
		return 66;
	}
	return -1;
}

/* Turns the question into its answer, in place; returns the length. */
static int make_answer(uint8_t *message, const struct facts *f, bool refuse)
{
	uint16_t id = (uint16_t)(message[52] << 8 | message[53]);
	uint8_t source[10];
	int length = refuse ? -1 : answer_data(id, f, message + 54);

	memcpy(source, message + 20, 10);
	memcpy(message + 34, source, 10);
	memset(message + 20, 0, 10);
	message[27] = 1; /* as DEFAULT_DATA_SET's clock identity */
	message[46] = MGMT_RESPONSE;
	if (length < 0) {
		put(message + 48, 2, 2);
		put(message + 50, 8, 2);
		put(message + 52, MGMT_NOT_SUPPORTED, 2);
		put(message + 54, id, 2);
		memset(message + 56, 0, 4);
		length = 6;
	} else {
		put(message + 50, (uint64_t)length + 2, 2);
	}
	put(message + 2, (uint64_t)length + 54, 2);
	return length + 54;
}

/* Who has subscribed, and to what. */
static struct {
	struct sockaddr_un peer;
	socklen_t peer_size;
	uint8_t identity[10];
	unsigned int events;
	uint16_t sequence;
	unsigned int count;
} subscriber;

static volatile sig_atomic_t to_notify;

static void on_notify(int signal)
{
	(void)signal;
	to_notify = 1;
}

static void note_subscription(const uint8_t *message, const struct sockaddr_un *peer,
			      socklen_t peer_size)
{
	subscriber.peer = *peer;
	subscriber.peer_size = peer_size;
	memcpy(subscriber.identity, message + 20, 10);
	subscriber.events = message[56];
	subscriber.count++;
	puts("subscribed");
	fflush(stdout);
}

/* An answer that nobody asked for, as ptp4l's clock_notify_event() makes it. */
static void notify(int fd, const struct facts *f, unsigned int event, uint16_t id)
{
	uint8_t message[256] = { 0x0d, 0x02 };

	if (!(subscriber.events & event))
		return;
	message[0] |= (uint8_t)(f->transport_specific << 4);
	message[4] = (uint8_t)f->domain;
	memcpy(message + 20, subscriber.identity, 10);
	put(message + 30, subscriber.sequence++, 2);
	put(message + 48, 1, 2);
	put(message + 52, id, 2);
	sendto(fd, message, (size_t)make_answer(message, f, false), 0,
	       (struct sockaddr *)&subscriber.peer, subscriber.peer_size);
}

static void spoil_sequence(uint8_t *message)
{
	put(message + 30, (uint64_t)(message[30] << 8 | message[31]) - 1, 2);
}

/* The state of a process, as ps shows it; 0: there is none. */
static char state_of(pid_t pid)
{
	char file[64], state = 0;
	FILE *in;

	snprintf(file, sizeof(file), "/proc/%d/stat", (int)pid);
	in = fopen(file, "r");
	if (!in)
		return 0;
	if (fscanf(in, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	fclose(in);
	return state;
}

/* Stops the asker, or lets it go on; returns when it is so. */
static void set_stopped(pid_t pid, bool stopped)
{
	const struct timespec pause = { 0, 1000000 };

	kill(pid, stopped ? SIGSTOP : SIGCONT);
	while (stopped && state_of(pid) && state_of(pid) != 'T')
		nanosleep(&pause, NULL);
}

/* Takes a question, and who sent it. */
static ssize_t take_question(int fd, uint8_t *message, size_t size, struct sockaddr_un *peer,
			     socklen_t *peer_size, pid_t *asker)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct ucred))];
	struct iovec vector = { message, size };
	struct msghdr header = { .msg_name = peer,
				 .msg_namelen = sizeof(*peer),
				 .msg_iov = &vector,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control) };
	struct pollfd fds = { .fd = fd, .events = POLLIN };
	sigset_t none;
	ssize_t length;
	const struct cmsghdr *cmsg;
	struct ucred sender = { 0 };

	/* a signal is let in here alone: none comes between the looking for it and the waiting */
	sigemptyset(&none);
	length = ppoll(&fds, 1, NULL, &none) == 1 ? recvmsg(fd, &header, 0) : -1;
	cmsg = length < 0 ? NULL : CMSG_FIRSTHDR(&header);
	if (cmsg && cmsg->cmsg_type == SCM_CREDENTIALS)
		memcpy(&sender, CMSG_DATA(cmsg), sizeof(sender));
	*asker = sender.pid;
	*peer_size = header.msg_namelen;
	return length;
}

int main(int argc, char **argv)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	uint8_t message[2000];
	sigset_t notify_signal;
	const char *mode;
	int fd;

	if (argc < 3 || strlen(argv[1]) >= sizeof(address.sun_path)) {
		fprintf(stderr, "usage: fake_ptp4l PATH MODE [FILE]\n");
		return 2;
	}
	path = argv[1];
	mode = argv[2];
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	unlink(path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address))) {
		fprintf(stderr, "fake_ptp4l: %s: %s\n", path, strerror(errno));
		return 3;
	}
	setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &(int){ 1 }, sizeof(int));
	signal(SIGTERM, end);
	/* it interrupts the waiting for a question */
	sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = on_notify }, NULL);
	sigemptyset(&notify_signal);
	sigaddset(&notify_signal, SIGUSR1);
	sigprocmask(SIG_BLOCK, &notify_signal, NULL);
	puts("ready");
	fflush(stdout);
	if (!strcmp(mode, "deaf"))
		for (;;)
			pause(); /* SIGTERM ends it all the same */
	for (;;) {
		struct sockaddr_un peer;
		socklen_t peer_size;
		pid_t asker;
		ssize_t size = take_question(fd, message, sizeof(message) - 128, &peer, &peer_size,
					     &asker);
		struct facts facts;
		uint16_t id;
		int length;

#define SEND(n) sendto(fd, message, (size_t)(n), 0, (struct sockaddr *)&peer, peer_size)
		read_facts(argc > 3 ? argv[3] : NULL, &facts);
		if (to_notify) {
			to_notify = 0;
			notify(fd, &facts, MGMT_EVENT_PORT_STATE, MGMT_PORT_DATA_SET);
			notify(fd, &facts, MGMT_EVENT_PARENT_DATA_SET, MGMT_PARENT_DATA_SET);
		}
		if (size < 54)
			continue;
		/* as ptp4l: silence to a wrong domain or transportSpecific */
		if (message[4] != facts.domain || message[0] >> 4 != facts.transport_specific)
			continue;
		id = (uint16_t)(message[52] << 8 | message[53]);
		if (id == MGMT_TIME_STATUS_NP) {
			puts("asked");
			fflush(stdout);
		}
		if (!strcmp(mode, "silent"))
			continue;
		if (id == MGMT_SUBSCRIBE_EVENTS_NP)
			note_subscription(message, &peer, peer_size);
		else if (!strcmp(mode, "chatty"))
			notify(fd, &facts, MGMT_EVENT_TIME_SYNC, MGMT_TIME_STATUS_NP);
		if (!strcmp(mode, "late") && id == MGMT_SUBSCRIBE_EVENTS_NP &&
		    subscriber.count == 1)
			continue;
		if (!strcmp(mode, "request")) {
			SEND(size);
			continue;
		}
		if (!strcmp(mode, "garbage")) {
			memset(message, 0xa5, 100);
			SEND(100);
			continue;
		}
		length = make_answer(message, &facts,
				     !strcmp(mode, "error") && id != MGMT_DEFAULT_DATA_SET);
		if (!strcmp(mode, "truncated")) {
			put(message + 2, (uint64_t)length - 2, 2);
			put(message + 50, (uint64_t)length - 54, 2);
			length -= 2;
		} else if (!strcmp(mode, "length")) {
			put(message + 2, (uint64_t)length + 4, 2);
		} else if (!strcmp(mode, "sequence")) {
			spoil_sequence(message);
		} else if (!strcmp(mode, "foreign")) {
			message[34] ^= 1;
		} else if (!strcmp(mode, "repeat")) {
			spoil_sequence(message);
			SEND(length);
			put(message + 30, (uint64_t)(message[30] << 8 | message[31]) + 1, 2);
			SEND(length);
			SEND(length);
		} else if (!strcmp(mode, "flood")) {
			spoil_sequence(message);
			while (SEND(length) >= 0)
				;
			continue;
		}
		if (!strcmp(mode, "dies")) {
			set_stopped(asker, true);
			SEND(length);
			close(fd);
			set_stopped(asker, false);
			end(0);
		}
		SEND(length);
	}
}

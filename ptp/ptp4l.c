// SPDX-License-Identifier: GPL-2.0-only
#include "ptp/ptp4l.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/scratch.h"

struct ptp4l {
	int fd;
	struct scratch directory; /* with our socket in it */
	char path[80];
	struct mgmt_address address;
	bool subscribed;
	int64_t timeout_ns;
	ptp4l_notified notified;
	void *context;
};

/* What came while an answer was awaited: it names the fault when none comes. */
struct strays {
	unsigned int garbage, strange;
	const char *reason;
};

static int64_t now_ns(void)
{
	return clock_now_ns(CLOCK_MONOTONIC);
}

static void set_fault(struct ptp4l_status *status, enum ptp4l_fault fault, const char *detail)
{
	status->fault = fault;
	snprintf(status->detail, sizeof(status->detail), "%s", detail);
}

/*
 * Makes DIRECTORY/tsnpub-ptp.XXXXXX/socket, in /run where that is allowed: a hardened ptp4l sees its own /tmp there,
 * but the same /run.
 */
static int bind_own_socket(struct ptp4l *client)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int err = scratch_make(&client->directory, PTP4L_SCRATCH);

	if (err)
		return err;
	snprintf(client->path, sizeof(client->path), "%s/socket", client->directory.path);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", client->path);
	if (bind(client->fd, (struct sockaddr *)&address, sizeof(address)))
		return -errno;
	/* others may pass through, so that a ptp4l that is not root can answer; none may look in */
	if (fchmod(client->directory.fd, 0711))
		return -errno;
	return 0;
}

/* A ptp4l that runs as its own user must be allowed to write to our socket. */
static void admit_server(const struct ptp4l *client, const char *server)
{
	struct stat st;

	if (lstat(server, &st) || !st.st_uid || st.st_uid == geteuid())
		return;
	/* connected: no one but that server gets through, so the mode need not keep others out */
	if (lchown(client->path, st.st_uid, (gid_t)-1) && chmod(client->path, 0666))
		return;
}

static enum ptp4l_fault fault_of_connect(int errnum)
{
	switch (errnum) {
	case ENOENT:
	case ENOTDIR:
		return PTP4L_ABSENT;
	case ECONNREFUSED:
		return PTP4L_STALE;
	case EACCES:
	case EPERM:
		return PTP4L_FORBIDDEN;
	default: /* EPROTOTYPE and what else the path may be */
		return PTP4L_NOT_SOCKET;
	}
}

static int connect_server(struct ptp4l *client, const char *server, struct ptp4l_status *status)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct stat st;

	if (strlen(server) >= sizeof(address.sun_path)) {
		set_fault(status, PTP4L_ABSENT, "the path is longer than a socket's may be");
		return -1;
	}
	strcpy(address.sun_path, server);
	if (connect(client->fd, (struct sockaddr *)&address, sizeof(address))) {
		int errnum = errno;

		/* the kernel says ECONNREFUSED of a plain file as well */
		if (errnum == ECONNREFUSED && !stat(server, &st) && !S_ISSOCK(st.st_mode))
			set_fault(status, PTP4L_NOT_SOCKET, "it is not a socket");
		else
			set_fault(status, fault_of_connect(errnum), strerror(errnum));
		return -1;
	}
	admit_server(client, server);
	return 0;
}

static bool is_ours(const struct ptp4l *client, const struct mgmt_message *message)
{
	return message->target.port == client->address.source.port &&
	       !memcmp(message->target.clock, client->address.source.clock, 8);
}

/*
 * Takes one datagram without waiting. Returns 1 when it answers the question `sequence` about `id`, 0 when
 * it was something else (notifications are delivered, the rest is counted), -1 when nothing is there.
 */
static int take(struct ptp4l *client, uint16_t first, uint16_t last, uint16_t id,
		struct mgmt_message *message, struct strays *strays)
{
	uint8_t bytes[MGMT_MESSAGE_MAX + 1];
	const char *reason = "";
	ssize_t length = recv(client->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (length < 0)
		return -1;
	if (mgmt_decode(bytes, (size_t)length, message, &reason)) {
		strays->garbage++;
		strays->reason = reason;
		return 0;
	}
	if (message->action != MGMT_RESPONSE && message->action != MGMT_ACKNOWLEDGE) {
		strays->strange++;
		strays->reason = "not a response";
		return 0;
	}
	if (!is_ours(client, message)) {
		strays->strange++;
		strays->reason = "the answer to someone else";
		return 0;
	}
	/* unsigned differences: the numbers wrap */
	if ((uint16_t)(message->sequence - first) <= (uint16_t)(last - first)) {
		for (unsigned int i = 0; i < message->tlv_count; i++)
			if (message->tlv[i].kind != MGMT_TLV_OTHER && message->tlv[i].id == id)
				return 1;
		strays->reason = "an answer about another data set";
	} else {
		strays->reason = "a wrong sequence number";
	}
	if (client->subscribed && client->notified) {
		for (unsigned int i = 0; i < message->tlv_count; i++)
			if (message->tlv[i].kind == MGMT_TLV_DATA && message->tlv[i].decoded)
				client->notified(client->context, &message->tlv[i]);
		return 0;
	}
	strays->strange++;
	return 0;
}

/* Waits for the socket until `deadline`. 1: readable, 0: time is up, -1: gone. */
static int wait_for(const struct ptp4l *client, short events, int64_t deadline)
{
	for (;;) {
		int64_t left = deadline - now_ns();
		struct pollfd fd = { .fd = client->fd, .events = events };
		struct timespec ts = ns_to_timespec(left > 0 ? left : 0);
		int n = ppoll(&fd, 1, &ts, NULL);

		if (n > 0)
			return 1;
		if (n == 0)
			return 0;
		if (errno != EINTR)
			return -1;
	}
}

/* Returns 0, or -(enum ptp4l_fault). A full queue is waited for until the deadline. */
static int send_message(const struct ptp4l *client, const uint8_t *bytes, size_t length,
			int64_t deadline, struct ptp4l_status *status)
{
	for (;;) {
		if (send(client->fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
			return 0;
		if (errno == EINTR)
			continue;
		if (errno == EAGAIN || errno == ENOBUFS) {
			if (wait_for(client, POLLOUT, deadline) == 1)
				continue;
			set_fault(status, PTP4L_SILENT, "its receive queue is full: it hangs");
			return -PTP4L_SILENT;
		}
		if (errno == ECONNREFUSED || errno == ENOTCONN || errno == ECONNRESET) {
			set_fault(status, PTP4L_GONE, "it closed its socket");
			return -PTP4L_GONE;
		}
		set_fault(status, PTP4L_NOT_SOCKET, strerror(errno));
		return -PTP4L_NOT_SOCKET;
	}
}

static int fault_without_answer(const struct ptp4l *client, const struct strays *strays,
				struct ptp4l_status *status)
{
	enum ptp4l_fault fault = PTP4L_SILENT;

	if (strays->garbage)
		fault = PTP4L_GARBAGE;
	else if (strays->strange)
		fault = PTP4L_STRANGE;
	status->fault = fault;
	if (fault == PTP4L_SILENT)
		snprintf(status->detail, sizeof(status->detail), "no answer within %lld ms",
			 (long long)(client->timeout_ns / NSEC_PER_MSEC));
	else
		snprintf(status->detail, sizeof(status->detail),
			 "%u answers of no use, the last: %s", strays->garbage + strays->strange,
			 strays->reason);
	return -(int)fault;
}

/* Waits for the answer to one of the questions first..last. Returns 0 or -(enum ptp4l_fault). */
static int await(struct ptp4l *client, uint16_t first, uint16_t last, uint16_t id, int64_t deadline,
		 struct mgmt_message *message, struct ptp4l_status *status)
{
	struct strays strays = { 0 };

	for (;;) {
		int taken = take(client, first, last, id, message, &strays);

		if (taken == 1)
			return 0;
		/* looked at also while something comes: a chatterbox must not hold us */
		if (now_ns() >= deadline || (taken < 0 && wait_for(client, POLLIN, deadline) != 1))
			return fault_without_answer(client, &strays, status);
	}
}

static uint16_t next_sequence(struct ptp4l *client)
{
	return ++client->address.sequence;
}

/*
 * ptp4l says nothing to a wrong domain or transportSpecific, so all are asked at once; the answer says
 * which was right.
 */
static int ask_all(struct ptp4l *client, const struct ptp4l_config *config, int first_domain,
		   int last_domain, struct ptp4l_status *status)
{
	int64_t deadline = now_ns() + client->timeout_ns;
	uint16_t first = (uint16_t)(client->address.sequence + 1);
	struct mgmt_message message;
	int err;

	for (int domain = first_domain; domain <= last_domain; domain++)
		for (int specific = 0; specific <= 1; specific++) {
			uint8_t bytes[MGMT_HEADER_SIZE + 6];

			if (config->transport_specific >= 0 &&
			    config->transport_specific != specific)
				continue;
			client->address.domain = (uint8_t)domain;
			client->address.transport_specific = (uint8_t)specific;
			next_sequence(client);
			err = send_message(
				client, bytes,
				mgmt_encode_get(bytes, &client->address, MGMT_DEFAULT_DATA_SET),
				deadline, status);
			if (err)
				return err;
		}
	err = await(client, first, client->address.sequence, MGMT_DEFAULT_DATA_SET, deadline,
		    &message, status);
	if (err)
		return err;
	client->address.domain = message.domain;
	client->address.transport_specific = message.transport_specific;
	status->domain = message.domain;
	status->transport_specific = message.transport_specific;
	status->minor_version = message.minor_version;
	set_fault(status, PTP4L_FINE, "");
	return 0;
}

static int find_domain(struct ptp4l *client, const struct ptp4l_config *config,
		       struct ptp4l_status *status)
{
	int err;

	if (config->domain >= 0)
		return ask_all(client, config, config->domain, config->domain, status);
	/* nearly all are in domain 0: the others are not bothered for those */
	err = ask_all(client, config, 0, 0, status);
	if (err == -PTP4L_SILENT)
		err = ask_all(client, config, 1, 127, status);
	return err;
}

static void choose_identity(struct ptp4l *client)
{
	struct port_identity *source = &client->address.source;

	/* random: two clients of one ptp4l must differ, or one takes the other's subscription */
	if (getrandom(source->clock, sizeof(source->clock), GRND_NONBLOCK) !=
	    (ssize_t)sizeof(source->clock)) {
		int64_t seed = now_ns() ^ (int64_t)getpid() << 32;

		memcpy(source->clock, &seed, sizeof(source->clock));
	}
	source->clock[0] |= 2; /* locally administered */
	source->port = (uint16_t)(getpid() & 0x7fff) + 1;
	client->address.sequence = 0x8000; /* notifications count from 0 */
}

static struct ptp4l *open_socket(const char *server, const struct ptp4l_config *config,
				 struct ptp4l_status *status)
{
	struct ptp4l *client = calloc(1, sizeof(*client));
	int err;

	memset(status, 0, sizeof(*status));
	snprintf(status->socket, sizeof(status->socket), "%s", server);
	if (!client) {
		set_fault(status, PTP4L_NO_PATH, strerror(ENOMEM));
		return NULL;
	}
	client->directory = (struct scratch)SCRATCH_INIT;
	client->timeout_ns = config->timeout_ns ? config->timeout_ns : PTP4L_TIMEOUT_NS;
	choose_identity(client);
	client->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (client->fd < 0) {
		set_fault(status, PTP4L_NO_PATH, strerror(errno));
		goto out;
	}
	err = bind_own_socket(client);
	if (err) {
		set_fault(status, PTP4L_NO_PATH, strerror(-err));
		goto out;
	}
	if (connect_server(client, server, status))
		goto out;
	if (find_domain(client, config, status))
		goto out;
	return client;
out:
	ptp4l_close(client);
	return NULL;
}

struct ptp4l *ptp4l_open(const struct ptp4l_config *config, struct ptp4l_status *status)
{
	/* newest linuxptp, then 4.x and 3.1; the read-only socket only where the other is closed to us:
	 * it does not tell the ports' interfaces */
	static const struct {
		const char *path;
		bool read_only;
	} places[] = { { "/var/run/ptp/ptp4l", false },
		       { "/var/run/ptp4l", false },
		       { "/var/run/ptp/ptp4lro", true },
		       { "/var/run/ptp4lro", true } };
	struct ptp4l_status best = { .fault = PTP4L_FINE };

	if (config->socket) {
		struct ptp4l *client = open_socket(config->socket, config, status);
		size_t length = strlen(config->socket);

		status->read_only = length > 2 && !strcmp(config->socket + length - 2, "ro");
		return client;
	}
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct ptp4l *client = open_socket(places[i].path, config, status);

		status->read_only = places[i].read_only;
		if (client)
			return client;
		/* "absent" names the path that most versions have */
		if (status->fault > best.fault ||
		    (status->fault == PTP4L_ABSENT && best.fault == PTP4L_ABSENT && i == 1))
			best = *status;
	}
	*status = best;
	return NULL;
}

void ptp4l_close(struct ptp4l *client)
{
	if (!client)
		return;
	if (client->subscribed) {
		struct ptp4l_status ignored;

		ptp4l_subscribe(client, 0, 0, &ignored);
	}
	if (client->fd >= 0)
		close(client->fd);
	scratch_remove(&client->directory);
	free(client);
}

/* Which port a TLV speaks of, or 0. */
static unsigned int port_of(const struct mgmt_tlv *tlv, const struct mgmt_message *message)
{
	switch (tlv->id) {
	case MGMT_PORT_DATA_SET:
		return tlv->data.port.id.port;
	case MGMT_PORT_PROPERTIES_NP:
		return tlv->data.properties.id.port;
	case MGMT_PORT_HWCLOCK_NP:
		return tlv->data.hwclock.id.port;
	default:
		return message->source.port;
	}
}

int ptp4l_get(struct ptp4l *client, uint16_t id, struct mgmt_tlv *tlv, int max, int ports,
	      struct ptp4l_status *status)
{
	int64_t deadline = now_ns() + client->timeout_ns;
	unsigned int seen[PTP4L_PORTS_MAX];
	uint8_t bytes[MGMT_HEADER_SIZE + 6];
	uint16_t sequence = next_sequence(client);
	struct mgmt_message message;
	int count = 0;
	int err;

	if (max > PTP4L_PORTS_MAX)
		max = PTP4L_PORTS_MAX;
	if (ports > max)
		ports = max;
	err = send_message(client, bytes, mgmt_encode_get(bytes, &client->address, id), deadline,
			   status);
	if (err)
		return err;
	while (count < ports) {
		err = await(client, sequence, sequence, id, deadline, &message, status);
		if (err && count) /* a port that does not answer is no fault of those that do */
			set_fault(status, PTP4L_FINE, "");
		if (err)
			return count ? count : err;
		for (unsigned int i = 0; i < message.tlv_count && count < ports; i++) {
			int at = 0;

			if (message.tlv[i].kind == MGMT_TLV_OTHER || message.tlv[i].id != id)
				continue;
			if (message.tlv[i].kind == MGMT_TLV_ERROR) {
				tlv[0] = message.tlv[i];
				status->fault = PTP4L_REFUSED;
				snprintf(status->detail, sizeof(status->detail), "%s: %s",
					 mgmt_id_name(id), mgmt_error_name(tlv[0].error));
				return -PTP4L_REFUSED;
			}
			if (!message.tlv[i].decoded)
				continue;
			/* a second answer of one port replaces the first */
			while (at < count && seen[at] != port_of(&message.tlv[i], &message))
				at++;
			tlv[at] = message.tlv[i];
			seen[at] = port_of(&message.tlv[i], &message);
			if (at == count)
				count++;
		}
		/* what came is taken, however late we are; but one may repeat himself for ever */
		if (now_ns() >= deadline)
			break;
	}
	return count;
}

int ptp4l_subscribe(struct ptp4l *client, unsigned int events, uint16_t duration_s,
		    struct ptp4l_status *status)
{
	int64_t deadline = now_ns() + client->timeout_ns;
	uint8_t bytes[MGMT_SUBSCRIBE_SIZE];
	uint16_t sequence = next_sequence(client);
	struct mgmt_message message;
	int err;

	err = send_message(client, bytes,
			   mgmt_encode_subscribe(bytes, &client->address, duration_s, events),
			   deadline, status);
	if (!events) { /* on the way out: not waited for */
		client->subscribed = false;
		return err;
	}
	if (err)
		return err;
	err = await(client, sequence, sequence, MGMT_SUBSCRIBE_EVENTS_NP, deadline, &message,
		    status);
	if (err)
		return err;
	for (unsigned int i = 0; i < message.tlv_count; i++)
		if (message.tlv[i].kind == MGMT_TLV_ERROR) {
			status->fault = PTP4L_REFUSED;
			snprintf(status->detail, sizeof(status->detail), "SUBSCRIBE_EVENTS_NP: %s",
				 mgmt_error_name(message.tlv[i].error));
			return -PTP4L_REFUSED;
		}
	client->subscribed = true;
	return 0;
}

void ptp4l_on_notify(struct ptp4l *client, ptp4l_notified notified, void *context)
{
	client->notified = notified;
	client->context = context;
}

int ptp4l_fd(const struct ptp4l *client)
{
	return client->fd;
}

void ptp4l_receive(struct ptp4l *client)
{
	struct mgmt_message message;
	struct strays strays = { 0 };

	/* no question is open: nothing is an answer. Bounded: a flood must not hold the watcher. */
	for (int i = 0; i < 64; i++)
		if (take(client, client->address.sequence, client->address.sequence, 0xffff,
			 &message, &strays) < 0)
			return;
}

const char *ptp4l_fault_name(enum ptp4l_fault fault)
{
	static const char *const names[] = {
		[PTP4L_FINE] = "fine",
		[PTP4L_ABSENT] = "absent",
		[PTP4L_NOT_SOCKET] = "not a socket",
		[PTP4L_STALE] = "stale",
		[PTP4L_FORBIDDEN] = "forbidden",
		[PTP4L_NO_PATH] = "no path",
		[PTP4L_SILENT] = "silent",
		[PTP4L_STRANGE] = "strange",
		[PTP4L_GARBAGE] = "garbage",
		[PTP4L_GONE] = "gone",
		[PTP4L_REFUSED] = "refused",
	};

	return names[fault];
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * simprobe: sends described frames out of one simulated port, receives them on the other, and
 * prints one line for each with its launch time and its hardware stamps.
 *
 *   simprobe [-r] [-l LEAD_NS] [-e ETHERTYPE] [-w WAIT_MS] [-b BASE_TAI_NS] [-s FILE] TX RX FRAMES...
 *   simprobe -x /dev/ptpN
 *
 * FRAMES is a comma-separated list: prio=0-15, len=60-9000 (without FCS), at=NS after the base
 * (absent: at once, without a launch time), n=COUNT, step=NS between them, stamp=0|1, vid=VID.
 * The base is a full second of CLOCK_TAI, at least half a second ahead; -b sets it. Frames are
 * handed over LEAD_NS (1000000) before their launch time. -r: SO_TXTIME error reports are printed.
 * Output: "base NS", then for each frame
 *   "I prio=P len=L launch=NS|- tx=NS|- ntx=N rx=NS|- sw=NS|- nrx=N order=K err=0|ERRNO report=0|ERRNO"
 * (tx, rx: hardware stamps; sw: the kernel's stamp of the arrival, CLOCK_REALTIME)
 * and at last "other=N": received frames of the EtherType that it did not send, and "zero=N":
 * frames of zeros. -s: the associative array F for a shell to source, too: [I.KEY]=VALUE of the first
 * 20 frames and the last, and [least]= and [most]= of TX stamp minus launch time of all that have
 * both. -x: "precise NS", PHC minus CLOCK_REALTIME by the clock's cross time stamp, or
 * "precise ERRNO-NAME".
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/errqueue.h>
#include <linux/if_packet.h>
#include <linux/net_tstamp.h>
#include <linux/ptp_clock.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAX_FRAMES 400000
#define MAX_LEN 9018
#define SHELL_FRAMES 20 /* each word costs bash 40 us of virtual time */
#define NONE INT64_MIN
#define MAGIC 0x53494d50u

struct frame {
	int prio, len, vid;
	bool stamp;
	int64_t launch, tx, rx, sw;
	unsigned int ntx, nrx, order;
	int err, report, index;
};

static struct frame *frames;
static unsigned int n_frames;
static unsigned int other, zero, order;
static uint16_t ethertype = 0x88b5;
static int64_t base = NONE;

static void die(const char *what)
{
	fprintf(stderr, "simprobe: %s: %s\n", what, strerror(errno));
	exit(3);
}

static int64_t now_tai(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_TAI, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static void sleep_until(int64_t tai)
{
	struct timespec ts = { .tv_sec = tai / 1000000000, .tv_nsec = tai % 1000000000 };

	while (clock_nanosleep(CLOCK_TAI, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

static void add(char *list)
{
	char *const keys[] = { "prio", "len", "at", "n", "step", "stamp", "vid", NULL };
	struct frame f = { .len = 60,
			   .stamp = true,
			   .vid = -1,
			   .launch = NONE,
			   .tx = NONE,
			   .rx = NONE,
			   .sw = NONE };
	int64_t at = NONE, step = 0, v;
	unsigned int i, n = 1;
	char *value;

	while (*list) {
		int key = getsubopt(&list, keys, &value);

		if (key < 0 || !value) {
			fprintf(stderr, "simprobe: bad frame list\n");
			exit(2);
		}
		v = strtoll(value, NULL, 0);
		switch (key) {
		case 0:
			f.prio = v;
			break;
		case 1:
			f.len = v;
			break;
		case 2:
			at = v;
			break;
		case 3:
			n = v;
			break;
		case 4:
			step = v;
			break;
		case 5:
			f.stamp = v;
			break;
		case 6:
			f.vid = v;
			break;
		}
	}
	if (f.len < 60 || f.len > MAX_LEN || n_frames + n > MAX_FRAMES) {
		fprintf(stderr, "simprobe: frame length or count out of range\n");
		exit(2);
	}
	for (i = 0; i < n; i++) {
		f.launch = at == NONE ? NONE : base + at + i * step;
		f.index = n_frames;
		frames[n_frames++] = f;
	}
}

static void hwtstamp_on(int fd, const char *name)
{
	struct hwtstamp_config cfg = { .tx_type = HWTSTAMP_TX_ON,
				       .rx_filter = HWTSTAMP_FILTER_ALL };
	struct ifreq ifr = {};

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	ifr.ifr_data = (void *)&cfg;
	if (ioctl(fd, SIOCSHWTSTAMP, &ifr))
		die("SIOCSHWTSTAMP");
}

static int open_port(const char *name, int protocol)
{
	int fd = socket(AF_PACKET, SOCK_RAW, htons(protocol));
	struct sockaddr_ll addr = { .sll_family = AF_PACKET, .sll_protocol = htons(protocol) };
	int big = 64 << 20, flags;

	if (fd < 0)
		die("socket");
	addr.sll_ifindex = if_nametoindex(name);
	if (!addr.sll_ifindex || bind(fd, (void *)&addr, sizeof(addr)))
		die(name);
	hwtstamp_on(fd, name);
	flags = SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE |
		SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE;
	setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof(flags));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &big, sizeof(big));
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &big, sizeof(big));
	return fd;
}

/* Index from our own frame, -1 for another's, -2 for an empty one. */
static int frame_index(const uint8_t *p, int len)
{
	int at = p[12] == 0x81 && p[13] == 0 ? 18 : 14, i;
	uint32_t v[2];

	if (len < at + 8)
		return -1;
	for (i = 0; i < len && !p[i]; i++)
		;
	if (i == len)
		return -2;
	memcpy(v, p + at, sizeof(v));
	if (p[at - 2] != ethertype >> 8 || p[at - 1] != (ethertype & 0xff) ||
	    ntohl(v[0]) != MAGIC || ntohl(v[1]) >= n_frames)
		return -1;
	return ntohl(v[1]);
}

static void take(int fd, int flags, bool is_tx)
{
	uint8_t data[MAX_LEN + 64], control[512];
	struct iovec iov = { data, sizeof(data) };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control,
			      .msg_controllen = sizeof(control) };
	struct sock_extended_err *err = NULL;
	struct cmsghdr *c;
	int64_t stamp = NONE, sw = NONE;
	int len, i;

	len = recvmsg(fd, &msg, flags | MSG_DONTWAIT);
	if (len < 0)
		return;
	for (c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_TIMESTAMPING) {
			struct timespec *ts = (void *)CMSG_DATA(c);

			if (ts[2].tv_sec || ts[2].tv_nsec)
				stamp = ts[2].tv_sec * 1000000000LL + ts[2].tv_nsec;
			if (ts[0].tv_sec || ts[0].tv_nsec)
				sw = ts[0].tv_sec * 1000000000LL + ts[0].tv_nsec;
		}
		if (c->cmsg_level == SOL_PACKET && c->cmsg_type == PACKET_TX_TIMESTAMP)
			err = (void *)CMSG_DATA(c);
	}
	i = frame_index(data, len);
	if (i == -2)
		zero++;
	else if (i < 0 && !is_tx)
		other++;
	if (i < 0)
		return;
	if (!is_tx) {
		if (!frames[i].nrx++) {
			frames[i].rx = stamp;
			frames[i].sw = sw;
		}
		if (!frames[i].order)
			frames[i].order = ++order;
	} else if (err && err->ee_origin == SO_EE_ORIGIN_TXTIME) {
		frames[i].report = err->ee_errno;
	} else if (!frames[i].ntx++) {
		frames[i].tx = stamp;
	}
}

static void drain(int tx, int rx)
{
	struct pollfd p[2] = { { .fd = tx }, { .fd = rx, .events = POLLIN } };
	socklen_t len = sizeof(int);
	int i, err;

	while (poll(p, 2, 0) > 0) {
		if (p[0].revents & POLLERR)
			take(tx, MSG_ERRQUEUE, true);
		if (p[1].revents & POLLIN)
			take(rx, 0, false);
		/* a port that went down leaves an error on the socket, which poll reports for ever */
		for (i = 0; i < 2; i++)
			if (!getsockopt(p[i].fd, SOL_SOCKET, SO_ERROR, &err, &len) && err)
				return;
	}
}

static void send_frame(int fd, struct frame *f, const uint8_t *mac)
{
	uint8_t data[MAX_LEN] = { 0x91, 0xe0, 0xf0, 0x00, 0xfe, 0x01 };
	char control[CMSG_SPACE(sizeof(uint64_t)) + CMSG_SPACE(sizeof(uint32_t))] = {};
	struct iovec iov = { data, f->len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control };
	uint32_t v[2] = { htonl(MAGIC), htonl(f->index) };
	struct cmsghdr *c = (void *)control;
	int at = 12, prio = f->prio;

	memcpy(data + 6, mac, 6);
	if (f->vid >= 0) {
		data[at++] = 0x81;
		data[at++] = 0x00;
		data[at++] = (f->prio & 7) << 5 | f->vid >> 8;
		data[at++] = f->vid & 0xff;
	}
	data[at++] = ethertype >> 8;
	data[at++] = ethertype & 0xff;
	memcpy(data + at, v, sizeof(v));
	if (f->launch != NONE) {
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_TXTIME;
		c->cmsg_len = CMSG_LEN(sizeof(uint64_t));
		memcpy(CMSG_DATA(c), &f->launch, sizeof(uint64_t));
		msg.msg_controllen += CMSG_SPACE(sizeof(uint64_t));
		c = (void *)(control + msg.msg_controllen);
	}
	if (f->stamp) {
		uint32_t flags = SOF_TIMESTAMPING_TX_HARDWARE;

		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SO_TIMESTAMPING;
		c->cmsg_len = CMSG_LEN(sizeof(flags));
		memcpy(CMSG_DATA(c), &flags, sizeof(flags));
		msg.msg_controllen += CMSG_SPACE(sizeof(flags));
	}
	setsockopt(fd, SOL_SOCKET, SO_PRIORITY, &prio, sizeof(prio));
	if (sendmsg(fd, &msg, 0) < 0)
		f->err = errno;
}

static int by_launch(const void *a, const void *b)
{
	const struct frame *fa = *(struct frame *const *)a, *fb = *(struct frame *const *)b;

	if (fa->launch != fb->launch)
		return fa->launch < fb->launch ? -1 : 1;
	return fa->index - fb->index;
}

static void print_ns(const char *name, int64_t ns)
{
	if (ns == NONE)
		printf(" %s=-", name);
	else
		printf(" %s=%lld", name, (long long)ns);
}

static void print_shell(const char *path)
{
	FILE *out = fopen(path, "w");
	int64_t least = INT64_MAX, most = INT64_MIN;
	unsigned int i;

	if (!out)
		die(path);
	fputs("F=(", out);
	for (i = 0; i < n_frames; i++) {
		const struct frame *f = &frames[i];
		const struct {
			const char *name;
			int64_t value;
		} words[] = {
			{ "len", f->len }, { "launch", f->launch }, { "tx", f->tx },
			{ "ntx", f->ntx }, { "rx", f->rx },         { "sw", f->sw },
			{ "nrx", f->nrx }, { "order", f->order },
		};

		if (f->launch != NONE && f->tx != NONE) {
			least = f->tx - f->launch < least ? f->tx - f->launch : least;
			most = f->tx - f->launch > most ? f->tx - f->launch : most;
		}
		if (i >= SHELL_FRAMES && i != n_frames - 1)
			continue;
		for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++) {
			fprintf(out, "[%u.%s]=", i, words[w].name);
			if (words[w].value == NONE)
				fputs("- ", out);
			else
				fprintf(out, "%lld ", (long long)words[w].value);
		}
	}
	if (most >= least)
		fprintf(out, "[least]=%lld [most]=%lld", (long long)least, (long long)most);
	fputs(")\n", out);
	if (fclose(out))
		die(path);
}

static int precise(const char *path)
{
	struct ptp_sys_offset_precise p = {};
	int fd = open(path, O_RDWR);

	if (fd < 0)
		die(path);
	if (ioctl(fd, PTP_SYS_OFFSET_PRECISE, &p))
		printf("precise %s\n", strerrorname_np(errno));
	else
		printf("precise %lld\n", (p.device.sec - p.sys_realtime.sec) * 1000000000LL +
						 p.device.nsec - p.sys_realtime.nsec);
	return 0;
}

int main(int argc, char **argv)
{
	struct sock_txtime txtime = { .clockid = CLOCK_TAI, .flags = 0 };
	int64_t lead = 1000000, wait_ms = 200;
	struct packet_mreq mreq = { .mr_type = PACKET_MR_MULTICAST,
				    .mr_alen = 6,
				    .mr_address = { 0x91, 0xe0, 0xf0, 0x00, 0xfe, 0x01 } };
	struct frame **sorted;
	struct ifreq ifr = {};
	unsigned int i;
	const char *shell = NULL;
	int opt, tx, rx;

	while ((opt = getopt(argc, argv, "rl:e:w:b:s:x:")) != -1)
		switch (opt) {
		case 'r':
			txtime.flags = SOF_TXTIME_REPORT_ERRORS;
			break;
		case 's':
			shell = optarg;
			break;
		case 'l':
			lead = strtoll(optarg, NULL, 0);
			break;
		case 'e':
			ethertype = strtol(optarg, NULL, 0);
			break;
		case 'w':
			wait_ms = strtoll(optarg, NULL, 0);
			break;
		case 'b':
			base = strtoll(optarg, NULL, 0);
			break;
		case 'x':
			return precise(optarg);
		default:
			return 2;
		}
	if (argc - optind < 3) {
		fprintf(stderr, "usage: simprobe [-r] [-l LEAD] [-e TYPE] [-w MS] [-b BASE] [-s "
				"FILE] TX RX "
				"FRAMES...\n");
		return 2;
	}
	if (base == NONE)
		base = (now_tai() + 1500000000) / 1000000000 * 1000000000;
	frames = calloc(MAX_FRAMES, sizeof(*frames));
	for (opt = optind + 2; opt < argc; opt++)
		add(argv[opt]);

	tx = open_port(argv[optind], 0);
	rx = open_port(argv[optind + 1], 0x0003 /* ETH_P_ALL */);
	mreq.mr_ifindex = if_nametoindex(argv[optind + 1]);
	setsockopt(rx, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &mreq, sizeof(mreq));
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", argv[optind]);
	if (ioctl(tx, SIOCGIFHWADDR, &ifr))
		die("SIOCGIFHWADDR");
	if (setsockopt(tx, SOL_SOCKET, SO_TXTIME, &txtime, sizeof(txtime)))
		die("SO_TXTIME");

	sorted = calloc(n_frames, sizeof(*sorted));
	for (i = 0; i < n_frames; i++)
		sorted[i] = &frames[i];
	qsort(sorted, n_frames, sizeof(*sorted), by_launch);
	if (sorted[0]->launch == NONE)
		sleep_until(base - 100000000);
	for (i = 0; i < n_frames; i++) {
		if (sorted[i]->launch != NONE && sorted[i]->launch - lead > now_tai()) {
			drain(tx, rx);
			sleep_until(sorted[i]->launch - lead);
		}
		send_frame(tx, sorted[i], (uint8_t *)ifr.ifr_hwaddr.sa_data);
	}
	if (n_frames && sorted[n_frames - 1]->launch != NONE)
		sleep_until(sorted[n_frames - 1]->launch);
	while (wait_ms > 0) {
		usleep(5000);
		wait_ms -= 5;
		drain(tx, rx);
	}

	if (shell)
		print_shell(shell);
	printf("base %lld\n", (long long)base);
	for (i = 0; i < n_frames; i++) {
		struct frame *f = &frames[i];

		printf("%u prio=%d len=%d", i, f->prio, f->len);
		print_ns("launch", f->launch);
		print_ns("tx", f->tx);
		printf(" ntx=%u", f->ntx);
		print_ns("rx", f->rx);
		print_ns("sw", f->sw);
		printf(" nrx=%u order=%u err=%d report=%d\n", f->nrx, f->order, f->err, f->report);
	}
	printf("other=%u zero=%u\n", other, zero);
	return 0;
}

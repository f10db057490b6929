// SPDX-License-Identifier: GPL-2.0-only
#include "host/hwtstamp.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/if_ether.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOTE_DIRECTORY "/run/tsnpub"
#define NOTE_MAGIC 0x48575453 /* "HWTS" */

/* What the first of our processes found, kept in a file that each of them holds a shared lock on. */
struct note {
	uint32_t magic;
	uint8_t mac[6];
	uint16_t reserved;
	struct hwtstamp_config before;
	struct hwtstamp_config ours;
};

struct hwtstamp {
	char ifname[IFNAMSIZ];
	int ifindex;
	uint8_t mac[6];
	char note_path[96];
	int note_fd; /* -1: no note could be kept */
	bool ptp_before; /* a PTP daemon had the port open when we came */
	struct hwtstamp_config before;
	struct hwtstamp_config ours;
};

static const char *const tx_names[] = {
	[HWTSTAMP_TX_OFF] = "off",
	[HWTSTAMP_TX_ON] = "on",
	[HWTSTAMP_TX_ONESTEP_SYNC] = "onestep-sync",
	[HWTSTAMP_TX_ONESTEP_P2P] = "onestep-p2p",
};

static const char *const rx_names[] = {
	[HWTSTAMP_FILTER_NONE] = "none",
	[HWTSTAMP_FILTER_ALL] = "all",
	[HWTSTAMP_FILTER_SOME] = "some",
	[HWTSTAMP_FILTER_PTP_V1_L4_EVENT] = "ptpv1-l4-event",
	[HWTSTAMP_FILTER_PTP_V1_L4_SYNC] = "ptpv1-l4-sync",
	[HWTSTAMP_FILTER_PTP_V1_L4_DELAY_REQ] = "ptpv1-l4-delay-req",
	[HWTSTAMP_FILTER_PTP_V2_L4_EVENT] = "ptpv2-l4-event",
	[HWTSTAMP_FILTER_PTP_V2_L4_SYNC] = "ptpv2-l4-sync",
	[HWTSTAMP_FILTER_PTP_V2_L4_DELAY_REQ] = "ptpv2-l4-delay-req",
	[HWTSTAMP_FILTER_PTP_V2_L2_EVENT] = "ptpv2-l2-event",
	[HWTSTAMP_FILTER_PTP_V2_L2_SYNC] = "ptpv2-l2-sync",
	[HWTSTAMP_FILTER_PTP_V2_L2_DELAY_REQ] = "ptpv2-l2-delay-req",
	[HWTSTAMP_FILTER_PTP_V2_EVENT] = "ptpv2-event",
	[HWTSTAMP_FILTER_PTP_V2_SYNC] = "ptpv2-sync",
	[HWTSTAMP_FILTER_PTP_V2_DELAY_REQ] = "ptpv2-delay-req",
	[HWTSTAMP_FILTER_NTP_ALL] = "ntp-all",
};

static const char *name_of(const char *const *names, size_t count, int value)
{
	return value >= 0 && (size_t)value < count && names[value] ? names[value] : "unknown";
}

const char *hwtstamp_tx_name(int tx_type)
{
	return name_of(tx_names, sizeof(tx_names) / sizeof(tx_names[0]), tx_type);
}

const char *hwtstamp_rx_name(int rx_filter)
{
	return name_of(rx_names, sizeof(rx_names) / sizeof(rx_names[0]), rx_filter);
}

static bool same(const struct hwtstamp_config *a, const struct hwtstamp_config *b)
{
	return a->flags == b->flags && a->tx_type == b->tx_type && a->rx_filter == b->rx_filter;
}

bool hwtstamp_merge(const struct hwtstamp_config *current, unsigned int want,
		    struct hwtstamp_config *merged)
{
	*merged = *current;
	if ((want & HWTSTAMP_WANT_TX) && current->tx_type == HWTSTAMP_TX_OFF)
		merged->tx_type = HWTSTAMP_TX_ON;
	if (want & HWTSTAMP_WANT_RX)
		merged->rx_filter = HWTSTAMP_FILTER_ALL;
	return !same(current, merged);
}

unsigned int hwtstamp_granted(const struct hwtstamp_config *config, unsigned int want)
{
	unsigned int granted = 0;

	if (config->tx_type != HWTSTAMP_TX_OFF)
		granted |= HWTSTAMP_WANT_TX;
	if (config->rx_filter == HWTSTAMP_FILTER_ALL)
		granted |= HWTSTAMP_WANT_RX;
	return granted & want;
}

/* Does `now` still give what `before` gave? */
static bool keeps(const struct hwtstamp_config *before, const struct hwtstamp_config *now)
{
	bool tx = before->tx_type == HWTSTAMP_TX_OFF || now->tx_type == before->tx_type;
	bool rx = before->rx_filter == HWTSTAMP_FILTER_NONE ||
		  now->rx_filter == HWTSTAMP_FILTER_ALL || now->rx_filter == before->rx_filter;

	return tx && rx;
}

static bool is_unsupported(int errnum)
{
	return errnum == EOPNOTSUPP || errnum == EINVAL || errnum == ERANGE || errnum == ENOTTY ||
	       errnum == 524 /* ENOTSUPP */;
}

/* Asks for `want` on top of report->now; a refusal leaves the configuration as it is. */
static int add_bits(const struct hwtstamp_driver *driver, unsigned int want,
		    struct hwtstamp_report *report, int *refusal)
{
	struct hwtstamp_config request, undo = report->now;
	int ret;

	if (!hwtstamp_merge(&report->now, want, &request))
		return 0;
	ret = driver->set(driver->context, &request);
	if (ret) {
		*refusal = -ret;
		return is_unsupported(-ret) ? 0 : ret;
	}
	/* not what the call returned but what a second reader sees */
	if (driver->get(driver->context, &report->now))
		report->now = request;
	if (!keeps(&undo, &report->now)) {
		driver->set(driver->context, &undo);
		if (driver->get(driver->context, &report->now))
			report->now = undo;
		*refusal = ERANGE;
	}
	return 0;
}

int hwtstamp_add(const struct hwtstamp_driver *driver, unsigned int want,
		 struct hwtstamp_report *report)
{
	int refusal = 0, ret;

	memset(report, 0, sizeof(*report));
	ret = driver->get(driver->context, &report->before);
	if (ret) {
		if (!is_unsupported(-ret))
			return ret;
		snprintf(report->reason, sizeof(report->reason),
			 "the driver has no hardware timestamping (SIOCGHWTSTAMP: %s)",
			 strerror(-ret));
		return 0;
	}
	report->now = report->before;
	ret = add_bits(driver, want, report, &refusal);
	/* a driver that cannot stamp all received frames may still stamp sent ones, and vice versa */
	for (unsigned int bit = 1; !ret && refusal && bit <= HWTSTAMP_WANT_RX; bit <<= 1)
		if ((want & bit) && want != bit)
			ret = add_bits(driver, bit, report, &refusal);
	report->changed = !same(&report->before, &report->now);
	report->granted = hwtstamp_granted(&report->now, want);
	if (ret)
		return ret;
	if (want & ~report->granted & HWTSTAMP_WANT_RX)
		snprintf(report->reason, sizeof(report->reason),
			 "the driver does not stamp all received frames in hardware (filter is "
			 "'%s'; "
			 "asked for 'all': %s)",
			 hwtstamp_rx_name(report->now.rx_filter),
			 refusal ? strerror(refusal) : "not taken");
	else if (want & ~report->granted)
		snprintf(report->reason, sizeof(report->reason),
			 "the driver does not stamp sent frames in hardware (%s)",
			 refusal ? strerror(refusal) : "not taken");
	return 0;
}

static int interface_ioctl(const char *ifname, unsigned long request, struct ifreq *ifr)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int ret = 0;

	if (fd < 0)
		return -errno;
	snprintf(ifr->ifr_name, sizeof(ifr->ifr_name), "%s", ifname);
	if (ioctl(fd, request, ifr) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

int hwtstamp_read(const char *ifname, struct hwtstamp_config *config)
{
	struct ifreq ifr = { .ifr_data = (void *)config };

	memset(config, 0, sizeof(*config));
	return interface_ioctl(ifname, SIOCGHWTSTAMP, &ifr);
}

static int driver_get(void *context, struct hwtstamp_config *config)
{
	return hwtstamp_read(context, config);
}

static int driver_set(void *context, struct hwtstamp_config *config)
{
	struct ifreq ifr = { .ifr_data = (void *)config };

	return interface_ioctl(context, SIOCSHWTSTAMP, &ifr);
}

/*
 * True if a PTP daemon has the port open over Ethernet (/proc/net/packet), or anywhere over UDP
 * (port 319): it relies on the stamps, and it does not ask for them again.
 */
static bool ptp_daemon_present(int ifindex)
{
	char line[512];
	bool found = false;
	FILE *file = fopen("/proc/net/packet", "re");

	while (file && !found && fgets(line, sizeof(line), file)) {
		unsigned int type, proto;
		int index;

		if (sscanf(line, "%*s %*d %u %x %d", &type, &proto, &index) == 3)
			found = proto == ETH_P_1588 && index == ifindex;
	}
	if (file)
		fclose(file);
	file = found ? NULL : fopen("/proc/net/udp", "re");
	while (file && !found && fgets(line, sizeof(line), file)) {
		unsigned int port;

		if (sscanf(line, "%*d: %*x:%x", &port) == 1)
			found = port == 319;
	}
	if (file)
		fclose(file);
	return found;
}

/* Serialises our processes for the moment of a change; -1 where /run cannot be written. */
static int lock_notes(void)
{
	int fd;

	if (mkdir(NOTE_DIRECTORY, 0755) && errno != EEXIST)
		return -1;
	fd = open(NOTE_DIRECTORY, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && flock(fd, LOCK_EX)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static void unlock_notes(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void open_note(struct hwtstamp *hwtstamp)
{
	struct stat netns;

	hwtstamp->note_fd = -1;
	if (stat("/proc/self/ns/net", &netns))
		return;
	snprintf(hwtstamp->note_path, sizeof(hwtstamp->note_path),
		 NOTE_DIRECTORY "/hwtstamp.%" PRIuMAX ".%d", (uintmax_t)netns.st_ino,
		 hwtstamp->ifindex);
	hwtstamp->note_fd = open(hwtstamp->note_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
				 0600);
}

static bool read_note(const struct hwtstamp *hwtstamp, struct note *note)
{
	return hwtstamp->note_fd >= 0 &&
	       pread(hwtstamp->note_fd, note, sizeof(*note), 0) == sizeof(*note) &&
	       note->magic == NOTE_MAGIC && !memcmp(note->mac, hwtstamp->mac, sizeof(note->mac));
}

/* Without it the last of several processes, and the run after a killed one, know only their own part. */
static void write_note(struct hwtstamp *hwtstamp, const struct note *note)
{
	if (hwtstamp->note_fd < 0 ||
	    pwrite(hwtstamp->note_fd, note, sizeof(*note), 0) == sizeof(*note))
		return;
	close(hwtstamp->note_fd);
	hwtstamp->note_fd = -1;
}

/*
 * Under the lock, before the change: finds what the port was like before any of us came, and notes what is about to be asked
 * for, in case that we are killed right behind it. A note whose holder is gone was left by a killed run; it counts only while
 * the port is still as that run left it. Returns what has to be written where nothing comes of the change (magic 0: nothing).
 */
static struct note begin_note(struct hwtstamp *hwtstamp, unsigned int want)
{
	struct hwtstamp_config current;
	struct note former = { 0 }, note = { .magic = NOTE_MAGIC };
	bool alone, valid;

	if (hwtstamp_read(hwtstamp->ifname, &current))
		return former;
	hwtstamp->before = current;
	open_note(hwtstamp);
	if (hwtstamp->note_fd < 0)
		return former;
	alone = !flock(hwtstamp->note_fd, LOCK_EX | LOCK_NB);
	valid = read_note(hwtstamp, &former) && (!alone || same(&former.ours, &current));
	if (valid)
		hwtstamp->before = former.before;
	else
		former.magic = 0;
	if (alone) {
		note.before = hwtstamp->before;
		hwtstamp_merge(&current, want, &note.ours);
		memcpy(note.mac, hwtstamp->mac, sizeof(note.mac));
		write_note(hwtstamp, &note);
	}
	return former;
}

/* Under the lock, behind it: what came of it. From here on the note is held. */
static void end_note(struct hwtstamp *hwtstamp)
{
	struct note note = { .magic = NOTE_MAGIC,
			     .before = hwtstamp->before,
			     .ours = hwtstamp->ours };

	memcpy(note.mac, hwtstamp->mac, sizeof(note.mac));
	write_note(hwtstamp, &note);
	if (hwtstamp->note_fd >= 0 && flock(hwtstamp->note_fd, LOCK_SH)) {
		close(hwtstamp->note_fd);
		hwtstamp->note_fd = -1;
	}
}

/* Nothing came of it. */
static void drop_note(struct hwtstamp *hwtstamp, const struct note *former)
{
	if (hwtstamp->note_fd < 0)
		return;
	if (former->magic)
		write_note(hwtstamp, former);
	else if (!flock(hwtstamp->note_fd, LOCK_EX | LOCK_NB))
		unlink(hwtstamp->note_path);
	if (hwtstamp->note_fd >= 0)
		close(hwtstamp->note_fd);
	hwtstamp->note_fd = -1;
}

int hwtstamp_enable(const char *ifname, unsigned int want, struct hwtstamp **result,
		    struct hwtstamp_report *report, struct error *err)
{
	char name[IFNAMSIZ];
	struct hwtstamp_driver driver = { driver_get, driver_set, name };
	struct hwtstamp *hwtstamp;
	struct ifreq hardware = { 0 };
	struct note former = { 0 };
	int ret, lock;

	*result = NULL;
	memset(report, 0, sizeof(*report));
	snprintf(name, sizeof(name), "%s", ifname);
	hwtstamp = calloc(1, sizeof(*hwtstamp));
	if (!hwtstamp)
		return error_errno(err, ENOMEM, "timestamping of %s", name);
	hwtstamp->note_fd = -1;
	hwtstamp->ifindex = (int)if_nametoindex(name);
	if (!hwtstamp->ifindex) {
		free(hwtstamp);
		return error_errno(err, errno, "timestamping of %s", name);
	}
	memcpy(hwtstamp->ifname, name, sizeof(name));
	hwtstamp->ptp_before = ptp_daemon_present(hwtstamp->ifindex);
	interface_ioctl(name, SIOCGIFHWADDR, &hardware);
	memcpy(hwtstamp->mac, hardware.ifr_hwaddr.sa_data, sizeof(hwtstamp->mac));

	lock = lock_notes();
	if (lock >= 0)
		former = begin_note(hwtstamp, want);
	ret = hwtstamp_add(&driver, want, report);
	if (ret || !report->granted)
		drop_note(hwtstamp, &former);
	if (ret) {
		unlock_notes(lock);
		free(hwtstamp);
		if (ret == -EPERM)
			return error_errno(err, EPERM,
					   "hardware timestamping of %s cannot be switched on "
					   "without CAP_NET_ADMIN",
					   name);
		return error_errno(err, -ret, "hardware timestamping of %s", name);
	}
	if (report->granted) {
		if (lock < 0)
			hwtstamp->before = report->before;
		hwtstamp->ours = report->now;
		end_note(hwtstamp);
		report->before = hwtstamp->before;
		report->changed = !same(&report->before, &report->now);
		*result = hwtstamp;
		hwtstamp = NULL;
	}
	unlock_notes(lock);
	free(hwtstamp);
	return 0;
}

bool hwtstamp_will_restore(const struct hwtstamp *hwtstamp)
{
	return hwtstamp && !same(&hwtstamp->before, &hwtstamp->ours);
}

/* It may have got another name meanwhile, and another port its former one. False: it is gone. */
static bool find_port(struct hwtstamp *hwtstamp)
{
	struct ifreq hardware = { 0 };
	char name[IFNAMSIZ];

	if (if_indextoname((unsigned int)hwtstamp->ifindex, name)) {
		memcpy(hwtstamp->ifname, name, sizeof(name));
		return true;
	}
	/* a way through another network namespace may have cost it its number */
	return !interface_ioctl(hwtstamp->ifname, SIOCGIFHWADDR, &hardware) &&
	       !memcmp(hwtstamp->mac, hardware.ifr_hwaddr.sa_data, sizeof(hwtstamp->mac));
}

/* Under the lock. */
static int put_back(struct hwtstamp *hwtstamp, struct error *err)
{
	struct hwtstamp_config current, request = hwtstamp->before;
	int ret;

	if (!find_port(hwtstamp))
		return 0;
	ret = hwtstamp_read(hwtstamp->ifname, &current);
	if (ret == -ENODEV || (!ret && !same(&current, &hwtstamp->ours)))
		return 0; /* the port is gone, or someone else has set it since */
	if (!hwtstamp->ptp_before && ptp_daemon_present(hwtstamp->ifindex)) {
		message_note("hardware timestamping of %s stays on: a PTP daemon has started since",
			     hwtstamp->ifname);
		return 0;
	}
	ret = driver_set(hwtstamp->ifname, &request);
	if (!ret)
		ret = hwtstamp_read(hwtstamp->ifname, &current);
	if (!ret && !same(&current, &hwtstamp->before))
		ret = -EIO;
	if (!ret)
		return 0;
	return error_errno(err, -ret,
			   "hardware timestamping of %s could not be put back; "
			   "`hwstamp_ctl -i %s -t %d -r %d` does it",
			   hwtstamp->ifname, hwtstamp->ifname, hwtstamp->before.tx_type,
			   hwtstamp->before.rx_filter);
}

int hwtstamp_restore(struct hwtstamp *hwtstamp, struct error *err)
{
	struct note note;
	int lock, ret = 0;
	bool last = true;

	if (!hwtstamp)
		return 0;
	lock = lock_notes();
	if (hwtstamp->note_fd >= 0)
		last = !flock(hwtstamp->note_fd, LOCK_EX | LOCK_NB);
	/* what those that came later, and are gone, have added */
	if (last && read_note(hwtstamp, &note)) {
		hwtstamp->before = note.before;
		hwtstamp->ours = note.ours;
	}
	if (last && hwtstamp_will_restore(hwtstamp))
		ret = put_back(hwtstamp, err);
	if (last && !ret && hwtstamp->note_fd >= 0)
		unlink(hwtstamp->note_path);
	if (hwtstamp->note_fd >= 0)
		close(hwtstamp->note_fd);
	unlock_notes(lock);
	free(hwtstamp);
	return ret;
}

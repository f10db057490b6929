// SPDX-License-Identifier: GPL-2.0-only
#include "ptp/phc.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/net_tstamp.h>
#include <linux/ptp_clock.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "host/ethtool.h"
#include "host/link.h"

int phc_index_of(const char *iface, int *index, bool *hardware, struct error *err)
{
	struct ethtool_stamping stamping;
	struct ethtool *ethtool;
	int rc;

	*index = -1;
	if (hardware)
		*hardware = false;
	if (!iface[0] || strlen(iface) >= IFNAMSIZ)
		return error_input(err, "'%.32s' is no interface name: 1 to %d characters", iface,
				   IFNAMSIZ - 1);
	if (!if_nametoindex(iface) && errno != ENODEV)
		return error_errno(err, errno, "%s: cannot ask for the interface", iface);
	if (!if_nametoindex(iface))
		return link_not_there(iface, err);
	ethtool = ethtool_open(err);
	if (!ethtool)
		return -1;
	rc = ethtool_stamping(ethtool, iface, &stamping, err);
	ethtool_close(ethtool);
	if (rc < 0)
		return -1;
	if (rc == ETHTOOL_ABSENT)
		return 0;
	*index = stamping.phc_index;
	if (hardware)
		*hardware = (stamping.so_timestamping & SOF_TIMESTAMPING_TX_HARDWARE) &&
			    (stamping.so_timestamping & SOF_TIMESTAMPING_RX_HARDWARE);
	return 0;
}

void phc_name(int index, char *name)
{
	char path[64];
	ssize_t length;
	int fd;

	name[0] = '\0';
	snprintf(path, sizeof(path), "/sys/class/ptp/ptp%d/clock_name", index);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	length = read(fd, name, PHC_NAME_SIZE - 1);
	close(fd);
	name[length > 0 ? length : 0] = '\0';
	for (char *c = name; *c; c++) {
		if (*c == '\n') {
			*c = '\0';
			break;
		}
		if (*c < 0x20 || *c > 0x7e)
			*c = '?';
	}
}

int phc_open(int index, struct error *err)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/dev/ptp%d", index);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	if (errno == EACCES || errno == EPERM)
		return error_errno(err, errno,
				   "no permission to read %s: run as root, or let a udev rule give "
				   "your group read access to it",
				   path);
	return error_errno(err, errno, "cannot open %s", path);
}

static int64_t ptp_ns(const struct ptp_clock_time *t)
{
	return (int64_t)t->sec * NSEC_PER_SEC + t->nsec;
}

int phc_best_triple(const int64_t triples[][3], int count, int64_t *offset_ns, int64_t *window_ns)
{
	int best = -1;

	for (int i = 0; i < count; i++) {
		int64_t window = triples[i][2] - triples[i][0];

		if (window < 0 || (best >= 0 && window >= *window_ns))
			continue;
		best = i;
		*window_ns = window;
		*offset_ns = triples[i][1] - (triples[i][0] + window / 2);
	}
	return best;
}

static int read_precise(int fd, struct phc_reading *reading)
{
	struct ptp_sys_offset_precise precise;

	memset(&precise, 0, sizeof(precise));
	if (ioctl(fd, PTP_SYS_OFFSET_PRECISE, &precise))
		return -errno;
	reading->method = PHC_PRECISE;
	reading->phc_ns = ptp_ns(&precise.device);
	reading->realtime_offset_ns = reading->phc_ns - ptp_ns(&precise.sys_realtime);
	reading->window_ns = 0; /* latched together; what the hardware adds is not told */
	return 0;
}

static int read_extended(int fd, struct phc_reading *reading)
{
	struct ptp_sys_offset_extended extended;
	int64_t triples[PHC_SAMPLES][3];
	int best;

	memset(&extended, 0, sizeof(extended));
	extended.n_samples = PHC_SAMPLES;
	if (ioctl(fd, PTP_SYS_OFFSET_EXTENDED, &extended))
		return -errno;
	for (int i = 0; i < PHC_SAMPLES; i++)
		for (int j = 0; j < 3; j++)
			triples[i][j] = ptp_ns(&extended.ts[i][j]);
	best = phc_best_triple(triples, PHC_SAMPLES, &reading->realtime_offset_ns,
			       &reading->window_ns);
	if (best < 0)
		return -EAGAIN;
	reading->method = PHC_EXTENDED;
	reading->phc_ns = triples[best][1];
	return 0;
}

static int read_basic(int fd, struct phc_reading *reading)
{
	struct ptp_sys_offset basic;
	int64_t triples[PHC_SAMPLES][3];
	int best;

	memset(&basic, 0, sizeof(basic));
	basic.n_samples = PHC_SAMPLES;
	if (ioctl(fd, PTP_SYS_OFFSET, &basic))
		return -errno;
	/* system, PHC, system, PHC ... system */
	for (int i = 0; i < PHC_SAMPLES; i++)
		for (int j = 0; j < 3; j++)
			triples[i][j] = ptp_ns(&basic.ts[2 * i + j]);
	best = phc_best_triple(triples, PHC_SAMPLES, &reading->realtime_offset_ns,
			       &reading->window_ns);
	if (best < 0)
		return -EAGAIN;
	reading->method = PHC_BASIC;
	reading->phc_ns = triples[best][1];
	return 0;
}

int phc_read(int fd, struct phc_reading *reading, struct error *err)
{
	int tai = 0;
	int rc = 0;

	memset(reading, 0, sizeof(*reading));
	/* once more when someone set the TAI offset, or stepped the clock, within the reading */
	for (int attempt = 0; attempt < 3; attempt++) {
		tai = tai_offset_seconds();
		rc = read_precise(fd, reading);
		if (rc == -EOPNOTSUPP || rc == -ENOTTY || rc == -EINVAL)
			rc = read_extended(fd, reading);
		if (rc == -EOPNOTSUPP || rc == -ENOTTY || rc == -EINVAL)
			rc = read_basic(fd, reading);
		if (!rc && tai == tai_offset_seconds())
			break;
	}
	if (rc)
		return error_errno(err, -rc, "cannot compare the PTP clock with the system clock");
	reading->tai_offset_ns = reading->realtime_offset_ns - tai * NSEC_PER_SEC;
	return 0;
}

/* The kernel's FD_TO_CLOCKID: a dynamic clock behind a file descriptor. */
static clockid_t phc_clock(int fd)
{
	return (clockid_t)((~(unsigned int)fd << 3) | 3);
}

int phc_point(int fd, struct phc_point *point)
{
	int64_t triples[PHC_SAMPLES][3];
	int64_t offset = 0;
	int best;

	for (int i = 0; i < PHC_SAMPLES; i++) {
		struct timespec phc;

		triples[i][0] = clock_now_ns(CLOCK_MONOTONIC_RAW);
		if (clock_gettime(phc_clock(fd), &phc))
			return -errno;
		triples[i][2] = clock_now_ns(CLOCK_MONOTONIC_RAW);
		triples[i][1] = timespec_to_ns(phc);
	}
	best = phc_best_triple(triples, PHC_SAMPLES, &offset, &point->window_ns);
	if (best < 0)
		return -EAGAIN;
	point->phc_ns = triples[best][1];
	point->raw_ns = triples[best][1] - offset;
	return 0;
}

int64_t phc_frequency_ppb(const struct phc_point *from, const struct phc_point *to,
			  int64_t *uncertainty_ppb)
{
	int64_t elapsed = to->raw_ns - from->raw_ns;
	double gained = (double)(to->phc_ns - from->phc_ns - elapsed);

	if (elapsed < 1000) {
		*uncertainty_ppb = INT64_MAX;
		return 0;
	}
	*uncertainty_ppb =
		(int64_t)((double)(from->window_ns + to->window_ns) / 2 * 1e9 / (double)elapsed) +
		1;
	gained = gained * 1e9 / (double)elapsed;
	/* a stepped PHC is no frequency: keep it in range */
	return gained > 1e15    ? 1000000000000000
	       : gained < -1e15 ? -1000000000000000
				: (int64_t)gained;
}

const char *phc_method_name(enum phc_method method)
{
	static const char *const names[] = { "none", "precise", "extended", "basic" };

	return names[method];
}

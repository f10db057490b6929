// SPDX-License-Identifier: GPL-2.0-only
/*
 * LD_PRELOAD for isochron (0.9~rc4 of Debian) on ports without hardware stamps, such as veth: it can work with
 * software stamps, but ends when the port refuses to configure hardware ones, and its receiver when there is no PHC.
 * Told that all is well it goes on. Nothing that happens once a frame passes through here: CPU time stays its own.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <string.h>
#include <time.h>

#include "tests/preload.h"

static int answered(unsigned long request, void *arg, int result)
{
	if (result < 0 && request == SIOCSHWTSTAMP && errno == EOPNOTSUPP)
		return 0;
	if (result == 0 && request == SIOCETHTOOL) {
		struct ethtool_ts_info *info = (void *)((struct ifreq *)arg)->ifr_data;

		if (info->cmd == ETHTOOL_GET_TS_INFO && info->phc_index < 0)
			info->phc_index = 0;
	}
	return result;
}

int open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list args;

	va_start(args, flags);
	if (flags & O_CREAT)
		mode = va_arg(args, mode_t);
	va_end(args);
	if (!strcmp(path, "/dev/ptp0"))
		path = "/dev/null";
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

/* What was opened for a PHC is none, and cannot be read. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
	static int (*next)(clockid_t clock, struct timespec * time);

	if (!next)
		next = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	return next(clock < 0 ? CLOCK_REALTIME : clock, time);
}

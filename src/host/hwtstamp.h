/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hardware timestamping of an interface (SIOCGHWTSTAMP, SIOCSHWTSTAMP; the kernel's
 * Documentation/networking/timestamping.rst): read first, only added to, restored at the end, so that
 * ptp4l on the same port does not notice.
 *
 * Several of our processes may use one port: the first notes what was there in /run/tsnpub, the last
 * one restores it. A run that was killed leaves its note behind; the next one restores from it.
 */
#ifndef HOST_HWTSTAMP_H
#define HOST_HWTSTAMP_H

#include <linux/net_tstamp.h>
#include <stdbool.h>

#include "base/error.h"

#define HWTSTAMP_WANT_TX 1U /* stamps of sent frames that ask for them */
#define HWTSTAMP_WANT_RX 2U /* stamps of all received frames */

/* What came of the request. */
struct hwtstamp_report {
	unsigned int granted; /* HWTSTAMP_WANT_* bits in force, read back from the driver */
	bool changed; /* the configuration was added to, and will be restored */
	struct hwtstamp_config before; /* as it was found (or as an earlier run of ours found it) */
	struct hwtstamp_config now; /* as it is in force */
	char reason[192]; /* why a wanted bit is not granted; "" when all are */
};

struct hwtstamp;

/*
 * Adds the wanted bits to the configuration of `ifname`, which keeps all that was switched on before.
 * No hardware timestamping is not an error: *hwtstamp is NULL, report->granted 0 and the reason says
 * why. Returns 0, or -1 with the error filled in (no such interface, no permission); then nothing has
 * changed. Needs CAP_NET_ADMIN if something has to change, now and in hwtstamp_restore().
 */
int hwtstamp_enable(const char *ifname, unsigned int want, struct hwtstamp **hwtstamp,
		    struct hwtstamp_report *report, struct error *err);

/* True if hwtstamp_restore() will have to change the port, and so needs CAP_NET_ADMIN. */
bool hwtstamp_will_restore(const struct hwtstamp *hwtstamp);

/*
 * Puts back what was found and frees; NULL is allowed. Left as it is, with 0 returned, when another
 * process of ours still uses the port, when someone else has changed the configuration since, or when
 * a PTP daemon has opened the port in the meantime (a note on stderr says so). Returns 0, or -1 with
 * the error filled in.
 */
int hwtstamp_restore(struct hwtstamp *hwtstamp, struct error *err);

/* Reads the configuration in force; 0, or -errno (-EOPNOTSUPP: the driver has none). */
int hwtstamp_read(const char *ifname, struct hwtstamp_config *config);

/* "off", "on", "onestep-sync", ... as ethtool and hwstamp_ctl call them; "unknown" for others. */
const char *hwtstamp_tx_name(int tx_type);
const char *hwtstamp_rx_name(int rx_filter);

/*
 * Pure: `current` with the wanted bits added. Returns true if that differs from `current`.
 * One-step TX types are kept: they stamp ordinary frames as well.
 */
bool hwtstamp_merge(const struct hwtstamp_config *current, unsigned int want,
		    struct hwtstamp_config *merged);

/* Pure: the wanted bits that `config` gives. */
unsigned int hwtstamp_granted(const struct hwtstamp_config *config, unsigned int want);

/* How the driver is reached, so that tests can be one. Both return 0 or -errno; `set` returns what the
 * driver made of the request in *config. */
struct hwtstamp_driver {
	int (*get)(void *context, struct hwtstamp_config *config);
	int (*set)(void *context, struct hwtstamp_config *config);
	void *context;
};

/*
 * Pure but for the driver's calls: the adding itself. Where the driver refuses a bit the others are
 * tried; where it gave up something that was on before, that is undone. Returns 0 or -errno of a
 * refusal that is none of "not supported" (-EOPNOTSUPP, -EINVAL, -ERANGE ...: told in the report).
 */
int hwtstamp_add(const struct hwtstamp_driver *driver, unsigned int want,
		 struct hwtstamp_report *report);

#endif

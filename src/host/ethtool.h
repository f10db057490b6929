/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a network device is and how it is set, as `ethtool` shows it: over ethtool's generic netlink
 * family, with ioctl for the two things that netlink does not carry (driver information, the driver's
 * own statistics).
 *
 * Reading needs no privilege; setting needs CAP_NET_ADMIN. Functions return 0, 1 when this device or
 * kernel does not have what was asked for (no error is filled in), or -1 with the error filled in.
 */
#ifndef HOST_ETHTOOL_H
#define HOST_ETHTOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define ETHTOOL_ABSENT 1

struct ethtool; /* a socket; one thread may use it */

/* Returns NULL with the error filled in where the kernel has no ethtool netlink (before 5.6). */
struct ethtool *ethtool_open(struct error *err);
void ethtool_close(struct ethtool *ethtool); /* NULL is allowed */

/* The settings that are one number. Flags are 0 or 1. */
enum ethtool_setting {
	ETHTOOL_RX_USECS, /* interrupt coalescing, us */
	ETHTOOL_TX_USECS,
	ETHTOOL_RX_FRAMES, /* frames before an interrupt */
	ETHTOOL_TX_FRAMES,
	ETHTOOL_ADAPTIVE_RX,
	ETHTOOL_ADAPTIVE_TX,
	ETHTOOL_RING_RX, /* descriptors */
	ETHTOOL_RING_TX,
	ETHTOOL_CHANNELS_RX, /* queues that only receive */
	ETHTOOL_CHANNELS_TX,
	ETHTOOL_CHANNELS_COMBINED,
	ETHTOOL_PAUSE_AUTONEG,
	ETHTOOL_PAUSE_RX,
	ETHTOOL_PAUSE_TX,
	ETHTOOL_EEE, /* Energy-Efficient Ethernet switched on */
	ETHTOOL_SETTINGS
};

/* "rx-usecs", "eee" ...: as in `tsnpub doctor` and its state file. */
const char *ethtool_setting_name(enum ethtool_setting setting);
/* The setting of that name, or -1. */
int ethtool_setting_find(const char *name);
/* The `ethtool` command that sets it: "ethtool -C enp1s0 rx-usecs 0". Returns `buffer`. */
char *ethtool_setting_command(const char *ifname, enum ethtool_setting setting, uint32_t value,
			      char *buffer, size_t size);

/* The value now. `max` may be NULL; it is 0 where the kernel names none. */
int ethtool_get(struct ethtool *ethtool, const char *ifname, enum ethtool_setting setting,
		uint32_t *value, uint32_t *max, struct error *err);

/* Sets, reads back and compares; -1 also when the driver took the value and kept another. */
int ethtool_set(struct ethtool *ethtool, const char *ifname, enum ethtool_setting setting,
		uint32_t value, struct error *err);

/*
 * Features by the kernel's name: "tx-generic-segmentation", "rx-gro", "rx-lro" ... `fixed`: it cannot
 * be changed on this device (may be NULL). An unknown name is ETHTOOL_ABSENT when set.
 */
int ethtool_feature(struct ethtool *ethtool, const char *ifname, const char *feature, bool *on,
		    bool *fixed, struct error *err);
int ethtool_feature_set(struct ethtool *ethtool, const char *ifname, const char *feature, bool on,
			struct error *err);

struct ethtool_link {
	bool carrier;
	uint32_t speed_mbps; /* 0: unknown (no carrier) */
	bool full_duplex; /* false also where unknown */
	bool autoneg;
};

int ethtool_link(struct ethtool *ethtool, const char *ifname, struct ethtool_link *link,
		 struct error *err);

struct ethtool_stamping {
	uint32_t so_timestamping; /* SOF_TIMESTAMPING_* that the device can do */
	uint32_t tx_types; /* bit 1 << HWTSTAMP_TX_* */
	uint32_t rx_filters; /* bit 1 << HWTSTAMP_FILTER_* */
	int phc_index; /* /dev/ptpN, or -1 */
};

int ethtool_stamping(struct ethtool *ethtool, const char *ifname, struct ethtool_stamping *stamping,
		     struct error *err);

struct ethtool_driver {
	char name[32];
	char version[32];
	char firmware[32];
	char bus[32]; /* PCI address: "0000:03:00.0"; empty for virtual devices */
};

int ethtool_driver(const char *ifname, struct ethtool_driver *driver, struct error *err);

struct ethtool_statistic {
	char name[33];
	uint64_t value;
};

/*
 * The driver's own counters (`ethtool -S`), in its order; the caller frees `*statistics`.
 * ETHTOOL_ABSENT: it has none.
 */
int ethtool_statistics(const char *ifname, struct ethtool_statistic **statistics, size_t *count,
		       struct error *err);

#endif

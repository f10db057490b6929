/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a stamp was taken. Figures from different sources are never mixed in one statistic, and each
 * printed figure names its source.
 */
#ifndef DATA_SOURCE_H
#define DATA_SOURCE_H

enum stamp_source { /* best first */
	SOURCE_HW, /* the NIC's PHC */
	SOURCE_XDP, /* bpf_ktime_get_tai_ns() in the driver's receive path */
	SOURCE_SW, /* the kernel's socket stamp */
	SOURCE_USER, /* clock_gettime() in this program */
	SOURCE_COUNT,
};

/* "hw", "xdp", "sw" or "user". */
static inline const char *source_name(enum stamp_source source)
{
	static const char *const names[SOURCE_COUNT] = { "hw", "xdp", "sw", "user" };

	return names[source];
}

#endif

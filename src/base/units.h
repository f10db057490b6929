/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Values as people write them, and back. Pure: no system call, no locale, no allocation.
 *
 * `what` names the value in the error ("--cycle", "line 7: period"). All parsers read the whole text,
 * or fail with status 2 and a line that names the value, the reason and what to write instead; the
 * result is then left untouched.
 */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define NSEC_PER_USEC 1000LL
#define NSEC_PER_MSEC 1000000LL
#define NSEC_PER_SEC 1000000000LL

/*
 * A time with its unit (ns, us, ms, s, m, h; decimals allowed: "31.25us", "1790000000.5s") in
 * [min_ns, max_ns]. What is below one nanosecond is refused, not rounded. A bare number is refused,
 * except 0. A leading '-' is accepted only where min_ns is negative.
 */
int parse_duration(const char *what, const char *text, int64_t min_ns, int64_t max_ns, int64_t *ns,
		   struct error *err);

/* A whole number, decimal or 0x hexadecimal, in [min, max]. */
int parse_number(const char *what, const char *text, uint64_t min, uint64_t max, uint64_t *value,
		 struct error *err);

/* "99.99%" (the sign is needed) in (0, 100]; stored as a fraction, 0.9999. */
int parse_percent(const char *what, const char *text, double *fraction, struct error *err);

/* "91:e0:f0:00:fe:01", six bytes in network order. */
int parse_mac(const char *what, const char *text, uint8_t mac[6], struct error *err);

/* "100M", "1G", "2.5G" in Mb/s (10 to 800000). */
int parse_speed(const char *what, const char *text, uint32_t *mbps, struct error *err);

/* The shortest exact form with a unit: "31.25us", "250us", "1s", "-4ns". Returns `buffer`. */
#define DURATION_TEXT 32
char *format_duration(int64_t ns, char buffer[DURATION_TEXT]);

/* "91:e0:f0:00:fe:01". Returns `buffer`. */
#define MAC_TEXT 18
char *format_mac(const uint8_t mac[6], char buffer[MAC_TEXT]);

/*
 * Time on the wire in ns, rounded up, of a frame of `size` bytes (Ethernet header to end of payload,
 * without FCS): preamble and SFD 8, padding to 60, FCS 4, inter-frame gap 12 (IEEE 802.3).
 */
int64_t wire_time_ns(uint32_t size, uint32_t mbps);

#endif

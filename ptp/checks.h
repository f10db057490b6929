/* SPDX-License-Identifier: GPL-2.0-only */
/* Inside the verdict: what the rows of the table of checks are judged from, and the rows. */
#ifndef PTP_CHECKS_H
#define PTP_CHECKS_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include "base/units.h"
#include "ptp/sync.h"

/* What the rows are judged from. */
struct sync_view {
	const struct sync_snapshot *s;
	const struct sync_bars *bars;
	const struct sync_port *port; /* of the interface; NULL: not known */
	int64_t limit_ns;
	bool answers; /* ptp4l does */
	bool own_grandmaster;
	bool slave; /* some port of this clock is SLAVE */
	bool follows; /* some port follows a master: SLAVE or UNCALIBRATED; or the ports are not known */
	bool software; /* ptp4l stamps in software */
	bool phc; /* the interface has a PHC */
};

/* Fills one text of a check; what does not fit is cut. */
void sync_say(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#define VALUE(check, ...) sync_say((check)->value, sizeof((check)->value), __VA_ARGS__)
#define LIMIT(check, ...) sync_say((check)->limit, sizeof((check)->limit), __VA_ARGS__)
#define REASON(check, ...) sync_say((check)->reason, sizeof((check)->reason), __VA_ARGS__)
#define FIX(check, ...) sync_say((check)->fix, sizeof((check)->fix), __VA_ARGS__)

/* |ns|, without overflow. */
int64_t sync_magnitude(int64_t ns);

/* An offset for people: "+82ns", "-12.345us", "+37.000001s". Returns `buffer`. */
const char *sync_offset_text(int64_t ns, char buffer[DURATION_TEXT]);

/* The rows; each returns its result and fills in the texts of its check. */
enum sync_result check_ptp4l(const struct sync_view *v, struct sync_check *check);
enum sync_result check_port(const struct sync_view *v, struct sync_check *check);
enum sync_result check_timestamping(const struct sync_view *v, struct sync_check *check);
enum sync_result check_grandmaster(const struct sync_view *v, struct sync_check *check);
enum sync_result check_offset(const struct sync_view *v, struct sync_check *check);
enum sync_result check_fresh(const struct sync_view *v, struct sync_check *check);
enum sync_result check_delay(const struct sync_view *v, struct sync_check *check);
enum sync_result check_timescale(const struct sync_view *v, struct sync_check *check);
enum sync_result check_phc(const struct sync_view *v, struct sync_check *check);
enum sync_result check_phc_tai(const struct sync_view *v, struct sync_check *check);
enum sync_result check_phc_frequency(const struct sync_view *v, struct sync_check *check);
enum sync_result check_steps(const struct sync_view *v, struct sync_check *check);
enum sync_result check_tai_offset(const struct sync_view *v, struct sync_check *check);
enum sync_result check_kernel_clock(const struct sync_view *v, struct sync_check *check);
enum sync_result check_ntp(const struct sync_view *v, struct sync_check *check);
enum sync_result check_steering(const struct sync_view *v, struct sync_check *check);

#endif

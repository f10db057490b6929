/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How steady a clock is, from time errors x[0..count) in ns that are `interval_s` apart. The
 * estimators are those of ITU-T G.810 (MTIE, TDEV) and NIST SP 1065 (overlapping ADEV). Pure.
 */
#ifndef DATA_STABILITY_H
#define DATA_STABILITY_H

#include <stddef.h>
#include <stdint.h>

struct stability {
	size_t n; /* observation interval in steps: tau = n * interval */
	double tau_s;
	double mtie_ns; /* largest peak to peak within any window of tau; -1: too few values */
	double tdev_ns; /* time deviation; -1: too few values */
	double adev; /* overlapping Allan deviation, dimensionless; -1: too few values */
};

/* MTIE(n): the largest max - min of n + 1 consecutive values. 1 <= n < count, else -1. O(count). */
double mtie_ns(const int64_t *x, size_t count, size_t n);

/* TDEV(n). 1 <= n and 3 n <= count, else -1. O(count). */
double tdev_ns(const int64_t *x, size_t count, size_t n);

/* Overlapping ADEV(n). 1 <= n and 2 n < count, else -1. O(count). */
double adev(const int64_t *x, size_t count, size_t n, double interval_s);

/* All three for n = 1, 2, 4 ... while one of them exists. Returns how many rows (at most `max`). */
size_t stability_table(const int64_t *x, size_t count, double interval_s, struct stability *rows,
		       size_t max);

#endif

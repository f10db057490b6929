// SPDX-License-Identifier: GPL-2.0-only
#include "data/stability.h"

#include <math.h>
#include <stdlib.h>

/* Indices whose values are monotone: the extreme of a sliding window in constant time. */
struct extreme {
	size_t *index;
	size_t first, end;
};

static void slide(struct extreme *e, const int64_t *x, size_t i, size_t n, int sign)
{
	while (e->end > e->first &&
	       (sign > 0 ? x[e->index[e->end - 1]] <= x[i] : x[e->index[e->end - 1]] >= x[i]))
		e->end--;
	e->index[e->end++] = i;
	if (e->index[e->first] + n < i)
		e->first++;
}

double mtie_ns(const int64_t *x, size_t count, size_t n)
{
	struct extreme high = { 0 }, low = { 0 };
	double most = -1.0;

	if (n < 1 || n >= count)
		return -1.0;
	high.index = malloc(count * sizeof(*high.index));
	low.index = malloc(count * sizeof(*low.index));
	if (!high.index || !low.index)
		goto out;
	for (size_t i = 0; i < count; i++) {
		double range;

		slide(&high, x, i, n, 1);
		slide(&low, x, i, n, -1);
		if (i < n)
			continue;
		range = (double)x[high.index[high.first]] - (double)x[low.index[low.first]];
		if (range > most)
			most = range;
	}
out:
	free(high.index);
	free(low.index);
	return most;
}

double tdev_ns(const int64_t *x, size_t count, size_t n)
{
	long double sum = 0, inner = 0, terms;

	if (n < 1 || count < 3 || n > count / 3)
		return -1.0;
	for (size_t i = 0; i < n; i++)
		inner += (long double)x[i + 2 * n] - 2.0L * (long double)x[i + n] +
			 (long double)x[i];
	for (size_t j = 0;; j++) {
		sum += inner * inner;
		if (j + 3 * n >= count)
			break;
		/* the window of n moves on by one in each of its three places */
		inner += (long double)x[j + 3 * n] - 3.0L * (long double)x[j + 2 * n] +
			 3.0L * (long double)x[j + n] - (long double)x[j];
	}
	terms = (long double)(count - 3 * n + 1);
	return (double)sqrtl(sum / (6.0L * (long double)n * (long double)n * terms));
}

double adev(const int64_t *x, size_t count, size_t n, double interval_s)
{
	long double sum = 0, tau_ns = (long double)n * (long double)interval_s * 1e9L;

	if (n < 1 || count < 3 || n > (count - 1) / 2)
		return -1.0;
	for (size_t i = 0; i + 2 * n < count; i++) {
		long double d = (long double)x[i + 2 * n] - 2.0L * (long double)x[i + n] +
				(long double)x[i];

		sum += d * d;
	}
	return (double)sqrtl(sum / (2.0L * tau_ns * tau_ns * (long double)(count - 2 * n)));
}

size_t stability_table(const int64_t *x, size_t count, double interval_s, struct stability *rows,
		       size_t max)
{
	size_t used = 0;

	for (size_t n = 1; n < count && used < max; n *= 2)
		rows[used++] = (struct stability){
			.n = n,
			.tau_s = (double)n * interval_s,
			.mtie_ns = mtie_ns(x, count, n),
			.tdev_ns = tdev_ns(x, count, n),
			.adev = adev(x, count, n, interval_s),
		};
	return used;
}

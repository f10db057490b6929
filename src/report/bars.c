// SPDX-License-Identifier: GPL-2.0-only
#include "report/bars.h"

#include <inttypes.h>

#define HISTOGRAM_BAR 50

/* One row for each power of the square root of 2: from the first to the last value. */
void histogram_print(FILE *out, const char *title, const struct histogram *h)
{
	uint64_t rows[128] = { 0 }, most = 0;
	double edges[129];
	struct histogram_bucket bucket;
	bool started = false;
	uint32_t cursor = 0;
	int count = 0;

	/* negative values cannot be: nobody wakes up before the time */
	edges[0] = 0;
	edges[1] = 500;
	for (int i = 2; i <= 128; i++)
		edges[i] = edges[i - 1] * 1.41421356;
	while (histogram_next(h, &cursor, &bucket)) {
		int i = 0;

		while (i < 127 && (double)bucket.low >= edges[i + 1])
			i++;
		rows[i] += bucket.count;
		if (rows[i] > most)
			most = rows[i];
		if (i >= count)
			count = i + 1;
	}
	fprintf(out, "\nHistogram of the %s\n  %21s %12s\n", title, "us", "count");
	for (int i = 0; i < count; i++) {
		int bar = most ? (int)((double)rows[i] * HISTOGRAM_BAR / (double)most) : 0;

		started |= rows[i] > 0;
		if (!started)
			continue;
		fprintf(out, "  %9.1f - %9.1f %12" PRIu64 " ", edges[i] / 1e3, edges[i + 1] / 1e3,
			rows[i]);
		for (int j = 0; j < bar || (j == 0 && rows[i]); j++)
			fputc(j < bar ? '#' : '.', out);
		fputc('\n', out);
	}
}

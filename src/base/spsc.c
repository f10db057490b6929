// SPDX-License-Identifier: GPL-2.0-only
#include "base/spsc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int spsc_init(struct spsc *ring, size_t count, size_t record_size)
{
	size_t size = 1;

	memset(ring, 0, sizeof(*ring));
	while (size < count && size < SIZE_MAX / 2 / record_size)
		size *= 2;
	if (size < count)
		return -ENOMEM;
	ring->records = malloc(size * record_size);
	if (!ring->records)
		return -ENOMEM;
	/* written, not only reserved: the first lap must not fault in the cyclic thread */
	memset(ring->records, 0xff, size * record_size);
	ring->record_size = record_size;
	ring->mask = size - 1;
	return 0;
}

void spsc_free(struct spsc *ring)
{
	free(ring->records);
	memset(ring, 0, sizeof(*ring));
}

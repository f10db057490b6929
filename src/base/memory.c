// SPDX-License-Identifier: GPL-2.0-only
#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>

#define PAGE_MIN 4096

void *memory_touched(size_t size)
{
	volatile uint8_t *memory = calloc(1, size);

	if (!memory)
		return NULL;
	for (size_t at = 0; at < size; at += PAGE_MIN)
		memory[at] = 0;
	if (size)
		memory[size - 1] = 0;
	return (void *)memory;
}

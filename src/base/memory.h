/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stddef.h>

/*
 * As calloc(1, size), and all its pages are there: those of a buffer that is seldom full would come in one by one while a
 * run goes on, each with a page fault. NULL without memory; free() it.
 */
void *memory_touched(size_t size);

#endif

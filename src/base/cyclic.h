/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CYCLIC: a function that the cyclic thread runs in each cycle. The compiler and the linker put them all side by side. After
 * each sleep the caches and the TLB are cold, and in a virtual machine a miss of the TLB is a walk through two page tables:
 * what lies in two pages is had faster than what lies in seven.
 */
#ifndef BASE_CYCLIC_H
#define BASE_CYCLIC_H

#define CYCLIC __attribute__((hot))

#endif

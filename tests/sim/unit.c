// SPDX-License-Identifier: GPL-2.0-only
/*
 * The whole module as one translation unit: of the time that each file takes to compile, nine
 * tenths go into the kernel's headers.
 */
#include "models.c"
#include "port.c"
#include "rx.c"
#include "xdp.c"
#include "wire.c"
#include "gates.c"
#include "launch.c"
#include "tc.c"
#include "phc.c"
#include "stamps.c"
#include "ethtool.c"
#include "merge.c"
#include "irq.c"
#include "faults.c"
#include "culprit.c"
#include "debugfs.c"
/* last: its parameters have the names of what others take */
#include "main.c"

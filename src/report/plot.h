/* SPDX-License-Identifier: GPL-2.0-only */
/* Plots as SVG, drawn by gnuplot. */
#ifndef REPORT_PLOT_H
#define REPORT_PLOT_H

#include <stdio.h>

#include "base/error.h"

/*
 * Runs gnuplot on the script that was written to `script` (a seekable file, read from its start) and
 * returns the SVG from its "<svg" on, NUL-terminated; the caller frees it. The script must draw to
 * stdout and contain nothing from outside but numbers: gnuplot can run commands. NULL with the error
 * when gnuplot is not installed or fails.
 */
char *plot_svg(FILE *script, struct error *err);

#endif

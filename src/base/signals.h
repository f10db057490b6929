/* SPDX-License-Identifier: GPL-2.0-only */
/* The signals that ask a command to end in order: SIGINT, SIGTERM, and SIGHUP unless it was started to outlive its terminal. */
#ifndef BASE_SIGNALS_H
#define BASE_SIGNALS_H

#include <signal.h>

/*
 * Writes which they are into `set`. A SIGHUP that is ignored, as nohup(1) makes it, is not among them: once blocked it would
 * stay pending all the same, and a signalfd would deliver it.
 */
void signals_that_end(sigset_t *set);

/* Installs `handler` for them. Without SA_RESTART: what waits, wakes up. */
void signals_catch(void (*handler)(int number));

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The commands. Each takes its own argv (argv[0] is "tsnpub COMMAND") and returns the exit status of
 * base/error.h.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#ifndef TSNPUB_VERSION
#define TSNPUB_VERSION "0.1.0"
#endif

int cmd_publish(int argc, char **argv);
int cmd_receive(int argc, char **argv);
int cmd_schedule(int argc, char **argv);
int cmd_sync(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_latency(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_demo(int argc, char **argv);

#endif

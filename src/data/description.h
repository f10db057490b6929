/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The JSON in a log's header. One set of member names for all commands (tsnlog(5)):
 *
 *   "program" "tsnpub 0.1.0", "host", "kernel", "machine", "command" (the command line),
 *   "started_ns" (TAI), "tai_offset_s"          set by describe_run()
 *   "interface", "driver", "mac"                text
 *   "stamps"      text: what rx_xdp holds in an RX log, "xdp" or "sw"
 *   "sync"        text: the verdict on the clocks at the start
 *   "options"     object: "cycle_ns", "lead_ns" (the cyclic thread is due so long before the launch
 *                 of the first frame of each cycle), "deadline_ns", "sla_ppb" (1e9 is
 *                 100 %), "ethertype", "pacing", "cpu", of a receiver's log "only_run", "only_streams"
 *                 (data/selection.h) ...
 *   "streams"     array of objects: "id", "dest", "vlan" (absent: no tag), "priority", "size",
 *                 "offset_ns"; a list that does not fit into the header is left out by log_create()
 *   "left_out"    array: names of the members that did not fit
 */
#ifndef DATA_DESCRIPTION_H
#define DATA_DESCRIPTION_H

#include <jansson.h>
#include <stdint.h>

/*
 * What is known about every run. `argv` ends with NULL; bytes that are not UTF-8 become '?'. Returns
 * a new reference, or NULL without memory. Makes system calls: not for the cyclic thread.
 */
json_t *describe_run(char *const *argv);

/* A file's name, or what else may be any bytes: as JSON text, in which '?' stands for what is not ASCII if it is not UTF-8. */
json_t *describe_bytes(const char *bytes);

/* A whole number of the description, or of its "options"; `missing` when it is absent or no number. */
int64_t description_number(const json_t *description, const char *name, int64_t missing);

/* A text of the description or of its "options"; NULL when it is absent or no text. Borrowed. */
const char *description_text(const json_t *description, const char *name);

/* The object in "streams" with this "id", or NULL. Borrowed. */
const json_t *description_stream(const json_t *description, uint16_t id);

#endif

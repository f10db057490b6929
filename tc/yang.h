/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Gate parameters as instance data of IEEE 802.1Q's YANG modules in JSON (RFC 7951): what a CNC hands out. Pure.
 *
 * Written: ietf-interfaces, with ieee802-dot1q-sched-bridge:gate-parameter-table in the bridge port of the interface (IEEE
 * 802.1Qcw-2023). Read: that, and gate-parameters directly in the interface with sgs-params and fractional-seconds, as
 * drafts had it.
 */
#ifndef TC_YANG_H
#define TC_YANG_H

#include <jansson.h>

#include "base/error.h"
#include "tc/schedule.h"

#define YANG_SIZE_MAX (1 << 20) /* bytes of text */
#define YANG_CLASSES_MAX 8

/*
 * The admin parameters of the schedule as it is in the file or planned, that is without guard bands, of at most
 * YANG_CLASSES_MAX classes; the caller owns the reference.
 */
json_t *yang_export(const struct schedule *schedule, int64_t base_ns);

/*
 * Reads gates, cycle, cycle-time extension, base time and largest frames into `schedule`, whose classes and queues stay.
 * `name` stands in errors. Of several interfaces that of schedule->interface is taken. Gates of classes that the schedule
 * does not have are refused. Returns 0, or -1 with the error (status 2); the schedule is then unchanged.
 */
int yang_import(const char *name, const char *text, size_t size, struct schedule *schedule,
		struct error *err);

/* The same from a file ("-": standard input). */
int yang_import_file(const char *path, struct schedule *schedule, struct error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A dump of taprio turned back into the request that makes it again. A dump tells up to two schedules: the one that runs
 * (oper) at its top level and the one to come (admin) in a nest; a new schedule without offload is admin until its base
 * time, also where nothing runs yet, that is up to one cycle after a base time in the past. So the same qdisc is told
 * in different ways at different times. Pure, over the payload of TCA_OPTIONS.
 */
#ifndef TC_TAPRIO_DUMP_H
#define TC_TAPRIO_DUMP_H

#include <libmnl/libmnl.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Is there a schedule to come, and one that runs? `options` may be NULL. */
bool taprio_dump_has_admin(const struct nlattr *options);
bool taprio_dump_has_oper(const struct nlattr *options);

/* Adds TCA_OPTIONS of a request for the schedule to come (`admin`, where there is one), or the one that runs. */
void taprio_dump_put(struct nlmsghdr *request, const struct nlattr *options, bool admin);

/* The clock of the base times; CLOCK_TAI where the dump names none (full offload). */
clockid_t taprio_dump_clock(const struct nlattr *options);

/*
 * How long until the schedule to come runs, in ns, if it is `now_ns` on its clock; 0 where there is none. A base time in the
 * past begins with the next cycle.
 */
int64_t taprio_dump_begins_in_ns(const struct nlattr *options, int64_t now_ns);

/* The cycle of the schedule that runs, in ns; 0 where none does. */
int64_t taprio_dump_cycle_ns(const struct nlattr *options);

/* Do both end up as the same qdisc, once the schedule to come of either runs? */
bool taprio_dump_same(const struct nlattr *a, const struct nlattr *b);

#endif

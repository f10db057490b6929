// SPDX-License-Identifier: GPL-2.0-only
#include "cli/schedule_clocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "ptp/snapshot.h"
#include "ptp/sync.h"

#define PATIENCE_NS (60 * NSEC_PER_SEC)
#define SETTLE_NS (3 * NSEC_PER_SEC) /* ptp4l asks for a stamp once a second by default */
#define PAUSE_NS (250 * NSEC_PER_MSEC)

/* 1: good, 0: not good, -1: there is no ptp4l on the interface. `name` gets the check that decides. */
static int look(struct sync_source *source, enum sync_role role, struct sync_snapshot *snapshot,
		char name[160])
{
	const struct sync_bars bars = { 0, role };
	static struct sync_report report;

	sync_source_read(source, true, snapshot);
	if (snapshot->ptp4l.fault != PTP4L_FINE ||
	    (snapshot->port < 0 && snapshot->port_names_known))
		return -1;
	sync_judge(snapshot, &bars, &report);
	if (report.verdict == SYNC_VERDICT_GOOD)
		return 1;
	snprintf(name, 160, "%s: %s",
		 report.first >= 0 ? report.check[report.first].name : "unknown",
		 report.first >= 0 ? report.check[report.first].reason : "");
	return 0;
}

static struct sync_source *open_source(const char *interface)
{
	struct sync_source_config config = { .iface = interface,
					     .ptp4l = { .domain = -1, .transport_specific = -1 },
					     .frequency_ns = 0 };
	struct error ignored = ERROR_INIT;

	return sync_source_open(&config, &ignored);
}

void schedule_clocks_note(struct schedule_clocks *clocks, const char *interface)
{
	struct sync_snapshot *snapshot = calloc(1, sizeof(*snapshot));
	struct sync_source *source = open_source(interface);
	char name[160];
	int good = source && snapshot ? look(source, SYNC_ROLE_ANY, snapshot, name) : -1;

	memset(clocks, 0, sizeof(*clocks));
	snprintf(clocks->interface, sizeof(clocks->interface), "%s", interface);
	clocks->was_synchronised = good > 0;
	clocks->ptp4l_ran = good >= 0;
	/* a follower whose link was down takes itself for the master until it hears the other */
	if (good > 0 && look(source, SYNC_ROLE_SLAVE, snapshot, name) > 0)
		clocks->role = SYNC_ROLE_SLAVE;
	sync_source_close(source);
	free(snapshot);
}

int schedule_clocks_wait(const struct schedule_clocks *clocks, int64_t base_ns,
			 const volatile sig_atomic_t *interrupted, struct error *err)
{
	int64_t now = clock_now_ns(CLOCK_MONOTONIC), ahead = base_ns - tai_now_ns();
	int64_t in_force = ahead > 0 && ahead < PATIENCE_NS ? now + ahead : now;
	int64_t settled = in_force + SETTLE_NS, end = in_force + PATIENCE_NS;
	struct sync_snapshot *snapshot;
	struct sync_source *source;
	char name[160] = "ptp4l is gone";
	int good = 0;

	if (!clocks->was_synchronised)
		return 0;
	snapshot = calloc(1, sizeof(*snapshot));
	source = open_source(clocks->interface);
	while (source && snapshot && !*interrupted) {
		struct timespec pause = ns_to_timespec(PAUSE_NS);

		good = look(source, clocks->role, snapshot, name);
		now = clock_now_ns(CLOCK_MONOTONIC);
		if ((good > 0 && now >= settled) || now > end)
			break;
		/* steps of the reset are over when the next look shows none */
		nanosleep(&pause, NULL);
	}
	sync_source_close(source);
	free(snapshot);
	if (good > 0)
		return 0;
	return error_system(err,
			    "%s: the clocks were synchronised, and are not again after 60 s (%s); "
			    "does the schedule let PTP "
			    "through? `tsnpub sync --iface %s` tells more",
			    clocks->interface, name, clocks->interface);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the publisher has to do with schedules: takes planned offsets from the file, deploys with --apply for as long as it
 * runs, and otherwise looks whether its streams fall into the slots that are installed.
 */
#ifndef CLI_PUBLISH_SCHEDULE_H
#define CLI_PUBLISH_SCHEDULE_H

#include "base/error.h"
#include "cli/config_file.h"
#include "cli/publish_options.h"
#include "tc/confirm.h"

struct publish_schedule {
	bool applied;
	char interface[16];
	struct confirm_guard hold;
};

/*
 * Before the publisher opens. `config` may be NULL. `apply`: --apply. Streams whose offset is STREAM_ANYWHERE get the
 * planned one. Warns of streams outside their slots, and refuses them with --strict. Returns 0, or -1 with the error.
 */
int publish_schedule_begin(const struct config_file *config, const char *file, bool apply,
			   struct publisher_options *publisher, struct publish_schedule *schedule,
			   struct error *err);

/* For publisher_options.restart_gates, with the schedule as its context. */
int publish_schedule_restart(void *schedule, struct error *err);

/* After it has ended: takes back what was applied. Returns 0, or -1 with the error. */
int publish_schedule_end(struct publish_schedule *schedule, struct error *err);

#endif

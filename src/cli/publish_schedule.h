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
	bool lost; /* another has taken it back, or its guard is gone */
	char interface[16];
	struct confirm_guard hold;
};

/*
 * Is a schedule in the file one, though it is not asked to be applied? `config` may be empty. 0, or -1 with the error.
 */
int publish_schedule_check(const struct config_file *config, struct error *err);

/*
 * Before the publisher opens. `config` may be NULL. `apply`: --apply. Streams whose offset is STREAM_ANYWHERE get the
 * planned one. Warns of streams outside their slots, and refuses them with --strict. Returns 0, or -1 with the error.
 */
int publish_schedule_begin(const struct config_file *config, const char *file, bool apply,
			   struct publisher_options *publisher, struct publish_schedule *schedule,
			   struct error *err);

/* For publisher_options.restart_gates, with the schedule as its context. */
int publish_schedule_restart(void *schedule, struct error *err);

/*
 * Now and then while it runs: true once, when another (`tsnpub schedule clear`) took back what was applied, or nobody is
 * left to do so at the end; `text` says which.
 */
bool publish_schedule_lost(struct publish_schedule *schedule, char text[200]);

/*
 * After it has ended: takes back what was applied. Returns 0; 1 when another had done so before the end, which is said; or -1
 * with the error.
 */
int publish_schedule_end(struct publish_schedule *schedule, struct error *err);

#endif

// SPDX-License-Identifier: GPL-2.0-only
#include "cli/sync.h"

int sync_setup(const struct sync_options *options, struct error *err)
{
	(void)options;
	return error_system(err, "this build cannot set up ptp4l yet");
}

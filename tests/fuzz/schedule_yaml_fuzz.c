// SPDX-License-Identifier: GPL-2.0-only
/* Any text as a schedule's file: read, planned and validated for several NICs, drawn. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/schedule_file.h"
#include "tc/commands.h"
#include "tc/prepare.h"
#include "tc/timeline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const nics[] = { "I225", "ideal", "LS1028A" };
	static struct preparation preparation;
	static FILE *null;
	struct device_facts facts = { .tx_queues = 4, .now_ns = 1790000000000000000LL };
	struct error err = ERROR_INIT;
	struct schedule_file file;

	if (!null)
		null = fopen("/dev/null", "w");
	for (size_t i = 0; i < sizeof(nics) / sizeof(nics[0]); i++) {
		if (schedule_file_from_text("fuzz", (const char *)data, size, &file, &err))
			return 0;
		if (file.stream_count < 40 &&
		    !prepare_deployment(&file.schedule, file.streams, file.stream_count,
					nic_by_name(nics[i]), 1000, &facts, &preparation)) {
			timeline_text(null, &preparation.deployment, file.streams,
				      file.stream_count);
			timeline_svg(null, &preparation.deployment, file.streams,
				     file.stream_count);
			free(deployment_command(&preparation.deployment, "eth0", 0, 0));
		}
		schedule_file_free(&file);
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/* Any text as a CNC's gate parameters. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tc/deployment.h"
#include "tc/yang.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct schedule schedule;
	static struct deployment deployment;
	struct error err = ERROR_INIT;

	memset(&schedule, 0, sizeof(schedule));
	snprintf(schedule.interface, sizeof(schedule.interface), "enp1s0");
	schedule.class_count = 3;
	schedule.cycle_ns = schedule.stream_cycle_ns = 250000;
	for (unsigned c = 0; c < 3; c++)
		schedule.classes[c] = (struct traffic_class){ .priorities = (uint8_t)(1 << c),
							      .queue_first = (uint16_t)c,
							      .queue_count = 1 };
	if (yang_import("fuzz", (const char *)data, size, &schedule, &err))
		return 0;
	deployment_make(&schedule, nic_by_name("I225"), 1000, &deployment);
	json_decref(yang_export(&schedule, schedule.base_ns));
	return 0;
}

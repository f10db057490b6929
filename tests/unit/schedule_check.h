/* SPDX-License-Identifier: GPL-2.0-only */
/* A schedule from a file's text, deployed on a NIC and validated, for tests of its validation and of its model. */
#ifndef SCHEDULE_CHECK_H
#define SCHEDULE_CHECK_H

#include "cmocka_all.h"

#include <string.h>

#include "cli/schedule_file.h"
#include "tc/validate.h"

#define CLASSES                                              \
	"  classes:\n"                                       \
	"  - {name: control, priorities: [7], queues: 0}\n"  \
	"  - {name: video, priorities: [5, 6], queues: 1}\n" \
	"  - {name: rest, priorities: [0, 1, 2, 3, 4], queues: 2-3}\n"
#define GATES                                     \
	"  gates:\n"                              \
	"  - {open: [control], duration: 50us}\n" \
	"  - {open: [video], duration: 75us}\n"   \
	"  - {open: [rest], duration: 125us}\n"
#define HEAD "interface: eth0\ncycle: 250us\nschedule:\n"

static struct deployment deployment;
static struct findings findings;

static int load(const char *text, struct schedule_file *file, struct error *err)
{
	return schedule_file_from_text("x.yaml", text, strlen(text), file, err);
}

static uint32_t mtu = 1500;

/* Loads, deploys on the NIC and validates; the error of loading comes as a finding of its own. */
static void check(const char *text, const char *nic, uint32_t mbps, unsigned queues)
{
	struct device_facts facts = { .tx_queues = queues,
				      .mtu = mtu,
				      .now_ns = 1790000000LL * 1000000000 };
	struct error err = ERROR_INIT;
	struct schedule_file file;

	memset(&findings, 0, sizeof(findings));
	if (load(text, &file, &err)) {
		assert_int_equal(err.status, STATUS_INPUT);
		finding_add(&findings, FINDING_ERROR, "", "%s", err.text);
		return;
	}
	assert_int_equal(deployment_make(&file.schedule, nic_by_name(nic), mbps, &deployment), 0);
	validate_schedule(&deployment, &facts, &findings);
	if (!findings.errors)
		validate_streams(&deployment, file.streams, file.stream_count, &findings);
	schedule_file_free(&file);
}

#endif

// SPDX-License-Identifier: GPL-2.0-only
/* The doctor's checks of the clocks: who sets them. How good they are `tsnpub sync` measures. */
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "host/doctor.h"
#include "host/facts.h"

struct daemons {
	bool ptp4l, phc2sys;
	char ntp[32]; /* the one that runs, "" */
};

static bool look(const struct thread_fact *thread, void *context)
{
	static const char *const ntp[] = { "chronyd", "ntpd", "systemd-timesyn", "openntpd" };
	struct daemons *daemons = context;

	if (!strcmp(thread->name, "ptp4l"))
		daemons->ptp4l = true;
	if (!strcmp(thread->name, "phc2sys"))
		daemons->phc2sys = true;
	for (size_t i = 0; i < sizeof(ntp) / sizeof(ntp[0]); i++)
		if (!strcmp(thread->name, ntp[i]))
			snprintf(daemons->ntp, sizeof(daemons->ntp), "%s", thread->name);
	return true;
}

static void tai_offset(const struct exam *exam, struct finding *finding)
{
	if (exam->tai_offset == EXAM_UNKNOWN) {
		finding_is(finding, VERDICT_UNKNOWN, "not read");
	} else if (exam->tai_offset) {
		finding_is(finding, VERDICT_OK, "TAI - UTC = %d s", exam->tai_offset);
	} else {
		finding_is(finding, VERDICT_WARN, "0: CLOCK_TAI equals UTC");
		finding_fix(finding,
			    "run phc2sys -a -r (it sets the offset that ptp4l receives), or "
			    "set it once: tsnpub sync says how");
	}
}

static void gptp(const struct exam *exam, struct finding *finding)
{
	struct daemons daemons = { 0 };

	if (fact_threads(exam->root, false, look, &daemons) < 0) {
		finding_is(finding, VERDICT_UNKNOWN, "/proc is not readable");
	} else if (daemons.ptp4l && daemons.phc2sys) {
		finding_is(finding, VERDICT_OK, "ptp4l and phc2sys are running");
	} else if (daemons.ptp4l) {
		finding_is(finding, VERDICT_WARN, "ptp4l is running, phc2sys is not");
		finding_fix(finding, "phc2sys -a -r --transportSpecific=1");
	} else if (exam->nic.name[0] && exam->nic.stamping.phc_index >= 0) {
		finding_is(finding, VERDICT_BAD, "ptp4l is not running");
		finding_fix(finding,
			    "ptp4l -f /etc/linuxptp/gPTP.cfg -i %s & phc2sys -a -r "
			    "--transportSpecific=1",
			    exam->nic.name);
	} else {
		finding_is(finding, VERDICT_WARN, "ptp4l is not running");
		finding_fix(finding,
			    "times of this machine and of others cannot be compared; on one "
			    "machine it does not matter");
	}
}

static void one_master(const struct exam *exam, struct finding *finding)
{
	struct daemons daemons = { 0 };

	if (fact_threads(exam->root, false, look, &daemons) < 0) {
		finding_is(finding, VERDICT_UNKNOWN, "/proc is not readable");
	} else if (daemons.ntp[0] && daemons.phc2sys) {
		finding_is(finding, VERDICT_BAD, "%s and phc2sys both set the system clock",
			   daemons.ntp);
		finding_fix(finding, "systemctl stop %s",
			    strcmp(daemons.ntp, "systemd-timesyn") ? daemons.ntp
								   : "systemd-timesyncd");
	} else if (daemons.ntp[0]) {
		finding_is(finding, VERDICT_WARN, "%s sets the system clock", daemons.ntp);
		finding_fix(finding, "stop it when phc2sys takes over: systemctl stop %s",
			    strcmp(daemons.ntp, "systemd-timesyn") ? daemons.ntp
								   : "systemd-timesyncd");
	} else {
		finding_is(finding, VERDICT_OK, "%s",
			   daemons.phc2sys ? "phc2sys alone" : "nobody sets the system clock");
	}
}

static const struct check checks[] = {
	{ "tai-offset", GROUP_CLOCK, "launch times are TAI: without the offset they are 37 s off",
	  0, tai_offset },
	{ "gptp", GROUP_CLOCK, "launch times mean something to others only on a common clock", 0,
	  gptp },
	{ "one-master", GROUP_CLOCK, "two programs that set one clock pull it to and fro", 0,
	  one_master },
};

const struct check_table checks_clock = { checks, sizeof(checks) / sizeof(checks[0]) };

// SPDX-License-Identifier: GPL-2.0-only
/* The rows of the verdict about this machine's clocks: PHC, kernel, who steers them. */
#include "ptp/checks.h"

#include <inttypes.h>
#include <string.h>

#define SLEW_MAX_PPB 500000 /* the kernel slews no faster: more is a step */
#define FREQUENCY_MAX_PPB 500000
#define MAX_ERROR_GROWTH_PPM 500 /* of the kernel's error estimate, since it was last set */
#define STEERED_WITHIN_S 30

enum sync_result check_phc(const struct sync_view *v, struct sync_check *check)
{
	if (!v->phc) {
		REASON(check, v->s->phc_index == PHC_INDEX_UNKNOWN
				      ? "no interface to look at: give --iface"
				      : "the interface has none");
		return SYNC_NOT_APPLICABLE;
	}
	VALUE(check, "/dev/ptp%d%s%s", v->s->phc_index, v->s->phc_name[0] ? " " : "",
	      v->s->phc_name);
	if (v->answers && v->port && v->port->have_hwclock && !v->software &&
	    v->port->hwclock.phc_index >= 0 && v->port->hwclock.phc_index != v->s->phc_index) {
		REASON(check, "ptp4l disciplines /dev/ptp%d instead", v->port->hwclock.phc_index);
		FIX(check, "%s",
		    v->port->hwclock.virtual_clock
			    ? "a virtual clock: launch times follow the real one; remove it"
			    : "start ptp4l on the interface that the frames leave by");
		return SYNC_WRONG;
	}
	if (!v->s->have_phc) {
		REASON(check, "%s", v->s->phc_error);
		FIX(check, "run as root, or give your group read access to /dev/ptp%d (udev rule)",
		    v->s->phc_index);
		return SYNC_UNKNOWN;
	}
	return SYNC_OK;
}

/* Why PHC and CLOCK_TAI are apart, from the size of it. */
static void explain_phc_tai(const struct sync_view *v, struct sync_check *check)
{
	const struct phc_reading *r = &v->s->phc;
	int64_t seconds = (r->tai_offset_ns + (r->tai_offset_ns < 0 ? -1 : 1) * NSEC_PER_SEC / 2) /
			  NSEC_PER_SEC;
	bool whole = sync_magnitude(r->tai_offset_ns - seconds * NSEC_PER_SEC) <
		     100 * NSEC_PER_MSEC;

	if (whole && seconds && v->s->have_time_properties &&
	    seconds == v->s->time_properties.utc_offset - v->s->kernel.tai_offset) {
		REASON(check, "the kernel's TAI offset is %d s instead of %d s",
		       v->s->kernel.tai_offset, v->s->time_properties.utc_offset);
		FIX(check, "tsnpub sync --set-tai-offset");
	} else if (whole && seconds && seconds == -v->s->kernel.tai_offset) {
		REASON(check, "the PHC holds UTC instead of TAI");
		FIX(check, "steer it in TAI: phc2sys -O with the UTC offset, or let ptp4l set it");
	} else if (whole && seconds && !v->s->kernel.tai_offset && seconds > 30 && seconds < 45) {
		REASON(check, "the kernel's TAI offset is 0: nobody has set it");
		FIX(check, "tsnpub sync --set-tai-offset=%" PRId64, seconds);
	} else {
		REASON(check, "the NIC launches by the PHC, the machine wakes by CLOCK_TAI: they "
			      "are apart");
		FIX(check, "run phc2sys (`tsnpub sync --print-setup` prints the command), and wait "
			   "for it");
	}
}

enum sync_result check_phc_tai(const struct sync_view *v, struct sync_check *check)
{
	char tai[DURATION_TEXT], real[DURATION_TEXT], half[DURATION_TEXT], limit[DURATION_TEXT];
	const struct phc_reading *r = &v->s->phc;

	if (!v->phc) {
		REASON(check, "no PHC");
		return SYNC_NOT_APPLICABLE;
	}
	if (!v->s->have_phc) {
		REASON(check, "the PHC cannot be read");
		FIX(check, "run as root");
		return SYNC_UNKNOWN;
	}
	VALUE(check, "%s +-%s to CLOCK_TAI, %s to CLOCK_REALTIME (%s)",
	      sync_offset_text(r->tai_offset_ns, tai),
	      format_duration((r->window_ns + 1) / 2, half),
	      sync_offset_text(r->realtime_offset_ns, real), phc_method_name(r->method));
	LIMIT(check, "%s", format_duration(v->limit_ns, limit));
	if (sync_magnitude(r->tai_offset_ns) > v->limit_ns + r->window_ns / 2) {
		explain_phc_tai(v, check);
		return SYNC_WRONG;
	}
	if (r->window_ns / 2 > v->limit_ns) {
		REASON(check, "the reading took %s: too coarse for this limit",
		       format_duration(r->window_ns, half));
		FIX(check,
		    "a quieter machine, a driver with PTP_SYS_OFFSET_EXTENDED or _PRECISE, or a "
		    "larger --limit");
		return SYNC_UNKNOWN;
	}
	if (sync_magnitude(r->tai_offset_ns) > v->limit_ns) {
		explain_phc_tai(v, check);
		return SYNC_WRONG;
	}
	return SYNC_OK;
}

enum sync_result check_phc_frequency(const struct sync_view *v, struct sync_check *check)
{
	if (!v->phc || !v->s->have_frequency) {
		REASON(check, v->phc ? "not measured" : "no PHC");
		return SYNC_NOT_APPLICABLE;
	}
	VALUE(check, "%+.3f ppm +-%.3f to CLOCK_MONOTONIC_RAW", (double)v->s->frequency_ppb / 1e3,
	      (double)v->s->frequency_uncertainty_ppb / 1e3);
	LIMIT(check, "%d ppm", FREQUENCY_MAX_PPB / 1000);
	if (sync_magnitude(v->s->frequency_ppb) <=
	    FREQUENCY_MAX_PPB + v->s->frequency_uncertainty_ppb)
		return SYNC_OK;
	REASON(check, "no crystal is off that far: it was stepped, or a servo runs away");
	FIX(check, "see ptp4l's log; are two programs steering this PHC?");
	return SYNC_WRONG;
}

enum sync_result check_steps(const struct sync_view *v, struct sync_check *check)
{
	char phc[DURATION_TEXT], tai[DURATION_TEXT], limit[DURATION_TEXT];
	int64_t bar_ns;

	if (!v->s->have_before) {
		REASON(check, "seen with --watch and --wait only");
		return SYNC_NOT_APPLICABLE;
	}
	bar_ns = v->s->elapsed_ns / 1000000 * (SLEW_MAX_PPB / 1000);
	if (bar_ns < 10 * v->limit_ns)
		bar_ns = 10 * v->limit_ns;
	VALUE(check, "CLOCK_TAI %s%s%s", sync_offset_text(v->s->tai_step_ns, tai),
	      v->s->have_phc_step ? ", PHC " : "",
	      v->s->have_phc_step ? sync_offset_text(v->s->phc_step_ns, phc) : "");
	LIMIT(check, "%s", format_duration(bar_ns, limit));
	if (sync_magnitude(v->s->tai_step_ns) > bar_ns) {
		REASON(check, "CLOCK_TAI was stepped");
		FIX(check, "who set it? (date, NTP, phc2sys's first step, the TAI offset)");
		return SYNC_WRONG;
	}
	if (v->s->have_phc_step && sync_magnitude(v->s->phc_step_ns) > bar_ns) {
		REASON(check, "the PHC was stepped");
		FIX(check,
		    "ptp4l steps it at its start and beyond step_threshold; so does an adapter "
		    "reset (schedule changes on I225/I226): wait until it is in sync again");
		return SYNC_WRONG;
	}
	return SYNC_OK;
}

enum sync_result check_tai_offset(const struct sync_view *v, struct sync_check *check)
{
	int kernel = v->s->kernel.tai_offset;

	if (!v->s->kernel.known) {
		REASON(check, "adjtimex is refused");
		FIX(check, "allow the adjtimex system call (container profile)");
		return SYNC_UNKNOWN;
	}
	VALUE(check, "%d s", kernel);
	if (v->answers && v->s->have_time_properties) {
		int wanted = v->s->time_properties.utc_offset;

		LIMIT(check, "%d s (ptp4l)", wanted);
		if (kernel == wanted)
			return SYNC_OK;
		REASON(check,
		       kernel ? "CLOCK_TAI is not what the grandmaster means by TAI"
			      : "nobody has set it: CLOCK_TAI equals CLOCK_REALTIME, each launch "
				"time is wrong by the whole offset");
		FIX(check, "tsnpub sync --set-tai-offset");
		return SYNC_WRONG;
	}
	if (kernel)
		return SYNC_OK;
	REASON(check, "nobody has set it: CLOCK_TAI equals CLOCK_REALTIME");
	FIX(check, "tsnpub sync --set-tai-offset=37 (TAI - UTC since 2017)");
	return SYNC_WRONG;
}

enum sync_result check_kernel_clock(const struct sync_view *v, struct sync_check *check)
{
	const struct kernel_clock *k = &v->s->kernel;

	if (!k->known) {
		REASON(check, "adjtimex is refused");
		return SYNC_NOT_APPLICABLE;
	}
	VALUE(check, "%s, error at most %.3f ms, estimated %.3f ms, %+.3f ppm applied",
	      k->unsynced ? "unsynchronised (STA_UNSYNC)" : "synchronised",
	      (double)k->max_error_ns / 1e6, (double)k->est_error_ns / 1e6,
	      (double)k->frequency_ppb / 1e3);
	if (!k->unsynced)
		return SYNC_OK;
	if (v->phc && v->slave) {
		REASON(check, "nobody has disciplined the system clock");
		FIX(check, "run phc2sys (`tsnpub sync --print-setup` prints the command)");
		return SYNC_WRONG;
	}
	REASON(check, "%s",
	       !v->answers          ? "nobody has disciplined the system clock"
	       : v->own_grandmaster ? "the system clock runs free"
				    : "ptp4l runs free, or has not locked yet");
	return SYNC_OK;
}

/* The first process that fits; NULL when there is none. */
static const struct steerer *find_steerer(const struct sync_snapshot *s, enum steerer_kind kind,
					  bool of_system_clock)
{
	for (int i = 0; i < s->steering.count && i < STEERERS_MAX; i++) {
		const struct steerer *steerer = &s->steering.steerer[i];

		if (steerer->kind == kind && (!of_system_clock || steerer->system_clock))
			return steerer;
	}
	return NULL;
}

static const struct steerer *ptp_steerer_of_system_clock(const struct sync_snapshot *s)
{
	const struct steerer *found = find_steerer(s, STEERER_PHC2SYS, true);

	return found ? found : find_steerer(s, STEERER_PTP4L, true);
}

enum sync_result check_ntp(const struct sync_view *v, struct sync_check *check)
{
	const struct steerer *ntp = find_steerer(v->s, STEERER_NTP, true);
	const struct steerer *ptp = ptp_steerer_of_system_clock(v->s);

	if (!v->s->steering.known) {
		REASON(check, "/proc cannot be read");
		return SYNC_NOT_APPLICABLE;
	}
	if (!ntp) {
		VALUE(check, "none");
		return SYNC_OK;
	}
	VALUE(check, "%s (process %d)", ntp->name, ntp->pid);
	if (!ptp)
		return SYNC_OK;
	REASON(check, "%s and %s (process %d) both steer the system clock", ntp->name, ptp->name,
	       ptp->pid);
	FIX(check, "stop one: systemctl disable --now %s%s", ntp->name,
	    strcmp(ntp->name, "chronyd") ? "" : ", or run it with -x");
	return SYNC_WRONG;
}

enum sync_result check_steering(const struct sync_view *v, struct sync_check *check)
{
	const struct steerer *phc2sys = find_steerer(v->s, STEERER_PHC2SYS, v->slave);
	const struct steerer *system = ptp_steerer_of_system_clock(v->s);
	int64_t set_ago_s = v->s->kernel.max_error_ns / (MAX_ERROR_GROWTH_PPM * 1000);

	if (!v->phc) {
		if (system)
			VALUE(check, "%s (process %d)", system->name, system->pid);
		REASON(check, "no PHC: there is nothing for phc2sys to do");
		return SYNC_NOT_APPLICABLE;
	}
	if (!v->s->steering.known) {
		REASON(check, "/proc cannot be read");
		FIX(check, "mount /proc");
		return SYNC_UNKNOWN;
	}
	if (phc2sys) {
		VALUE(check, "phc2sys (process %d) steers the %s", phc2sys->pid,
		      phc2sys->system_clock ? "system clock" : "PHC");
		if (phc2sys->system_clock && v->s->kernel.known && !v->s->kernel.unsynced &&
		    set_ago_s > STEERED_WITHIN_S) {
			REASON(check, "it runs, but has not set the clock for %" PRId64 " s",
			       set_ago_s);
			FIX(check, "see phc2sys's log: it waits for ptp4l to be in sync");
			return SYNC_WRONG;
		}
		return SYNC_OK;
	}
	if (v->s->steering.partial && v->s->kernel.known && !v->s->kernel.unsynced &&
	    set_ago_s <= STEERED_WITHIN_S) {
		VALUE(check, "something that we cannot see, %" PRId64 " s ago", set_ago_s);
		REASON(check, "other users' processes are hidden (hidepid, or a container)");
		return SYNC_OK;
	}
	if (system && system->kind == STEERER_NTP)
		VALUE(check, "%s (process %d)", system->name, system->pid);
	else
		VALUE(check, "nothing");
	REASON(check, v->slave ? "the system clock does not follow the PHC: no phc2sys"
			       : "nothing keeps PHC and system clock together: no phc2sys");
	FIX(check, "run phc2sys (`tsnpub sync --print-setup` prints the command)");
	return SYNC_WRONG;
}

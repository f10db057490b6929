// SPDX-License-Identifier: GPL-2.0-only
#include "ptp/sync.h"

#include <inttypes.h>
#include <string.h>

#include "ptp/checks.h"

void sync_say(char *text, size_t size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(text, size, format, args);
	va_end(args);
}

int64_t sync_magnitude(int64_t ns)
{
	return ns == INT64_MIN ? INT64_MAX : ns < 0 ? -ns : ns;
}

/* An offset for people: exact below 10 us, then with the digits that matter. */
const char *sync_offset_text(int64_t ns, char buffer[DURATION_TEXT])
{
	double value = (double)ns;
	int64_t size = sync_magnitude(ns);

	if (size < 10000)
		snprintf(buffer, DURATION_TEXT, "%+" PRId64 "ns", ns);
	else if (size < 10 * NSEC_PER_MSEC)
		snprintf(buffer, DURATION_TEXT, "%+.3fus", value / 1e3);
	else if (size < 10 * NSEC_PER_SEC)
		snprintf(buffer, DURATION_TEXT, "%+.3fms", value / 1e6);
	else
		snprintf(buffer, DURATION_TEXT, "%+.6fs", value / 1e9);
	return buffer;
}

static const struct row {
	const char *name;
	enum sync_result (*judge)(const struct sync_view *view, struct sync_check *check);
} rows[CHECK_COUNT] = {
	[CHECK_PTP4L] = { "ptp4l", check_ptp4l },
	[CHECK_PORT] = { "port", check_port },
	[CHECK_TIMESTAMPING] = { "timestamping", check_timestamping },
	[CHECK_GRANDMASTER] = { "grandmaster", check_grandmaster },
	[CHECK_OFFSET] = { "offset from master", check_offset },
	[CHECK_FRESH] = { "sync messages", check_fresh },
	[CHECK_DELAY] = { "path delay", check_delay },
	[CHECK_TIMESCALE] = { "time scale", check_timescale },
	[CHECK_PHC] = { "PHC", check_phc },
	[CHECK_PHC_TAI] = { "PHC to system clock", check_phc_tai },
	[CHECK_PHC_FREQUENCY] = { "PHC frequency", check_phc_frequency },
	[CHECK_STEPS] = { "clock steps", check_steps },
	[CHECK_TAI_OFFSET] = { "kernel TAI offset", check_tai_offset },
	[CHECK_KERNEL_CLOCK] = { "kernel clock", check_kernel_clock },
	[CHECK_NTP] = { "NTP daemon", check_ntp },
	[CHECK_STEERING] = { "steering", check_steering },
};

static void make_view(const struct sync_snapshot *s, const struct sync_bars *bars,
		      struct sync_view *v)
{
	memset(v, 0, sizeof(*v));
	v->s = s;
	v->bars = bars;
	v->answers = s->ptp4l.fault == PTP4L_FINE && s->have_default;
	if (s->port >= 0 && s->port < s->port_count)
		v->port = &s->ports[s->port];
	v->own_grandmaster = v->answers && s->have_time_status && !s->time_status.gm_present;
	for (int i = 0; i < s->port_count; i++)
		v->slave |= v->answers && s->ports[i].ds.state == PORT_SLAVE;
	v->follows = sync_follows_master(s);
	v->software = v->answers && v->port && v->port->have_properties &&
		      v->port->properties.timestamping == PORT_STAMPS_SOFTWARE;
	v->phc = s->phc_index >= 0;
	v->limit_ns = bars->limit_ns > 0       ? bars->limit_ns
		      : v->software || !v->phc ? SYNC_LIMIT_SOFTWARE_NS
					       : SYNC_LIMIT_HARDWARE_NS;
}

void sync_judge(const struct sync_snapshot *snapshot, const struct sync_bars *bars,
		struct sync_report *report)
{
	struct sync_view view;
	enum sync_result worst = SYNC_NOT_APPLICABLE;

	memset(report, 0, sizeof(*report));
	make_view(snapshot, bars, &view);
	report->limit_ns = view.limit_ns;
	report->first = -1;
	for (int i = 0; i < CHECK_COUNT; i++) {
		struct sync_check *check = &report->check[i];

		check->name = rows[i].name;
		check->result = rows[i].judge(&view, check);
		if (check->result < SYNC_UNKNOWN)
			check->fix[0] = '\0';
		if (check->result >= SYNC_UNKNOWN && check->result > worst)
			report->first = i;
		if (check->result > worst)
			worst = check->result;
	}
	report->verdict = worst == SYNC_WRONG     ? SYNC_VERDICT_NOT_GOOD
			  : worst == SYNC_UNKNOWN ? SYNC_VERDICT_CANNOT_TELL
						  : SYNC_VERDICT_GOOD;
}

const char *sync_verdict_name(enum sync_verdict verdict)
{
	static const char *const names[] = { "good", "not good", "cannot tell" };

	return names[verdict];
}

const char *sync_result_name(enum sync_result result)
{
	static const char *const names[] = { "n/a", "ok", "unknown", "wrong" };

	return names[result];
}

bool sync_follows_master(const struct sync_snapshot *snapshot)
{
	if (snapshot->ptp4l.fault != PTP4L_FINE || !snapshot->have_time_status ||
	    !snapshot->time_status.gm_present)
		return false;
	for (int i = 0; i < snapshot->port_count; i++)
		if (snapshot->ports[i].ds.state == PORT_SLAVE ||
		    snapshot->ports[i].ds.state == PORT_UNCALIBRATED)
			return true;
	return !snapshot->port_count;
}

unsigned int sync_port_state(const struct sync_snapshot *snapshot)
{
	if (snapshot->ptp4l.fault != PTP4L_FINE || snapshot->port < 0 ||
	    snapshot->port >= snapshot->port_count)
		return PORT_UNKNOWN;
	return snapshot->ports[snapshot->port].ds.state;
}

int64_t sync_uncertainty_ns(const struct sync_snapshot *snapshot)
{
	int64_t sum = 0;

	if (snapshot->ptp4l.fault != PTP4L_FINE || !snapshot->have_time_status)
		return -1;
	if (snapshot->time_status.gm_present && !sync_follows_master(snapshot))
		return -1; /* holdover: nobody knows */
	if (snapshot->time_status.gm_present)
		sum = sync_magnitude(snapshot->time_status.master_offset_ns);
	if (snapshot->phc_index >= 0) {
		if (!snapshot->have_phc ||
		    __builtin_add_overflow(sum, sync_magnitude(snapshot->phc.tai_offset_ns),
					   &sum) ||
		    __builtin_add_overflow(sum, (snapshot->phc.window_ns + 1) / 2, &sum))
			return -1;
	}
	return sum;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "ptp/sync_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

#define SPARK_WIDTH 20

static int64_t magnitude(int64_t ns)
{
	return ns == INT64_MIN ? INT64_MAX : ns < 0 ? -ns : ns;
}

void sync_print_table(FILE *out, const struct sync_snapshot *snapshot,
		      const struct sync_report *report)
{
	if (snapshot->iface[0])
		fprintf(out, "Clock chain of %s\n", snapshot->iface);
	else
		fprintf(out, "Clock chain\n");
	for (int i = 0; i < CHECK_COUNT; i++) {
		const struct sync_check *check = &report->check[i];

		fprintf(out, "  %-20s %-8s %s", check->name, sync_result_name(check->result),
			check->value);
		if (check->limit[0])
			fprintf(out, "%s(limit %s)", check->value[0] ? " " : "", check->limit);
		if (check->reason[0] && check->result == SYNC_NOT_APPLICABLE)
			fprintf(out, "%s%s", check->value[0] ? "; " : "", check->reason);
		fputc('\n', out);
		if (check->reason[0] && check->result != SYNC_NOT_APPLICABLE)
			fprintf(out, "  %29s %s\n", "", check->reason);
		if (check->fix[0])
			fprintf(out, "  %29s fix: %s\n", "", check->fix);
	}
	fprintf(out, "Verdict: %s", sync_verdict_name(report->verdict));
	if (report->first >= 0)
		fprintf(out, " (%s)", report->check[report->first].name);
	fputc('\n', out);
}

/* A fix as publisher and receiver need it: the table names the options of `tsnpub sync`. */
static void add_run_fix(const char *fix, char *text, size_t size)
{
	static const struct {
		const char *table, *run;
	} options[] = {
		{ "--domain or --transport-specific", "--sync-domain" },
		{ "--socket", "--sync-socket" },
		{ "--limit", "--sync-limit" },
	};

	while (*fix && size > 1) {
		const char *run = NULL;

		for (size_t i = 0; i < sizeof(options) / sizeof(options[0]) && !run; i++)
			if (!strncmp(fix, options[i].table, strlen(options[i].table))) {
				run = options[i].run;
				fix += strlen(options[i].table);
			}
		if (run) {
			int length = snprintf(text, size, "%s", run);

			if ((size_t)length >= size)
				return;
			text += length;
			size -= (size_t)length;
		} else {
			*text++ = *fix++;
			size--;
		}
	}
	*text = '\0';
}

void sync_first_wrong(const struct sync_report *report, char *text, size_t size)
{
	const struct sync_check *check;

	if (report->first < 0) {
		snprintf(text, size, "the clock chain is good");
		return;
	}
	check = &report->check[report->first];
	snprintf(text, size, "%s: %s%s%s%s%s%s%s", check->name,
		 check->reason[0] ? check->reason : sync_result_name(check->result),
		 check->value[0] ? " (" : "", check->value,
		 check->value[0] && check->limit[0] ? ", limit " : "",
		 check->value[0] ? check->limit : "", check->value[0] ? ")" : "",
		 check->fix[0] ? "; fix: " : "");
	if (check->fix[0]) {
		size_t used = strlen(text);

		add_run_fix(check->fix, text + used, size - used);
	}
}

static void set(json_t *object, const char *key, json_t *value)
{
	/* takes the reference, also when it fails: the caller checks the whole at the end */
	json_object_set_new(object, key, value);
}

static void set_clock(json_t *object, const char *key, const uint8_t clock[8])
{
	char text[CLOCK_IDENTITY_TEXT];

	set(object, key, json_string(format_clock_identity(clock, text)));
}

static json_t *ptp4l_json(const struct sync_snapshot *s)
{
	json_t *object = json_object();

	set(object, "state", json_string(ptp4l_fault_name(s->ptp4l.fault)));
	set(object, "socket", json_string(s->ptp4l.socket));
	if (s->ptp4l.fault != PTP4L_FINE) {
		set(object, "detail", json_string(s->ptp4l.detail));
		return object;
	}
	set(object, "read_only", json_boolean(s->ptp4l.read_only));
	set(object, "domain", json_integer(s->ptp4l.domain));
	set(object, "transport_specific", json_integer(s->ptp4l.transport_specific));
	if (s->have_default)
		set_clock(object, "clock_identity", s->default_ds.clock);
	if (s->have_parent) {
		set_clock(object, "grandmaster", s->parent.gm);
		set(object, "grandmaster_class", json_integer(s->parent.gm_quality.class));
	}
	if (s->have_current)
		set(object, "steps_removed", json_integer(s->current.steps_removed));
	if (s->have_time_status) {
		set(object, "grandmaster_present", json_boolean(s->time_status.gm_present));
		if (sync_follows_master(s))
			set(object, "master_offset_ns",
			    json_integer(s->time_status.master_offset_ns));
	}
	if (s->have_ingress_age)
		set(object, "sync_age_ns", json_integer(s->ingress_age_ns));
	if (s->have_time_properties) {
		set(object, "utc_offset_s", json_integer(s->time_properties.utc_offset));
		set(object, "utc_offset_valid", json_boolean(s->time_properties.utc_offset_valid));
		set(object, "ptp_timescale", json_boolean(s->time_properties.ptp_timescale));
		set(object, "time_traceable", json_boolean(s->time_properties.time_traceable));
	}
	if (s->port >= 0) {
		const struct sync_port *port = &s->ports[s->port];
		bool peer = port->ds.delay_mechanism == DELAY_P2P;

		set(object, "port", json_integer(port->ds.id.port));
		set(object, "port_state", json_string(port_state_name(port->ds.state)));
		if (port->have_properties)
			set(object, "timestamping",
			    json_string(port_timestamping_name(port->properties.timestamping)));
		set(object, "delay_mechanism", json_string(peer ? "P2P" : "E2E"));
		if (peer || s->have_current)
			set(object, "path_delay_ns",
			    json_integer(peer ? port->ds.peer_delay_ns
					      : s->current.mean_path_delay_ns));
	}
	return object;
}

static json_t *phc_json(const struct sync_snapshot *s)
{
	json_t *object = json_object();

	set(object, "index", json_integer(s->phc_index));
	set(object, "name", json_string(s->phc_name));
	if (s->have_phc) {
		set(object, "method", json_string(phc_method_name(s->phc.method)));
		set(object, "tai_offset_ns", json_integer(s->phc.tai_offset_ns));
		set(object, "realtime_offset_ns", json_integer(s->phc.realtime_offset_ns));
		set(object, "window_ns", json_integer(s->phc.window_ns));
	} else {
		set(object, "error", json_string(s->phc_error));
	}
	if (s->have_frequency) {
		set(object, "frequency_ppb", json_integer(s->frequency_ppb));
		set(object, "frequency_uncertainty_ppb",
		    json_integer(s->frequency_uncertainty_ppb));
	}
	return object;
}

static json_t *kernel_json(const struct sync_snapshot *s)
{
	json_t *object = json_object();

	set(object, "tai_offset_s", json_integer(s->kernel.tai_offset));
	set(object, "unsynchronised", json_boolean(s->kernel.unsynced));
	set(object, "max_error_ns", json_integer(s->kernel.max_error_ns));
	set(object, "estimated_error_ns", json_integer(s->kernel.est_error_ns));
	set(object, "frequency_ppb", json_integer(s->kernel.frequency_ppb));
	return object;
}

static json_t *steering_json(const struct sync_snapshot *s)
{
	json_t *array = json_array();

	for (int i = 0; i < s->steering.count; i++) {
		const struct steerer *steerer = &s->steering.steerer[i];
		json_t *object = json_object();

		set(object, "name", json_string(steerer->name));
		set(object, "pid", json_integer(steerer->pid));
		set(object, "system_clock", json_boolean(steerer->system_clock));
		set(object, "phc", json_boolean(steerer->phc));
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *checks_json(const struct sync_report *report)
{
	json_t *array = json_array();

	for (int i = 0; i < CHECK_COUNT; i++) {
		const struct sync_check *check = &report->check[i];
		json_t *object = json_object();

		set(object, "name", json_string(check->name));
		set(object, "result", json_string(sync_result_name(check->result)));
		set(object, "value", json_string(check->value));
		set(object, "limit", json_string(check->limit));
		set(object, "reason", json_string(check->reason));
		set(object, "fix", json_string(check->fix));
		json_array_append_new(array, object);
	}
	return array;
}

json_t *sync_to_json(const struct sync_snapshot *s, const struct sync_report *report)
{
	json_t *root = json_object();
	int64_t uncertainty = sync_uncertainty_ns(s);

	set(root, "verdict", json_string(sync_verdict_name(report->verdict)));
	if (report->first >= 0)
		set(root, "decided_by", json_string(report->check[report->first].name));
	set(root, "iface", json_string(s->iface));
	set(root, "tai_ns", json_integer(s->tai_ns));
	set(root, "limit_ns", json_integer(report->limit_ns));
	if (uncertainty >= 0)
		set(root, "uncertainty_ns", json_integer(uncertainty));
	set(root, "ptp4l", ptp4l_json(s));
	if (s->phc_index >= 0)
		set(root, "phc", phc_json(s));
	set(root, "kernel", kernel_json(s));
	set(root, "steering", steering_json(s));
	set(root, "checks", checks_json(report));
	return root;
}

void sync_course_add(struct sync_course *course, int64_t value)
{
	histogram_add(&course->values, value, course->total, 0);
	histogram_add(&course->magnitudes, magnitude(value), course->total, 0);
	course->recent[course->total % SYNC_COURSE_RECENT] = value;
	course->total++;
}

void sync_course_free(struct sync_course *course)
{
	histogram_free(&course->values);
	histogram_free(&course->magnitudes);
}

json_t *sync_course_to_json(const struct sync_course *course)
{
	json_t *object = json_object();
	int64_t p99;

	set(object, "count", json_integer((json_int_t)course->total));
	if (!course->total)
		return object;
	set(object, "min_ns", json_integer(course->values.min));
	set(object, "mean_ns", json_real(histogram_mean(&course->values)));
	if (histogram_percentile(&course->magnitudes, 100, &p99))
		set(object, "p99_magnitude_ns", json_integer(p99));
	set(object, "max_ns", json_integer(course->values.max));
	return object;
}

/* The value `back` before the newest. */
static int64_t recent(const struct sync_course *course, int back)
{
	return course->recent[(course->total - 1 - (uint64_t)back) % SYNC_COURSE_RECENT];
}

void sync_course_sparkline(const struct sync_course *course, int width, char *text)
{
	int count = course->total < (uint64_t)width ? (int)course->total : width;
	int64_t top = 1;

	text[0] = '\0';
	for (int i = 0; i < count; i++)
		if (magnitude(recent(course, i)) > top)
			top = magnitude(recent(course, i));
	for (int i = count - 1; i >= 0; i--) {
		int level = (int)((double)magnitude(recent(course, i)) / (double)top * 7.0 + 0.5);

		/* U+2581 to U+2588, one to eight eighths */
		*text++ = (char)0xe2;
		*text++ = (char)0x96;
		*text++ = (char)(0x81 + level);
		*text = '\0';
	}
}

static size_t append_course(char *text, size_t size, const char *name,
			    const struct sync_course *course)
{
	char spark[3 * SPARK_WIDTH + 1], p99_text[40] = "";
	int64_t p99;
	int length;

	if (!course->total)
		return 0;
	sync_course_sparkline(course, SPARK_WIDTH, spark);
	if (histogram_percentile(&course->magnitudes, 100, &p99))
		snprintf(p99_text, sizeof(p99_text), " P99 %" PRId64, p99);
	length = snprintf(text, size,
			  "  %s %+" PRId64 " ns (min %+" PRId64 " mean %+.0f%s max %+" PRId64
			  ") %s",
			  name, recent(course, 0), course->values.min,
			  histogram_mean(&course->values), p99_text, course->values.max, spark);
	return length < 0 ? 0 : (size_t)length < size ? (size_t)length : size - 1;
}

void sync_watch_line(const struct sync_snapshot *s, const struct sync_report *report,
		     const struct sync_course *master, const struct sync_course *phc, char *text,
		     size_t size)
{
	int length = snprintf(text, size, "%-11s %-12s", sync_verdict_name(report->verdict),
			      port_state_name(sync_port_state(s)));
	size_t used = length < 0 ? 0 : (size_t)length;

	if (used >= size)
		return;
	if (sync_follows_master(s))
		used += append_course(text + used, size - used, "master", master);
	if (s->have_phc)
		used += append_course(text + used, size - used, "PHC-TAI", phc);
	if (report->first >= 0) {
		length = snprintf(text + used, size - used, "  %s: %s",
				  report->check[report->first].name,
				  report->check[report->first].reason);
		used += length < 0 ? 0 : (size_t)length;
	}
	/* told in this second only, whatever else is wrong */
	if (s->gm_changed && report->first != CHECK_GRANDMASTER && used < size)
		snprintf(text + used, size - used, "  %s", report->check[CHECK_GRANDMASTER].reason);
}

// SPDX-License-Identifier: GPL-2.0-only
#include "tc/schedule_yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

#define DELTA_DEFAULT (200 * NSEC_PER_USEC)
#define MARGIN_DEFAULT (1 * NSEC_PER_USEC)
#define CYCLE_TEXT_MAX (3600 * NSEC_PER_SEC) /* the validator knows the true limit and says why */

#define OPTIONAL_TEXT(key, type, member)                                                       \
	CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type, member, 0, \
			       CYAML_UNLIMITED)

static const cyaml_schema_value_t text_entry = { CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 0,
								    CYAML_UNLIMITED) };

static const cyaml_schema_field_t launch_time_fields[] = {
	OPTIONAL_TEXT("delta", struct launch_time_yaml, delta),
	OPTIONAL_TEXT("offload", struct launch_time_yaml, offload),
	CYAML_FIELD_END,
};

static const cyaml_schema_field_t class_fields[] = {
	OPTIONAL_TEXT("name", struct class_yaml, name),
	CYAML_FIELD_SEQUENCE("priorities", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
			     struct class_yaml, priorities, &text_entry, 0, CYAML_UNLIMITED),
	OPTIONAL_TEXT("queues", struct class_yaml, queues),
	CYAML_FIELD_MAPPING_PTR("launch-time", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
				struct class_yaml, launch_time, launch_time_fields),
	OPTIONAL_TEXT("max-frame", struct class_yaml, max_frame),
	OPTIONAL_TEXT("preemptible", struct class_yaml, preemptible),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t class_entry = { CYAML_VALUE_MAPPING(
	CYAML_FLAG_DEFAULT, struct class_yaml, class_fields) };

static const cyaml_schema_field_t gate_fields[] = {
	CYAML_FIELD_SEQUENCE("open", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct gate_yaml,
			     open, &text_entry, 0, CYAML_UNLIMITED),
	OPTIONAL_TEXT("duration", struct gate_yaml, duration),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t gate_entry = { CYAML_VALUE_MAPPING(
	CYAML_FLAG_DEFAULT, struct gate_yaml, gate_fields) };

const cyaml_schema_field_t schedule_yaml_fields[] = {
	OPTIONAL_TEXT("mode", struct schedule_yaml, mode),
	OPTIONAL_TEXT("driver", struct schedule_yaml, driver),
	OPTIONAL_TEXT("speed", struct schedule_yaml, speed),
	OPTIONAL_TEXT("cycle", struct schedule_yaml, cycle),
	OPTIONAL_TEXT("cycle-extension", struct schedule_yaml, cycle_extension),
	OPTIONAL_TEXT("base-time", struct schedule_yaml, base_time),
	OPTIONAL_TEXT("txtime-delay", struct schedule_yaml, txtime_delay),
	OPTIONAL_TEXT("guard", struct schedule_yaml, guard),
	OPTIONAL_TEXT("margin", struct schedule_yaml, margin),
	OPTIONAL_TEXT("ptp-priority", struct schedule_yaml, ptp_priority),
	CYAML_FIELD_SEQUENCE("classes", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
			     struct schedule_yaml, classes, &class_entry, 0, CYAML_UNLIMITED),
	CYAML_FIELD_SEQUENCE("gates", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
			     struct schedule_yaml, gates, &gate_entry, 0, CYAML_UNLIMITED),
	CYAML_FIELD_END,
};

/* Where a value stands, and its error. */
struct place {
	const struct yaml_file *file;
	struct error *err;
	char path[64];
	char what[YAML_WHAT];
};

static const char *at(struct place *place, const char *format, unsigned index, const char *key)
{
	snprintf(place->path, sizeof(place->path), format, index, key);
	return yaml_file_what(place->file, place->path, place->what);
}

#define CLASS "schedule.classes[%u].%s"
#define GATE "schedule.gates[%u].%s"

static const char *top(struct place *place, const char *key)
{
	snprintf(place->path, sizeof(place->path), "schedule.%s", key);
	return yaml_file_what(place->file, place->path, place->what);
}

static int read_queues(struct place *place, unsigned index, const char *text,
		       struct traffic_class *class)
{
	const char *what = at(place, CLASS, index, "queues");
	const char *dash = text ? strchr(text, '-') : NULL;
	uint64_t first, last;
	char low[64];

	if (!text)
		return error_input(place->err, "%s: class '%s' has no queues; add queues: 0", what,
				   class->name);
	snprintf(low, sizeof(low), "%.*s", dash ? (int)(dash - text) : (int)strlen(text), text);
	if (strlen(text) >= sizeof(low))
		return error_input(place->err, "%s '%.40s': not a range of queues; write 0, or 1-3",
				   what, text);
	if (parse_number(what, low, 0, SCHEDULE_QUEUES_MAX - 1, &first, place->err))
		return -1;
	last = first;
	if (dash && parse_number(what, dash + 1, first, SCHEDULE_QUEUES_MAX - 1, &last, place->err))
		return -1;
	class->queue_first = (uint16_t)first;
	class->queue_count = (uint16_t)(last - first + 1);
	return 0;
}

static int read_choice(struct place *place, const char *what, const char *text,
		       enum schedule_choice *choice)
{
	static const char *const names[] = { "auto", "on", "off" };

	for (size_t i = 0; text && i < 3; i++)
		if (!strcmp(text, names[i])) {
			*choice = (enum schedule_choice)i;
			return 0;
		}
	return text ? error_input(place->err, "%s '%.32s': unknown; write auto, on or off", what,
				  text)
		    : 0;
}

static bool name_is_good(const char *name)
{
	size_t length = strlen(name);

	return length > 0 && length < SCHEDULE_NAME &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_. ") ==
		       length;
}

static int read_class(struct place *place, unsigned index, const struct class_yaml *yaml,
		      struct schedule *schedule)
{
	struct traffic_class *class = &schedule->classes[index];
	uint64_t number;

	if (!yaml->name)
		return error_input(place->err, "%s: the class has no name; add name: control",
				   at(place, CLASS, index, "name"));
	if (!name_is_good(yaml->name))
		return error_input(
			place->err,
			"%s '%.40s': letters, digits, space, '-', '_' and '.', at most %d of them",
			at(place, CLASS, index, "name"), yaml->name, SCHEDULE_NAME - 1);
	snprintf(class->name, sizeof(class->name), "%s", yaml->name);
	at(place, CLASS, index, "priorities");
	if (!yaml->priorities_count && yaml_file_has(place->file, place->path))
		return error_input(place->err,
				   "%s: an empty list, no frame could reach class '%s'; write its "
				   "priorities, such as [5]",
				   place->what, class->name);
	for (unsigned i = 0; i < yaml->priorities_count; i++) {
		if (parse_number(at(place, CLASS, index, "priorities"), yaml->priorities[i], 0,
				 PRIORITIES - 1, &number, place->err))
			return -1;
		if (class->priorities & 1 << number)
			return error_input(place->err,
					   "%s '%s': named twice in this class; remove one",
					   place->what, yaml->priorities[i]);
		class->priorities |= (uint8_t)(1 << number);
	}
	if (read_queues(place, index, yaml->queues, class))
		return -1;
	if (yaml->launch_time) {
		const struct launch_time_yaml *launch = yaml->launch_time;

		class->launch_time = true;
		class->delta_ns = DELTA_DEFAULT;
		if (launch->delta &&
		    parse_duration(at(place, CLASS, index, "launch-time.delta"), launch->delta, 0,
				   NSEC_PER_SEC, &class->delta_ns, place->err))
			return -1;
		if (read_choice(place, at(place, CLASS, index, "launch-time.offload"),
				launch->offload, &class->etf_offload))
			return -1;
	}
	if (yaml->max_frame) {
		if (parse_number(at(place, CLASS, index, "max-frame"), yaml->max_frame,
				 FRAME_SIZE_MIN, SCHEDULE_FRAME_MAX, &number, place->err))
			return -1;
		class->max_frame = (uint32_t)number;
	}
	if (yaml->preemptible) {
		class->preemptible = !strcmp(yaml->preemptible, "true") ||
				     !strcmp(yaml->preemptible, "yes");
		if (!class->preemptible && strcmp(yaml->preemptible, "false") &&
		    strcmp(yaml->preemptible, "no"))
			return error_input(place->err, "%s '%.32s': unknown; write true or false",
					   at(place, CLASS, index, "preemptible"),
					   yaml->preemptible);
	}
	return 0;
}

static int read_gate(struct place *place, unsigned index, const struct gate_yaml *yaml,
		     struct schedule *schedule)
{
	struct gate *gate = &schedule->gates[index];

	if (!yaml->duration)
		return error_input(place->err, "%s: the gate has no duration; add duration: 50us",
				   at(place, GATE, index, "duration"));
	if (parse_duration(at(place, GATE, index, "duration"), yaml->duration, 0, CYCLE_TEXT_MAX,
			   &gate->duration_ns, place->err))
		return -1;
	for (unsigned i = 0; i < yaml->open_count; i++) {
		int class = schedule_class_find(schedule, yaml->open[i]);

		if (class < 0)
			return error_input(
				place->err,
				"%s '%.40s': no class has this name; classes: define them",
				at(place, GATE, index, "open"), yaml->open[i]);
		if (gate->open & 1U << class)
			return error_input(place->err,
					   "%s '%s': named twice in this gate; remove one",
					   at(place, GATE, index, "open"), yaml->open[i]);
		gate->open |= 1U << class;
	}
	return 0;
}

static int read_base_time(struct place *place, const char *text, struct schedule *schedule)
{
	const char *what = top(place, "base-time");

	if (!text || !strcmp(text, "auto"))
		return 0;
	if (!strncmp(text, "phase ", 6)) {
		schedule->base_kind = BASE_PHASE;
		return parse_duration(what, text + 6, 0, schedule->cycle_ns - 1, &schedule->base_ns,
				      place->err);
	}
	schedule->base_kind = BASE_ABSOLUTE;
	if (parse_duration(what, text, 0, INT64_MAX, &schedule->base_ns, place->err)) {
		size_t used = strlen(place->err->text);

		snprintf(place->err->text + used, sizeof(place->err->text) - used,
			 "; or write auto, or 'phase 10us'");
		return -1;
	}
	return 0;
}

static int read_guard(struct place *place, const char *text, struct schedule *schedule)
{
	if (!text || !strcmp(text, "auto"))
		return 0;
	if (!strcmp(text, "none")) {
		schedule->guard_kind = GUARD_NONE;
		return 0;
	}
	schedule->guard_kind = GUARD_TIME;
	return parse_duration(top(place, "guard"), text, 0, NSEC_PER_SEC, &schedule->guard_ns,
			      place->err);
}

static int read_times(struct place *place, const struct schedule_yaml *yaml,
		      struct schedule *schedule)
{
	schedule->margin_ns = MARGIN_DEFAULT;
	if (yaml->cycle && parse_duration(top(place, "cycle"), yaml->cycle, 1, CYCLE_TEXT_MAX,
					  &schedule->cycle_ns, place->err))
		return -1;
	if (yaml->cycle_extension &&
	    parse_duration(top(place, "cycle-extension"), yaml->cycle_extension, 0, CYCLE_TEXT_MAX,
			   &schedule->extension_ns, place->err))
		return -1;
	if (yaml->txtime_delay &&
	    parse_duration(top(place, "txtime-delay"), yaml->txtime_delay, 0, NSEC_PER_SEC,
			   &schedule->txtime_delay_ns, place->err))
		return -1;
	if (yaml->margin && parse_duration(top(place, "margin"), yaml->margin, 0, NSEC_PER_SEC,
					   &schedule->margin_ns, place->err))
		return -1;
	return read_base_time(place, yaml->base_time, schedule) ||
			       read_guard(place, yaml->guard, schedule)
		       ? -1
		       : 0;
}

int schedule_from_yaml(const struct yaml_file *file, const struct schedule_yaml *yaml,
		       const char *interface, int64_t stream_cycle_ns, struct schedule *schedule,
		       struct error *err)
{
	struct place place = { .file = file, .err = err };
	uint64_t number;

	memset(schedule, 0, sizeof(*schedule));
	snprintf(schedule->interface, sizeof(schedule->interface), "%s", interface);
	schedule->cycle_ns = schedule->stream_cycle_ns = stream_cycle_ns;
	if (yaml->driver)
		snprintf(schedule->driver, sizeof(schedule->driver), "%s", yaml->driver);
	if (yaml->speed &&
	    parse_speed(top(&place, "speed"), yaml->speed, &schedule->speed_mbps, err))
		return -1;
	if (yaml->mode) {
		int mode = schedule_mode_find(yaml->mode);

		if (mode < 0)
			return error_input(err,
					   "%s '%.32s': unknown; write auto, full-offload, "
					   "txtime-assist, software or "
					   "mqprio",
					   top(&place, "mode"), yaml->mode);
		schedule->mode = (enum schedule_mode)mode;
	}
	if (yaml->ptp_priority) {
		if (parse_number(top(&place, "ptp-priority"), yaml->ptp_priority, 0, PRIORITIES - 1,
				 &number, err))
			return -1;
		schedule->ptp_priority = (uint8_t)number;
	}
	if (read_times(&place, yaml, schedule))
		return -1;
	if (!yaml->classes_count)
		return error_input(
			err, "%s: no classes; name at least one, with its priorities and queues",
			top(&place, "classes"));
	if (yaml->classes_count > SCHEDULE_CLASSES_MAX)
		return error_input(err, "%s: %u classes; the kernel knows at most %d",
				   top(&place, "classes"), yaml->classes_count,
				   SCHEDULE_CLASSES_MAX);
	for (unsigned i = 0; i < yaml->classes_count; i++) {
		if (read_class(&place, i, &yaml->classes[i], schedule))
			return -1;
		if (schedule_class_find(schedule, schedule->classes[i].name) >= 0)
			return error_input(
				err, "%s '%s': a class above has this name; names must differ",
				at(&place, CLASS, i, "name"), schedule->classes[i].name);
		schedule->class_count++;
	}
	if (yaml_file_has(file, "schedule.gates") && !yaml->gates_count)
		return error_input(err,
				   "%s: an empty list; write the gates, or leave the key out and "
				   "let them be planned",
				   top(&place, "gates"));
	if (yaml->gates_count > SCHEDULE_GATES_MAX)
		return error_input(err,
				   "%s: %u gates; at most %d, since the kernel could not show more",
				   top(&place, "gates"), yaml->gates_count, SCHEDULE_GATES_MAX);
	for (unsigned i = 0; i < yaml->gates_count; i++)
		if (read_gate(&place, i, &yaml->gates[i], schedule))
			return -1;
	schedule->gate_count = yaml->gates_count;
	schedule->plan_gates = !yaml->gates_count;
	return 0;
}

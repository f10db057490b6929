// SPDX-License-Identifier: GPL-2.0-only
#include "cli/schedule_file.h"

#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stream_yaml.h"
#include "base/units.h"
#include "tc/schedule_yaml.h"

struct file_yaml {
	char *interface;
	char *cycle;
	struct stream_yaml *streams;
	unsigned streams_count;
	struct schedule_yaml *schedule;
};

#define TEXT_FIELD(key, member)                                                                 \
	CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct file_yaml, \
			       member, 0, CYAML_UNLIMITED)

static const cyaml_schema_field_t fields[] = {
	TEXT_FIELD("interface", interface),
	TEXT_FIELD("cycle", cycle),
	CYAML_FIELD_SEQUENCE("streams", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct file_yaml,
			     streams, &stream_yaml_entry, 0, CYAML_UNLIMITED),
	CYAML_FIELD_MAPPING_PTR("schedule", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
				struct file_yaml, schedule, schedule_yaml_fields),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t schema = { CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER,
								 struct file_yaml, fields) };

static int convert(const struct file_yaml *yaml, struct schedule_file *file, struct error *err)
{
	char what[YAML_WHAT];
	int64_t cycle_ns;

	if (!yaml->schedule)
		return error_input(err,
				   "%s: no schedule: in this file; `man 5 tsnpub-schedule` shows "
				   "how one looks",
				   yaml_file_name(file->yaml));
	if (yaml->interface && (!yaml->interface[0] || strlen(yaml->interface) >= IFNAMSIZ ||
				strpbrk(yaml->interface, "/ \t\r\n")))
		return error_input(err, "%s '%.40s': not an interface name; `ip link` lists them",
				   yaml_file_what(file->yaml, "interface", what), yaml->interface);
	if (yaml->cycle) {
		if (parse_duration(yaml_file_what(file->yaml, "cycle", what), yaml->cycle, 1000,
				   3600 * NSEC_PER_SEC, &cycle_ns, err))
			return -1;
	} else if (stream_yaml_cycle(file->yaml, yaml->streams, yaml->streams_count, &cycle_ns,
				     err)) {
		return -1;
	}
	if (schedule_from_yaml(file->yaml, yaml->schedule, yaml->interface ? yaml->interface : "",
			       cycle_ns, &file->schedule, err))
		return -1;
	if (yaml->streams_count > STREAMS_MAX)
		return error_input(err, "%s: %u streams; at most %d",
				   yaml_file_what(file->yaml, "streams", what), yaml->streams_count,
				   STREAMS_MAX);
	file->stream_count = yaml->streams_count;
	file->streams = calloc(file->stream_count + 1, sizeof(*file->streams));
	if (!file->streams)
		return error_system(err, "%s: no memory", yaml_file_name(file->yaml));
	if (streams_from_yaml(file->yaml, yaml->streams, yaml->streams_count, cycle_ns,
			      file->streams, err))
		return -1;
	/* without streams there is nothing to plan: no gates means none */
	if (!file->stream_count)
		file->schedule.plan_gates = false;
	return 0;
}

static int take(struct yaml_file *opened, struct schedule_file *file, struct error *err)
{
	struct file_yaml *yaml = NULL;
	int result;

	memset(file, 0, sizeof(*file));
	file->yaml = opened;
	if (!opened)
		return -1;
	result = yaml_file_load(file->yaml, &schema, (void **)&yaml, err);
	if (!result) {
		result = convert(yaml, file, err);
		yaml_file_free(&schema, yaml);
	}
	if (result)
		schedule_file_free(file);
	return result;
}

int schedule_file_load(const char *path, struct schedule_file *file, struct error *err)
{
	return take(yaml_file_open(path, err), file, err);
}

int schedule_file_from_text(const char *name, const char *text, size_t size,
			    struct schedule_file *file, struct error *err)
{
	return take(yaml_file_from_text(name, text, size, err), file, err);
}

void schedule_file_free(struct schedule_file *file)
{
	free(file->streams);
	yaml_file_close(file->yaml);
	memset(file, 0, sizeof(*file));
}

int schedule_print_findings(const struct yaml_file *yaml, const struct findings *findings,
			    bool notes)
{
	for (unsigned i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->list[i];
		char where[YAML_WHAT] = "";

		if (finding->level == FINDING_NOTE && !notes)
			continue;
		if (yaml)
			snprintf(where, sizeof(where), "%s: line %u: ", yaml_file_name(yaml),
				 yaml_file_line(yaml, finding->path));
		if (finding->level == FINDING_WARNING)
			message_warn("%s%s: %s", where, finding->path, finding->text);
		else
			message_note("%s%s: %s", where, finding->path, finding->text);
	}
	if (findings->dropped)
		message_note("and %u more", findings->dropped);
	return findings->errors ? STATUS_INPUT : STATUS_GOOD;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "cli/schedule_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "host/link.h"

/* The top-level words that a schedule needs, with both names of the interface's. */
static const char *interface_key(const struct yaml_file *yaml)
{
	return yaml_file_has(yaml, "interface") && !yaml_file_has(yaml, "iface") ? "interface"
										 : "iface";
}

int schedule_file_convert(const struct config_file *config, struct schedule_file *file,
			  struct error *err)
{
	const struct publish_texts *texts = &config->texts;
	const char *interface = texts->value[PUBLISH_IFACE], *cycle = texts->value[PUBLISH_CYCLE];
	char what[YAML_WHAT];
	int64_t cycle_ns;

	memset(file, 0, sizeof(*file));
	file->yaml = config->yaml;
	if (!config->schedule)
		return error_input(err,
				   "%s: no schedule: in this file; `man 5 tsnpub-schedule` shows "
				   "how one looks",
				   yaml_file_name(file->yaml));
	if (interface && !link_name_is_good(interface))
		return error_input(err, "%s '%.40s': not an interface name; `ip link` lists them",
				   yaml_file_what(file->yaml, interface_key(file->yaml), what),
				   interface);
	if (cycle) {
		if (parse_duration(yaml_file_what(file->yaml, "cycle", what), cycle, 1000,
				   3600 * NSEC_PER_SEC, &cycle_ns, err))
			return -1;
	} else if (stream_yaml_cycle(file->yaml, texts->streams, texts->stream_count, &cycle_ns,
				     err)) {
		return -1;
	}
	if (schedule_from_yaml(file->yaml, config->schedule, interface ? interface : "", cycle_ns,
			       &file->schedule, err))
		return -1;
	if (!texts->stream_count && yaml_file_has(file->yaml, "streams"))
		return error_input(err, "%s: an empty list; add a stream, or leave the key out",
				   yaml_file_what(file->yaml, "streams", what));
	if (texts->stream_count > STREAMS_MAX)
		return error_input(err, "%s: %u streams; at most %d",
				   yaml_file_what(file->yaml, "streams", what), texts->stream_count,
				   STREAMS_MAX);
	file->streams = calloc(texts->stream_count + 1, sizeof(*file->streams));
	if (!file->streams)
		return error_system(err, "%s: no memory", yaml_file_name(file->yaml));
	if (streams_from_yaml(file->yaml, texts->streams, texts->stream_count, cycle_ns,
			      file->streams, err)) {
		free(file->streams);
		file->streams = NULL;
		return -1;
	}
	file->stream_count = texts->stream_count;
	/* without streams there is nothing to plan: no gates means none */
	if (!file->stream_count)
		file->schedule.plan_gates = false;
	return 0;
}

/* Keeps of the opened file what the schedule needs: the places of its values. */
static int take(struct config_file *config, struct schedule_file *file, struct error *err)
{
	int result = schedule_file_convert(config, file, err);

	if (!result)
		config->yaml = NULL;
	config_file_close(config);
	return result;
}

int schedule_file_load(const char *path, struct schedule_file *file, struct error *err)
{
	struct config_file config;

	return config_file_open(path, &config, err) ? -1 : take(&config, file, err);
}

int schedule_file_from_text(const char *name, const char *text, size_t size,
			    struct schedule_file *file, struct error *err)
{
	struct config_file config;

	return config_file_from_text(name, text, size, &config, err) ? -1
								     : take(&config, file, err);
}

void schedule_file_free(struct schedule_file *file)
{
	free(file->streams);
	yaml_file_close(file->yaml);
	memset(file, 0, sizeof(*file));
}

/* "FILE: line N: ", or the file alone where it has no lines. */
static void where_is(const struct schedule_file *file, const char *path, char where[YAML_WHAT])
{
	static const char *const imported[] = { "schedule.gates", "schedule.cycle",
						"schedule.base-time" };

	for (size_t i = 0; file->gates_from && i < sizeof(imported) / sizeof(imported[0]); i++)
		if (!strncmp(path, imported[i], strlen(imported[i]))) {
			snprintf(where, YAML_WHAT, "%s: ", file->gates_from);
			return;
		}
	snprintf(where, YAML_WHAT, "%s: line %u: ", yaml_file_name(file->yaml),
		 yaml_file_line(file->yaml, path));
}

int schedule_print_findings(const struct schedule_file *file, const struct findings *findings,
			    bool notes)
{
	for (unsigned i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->list[i];
		char where[YAML_WHAT] = "";

		if (finding->level == FINDING_NOTE && !notes)
			continue;
		if (file)
			where_is(file, finding->path, where);
		if (finding->level == FINDING_WARNING)
			message_warn("%s%s: %s", where, finding->path, finding->text);
		else
			message_note("%s%s: %s", where, finding->path, finding->text);
	}
	if (findings->dropped)
		message_note("and %u more", findings->dropped);
	return findings->errors ? STATUS_INPUT : STATUS_GOOD;
}

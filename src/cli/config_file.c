// SPDX-License-Identifier: GPL-2.0-only
#include "cli/config_file.h"

#include <string.h>

/* As libcyaml fills it in. */
struct config_yaml {
	char *value[PUBLISH_OPTIONS];
	char *interface; /* the schedule's word for iface */
	struct stream_yaml *streams;
	unsigned streams_count;
	struct schedule_yaml *schedule;
};

/* options, interface, streams, schedule, end */
static cyaml_schema_field_t fields[PUBLISH_OPTIONS + 4];

static const cyaml_schema_value_t schema = { CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER,
								 struct config_yaml, fields) };

static cyaml_schema_field_t text_field(const char *name, size_t offset)
{
	return (cyaml_schema_field_t){
		.key = name,
		.value = { .type = CYAML_STRING,
			   .flags = CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
			   .data_size = sizeof(char),
			   .string = { .min = 0, .max = CYAML_UNLIMITED } },
		.data_offset = (uint32_t)offset,
	};
}

/* From the table of options, so that a new option is in the file too. */
static void build_schema(void)
{
	static const cyaml_schema_field_t others[] = {
		CYAML_FIELD_SEQUENCE("streams", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
				     struct config_yaml, streams, &stream_yaml_entry, 0,
				     CYAML_UNLIMITED),
		CYAML_FIELD_MAPPING_PTR("schedule", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
					struct config_yaml, schedule, schedule_yaml_fields),
		CYAML_FIELD_END,
	};
	unsigned n = 0;

	for (; n < PUBLISH_OPTIONS; n++)
		fields[n] = text_field(publish_option_name((enum publish_option)n),
				       offsetof(struct config_yaml, value) + n * sizeof(char *));
	fields[n++] = text_field("interface", offsetof(struct config_yaml, interface));
	memcpy(&fields[n], others, sizeof(others));
}

static int take(struct yaml_file *yaml, struct config_file *config, struct error *err)
{
	struct config_yaml *data;

	memset(config, 0, sizeof(*config));
	if (!yaml)
		return -1;
	config->yaml = yaml;
	if (!fields[0].key)
		build_schema();
	if (yaml_file_load(yaml, &schema, &config->data, err) < 0) {
		config_file_close(config);
		return -1;
	}
	data = config->data;
	for (unsigned i = 0; i < PUBLISH_OPTIONS; i++)
		config->texts.value[i] = data->value[i];
	if (!config->texts.value[PUBLISH_IFACE])
		config->texts.value[PUBLISH_IFACE] = data->interface;
	if (data->interface && data->value[PUBLISH_IFACE]) {
		char what[YAML_WHAT];

		error_input(err, "%s: means the same as iface, which stands here too; remove one",
			    yaml_file_what(yaml, "interface", what));
		config_file_close(config);
		return -1;
	}
	config->texts.streams = data->streams;
	config->texts.stream_count = data->streams_count;
	config->schedule = data->schedule;
	return 0;
}

int config_file_open(const char *path, struct config_file *config, struct error *err)
{
	return take(yaml_file_open(path, err), config, err);
}

int config_file_from_text(const char *name, const char *text, size_t size,
			  struct config_file *config, struct error *err)
{
	return take(yaml_file_from_text(name, text, size, err), config, err);
}

void config_file_close(struct config_file *config)
{
	if (config->data)
		yaml_file_free(&schema, config->data);
	yaml_file_close(config->yaml);
	memset(config, 0, sizeof(*config));
}

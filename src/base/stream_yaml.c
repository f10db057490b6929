// SPDX-License-Identifier: GPL-2.0-only
#include "base/stream_yaml.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"

#define TEXT_FIELD(key, member)                                                                   \
	CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct stream_yaml, \
			       member, 0, CYAML_UNLIMITED)

static const cyaml_schema_field_t fields[] = {
	TEXT_FIELD("id", id),
	TEXT_FIELD("dest", dest),
	TEXT_FIELD("vlan", vlan),
	TEXT_FIELD("priority", priority),
	TEXT_FIELD("offset", offset),
	TEXT_FIELD("every", every),
	TEXT_FIELD("period", period),
	TEXT_FIELD("phase", phase),
	TEXT_FIELD("frames", frames),
	TEXT_FIELD("size", size),
	CYAML_FIELD_END,
};

const cyaml_schema_value_t stream_yaml_entry = { CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT,
								     struct stream_yaml, fields) };

/* "FILE: line N: streams[3].size" */
static char *what_in_file(const void *file, unsigned index, const char *key, char buffer[YAML_WHAT])
{
	char path[64];

	if (index == STREAMS_MAX)
		snprintf(path, sizeof(path), "streams");
	else
		snprintf(path, sizeof(path), "streams[%u]%s%s", index, *key ? "." : "", key);
	return yaml_file_what(file, path, buffer);
}

/* Where the texts come from, for errors. */
struct origin {
	stream_what what;
	const void *context;
};

static char *what(const struct origin *origin, unsigned index, const char *key,
		  char buffer[YAML_WHAT])
{
	return origin->what(origin->context, index, key, buffer);
}

static int read_number(const struct origin *origin, unsigned index, const char *key,
		       const char *text, uint64_t min, uint64_t max, uint64_t fallback,
		       uint64_t *value, struct error *err)
{
	char buffer[YAML_WHAT];

	*value = fallback;
	return text ? parse_number(what(origin, index, key, buffer), text, min, max, value, err)
		    : 0;
}

static int read_period(const struct origin *origin, unsigned index, const char *text,
		       int64_t *period_ns, struct error *err)
{
	char buffer[YAML_WHAT];

	return parse_duration(what(origin, index, "period", buffer), text, 1000,
			      3600 * NSEC_PER_SEC, period_ns, err);
}

int stream_yaml_cycle(const struct yaml_file *file, const struct stream_yaml *yaml, unsigned count,
		      int64_t *cycle_ns, struct error *err)
{
	const struct origin origin = { what_in_file, file };
	int64_t cycle = 0;

	for (unsigned i = 0; i < count; i++) {
		int64_t a = cycle, b;

		if (!yaml[i].period)
			continue;
		if (read_period(&origin, i, yaml[i].period, &b, err))
			return -1;
		while (a) {
			int64_t rest = b % a;

			b = a;
			a = rest;
		}
		cycle = b;
	}
	if (!cycle)
		return error_input(err, "%s: key 'cycle' is missing; add it, such as cycle: 250us",
				   yaml_file_name(file));
	*cycle_ns = cycle;
	return 0;
}

static int read_repetition(const struct origin *origin, unsigned i, const struct stream_yaml *yaml,
			   int64_t cycle_ns, struct stream *stream, struct error *err)
{
	char buffer[YAML_WHAT], a[DURATION_TEXT];
	uint64_t number;
	int64_t period;

	if (yaml->period && yaml->every)
		return error_input(err,
				   "%s '%.32s': period and every say the same; write one of them",
				   what(origin, i, "every", buffer), yaml->every);
	if (read_number(origin, i, "every", yaml->every, 1, UINT32_MAX, 1, &number, err))
		return -1;
	if (yaml->period) {
		if (read_period(origin, i, yaml->period, &period, err))
			return -1;
		if (period % cycle_ns)
			return error_input(
				err,
				"%s '%.32s': not a multiple of the cycle (%s); change one of them",
				what(origin, i, "period", buffer), yaml->period,
				format_duration(cycle_ns, a));
		number = (uint64_t)(period / cycle_ns);
		if (number > UINT32_MAX)
			return error_input(err, "%s '%.32s': more than %u cycles",
					   what(origin, i, "period", buffer), yaml->period,
					   UINT32_MAX);
	}
	stream->every = (uint32_t)number;
	if (read_number(origin, i, "phase", yaml->phase, 0, stream->every - 1, 0, &number, err))
		return -1;
	stream->phase = (uint32_t)number;
	return 0;
}

static int read_stream(const struct origin *origin, unsigned i, const struct stream_yaml *yaml,
		       int64_t cycle_ns, struct stream *stream, struct error *err)
{
	char buffer[YAML_WHAT];
	uint64_t number;

	*stream = (struct stream){ .dest = { 0x91, 0xe0, 0xf0, 0x00, 0xfe, 0x00 } };
	if (read_number(origin, i, "id", yaml->id, 0, STREAM_ID_MAX, i, &number, err))
		return -1;
	stream->id = (uint16_t)number;
	if (yaml->dest) {
		if (parse_mac(what(origin, i, "dest", buffer), yaml->dest, stream->dest, err))
			return -1;
	} else if (stream->id > 255) {
		return error_input(
			err, "%s '%u': only ids up to 255 have an address of their own; add dest:",
			what(origin, i, "id", buffer), stream->id);
	}
	if (!yaml->dest)
		stream->dest[5] = (uint8_t)stream->id;
	if (read_number(origin, i, "vlan", yaml->vlan, 0, 4094, STREAM_NO_VLAN, &number, err))
		return -1;
	stream->vlan = (uint16_t)number;
	if (read_number(origin, i, "priority", yaml->priority, 0, 7, 0, &number, err))
		return -1;
	stream->priority = (uint8_t)number;
	if (yaml->offset && !strcmp(yaml->offset, "anywhere"))
		stream->offset_ns = STREAM_ANYWHERE;
	else if (yaml->offset && parse_duration(what(origin, i, "offset", buffer), yaml->offset, 0,
						cycle_ns - 1, &stream->offset_ns, err))
		return -1;
	if (read_repetition(origin, i, yaml, cycle_ns, stream, err))
		return -1;
	if (read_number(origin, i, "frames", yaml->frames, 1, 1024, 1, &number, err))
		return -1;
	stream->frames = (uint32_t)number;
	if (read_number(origin, i, "size", yaml->size, FRAME_SIZE_MIN, 65535, 64, &number, err))
		return -1;
	stream->size = (uint32_t)number;
	return 0;
}

int streams_from_text(stream_what describe, const void *context, const struct stream_yaml *yaml,
		      unsigned count, int64_t cycle_ns, struct stream *streams, struct error *err)
{
	static const size_t bytes = (STREAM_ID_MAX + 8) / 8;
	const struct origin origin = { describe, context };
	uint8_t seen[(STREAM_ID_MAX + 8) / 8];
	char buffer[YAML_WHAT];

	memset(seen, 0, bytes);
	if (count > STREAMS_MAX)
		return error_input(err, "%s: %u streams; at most %d",
				   what(&origin, STREAMS_MAX, "", buffer), count, STREAMS_MAX);
	for (unsigned i = 0; i < count; i++) {
		if (read_stream(&origin, i, &yaml[i], cycle_ns, &streams[i], err))
			return -1;
		if (seen[streams[i].id / 8] & 1 << streams[i].id % 8)
			return error_input(
				err, "%s '%u': a stream above has this id; ids must differ",
				what(&origin, i, yaml[i].id ? "id" : "", buffer), streams[i].id);
		seen[streams[i].id / 8] |= (uint8_t)(1 << streams[i].id % 8);
	}
	return 0;
}

int streams_from_yaml(const struct yaml_file *file, const struct stream_yaml *yaml, unsigned count,
		      int64_t cycle_ns, struct stream *streams, struct error *err)
{
	return streams_from_text(what_in_file, file, yaml, count, cycle_ns, streams, err);
}

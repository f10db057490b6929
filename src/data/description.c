// SPDX-License-Identifier: GPL-2.0-only
#include "data/description.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/clock.h"

#ifndef TSNPUB_VERSION
#define TSNPUB_VERSION "0.1.0"
#endif

json_t *describe_bytes(const char *bytes)
{
	json_t *text = json_string(bytes);
	char *copy;

	if (text)
		return text;
	copy = strdup(bytes);
	if (!copy)
		return NULL;
	for (char *p = copy; *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	text = json_string(copy);
	free(copy);
	return text;
}

static json_t *command_line(char *const *argv)
{
	char *line = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&line, &size);
	json_t *text;

	if (!out)
		return NULL;
	for (int i = 0; argv[i]; i++)
		fprintf(out, "%s%s", i ? " " : "", argv[i]);
	fclose(out);
	text = line ? describe_bytes(line) : NULL;
	free(line);
	return text;
}

json_t *describe_run(char *const *argv)
{
	json_t *d = json_object();
	struct utsname name;

	if (!d)
		return NULL;
	json_object_set_new(d, "program", json_string("tsnpub " TSNPUB_VERSION));
	if (!uname(&name)) {
		json_object_set_new(d, "host", describe_bytes(name.nodename));
		json_object_set_new(d, "kernel", json_sprintf("%s %s", name.release, name.version));
		json_object_set_new(d, "machine", json_string(name.machine));
	}
	json_object_set_new(d, "command", command_line(argv));
	json_object_set_new(d, "started_ns", json_integer(tai_now_ns()));
	json_object_set_new(d, "tai_offset_s", json_integer(tai_offset_seconds()));
	return d;
}

static const json_t *find(const json_t *description, const char *name)
{
	const json_t *value = json_object_get(description, name);

	return value ? value : json_object_get(json_object_get(description, "options"), name);
}

int64_t description_number(const json_t *description, const char *name, int64_t missing)
{
	const json_t *value = find(description, name);

	return json_is_integer(value) ? json_integer_value(value) : missing;
}

const char *description_text(const json_t *description, const char *name)
{
	return json_string_value(find(description, name));
}

const json_t *description_stream(const json_t *description, uint16_t id)
{
	const json_t *streams = json_object_get(description, "streams"), *stream;
	size_t i;

	json_array_foreach(streams, i, stream)
	{
		const json_t *value = json_object_get(stream, "id");

		if (json_is_integer(value) && json_integer_value(value) == id)
			return stream;
	}
	return NULL;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "data/selection.h"

struct selection selection_read(const json_t *description)
{
	const json_t *options = json_object_get(description, "options");
	const json_t *run = json_object_get(options, "only_run");
	const json_t *streams = json_object_get(options, "only_streams"), *id;
	struct selection s = { 0 };
	size_t i;

	if (json_is_integer(run) && json_integer_value(run) >= 0 &&
	    json_integer_value(run) <= UINT32_MAX) {
		s.one_run = true;
		s.run = (uint32_t)json_integer_value(run);
	}
	json_array_foreach(streams, i, id)
	{
		if (i == SELECTION_STREAMS || !json_is_integer(id) || json_integer_value(id) < 0 ||
		    json_integer_value(id) > UINT16_MAX) {
			s.stream_count = 0;
			break;
		}
		s.streams[s.stream_count++] = (uint16_t)json_integer_value(id);
	}
	return s;
}

void selection_write(const struct selection *s, json_t *options)
{
	json_t *streams;

	if (s->one_run)
		json_object_set_new(options, "only_run", json_integer(s->run));
	if (!s->stream_count)
		return;
	streams = json_array();
	for (size_t i = 0; i < s->stream_count; i++)
		json_array_append_new(streams, json_integer(s->streams[i]));
	json_object_set_new(options, "only_streams", streams);
}

bool selection_has(const struct selection *s, uint32_t run, uint16_t stream)
{
	if (s->one_run && run != s->run)
		return false;
	for (size_t i = 0; i < s->stream_count; i++)
		if (s->streams[i] == stream)
			return true;
	return !s->stream_count;
}

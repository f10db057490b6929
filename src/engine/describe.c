// SPDX-License-Identifier: GPL-2.0-only
/* The publisher's part of a log's description (data/description.h). */
#include <math.h>

#include "base/units.h"
#include "data/description.h"
#include "engine/publisher_private.h"

static json_t *describe_options(const struct publisher *p)
{
	const struct publisher_setup *s = &p->setup;
	char ethertype[8], realtime[REALTIME_TEXT];
	json_t *options = json_object();

	snprintf(ethertype, sizeof(ethertype), "0x%04x", p->options.ethertype);
	json_object_set_new(options, "cycle_ns", json_integer(p->options.cycle_ns));
	json_object_set_new(options, "lead_ns", json_integer(s->pacing.lead_ns));
	json_object_set_new(options, "spin_ns", json_integer(p->options.pacing.spin_ns));
	json_object_set_new(options, "base_ns", json_integer(s->base_ns));
	if (p->options.deadline_ns)
		json_object_set_new(options, "deadline_ns", json_integer(p->options.deadline_ns));
	if (p->options.sla > 0)
		json_object_set_new(options, "sla_ppb",
				    json_integer((json_int_t)llround(p->options.sla * 1e9)));
	json_object_set_new(options, "pacing", json_string(pacing_name(s->pacing.kind)));
	json_object_set_new(options, "pacing_reason", json_string(s->pacing.reason));
	json_object_set_new(options, "ethertype", json_string(ethertype));
	json_object_set_new(options, "realtime",
			    json_string(realtime_describe(&s->realtime, realtime)));
	json_object_set_new(options, "cpu", json_integer(s->realtime.cpu));
	json_object_set_new(options, "stamp_every", json_integer(s->stamp_every));
	return options;
}

static json_t *describe_streams(const struct publisher *p)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < p->options.count; i++) {
		const struct stream *stream = &p->options.streams[i];
		json_t *item = json_object();
		char mac[MAC_TEXT];

		json_object_set_new(item, "id", json_integer(stream->id));
		json_object_set_new(item, "dest", json_string(format_mac(stream->dest, mac)));
		if (stream->vlan != STREAM_NO_VLAN)
			json_object_set_new(item, "vlan", json_integer(stream->vlan));
		json_object_set_new(item, "priority", json_integer(stream->priority));
		json_object_set_new(item, "size", json_integer(stream->size));
		json_object_set_new(item, "offset_ns", json_integer(stream->offset_ns));
		json_object_set_new(item, "every", json_integer(stream->every));
		if (stream->phase)
			json_object_set_new(item, "phase", json_integer(stream->phase));
		json_object_set_new(item, "frames", json_integer(stream->frames));
		json_array_append_new(list, item);
	}
	return list;
}

json_t *publisher_describe(const struct publisher *p)
{
	const struct publisher_setup *s = &p->setup;
	json_t *description = describe_run(p->options.argv);
	char mac[MAC_TEXT], run[16];

	if (!description)
		return NULL;
	snprintf(run, sizeof(run), "%08x", s->run);
	json_object_set_new(description, "run", json_string(run));
	json_object_set_new(description, "interface", json_string(s->link.name));
	json_object_set_new(description, "driver", json_string(s->driver));
	json_object_set_new(description, "mac", json_string(format_mac(s->link.mac, mac)));
	json_object_set_new(description, "sync", json_string(s->sync));
	json_object_set_new(description, "options", describe_options(p));
	json_object_set_new(description, "streams", describe_streams(p));
	return description;
}

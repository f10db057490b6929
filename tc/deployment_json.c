// SPDX-License-Identifier: GPL-2.0-only
#include "tc/deployment_json.h"

#include "tc/fit.h"

static json_t *class_json(const struct deployment *deployment, unsigned c)
{
	struct window windows[SCHEDULE_GATES_MAX];
	const struct schedule *schedule = &deployment->schedule;
	const struct traffic_class *class = &schedule->classes[c];
	json_t *priorities = json_array(), *queues = json_array(), *open = json_array();
	unsigned n = schedule_windows(schedule, c, windows, SCHEDULE_GATES_MAX);
	json_t *object;

	for (unsigned p = 0; p < PRIORITIES; p++)
		if (class->priorities & 1 << p)
			json_array_append_new(priorities, json_integer(p));
	for (unsigned q = 0; q < class->queue_count; q++)
		json_array_append_new(queues, json_integer(class->queue_first + q));
	for (unsigned i = 0; i < n && i < SCHEDULE_GATES_MAX; i++)
		json_array_append_new(open, json_pack("[I,I]", (json_int_t)windows[i].start_ns,
						      (json_int_t)windows[i].end_ns));
	object = json_pack("{s:i, s:s, s:o, s:o, s:o, s:b, s:i, s:I}", "class", (int)c, "name",
			   class->name, "priorities", priorities, "queues", queues, "open_ns", open,
			   "preemptible", class->preemptible, "max_frame", (int)class->max_frame,
			   "guard_ns", (json_int_t)deployment->guard_ns[c]);
	json_object_set_new(object, "launch_time",
			    class->launch_time ? json_pack("{s:I, s:b}", "delta_ns",
							   (json_int_t) class->delta_ns, "offload",
							   deployment->etf_offload[c])
					       : json_null());
	return object;
}

json_t *deployment_json(const struct deployment *deployment)
{
	const struct schedule *schedule = &deployment->schedule;
	static const char *const bases[] = { "auto", "absolute", "phase" };
	json_t *classes = json_array(), *gates = json_array();

	for (unsigned c = 0; c < schedule->class_count; c++)
		json_array_append_new(classes, class_json(deployment, c));
	for (unsigned i = 0; i < schedule->gate_count; i++) {
		json_t *open = json_array();

		for (unsigned c = 0; c < schedule->class_count; c++)
			if (schedule->gates[i].open & 1U << c)
				json_array_append_new(open, json_string(schedule->classes[c].name));
		json_array_append_new(gates, json_pack("{s:i, s:I, s:o}", "mask",
						       (int)schedule->gates[i].open, "duration_ns",
						       (json_int_t)schedule->gates[i].duration_ns,
						       "open", open));
	}
	return json_pack(
		"{s:s, s:s, s:i, s:s, s:s, s:I, s:I, s:I, s:{s:s, s:I}, s:I, s:b, s:o, s:o}",
		"interface", schedule->interface, "nic", deployment->nic->name, "speed_mbps",
		(int)deployment->speed_mbps, "mode", schedule_mode_name(deployment->mode),
		"mode_reason", deployment->mode_reason, "cycle_ns", (json_int_t)schedule->cycle_ns,
		"stream_cycle_ns", (json_int_t)schedule->stream_cycle_ns, "extension_ns",
		(json_int_t)schedule->extension_ns, "base_time", "kind", bases[schedule->base_kind],
		"ns", (json_int_t)schedule->base_ns, "txtime_delay_ns",
		(json_int_t)deployment->txtime_delay_ns, "mqprio_hw", deployment->mqprio_hw,
		"classes", classes, "gates", gates);
}

json_t *streams_json(const struct deployment *deployment, const struct stream *streams,
		     unsigned count)
{
	const struct schedule *schedule = &deployment->schedule;
	json_t *list = json_array();

	for (unsigned i = 0; i < count; i++) {
		const struct stream *stream = &streams[i];
		json_t *object;
		struct fit fit;

		fit_stream(schedule, stream, deployment->speed_mbps, &fit);
		object = json_pack("{s:i, s:i, s:I, s:I, s:i, s:i, s:i, s:I, s:b, s:I, s:[I,I]}",
				   "id", stream->id, "priority", stream->priority, "period_ns",
				   (json_int_t)stream->every * schedule->stream_cycle_ns,
				   "offset_ns", (json_int_t)stream->offset_ns, "phase",
				   (int)stream->phase, "frames", (int)stream->frames, "size",
				   (int)stream->size, "wire_ns", (json_int_t)fit.length_ns, "fits",
				   fit.class >= 0 && fit.fits, "margin_ns",
				   (json_int_t)fit.margin_ns, "window_ns",
				   (json_int_t)fit.window.start_ns, (json_int_t)fit.window.end_ns);
		json_object_set_new(object, "class",
				    fit.class >= 0 ? json_string(schedule->classes[fit.class].name)
						   : json_null());
		json_array_append_new(list, object);
	}
	return list;
}

json_t *findings_json(const struct findings *findings)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < findings->count; i++)
		json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "level",
						      finding_level_name(findings->list[i].level),
						      "path", findings->list[i].path, "text",
						      findings->list[i].text));
	return list;
}

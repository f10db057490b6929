// SPDX-License-Identifier: GPL-2.0-only
#include "engine/rx_finish.h"

#define FEW_FRAMES 3

static bool is_finished(const struct rx_finish *finish, uint32_t run, uint16_t stream)
{
	for (unsigned int i = 0; i < finish->finished; i++)
		if (finish->streams[i].run == run && finish->streams[i].stream == stream)
			return true;
	return false;
}

static bool run_has_finished_stream(const struct rx_finish *finish, uint32_t run)
{
	for (unsigned int i = 0; i < finish->finished; i++)
		if (finish->streams[i].run == run)
			return true;
	return false;
}

void rx_finish_last(struct rx_finish *finish, uint32_t run, uint16_t stream, int64_t now_ns)
{
	if (is_finished(finish, run, stream))
		return;
	if (finish->finished == METRICS_STREAMS) {
		finish->overflow = true;
		return;
	}
	finish->streams[finish->finished++] = (struct rx_finished){ run, stream };
	finish->finished_ns = now_ns;
}

/* How long the stream may be silent: three of its intervals, as its launch times tell. */
static int64_t patience_ns(const struct rx_stream *stream)
{
	int64_t span, patience;

	if (stream->frames < 2 ||
	    __builtin_sub_overflow(stream->last_launch, stream->first_launch, &span) || span < 0)
		return RX_PATIENCE_MIN_NS;
	patience = span / (int64_t)(stream->frames - 1);
	if (patience > RX_PATIENCE_MAX_NS / 3)
		return RX_PATIENCE_MAX_NS;
	patience *= 3;
	return patience < RX_PATIENCE_MIN_NS ? RX_PATIENCE_MIN_NS : patience;
}

static bool is_sending(struct rx_activity *activity, const struct rx_stream *stream, int64_t now_ns)
{
	if (!activity->known || activity->run != stream->run ||
	    activity->stream != stream->stream || activity->frames != stream->frames)
		*activity = (struct rx_activity){ .run = stream->run,
						  .stream = stream->stream,
						  .known = true,
						  .frames = stream->frames,
						  .changed_ns = now_ns };
	return now_ns - activity->changed_ns < patience_ns(stream);
}

bool rx_finish_check(struct rx_finish *finish, const struct rx_metrics *metrics, int64_t now_ns)
{
	bool sending = false;

	if (!finish->finished)
		return false;
	for (size_t i = 0; i < metrics->count; i++) {
		const struct rx_stream *stream = metrics->streams[i];

		if (is_finished(finish, stream->run, stream->stream))
			continue;
		if (stream->frames < FEW_FRAMES && !run_has_finished_stream(finish, stream->run))
			continue;
		/* asked of all of them, to keep their activity up to date */
		sending |= is_sending(&finish->activity[i], stream, now_ns);
	}
	return !sending && now_ns - finish->finished_ns >= RX_GRACE_NS;
}

// SPDX-License-Identifier: GPL-2.0-only
/* What the streams put on the wire in the fullest cycle. Pure. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "engine/frame.h"
#include "engine/plan.h"
#include "engine/publisher_private.h"

/* as many cycles are looked at; streams that meet only later are rare, and the qdisc copes */
#define CYCLES_LOOKED_AT 4096

static int check_sizes(const struct stream *streams, unsigned count, uint32_t mtu,
		       const char *ifname, struct error *err)
{
	for (unsigned i = 0; i < count; i++) {
		const struct stream *s = &streams[i];
		uint32_t header = FRAME_HEADER_SIZE +
				  (s->vlan == STREAM_NO_VLAN ? 0 : FRAME_TAG_SIZE);

		if (s->size < frame_size_min(s))
			return error_input(err,
					   "stream %u: size %u is below the minimum of %u bytes",
					   s->id, s->size, frame_size_min(s));
		if (s->size > mtu + header)
			return error_input(
				err,
				"stream %u: size %u exceeds the MTU %u of %s: at most %u bytes "
				"with the "
				"Ethernet header%s; lower it, or `ip link set %s mtu %u`",
				s->id, s->size, mtu, ifname, mtu + header,
				header > FRAME_HEADER_SIZE ? " and VLAN tag" : "", ifname,
				s->size - header);
	}
	return 0;
}

int load_check(const struct stream *streams, unsigned count, int64_t cycle_ns, uint32_t mtu,
	       uint32_t speed_mbps, const char *ifname, int64_t *wire_ns, int64_t *busiest_ns,
	       struct error *err)
{
	char cycle[DURATION_TEXT], need[DURATION_TEXT];
	uint64_t frames = 0;
	uint16_t *due;
	struct plan plan;

	*busiest_ns = 0;
	if (check_sizes(streams, count, mtu, ifname, err) < 0)
		return -1;
	for (unsigned i = 0; i < count; i++) {
		frames += streams[i].frames;
		wire_ns[i] = speed_mbps ? wire_time_ns(streams[i].size, speed_mbps) : 0;
	}
	if (frames > CYCLE_FRAMES_MAX)
		return error_input(err, "%llu frames in one cycle; at most %d",
				   (unsigned long long)frames, CYCLE_FRAMES_MAX);
	if (!speed_mbps)
		return 0;
	due = calloc(count, sizeof(*due));
	if (!due || plan_init(&plan, streams, count) < 0) {
		free(due);
		return error_errno(err, ENOMEM, "cannot check the streams");
	}
	for (int64_t k = plan_next(&plan, 0); k < CYCLES_LOOKED_AT; k = plan_next(&plan, k + 1)) {
		unsigned n = plan_due(&plan, k, due);
		int64_t busy = 0;

		for (unsigned i = 0; i < n; i++)
			busy += wire_ns[due[i]] * streams[due[i]].frames;
		if (busy > *busiest_ns)
			*busiest_ns = busy;
		if (plan.class_count == 1)
			break;
	}
	plan_free(&plan);
	free(due);
	if (*busiest_ns > cycle_ns)
		return error_input(err,
				   "--cycle %s is shorter than its frames take on the wire: %s at "
				   "%u Mb/s; lengthen the "
				   "cycle, or send fewer or smaller frames",
				   format_duration(cycle_ns, cycle),
				   format_duration(*busiest_ns, need), speed_mbps);
	return 0;
}

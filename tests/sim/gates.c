// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gate schedule arithmetic of IEEE 802.1Q-2022 clause 8.6.9, in PHC time. A frame may start only
 * if its gate then stays open until its last bit has left: that is the guard band.
 */
#include <linux/math64.h>
#include <linux/slab.h>
#include "tsnsim.h"

struct segment {
	u32 mask;
	s64 end;	/* first instant at which the mask may differ */
	s64 cycle_end;
};

/*
 * The entry in force at t. limit: where a successor takes over, which ends a cycle. t lies before
 * s->start if the clock was set back: what runs goes on running.
 */
static struct segment segment_at(const struct tsnsim_sched *s, s64 t, s64 limit)
{
	struct segment seg = { };
	s64 in_cycle, cycle_start;
	u32 i;

	in_cycle = t - s->start - div64_s64(t - s->start, s->cycle) * s->cycle;
	if (in_cycle < 0)
		in_cycle += s->cycle;
	cycle_start = t - in_cycle;
	if (limit != TSNSIM_NEVER && s->extension && cycle_start > s->start &&
	    limit - cycle_start <= s->extension) {
		/* the rest before the change is short: the last cycle is stretched over it */
		seg.mask = s->gate[s->n - 1].mask;
		seg.end = limit;
		seg.cycle_end = limit;
		return seg;
	}
	for (i = 0; i < s->n - 1 && s->gate[i].end <= in_cycle; i++)
		;
	seg.mask = s->gate[i].mask;
	seg.end = min(cycle_start + s->gate[i].end, limit);
	seg.cycle_end = min(cycle_start + s->cycle, limit);
	return seg;
}

/* Start of the window that is open at t in seg: run, if one was open up to t. */
static s64 run_on(s64 run, const struct segment *seg, u32 gate_mask, s64 t)
{
	if (!(seg->mask & gate_mask))
		return TSNSIM_NEVER;
	return run == TSNSIM_NEVER ? t : run;
}

bool tsnsim_gate_opens(const struct tsnsim_sched *s, u32 gate_mask)
{
	u32 i;

	for (i = 0; i < s->n; i++)
		if (s->gate[i].mask & gate_mask)
			return true;
	return false;
}

s64 tsnsim_gate_earliest(const struct tsnsim_sched *oper, const struct tsnsim_sched *admin,
			 u32 gate_mask, s64 t, s64 need, bool strict_cycle)
{
	s64 change = admin ? admin->start : TSNSIM_NEVER;
	s64 run = TSNSIM_NEVER;		/* start of the window being measured */
	u32 left;

	/* Every entry is seen twice in this many steps, so a window is found or there is none. */
	left = oper ? 2 * oper->n + 3 : 1;
	while (left && t < change) {
		struct segment seg = { .mask = ~0U, .end = change, .cycle_end = change };

		left--;
		if (oper)
			seg = segment_at(oper, t, change);
		run = run_on(run, &seg, gate_mask, t);
		if (run != TSNSIM_NEVER) {
			/* open for a whole cycle: open until the change */
			if (oper && !strict_cycle && seg.end - run >= oper->cycle)
				seg.end = change;
			if (seg.end == TSNSIM_NEVER || seg.end - run >= need)
				return run;
			if (strict_cycle && seg.end == seg.cycle_end)
				run = TSNSIM_NEVER;
		}
		t = seg.end;
	}
	if (!admin)
		return TSNSIM_NEVER;
	if (t < change) {	/* oper has no window that is wide enough */
		t = change;
		run = TSNSIM_NEVER;
	}
	for (left = 2 * admin->n + 3; left; left--) {
		struct segment seg = segment_at(admin, t, TSNSIM_NEVER);

		run = run_on(run, &seg, gate_mask, t);
		if (run != TSNSIM_NEVER) {
			if (seg.end - run >= need ||
			    (!strict_cycle && seg.end - run >= admin->cycle))
				return run;
			if (strict_cycle && seg.end == seg.cycle_end)
				run = TSNSIM_NEVER;
		}
		t = seg.end;
	}
	return TSNSIM_NEVER;
}

struct tsnsim_sched *tsnsim_sched_build(const struct tc_taprio_qopt_offload *qopt, s64 now_phc)
{
	struct tsnsim_sched *s;
	s64 end = 0;
	size_t i;

	s = kzalloc(struct_size(s, gate, qopt->num_entries), GFP_KERNEL);
	if (!s)
		return NULL;
	s->base = ktime_to_ns(qopt->base_time);
	s->cycle = qopt->cycle_time;
	s->extension = qopt->cycle_time_extension;
	/* Entries beyond the cycle are cut off, and the last one is stretched to its end. */
	for (i = 0; i < qopt->num_entries && end < s->cycle; i++) {
		end = min_t(s64, end + qopt->entries[i].interval, s->cycle);
		s->gate[i].mask = qopt->entries[i].gate_mask;
		s->gate[i].end = end;
	}
	s->n = i;
	s->gate[i - 1].end = s->cycle;
	s->start = s->base;
	if (s->start <= now_phc) {
		s64 n = div64_s64(now_phc - s->base, s->cycle);

		s->start += (n + 1) * s->cycle;
	}
	return s;
}

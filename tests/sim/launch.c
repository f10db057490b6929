// SPDX-License-Identifier: GPL-2.0-only
/*
 * Launch time: what each driver writes into its descriptor and what the part makes of it.
 */
#include <linux/math64.h>
#include <linux/timekeeping.h>
#include "tsnsim.h"

#define IGC_GUARD_NS		(5 * NSEC_PER_USEC)
#define ENETC_SHIFT		5
#define ENETC_MASK		(BIT(25) - 1)
#define IGB_STEP_NS		32

static s64 div_floor(s64 a, s64 b)
{
	s64 q = div64_s64(a, b);

	return a < 0 && q * b != a ? q - 1 : q;
}

static s64 igc_base(const struct tsnsim_port *port)
{
	const struct tsnsim_sched *s = port->admin ?: port->oper;

	return s ? s->base : 0;
}

static s64 igc_cycle(const struct tsnsim_port *port)
{
	const struct tsnsim_sched *s = port->admin ?: port->oper;

	return s ? s->cycle : NSEC_PER_SEC;
}

/*
 * The igc driver estimates the running cycle from CLOCK_TAI, although the part counts cycles by
 * its PHC. A frame for a later cycle gets the first-in-cycle flag once, and an empty frame is put
 * in front of it when nothing else was queued in the running cycle. A launch time more than one
 * cycle ahead still becomes an offset into a cycle.
 */
static void igc_encode(struct tsnsim_port *port, struct tsnsim_frame *f, s64 txtime,
		       struct tsnsim_launch_notes *notes)
{
	struct tsnsim_txq *q = &port->txq[f->queue];
	s64 base = igc_base(port), cycle = igc_cycle(port);
	s64 now = ktime_get_clocktai_ns(), start, end, phc_cycle;
	s32 offset;

	/* The driver's part, by CLOCK_TAI */
	start = base + div64_s64(now - base, cycle) * cycle;
	end = start + cycle;
	if (txtime >= end && start != q->last_ff_cycle) {
		f->first_in_cycle = true;
		q->last_ff_cycle = start;
		notes->insert_empty = end > q->last_tx_cycle;
	}
	notes->near_cycle_end = end - now < IGC_GUARD_NS;
	q->last_tx_cycle = end;
	/* the driver's variable has 32 bits, and so has the error of a far launch time */
	offset = (s32)(txtime - start);
	if (offset > 0 && offset >= cycle)
		offset %= (s32)cycle;
	else if (offset < 0)
		offset = 0;

	/* The part's, by its PHC: the cycle of the fetch, with the flag the next, never older. */
	phc_cycle = div_floor(tsnsim_phc_at(port, f->enq_raw) - base, cycle);
	if (f->first_in_cycle)
		phc_cycle++;
	q->hw_cycle = max(q->hw_cycle, phc_cycle);
	f->launch_phc = base + q->hw_cycle * cycle + offset;
}

void tsnsim_launch_encode(struct tsnsim_port *port, struct tsnsim_frame *f, s64 txtime,
			  struct tsnsim_launch_notes *notes)
{
	s64 now = tsnsim_phc_at(port, f->enq_raw), ahead;
	u32 field, now_field, ns;

	f->has_launch = true;
	switch (port->model->launch) {
	case TSNSIM_LAUNCH_EXACT:
		f->launch_phc = min(txtime, TSNSIM_MAX_PHC_NS);
		break;
	case TSNSIM_LAUNCH_IGC:
		igc_encode(port, f, txtime, notes);
		/* with mqprio igc programs strict priority and nothing else */
		f->has_launch = !(port->model->mqprio_ends_launch && port->mqprio_on);
		break;
	case TSNSIM_LAUNCH_IGB:
		/* ns of the second in steps of 32; the nearer half second is taken to be meant */
		div_u64_rem(max(txtime, 0LL), NSEC_PER_SEC, &field);
		field -= field % IGB_STEP_NS;
		div_u64_rem(max(now, 0LL), NSEC_PER_SEC, &ns);
		ahead = (s64)field - ns;
		if (ahead < -(s64)NSEC_PER_SEC / 2)
			ahead += NSEC_PER_SEC;
		else if (ahead > (s64)NSEC_PER_SEC / 2)
			ahead -= NSEC_PER_SEC;
		f->launch_phc = now + ahead;
		break;
	case TSNSIM_LAUNCH_ENETC:
		/* 25 bits of 32 ns wrap after 1.07 s; the nearer half is taken to be meant */
		field = (txtime >> ENETC_SHIFT) & ENETC_MASK;
		now_field = (now >> ENETC_SHIFT) & ENETC_MASK;
		ahead = (field - now_field) & ENETC_MASK;
		if (ahead > ENETC_MASK / 2)
			ahead -= ENETC_MASK + 1;
		f->launch_phc = ((now >> ENETC_SHIFT) + ahead) << ENETC_SHIFT;
		break;
	}
}

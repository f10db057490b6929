// SPDX-License-Identifier: GPL-2.0-only
#include "engine/pacing.h"

#include <linux/pkt_sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/units.h"
#include "tc/fit.h"
#include "tc/nic.h"

/* how late a wake-up is allowed to be without costing the launch */
#define WAKE_BUDGET_NS (500 * NSEC_PER_USEC)
#define WAKE_BUDGET_RT_NS (150 * NSEC_PER_USEC)
/* from the system call to the queue: later than that before the launch a frame is not handed over */
#define SUBMIT_NS (10 * NSEC_PER_USEC)
/* all frames of a cycle in one call, unless the cycle is longer than this */
#define SPAN_MAX_NS (100 * NSEC_PER_MSEC)

static const char *const names[] = { "auto", "launch-time", "gate", "timer" };

const char *pacing_name(enum pacing_kind kind)
{
	return names[kind];
}

int pacing_parse(const char *what, const char *text, enum pacing_kind *kind, struct error *err)
{
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(text, names[i])) {
			*kind = (enum pacing_kind)i;
			return 0;
		}
	return error_input(err, "%s '%.64s': unknown pacing; use auto, launch-time, gate or timer",
			   what, text);
}

/* What stands on the queues of all streams together. */
struct overview {
	unsigned with_etf, with_gate;
	bool keeps_launch; /* of some frame, behind etf without offload or taprio that makes launch times */
	const struct stream *without_etf; /* one of them */
	const struct stream *any_etf;
	struct qdisc_path etf_path;
};

static void look(const struct pacing_facts *facts, struct overview *o)
{
	memset(o, 0, sizeof(*o));
	for (unsigned i = 0; i < facts->count; i++) {
		const struct stream *stream = &facts->streams[i];
		struct qdisc_path path = qdisc_path_of(facts->qdiscs, stream->priority);

		o->with_gate += path.taprio != NULL;
		o->keeps_launch |= path.etf ? !(path.etf->etf_flags & TC_ETF_OFFLOAD_ON)
					    : path.taprio &&
						      path.taprio->taprio_flags &
							      TCA_TAPRIO_ATTR_FLAG_TXTIME_ASSIST;
		if (!path.etf) {
			o->without_etf = stream;
			continue;
		}
		o->with_etf++;
		/* the largest delta decides on the lead */
		if (!o->any_etf || path.etf->delta_ns > o->etf_path.etf->delta_ns) {
			o->any_etf = stream;
			o->etf_path = path;
		}
	}
}

static int check_etf(const struct pacing_request *request, const struct pacing_facts *facts,
		     const struct overview *o, struct pacing *pacing, struct error *err)
{
	for (unsigned i = 0; i < facts->count; i++) {
		const struct stream *stream = &facts->streams[i];
		struct qdisc_path path = qdisc_path_of(facts->qdiscs, stream->priority);
		bool deadline = path.etf->etf_flags & TC_ETF_DEADLINE_MODE_ON;
		bool unchecked = path.etf->etf_flags & TC_ETF_SKIP_SOCK_CHECK;

		if (path.etf->clockid != CLOCK_TAI)
			return error_system(err,
					    "%s: etf on the queue of priority %u runs on clock %d, "
					    "launch times are in CLOCK_TAI; "
					    "`tsnpub schedule apply` installs one that fits",
					    facts->ifname, stream->priority, path.etf->clockid);
		if (!unchecked && request->deadline_mode != DEADLINE_AS_ETF &&
		    deadline != (request->deadline_mode == DEADLINE_ON))
			return error_input(err,
					   "--deadline-mode %s: etf on the queue of priority %u is "
					   "%s deadline mode and drops "
					   "all frames of the other kind; leave the option out",
					   request->deadline_mode == DEADLINE_ON ? "on" : "off",
					   stream->priority, deadline ? "in" : "not in");
		if (deadline != (bool)(o->etf_path.etf->etf_flags & TC_ETF_DEADLINE_MODE_ON))
			return error_system(err,
					    "%s: etf is in deadline mode on some of the streams' "
					    "queues only; publish them separately",
					    facts->ifname);
		pacing->deadline_mode = deadline;
	}
	if (request->deadline_mode != DEADLINE_AS_ETF)
		pacing->deadline_mode = request->deadline_mode == DEADLINE_ON;
	return 0;
}

static int64_t last_offset(const struct pacing_facts *facts)
{
	int64_t last = 0;

	for (unsigned i = 0; i < facts->count; i++)
		if (facts->streams[i].offset_ns > last)
			last = facts->streams[i].offset_ns;
	return last;
}

static int choose_launch_time(const struct pacing_request *request,
			      const struct pacing_facts *facts, const struct overview *o,
			      struct pacing *pacing, struct error *err)
{
	int64_t budget = facts->realtime_kernel ? WAKE_BUDGET_RT_NS : WAKE_BUDGET_NS;
	const struct qdisc *etf = o->etf_path.etf;
	char delta[DURATION_TEXT], lead[DURATION_TEXT], ahead[DURATION_TEXT];

	if (check_etf(request, facts, o, pacing, err) < 0)
		return -1;
	pacing->delta_ns = etf->delta_ns;
	pacing->offloaded = etf->etf_flags & TC_ETF_OFFLOAD_ON;
	pacing->lead_ns = request->lead_ns >= 0 ? request->lead_ns : etf->delta_ns + budget;
	pacing->span_ns = facts->cycle_ns < SPAN_MAX_NS ? facts->cycle_ns : SPAN_MAX_NS;
	if (facts->ahead_max_ns > 0 && pacing->offloaded) {
		int64_t span = last_offset(facts);

		if (pacing->lead_ns + (span < pacing->span_ns ? span : pacing->span_ns) >
		    facts->ahead_max_ns)
			/* the latest frames of a cycle would be too early for the NIC: one call for each offset */
			pacing->span_ns = 0;
		if (pacing->lead_ns > facts->ahead_max_ns && request->lead_ns >= 0)
			return error_input(
				err,
				"--lead %s: this NIC takes frames at most %s ahead of their launch",
				format_duration(pacing->lead_ns, lead),
				format_duration(facts->ahead_max_ns, ahead));
		if (pacing->lead_ns > facts->ahead_max_ns)
			pacing->lead_ns = facts->ahead_max_ns;
	}
	/* a short lead leaves less time for handing over */
	pacing->late_max_ns = pacing->lead_ns < 2 * SUBMIT_NS ? -pacing->lead_ns / 2 : -SUBMIT_NS;
	if (pacing->offloaded && facts->mqprio_ends_launch && o->etf_path.root->mqprio_hw)
		snprintf(pacing->warning, sizeof(pacing->warning), "%s: %s", facts->ifname,
			 nic_launch_ignored);
	else if (pacing->lead_ns < etf->delta_ns)
		snprintf(pacing->warning, sizeof(pacing->warning),
			 "lead %s is shorter than etf's delta %s: frames come after etf wanted to "
			 "hand them over",
			 format_duration(pacing->lead_ns, lead),
			 format_duration(etf->delta_ns, delta));
	snprintf(pacing->reason, sizeof(pacing->reason),
		 "etf%s%s on the queue%s of the stream%s, delta %s, lead %s",
		 pacing->offloaded ? " with offload: the NIC launches"
				   : " in software: released at launch - delta",
		 pacing->deadline_mode ? ", deadline mode" : "",
		 o->etf_path.queue_count > 1 ? "s" : "", facts->count > 1 ? "s" : "",
		 format_duration(etf->delta_ns, delta), format_duration(pacing->lead_ns, lead));
	return 0;
}

/* Released by this program: at the launch, and not when half of the time to the next one is over. */
static int choose_release(const struct pacing_request *request, const struct pacing_facts *facts,
			  struct pacing *pacing, struct error *err)
{
	char lead[DURATION_TEXT], cycle[DURATION_TEXT];

	if (request->lead_ns >= facts->cycle_ns)
		return error_input(
			err,
			"--lead %s: not shorter than the cycle (%s), and with pacing %s a frame "
			"leaves as soon as it is handed over; leave --lead out",
			format_duration(request->lead_ns, lead),
			format_duration(facts->cycle_ns, cycle), pacing_name(pacing->kind));
	pacing->lead_ns = request->lead_ns > 0 ? request->lead_ns : 0;
	pacing->late_max_ns = facts->cycle_ns / 2;
	pacing->span_ns = 0;
	return 0;
}

/*
 * Do the frames meet their gates? A class that never opens is an error, a launch outside of the slot a
 * warning. *margin_ns: how much later than its launch a frame may come and still leave within its slot.
 */
static int check_gates(const struct pacing_facts *facts, struct schedule *gates,
		       struct pacing *pacing, int64_t *margin_ns, struct error *err)
{
	/* launches as the gates' cycle sees them */
	int64_t shift = next_in_phase(gates->base_ns, gates->cycle_ns, pacing->base_ns) -
			pacing->base_ns;

	*margin_ns = INT64_MAX;
	for (unsigned i = 0; i < facts->count && facts->speed_mbps; i++) {
		struct stream stream = facts->streams[i];
		char text[FIT_TEXT];
		struct fit fit;

		/* `shift` is from the streams' base on to the next gate cycle's start */
		stream.offset_ns = (stream.offset_ns + gates->cycle_ns - shift) % gates->cycle_ns;
		fit_stream(gates, &stream, facts->speed_mbps, &fit);
		if (fit.never_open)
			return error_system(err,
					    "%s: stream %u: %s: its frames would never leave; "
					    "change the schedule or the "
					    "stream's priority",
					    facts->ifname, stream.id, fit_text(gates, &fit, text));
		if (!fit.fits && !pacing->warning[0])
			snprintf(pacing->warning, sizeof(pacing->warning),
				 "stream %u does not fit its slot: %s; change --offset or the "
				 "schedule",
				 stream.id, fit_text(gates, &fit, text));
		if (fit.margin_ns < *margin_ns)
			*margin_ns = fit.margin_ns;
	}
	return 0;
}

/* With gates the cycles start when theirs do, unless a base time was asked for. */
static int meet_gates(const struct pacing_facts *facts, struct pacing *pacing, struct error *err)
{
	char ours[DURATION_TEXT], theirs[DURATION_TEXT];
	struct schedule gates;
	int64_t margin;

	pacing->base_ns = facts->base_ns;
	if (!facts->gates || facts->gates->cycle_ns <= 0)
		return 0;
	gates = *facts->gates;
	gates.stream_cycle_ns = facts->cycle_ns;
	if (!schedule_cycles_agree(&gates)) {
		snprintf(pacing->warning, sizeof(pacing->warning),
			 "the cycle (%s) and that of the gates (%s) are not multiples of one "
			 "another: launches "
			 "wander through the slots",
			 format_duration(facts->cycle_ns, ours),
			 format_duration(gates.cycle_ns, theirs));
		return 0;
	}
	if (!facts->has_base)
		pacing->base_ns = gates.base_ns % (gates.cycle_ns > facts->cycle_ns
							   ? gates.cycle_ns
							   : facts->cycle_ns);
	if (check_gates(facts, &gates, pacing, &margin, err) < 0)
		return -1;
	if (pacing->kind == PACING_GATE && margin > 0 && margin < pacing->late_max_ns)
		pacing->late_max_ns = margin;
	return 0;
}

int pacing_choose(const struct pacing_request *request, const struct pacing_facts *facts,
		  struct pacing *pacing, struct error *err)
{
	struct overview o;

	look(facts, &o);
	*pacing = (struct pacing){ .kind = request->kind, .no_hw_stamps = o.keeps_launch };
	if (o.with_etf && o.with_etf < facts->count)
		return error_system(err,
				    "%s: etf stands on the queue of stream %u (priority %u), but "
				    "not on all of stream %u (priority "
				    "%u): they cannot be paced together; publish them separately, "
				    "or change the schedule",
				    facts->ifname, o.any_etf->id, o.any_etf->priority,
				    o.without_etf->id, o.without_etf->priority);
	if (pacing->kind == PACING_AUTO)
		pacing->kind = o.with_etf    ? PACING_LAUNCH_TIME
			       : o.with_gate ? PACING_GATE
					     : PACING_TIMER;
	if (pacing->kind != PACING_LAUNCH_TIME && o.with_etf &&
	    !(o.etf_path.etf->etf_flags & TC_ETF_SKIP_SOCK_CHECK))
		return error_input(err,
				   "--pacing %s: etf on the queue of stream %u drops frames "
				   "without a launch time; use "
				   "--pacing launch-time, or remove etf (tsnpub schedule clear)",
				   pacing_name(pacing->kind), o.any_etf->id);
	if (pacing->kind != PACING_LAUNCH_TIME && request->deadline_mode == DEADLINE_ON)
		return error_input(
			err, "--deadline-mode: it belongs to pacing launch-time, but pacing is %s",
			pacing_name(pacing->kind));
	switch (pacing->kind) {
	case PACING_LAUNCH_TIME:
		if (!o.with_etf)
			return error_input(
				err,
				"--pacing launch-time: no etf on %s for priority %u, so nothing "
				"would honour the launch "
				"time; install one (tsnpub schedule apply), or use --pacing timer",
				facts->ifname, facts->streams[0].priority);
		if (choose_launch_time(request, facts, &o, pacing, err) < 0)
			return -1;
		break;
	case PACING_GATE:
		if (!o.with_gate)
			return error_input(err,
					   "--pacing gate: no taprio on %s; install a schedule "
					   "(tsnpub schedule apply), or "
					   "use --pacing timer",
					   facts->ifname);
		if (choose_release(request, facts, pacing, err) < 0)
			return -1;
		snprintf(pacing->reason, sizeof(pacing->reason),
			 "taprio, no etf: released at the launch, which must lie inside of the "
			 "slot");
		break;
	default:
		if (choose_release(request, facts, pacing, err) < 0)
			return -1;
		snprintf(pacing->reason, sizeof(pacing->reason), "%s",
			 o.with_gate ? "as asked for, although taprio is installed"
				     : "neither etf nor taprio on its queues: released by this "
				       "program's wake-up");
		break;
	}
	return meet_gates(facts, pacing, err);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who decides when a frame leaves: etf or the NIC by its launch time, a gate of taprio, or this program's
 * own wake-up. Chosen from what is installed on the frames' queues. Pure.
 */
#ifndef ENGINE_PACING_H
#define ENGINE_PACING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/stream.h"
#include "host/qdisc.h"
#include "tc/schedule.h"

enum pacing_kind {
	PACING_AUTO,
	PACING_LAUNCH_TIME, /* SO_TXTIME and etf; handed over ahead of the launch */
	PACING_GATE, /* taprio: handed over at the launch, inside of the slot */
	PACING_TIMER, /* handed over at the launch */
};

enum deadline_mode {
	DEADLINE_AS_ETF, /* as etf is set */
	DEADLINE_ON,
	DEADLINE_OFF,
};

struct pacing_request {
	enum pacing_kind kind;
	enum deadline_mode deadline_mode;
	int64_t lead_ns; /* negative: choose */
	int64_t spin_ns;
};

struct pacing_facts {
	const char *ifname;
	const struct stream *streams;
	unsigned count;
	int64_t cycle_ns;
	const struct qdisc_list *qdiscs;
	const struct schedule *gates; /* taprio's, NULL: none, or not known */
	uint32_t speed_mbps; /* 0: unknown */
	int64_t ahead_max_ns; /* how far ahead of its launch the NIC takes a frame; 0: no limit known */
	bool mqprio_ends_launch; /* the NIC ignores launch times beside mqprio with hw 1 */
	bool has_base; /* a base time was asked for */
	int64_t base_ns; /* it, else 0 */
	bool realtime_kernel; /* PREEMPT_RT: a smaller wake-up budget is enough */
};

struct pacing {
	enum pacing_kind kind;
	bool deadline_mode;
	bool offloaded; /* etf: the NIC launches */
	/*
	 * Frames have launch times that no NIC takes off them: the kernel then gives the NIC's TX stamp as one of its own
	 * (skb_is_swtx_tstamp()).
	 */
	bool no_hw_stamps;
	int64_t delta_ns; /* etf's */
	/* for struct cycle_settings */
	int64_t lead_ns, late_max_ns, span_ns;
	int64_t base_ns; /* the one asked for, else one in phase with the gates */
	char reason[300]; /* one line: why this one */
	char warning[300]; /* "" or one line */
};

const char *pacing_name(enum pacing_kind kind); /* "launch-time" */
int pacing_parse(const char *what, const char *text, enum pacing_kind *kind, struct error *err);

/*
 * Chooses, or checks what was asked for: a pacing whose qdisc is not there on every stream's queues is
 * refused, since frames would leave early or be dropped. Returns 0 or -1.
 */
int pacing_choose(const struct pacing_request *request, const struct pacing_facts *facts,
		  struct pacing *pacing, struct error *err);

#endif

// SPDX-License-Identifier: GPL-2.0-only
/* Which pacing follows from what is installed. */
#include "cmocka_all.h"

#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/units.h"
#include "engine/pacing.h"

#define US 1000LL

static struct qdisc list[8];
static struct qdisc_list qdiscs = { 0, list };
static struct stream streams[2];
static struct schedule gates;
static struct pacing pacing;
static struct error err;
static struct pacing_request request;
static struct pacing_facts facts;

static void reset(void)
{
	memset(list, 0, sizeof(list));
	memset(&gates, 0, sizeof(gates));
	qdiscs.count = 0;
	for (int i = 0; i < 2; i++)
		streams[i] = (struct stream){ .id = (uint16_t)(i + 1),
					      .every = 1,
					      .frames = 1,
					      .size = 64,
					      .vlan = STREAM_NO_VLAN };
	request = (struct pacing_request){ .lead_ns = -1 };
	facts = (struct pacing_facts){ .ifname = "e",
				       .streams = streams,
				       .count = 1,
				       .cycle_ns = 1000 * US,
				       .qdiscs = &qdiscs,
				       .speed_mbps = 1000 };
}

static struct qdisc *add(const char *kind, uint32_t handle, uint32_t parent)
{
	struct qdisc *qdisc = &list[qdiscs.count++];

	strcpy(qdisc->kind, kind);
	qdisc->handle = handle;
	qdisc->parent = parent;
	return qdisc;
}

/* Priority 1 to class 1 (queue 1), all others to class 0 (queue 0). */
static void add_root(const char *kind)
{
	struct qdisc *root = add(kind, 0x1000000, TC_H_ROOT);

	root->has_map = true;
	root->map.classes = 2;
	root->map.class_of[1] = 1;
	root->map.queue_count[0] = root->map.queue_count[1] = 1;
	root->map.queue_first[1] = 1;
}

static struct qdisc *add_etf(unsigned queue, int32_t delta, uint32_t flags)
{
	struct qdisc *etf = add("etf", 0x80010000 + queue, 0x1000000 | (queue + 1));

	etf->clockid = CLOCK_TAI;
	etf->delta_ns = delta;
	etf->etf_flags = flags;
	return etf;
}

static int choose(void)
{
	memset(&err, 0, sizeof(err));
	return pacing_choose(&request, &facts, &pacing, &err);
}

static void nothing_installed_is_timer(void **state)
{
	(void)state;
	reset();
	assert_int_equal(choose(), 0);
	assert_int_equal(pacing.kind, PACING_TIMER);
	assert_int_equal(pacing.lead_ns, 0);
	assert_int_equal(pacing.late_max_ns, 500 * US);
	request.lead_ns = facts.cycle_ns;
	assert_int_equal(choose(), -1);
	assert_int_equal(err.status, STATUS_INPUT);
	assert_non_null(strstr(err.text, "--lead 1ms: not shorter than the cycle"));
	request.lead_ns = facts.cycle_ns - 1;
	assert_int_equal(choose(), 0);
	assert_int_equal(pacing.lead_ns, facts.cycle_ns - 1);
	request.lead_ns = -1;
	assert_non_null(strstr(pacing.reason, "neither etf nor taprio"));
	request.kind = PACING_LAUNCH_TIME;
	assert_int_equal(choose(), -1);
	assert_int_equal(err.status, STATUS_INPUT);
	request.kind = PACING_GATE;
	assert_int_equal(choose(), -1);
	assert_non_null(strstr(err.text, "no taprio on e"));
}

static void etf_on_the_queue_is_launch_time(void **state)
{
	(void)state;
	reset();
	add_root("mqprio");
	add_etf(1, 300 * US, 0);
	/* priority 0 goes to queue 0, where there is none */
	assert_int_equal(choose(), 0);
	assert_int_equal(pacing.kind, PACING_TIMER);
	streams[0].priority = 1;
	assert_int_equal(choose(), 0);
	assert_int_equal(pacing.kind, PACING_LAUNCH_TIME);
	assert_false(pacing.offloaded || pacing.deadline_mode);
	assert_int_equal(pacing.lead_ns, 800 * US);
	assert_true(pacing.late_max_ns < 0);
	assert_int_equal(pacing.span_ns, 1000 * US);
	facts.realtime_kernel = true;
	choose();
	assert_int_equal(pacing.lead_ns, 450 * US);
	request.lead_ns = 100 * US;
	choose();
	assert_int_equal(pacing.lead_ns, 100 * US);
	assert_non_null(strstr(pacing.warning, "shorter than etf's delta"));
	/* a timer would be dropped by etf */
	request.kind = PACING_TIMER;
	assert_int_equal(choose(), -1);
	assert_non_null(strstr(err.text, "drops frames without a launch time"));
}

static void etf_alone_as_the_root_counts(void **state)
{
	struct qdisc *etf;

	(void)state;
	reset();
	etf = add("etf", 0x10000, TC_H_ROOT);
	etf->clockid = CLOCK_TAI;
	etf->delta_ns = 100;
	assert_int_equal(choose(), 0);
	assert_int_equal(pacing.kind, PACING_LAUNCH_TIME);
}

static void what_cannot_be_paced_is_refused(void **state)
{
	struct qdisc *etf;

	(void)state;
	reset();
	add_root("mqprio");
	etf = add_etf(1, 300 * US, 0);
	streams[0].priority = 1;
	facts.count = 2; /* the second one, of priority 0, has no etf */
	assert_int_equal(choose(), -1);
	assert_non_null(strstr(err.text, "not on all of stream 2"));
	facts.count = 1;
	etf->clockid = CLOCK_MONOTONIC;
	assert_int_equal(choose(), -1);
	assert_non_null(strstr(err.text, "launch times are in CLOCK_TAI"));
	etf->clockid = CLOCK_TAI;
	etf->etf_flags = TC_ETF_DEADLINE_MODE_ON;
	assert_int_equal(choose(), 0);
	assert_true(pacing.deadline_mode); /* as etf is set */
	request.deadline_mode = DEADLINE_OFF;
	assert_int_equal(choose(), -1);
	assert_non_null(strstr(err.text, "--deadline-mode off"));
	/* a class of two queues needs etf on both */
	reset();
	add_root("mqprio");
	list[0].map.queue_count[1] = 2;
	add_etf(1, 300 * US, 0);
	streams[0].priority = 1;
	assert_int_equal(choose(), 0);
	assert_int_equal(pacing.kind, PACING_TIMER);
	add_etf(2, 300 * US, 0);
	assert_int_equal(choose(), 0);
	assert_int_equal(pacing.kind, PACING_LAUNCH_TIME);
}

static void the_lead_keeps_within_what_the_nic_takes(void **state)
{
	(void)state;
	reset();
	add_root("mqprio");
	add_etf(1, 150 * US, TC_ETF_OFFLOAD_ON);
	streams[0].priority = 1;
	facts.ahead_max_ns = 250 * US;
	assert_int_equal(choose(), 0);
	assert_true(pacing.offloaded);
	assert_int_equal(pacing.lead_ns, 250 * US);
	request.lead_ns = 251 * US;
	assert_int_equal(choose(), -1);
	assert_non_null(strstr(err.text, "at most 250us ahead"));
	/* offsets that would be too early with the rest of the cycle get a wake-up of their own */
	request.lead_ns = 200 * US;
	streams[0].offset_ns = 60 * US;
	assert_int_equal(choose(), 0);
	assert_int_equal(pacing.span_ns, 0);
	streams[0].offset_ns = 40 * US;
	assert_int_equal(choose(), 0);
	assert_int_equal(pacing.span_ns, 1000 * US);
	/* software etf knows no such limit */
	list[1].etf_flags = 0;
	request.lead_ns = -1;
	assert_int_equal(choose(), 0);
	assert_int_equal(pacing.lead_ns, 650 * US);
}

static void launch_times_that_stay_with_a_frame_cost_the_nics_stamps(void **state)
{
	(void)state;
	reset();
	streams[0].priority = 1;
	assert_int_equal(choose(), 0);
	assert_false(pacing.no_hw_stamps);
	add_root("taprio");
	assert_int_equal(choose(), 0);
	assert_false(pacing.no_hw_stamps);
	/* taprio makes the launch times */
	list[0].taprio_flags = TCA_TAPRIO_ATTR_FLAG_TXTIME_ASSIST;
	assert_int_equal(choose(), 0);
	assert_true(pacing.no_hw_stamps);
	/* the NIC takes them */
	add_etf(1, 150 * US, TC_ETF_OFFLOAD_ON | TC_ETF_SKIP_SOCK_CHECK);
	assert_int_equal(choose(), 0);
	assert_false(pacing.no_hw_stamps);
	list[0].taprio_flags = 0;
	list[1].etf_flags = 0;
	assert_int_equal(choose(), 0);
	assert_true(pacing.no_hw_stamps);
	/* on the other class */
	streams[0].priority = 0;
	assert_int_equal(choose(), 0);
	assert_false(pacing.no_hw_stamps);
}

static void launch_times_beside_mqprio_in_hardware(void **state)
{
	(void)state;
	reset();
	add_root("mqprio");
	add_etf(1, 150 * US, TC_ETF_OFFLOAD_ON)->has_etf = true;
	streams[0].priority = 1;
	assert_false(qdisc_mqprio_launch(&qdiscs));
	facts.mqprio_ends_launch = true;
	assert_int_equal(choose(), 0);
	assert_string_equal(pacing.warning, "");
	list[0].mqprio_hw = true;
	assert_true(qdisc_mqprio_launch(&qdiscs));
	assert_int_equal(choose(), 0);
	assert_string_equal(
		pacing.warning,
		"e: mqprio stands there with hw 1, a mode in which this NIC ignores launch "
		"times: etf "
		"hands each frame over its delta early, and it leaves at once; use hw 0 (tsnpub "
		"schedule apply does)");
	/* in software etf itself waits for the launch */
	list[1].etf_flags = 0;
	assert_false(qdisc_mqprio_launch(&qdiscs));
	assert_int_equal(choose(), 0);
	assert_string_equal(pacing.warning, "");
	list[1].etf_flags = TC_ETF_OFFLOAD_ON;
	facts.mqprio_ends_launch = false;
	assert_int_equal(choose(), 0);
	assert_string_equal(pacing.warning, "");
}

static void etf_names_the_priorities_it_drops(void **state)
{
	(void)state;
	reset();
	add_root("mqprio");
	assert_int_equal(qdisc_etf_priorities(&qdiscs), 0);
	add_etf(1, 150 * US, 0)->has_etf = true;
	assert_int_equal(qdisc_etf_priorities(&qdiscs), 1 << 1);
	add_etf(0, 150 * US, TC_ETF_SKIP_SOCK_CHECK)->has_etf = true;
	assert_int_equal(qdisc_etf_priorities(&qdiscs), 1 << 1);
	list[2].etf_flags = 0;
	assert_int_equal(qdisc_etf_priorities(&qdiscs), 0xffff);
	/* one of several queues of a class */
	list[2].has_etf = false;
	list[0].map.queue_count[1] = 3;
	assert_int_equal(qdisc_etf_priorities(&qdiscs), 1 << 1);
	/* no classes: any queue may get any frame */
	reset();
	add("mq", 0x1000000, TC_H_ROOT);
	add_etf(1, 150 * US, 0)->has_etf = true;
	assert_int_equal(qdisc_etf_priorities(&qdiscs), 0xffff);
}

/* 1 ms of gates from `base` on: class 1 from 100us to 150us, class 0 otherwise. */
static void add_gates(int64_t base)
{
	add_root("taprio");
	gates = (struct schedule){
		.mode = SCHEDULE_SOFTWARE,
		.cycle_ns = 1000 * US,
		.stream_cycle_ns = 1000 * US,
		.base_ns = base,
		.class_count = 2,
		.classes = { { .name = "a", .priorities = 0xfd, .queue_count = 1 },
			     { .name = "b", .priorities = 2, .queue_first = 1, .queue_count = 1 } },
		.gate_count = 3,
		.gates = { { 1, 100 * US }, { 2, 50 * US }, { 1, 850 * US } }
	};
	facts.gates = &gates;
}

static void gates_give_base_and_slot(void **state)
{
	const int64_t base = 1790000000000300000;

	(void)state;
	reset();
	add_gates(base);
	streams[0].priority = 1;
	streams[0].offset_ns = 110 * US;
	assert_int_equal(choose(), 0);
	assert_int_equal(pacing.kind, PACING_GATE);
	assert_int_equal(pacing.base_ns, 300 * US); /* in phase with the gates */
	assert_string_equal(pacing.warning, "");
	/* 40 us of the slot are left, less the frame itself */
	assert_int_equal(pacing.late_max_ns, 40 * US - wire_time_ns(64, 1000));
	streams[0].offset_ns = 160 * US;
	assert_int_equal(choose(), 0);
	assert_non_null(strstr(pacing.warning, "stream 1 does not fit its slot"));
	/* with a base time of one's own, the gates lie elsewhere in the cycle */
	facts.has_base = true;
	facts.base_ns = 0;
	streams[0].offset_ns = 410 * US;
	assert_int_equal(choose(), 0);
	assert_int_equal(pacing.base_ns, 0);
	assert_string_equal(pacing.warning, "");
	streams[0].offset_ns = 110 * US;
	assert_int_equal(choose(), 0);
	assert_non_null(strstr(pacing.warning, "does not fit"));
	/* a class that never opens */
	gates.gates[1].open = 1;
	assert_int_equal(choose(), -1);
	assert_non_null(strstr(err.text, "would never leave"));
	/* cycles that do not go into each other */
	facts.cycle_ns = 700 * US;
	assert_int_equal(choose(), 0);
	assert_non_null(strstr(pacing.warning, "not multiples of one another"));
}

static void qdiscs_are_read_from_messages_of_any_kind(void **state)
{
	static _Alignas(8) char buffer[1024];
	struct nlmsghdr *nlh;
	struct tcmsg *tcm;
	struct nlattr *nest;
	const struct tc_etf_qopt etf = { .delta = 5,
					 .clockid = CLOCK_TAI,
					 .flags = TC_ETF_OFFLOAD_ON };
	struct qdisc qdisc;

	(void)state;
	nlh = mnl_nlmsg_put_header(buffer);
	nlh->nlmsg_type = RTM_NEWQDISC;
	tcm = mnl_nlmsg_put_extra_header(nlh, sizeof(*tcm));
	tcm->tcm_handle = 0x80010000;
	tcm->tcm_parent = 0x1000002;
	mnl_attr_put_strz(nlh, TCA_KIND, "etf");
	nest = mnl_attr_nest_start(nlh, TCA_OPTIONS);
	mnl_attr_put(nlh, TCA_ETF_PARMS, sizeof(etf), &etf);
	mnl_attr_nest_end(nlh, nest);
	assert_int_equal(qdisc_parse(nlh, &qdisc), 0);
	assert_string_equal(qdisc.kind, "etf");
	assert_int_equal(qdisc.delta_ns, 5);
	assert_int_equal(qdisc.clockid, CLOCK_TAI);
	assert_int_equal(qdisc.etf_flags, TC_ETF_OFFLOAD_ON);
	uint32_t length = nlh->nlmsg_len;

	srand(9);
	for (int round = 0; round < 20000; round++) {
		nlh->nlmsg_len = (uint32_t)rand() % (length + 1);
		buffer[16 + (size_t)rand() % (length - 16)] ^= (char)rand();
		if (qdisc_parse(nlh, &qdisc) == 0)
			assert_non_null(memchr(qdisc.kind, '\0', sizeof(qdisc.kind)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_installed_is_timer),
		cmocka_unit_test(etf_on_the_queue_is_launch_time),
		cmocka_unit_test(etf_alone_as_the_root_counts),
		cmocka_unit_test(what_cannot_be_paced_is_refused),
		cmocka_unit_test(the_lead_keeps_within_what_the_nic_takes),
		cmocka_unit_test(gates_give_base_and_slot),
		cmocka_unit_test(launch_times_that_stay_with_a_frame_cost_the_nics_stamps),
		cmocka_unit_test(launch_times_beside_mqprio_in_hardware),
		cmocka_unit_test(etf_names_the_priorities_it_drops),
		cmocka_unit_test(qdiscs_are_read_from_messages_of_any_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

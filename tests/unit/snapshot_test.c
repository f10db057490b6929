// SPDX-License-Identifier: GPL-2.0-only
/* A dump of taprio as the request that makes it again, whichever of its schedules runs at the time. */
#include "cmocka_all.h"

#include <string.h>

#include "tc/attr.h"
#include "tc/snapshot.h"
#include "tc/state.h"
#include "tc/taprio_dump.h"
#include "tc/tc_headers.h"

static void put_s64(struct nlmsghdr *nlh, uint16_t type, int64_t value)
{
	mnl_attr_put(nlh, type, sizeof(value), &value);
}

static void put_schedule(struct nlmsghdr *nlh, int64_t base_ns, int64_t cycle_ns)
{
	struct nlattr *list;

	put_s64(nlh, TCA_TAPRIO_ATTR_SCHED_BASE_TIME, base_ns);
	put_s64(nlh, TCA_TAPRIO_ATTR_SCHED_CYCLE_TIME, cycle_ns);
	list = attr_nest_plain(nlh, TCA_TAPRIO_ATTR_SCHED_ENTRY_LIST);
	mnl_attr_put_u32(nlh, 1, 7);
	mnl_attr_nest_end(nlh, list);
}

/* A dump of taprio 200: whose schedules begin at these base times (0: there is none). */
static struct nlmsghdr *dump(void *buffer, int64_t oper_ns, int64_t admin_ns, uint32_t max_sdu)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
	struct tcmsg *tcm = mnl_nlmsg_put_extra_header(nlh, sizeof(*tcm));
	struct nlattr *options, *nest;

	nlh->nlmsg_type = RTM_NEWQDISC;
	tcm->tcm_ifindex = 3;
	tcm->tcm_parent = TC_H_ROOT;
	tcm->tcm_handle = 0x2000000;
	mnl_attr_put_strz(nlh, TCA_KIND, "taprio");
	options = attr_nest_plain(nlh, TCA_OPTIONS);
	mnl_attr_put_u32(nlh, TCA_TAPRIO_ATTR_SCHED_CLOCKID, CLOCK_MONOTONIC);
	if (oper_ns) {
		nest = mnl_attr_nest_start(nlh, TCA_TAPRIO_ATTR_TC_ENTRY);
		mnl_attr_put_u32(nlh, TCA_TAPRIO_TC_ENTRY_MAX_SDU, max_sdu);
		mnl_attr_nest_end(nlh, nest);
		put_schedule(nlh, oper_ns, 600000);
	}
	if (admin_ns) {
		nest = attr_nest_plain(nlh, TCA_TAPRIO_ATTR_ADMIN_SCHED);
		put_schedule(nlh, admin_ns, 800000);
		mnl_attr_nest_end(nlh, nest);
	}
	mnl_attr_nest_end(nlh, options);
	return nlh;
}

static const struct nlattr *options_of(const struct nlmsghdr *nlh)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct tcmsg))
	{
		if (mnl_attr_get_type(attr) == TCA_OPTIONS)
			return attr;
	}
	return NULL;
}

static _Alignas(8) char one[4096], other[4096], third[4096];

static void a_schedule_to_come_is_the_same_once_it_runs(void **state)
{
	const struct nlattr *both = options_of(dump(one, 1000, 9000, 100));
	const struct nlattr *changed;
	struct nlmsghdr *ran = mnl_nlmsg_put_header(third);

	(void)state;
	taprio_dump_put(ran, both, true);
	/* what the request asks for is what the dump tells after the change, but for the classes of the former */
	assert_true(taprio_dump_same(both, mnl_nlmsg_get_payload(ran)));
	changed = options_of(dump(other, 1000, 9001, 100));
	assert_false(taprio_dump_same(both, changed));
	changed = options_of(dump(other, 1000, 9000, 101));
	assert_false(taprio_dump_same(both, changed));
	assert_true(taprio_dump_same(both, options_of(dump(other, 1000, 9000, 100))));
}

static void the_running_schedule_is_asked_for_without_the_other(void **state)
{
	const struct nlattr *both = options_of(dump(one, 1000, 9000, 100));
	struct nlmsghdr *request = mnl_nlmsg_put_header(third);

	(void)state;
	taprio_dump_put(request, both, false);
	assert_true(taprio_dump_same(options_of(dump(other, 1000, 0, 100)),
				     mnl_nlmsg_get_payload(request)));
	assert_false(taprio_dump_has_admin(mnl_nlmsg_get_payload(request)));
	assert_true(taprio_dump_has_oper(mnl_nlmsg_get_payload(request)));
	assert_int_equal(taprio_dump_cycle_ns(mnl_nlmsg_get_payload(request)), 600000);
}

static void a_schedule_begins_at_its_base_time_or_with_the_next_cycle(void **state)
{
	const struct nlattr *options = options_of(dump(one, 0, 1000000, 0));

	(void)state;
	assert_int_equal(taprio_dump_clock(options), CLOCK_MONOTONIC);
	assert_int_equal(taprio_dump_begins_in_ns(options, 400000), 600000);
	assert_int_equal(taprio_dump_begins_in_ns(options, 1000000), 800000);
	assert_int_equal(taprio_dump_begins_in_ns(options, 2700000), 700000);
	assert_int_equal(taprio_dump_begins_in_ns(options_of(dump(other, 1000, 0, 0)), 5), 0);
}

static void damaged_dumps_are_none(void **state)
{
	struct nlmsghdr *nlh = dump(one, 1000, 9000, 100);
	const struct nlattr *good = options_of(dump(other, 1000, 9000, 100));
	struct nlattr *options = (struct nlattr *)options_of(nlh);

	(void)state;
	for (uint16_t length = options->nla_len; length >= MNL_ATTR_HDRLEN; length--) {
		bool whole = length == good->nla_len;

		options->nla_len = length;
		assert_int_equal(taprio_dump_same(options, good), whole);
	}
}

static void snapshots_differ_by_more_than_the_time(void **state)
{
	struct nlmsghdr *before = dump(one, 1000, 9000, 100), *after = dump(other, 9000, 0, 50);
	struct snapshot a = { .count = 1, .list = { { before->nlmsg_len, (uint8_t *)before } } };
	struct snapshot b = { .count = 1, .list = { { after->nlmsg_len, (uint8_t *)after } } };
	char text[160];

	(void)state;
	/* other cycle */
	assert_string_equal(snapshot_difference(&a, &b, text), "the options of taprio 200: differ");
	b = a;
	assert_null(snapshot_difference(&a, &b, text));
	b.count = 0;
	assert_string_equal(snapshot_difference(&a, &b, text),
			    "taprio 200: on ffff:ffff is missing");
}

/* A link that goes down in the middle of an apply takes the kernel's own qdiscs with it: nothing is missing. */
static void an_interface_that_is_down_misses_no_default(void **state)
{
	struct nlmsghdr *before = dump(one, 1000, 9000, 100);
	struct snapshot up = { .count = 1,
			       .was_up = true,
			       .list = { { before->nlmsg_len, (uint8_t *)before } } };
	struct snapshot now = { .count = 0, .was_up = true };
	struct tcmsg *tcm = NLMSG_DATA(before);
	char text[160];

	(void)state;
	tcm->tcm_handle = 0;
	assert_string_equal(snapshot_difference(&up, &now, text),
			    "taprio 0: on ffff:ffff is missing");
	now.was_up = false;
	assert_null(snapshot_difference(&up, &now, text));
	tcm->tcm_handle = 0x2000000;
	assert_string_equal(snapshot_difference(&up, &now, text),
			    "taprio 200: on ffff:ffff is missing");
}

static void a_record_takes_any_name_of_a_file(void **state)
{
	static const char *const names[][2] = {
		{ "a.yaml", "a.yaml" },
		{ "\xc3\xa4.yaml", "\xc3\xa4.yaml" },
		{ "\xff.yaml", "?.yaml" },
		{ "cut short \xc3", "cut short ?" },
		{ "\033[31mred\n", "?[31mred?" },
		{ "\xc2\x9b"
		  "31m",
		  "??31m" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct state record = { .interface = "v0", .step = STATE_APPLIED }, again;
		json_t *json;

		strcpy(record.file, names[i][0]);
		json = state_to_json(&record);
		assert_non_null(json);
		assert_int_equal(state_parse(json, &again), 0);
		assert_string_equal(again.file, names[i][1]);
		state_free(&again);
		json_decref(json);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_schedule_to_come_is_the_same_once_it_runs),
		cmocka_unit_test(the_running_schedule_is_asked_for_without_the_other),
		cmocka_unit_test(a_schedule_begins_at_its_base_time_or_with_the_next_cycle),
		cmocka_unit_test(damaged_dumps_are_none),
		cmocka_unit_test(snapshots_differ_by_more_than_the_time),
		cmocka_unit_test(an_interface_that_is_down_misses_no_default),
		cmocka_unit_test(a_record_takes_any_name_of_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

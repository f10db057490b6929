// SPDX-License-Identifier: GPL-2.0-only
/* Messages about interfaces, as the kernel sends them and as it never would. */
#include "cmocka_all.h"

#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

#include "host/link.h"

static _Alignas(8) char buffer[1024];

static struct nlmsghdr *make(unsigned flags)
{
	static const uint8_t mac[6] = { 2, 3, 4, 5, 6, 7 };
	struct nlmsghdr *nlh;
	struct ifinfomsg *ifi;
	struct nlattr *nest;

	memset(buffer, 0, sizeof(buffer));
	nlh = mnl_nlmsg_put_header(buffer);
	nlh->nlmsg_type = RTM_NEWLINK;
	ifi = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifi));
	ifi->ifi_index = 17;
	ifi->ifi_type = 1;
	ifi->ifi_flags = flags;
	mnl_attr_put_strz(nlh, IFLA_IFNAME, "eth7");
	mnl_attr_put(nlh, IFLA_ADDRESS, sizeof(mac), mac);
	mnl_attr_put_u32(nlh, IFLA_MTU, 9000);
	mnl_attr_put_u32(nlh, IFLA_CARRIER_DOWN_COUNT, 3);
	mnl_attr_put_u32(nlh, IFLA_NUM_TX_QUEUES, 4);
	nest = mnl_attr_nest_start(nlh, IFLA_LINKINFO);
	mnl_attr_put_strz(nlh, IFLA_INFO_KIND, "veth");
	mnl_attr_nest_end(nlh, nest);
	nest = mnl_attr_nest_start(nlh, IFLA_XDP);
	mnl_attr_put_u32(nlh, IFLA_XDP_PROG_ID, 99);
	mnl_attr_nest_end(nlh, nest);
	return nlh;
}

static void a_message_is_read(void **state)
{
	struct link_info link;

	(void)state;
	assert_int_equal(link_parse(make(IFF_UP | IFF_RUNNING), &link), 0);
	assert_int_equal(link.index, 17);
	assert_string_equal(link.name, "eth7");
	assert_string_equal(link.kind, "veth");
	assert_int_equal(link.mac[5], 7);
	assert_int_equal(link.mtu, 9000);
	assert_int_equal(link.carrier_losses, 3);
	assert_int_equal(link.tx_queues, 4);
	assert_int_equal(link.xdp_program, 99);
	assert_true(link.up && link.running);
	link_parse(make(IFF_UP), &link);
	assert_true(link.up && !link.running);
	/* running is told for a short while after it was switched off */
	link_parse(make(IFF_RUNNING), &link);
	assert_true(!link.up && !link.running);
}

static void damaged_messages_do_no_harm(void **state)
{
	struct nlmsghdr *nlh = make(IFF_UP);
	uint32_t length = nlh->nlmsg_len;
	struct link_info link;

	(void)state;
	for (uint32_t cut = 0; cut < length; cut++) {
		nlh = make(IFF_UP);
		nlh->nlmsg_len = cut;
		link_parse(nlh, &link);
	}
	srand(5);
	for (int round = 0; round < 20000; round++) {
		nlh = make(IFF_UP);
		for (int i = 0; i < 4; i++)
			buffer[(size_t)rand() % (length - 16) + 16] = (char)rand();
		link_parse(nlh, &link);
		assert_non_null(memchr(link.name, '\0', sizeof(link.name)));
		assert_non_null(memchr(link.kind, '\0', sizeof(link.kind)));
	}
}

static void names_that_steer_a_terminal_are_none(void **state)
{
	static const char *const good[] = { "e", "eth0.100", "wlan\xc3\xa9", "a'b",
					    "fifteen-letters" };
	static const char *const bad[] = { "",    "sixteen-letters-", "a/b",   "a b",
					   "a\n", "\033[31mred",      "a\x7f", "\302\23331m" };

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(link_name_is_good(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(link_name_is_good(bad[i]));
}

/* As the kernel tells it in a message, whatever state this machine's own interface is in; of none it is not so. */
static void a_link_is_asked_for_itself(void **state)
{
	struct error err = ERROR_INIT;
	struct netlink *nl = netlink_open(NETLINK_ROUTE, &err);
	struct link_info link;

	(void)state;
	assert_non_null(nl);
	assert_int_equal(link_get(nl, "lo", &link, &err), 0);
	assert_int_equal(link_runs(link.index), link.running);
	assert_false(link_runs(INT32_MAX));
	assert_false(link_runs(0));
	netlink_close(nl);
}

static void losses_that_no_state_tells(void **state)
{
	const struct link_info up = {
		.index = 1, .up = true, .running = true, .carrier_losses = 5
	};
	struct link_info down = up, off = up, later = up;

	(void)state;
	down.running = false;
	off.up = off.running = false;
	assert_int_equal(link_unseen_losses(&up, &up), 0);
	/* there before and after, and counted twice */
	later.carrier_losses = 7;
	assert_int_equal(link_unseen_losses(&up, &later), 2);
	assert_int_equal(link_unseen_losses(&down, &later), 2);
	/* one of them is what the state tells */
	later.running = false;
	assert_int_equal(link_unseen_losses(&up, &later), 1);
	assert_int_equal(link_unseen_losses(&down, &later), 2);
	/* drivers that keep the counter while switching off */
	assert_int_equal(link_unseen_losses(&up, &off), 0);
	later = up;
	later.carrier_losses = 6;
	assert_int_equal(link_unseen_losses(&off, &later), 0);
	/* an old message, another interface, and a counter that wraps */
	assert_int_equal(link_unseen_losses(&later, &up), 0);
	later.index = 2;
	assert_int_equal(link_unseen_losses(&up, &later), 0);
	later = up;
	later.carrier_losses = UINT32_MAX;
	assert_int_equal(link_unseen_losses(&later, &up), 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_is_read),
		cmocka_unit_test(damaged_messages_do_no_harm),
		cmocka_unit_test(losses_that_no_state_tells),
		cmocka_unit_test(names_that_steer_a_terminal_are_none),
		cmocka_unit_test(a_link_is_asked_for_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

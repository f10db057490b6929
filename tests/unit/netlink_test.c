// SPDX-License-Identifier: GPL-2.0-only
#include "cmocka_all.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "host/netlink.h"

static void attributes_are_found_and_bounded(void **state)
{
	_Alignas(4) char data[32] = { 0 };
	struct nlattr *first = (struct nlattr *)data, *second = (struct nlattr *)(data + 8);
	const struct nlattr *table[4];
	char text[4];

	(void)state;
	first->nla_len = 7; /* three bytes of payload, one of padding */
	first->nla_type = 1;
	memcpy(data + 4, "abc", 3);
	second->nla_len = 8;
	second->nla_type = 3 | NLA_F_NESTED;
	assert_int_equal(netlink_attributes(data, 16, table, 3), 0);
	assert_ptr_equal(table[1], first);
	assert_null(table[2]);
	assert_ptr_equal(table[3], second);
	assert_null(netlink_payload(table[3], 5));
	assert_non_null(netlink_payload(table[3], 4));
	netlink_string(table[1], text, sizeof(text));
	assert_string_equal(text, "abc");
	netlink_string(table[1], text, 3);
	assert_string_equal(text, "ab");
	netlink_string(NULL, text, sizeof(text));
	assert_string_equal(text, "");

	/* a type over the table's end is passed over */
	assert_int_equal(netlink_attributes(data, 16, table, 2), 0);
	assert_ptr_equal(table[1], first);
	/* lengths that lie */
	second->nla_len = 9;
	assert_int_equal(netlink_attributes(data, 16, table, 3), -EBADMSG);
	second->nla_len = 3;
	assert_int_equal(netlink_attributes(data, 16, table, 3), -EBADMSG);
	assert_int_equal(netlink_attributes(data, 2, table, 3), -EBADMSG);
	/* the last attribute may lack its padding */
	assert_int_equal(netlink_attributes(data, 7, table, 3), 0);
}

static int count(const struct nlmsghdr *answer, void *context)
{
	(void)answer;
	++*(int *)context;
	return 0;
}

static int refuse(const struct nlmsghdr *answer, void *context)
{
	(void)answer;
	(void)context;
	return -EXDEV;
}

static struct nlmsghdr *link_request(struct netlink *nl, int index, uint16_t flags)
{
	struct nlmsghdr *nlh = netlink_request(nl, RTM_GETLINK, flags);
	struct ifinfomsg *info = mnl_nlmsg_put_extra_header(nlh, sizeof(*info));

	info->ifi_index = index;
	return nlh;
}

static void the_kernel_answers(void **state)
{
	struct error err = ERROR_INIT;
	struct netlink *nl = netlink_open(NETLINK_ROUTE, &err);
	int links = 0;

	(void)state;
	assert_non_null(nl);
	assert_int_equal(netlink_talk(nl, link_request(nl, 0, NLM_F_DUMP), count, &links), 0);
	assert_true(links >= 1);
	links = 0;
	assert_int_equal(netlink_talk(nl, link_request(nl, 1, 0), count, &links), 0);
	assert_int_equal(links, 1);
	/* an answer that the caller refuses ends with its value; the socket stays usable */
	assert_int_equal(netlink_talk(nl, link_request(nl, 0, NLM_F_DUMP), refuse, NULL), -EXDEV);
	assert_int_equal(netlink_talk(nl, link_request(nl, 0x7ffffff0, 0), count, &links), -ENODEV);
	netlink_error(&err, nl, -ENODEV, "link %d", 7);
	assert_int_equal(err.status, STATUS_SYSTEM);
	assert_non_null(strstr(err.text, "link 7: No such device (ENODEV)"));
	netlink_close(nl);

	nl = netlink_open(NETLINK_GENERIC, &err);
	if (!nl && strstr(err.text, "EPROTONOSUPPORT")) {
		print_message("# SKIP generic netlink: not emulated by qemu-user\n");
		return;
	}
	assert_non_null(nl);
	assert_int_equal(netlink_family(nl, "nlctrl"), 16);
	assert_true(netlink_family(nl, "no-such-family") < 0);
	netlink_close(nl);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attributes_are_found_and_bounded),
		cmocka_unit_test(the_kernel_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

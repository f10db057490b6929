// SPDX-License-Identifier: GPL-2.0-only
/* Frame preemption over ethtool's netlink: the bytes that the kernel's documentation of the messages asks for. */
#include "cmocka_all.h"

#include <libmnl/libmnl.h>
#include <stdlib.h>
#include <string.h>

#include "host/mac_merge.h"

static _Alignas(8) unsigned char buffer[256];

static void compare(const struct nlmsghdr *nlh, const unsigned char *wanted, size_t size)
{
	assert_int_equal(mnl_nlmsg_get_payload_len(nlh), size);
	assert_memory_equal(mnl_nlmsg_get_payload(nlh), wanted, size);
}

static void questions_are_as_the_kernel_wants_them(void **state)
{
	static const unsigned char get[] = { 42, 1, 0,   0,   16,  0,   1, 0x80, 9, 0,
					     2,  0, 't', 's', 'n', '0', 0, 0,    0, 0 };
	static const unsigned char set[] = { 43, 1,   0,   0,   16,  0, 1, 0x80, 9, 0, 2,
					     0,  't', 's', 'n', '0', 0, 0, 0,    0, 5, 0,
					     2,  0,   1,   0,   0,   0, 5, 0,    3, 0, 1,
					     0,  0,   0,   5,   0,   7, 0, 0,    0, 0, 0 };
	const struct mac_merge wanted = { .pmac_enabled = true, .tx_enabled = true };
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);

	(void)state;
	mac_merge_put(nlh, "tsn0", NULL);
	compare(nlh, get, sizeof(get));
	nlh = mnl_nlmsg_put_header(buffer);
	mac_merge_put(nlh, "tsn0", &wanted);
	compare(nlh, set, sizeof(set));
}

/* pMAC and TX on, active, fragments of 124 and 60 bytes, verify on and succeeded, 10 ms; the last attribute is a newer one. */
static const unsigned char answer[] = { 42,  1, 0, 0, 5, 0, 2,  0, 1,   0, 0, 0, 5, 0, 3, 0,
					1,   0, 0, 0, 5, 0, 4,  0, 1,   0, 0, 0, 8, 0, 5, 0,
					124, 0, 0, 0, 8, 0, 6,  0, 60,  0, 0, 0, 5, 0, 7, 0,
					1,   0, 0, 0, 5, 0, 8,  0, 3,   0, 0, 0, 8, 0, 9, 0,
					10,  0, 0, 0, 8, 0, 10, 0, 128, 0, 0, 0 };

static struct nlmsghdr *receive(size_t size)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);

	memcpy(mnl_nlmsg_get_payload(nlh), answer, size);
	nlh->nlmsg_len += (uint32_t)size;
	return nlh;
}

static void answers_are_read(void **state)
{
	struct mac_merge merge;

	(void)state;
	assert_int_equal(mac_merge_parse(receive(sizeof(answer)), &merge), 0);
	assert_true(merge.pmac_enabled && merge.tx_enabled && merge.tx_active);
	assert_true(merge.verify_enabled);
	assert_int_equal(merge.verify, MAC_MERGE_VERIFY_SUCCEEDED);
	assert_string_equal(mac_merge_verify_name(merge.verify), "succeeded");
	assert_int_equal(merge.tx_min_fragment, 124);
	assert_int_equal(merge.rx_min_fragment, 60);
	assert_int_equal(merge.verify_time_ms, 10);
}

static void damaged_answers_are_bounded(void **state)
{
	struct mac_merge merge;

	(void)state;
	for (size_t size = 0; size <= sizeof(answer); size++) {
		struct nlmsghdr *nlh = receive(size);
		/* its own block: a read beyond it is seen by the sanitizer */
		struct nlmsghdr *copy = malloc(nlh->nlmsg_len);

		assert_non_null(copy);
		memcpy(copy, nlh, nlh->nlmsg_len);
		assert_int_equal(mac_merge_parse(copy, &merge) < 0, size < 4);
		free(copy);
	}
	/* a status that is not known yet */
	((unsigned char *)mnl_nlmsg_get_payload(receive(sizeof(answer))))[56] = 99;
	assert_int_equal(mac_merge_parse((struct nlmsghdr *)buffer, &merge), 0);
	assert_int_equal(merge.verify, MAC_MERGE_VERIFY_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(questions_are_as_the_kernel_wants_them),
		cmocka_unit_test(answers_are_read),
		cmocka_unit_test(damaged_answers_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

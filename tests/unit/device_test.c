// SPDX-License-Identifier: GPL-2.0-only
/* What a schedule cannot stand on, by what the kernel says of such interfaces: kinds that this kernel may not have. */
#include "cmocka_all.h"

#include <net/if.h>

#include <linux/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tc/device.h"

static struct netlink *nl;
static struct device device;
static struct error err;
static char advice[256];

/* An interface of that kind; what is below it is the loopback interface, which is everywhere. */
static int check(const char *kind)
{
	memset(&device, 0, sizeof(device));
	device.link.type = ARPHRD_ETHER;
	device.link.index = 99999;
	device.lower = (int)if_nametoindex("lo");
	snprintf(device.link.name, sizeof(device.link.name), "x0");
	snprintf(device.link.kind, sizeof(device.link.kind), "%s", kind);
	device.nic = nic_by_name("generic");
	err = (struct error)ERROR_INIT;
	return device_check(nl, &device, advice, &err);
}

static void a_port_of_a_switch_is_pointed_to_its_conduit(void **state)
{
	(void)state;
	assert_int_equal(check("dsa"), 0);
	assert_string_equal(advice, "'x0' is a port of a switch: it cannot stamp frames other than "
				    "PTP's; publish through 'lo'");
	assert_int_equal(check(""), 0);
	assert_string_equal(advice, "");
}

static void what_stands_on_others_is_refused_with_the_one_to_use(void **state)
{
	static const struct {
		const char *kind, *says;
	} cases[] = {
		{ "vlan", "interface 'x0': a vlan device, its frames leave through 'lo'; use "
			  "interface: lo" },
		{ "macvlan", "interface 'x0': a macvlan device, its frames leave through 'lo'; use "
			     "interface: lo" },
		{ "ipvlan", "interface 'x0': a ipvlan device, its frames leave through 'lo'; use "
			    "interface: lo" },
		{ "bond", "interface 'x0': a bond, frames leave through its ports; use one of "
			  "them: it has none" },
		{ "team", "interface 'x0': a team, frames leave through its ports; use one of "
			  "them: it has none" },
		{ "bridge", "interface 'x0': a bridge, frames leave through its ports; use one of "
			    "them: it has none" },
		{ "dummy", "interface 'x0': a dummy device has no wire to schedule; use an "
			   "Ethernet port, or veth" },
		{ "tun", "interface 'x0': a tun device has no wire to schedule; use an Ethernet "
			 "port, or veth" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(check(cases[i].kind), -1);
		assert_int_equal(err.status, STATUS_INPUT);
		assert_string_equal(err.text, cases[i].says);
	}
	check("");
	device.link.type = ARPHRD_LOOPBACK;
	assert_int_equal(device_check(nl, &device, advice, &err), -1);
	assert_non_null(strstr(err.text, "not Ethernet"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_port_of_a_switch_is_pointed_to_its_conduit),
		cmocka_unit_test(what_stands_on_others_is_refused_with_the_one_to_use),
	};

	nl = netlink_open(NETLINK_ROUTE, &err);
	if (!nl)
		abort();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/* The ptp4l and phc2sys set-up for what there is. */
#include "cmocka_all.h"

#include <string.h>

#include "ptp/setup.h"

static const struct setup_facts hardware = {
	.iface = "enp1s0",
	.ptp4l = "ptp4l",
	.phc2sys = "phc2sys",
	.phc_index = 2,
	.phc_name = "igc",
	.hardware_stamps = true,
	.has_address = true,
	.version = "3.1.1",
	.role = SYNC_ROLE_SLAVE,
	.gptp = true,
	.domain = -1,
};

/* The value of `name` in the configuration, "" when it is not set. */
static const char *value_of(const struct setup_facts *facts, const char *name)
{
	static char text[8192];
	size_t length = strlen(name);

	assert_true(setup_ptp4l_config(facts, true, text, sizeof(text)) < sizeof(text));
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		if (!strncmp(line, name, length) && line[length] == ' ')
			return line + length + strspn(line + length, " ");
	return "";
}

static void join(const char *const *argv, char *text)
{
	*text = '\0';
	for (int i = 0; argv[i]; i++) {
		strcat(text, i ? " " : "");
		strcat(text, argv[i]);
	}
}

static void versions_differ_in_names(void **state)
{
	struct setup_facts facts = hardware;

	(void)state;
	assert_int_equal(setup_version("3.1.1"), 3);
	assert_int_equal(setup_version("4.2-dirty"), 4);
	assert_int_equal(setup_version(""), 0);
	assert_int_equal(setup_version("-5"), 0);
	assert_string_equal(value_of(&facts, "slaveOnly"), "1");
	assert_string_equal(value_of(&facts, "clientOnly"), "");
	assert_string_equal(value_of(&facts, "ptp_minor_version"), "");
	strcpy(facts.version, "4.2");
	assert_string_equal(value_of(&facts, "clientOnly"), "1");
	assert_string_equal(value_of(&facts, "slaveOnly"), "");
	assert_string_equal(value_of(&facts, "ptp_minor_version"), "0");
	facts.role = SYNC_ROLE_MASTER;
	assert_string_equal(value_of(&facts, "serverOnly"), "1");
	strcpy(facts.version, "3.1");
	assert_string_equal(value_of(&facts, "masterOnly"), "1");
	assert_string_equal(value_of(&facts, "priority1"), "100");
}

static void profiles_and_stamps(void **state)
{
	struct setup_facts facts = hardware;

	(void)state;
	assert_string_equal(value_of(&facts, "transportSpecific"), "0x1");
	assert_string_equal(value_of(&facts, "delay_mechanism"), "P2P");
	assert_string_equal(value_of(&facts, "neighborPropDelayThresh"), "800");
	assert_string_equal(value_of(&facts, "time_stamping"), "");
	facts.gptp = false;
	assert_string_equal(value_of(&facts, "transportSpecific"), "");
	assert_string_equal(value_of(&facts, "network_transport"), "UDPv4");
	facts.has_address = false;
	assert_string_equal(value_of(&facts, "network_transport"), "L2");
	facts.phc_index = -1;
	assert_string_equal(value_of(&facts, "time_stamping"), "software");
	/* never steers the machine's clock by surprise */
	assert_string_equal(value_of(&facts, "free_running"), "1");
	facts.gptp = true;
	assert_string_equal(value_of(&facts, "neighborPropDelayThresh"), "20000000");
	facts.domain = 7;
	assert_string_equal(value_of(&facts, "domainNumber"), "7");
}

static void commands(void **state)
{
	struct setup_facts facts = hardware;
	const char *argv[SETUP_ARGUMENTS];
	char text[512];

	(void)state;
	setup_ptp4l_command(&facts, "/x.cfg", argv);
	join(argv, text);
	assert_string_equal(text, "ptp4l -f /x.cfg -i enp1s0 -m -q");
	facts.socket = "/run/p";
	strcpy(facts.version, "4.2");
	setup_ptp4l_command(&facts, "/x.cfg", argv);
	join(argv, text);
	assert_string_equal(text, "ptp4l -f /x.cfg -i enp1s0 --uds_address /run/p "
				  "--uds_ro_address /run/pro -m -q");
	facts.socket = NULL;
	assert_true(setup_phc2sys_command(&facts, argv));
	join(argv, text);
	assert_string_equal(text,
			    "phc2sys -s enp1s0 -c CLOCK_REALTIME -w --transportSpecific 1 -m -q");
	facts.role = SYNC_ROLE_MASTER;
	facts.gptp = false;
	facts.socket = "/run/p";
	facts.domain = 5;
	setup_phc2sys_command(&facts, argv);
	join(argv, text);
	assert_string_equal(text, "phc2sys -s CLOCK_REALTIME -c enp1s0 -w -n 5 -z /run/p -m -q");
	facts.role = SYNC_ROLE_ANY;
	setup_phc2sys_command(&facts, argv);
	join(argv, text);
	assert_string_equal(text, "phc2sys -a -rr -n 5 -z /run/p -m -q");
	facts.phc_index = -1;
	assert_false(setup_phc2sys_command(&facts, argv));
}

static void the_text_fits_any_buffer(void **state)
{
	char text[8192];
	size_t length = setup_text(&hardware, text, sizeof(text));

	(void)state;
	assert_true(length < sizeof(text));
	assert_int_equal(strlen(text), length);
	assert_non_null(strstr(text, "tsnpub sync --iface enp1s0 --wait 60s"));
	for (size_t size = 0; size < 200; size++) {
		memset(text, 'x', sizeof(text));
		assert_int_equal(setup_text(&hardware, text, size), length);
		if (size)
			assert_true(strlen(text) < size);
		assert_int_equal(text[size], 'x');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_differ_in_names),
		cmocka_unit_test(profiles_and_stamps),
		cmocka_unit_test(commands),
		cmocka_unit_test(the_text_fits_any_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
#include "cmocka_all.h"

#include <errno.h>
#include <string.h>

#include "host/hwtstamp.h"

/* A driver: what it can, and what it has. */
struct fake {
	struct hwtstamp_config config;
	int get_error;
	int tx_error, rx_error; /* answers to switching TX on, to filter ALL */
	int rx_becomes; /* filter taken instead of ALL; 0: ALL */
	int sets;
};

static int fake_get(void *context, struct hwtstamp_config *config)
{
	struct fake *fake = context;

	*config = fake->config;
	return fake->get_error;
}

static int fake_set(void *context, struct hwtstamp_config *config)
{
	struct fake *fake = context;

	fake->sets++;
	if (fake->tx_error && config->tx_type != fake->config.tx_type)
		return fake->tx_error;
	if (config->rx_filter == HWTSTAMP_FILTER_ALL) {
		if (fake->rx_error)
			return fake->rx_error;
		if (fake->rx_becomes)
			config->rx_filter = fake->rx_becomes;
	}
	fake->config = *config;
	return 0;
}

static struct hwtstamp_report add(struct fake *fake, unsigned int want, int expected)
{
	struct hwtstamp_driver driver = { fake_get, fake_set, fake };
	struct hwtstamp_report report;

	assert_int_equal(hwtstamp_add(&driver, want, &report), expected);
	return report;
}

static void wanted_bits_are_added(void **state)
{
	struct fake fake = { .config = { 0, HWTSTAMP_TX_OFF, HWTSTAMP_FILTER_NONE } };
	struct hwtstamp_report report = add(&fake, HWTSTAMP_WANT_RX, 0);

	(void)state;
	assert_int_equal(report.granted, HWTSTAMP_WANT_RX);
	assert_true(report.changed);
	assert_int_equal(report.before.rx_filter, HWTSTAMP_FILTER_NONE);
	assert_int_equal(fake.config.rx_filter, HWTSTAMP_FILTER_ALL);
	assert_int_equal(fake.config.tx_type, HWTSTAMP_TX_OFF);
	assert_string_equal(report.reason, "");
}

static void what_ptp4l_has_switched_on_stays(void **state)
{
	struct fake fake = { .config = { 1, HWTSTAMP_TX_ONESTEP_SYNC,
					 HWTSTAMP_FILTER_PTP_V2_L2_EVENT } };
	struct hwtstamp_report report = add(&fake, HWTSTAMP_WANT_TX | HWTSTAMP_WANT_RX, 0);

	(void)state;
	assert_int_equal(report.granted, HWTSTAMP_WANT_TX | HWTSTAMP_WANT_RX);
	assert_int_equal(fake.config.tx_type, HWTSTAMP_TX_ONESTEP_SYNC);
	assert_int_equal(fake.config.rx_filter, HWTSTAMP_FILTER_ALL);
	assert_int_equal(fake.config.flags, 1);
}

static void nothing_is_set_when_all_is_there(void **state)
{
	struct fake fake = { .config = { 0, HWTSTAMP_TX_ON, HWTSTAMP_FILTER_ALL } };
	struct hwtstamp_report report = add(&fake, HWTSTAMP_WANT_TX | HWTSTAMP_WANT_RX, 0);

	(void)state;
	assert_int_equal(report.granted, HWTSTAMP_WANT_TX | HWTSTAMP_WANT_RX);
	assert_false(report.changed);
	assert_int_equal(fake.sets, 0);
}

static void a_refused_bit_does_not_cost_the_other(void **state)
{
	struct fake fake = { .config = { 0, HWTSTAMP_TX_OFF, HWTSTAMP_FILTER_PTP_V2_EVENT },
			     .rx_error = -ERANGE };
	struct hwtstamp_report report = add(&fake, HWTSTAMP_WANT_TX | HWTSTAMP_WANT_RX, 0);

	(void)state;
	assert_int_equal(report.granted, HWTSTAMP_WANT_TX);
	assert_int_equal(fake.config.tx_type, HWTSTAMP_TX_ON);
	assert_int_equal(fake.config.rx_filter, HWTSTAMP_FILTER_PTP_V2_EVENT);
	assert_non_null(strstr(report.reason, "ptpv2-event"));
}

static void a_filter_that_would_take_ptp_away_is_undone(void **state)
{
	struct fake fake = { .config = { 0, HWTSTAMP_TX_ON, HWTSTAMP_FILTER_PTP_V2_EVENT },
			     .rx_becomes = HWTSTAMP_FILTER_NTP_ALL };
	struct hwtstamp_report report = add(&fake, HWTSTAMP_WANT_RX, 0);

	(void)state;
	assert_int_equal(report.granted, 0);
	assert_false(report.changed);
	assert_int_equal(fake.config.rx_filter, HWTSTAMP_FILTER_PTP_V2_EVENT);
}

static void a_driver_without_stamps_is_no_error(void **state)
{
	struct fake fake = { .get_error = -EOPNOTSUPP };
	struct hwtstamp_report report = add(&fake, HWTSTAMP_WANT_RX, 0);

	(void)state;
	assert_int_equal(report.granted, 0);
	assert_non_null(strstr(report.reason, "no hardware timestamping"));
	assert_int_equal(fake.sets, 0);
}

static void missing_permission_is_an_error(void **state)
{
	struct fake fake = { .rx_error = -EPERM };

	(void)state;
	add(&fake, HWTSTAMP_WANT_RX, -EPERM);
}

static void names(void **state)
{
	(void)state;
	assert_string_equal(hwtstamp_rx_name(HWTSTAMP_FILTER_PTP_V2_L2_EVENT), "ptpv2-l2-event");
	assert_string_equal(hwtstamp_rx_name(-1), "unknown");
	assert_string_equal(hwtstamp_rx_name(1000), "unknown");
	assert_string_equal(hwtstamp_tx_name(HWTSTAMP_TX_ON), "on");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wanted_bits_are_added),
		cmocka_unit_test(what_ptp4l_has_switched_on_stays),
		cmocka_unit_test(nothing_is_set_when_all_is_there),
		cmocka_unit_test(a_refused_bit_does_not_cost_the_other),
		cmocka_unit_test(a_filter_that_would_take_ptp_away_is_undone),
		cmocka_unit_test(a_driver_without_stamps_is_no_error),
		cmocka_unit_test(missing_permission_is_an_error),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

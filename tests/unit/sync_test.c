// SPDX-License-Identifier: GPL-2.0-only
/* The sync verdict: each link of the chain, good and broken. */
#include "cmocka_all.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "ptp/sync.h"
#include "ptp/sync_record.h"

static struct sync_snapshot s;
static struct sync_bars bars;
static struct sync_report report;

static void add_steerer(enum steerer_kind kind, const char *name, int pid, bool system_clock)
{
	struct steerer *steerer = &s.steering.steerer[s.steering.count++];

	steerer->kind = kind;
	steerer->pid = pid;
	steerer->privileged = true;
	steerer->system_clock = system_clock;
	steerer->phc = !system_clock;
	snprintf(steerer->name, sizeof(steerer->name), "%s", name);
}

/* A slave with hardware stamps in a gPTP network; all is well. */
static int set_up(void **state)
{
	struct sync_port *port = &s.ports[0];

	(void)state;
	memset(&s, 0, sizeof(s));
	memset(&bars, 0, sizeof(bars));
	strcpy(s.iface, "enp1s0");
	s.iface_given = true;
	strcpy(s.ptp4l.socket, "/var/run/ptp4l");
	s.ptp4l.transport_specific = 1;
	s.have_default = s.have_current = s.have_parent = true;
	s.have_time_properties = s.have_time_status = true;
	s.default_ds.ports = 1;
	s.current.steps_removed = 1;
	memcpy(s.parent.gm, "\x0a\x0b\x0c\xff\xfe\x0d\x0e\x0f", 8);
	s.parent.gm_quality.class = 6;
	s.time_properties = (struct mgmt_time_properties){ .utc_offset = 37,
							   .utc_offset_valid = true,
							   .ptp_timescale = true,
							   .time_traceable = true };
	s.time_status.gm_present = true;
	s.time_status.master_offset_ns = -15;
	s.port_count = 1;
	s.port_names_known = true;
	port->ds = (struct mgmt_port){ .id.port = 1,
				       .state = PORT_SLAVE,
				       .log_sync_interval = -3,
				       .peer_delay_ns = 520,
				       .delay_mechanism = DELAY_P2P };
	port->have_np = port->have_properties = port->have_hwclock = true;
	port->np = (struct mgmt_port_np){ 800, true };
	port->properties.timestamping = PORT_STAMPS_HARDWARE;
	strcpy(port->properties.iface, "enp1s0");
	port->hwclock.phc_index = 2;
	s.have_ingress_age = true;
	s.ingress_age_ns = 60 * NSEC_PER_MSEC;
	s.phc_index = 2;
	s.hardware_stamps = true;
	strcpy(s.phc_name, "igc");
	s.have_phc = true;
	s.phc = (struct phc_reading){ PHC_EXTENDED, 0, 37 * NSEC_PER_SEC + 40, 40, 600 };
	s.have_frequency = true;
	s.frequency_ppb = 12345;
	s.kernel = (struct kernel_clock){ .known = true, .max_error_ns = 500000, .tai_offset = 37 };
	s.steering.known = true;
	add_steerer(STEERER_PTP4L, "ptp4l", 100, false);
	add_steerer(STEERER_PHC2SYS, "phc2sys", 101, true);
	return 0;
}

static const struct sync_check *judge(enum sync_check_id id)
{
	sync_judge(&s, &bars, &report);
	return &report.check[id];
}

#define assert_check(id, expected, text)                                                          \
	do {                                                                                      \
		const struct sync_check *check = judge(id);                                       \
                                                                                                  \
		assert_string_equal(sync_result_name(check->result), sync_result_name(expected)); \
		if (!strstr(check->reason, text) && !strstr(check->value, text))                  \
			fail_msg("'%s' is in neither '%s' nor '%s'", text, check->reason,         \
				 check->value);                                                   \
		assert_int_equal(check->fix[0] != '\0', (expected) >= SYNC_UNKNOWN);              \
	} while (0)

#define assert_broken(id, expected, text)                                             \
	do {                                                                          \
		assert_check(id, expected, text);                                     \
		assert_int_equal(report.verdict, (expected) == SYNC_WRONG             \
							 ? SYNC_VERDICT_NOT_GOOD      \
							 : SYNC_VERDICT_CANNOT_TELL); \
		assert_int_equal(report.first, id);                                   \
	} while (0)

#define assert_good()                                                       \
	do {                                                                \
		sync_judge(&s, &bars, &report);                             \
		if (report.verdict != SYNC_VERDICT_GOOD)                    \
			fail_msg("%s: %s", report.check[report.first].name, \
				 report.check[report.first].reason);        \
		assert_int_equal(report.first, -1);                         \
	} while (0)

static void a_locked_slave_is_good(void **state)
{
	(void)state;
	assert_good();
	assert_int_equal(report.limit_ns, 1000);
	for (int i = 0; i < CHECK_COUNT; i++)
		if (i != CHECK_STEPS)
			assert_string_equal(sync_result_name(report.check[i].result), "ok");
	assert_int_equal(sync_uncertainty_ns(&s), 15 + 40 + 300);
}

static void a_grandmaster_is_good(void **state)
{
	(void)state;
	s.ports[0].ds.state = PORT_MASTER;
	s.time_status.gm_present = false;
	s.have_ingress_age = false;
	assert_good();
	assert_check(CHECK_OFFSET, SYNC_NOT_APPLICABLE, "grandmaster");
	assert_check(CHECK_FRESH, SYNC_NOT_APPLICABLE, "grandmaster");
	assert_check(CHECK_GRANDMASTER, SYNC_OK, "this clock");
	assert_int_equal(sync_uncertainty_ns(&s), 40 + 300);
	bars.role = SYNC_ROLE_SLAVE;
	assert_broken(CHECK_PORT, SYNC_WRONG, "serves time");
	assert_check(CHECK_GRANDMASTER, SYNC_WRONG, "no grandmaster is heard");
}

static void why_ptp4l_does_not_answer(void **state)
{
	static const struct {
		enum ptp4l_fault fault;
		enum sync_result result;
		const char *text;
	} cases[] = {
		{ PTP4L_ABSENT, SYNC_WRONG, "no such socket" },
		{ PTP4L_NOT_SOCKET, SYNC_WRONG, "not ptp4l's socket" },
		{ PTP4L_STALE, SYNC_WRONG, "left behind" },
		{ PTP4L_FORBIDDEN, SYNC_UNKNOWN, "no permission" },
		{ PTP4L_NO_PATH, SYNC_UNKNOWN, "no socket of our own" },
		{ PTP4L_SILENT, SYNC_WRONG, "answers none" },
		{ PTP4L_STRANGE, SYNC_WRONG, "no ptp4l, or an unknown version" },
		{ PTP4L_GARBAGE, SYNC_WRONG, "no ptp4l, or an unknown version" },
		{ PTP4L_GONE, SYNC_WRONG, "went away" },
		{ PTP4L_REFUSED, SYNC_WRONG, "refuses" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		s.ptp4l.fault = cases[i].fault;
		assert_broken(CHECK_PTP4L, cases[i].result, cases[i].text);
		/* its rows are not asked then, and do not count */
		for (int row = CHECK_PORT; row <= CHECK_TIMESCALE; row++)
			assert_int_equal(report.check[row].result, SYNC_NOT_APPLICABLE);
		assert_int_equal(sync_port_state(&s), PORT_UNKNOWN);
		assert_int_equal(sync_uncertainty_ns(&s), -1);
	}
}

static void each_port_state(void **state)
{
	static const struct {
		unsigned int port_state;
		const char *fix;
	} bad[] = {
		{ PORT_INITIALIZING, "wait" },         { PORT_FAULTY, "tx_timestamp_timeout" },
		{ PORT_DISABLED, "switched off" },     { PORT_LISTENING, "no master is heard" },
		{ PORT_PRE_MASTER, "wait" },           { PORT_PASSIVE, "wait" },
		{ PORT_UNCALIBRATED, "free_running" }, { 77, "wait" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		s.ports[0].ds.state = (uint8_t)bad[i].port_state;
		assert_check(CHECK_PORT, SYNC_WRONG, "does not synchronise");
		assert_non_null(strstr(report.check[CHECK_PORT].fix, bad[i].fix));
		assert_int_equal(report.first, CHECK_PORT);
	}
	/* a second port follows the master: the passive one is as good */
	s.ports[0].ds.state = PORT_PASSIVE;
	s.ports[1] = s.ports[0];
	s.ports[1].ds.state = PORT_SLAVE;
	s.port_count = 2;
	assert_check(CHECK_PORT, SYNC_OK, "PASSIVE");
	bars.role = SYNC_ROLE_MASTER;
	s.ports[0].ds.state = PORT_SLAVE;
	assert_broken(CHECK_PORT, SYNC_WRONG, "follows a better master");
}

/* free_running, as on a veth pair: ptp4l compares the clocks, and the offset decides. */
static void a_port_that_only_compares(void **state)
{
	(void)state;
	s.ports[0].ds.state = PORT_UNCALIBRATED;
	s.ports[0].properties.timestamping = PORT_STAMPS_SOFTWARE;
	s.hardware_stamps = false;
	assert_check(CHECK_PORT, SYNC_WRONG, "does not synchronise"); /* it has a PHC to steer */
	s.phc_index = -1;
	assert_check(CHECK_PORT, SYNC_OK, "the offset tells");
	s.ports[0].ds.peer_delay_ns = 0; /* nobody answers: there is no offset */
	assert_check(CHECK_PORT, SYNC_WRONG, "does not synchronise");
	s.ports[0].ds.delay_mechanism = DELAY_E2E;
	assert_check(CHECK_PORT, SYNC_WRONG, "does not synchronise");
	s.current.mean_path_delay_ns = 700;
	assert_check(CHECK_PORT, SYNC_OK, "the offset tells");
	bars.role = SYNC_ROLE_MASTER;
	assert_check(CHECK_PORT, SYNC_WRONG, "does not synchronise");
	/* a NIC that could stamp, and one that does: they have a clock to steer, whether it can be seen or not */
	bars.role = SYNC_ROLE_ANY;
	s.hardware_stamps = true;
	assert_check(CHECK_PORT, SYNC_WRONG, "does not synchronise");
	s.hardware_stamps = false;
	s.ports[0].properties.timestamping = PORT_STAMPS_HARDWARE;
	assert_check(CHECK_PORT, SYNC_WRONG, "does not synchronise");
}

static void the_interface_has_no_port(void **state)
{
	(void)state;
	s.port = -1;
	assert_broken(CHECK_PORT, SYNC_WRONG, "does not run on enp1s0");
	s.port_names_known = false;
	assert_broken(CHECK_PORT, SYNC_UNKNOWN, "read-write socket");
	s.port_count = 0;
	assert_broken(CHECK_PORT, SYNC_UNKNOWN, "did not tell its ports");
}

static void software_stamps_where_there_could_be_better(void **state)
{
	(void)state;
	s.ports[0].properties.timestamping = PORT_STAMPS_SOFTWARE;
	assert_broken(CHECK_TIMESTAMPING, SYNC_WRONG, "could stamp in hardware");
	s.ports[0].have_properties = false;
	assert_check(CHECK_TIMESTAMPING, SYNC_NOT_APPLICABLE, "read-write socket");
}

static void software_stamps_on_veth_are_good(void **state)
{
	(void)state;
	s.ports[0].properties.timestamping = PORT_STAMPS_SOFTWARE;
	s.ports[0].ds.delay_mechanism = DELAY_E2E;
	s.hardware_stamps = false;
	s.phc_index = PHC_INDEX_NONE;
	s.have_phc = s.have_frequency = false;
	s.time_properties.ptp_timescale = false;
	s.time_status.master_offset_ns = 30000;
	s.current.mean_path_delay_ns = 12000;
	s.steering.count = 1;
	assert_good();
	assert_int_equal(report.limit_ns, SYNC_LIMIT_SOFTWARE_NS);
	assert_check(CHECK_PHC, SYNC_NOT_APPLICABLE, "has none");
	assert_check(CHECK_DELAY, SYNC_OK, "+12.000us to the master");
	s.time_status.master_offset_ns = -100001;
	assert_broken(CHECK_OFFSET, SYNC_WRONG, "-100.001us");
}

static void the_grandmaster_is_lost_or_changes(void **state)
{
	(void)state;
	memcpy(s.gm_before, "\x01\x02\x03\xff\xfe\x04\x05\x06", 8);
	s.began_as_slave = true;
	assert_good();
	s.gm_changed = true;
	assert_broken(CHECK_GRANDMASTER, SYNC_WRONG, "took over from 010203.fffe.040506");
	s.gm_changed = false;
	/* the port turned MASTER: for a slave that is holdover, not a reference */
	s.time_status.gm_present = false;
	s.ports[0].ds.state = PORT_MASTER;
	assert_broken(CHECK_GRANDMASTER, SYNC_WRONG, "010203.fffe.040506 is lost");
	s.began_as_slave = false;
	/* a slave-only ptp4l goes on telling the last grandmaster and offset */
	s.time_status.gm_present = true;
	s.ports[0].ds.state = PORT_LISTENING;
	assert_check(CHECK_GRANDMASTER, SYNC_WRONG, "no master is heard any more");
	assert_check(CHECK_OFFSET, SYNC_NOT_APPLICABLE, "no port follows");
	assert_int_equal(sync_uncertainty_ns(&s), -1);
	s.time_status.gm_present = false;
	s.ports[0].ds.state = PORT_MASTER;
	s.default_ds.slave_only = true;
	assert_broken(CHECK_GRANDMASTER, SYNC_WRONG, "no grandmaster is heard");
	s.have_parent = false;
	assert_broken(CHECK_GRANDMASTER, SYNC_UNKNOWN, "did not tell its parent");
}

static void an_unbound_grandmaster_is_remarked_on(void **state)
{
	(void)state;
	s.parent.gm_quality.class = 248;
	assert_good();
	assert_check(CHECK_GRANDMASTER, SYNC_OK, "bound to no reference");
}

static void offsets_at_and_over_the_limit(void **state)
{
	(void)state;
	s.time_status.master_offset_ns = -1000;
	assert_good();
	s.time_status.master_offset_ns = -1001;
	assert_broken(CHECK_OFFSET, SYNC_WRONG, "-1001ns");
	bars.limit_ns = 1001;
	assert_good();
	s.time_status.master_offset_ns = INT64_MIN;
	assert_broken(CHECK_OFFSET, SYNC_WRONG, "too far");
	s.have_time_status = false;
	assert_check(CHECK_OFFSET, SYNC_UNKNOWN, "did not tell its time status");
}

static void stale_syncs(void **state)
{
	(void)state;
	s.ingress_age_ns = NSEC_PER_SEC; /* 4 x 125 ms + 500 ms */
	assert_good();
	s.ingress_age_ns = NSEC_PER_SEC + 1;
	assert_broken(CHECK_FRESH, SYNC_WRONG, "no sync message arrives");
	s.ingress_age_ns = -2 * NSEC_PER_SEC; /* the clock was set back */
	assert_broken(CHECK_FRESH, SYNC_WRONG, "no sync message arrives");
	s.ports[0].ds.log_sync_interval = 1;
	assert_good();
	s.ports[0].ds.log_sync_interval = -128; /* nonsense: one second is assumed */
	s.ingress_age_ns = 4500 * NSEC_PER_MSEC;
	assert_good();
	s.ingress_age_ns++;
	assert_broken(CHECK_FRESH, SYNC_WRONG, "no sync message arrives");
	s.have_ingress_age = false;
	assert_broken(CHECK_FRESH, SYNC_UNKNOWN, "cannot be read");
	s.phc_index = PHC_INDEX_NONE;
	assert_check(CHECK_FRESH, SYNC_NOT_APPLICABLE, "cannot be read");
}

static void path_delays(void **state)
{
	(void)state;
	assert_check(CHECK_DELAY, SYNC_OK, "+520ns to the peer");
	assert_string_equal(report.check[CHECK_DELAY].limit, "800ns");
	s.ports[0].np.as_capable = false;
	assert_broken(CHECK_DELAY, SYNC_WRONG, "not 802.1AS capable");
	s.ptp4l.transport_specific = 0; /* asCapable is gPTP's */
	assert_good();
	s.ports[0].ds.peer_delay_ns = -1001;
	assert_broken(CHECK_DELAY, SYNC_WRONG, "negative");
	s.ports[0].ds.delay_mechanism = DELAY_E2E;
	s.current.mean_path_delay_ns = -1000;
	assert_good();
	s.have_current = false;
	assert_broken(CHECK_DELAY, SYNC_UNKNOWN, "did not tell its current data set");
}

static void time_scales(void **state)
{
	(void)state;
	s.time_properties.time_traceable = false;
	assert_check(CHECK_TIMESCALE, SYNC_OK, "phc2sys will not set");
	s.time_properties.ptp_timescale = false;
	assert_broken(CHECK_TIMESCALE, SYNC_WRONG, "not TAI");
	s.have_time_properties = false;
	assert_broken(CHECK_TIMESCALE, SYNC_UNKNOWN, "did not tell");
}

static void phc_of_another_port_or_not_readable(void **state)
{
	(void)state;
	s.ports[0].hwclock.phc_index = 5;
	assert_broken(CHECK_PHC, SYNC_WRONG, "/dev/ptp5 instead");
	s.ports[0].hwclock.phc_index = 2;
	s.have_phc = s.have_ingress_age = false;
	strcpy(s.phc_error, "no permission to read /dev/ptp2");
	assert_check(CHECK_PHC, SYNC_UNKNOWN, "no permission");
	assert_check(CHECK_PHC_TAI, SYNC_UNKNOWN, "cannot be read");
	assert_int_equal(report.verdict, SYNC_VERDICT_CANNOT_TELL);
	assert_int_equal(sync_uncertainty_ns(&s), -1);
	s.phc_index = PHC_INDEX_UNKNOWN;
	assert_check(CHECK_PHC, SYNC_NOT_APPLICABLE, "give --iface");
}

static void set_phc_offset(int64_t tai_ns)
{
	s.phc.tai_offset_ns = tai_ns;
	s.phc.realtime_offset_ns = tai_ns + s.kernel.tai_offset * NSEC_PER_SEC;
}

static void phc_and_tai_apart(void **state)
{
	(void)state;
	set_phc_offset(1000);
	assert_good();
	set_phc_offset(1301); /* more than limit and half the window */
	assert_broken(CHECK_PHC_TAI, SYNC_WRONG, "they are apart");
	set_phc_offset(-1001); /* within the reading's uncertainty, but over the limit */
	assert_broken(CHECK_PHC_TAI, SYNC_WRONG, "they are apart");
	set_phc_offset(-37 * NSEC_PER_SEC);
	assert_broken(CHECK_PHC_TAI, SYNC_WRONG, "holds UTC");
	assert_check(CHECK_PHC_TAI, SYNC_WRONG, "-37.000000s");
	set_phc_offset(0);
	s.phc.window_ns = 2002;
	assert_broken(CHECK_PHC_TAI, SYNC_UNKNOWN, "too coarse");
	bars.limit_ns = 1001;
	assert_good();
}

static void the_kernels_tai_offset(void **state)
{
	(void)state;
	s.kernel.tai_offset = 0;
	set_phc_offset(37 * NSEC_PER_SEC + 40);
	assert_check(CHECK_TAI_OFFSET, SYNC_WRONG, "nobody has set it");
	assert_check(CHECK_PHC_TAI, SYNC_WRONG, "0 s instead of 37 s");
	assert_string_equal(report.check[CHECK_TAI_OFFSET].fix, "tsnpub sync --set-tai-offset");
	s.kernel.tai_offset = 36;
	set_phc_offset(NSEC_PER_SEC + 40);
	assert_check(CHECK_TAI_OFFSET, SYNC_WRONG, "not what the grandmaster means");
	assert_check(CHECK_PHC_TAI, SYNC_WRONG, "36 s instead of 37 s");
	/* without ptp4l the PHC itself tells */
	s.ptp4l.fault = PTP4L_ABSENT;
	s.have_time_properties = false;
	s.kernel.tai_offset = 0;
	set_phc_offset(37 * NSEC_PER_SEC);
	assert_check(CHECK_PHC_TAI, SYNC_WRONG, "nobody has set it");
	assert_string_equal(report.check[CHECK_PHC_TAI].fix, "tsnpub sync --set-tai-offset=37");
	assert_check(CHECK_TAI_OFFSET, SYNC_WRONG, "nobody has set it");
	s.kernel.tai_offset = 37;
	assert_check(CHECK_TAI_OFFSET, SYNC_OK, "37 s");
	s.kernel.known = false;
	assert_check(CHECK_TAI_OFFSET, SYNC_UNKNOWN, "adjtimex");
}

static void frequency_and_steps(void **state)
{
	(void)state;
	s.frequency_ppb = -500001;
	assert_broken(CHECK_PHC_FREQUENCY, SYNC_WRONG, "-500.001 ppm");
	s.frequency_uncertainty_ppb = 1;
	assert_good();
	s.have_before = s.have_phc_step = true;
	s.elapsed_ns = NSEC_PER_SEC;
	s.tai_step_ns = -500000; /* what the kernel can slew in a second */
	s.phc_step_ns = 500000;
	assert_good();
	s.phc_step_ns = 500001;
	assert_broken(CHECK_STEPS, SYNC_WRONG, "PHC was stepped");
	s.tai_step_ns = -500001;
	assert_broken(CHECK_STEPS, SYNC_WRONG, "CLOCK_TAI was stepped");
	s.elapsed_ns =
		NSEC_PER_MSEC; /* a glance soon after a look: ten times the limit, not 500 ns */
	s.phc_step_ns = s.tai_step_ns = 10000;
	assert_check(CHECK_STEPS, SYNC_OK, "");
	s.tai_step_ns = 10001;
	assert_broken(CHECK_STEPS, SYNC_WRONG, "CLOCK_TAI was stepped");
	s.have_frequency = false;
	assert_check(CHECK_PHC_FREQUENCY, SYNC_NOT_APPLICABLE, "not measured");
}

static void the_kernel_is_unsynchronised(void **state)
{
	(void)state;
	s.kernel.unsynced = true;
	assert_broken(CHECK_KERNEL_CLOCK, SYNC_WRONG, "nobody has disciplined");
	/* a grandmaster's own system clock may run free: it is the reference */
	s.ports[0].ds.state = PORT_MASTER;
	s.time_status.gm_present = false;
	assert_good();
}

static void ntp_beside_phc2sys(void **state)
{
	(void)state;
	add_steerer(STEERER_NTP, "chronyd", 200, false); /* -x: only watches */
	assert_good();
	s.steering.steerer[2].system_clock = true;
	assert_broken(CHECK_NTP, SYNC_WRONG, "chronyd and phc2sys (process 101) both");
	assert_non_null(strstr(report.check[CHECK_NTP].fix, "-x"));
	/* a grandmaster that is fed by NTP: phc2sys steers the PHC then */
	s.ports[0].ds.state = PORT_MASTER;
	s.time_status.gm_present = false;
	s.steering.steerer[1].system_clock = false;
	s.steering.steerer[1].phc = true;
	assert_good();
	s.steering.known = false;
	assert_check(CHECK_NTP, SYNC_NOT_APPLICABLE, "/proc");
}

static void phc2sys_is_missing_or_stuck(void **state)
{
	(void)state;
	s.steering.count = 1;
	assert_broken(CHECK_STEERING, SYNC_WRONG, "does not follow the PHC: no phc2sys");
	s.steering.partial = true; /* we may not see it, but the kernel was told a moment ago */
	assert_good();
	s.kernel.max_error_ns = 31 * 500 * NSEC_PER_USEC;
	assert_broken(CHECK_STEERING, SYNC_WRONG, "no phc2sys");
	add_steerer(STEERER_PHC2SYS, "phc2sys", 101, true);
	assert_broken(CHECK_STEERING, SYNC_WRONG, "has not set the clock for 31 s");
	s.kernel.max_error_ns = 30 * 500 * NSEC_PER_USEC;
	assert_good();
	s.steering.known = false;
	assert_broken(CHECK_STEERING, SYNC_UNKNOWN, "/proc");
}

static void wrong_outweighs_unknown(void **state)
{
	(void)state;
	s.have_ingress_age = false; /* unknown, further up */
	s.steering.count = 1;
	judge(CHECK_FRESH);
	assert_int_equal(report.verdict, SYNC_VERDICT_NOT_GOOD);
	assert_int_equal(report.first, CHECK_STEERING);
}

static void the_record_of_a_second(void **state)
{
	struct sync_record record;

	(void)state;
	s.tai_ns = 1790000000000000001;
	sync_judge(&s, &bars, &report);
	sync_record_make(&s, &report, 7, &record);
	assert_int_equal(record.time, 1790000000000000001);
	assert_int_equal(record.stream, RECORD_STREAM_SYNC);
	assert_int_equal(record.status, SYNC_GOOD | SYNC_HAVE_MASTER | SYNC_HAVE_PHC);
	assert_int_equal(record.master_offset, -15);
	assert_int_equal(record.phc_offset, 40);
	assert_int_equal(record.phc_window, 600);
	assert_int_equal(record.frequency_ppb, 12345);
	assert_int_equal(record.path_delay, 520);
	assert_int_equal(record.tai_offset, 37);
	assert_int_equal(record.port_state, PORT_SLAVE);
	assert_int_equal(record.run, 7);
	s.time_status.gm_present = false;
	s.have_phc = false;
	sync_judge(&s, &bars, &report);
	sync_record_make(&s, &report, 7, &record);
	assert_int_equal(record.status, 0);
	assert_int_equal(record.master_offset, 0);
	/* the grandmaster; and one that has lost its own */
	s.ports[0].ds.state = PORT_MASTER;
	sync_record_make(&s, &report, 7, &record);
	assert_int_equal(record.status, SYNC_MASTER);
	s.began_as_slave = true;
	sync_record_make(&s, &report, 7, &record);
	assert_int_equal(record.status, 0);
	/* a boundary clock's other port serves what it hears itself */
	s.began_as_slave = false;
	s.time_status.gm_present = true;
	sync_record_make(&s, &report, 7, &record);
	assert_false(record.status & SYNC_MASTER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, set_up)
		TEST(a_locked_slave_is_good),
		TEST(a_grandmaster_is_good),
		TEST(why_ptp4l_does_not_answer),
		TEST(each_port_state),
		TEST(a_port_that_only_compares),
		TEST(the_interface_has_no_port),
		TEST(software_stamps_where_there_could_be_better),
		TEST(software_stamps_on_veth_are_good),
		TEST(the_grandmaster_is_lost_or_changes),
		TEST(an_unbound_grandmaster_is_remarked_on),
		TEST(offsets_at_and_over_the_limit),
		TEST(stale_syncs),
		TEST(path_delays),
		TEST(time_scales),
		TEST(phc_of_another_port_or_not_readable),
		TEST(phc_and_tai_apart),
		TEST(the_kernels_tai_offset),
		TEST(frequency_and_steps),
		TEST(the_kernel_is_unsynchronised),
		TEST(ntp_beside_phc2sys),
		TEST(phc2sys_is_missing_or_stuck),
		TEST(wrong_outweighs_unknown),
		TEST(the_record_of_a_second),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/* Reading a PHC by the best method that its driver has; the driver is this test. */
#include "cmocka_all.h"

#include <errno.h>
#include <linux/ptp_clock.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/clock.h"
#include "ptp/phc.h"

#define NOW 1700000000000000000LL /* the system clock at the first reading */
#define AHEAD 37000000000LL /* PHC - system clock */

/* What the driver can do, and how its readings go. */
static struct {
	int precise_errno, extended_errno, basic_errno; /* 0: it can */
	int64_t window_ns[PHC_SAMPLES]; /* of each reading */
	int64_t late_ns; /* the PHC is read so long after the middle of the window */
	int asked;
} driver;

static struct ptp_clock_time at(int64_t ns)
{
	return (struct ptp_clock_time){ .sec = ns / NSEC_PER_SEC, .nsec = ns % NSEC_PER_SEC };
}

static int answer(int errnum)
{
	driver.asked++;
	errno = errnum;
	return errnum ? -1 : 0;
}

/* Reading i begins 1 ms after the one before. */
static int64_t begin_of(int i)
{
	return NOW + i * NSEC_PER_MSEC;
}

static int64_t phc_of(int i)
{
	return begin_of(i) + driver.window_ns[i] / 2 + driver.late_ns + AHEAD;
}

/* Takes the place of libc's. */
int ioctl(int fd, unsigned long request, ...)
{
	struct ptp_sys_offset_precise *precise;
	struct ptp_sys_offset_extended *extended;
	struct ptp_sys_offset *basic;
	va_list args;
	void *data;

	va_start(args, request);
	data = va_arg(args, void *);
	va_end(args);
	assert_int_equal(fd, 5);
	switch (request) {
	case PTP_SYS_OFFSET_PRECISE:
		precise = data;
		precise->device = at(NOW + AHEAD);
		precise->sys_realtime = at(NOW);
		return answer(driver.precise_errno);
	case PTP_SYS_OFFSET_EXTENDED:
		extended = data;
		for (unsigned int i = 0; i < extended->n_samples; i++) {
			extended->ts[i][0] = at(begin_of((int)i));
			extended->ts[i][1] = at(phc_of((int)i));
			extended->ts[i][2] = at(begin_of((int)i) + driver.window_ns[i]);
		}
		return answer(driver.extended_errno);
	case PTP_SYS_OFFSET:
		/* system, PHC, system, PHC ... system: a window reaches to the next reading */
		basic = data;
		for (unsigned int i = 0; i < basic->n_samples; i++) {
			int64_t begin = NOW;

			for (unsigned int j = 0; j < i; j++)
				begin += driver.window_ns[j];
			basic->ts[2 * i] = at(begin);
			basic->ts[2 * i + 1] =
				at(begin + driver.window_ns[i] / 2 + driver.late_ns + AHEAD);
			basic->ts[2 * i + 2] = at(begin + driver.window_ns[i]);
		}
		return answer(driver.basic_errno);
	}
	fail_msg("ioctl %lx", request);
	return -1;
}

static int set_up(void **state)
{
	(void)state;
	memset(&driver, 0, sizeof(driver));
	for (int i = 0; i < PHC_SAMPLES; i++)
		driver.window_ns[i] = 5000 - 10 * i; /* the last but for one is the tightest */
	driver.window_ns[PHC_SAMPLES - 1] = 9000;
	return 0;
}

static void assert_reading(enum phc_method method, int64_t offset_ns, int64_t window_ns)
{
	struct error err = ERROR_INIT;
	struct phc_reading reading;

	assert_int_equal(phc_read(5, &reading, &err), 0);
	assert_int_equal(reading.method, method);
	assert_int_equal(reading.realtime_offset_ns, offset_ns);
	assert_int_equal(reading.tai_offset_ns, offset_ns - tai_offset_seconds() * NSEC_PER_SEC);
	assert_int_equal(reading.window_ns, window_ns);
}

static void both_latched_by_hardware(void **state)
{
	(void)state;
	assert_reading(PHC_PRECISE, AHEAD, 0);
	assert_int_equal(driver.asked, 1);
}

static void around_the_register_read(void **state)
{
	(void)state;
	driver.precise_errno = EOPNOTSUPP;
	driver.late_ns = 123;
	assert_reading(PHC_EXTENDED, AHEAD + 123, 5000 - 10 * (PHC_SAMPLES - 2));
}

static void around_the_whole_call(void **state)
{
	(void)state;
	/* an old kernel knows neither number */
	driver.precise_errno = ENOTTY;
	driver.extended_errno = ENOTTY;
	driver.late_ns = -40;
	assert_reading(PHC_BASIC, AHEAD - 40, 5000 - 10 * (PHC_SAMPLES - 2));
	/* one whose driver lacks both */
	driver.precise_errno = driver.extended_errno = EOPNOTSUPP;
	assert_reading(PHC_BASIC, AHEAD - 40, 5000 - 10 * (PHC_SAMPLES - 2));
}

static void the_offset_is_true_within_half_of_the_window(void **state)
{
	struct error err = ERROR_INIT;
	struct phc_reading reading;

	(void)state;
	driver.precise_errno = EOPNOTSUPP;
	/* wherever in the window the register was read */
	for (driver.late_ns = -2380; driver.late_ns <= 2380; driver.late_ns += 70) {
		assert_int_equal(phc_read(5, &reading, &err), 0);
		assert_true(reading.realtime_offset_ns - AHEAD <= reading.window_ns / 2);
		assert_true(reading.realtime_offset_ns - AHEAD >= -reading.window_ns / 2);
	}
}

static void one_that_went_away_is_an_error(void **state)
{
	struct error err = ERROR_INIT;
	struct phc_reading reading;

	(void)state;
	driver.precise_errno = ENODEV;
	assert_int_equal(phc_read(5, &reading, &err), -1);
	assert_non_null(strstr(err.text, "cannot compare the PTP clock with the system clock"));
	/* the kernel has no method at all */
	driver.precise_errno = driver.extended_errno = driver.basic_errno = EOPNOTSUPP;
	err = (struct error)ERROR_INIT;
	assert_int_equal(phc_read(5, &reading, &err), -1);
	assert_non_null(strstr(err.text, "Operation not supported"));
	/* the system clock ran backwards within every reading */
	driver.extended_errno = 0;
	for (int i = 0; i < PHC_SAMPLES; i++)
		driver.window_ns[i] = -1;
	err = (struct error)ERROR_INIT;
	assert_int_equal(phc_read(5, &reading, &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(both_latched_by_hardware, set_up),
		cmocka_unit_test_setup(around_the_register_read, set_up),
		cmocka_unit_test_setup(around_the_whole_call, set_up),
		cmocka_unit_test_setup(the_offset_is_true_within_half_of_the_window, set_up),
		cmocka_unit_test_setup(one_that_went_away_is_an_error, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

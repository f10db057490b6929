// SPDX-License-Identifier: GPL-2.0-only
/* What the error queue says, as the kernel lays it out, and what others may put there. */
#include "cmocka_all.h"

#include <time.h> /* before linux/errqueue.h, which needs it */

#include <linux/errqueue.h>
#include <linux/if_packet.h>
#include <linux/net_tstamp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "engine/feedback.h"
#include "engine/frame.h"

static const uint8_t source[6] = { 2, 0, 0, 0, 0, 1 };
static uint8_t frame[64];

static void make_frame(uint64_t seq)
{
	struct stream stream = { .id = 5, .vlan = 7, .size = 64 };
	struct frame_fields fields = { .seq = seq, .launch = 123456 };

	frame_write(frame + frame_build(frame, &stream, source, WIRE_ETHERTYPE, 0xabc), &fields);
}

struct queue_message {
	_Alignas(8) uint8_t control[256];
	struct msghdr header;
};

/* A timestamp control message, if any is set, then the extended error, as the kernel orders them. */
static void make_message(struct queue_message *m, const struct timespec stamps[3], uint8_t origin,
			 uint8_t code, uint32_t info)
{
	struct sock_extended_err error = { .ee_origin = origin, .ee_code = code, .ee_info = info };
	struct cmsghdr *cmsg;

	memset(m, 0, sizeof(*m));
	m->header.msg_control = m->control;
	m->header.msg_controllen = sizeof(m->control);
	cmsg = CMSG_FIRSTHDR(&m->header);
	size_t used = 0;

	if (stamps) {
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_TIMESTAMPING;
		cmsg->cmsg_len = CMSG_LEN(3 * sizeof(*stamps));
		memcpy(CMSG_DATA(cmsg), stamps, 3 * sizeof(*stamps));
		used += CMSG_SPACE(3 * sizeof(*stamps));
		cmsg = CMSG_NXTHDR(&m->header, cmsg);
	}
	cmsg->cmsg_level = SOL_PACKET;
	cmsg->cmsg_type = PACKET_TX_TIMESTAMP;
	cmsg->cmsg_len = CMSG_LEN(sizeof(error));
	memcpy(CMSG_DATA(cmsg), &error, sizeof(error));
	m->header.msg_controllen = used + CMSG_SPACE(sizeof(error));
}

static void stamps_name_their_frame_and_source(void **state)
{
	const struct timespec software[3] = { { 100, 5 } },
			      hardware[3] = { { 0 }, { 0 }, { 137, 9 } };
	const struct timespec none[3] = { { 0 } };
	struct queue_message m;
	struct feedback f;

	(void)state;
	make_frame(42);
	make_message(&m, software, SO_EE_ORIGIN_TIMESTAMPING, 0, SCM_TSTAMP_SND);
	assert_int_equal(feedback_parse(&m.header, frame, 64, WIRE_ETHERTYPE, 37000000000, &f), 1);
	assert_int_equal(f.kind, FEEDBACK_SW);
	assert_int_equal(f.time, 137000000005); /* CLOCK_REALTIME to TAI */
	assert_int_equal(f.seq, 42);
	assert_int_equal(f.stream, 5);
	assert_int_equal(f.run, 0xabc);
	assert_int_equal(f.launch, 123456);

	make_message(&m, software, SO_EE_ORIGIN_TIMESTAMPING, 0, SCM_TSTAMP_SCHED);
	assert_int_equal(feedback_parse(&m.header, frame, 64, WIRE_ETHERTYPE, 0, &f), 1);
	assert_int_equal(f.kind, FEEDBACK_SCHED);

	make_message(&m, hardware, SO_EE_ORIGIN_TIMESTAMPING, 0, SCM_TSTAMP_SND);
	assert_int_equal(feedback_parse(&m.header, frame, 64, WIRE_ETHERTYPE, 37000000000, &f), 1);
	assert_int_equal(f.kind, FEEDBACK_HW);
	assert_int_equal(f.time, 137000000009); /* the PHC's own */

	make_message(&m, none, SO_EE_ORIGIN_TIMESTAMPING, 0, SCM_TSTAMP_SND);
	assert_int_equal(feedback_parse(&m.header, frame, 64, WIRE_ETHERTYPE, 0, &f), 0);
	make_message(&m, software, SO_EE_ORIGIN_TIMESTAMPING, 0, SCM_TSTAMP_ACK);
	assert_int_equal(feedback_parse(&m.header, frame, 64, WIRE_ETHERTYPE, 0, &f), 0);
	make_message(&m, NULL, SO_EE_ORIGIN_TIMESTAMPING, 0, SCM_TSTAMP_SND);
	assert_int_equal(feedback_parse(&m.header, frame, 64, WIRE_ETHERTYPE, 0, &f), 0);
}

static void etf_says_missed_or_invalid(void **state)
{
	struct queue_message m;
	struct feedback f;

	(void)state;
	make_frame(43);
	make_message(&m, NULL, SO_EE_ORIGIN_TXTIME, SO_EE_CODE_TXTIME_MISSED, 1);
	assert_int_equal(feedback_parse(&m.header, frame, 64, WIRE_ETHERTYPE, 0, &f), 1);
	assert_int_equal(f.kind, FEEDBACK_MISSED);
	assert_int_equal(f.seq, 43);
	make_message(&m, NULL, SO_EE_ORIGIN_TXTIME, SO_EE_CODE_TXTIME_INVALID_PARAM, 1);
	assert_int_equal(feedback_parse(&m.header, frame, 64, WIRE_ETHERTYPE, 0, &f), 1);
	assert_int_equal(f.kind, FEEDBACK_INVALID);
	make_message(&m, NULL, SO_EE_ORIGIN_ICMP, 0, 0);
	assert_int_equal(feedback_parse(&m.header, frame, 64, WIRE_ETHERTYPE, 0, &f), 0);
}

static void other_frames_and_cut_off_ones_are_passed_over(void **state)
{
	const struct timespec software[3] = { { 100, 5 } };
	struct queue_message m;
	struct feedback f;

	(void)state;
	make_frame(1);
	make_message(&m, software, SO_EE_ORIGIN_TIMESTAMPING, 0, SCM_TSTAMP_SND);
	for (size_t size = 0; size < 14 + 4 + WIRE_PAYLOAD_SIZE; size++)
		assert_int_equal(feedback_parse(&m.header, frame, size, WIRE_ETHERTYPE, 0, &f), 0);
	assert_int_equal(feedback_parse(&m.header, frame, 64, 0x9000, 0, &f), 0);
	srand(3);
	for (int round = 0; round < 20000; round++) {
		uint8_t noise[80];

		for (size_t i = 0; i < sizeof(noise); i++)
			noise[i] = (uint8_t)rand();
		if (round & 1) {
			memcpy(noise, frame, 64);
			noise[rand() % 64] ^= (uint8_t)(1 + rand() % 255);
		}
		for (size_t i = 0; i < sizeof(m.control) && (round & 2); i++)
			m.control[i] = (uint8_t)rand();
		m.header.msg_controllen = (size_t)rand() % sizeof(m.control);
		feedback_parse(&m.header, noise, sizeof(noise), WIRE_ETHERTYPE, 0, &f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stamps_name_their_frame_and_source),
		cmocka_unit_test(etf_says_missed_or_invalid),
		cmocka_unit_test(other_frames_and_cut_off_ones_are_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

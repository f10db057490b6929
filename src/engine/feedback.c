// SPDX-License-Identifier: GPL-2.0-only
#include "engine/feedback.h"

#include <linux/errqueue.h>
#include <linux/if_packet.h>
#include <linux/net_tstamp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/clock.h"
#include "engine/frame.h"

#define BATCH 64

_Static_assert(FEEDBACK_HEAD >= FRAME_HEAD_SIZE, "the payload is in the head");

/* struct scm_timestamping, which libc's and the kernel's headers name differently */
struct stamps {
	struct timespec software, transformed, hardware;
};

static bool take_stamps(const struct sock_extended_err *error, const struct stamps *stamps,
			int64_t tai_offset_ns, struct feedback *feedback)
{
	int64_t software = timespec_to_ns(stamps->software);
	int64_t hardware = timespec_to_ns(stamps->hardware);

	if (error->ee_info == SCM_TSTAMP_SCHED && software) {
		feedback->kind = FEEDBACK_SCHED;
		feedback->time = software + tai_offset_ns;
		return true;
	}
	if (error->ee_info != SCM_TSTAMP_SND)
		return false;
	if (hardware) {
		feedback->kind = FEEDBACK_HW;
		feedback->time = hardware;
		return true;
	}
	if (software) {
		feedback->kind = FEEDBACK_SW;
		feedback->time = software + tai_offset_ns;
		return true;
	}
	return false;
}

int feedback_parse(const struct msghdr *message, const uint8_t *frame, size_t size,
		   uint16_t ethertype, int64_t tai_offset_ns, struct feedback *feedback)
{
	struct sock_extended_err error = { 0 };
	struct stamps stamps = { 0 };
	bool have_error = false, have_stamps = false;
	struct frame_fields fields;

	for (struct cmsghdr *cmsg = CMSG_FIRSTHDR(message); cmsg;
	     cmsg = CMSG_NXTHDR((struct msghdr *)(uintptr_t)message, cmsg)) {
		if (cmsg->cmsg_level == SOL_SOCKET && cmsg->cmsg_type == SCM_TIMESTAMPING &&
		    cmsg->cmsg_len >= CMSG_LEN(sizeof(stamps))) {
			memcpy(&stamps, CMSG_DATA(cmsg), sizeof(stamps));
			have_stamps = true;
		} else if (cmsg->cmsg_level == SOL_PACKET &&
			   cmsg->cmsg_type == PACKET_TX_TIMESTAMP &&
			   cmsg->cmsg_len >= CMSG_LEN(sizeof(error))) {
			memcpy(&error, CMSG_DATA(cmsg), sizeof(error));
			have_error = true;
		}
	}
	if (!have_error ||
	    !frame_read(frame, size, ethertype, &feedback->stream, &feedback->run, &fields))
		return 0;
	feedback->seq = fields.seq;
	feedback->launch = fields.launch;
	feedback->time = 0;
	if (error.ee_origin == SO_EE_ORIGIN_TXTIME) {
		feedback->kind = error.ee_code == SO_EE_CODE_TXTIME_MISSED ? FEEDBACK_MISSED
									   : FEEDBACK_INVALID;
		return 1;
	}
	return error.ee_origin == SO_EE_ORIGIN_TIMESTAMPING && have_stamps &&
	       take_stamps(&error, &stamps, tai_offset_ns, feedback);
}

struct feedback_reader {
	uint16_t ethertype;
	struct mmsghdr messages[BATCH];
	struct iovec iov[BATCH];
	uint8_t frames[BATCH][FEEDBACK_HEAD];
	_Alignas(8) uint8_t control[BATCH][FEEDBACK_CONTROL];
};

/* Makes `count` messages ready: the kernel writes the sizes that it used over the rooms that it had. */
static void prepare(struct feedback_reader *reader, int count)
{
	for (int i = 0; i < count; i++) {
		struct msghdr *message = &reader->messages[i].msg_hdr;

		message->msg_controllen = FEEDBACK_CONTROL;
		message->msg_flags = 0;
	}
}

struct feedback_reader *feedback_reader_new(uint16_t ethertype)
{
	struct feedback_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->ethertype = ethertype;
	for (int i = 0; i < BATCH; i++) {
		reader->iov[i] = (struct iovec){ reader->frames[i], FEEDBACK_HEAD };
		reader->messages[i].msg_hdr = (struct msghdr){
			.msg_iov = &reader->iov[i],
			.msg_iovlen = 1,
			.msg_control = reader->control[i],
		};
	}
	prepare(reader, BATCH);
	return reader;
}

void feedback_reader_free(struct feedback_reader *reader)
{
	free(reader);
}

unsigned feedback_read(struct feedback_reader *reader, int fd,
		       void (*take)(void *context, const struct feedback *feedback), void *context,
		       uint64_t *unknown)
{
	/* whole seconds by definition; rounded, since the clocks are not read at the same instant */
	int64_t distance = clock_now_ns(CLOCK_TAI) - clock_now_ns(CLOCK_REALTIME);
	int64_t tai_offset_ns = (distance + NSEC_PER_SEC / 2) / NSEC_PER_SEC * NSEC_PER_SEC;
	unsigned read = 0;

	for (int batch = 0; batch < FEEDBACK_ROUND / BATCH; batch++) {
		int count;

		count = recvmmsg(fd, reader->messages, BATCH, MSG_ERRQUEUE | MSG_DONTWAIT, NULL);
		for (int i = 0; i < count; i++) {
			struct feedback feedback;

			if (feedback_parse(&reader->messages[i].msg_hdr, reader->frames[i],
					   reader->messages[i].msg_len, reader->ethertype,
					   tai_offset_ns, &feedback))
				take(context, &feedback);
			else if (unknown)
				++*unknown;
		}
		prepare(reader, count);
		read += count > 0 ? (unsigned)count : 0;
		if (count < BATCH)
			break;
	}
	return read;
}

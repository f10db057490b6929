/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel tells about frames that it took: TX stamps and missed launches, both through the error
 * queue of the sending socket (Documentation/networking/timestamping.rst, sch_etf).
 *
 * The kernel returns the frame itself with each message, so stream and number are read from it. That is
 * surer than SOF_TIMESTAMPING_OPT_ID: its counter also runs on for frames that were refused.
 */
#ifndef ENGINE_FEEDBACK_H
#define ENGINE_FEEDBACK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum feedback_kind {
	FEEDBACK_SCHED, /* stamps: `time` */
	FEEDBACK_SW,
	FEEDBACK_HW,
	FEEDBACK_MISSED, /* etf dropped it: the launch time had passed when its turn came */
	FEEDBACK_INVALID, /* etf refused the launch time */
};

struct feedback {
	enum feedback_kind kind;
	uint16_t stream; /* id */
	uint32_t run;
	uint64_t seq;
	int64_t time; /* stamps: TAI ns (hw: the PHC's time taken as TAI) */
	int64_t launch; /* from the frame */
};

#define FEEDBACK_HEAD 80 /* bytes of the frame that are read */
#define FEEDBACK_CONTROL 256

/*
 * Pure: one message of the error queue. `message` has its control part, `frame` the `size` bytes that came
 * with it. `tai_offset_ns` is TAI - UTC for software stamps, which the kernel takes in CLOCK_REALTIME.
 * Returns 1 and *feedback; 0 when it is none of ours, or tells nothing.
 */
int feedback_parse(const struct msghdr *message, const uint8_t *frame, size_t size,
		   uint16_t ethertype, int64_t tai_offset_ns, struct feedback *feedback);

struct feedback_reader;

struct feedback_reader *feedback_reader_new(uint16_t ethertype); /* NULL without memory */
void feedback_reader_free(struct feedback_reader *reader);

#define FEEDBACK_ROUND 1024 /* messages */

/*
 * Reads what is in the error queue of `fd`, in one system call for 64 messages, and hands it to `take`; FEEDBACK_ROUND
 * at most, since a fast sender's queue never gets empty. Returns how many it read. Those that could not be attributed to
 * a frame of ours are added to *unknown, which may be NULL.
 */
unsigned feedback_read(struct feedback_reader *reader, int fd,
		       void (*take)(void *context, const struct feedback *feedback), void *context,
		       uint64_t *unknown);

#endif

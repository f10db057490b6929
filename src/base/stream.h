/* SPDX-License-Identifier: GPL-2.0-only */
/* What a stream is, for the publisher that sends it and the planner that finds it a slot. */
#ifndef BASE_STREAM_H
#define BASE_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#define STREAMS_MAX 1024 /* in one publisher or one plan */
#define STREAM_ID_MAX 0xffef /* above: reserved */
#define STREAM_NO_VLAN 0xffff
#define STREAM_ANYWHERE (-1) /* offset that the planner is to find; the publisher refuses it */
#define FRAME_SIZE_MIN 60 /* Ethernet header to end of payload, without FCS: 64 on the wire */

struct stream {
	uint16_t id;
	uint8_t dest[6]; /* default: 91:e0:f0:00:fe:00 + id, for id up to 255 */
	uint16_t vlan; /* VID 0 to 4094 (0: priority tag), or STREAM_NO_VLAN */
	uint8_t priority; /* 0 to 7: PCP of the tag, and SO_PRIORITY for the class mapping */
	int64_t offset_ns; /* launch within the cycle; 0 <= offset < cycle, or STREAM_ANYWHERE */
	uint32_t every; /* sent in each n-th cycle, n >= 1 */
	uint32_t phase; /* which of them: cycle number (since base time) % every == phase */
	uint32_t frames; /* frames in each cycle in which it is sent, back to back */
	uint32_t size; /* bytes, header to end of payload, without FCS */
};

#endif

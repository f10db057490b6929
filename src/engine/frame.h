/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The publisher's frames: built once for each stream, then only the changing fields are written. And
 * read back, from what the kernel hands back in the error queue. Pure; the layout is in bpf/wire.h.
 */
#ifndef ENGINE_FRAME_H
#define ENGINE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "base/stream.h"
#include "bpf/wire.h"

#define FRAME_HEADER_SIZE 14
#define FRAME_TAG_SIZE 4
#define FRAME_SIZE_MAX 65535
/* enough of a frame to find the payload behind two tags */
#define FRAME_HEAD_SIZE (FRAME_HEADER_SIZE + 2 * FRAME_TAG_SIZE + WIRE_PAYLOAD_SIZE)

/* Smallest frame of the stream: header, tag if it has one, payload; never under FRAME_SIZE_MIN. */
uint32_t frame_size_min(const struct stream *stream);

/*
 * Writes the whole frame, `stream->size` bytes (>= frame_size_min()) into `frame`; all that is not known
 * yet is 0. Returns where the payload begins in it.
 */
size_t frame_build(uint8_t *frame, const struct stream *stream, const uint8_t source[6],
		   uint16_t ethertype, uint32_t run);

/* The changing fields. `stamp_distance` 0: no stamp to tell. `payload` needs no alignment. */
struct frame_fields {
	uint64_t seq;
	int64_t launch;
	int64_t stamp; /* TX time of frame seq - stamp_distance */
	uint16_t stamp_distance;
	bool stamp_hw; /* the stamp is from hardware, else from software */
	bool last;
};

void frame_write(uint8_t *payload, const struct frame_fields *fields);

/*
 * Finds our payload in the head of a frame (`size` bytes are there), behind up to two VLAN tags. False:
 * another EtherType, magic or version, or too short. Foreign input: nothing in it is trusted.
 */
bool frame_read(const uint8_t *frame, size_t size, uint16_t ethertype, uint16_t *stream,
		uint32_t *run, struct frame_fields *fields);

#endif

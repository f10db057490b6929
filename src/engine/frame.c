// SPDX-License-Identifier: GPL-2.0-only
#include "engine/frame.h"

#include <endian.h>
#include <string.h>

#include "base/cyclic.h"

#define TPID_8021Q 0x8100
#define TPID_8021AD 0x88a8

static void put_be16(uint8_t *at, uint16_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static uint16_t get_be16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

uint32_t frame_size_min(const struct stream *stream)
{
	uint32_t tag = stream->vlan == STREAM_NO_VLAN ? 0 : FRAME_TAG_SIZE;
	uint32_t size = FRAME_HEADER_SIZE + tag + WIRE_PAYLOAD_SIZE;

	return size < FRAME_SIZE_MIN ? FRAME_SIZE_MIN : size;
}

size_t frame_build(uint8_t *frame, const struct stream *stream, const uint8_t source[6],
		   uint16_t ethertype, uint32_t run)
{
	size_t at = 12;
	struct wire_payload payload = {
		.magic = htobe32(WIRE_MAGIC),
		.version = WIRE_VERSION,
		.stream = htobe16(stream->id),
		.run = htobe32(run),
	};

	memset(frame, 0, stream->size);
	memcpy(frame, stream->dest, 6);
	memcpy(frame + 6, source, 6);
	if (stream->vlan != STREAM_NO_VLAN) {
		put_be16(frame + at, TPID_8021Q);
		put_be16(frame + at + 2, (uint16_t)(stream->priority << 13 | stream->vlan));
		at += FRAME_TAG_SIZE;
	}
	put_be16(frame + at, ethertype);
	at += 2;
	memcpy(frame + at, &payload, sizeof(payload));
	return at;
}

CYCLIC void frame_write(uint8_t *payload, const struct frame_fields *fields)
{
	struct wire_payload wire;

	memcpy(&wire, payload, sizeof(wire));
	wire.flags =
		(uint8_t)((fields->stamp_distance ? WIRE_FLAG_STAMP : 0) |
			  (fields->stamp_distance && fields->stamp_hw ? WIRE_FLAG_STAMP_HW : 0) |
			  (fields->last ? WIRE_FLAG_LAST : 0));
	wire.stamp_distance = htobe16(fields->stamp_distance);
	wire.seq = htobe64(fields->seq);
	wire.launch = htobe64((uint64_t)fields->launch);
	wire.stamp = htobe64(fields->stamp_distance ? (uint64_t)fields->stamp : 0);
	memcpy(payload, &wire, sizeof(wire));
}

bool frame_read(const uint8_t *frame, size_t size, uint16_t ethertype, uint16_t *stream,
		uint32_t *run, struct frame_fields *fields)
{
	struct wire_payload wire;
	size_t at = 12;

	for (int tags = 0; tags < 2; tags++) {
		if (size < at + 2)
			return false;
		uint16_t type = get_be16(frame + at);

		if (type == ethertype || (type != TPID_8021Q && type != TPID_8021AD))
			break;
		at += FRAME_TAG_SIZE;
	}
	if (size < at + 2 + sizeof(wire) || get_be16(frame + at) != ethertype)
		return false;
	memcpy(&wire, frame + at + 2, sizeof(wire));
	if (be32toh(wire.magic) != WIRE_MAGIC || wire.version != WIRE_VERSION)
		return false;
	*stream = be16toh(wire.stream);
	*run = be32toh(wire.run);
	fields->seq = be64toh(wire.seq);
	fields->launch = (int64_t)be64toh(wire.launch);
	fields->stamp_distance = wire.flags & WIRE_FLAG_STAMP ? be16toh(wire.stamp_distance) : 0;
	fields->stamp = fields->stamp_distance ? (int64_t)be64toh(wire.stamp) : 0;
	fields->stamp_hw = fields->stamp_distance && (wire.flags & WIRE_FLAG_STAMP_HW);
	fields->last = wire.flags & WIRE_FLAG_LAST;
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which frames are ours: Ethernet, up to two VLAN tags, EtherType, magic, version. Bounded; reads
 * nothing behind `end`. The same code runs in XDP and in user space.
 */
#ifndef BPF_RECEIVE_PARSE_H
#define BPF_RECEIVE_PARSE_H

#include "bpf/receive.h"
#include "bpf/wire.h"

#define RX_INLINE static inline __attribute__((always_inline))
#ifdef __bpf__
#define RX_UNROLL _Pragma("clang loop unroll(full)")
#else
#define RX_UNROLL
#endif

enum rx_verdict {
	RX_OURS,
	RX_TOO_SHORT, /* our EtherType, and less than a payload behind it */
	RX_WRONG_VERSION,
	RX_WRONG_MAGIC,
	RX_WRONG_ETHERTYPE, /* our magic behind another EtherType */
	RX_ALL_ZERO,
	RX_FOREIGN,
};

#define RX_ETHERNET_HEADER 14
#define RX_TAG_SIZE 4

struct rx_ethernet {
	__u8 dest[6];
	__u8 source[6];
	__be16 type;
} __attribute__((packed));

struct rx_tag {
	__be16 tci;
	__be16 type; /* of what follows */
} __attribute__((packed));

struct rx_parsed {
	struct wire_payload *payload; /* RX_OURS only */
	__u16 ethertype; /* behind the tags, host order */
	__u8 tags;
	__u8 version; /* RX_WRONG_VERSION */
};

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define rx_be16(value) ((__u16)__builtin_bswap16(value))
#define rx_be32(value) __builtin_bswap32(value)
#define rx_be64(value) __builtin_bswap64(value)
#else
#define rx_be16(value) (value)
#define rx_be32(value) (value)
#define rx_be64(value) (value)
#endif

/*
 * The payload is not aligned. Of a packed struct the BPF compiler reads byte by byte; the machines that
 * run the program take whole words from anywhere.
 */
#ifdef __bpf__
#define rx_get32(field) rx_be32(*(const __u32 *)(const void *)&(field))
#define rx_get64(field) rx_be64(*(const __u64 *)(const void *)&(field))
#else
#define rx_get32(field) rx_be32(field)
#define rx_get64(field) rx_be64(field)
#endif

RX_INLINE int rx_is_tag(__u16 type)
{
	return type == 0x8100 || type == 0x88a8; /* IEEE 802.1Q, 802.1ad */
}

RX_INLINE enum rx_verdict rx_parse(void *data, void *end, __u16 ethertype, struct rx_parsed *parsed)
{
	struct rx_ethernet *ethernet = data;
	struct rx_tag *tag = (struct rx_tag *)(ethernet + 1);
	struct wire_payload *payload;
	__u16 type;

	parsed->payload = 0;
	parsed->ethertype = 0;
	parsed->tags = 0;
	parsed->version = 0;
	if ((void *)tag > end)
		return RX_FOREIGN;
	type = rx_be16(ethernet->type);
	if (rx_is_tag(type) && (void *)(tag + 1) <= end) {
		type = rx_be16(tag->type);
		parsed->tags = 1;
		tag++;
		if (rx_is_tag(type) && (void *)(tag + 1) <= end) {
			type = rx_be16(tag->type);
			parsed->tags = 2;
			tag++;
		}
	}
	parsed->ethertype = type;
	payload = (struct wire_payload *)tag;
	if ((void *)(payload + 1) > end)
		return type == ethertype ? RX_TOO_SHORT : RX_FOREIGN;
	if (type == ethertype) {
		if (rx_get32(payload->magic) != WIRE_MAGIC)
			return RX_WRONG_MAGIC;
		if (payload->version != WIRE_VERSION) {
			parsed->version = payload->version;
			return RX_WRONG_VERSION;
		}
		/* reserved: in a log it would pass for a record of another kind */
		if (rx_be16(payload->stream) > WIRE_STREAM_MAX)
			return RX_WRONG_MAGIC;
		parsed->payload = payload;
		return RX_OURS;
	}
	if (rx_get32(payload->magic) == WIRE_MAGIC)
		return RX_WRONG_ETHERTYPE;
	if (!type) { /* the payload begins right behind the header: 14 + 40 bytes are there */
		__u8 *byte = data;
		__u8 any = 0;

		RX_UNROLL
		for (int i = 0; i < RX_ETHERNET_HEADER + WIRE_PAYLOAD_SIZE; i++)
			any |= byte[i];
		if (!any)
			return RX_ALL_ZERO;
	}
	return RX_FOREIGN;
}

/* Remembers the first few EtherTypes that were not ours. */
RX_INLINE void rx_note_ethertype(struct rx_counters *counters, __u16 type)
{
	for (int i = 0; i < RX_ETHERTYPES; i++) {
		if (!counters->ethertype_frames[i])
			counters->ethertype[i] = type;
		if (counters->ethertype[i] == type) {
			counters->ethertype_frames[i]++;
			return;
		}
	}
}

/* Counts a frame that is not ours. */
RX_INLINE void rx_count_other(struct rx_counters *counters, enum rx_verdict verdict,
			      const struct rx_parsed *parsed)
{
	switch (verdict) {
	case RX_TOO_SHORT:
		counters->too_short++;
		break;
	case RX_WRONG_VERSION:
		counters->wrong_version++;
		counters->last_wrong_version = parsed->version;
		break;
	case RX_WRONG_MAGIC:
		counters->wrong_magic++;
		break;
	case RX_WRONG_ETHERTYPE:
		counters->wrong_ethertype++;
		counters->last_wrong_ethertype = parsed->ethertype;
		break;
	case RX_ALL_ZERO:
		counters->all_zero++;
		break;
	default:
		counters->foreign++;
		rx_note_ethertype(counters, parsed->ethertype);
	}
}

#endif

// SPDX-License-Identifier: GPL-2.0-only
#include "report/pcapng.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <linux/types.h>
#include <stdlib.h>
#include <string.h>

#include "base/stream.h"
#include "base/units.h"
#include "bpf/wire.h"
#include "data/description.h"

#define FRAME_MAX 64 /* rebuilt bytes: tagged header, payload and some padding */
#define BLOCK_MAX 512
#define STREAMS_KNOWN 1024

enum {
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_INTERFACE = 1,
	BLOCK_PACKET = 6
};
enum {
	OPTION_END = 0,
	OPTION_COMMENT = 1,
	OPTION_NAME = 2,
	OPTION_DESCRIPTION = 3,
	OPTION_FLAGS = 2,
	OPTION_USERAPPL = 4,
	OPTION_TSRESOL = 9
};
enum {
	LINK_ETHERNET = 1,
	INBOUND = 1,
	OUTBOUND = 2,
	NO_INTERFACE = -1
};

struct known_stream {
	uint16_t id;
	uint8_t dest[6];
	int vlan; /* -1: none */
	uint16_t size; /* 0: not known */
	uint8_t priority;
};

struct pcapng {
	FILE *out;
	int64_t tai_offset_ns;
	enum stamp_source rx_stamp;
	uint8_t source[6];
	uint16_t ethertype;
	const char *tx_name, *rx_name;
	int interfaces[2][SOURCE_COUNT]; /* [sender, receiver][source] */
	int interface_count;
	size_t stream_count;
	struct known_stream streams[STREAMS_KNOWN];
};

/* A block under construction: all its parts are padded to 32 bits. */
struct block {
	uint32_t size;
	_Alignas(8) uint8_t bytes[BLOCK_MAX];
};

static void put(struct block *b, const void *bytes, size_t size)
{
	size_t padded = (size + 3) & ~(size_t)3;

	if (b->size + padded > BLOCK_MAX - 4)
		return;
	memset(b->bytes + b->size, 0, padded);
	if (size)
		memcpy(b->bytes + b->size, bytes, size);
	b->size += (uint32_t)padded;
}

static void put_u32(struct block *b, uint32_t value)
{
	put(b, &value, sizeof(value));
}

static void put_option(struct block *b, uint16_t code, const void *bytes, size_t size)
{
	uint16_t head[2] = { code, (uint16_t)size };

	if (b->size + 4 + ((size + 3) & ~(size_t)3) > BLOCK_MAX - 12)
		return;
	put(b, head, sizeof(head));
	put(b, bytes, size);
}

static void begin(struct block *b, uint32_t type)
{
	b->size = 0;
	put_u32(b, type);
	put_u32(b, 0); /* the length, when it is known */
}

static int finish(struct pcapng *p, struct block *b, struct error *err)
{
	uint32_t size;

	put_option(b, OPTION_END, NULL, 0);
	size = b->size + 4;
	memcpy(b->bytes + 4, &size, sizeof(size));
	memcpy(b->bytes + b->size, &size, sizeof(size));
	if (fwrite(b->bytes, 1, size, p->out) != size)
		return error_errno(err, errno, "--pcapng: cannot write it");
	return 0;
}

static void put_section(struct block *b)
{
	static const char program[] = "tsnpub " TSNPUB_VERSION;
	static const uint16_t version[2] = { 1, 0 };
	static const int64_t unknown_length = -1;

	begin(b, BLOCK_SECTION);
	put_u32(b, 0x1a2b3c4d);
	put(b, version, sizeof(version));
	put(b, &unknown_length, sizeof(unknown_length));
	put_option(b, OPTION_USERAPPL, program, strlen(program));
}

/* The number of the interface for this side and source; written when it is first needed. */
static int interface_of(struct pcapng *p, int side, enum stamp_source source, struct error *err)
{
	static const uint16_t link[2] = { LINK_ETHERNET, 0 };
	static const uint8_t nanoseconds = 9;
	int *number = &p->interfaces[side][source];
	const char *name = side ? p->rx_name : p->tx_name;
	char text[128];
	struct block b;

	if (*number != NO_INTERFACE)
		return *number;
	begin(&b, BLOCK_INTERFACE);
	put(&b, link, sizeof(link));
	put_u32(&b, 0); /* no limit */
	snprintf(text, sizeof(text), "%s%s%.64s (%s)", side ? "receiver" : "sender",
		 name ? " " : "", name ? name : "", source_name(source));
	put_option(&b, OPTION_NAME, text, strlen(text));
	snprintf(text, sizeof(text), "frames rebuilt from a tsnpub log, %s stamps",
		 source_name(source));
	put_option(&b, OPTION_DESCRIPTION, text, strlen(text));
	put_option(&b, OPTION_TSRESOL, &nanoseconds, 1);
	if (finish(p, &b, err))
		return NO_INTERFACE;
	*number = p->interface_count++;
	return *number;
}

static const struct known_stream *stream_of(const struct pcapng *p, uint16_t id)
{
	for (size_t i = 0; i < p->stream_count; i++)
		if (p->streams[i].id == id)
			return &p->streams[i];
	return NULL;
}

/* Ethernet header, tag and payload; returns how many bytes. */
static size_t build_frame(const struct pcapng *p, uint8_t frame[FRAME_MAX], uint16_t id,
			  bool tagged, const struct wire_payload *payload)
{
	const struct known_stream *s = stream_of(p, id);
	const uint8_t dest[6] = {
		0x91, 0xe0, 0xf0, 0x00, (uint8_t)(0xfe + (id >> 8)), (uint8_t)id
	};
	uint16_t word;
	size_t n = 12;

	memset(frame, 0, FRAME_MAX);
	memcpy(frame, s ? s->dest : dest, 6);
	memcpy(frame + 6, p->source, 6);
	if (tagged || (s && s->vlan >= 0)) {
		word = htons(0x8100);
		memcpy(frame + n, &word, 2);
		word = htons((uint16_t)(s && s->vlan >= 0 ? s->priority << 13 | s->vlan : 0));
		memcpy(frame + n + 2, &word, 2);
		n += 4;
	}
	word = htons(p->ethertype);
	memcpy(frame + n, &word, 2);
	memcpy(frame + n + 2, payload, sizeof(*payload));
	return n + 2 + sizeof(*payload);
}

static int put_packet(struct pcapng *p, int side, enum stamp_source source, int64_t stamp,
		      uint16_t id, uint16_t size, bool tagged, const struct wire_payload *payload,
		      const char *comment, struct error *err)
{
	int number = interface_of(p, side, source, err);
	uint32_t direction = side ? INBOUND : OUTBOUND;
	int64_t utc = stamp - p->tai_offset_ns;
	uint8_t frame[FRAME_MAX];
	size_t captured;
	struct block b;

	if (number == NO_INTERFACE)
		return -1;
	captured = build_frame(p, frame, id, tagged, payload);
	/* the minimum frame is padded; of a longer one all is zero behind the payload */
	if (size < captured)
		size = (uint16_t)(captured > FRAME_SIZE_MIN ? captured : FRAME_SIZE_MIN);
	captured = size < FRAME_MAX ? size : FRAME_MAX;
	begin(&b, BLOCK_PACKET);
	put_u32(&b, (uint32_t)number);
	put_u32(&b, (uint32_t)((uint64_t)utc >> 32));
	put_u32(&b, (uint32_t)utc);
	put_u32(&b, (uint32_t)captured);
	put_u32(&b, size);
	put(&b, frame, captured);
	put_option(&b, OPTION_FLAGS, &direction, sizeof(direction));
	if (comment)
		put_option(&b, OPTION_COMMENT, comment, strlen(comment));
	return finish(p, &b, err);
}

static int put_tx(struct pcapng *p, const struct tx_record *r, const char *comment,
		  struct error *err)
{
	const struct wire_payload payload = {
		.magic = htonl(WIRE_MAGIC),
		.version = WIRE_VERSION,
		.flags = r->status & TX_LAST ? WIRE_FLAG_LAST : 0,
		.stream = htons(r->stream),
		.run = htonl(r->run),
		.seq = htobe64((uint64_t)r->seq),
		.launch = htobe64((uint64_t)r->launch),
	};
	enum stamp_source source = SOURCE_USER;
	const struct known_stream *s = stream_of(p, r->stream);
	int64_t stamp = r->submit;

	if (!(r->status & TX_SENT))
		return 0;
	if (r->tx_hw != STAMP_NONE) {
		source = SOURCE_HW;
		stamp = r->tx_hw;
	} else if (r->tx_sw != STAMP_NONE) {
		source = SOURCE_SW;
		stamp = r->tx_sw;
	}
	if (stamp <= p->tai_offset_ns)
		return 0;
	return put_packet(p, 0, source, stamp, r->stream, s ? s->size : 0, false, &payload, comment,
			  err);
}

static int put_rx(struct pcapng *p, const struct joined_frame *f, struct error *err)
{
	static const char *const comments[] = {
		[SEQUENCE_REORDERED] = "reordered",
		[SEQUENCE_DUPLICATE] = "duplicate",
		[SEQUENCE_STRAY] = "stray: implausible sequence number",
	};
	const struct rx_record *r = f->rx;
	bool stamped = r->flags & RX_STAMP;
	const struct wire_payload payload = {
		.magic = htonl(WIRE_MAGIC),
		.version = WIRE_VERSION,
		.flags = (uint8_t)((stamped ? WIRE_FLAG_STAMP : 0) |
				   (r->flags & RX_STAMP_HW ? WIRE_FLAG_STAMP_HW : 0) |
				   (r->flags & RX_LAST ? WIRE_FLAG_LAST : 0)),
		.stream = htons(r->stream),
		.run = htonl(r->run),
		.stamp_distance = stamped ? htons(r->stamp_distance) : 0,
		.seq = htobe64((uint64_t)r->seq),
		.launch = htobe64((uint64_t)r->launch),
		.stamp = stamped ? htobe64((uint64_t)r->peer_tx) : 0,
	};
	enum stamp_source source = SOURCE_USER;
	int64_t stamp = r->rx_user;

	if (r->rx_hw != STAMP_NONE) {
		source = SOURCE_HW;
		stamp = r->rx_hw;
	} else if (r->rx_xdp != STAMP_NONE) {
		source = p->rx_stamp;
		stamp = r->rx_xdp;
	}
	if (stamp <= p->tai_offset_ns)
		return 0;
	return put_packet(p, 1, source, stamp, r->stream, r->size, r->flags & RX_VLAN, &payload,
			  comments[f->verdict], err);
}

int pcapng_frame(void *context, const struct joined_frame *f, struct error *err)
{
	struct pcapng *p = context;
	bool first = f->rx && (f->verdict == SEQUENCE_IN_ORDER || f->verdict == SEQUENCE_REORDERED);

	if (f->tx && (!f->rx || first) && put_tx(p, f->tx, f->lost ? "lost" : NULL, err))
		return -1;
	return f->rx ? put_rx(p, f, err) : 0;
}

static void learn_streams(struct pcapng *p, const json_t *description)
{
	const json_t *streams = json_object_get(description, "streams"), *stream;
	size_t i;

	json_array_foreach(streams, i, stream)
	{
		struct known_stream *s = &p->streams[p->stream_count];
		const char *dest = json_string_value(json_object_get(stream, "dest"));
		json_int_t id = json_integer_value(json_object_get(stream, "id"));
		const json_t *vlan = json_object_get(stream, "vlan");
		json_int_t size;
		struct error err = ERROR_INIT;

		if (p->stream_count == STREAMS_KNOWN || id < 0 || id > UINT16_MAX || !dest ||
		    parse_mac("dest", dest, s->dest, &err))
			continue;
		size = json_integer_value(json_object_get(stream, "size"));
		s->size = size > 0 && size <= UINT16_MAX ? (uint16_t)size : 0;
		s->id = (uint16_t)id;
		s->vlan = -1;
		if (json_is_integer(vlan) && json_integer_value(vlan) >= 0 &&
		    json_integer_value(vlan) <= 4095)
			s->vlan = (int)json_integer_value(vlan);
		s->priority = (uint8_t)(json_integer_value(json_object_get(stream, "priority")) &
					7);
		p->stream_count++;
	}
}

static void learn(struct pcapng *p, const struct log_reader *tx, const struct log_reader *rx)
{
	static const uint8_t unknown[6] = { 0x02, 0, 0, 0, 0, 0 };
	const json_t *d = log_description(tx ? tx : rx);
	const char *mac = tx ? description_text(d, "mac") : NULL;
	struct error err = ERROR_INIT;
	int64_t offset, ethertype = description_number(d, "ethertype", WIRE_ETHERTYPE);

	memcpy(p->source, unknown, sizeof(unknown));
	if (mac)
		parse_mac("mac", mac, p->source, &err);
	p->ethertype = ethertype > 0 && ethertype <= UINT16_MAX ? (uint16_t)ethertype
								: WIRE_ETHERTYPE;
	offset = description_number(log_description(rx ? rx : tx), "tai_offset_s", 0);
	p->tai_offset_ns = offset > 0 && offset < 3600 ? offset * NSEC_PER_SEC : 0;
	p->tx_name = tx ? description_text(log_description(tx), "interface") : NULL;
	p->rx_name = rx ? description_text(log_description(rx), "interface") : NULL;
	p->rx_stamp = rx ? analysis_rx_stamp(rx) : SOURCE_XDP;
	learn_streams(p, d);
}

struct pcapng *pcapng_new(FILE *out, const struct log_reader *tx, const struct log_reader *rx)
{
	struct pcapng *p = calloc(1, sizeof(*p));
	struct error err = ERROR_INIT;
	struct block b;

	if (!p)
		return NULL;
	p->out = out;
	for (int side = 0; side < 2; side++)
		for (int i = 0; i < SOURCE_COUNT; i++)
			p->interfaces[side][i] = NO_INTERFACE;
	learn(p, tx, rx);
	put_section(&b);
	/* a failed write stays in the FILE, where output_commit() finds it */
	finish(p, &b, &err);
	return p;
}

void pcapng_free(struct pcapng *p)
{
	free(p);
}

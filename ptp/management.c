// SPDX-License-Identifier: GPL-2.0-only
#include "ptp/management.h"

#include <stdio.h>
#include <string.h>

#define MESSAGE_TYPE_MANAGEMENT 0xd
#define PTP_VERSION 2
#define CONTROL_MANAGEMENT 4
#define LOG_INTERVAL_NONE 0x7f

#define TLV_MANAGEMENT 1
#define TLV_ERROR_STATUS 2

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)get16(p) << 16 | get16(p + 2);
}

static int64_t get64(const uint8_t *p)
{
	return (int64_t)((uint64_t)get32(p) << 32 | get32(p + 4));
}

static void put16(uint8_t *p, uint16_t value)
{
	p[0] = value >> 8;
	p[1] = value & 0xff;
}

/* A TimeInterval is in units of 2^-16 ns. */
static int64_t interval_ns(const uint8_t *p)
{
	return get64(p) / 65536;
}

static void get_port_identity(const uint8_t *p, struct port_identity *id)
{
	memcpy(id->clock, p, sizeof(id->clock));
	id->port = get16(p + 8);
}

static void put_port_identity(uint8_t *p, const struct port_identity *id)
{
	memcpy(p, id->clock, sizeof(id->clock));
	put16(p + 8, id->port);
}

static void get_quality(const uint8_t *p, struct clock_quality *quality)
{
	quality->class = p[0];
	quality->accuracy = p[1];
	quality->variance = get16(p + 2);
}

static size_t encode(uint8_t *buffer, const struct mgmt_address *from, enum mgmt_action action,
		     uint16_t id, size_t data_size)
{
	size_t length = MGMT_HEADER_SIZE + 6 + data_size;

	memset(buffer, 0, length);
	buffer[0] = (uint8_t)(from->transport_specific << 4 | MESSAGE_TYPE_MANAGEMENT);
	/* minor version 0: what 3.1 knows, and 4.x takes as well */
	buffer[1] = PTP_VERSION;
	put16(buffer + 2, (uint16_t)length);
	buffer[4] = from->domain;
	put_port_identity(buffer + 20, &from->source);
	put16(buffer + 30, from->sequence);
	buffer[32] = CONTROL_MANAGEMENT;
	buffer[33] = LOG_INTERVAL_NONE;
	memset(buffer + 34, 0xff, 10);
	buffer[46] = action;
	put16(buffer + 48, TLV_MANAGEMENT);
	put16(buffer + 50, (uint16_t)(2 + data_size));
	put16(buffer + 52, id);
	return length;
}

size_t mgmt_encode_get(uint8_t *buffer, const struct mgmt_address *from, uint16_t id)
{
	return encode(buffer, from, MGMT_GET, id, 0);
}

size_t mgmt_encode_subscribe(uint8_t *buffer, const struct mgmt_address *from, uint16_t duration_s,
			     unsigned int events)
{
	size_t length = encode(buffer, from, MGMT_SET, MGMT_SUBSCRIBE_EVENTS_NP, 66);

	put16(buffer + MGMT_HEADER_SIZE + 6, duration_s);
	buffer[MGMT_HEADER_SIZE + 8] = (uint8_t)events;
	return length;
}

static void decode_default(const uint8_t *p, struct mgmt_tlv *tlv)
{
	struct mgmt_default *ds = &tlv->data.default_ds;

	ds->two_step = p[0] & 1;
	ds->slave_only = p[0] & 2;
	ds->ports = get16(p + 2);
	ds->priority1 = p[4];
	get_quality(p + 5, &ds->quality);
	ds->priority2 = p[9];
	memcpy(ds->clock, p + 10, sizeof(ds->clock));
	ds->domain = p[18];
}

static void decode_current(const uint8_t *p, struct mgmt_tlv *tlv)
{
	tlv->data.current.steps_removed = get16(p);
	tlv->data.current.offset_ns = interval_ns(p + 2);
	tlv->data.current.mean_path_delay_ns = interval_ns(p + 10);
}

static void decode_parent(const uint8_t *p, struct mgmt_tlv *tlv)
{
	struct mgmt_parent *ds = &tlv->data.parent;

	get_port_identity(p, &ds->parent);
	ds->gm_priority1 = p[18];
	get_quality(p + 19, &ds->gm_quality);
	ds->gm_priority2 = p[23];
	memcpy(ds->gm, p + 24, sizeof(ds->gm));
}

static void decode_time_properties(const uint8_t *p, struct mgmt_tlv *tlv)
{
	struct mgmt_time_properties *ds = &tlv->data.time_properties;

	ds->utc_offset = (int16_t)get16(p);
	ds->leap61 = p[2] & 1;
	ds->leap59 = p[2] & 2;
	ds->utc_offset_valid = p[2] & 4;
	ds->ptp_timescale = p[2] & 8;
	ds->time_traceable = p[2] & 16;
	ds->frequency_traceable = p[2] & 32;
	ds->time_source = p[3];
}

static void decode_port(const uint8_t *p, struct mgmt_tlv *tlv)
{
	struct mgmt_port *ds = &tlv->data.port;

	get_port_identity(p, &ds->id);
	ds->state = p[10];
	ds->peer_delay_ns = interval_ns(p + 12);
	ds->log_sync_interval = (int8_t)p[22];
	ds->delay_mechanism = p[23];
	ds->version = p[25];
}

static void decode_time_status(const uint8_t *p, struct mgmt_tlv *tlv)
{
	struct mgmt_time_status *ds = &tlv->data.time_status;

	ds->master_offset_ns = get64(p);
	ds->ingress_ns = get64(p + 8);
	ds->rate_ratio = (int32_t)get32(p + 16) / 2199023255552.0; /* 2^41 */
	/* 20 scaledLastGmPhaseChange, 24 gmTimeBaseIndicator, 26 lastGmPhaseChange (96 bits) */
	ds->gm_present = get32(p + 38) != 0;
	memcpy(ds->gm, p + 42, sizeof(ds->gm));
}

static void decode_port_np(const uint8_t *p, struct mgmt_tlv *tlv)
{
	tlv->data.port_np.neighbor_delay_limit_ns = get32(p);
	tlv->data.port_np.as_capable = get32(p + 4) != 0;
}

static void decode_hwclock(const uint8_t *p, struct mgmt_tlv *tlv)
{
	get_port_identity(p, &tlv->data.hwclock.id);
	tlv->data.hwclock.phc_index = (int32_t)get32(p + 10);
	tlv->data.hwclock.virtual_clock = p[14] & 1;
}

static void decode_subscription(const uint8_t *p, struct mgmt_tlv *tlv)
{
	tlv->data.subscription.duration_s = get16(p);
	tlv->data.subscription.events = p[2];
}

/* The interface's name is a PTPText {length u8, text}; its room was checked by the caller. */
static void decode_properties(const uint8_t *p, struct mgmt_tlv *tlv)
{
	struct mgmt_port_properties *ds = &tlv->data.properties;
	size_t length = p[12];

	get_port_identity(p, &ds->id);
	ds->state = p[10];
	ds->timestamping = p[11];
	if (length >= sizeof(ds->iface))
		length = sizeof(ds->iface) - 1;
	for (size_t i = 0; i < length; i++) {
		uint8_t c = p[13 + i];

		ds->iface[i] = c > 0x20 && c < 0x7f ? (char)c : '?';
	}
	ds->iface[length] = '\0';
}

static const struct data_set {
	uint16_t id;
	uint16_t size; /* at least; see the structs of linuxptp's tlv.h and ds.h */
	const char *name;
	void (*decode)(const uint8_t *data, struct mgmt_tlv *tlv);
} data_sets[] = {
	{ MGMT_DEFAULT_DATA_SET, 20, "DEFAULT_DATA_SET", decode_default },
	{ MGMT_CURRENT_DATA_SET, 18, "CURRENT_DATA_SET", decode_current },
	{ MGMT_PARENT_DATA_SET, 32, "PARENT_DATA_SET", decode_parent },
	{ MGMT_TIME_PROPERTIES_DATA_SET, 4, "TIME_PROPERTIES_DATA_SET", decode_time_properties },
	{ MGMT_PORT_DATA_SET, 26, "PORT_DATA_SET", decode_port },
	{ MGMT_TIME_STATUS_NP, 50, "TIME_STATUS_NP", decode_time_status },
	{ MGMT_PORT_DATA_SET_NP, 8, "PORT_DATA_SET_NP", decode_port_np },
	{ MGMT_SUBSCRIBE_EVENTS_NP, 66, "SUBSCRIBE_EVENTS_NP", decode_subscription },
	{ MGMT_PORT_PROPERTIES_NP, 13, "PORT_PROPERTIES_NP", decode_properties },
	{ MGMT_PORT_HWCLOCK_NP, 16, "PORT_HWCLOCK_NP", decode_hwclock },
};

static const struct data_set *find_data_set(unsigned int id)
{
	for (size_t i = 0; i < sizeof(data_sets) / sizeof(data_sets[0]); i++)
		if (data_sets[i].id == id)
			return &data_sets[i];
	return NULL;
}

static int fail(const char **reason, const char *text)
{
	*reason = text;
	return -1;
}

static int decode_data(const uint8_t *data, size_t length, struct mgmt_tlv *tlv,
		       const char **reason)
{
	const struct data_set *set = find_data_set(tlv->id);

	tlv->empty = length == 0;
	if (!set || tlv->empty)
		return 0;
	if (length < set->size)
		return fail(reason, "a data set is shorter than its kind");
	if (tlv->id == MGMT_PORT_PROPERTIES_NP && length < 13u + data[12])
		return fail(reason, "the interface's name runs past its TLV");
	set->decode(data, tlv);
	tlv->decoded = true;
	return 0;
}

/* Takes one TLV off `bytes`; returns its length, or -1. */
static int decode_tlv(const uint8_t *bytes, size_t length, struct mgmt_tlv *tlv,
		      const char **reason)
{
	size_t size;

	if (length < 4)
		return fail(reason, "the message ends within a TLV's head");
	size = get16(bytes + 2);
	if (size > length - 4)
		return fail(reason, "a TLV is longer than its message");
	switch (get16(bytes)) {
	case TLV_MANAGEMENT:
		if (size < 2)
			return fail(reason, "a management TLV has no id");
		tlv->kind = MGMT_TLV_DATA;
		tlv->id = get16(bytes + 4);
		if (decode_data(bytes + 6, size - 2, tlv, reason))
			return -1;
		break;
	case TLV_ERROR_STATUS:
		if (size < 4)
			return fail(reason, "an error status is cut off");
		tlv->kind = MGMT_TLV_ERROR;
		tlv->error = get16(bytes + 4);
		tlv->id = get16(bytes + 6);
		break;
	default:
		tlv->kind = MGMT_TLV_OTHER;
		tlv->id = get16(bytes);
	}
	return (int)(4 + size);
}

int mgmt_decode(const uint8_t *bytes, size_t length, struct mgmt_message *message,
		const char **reason)
{
	size_t at = MGMT_HEADER_SIZE;

	memset(message, 0, sizeof(*message));
	if (length < MGMT_HEADER_SIZE)
		return fail(reason, "shorter than a management message's header");
	if ((bytes[0] & 0xf) != MESSAGE_TYPE_MANAGEMENT)
		return fail(reason, "not a management message");
	if ((bytes[1] & 0xf) != PTP_VERSION)
		return fail(reason, "not PTP version 2");
	if (get16(bytes + 2) < MGMT_HEADER_SIZE || get16(bytes + 2) > length)
		return fail(reason, "its length field does not fit the datagram");
	length = get16(bytes + 2);
	message->transport_specific = bytes[0] >> 4;
	message->minor_version = bytes[1] >> 4;
	message->domain = bytes[4];
	get_port_identity(bytes + 20, &message->source);
	message->sequence = get16(bytes + 30);
	get_port_identity(bytes + 34, &message->target);
	message->action = bytes[46] & 0xf;
	while (at < length) {
		int used;

		if (message->tlv_count == MGMT_TLVS_MAX)
			return fail(reason, "more TLVs than a management message has");
		used = decode_tlv(bytes + at, length - at, &message->tlv[message->tlv_count],
				  reason);
		if (used < 0)
			return -1;
		message->tlv_count++;
		at += (size_t)used;
	}
	if (!message->tlv_count)
		return fail(reason, "it carries no TLV");
	return 0;
}

const char *mgmt_id_name(unsigned int id)
{
	const struct data_set *set = find_data_set(id);

	return set ? set->name : "unknown";
}

const char *mgmt_error_name(unsigned int error)
{
	switch (error) {
	case MGMT_RESPONSE_TOO_BIG:
		return "RESPONSE_TOO_BIG";
	case MGMT_NO_SUCH_ID:
		return "NO_SUCH_ID";
	case MGMT_WRONG_LENGTH:
		return "WRONG_LENGTH";
	case MGMT_WRONG_VALUE:
		return "WRONG_VALUE";
	case MGMT_NOT_SETABLE:
		return "NOT_SETABLE";
	case MGMT_NOT_SUPPORTED:
		return "NOT_SUPPORTED";
	case MGMT_GENERAL_ERROR:
		return "GENERAL_ERROR";
	}
	return "unknown";
}

const char *port_state_name(unsigned int state)
{
	static const char *const names[] = {
		"unknown",    "INITIALIZING", "FAULTY",  "DISABLED",     "LISTENING",
		"PRE_MASTER", "MASTER",       "PASSIVE", "UNCALIBRATED", "SLAVE",
	};

	return state < sizeof(names) / sizeof(names[0]) ? names[state] : "unknown";
}

const char *port_timestamping_name(unsigned int mode)
{
	static const char *const names[] = { "software", "hardware", "legacy hardware",
					     "one-step hardware",
					     "peer-to-peer one-step hardware" };

	return mode < sizeof(names) / sizeof(names[0]) ? names[mode] : "unknown";
}

char *format_clock_identity(const uint8_t clock[8], char buffer[CLOCK_IDENTITY_TEXT])
{
	snprintf(buffer, CLOCK_IDENTITY_TEXT, "%02x%02x%02x.%02x%02x.%02x%02x%02x", clock[0],
		 clock[1], clock[2], clock[3], clock[4], clock[5], clock[6], clock[7]);
	return buffer;
}

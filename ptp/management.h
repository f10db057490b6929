/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * IEEE 1588 management messages, as linuxptp 3.1 to 4.x speaks them on its UNIX sockets. Pure: bytes in,
 * structs out; the bytes are hostile.
 *
 * Layout (IEEE 1588-2019, 13.3, 15.4; big-endian): common header 34, targetPortIdentity 10,
 * startingBoundaryHops 1, boundaryHops 1, action 1, reserved 1; then TLVs {type u16, length u16, ...},
 * of which MANAGEMENT (1) is {id u16, data} and MANAGEMENT_ERROR_STATUS (2) {error u16, id u16, 4 reserved}.
 * The data sets ending in _NP are linuxptp's own.
 */
#ifndef PTP_MANAGEMENT_H
#define PTP_MANAGEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MGMT_MESSAGE_MAX 1500 /* ptp4l's own buffer: no message is longer */
#define MGMT_HEADER_SIZE 48
#define MGMT_TLVS_MAX 8 /* of one message; linuxptp sends one, two with authentication */

enum mgmt_action {
	MGMT_GET = 0,
	MGMT_SET = 1,
	MGMT_RESPONSE = 2,
	MGMT_COMMAND = 3,
	MGMT_ACKNOWLEDGE = 4,
};

enum mgmt_id {
	MGMT_DEFAULT_DATA_SET = 0x2000,
	MGMT_CURRENT_DATA_SET = 0x2001,
	MGMT_PARENT_DATA_SET = 0x2002,
	MGMT_TIME_PROPERTIES_DATA_SET = 0x2003,
	MGMT_PORT_DATA_SET = 0x2004,
	MGMT_TIME_STATUS_NP = 0xc000,
	MGMT_PORT_DATA_SET_NP = 0xc002,
	MGMT_SUBSCRIBE_EVENTS_NP = 0xc003,
	MGMT_PORT_PROPERTIES_NP = 0xc004,
	MGMT_PORT_HWCLOCK_NP = 0xc009,
};

/* managementErrorId (IEEE 1588-2019, table 109) */
enum mgmt_error {
	MGMT_RESPONSE_TOO_BIG = 1,
	MGMT_NO_SUCH_ID = 2,
	MGMT_WRONG_LENGTH = 3,
	MGMT_WRONG_VALUE = 4,
	MGMT_NOT_SETABLE = 5,
	MGMT_NOT_SUPPORTED = 6,
	MGMT_GENERAL_ERROR = 0xfffe,
};

/* Bits of SUBSCRIBE_EVENTS_NP. */
#define MGMT_EVENT_PORT_STATE 1 /* PORT_DATA_SET comes when a port's state changes */
#define MGMT_EVENT_TIME_SYNC 2 /* TIME_STATUS_NP comes with each sync */
#define MGMT_EVENT_PARENT_DATA_SET 4 /* PARENT_DATA_SET comes when the master changes (4.x only) */

/* portState (IEEE 1588-2019, table 20) */
enum port_state {
	PORT_UNKNOWN = 0,
	PORT_INITIALIZING = 1,
	PORT_FAULTY = 2,
	PORT_DISABLED = 3,
	PORT_LISTENING = 4,
	PORT_PRE_MASTER = 5,
	PORT_MASTER = 6,
	PORT_PASSIVE = 7,
	PORT_UNCALIBRATED = 8,
	PORT_SLAVE = 9,
};

/* delayMechanism of PORT_DATA_SET */
#define DELAY_E2E 1
#define DELAY_P2P 2

/* timestamping of PORT_PROPERTIES_NP, linuxptp's enum timestamp_type */
enum port_timestamping {
	PORT_STAMPS_SOFTWARE = 0,
	PORT_STAMPS_HARDWARE = 1,
	PORT_STAMPS_LEGACY = 2,
	PORT_STAMPS_ONESTEP = 3,
	PORT_STAMPS_P2P1STEP = 4,
};

struct port_identity {
	uint8_t clock[8];
	uint16_t port;
};

struct clock_quality {
	uint8_t class;
	uint8_t accuracy;
	uint16_t variance; /* offsetScaledLogVariance */
};

struct mgmt_default {
	bool two_step, slave_only;
	uint16_t ports;
	uint8_t priority1, priority2, domain;
	struct clock_quality quality;
	uint8_t clock[8];
};

struct mgmt_current {
	uint16_t steps_removed;
	int64_t offset_ns; /* from master, rounded towards zero from 2^-16 ns */
	int64_t mean_path_delay_ns;
};

struct mgmt_parent {
	struct port_identity parent;
	uint8_t gm_priority1, gm_priority2;
	struct clock_quality gm_quality;
	uint8_t gm[8];
};

struct mgmt_time_properties {
	int16_t utc_offset; /* TAI - UTC, s */
	bool leap61, leap59, utc_offset_valid, ptp_timescale, time_traceable, frequency_traceable;
	uint8_t time_source;
};

struct mgmt_port {
	struct port_identity id;
	uint8_t state; /* enum port_state; may be a number that we do not know */
	int8_t log_sync_interval; /* 2^n s */
	int64_t peer_delay_ns;
	uint8_t delay_mechanism;
	uint8_t version;
};

struct mgmt_time_status {
	int64_t master_offset_ns; /* 0 on a grandmaster */
	int64_t ingress_ns; /* receive time of the last sync, in the time of the stamping clock */
	double rate_ratio; /* of the grandmaster to the local clock, minus 1 */
	bool gm_present; /* false when this clock is its own grandmaster */
	uint8_t gm[8];
};

struct mgmt_port_np {
	uint32_t neighbor_delay_limit_ns;
	bool as_capable;
};

#define MGMT_IFACE_SIZE 64

struct mgmt_port_properties {
	struct port_identity id;
	uint8_t state;
	uint8_t timestamping; /* enum port_timestamping, or unknown */
	char iface
		[MGMT_IFACE_SIZE]; /* printable, NUL-terminated; too long or odd bytes: cut, '?' */
};

struct mgmt_port_hwclock {
	struct port_identity id;
	int32_t phc_index; /* -1: none */
	bool virtual_clock;
};

struct mgmt_subscription {
	uint16_t duration_s;
	uint8_t events; /* MGMT_EVENT_* */
};

/* One TLV of a message. */
struct mgmt_tlv {
	enum {
		MGMT_TLV_DATA,
		MGMT_TLV_ERROR,
		MGMT_TLV_OTHER
	} kind;
	uint16_t id; /* enum mgmt_id or one that we do not know; of an error: what it is about */
	uint16_t error; /* enum mgmt_error, of an error */
	bool empty; /* a management TLV without data (the body of a GET) */
	bool decoded; /* `data` is filled in: id is known and not empty */
	union {
		struct mgmt_default default_ds;
		struct mgmt_current current;
		struct mgmt_parent parent;
		struct mgmt_time_properties time_properties;
		struct mgmt_port port;
		struct mgmt_time_status time_status;
		struct mgmt_port_np port_np;
		struct mgmt_port_properties properties;
		struct mgmt_port_hwclock hwclock;
		struct mgmt_subscription subscription;
	} data;
};

struct mgmt_message {
	uint8_t transport_specific; /* 0: IEEE 1588, 1: IEEE 802.1AS */
	uint8_t minor_version; /* 0: version 2.0 (linuxptp 3.1), 1: version 2.1 (4.x) */
	uint8_t domain;
	uint8_t action; /* enum mgmt_action */
	uint16_t sequence;
	struct port_identity source, target;
	unsigned int tlv_count;
	struct mgmt_tlv tlv[MGMT_TLVS_MAX];
};

/* What a request says about itself. */
struct mgmt_address {
	uint8_t transport_specific; /* 0 to 15 */
	uint8_t domain;
	uint16_t sequence;
	struct port_identity source; /* the asking side's own */
};

/*
 * Encodes a GET of `id` for all ports of the receiving clock (targetPortIdentity all ones, no hops).
 * `buffer` holds at least MGMT_HEADER_SIZE + 6 bytes. Returns the length.
 */
size_t mgmt_encode_get(uint8_t *buffer, const struct mgmt_address *from, uint16_t id);

/*
 * Encodes a SET of SUBSCRIBE_EVENTS_NP: `events` is MGMT_EVENT_*, 0 ends the subscription; duration in
 * seconds. `buffer` holds at least MGMT_SUBSCRIBE_SIZE bytes. Returns the length.
 */
#define MGMT_SUBSCRIBE_SIZE (MGMT_HEADER_SIZE + 6 + 66)
size_t mgmt_encode_subscribe(uint8_t *buffer, const struct mgmt_address *from, uint16_t duration_s,
			     unsigned int events);

/*
 * Decodes a message. Returns 0, or -1 with a static text in `*reason` ("TLV cut off after ..."). A data
 * set longer than the one known is taken (newer linuxptp), a shorter one refused.
 */
int mgmt_decode(const uint8_t *bytes, size_t length, struct mgmt_message *message,
		const char **reason);

/* Names as linuxptp's pmc prints them; unknown numbers: "unknown". */
const char *mgmt_id_name(unsigned int id);
const char *mgmt_error_name(unsigned int error);
const char *port_state_name(unsigned int state);
const char *port_timestamping_name(unsigned int mode); /* "hardware", "software", ... */

/* "0200ca.fffe.000001", as pmc prints a clock identity. Returns `buffer`. */
#define CLOCK_IDENTITY_TEXT 20
char *format_clock_identity(const uint8_t clock[8], char buffer[CLOCK_IDENTITY_TEXT]);

#endif

// SPDX-License-Identifier: GPL-2.0-only
/* The codec of management messages, on answers of a real ptp4l 3.1.1 and on damaged ones. */
#include "cmocka_all.h"

#include <stdio.h>
#include <string.h>

#include "ptp/management.h"

/* header of an answer to the client 0274736e70756200-1, domain 0 */
#define HEAD(length, source_port, sequence)                                                   \
	"0d02" length "00000000000000000000000000000000da6830fffe7364e5" source_port sequence \
	"047f0274736e7075620000010000"

static size_t unhex(const char *hex, uint8_t *bytes)
{
	size_t length = strlen(hex) / 2;

	for (size_t i = 0; i < length; i++) {
		unsigned int byte;

		assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
		bytes[i] = (uint8_t)byte;
	}
	return length;
}

static struct mgmt_message decode(const char *hex)
{
	uint8_t bytes[MGMT_MESSAGE_MAX];
	struct mgmt_message message;
	const char *reason = "";

	if (mgmt_decode(bytes, unhex(hex, bytes), &message, &reason))
		fail_msg("%s: %s", hex, reason);
	return message;
}

static void refuse(const char *hex, const char *expected)
{
	uint8_t bytes[MGMT_MESSAGE_MAX];
	struct mgmt_message message;
	const char *reason = "";

	if (!mgmt_decode(bytes, unhex(hex, bytes), &message, &reason))
		fail_msg("%s was taken", hex);
	assert_string_equal(reason, expected);
}

static void a_get_is_what_the_standard_says(void **state)
{
	const struct mgmt_address from = { .transport_specific = 1,
					   .domain = 20,
					   .sequence = 0x8001,
					   .source = { { 1, 2, 3, 4, 5, 6, 7, 8 }, 0x1122 } };
	uint8_t bytes[MGMT_MESSAGE_MAX], expected[MGMT_MESSAGE_MAX];
	size_t length = unhex("1d02003614000000000000000000000000000000" /* to reserved2 */
			      "01020304050607081122800104"
			      "7fffffffffffffffffffff00000000"
			      "00010002c000",
			      expected);

	(void)state;
	assert_int_equal(mgmt_encode_get(bytes, &from, MGMT_TIME_STATUS_NP), length);
	assert_memory_equal(bytes, expected, length);
}

static void a_subscription_decodes_to_itself(void **state)
{
	const struct mgmt_address from = { .sequence = 7, .source = { { 9 }, 3 } };
	uint8_t bytes[MGMT_SUBSCRIBE_SIZE];
	struct mgmt_message message;
	const char *reason = "";
	size_t length = mgmt_encode_subscribe(bytes, &from, 180,
					      MGMT_EVENT_PORT_STATE | MGMT_EVENT_TIME_SYNC);

	(void)state;
	assert_int_equal(length, sizeof(bytes));
	assert_int_equal(mgmt_decode(bytes, length, &message, &reason), 0);
	assert_int_equal(message.action, MGMT_SET);
	assert_int_equal(message.sequence, 7);
	assert_int_equal(message.source.port, 3);
	assert_int_equal(message.target.port, 0xffff);
	assert_int_equal(message.tlv_count, 1);
	assert_true(message.tlv[0].decoded);
	assert_int_equal(message.tlv[0].data.subscription.duration_s, 180);
	assert_int_equal(message.tlv[0].data.subscription.events, 3);
}

static void the_clocks_data_sets(void **state)
{
	struct mgmt_message m = decode(
		HEAD("004a", "0000", "0007") "0200000100162000"
					     "0300000180fffeffff80da6830fffe7364e50000");
	char text[CLOCK_IDENTITY_TEXT];

	(void)state;
	assert_int_equal(m.action, MGMT_RESPONSE);
	assert_int_equal(m.sequence, 7);
	assert_int_equal(m.minor_version, 0);
	assert_int_equal(m.target.port, 1);
	assert_string_equal(format_clock_identity(m.source.clock, text), "da6830.fffe.7364e5");
	assert_int_equal(m.tlv[0].id, MGMT_DEFAULT_DATA_SET);
	assert_true(m.tlv[0].data.default_ds.two_step);
	assert_true(m.tlv[0].data.default_ds.slave_only);
	assert_int_equal(m.tlv[0].data.default_ds.ports, 1);
	assert_int_equal(m.tlv[0].data.default_ds.priority1, 128);
	assert_int_equal(m.tlv[0].data.default_ds.quality.class, 255);
	assert_int_equal(m.tlv[0].data.default_ds.domain, 0);

	/* offsets are in 2^-16 ns: fffffffffb020000 is -1278 ns, 0bd90000 is 3033 ns */
	m = decode(HEAD("0048", "0000", "0008") "0200000100142001"
						"0001fffffffffb020000000000000bd90000");
	assert_int_equal(m.tlv[0].data.current.steps_removed, 1);
	assert_int_equal(m.tlv[0].data.current.offset_ns, -1278);
	assert_int_equal(m.tlv[0].data.current.mean_path_delay_ns, 3033);

	m = decode(HEAD("0056", "0000",
			"0009") "0200000100222002"
				"5e60d1fffe5ee59900010000ffff7fffffff80f8feffff805e60d1fffe5ee599");
	assert_int_equal(m.tlv[0].data.parent.parent.port, 1);
	assert_int_equal(m.tlv[0].data.parent.gm_quality.class, 248);
	assert_int_equal(m.tlv[0].data.parent.gm_priority2, 128);
	assert_string_equal(format_clock_identity(m.tlv[0].data.parent.gm, text),
			    "5e60d1.fffe.5ee599");

	m = decode(HEAD("003a", "0000", "000a") "0200000100062003"
						"003c1fa0"); /* 60 s, all but frequency traceable */
	assert_int_equal(m.tlv[0].data.time_properties.utc_offset, 60);
	assert_true(m.tlv[0].data.time_properties.leap61);
	assert_true(m.tlv[0].data.time_properties.leap59);
	assert_true(m.tlv[0].data.time_properties.utc_offset_valid);
	assert_true(m.tlv[0].data.time_properties.ptp_timescale);
	assert_true(m.tlv[0].data.time_properties.time_traceable);
	assert_false(m.tlv[0].data.time_properties.frequency_traceable);

	m = decode(
		HEAD("0068", "0000", "000c") "020000010034c000"
					     "fffffffffffffb0218ecc8312780e95b00000400000000000000"
					     "000000000000000000000000000000015e60d1fffe5ee599");
	assert_int_equal(m.tlv[0].data.time_status.master_offset_ns, -1278);
	assert_int_equal(m.tlv[0].data.time_status.ingress_ns, 0x18ecc8312780e95bLL);
	assert_true(m.tlv[0].data.time_status.gm_present);
	assert_float_equal(m.tlv[0].data.time_status.rate_ratio, 1024 / 2199023255552.0, 1e-15);
}

static void the_ports_data_sets(void **state)
{
	struct mgmt_message m = decode(HEAD("0050", "0001", "000b") "02000001001c2004"
								    "da6830fffe7364e50001"
								    "09000000000003e8000001"
								    "03fd020002");

	(void)state;
	assert_int_equal(m.tlv[0].data.port.id.port, 1);
	assert_int_equal(m.tlv[0].data.port.state, PORT_SLAVE);
	assert_int_equal(m.tlv[0].data.port.peer_delay_ns, 1000);
	assert_int_equal(m.tlv[0].data.port.log_sync_interval, -3);
	assert_int_equal(m.tlv[0].data.port.delay_mechanism, DELAY_P2P);

	m = decode(HEAD("003e", "0001", "000d") "02000001000ac002"
						"01312d0000000001");
	assert_int_equal(m.tlv[0].data.port_np.neighbor_delay_limit_ns, 20000000);
	assert_true(m.tlv[0].data.port_np.as_capable);

	m = decode(HEAD("0046", "0001", "000e") "020000010012c004"
						"da6830fffe7364e50001"
						"0800"
						"02763100");
	assert_int_equal(m.tlv[0].data.properties.state, PORT_UNCALIBRATED);
	assert_int_equal(m.tlv[0].data.properties.timestamping, PORT_STAMPS_SOFTWARE);
	assert_string_equal(m.tlv[0].data.properties.iface, "v1");

	/* linuxptp 4, PTP 2.1 */
	m = decode("0d12"
		   "0046"
		   "00000000000000000000000000000000da6830fffe7364e50001000e"
		   "047f0274736e7075620000010000"
		   "020000010012c009"
		   "da6830fffe7364e50001"
		   "000000030100");
	assert_int_equal(m.minor_version, 1);
	assert_int_equal(m.tlv[0].data.hwclock.phc_index, 3);
	assert_true(m.tlv[0].data.hwclock.virtual_clock);
}

static void an_error_status_names_what_it_is_about(void **state)
{
	struct mgmt_message m = decode(HEAD("003c", "0001", "000f") "0200000200080002"
								    "c00900000000");

	(void)state;
	assert_int_equal(m.tlv[0].kind, MGMT_TLV_ERROR);
	assert_int_equal(m.tlv[0].error, MGMT_NO_SUCH_ID);
	assert_int_equal(m.tlv[0].id, MGMT_PORT_HWCLOCK_NP);
	assert_string_equal(mgmt_error_name(m.tlv[0].error), "NO_SUCH_ID");
}

static void several_tlvs_and_longer_data_sets_are_taken(void **state)
{
	/* time properties with two octets more, then an authentication TLV (0x8009), then a GET's body */
	struct mgmt_message m = decode(HEAD("0048", "0000", "0001") "0200000100082003"
								    "0025"
								    "0ca0"
								    "beef"
								    "80090002aaaa"
								    "000100022004");

	(void)state;
	assert_int_equal(m.tlv_count, 3);
	assert_int_equal(m.tlv[0].data.time_properties.utc_offset, 37);
	assert_true(m.tlv[0].data.time_properties.ptp_timescale);
	assert_int_equal(m.tlv[1].kind, MGMT_TLV_OTHER);
	assert_int_equal(m.tlv[2].id, MGMT_PORT_DATA_SET);
	assert_true(m.tlv[2].empty);
	assert_false(m.tlv[2].decoded);
}

static void interface_names_are_made_printable_and_cut(void **state)
{
	char hex[1024] = HEAD("00c5", "0001", "0001") "020000010091c004"
						      "da6830fffe7364e500010801"
						      "82"; /* 130 characters */
	struct mgmt_message m;

	(void)state;
	strcat(hex, "1b5b"); /* an escape sequence */
	for (int i = 0; i < 128; i++)
		strcat(hex, "61");
	m = decode(hex);
	assert_int_equal(strlen(m.tlv[0].data.properties.iface), MGMT_IFACE_SIZE - 1);
	assert_memory_equal(m.tlv[0].data.properties.iface, "?[aaa", 5);
}

static void damaged_messages_are_refused_by_reason(void **state)
{
	(void)state;
	refuse("", "shorter than a management message's header");
	refuse("0d02004a", "shorter than a management message's header");
	refuse("00"
	       "02"
	       "0030"
	       "0000000000000000000000000000000000000000000000000000000000000000"
	       "000000000000000000000000",
	       "not a management message");
	refuse("0d"
	       "01"
	       "0030"
	       "0000000000000000000000000000000000000000000000000000000000000000"
	       "000000000000000000000000",
	       "not PTP version 2");
	refuse(HEAD("ffff", "0000", "0001") "0200000100062003003c1fa0",
	       "its length field does not fit the datagram");
	refuse(HEAD("002f", "0000", "0001") "0200000100062003003c1fa0",
	       "its length field does not fit the datagram");
	refuse(HEAD("0030", "0000", "0001") "02000001", "it carries no TLV");
	refuse(HEAD("0033", "0000", "0001") "0200"
					    "000100",
	       "the message ends within a TLV's head");
	refuse(HEAD("003a", "0000", "0001") "0200000100082003003c1fa0",
	       "a TLV is longer than its message");
	refuse(HEAD("0035", "0000", "0001") "02000001000120", "a management TLV has no id");
	refuse(HEAD("0038", "0000", "0001") "0200000100042003003c",
	       "a data set is shorter than its kind");
	refuse(HEAD("0036", "0000", "0001") "0200"
					    "000200020002",
	       "an error status is cut off");
	/* a name of 255 characters in a TLV with room for two */
	refuse(HEAD("0046", "0001", "0001") "020000010012c004"
					    "da6830fffe7364e500010801"
					    "ff763100",
	       "the interface's name runs past its TLV");
	refuse(HEAD("0046", "0001", "0001") "020000010012c004"
					    "da6830fffe7364e500010801"
					    "04763100",
	       "the interface's name runs past its TLV");
	refuse(HEAD("0066", "0000",
		    "0001") "0200"
			    "000100022004000100022004000100022004000100022004000100022004"
			    "000100022004000100022004000100022004000100022004",
	       "more TLVs than a management message has");
}

static void unknown_numbers_have_a_name(void **state)
{
	(void)state;
	assert_string_equal(port_state_name(10), "unknown");
	assert_string_equal(port_state_name(9), "SLAVE");
	assert_string_equal(port_timestamping_name(77), "unknown");
	assert_string_equal(mgmt_id_name(0x1234), "unknown");
	assert_string_equal(mgmt_error_name(99), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_get_is_what_the_standard_says),
		cmocka_unit_test(a_subscription_decodes_to_itself),
		cmocka_unit_test(the_clocks_data_sets),
		cmocka_unit_test(the_ports_data_sets),
		cmocka_unit_test(an_error_status_names_what_it_is_about),
		cmocka_unit_test(several_tlvs_and_longer_data_sets_are_taken),
		cmocka_unit_test(interface_names_are_made_printable_and_cut),
		cmocka_unit_test(damaged_messages_are_refused_by_reason),
		cmocka_unit_test(unknown_numbers_have_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

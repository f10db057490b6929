// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whatever a peer on ptp4l's socket sends: decoded, taken into a snapshot, judged, printed. Inputs that begin
 * with '#' are hexadecimal text, so that the corpus can be read.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptp/management.h"
#include "ptp/steering.h"
#include "ptp/sync.h"
#include "ptp/sync_record.h"
#include "ptp/sync_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int digit(uint8_t c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static size_t from_hex(const uint8_t *text, size_t size, uint8_t *bytes, size_t max)
{
	size_t count = 0;

	for (size_t i = 1; i + 1 < size && count < max; i++) {
		if (digit(text[i]) < 0 || digit(text[i + 1]) < 0)
			continue;
		bytes[count++] = (uint8_t)(digit(text[i]) << 4 | digit(text[i + 1]));
		i++;
	}
	return count;
}

static void take(struct sync_snapshot *s, const struct mgmt_tlv *tlv)
{
	struct sync_port *port = &s->ports[0];

	switch (tlv->id) {
	case MGMT_DEFAULT_DATA_SET:
		s->default_ds = tlv->data.default_ds;
		s->have_default = true;
		break;
	case MGMT_CURRENT_DATA_SET:
		s->current = tlv->data.current;
		s->have_current = true;
		break;
	case MGMT_PARENT_DATA_SET:
		s->parent = tlv->data.parent;
		s->have_parent = true;
		break;
	case MGMT_TIME_PROPERTIES_DATA_SET:
		s->time_properties = tlv->data.time_properties;
		s->have_time_properties = true;
		break;
	case MGMT_TIME_STATUS_NP:
		s->time_status = tlv->data.time_status;
		s->have_time_status = true;
		s->have_ingress_age = true;
		s->ingress_age_ns = tlv->data.time_status.ingress_ns;
		break;
	case MGMT_PORT_DATA_SET:
		port->ds = tlv->data.port;
		s->port_count = 1;
		break;
	case MGMT_PORT_DATA_SET_NP:
		port->np = tlv->data.port_np;
		port->have_np = true;
		break;
	case MGMT_PORT_PROPERTIES_NP:
		port->properties = tlv->data.properties;
		port->have_properties = s->port_names_known = true;
		break;
	case MGMT_PORT_HWCLOCK_NP:
		port->hwclock = tlv->data.hwclock;
		port->have_hwclock = true;
		break;
	}
}

static void judge_and_print(struct sync_snapshot *s)
{
	static FILE *nowhere;
	static struct sync_report report;
	const struct sync_bars bars = { 0 };
	struct sync_record record;
	char text[512];
	json_t *document;

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	/* complete, so that one message reaches the rows that need several data sets */
	s->have_default = s->have_time_status = true;
	s->port_count = s->port_count ? s->port_count : 1;
	s->phc_index = 1;
	s->have_phc = true;
	s->phc.tai_offset_ns = s->time_status.master_offset_ns / 2;
	sync_judge(s, &bars, &report);
	sync_print_table(nowhere, s, &report);
	sync_first_wrong(&report, text, sizeof(text));
	sync_record_make(s, &report, 1, &record);
	sync_uncertainty_ns(s);
	document = sync_to_json(s, &report);
	if (json_dumpf(document, nowhere, 0)) /* it must stay valid UTF-8 */
		abort();
	json_decref(document);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct sync_snapshot snapshot;
	uint8_t bytes[MGMT_MESSAGE_MAX];
	struct mgmt_message message;
	struct steerer steerer;
	char cmdline[512];
	const char *reason = NULL;

	if (size && data[0] == '#') {
		size = from_hex(data, size, bytes, sizeof(bytes));
		data = bytes;
	}
	if (size < sizeof(cmdline)) {
		memcpy(cmdline, data, size);
		cmdline[size] = '\0'; /* as it is read from /proc */
		steerer_recognise("phc2sys", cmdline, (int)size, ~0ULL, &steerer);
	}
	if (mgmt_decode(data, size, &message, &reason)) {
		if (!reason)
			abort();
		return 0;
	}
	memset(&snapshot, 0, sizeof(snapshot));
	for (unsigned int i = 0; i < message.tlv_count; i++)
		if (message.tlv[i].decoded)
			take(&snapshot, &message.tlv[i]);
	judge_and_print(&snapshot);
	return 0;
}

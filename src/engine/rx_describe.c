// SPDX-License-Identifier: GPL-2.0-only
#include "engine/rx_describe.h"

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "data/description.h"
#include "data/selection.h"
#include "host/ethtool.h"

_Static_assert(SELECTION_STREAMS == RX_STREAM_FILTERS, "--stream");

json_t *rx_describe(const struct rx_session_options *options, const struct receiver_setup *setup,
		    const struct link_info *link, const char *sync)
{
	const struct receiver_options *receiver = &options->receiver;
	json_t *description = describe_run(options->argv);
	struct ethtool_driver driver;
	struct error ignored = ERROR_INIT;
	char text[MAC_TEXT];
	struct selection selection = { .one_run = receiver->has_run,
				       .run = receiver->run,
				       .stream_count = receiver->stream_count };
	json_t *values = json_object();

	if (!description || !values) {
		json_decref(values);
		return description;
	}
	memcpy(selection.streams, receiver->streams, sizeof(selection.streams));
	json_object_set_new(description, "interface", json_string(receiver->ifname));
	if (!ethtool_driver(receiver->ifname, &driver, &ignored))
		json_object_set_new(description, "driver", json_string(driver.name));
	json_object_set_new(description, "mac", json_string(format_mac(link->mac, text)));
	json_object_set_new(description, "stamps", json_string(source_name(setup->software)));
	json_object_set_new(description, "path", json_string(setup->text));
	json_object_set_new(description, "sync", json_string(sync));
	if (options->deadline_ns)
		json_object_set_new(values, "deadline_ns", json_integer(options->deadline_ns));
	if (options->sla > 0)
		json_object_set_new(values, "sla_ppb",
				    json_integer((json_int_t)llround(options->sla * 1e9)));
	json_object_set_new(values, "ethertype", json_integer(receiver->ethertype));
	selection_write(&selection, values);
	json_object_set_new(values, "pass", json_boolean(receiver->pass));
	json_object_set_new(description, "options", values);
	return description;
}

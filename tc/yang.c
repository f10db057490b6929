// SPDX-License-Identifier: GPL-2.0-only
#include "tc/yang.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "tc/tc_headers.h"

#define TABLE "ieee802-dot1q-sched-bridge:gate-parameter-table"
#define PORT "ieee802-dot1q-bridge:bridge-port"
#define SET_GATES "ieee802-dot1q-sched:set-gate-states"

/* 64-bit numbers are strings in RFC 7951's JSON. */
static json_t *big(uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return json_string(text);
}

json_t *yang_export(const struct schedule *schedule, int64_t base_ns)
{
	json_t *entries = json_array(), *limits = json_array(), *table;
	int64_t divisor = NSEC_PER_SEC, a = schedule->cycle_ns;

	for (unsigned i = 0; i < schedule->gate_count; i++)
		json_array_append_new(entries,
				      json_pack("{s:i, s:s, s:I, s:i}", "index", (int)i,
						"operation-name", SET_GATES, "time-interval-value",
						(json_int_t)schedule->gates[i].duration_ns,
						"gate-states-value",
						(int)(schedule->gates[i].open & 0xff)));
	for (unsigned c = 0; c < schedule->class_count && c < YANG_CLASSES_MAX; c++)
		if (schedule->classes[c].max_frame)
			json_array_append_new(
				limits,
				json_pack("{s:i, s:i}", "traffic-class", (int)c, "queue-max-sdu",
					  (int)(schedule->classes[c].max_frame - ETH_HEADER)));
	/* in lowest terms, so that both fit 32 bits */
	for (int64_t b = NSEC_PER_SEC; b;) {
		int64_t rest = a % b;

		a = b;
		b = rest;
		divisor = a;
	}
	table = json_pack("{s:b, s:i, s:{s:o}, s:{s:I, s:I}, s:I, s:{s:o, s:i}, s:b}",
			  "gate-enabled", 1, "admin-gate-states", 255, "admin-control-list",
			  "gate-control-entry", entries, "admin-cycle-time", "numerator",
			  (json_int_t)(schedule->cycle_ns / divisor), "denominator",
			  (json_int_t)(NSEC_PER_SEC / divisor), "admin-cycle-time-extension",
			  (json_int_t)schedule->extension_ns, "admin-base-time", "seconds",
			  big((uint64_t)(base_ns / NSEC_PER_SEC)), "nanoseconds",
			  (int)(base_ns % NSEC_PER_SEC), "config-change", 1);
	if (json_array_size(limits))
		json_object_set(table, "queue-max-sdu-table", limits);
	json_decref(limits);
	return json_pack("{s:{s:[{s:s, s:s, s:{s:o}}]}}", "ietf-interfaces:interfaces", "interface",
			 "name", schedule->interface, "type", "iana-if-type:ethernetCsmacd", PORT,
			 TABLE, table);
}

struct import {
	const char *name;
	struct error *err;
};

/* A member by its name, with or without the module's in front of it. */
static json_t *member(const json_t *object, const char *name)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value)
	{
		const char *colon = strchr(key, ':');

		if (!strcmp(key, name) || (colon && !strcmp(colon + 1, name)))
			return value;
	}
	return NULL;
}

static int number(const struct import *import, const json_t *object, const char *what, uint64_t max,
		  uint64_t *value)
{
	const json_t *found = member(object, what);
	char text[24], label[320];

	if (!found)
		return error_input(import->err, "%s: %s is missing; add it", import->name, what);
	snprintf(label, sizeof(label), "%s: %s", import->name, what);
	if (json_is_integer(found) && json_integer_value(found) >= 0)
		snprintf(text, sizeof(text), "%lld", (long long)json_integer_value(found));
	else if (json_is_string(found))
		snprintf(text, sizeof(text), "%.23s", json_string_value(found));
	else
		return error_input(import->err, "%s: not a whole number of 0 or more; write one",
				   label);
	return parse_number(label, text, 0, max, value, import->err);
}

static int read_entry(const struct import *import, const json_t *entry, size_t i,
		      struct schedule *schedule)
{
	const json_t *operation = member(entry, "operation-name"),
		     *inner = member(entry, "sgs-params");
	const char *name = json_string_value(operation);
	const json_t *values = inner ? inner : entry;
	struct import of_entry = *import;
	uint64_t states, interval;
	char what[160];

	if (!name || !(strstr(name, "set-gate-states") || strstr(name, "set-gates-states")))
		return error_input(import->err,
				   "%s: entry %zu: operation '%.40s' is not set-gate-states; hold "
				   "and release are not "
				   "supported",
				   import->name, i, name ? name : "");
	snprintf(what, sizeof(what), "%s: entry %zu", import->name, i);
	of_entry.name = what;
	if (number(&of_entry, values, "gate-states-value", 255, &states) ||
	    number(&of_entry, values, "time-interval-value", UINT32_MAX, &interval))
		return -1;
	/* all-open lists name eight classes; those that are not there cannot matter, unless they alone are meant */
	if (states && schedule->class_count < 8 && !(states & ((1U << schedule->class_count) - 1)))
		return error_input(import->err,
				   "%s: entry %zu: gate-states-value %llu opens only classes that "
				   "the file does not have (it "
				   "has %u); add classes to it",
				   import->name, i, (unsigned long long)states,
				   schedule->class_count);
	schedule->gates[schedule->gate_count++] = (struct gate){
		(uint32_t)states & ((1U << schedule->class_count) - 1), (int64_t)interval
	};
	return 0;
}

static int read_gates(const struct import *import, const json_t *table, struct schedule *schedule)
{
	const json_t *list = member(table, "admin-control-list"), *entries;
	size_t i, count;
	json_t *entry;

	entries = json_is_array(list) ? list : member(list, "gate-control-entry");
	count = json_array_size(entries);
	if (!count)
		return error_input(
			import->err,
			"%s: admin-control-list has no gate-control-entry; add one for each gate",
			import->name);
	if (count > SCHEDULE_GATES_MAX)
		return error_input(
			import->err,
			"%s: %zu gates; at most %d, since the kernel could not show more",
			import->name, count, SCHEDULE_GATES_MAX);
	schedule->gate_count = 0;
	schedule->plan_gates = false;
	json_array_foreach((json_t *)entries, i, entry)
	{
		/* entries are in order of their index, as they should be, or refused */
		uint64_t index = i;

		if (member(entry, "index") &&
		    (number(import, entry, "index", UINT32_MAX, &index) || index != i))
			return error_input(import->err,
					   "%s: entry %zu: index %llu is out of order; number them "
					   "from 0 as they follow",
					   import->name, i, (unsigned long long)index);
		if (read_entry(import, entry, i, schedule))
			return -1;
	}
	return 0;
}

static int read_times(const struct import *import, const json_t *table, struct schedule *schedule)
{
	const json_t *cycle = member(table, "admin-cycle-time"),
		     *base = member(table, "admin-base-time");
	uint64_t numerator, denominator, seconds, value = 0;

	if (number(import, cycle, "numerator", UINT32_MAX, &numerator) ||
	    number(import, cycle, "denominator", UINT32_MAX, &denominator))
		return -1;
	if (!numerator || !denominator || (__int128)numerator * NSEC_PER_SEC % denominator)
		return error_input(import->err,
				   "%s: admin-cycle-time %llu/%llu s is no whole number of "
				   "nanoseconds; write a fraction that is one, such as 1/1000",
				   import->name, (unsigned long long)numerator,
				   (unsigned long long)denominator);
	schedule->cycle_ns = (int64_t)((__int128)numerator * NSEC_PER_SEC / denominator);
	schedule->extension_ns = 0;
	if (member(table, "admin-cycle-time-extension")) {
		if (number(import, table, "admin-cycle-time-extension", UINT32_MAX, &value))
			return -1;
		schedule->extension_ns = (int64_t)value;
	}
	schedule->base_kind = BASE_AUTO;
	schedule->base_ns = 0;
	if (!base)
		return 0;
	if (number(import, base, "seconds", INT64_MAX / NSEC_PER_SEC - 1, &seconds))
		return -1;
	value = 0;
	if (member(base, "nanoseconds") &&
	    number(import, base, "nanoseconds", NSEC_PER_SEC - 1, &value))
		return -1;
	if (member(base, "fractional-seconds") &&
	    (number(import, base, "fractional-seconds", UINT64_MAX, &value) || value))
		return error_input(import->err,
				   "%s: fractional-seconds other than 0 (of drafts) are not read; "
				   "write nanoseconds",
				   import->name);
	schedule->base_kind = BASE_ABSOLUTE;
	schedule->base_ns = (int64_t)seconds * NSEC_PER_SEC + (int64_t)value;
	return 0;
}

static int read_limits(const struct import *import, const json_t *table, struct schedule *schedule)
{
	const json_t *list = member(table, "queue-max-sdu-table");
	json_t *entry;
	size_t i;

	json_array_foreach((json_t *)list, i, entry)
	{
		uint64_t class, limit;

		if (number(import, entry, "traffic-class", 7, &class) ||
		    number(import, entry, "queue-max-sdu", 65535, &limit))
			return -1;
		if (limit && limit < FRAME_SIZE_MIN - ETH_HEADER)
			return error_input(import->err,
					   "%s: queue-max-sdu %llu: no frame is so short; write "
					   "%d or more, or 0 for no limit",
					   import->name, (unsigned long long)limit,
					   FRAME_SIZE_MIN - ETH_HEADER);
		if (class < schedule->class_count)
			/* beyond any frame it is no limit */
			schedule->classes[class].max_frame =
				limit && limit + ETH_HEADER <= SCHEDULE_FRAME_MAX
					? (uint32_t)limit + ETH_HEADER
					: 0;
	}
	return 0;
}

static const json_t *table_of(const json_t *interface)
{
	const json_t *port = member(interface, "bridge-port"), *table;

	table = member(port, "gate-parameter-table");
	return table ? table : member(interface, "gate-parameters");
}

static const json_t *find_table(const struct import *import, const json_t *root,
				const struct schedule *schedule)
{
	const json_t *list = member(member(root, "interfaces"), "interface"), *found = NULL;
	unsigned tables = 0;
	json_t *interface;
	size_t i;

	if (!list)
		list = member(root, "interface");
	json_array_foreach((json_t *)list, i, interface)
	{
		const char *name = json_string_value(member(interface, "name"));

		if (!table_of(interface))
			continue;
		tables++;
		if (tables == 1 || (name && !strcmp(name, schedule->interface)))
			found = table_of(interface);
		if (name && !strcmp(name, schedule->interface))
			return found;
	}
	if (!found)
		found = member(root, "gate-parameter-table");
	if (!found)
		found = member(root, "gate-parameters");
	if (!found)
		error_input(import->err,
			    "%s: no gate parameters: ietf-interfaces:interfaces, interface, " PORT
			    ", " TABLE " is missing; is it the right file? `tsnpub schedule plan "
			    "--export` writes such ones",
			    import->name);
	else if (tables > 1) {
		error_input(import->err,
			    "%s: gate parameters of %u interfaces, none of them '%s'; name one of "
			    "them in the YAML file",
			    import->name, tables, schedule->interface);
		return NULL;
	}
	return found;
}

int yang_import(const char *name, const char *text, size_t size, struct schedule *schedule,
		struct error *err)
{
	struct import import = { name, err };
	struct schedule *changed = malloc(sizeof(*changed));
	const json_t *table, *enabled;
	json_error_t reason;
	json_t *root = NULL;
	int result = -1;

	if (!changed)
		return error_errno(err, ENOMEM, "%s", name);
	*changed = *schedule;
	if (size > YANG_SIZE_MAX) {
		error_input(err, "%s: larger than %d KiB; is it the right file?", name,
			    YANG_SIZE_MAX >> 10);
		goto out;
	}
	root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &reason);
	if (!root) {
		error_input(err, "%s: line %d: not JSON: %s", name, reason.line, reason.text);
		goto out;
	}
	table = find_table(&import, root, schedule);
	if (!table)
		goto out;
	enabled = member(table, "gate-enabled");
	if (json_is_false(enabled) ||
	    (json_is_string(enabled) && !strcmp(json_string_value(enabled), "false"))) {
		error_input(err,
			    "%s: gate-enabled is false: nothing to install; `tsnpub schedule "
			    "clear` takes gates away",
			    name);
		goto out;
	}
	if (read_gates(&import, table, changed) || read_times(&import, table, changed) ||
	    read_limits(&import, table, changed))
		goto out;
	*schedule = *changed;
	result = 0;
out:
	json_decref(root);
	free(changed);
	return result;
}

int yang_import_file(const char *path, struct schedule *schedule, struct error *err)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "re") : stdin;
	char *text = malloc(YANG_SIZE_MAX + 1);
	size_t size;
	int result = -1;

	if (!file) {
		error_errno(err, errno, "%s: cannot be opened", path);
		err->status = STATUS_INPUT;
	} else if (!text) {
		error_errno(err, ENOMEM, "%s", path);
	} else {
		size = fread(text, 1, YANG_SIZE_MAX + 1, file);
		result = ferror(file) ? error_input(err, "%s: cannot be read; name a file", path)
				      : yang_import(path, text, size, schedule, err);
	}
	if (file && file != stdin)
		fclose(file);
	free(text);
	return result;
}

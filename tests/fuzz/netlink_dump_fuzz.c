// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as the kernel's answers to a dump of qdiscs and classes. An input that begins with 'x' is hexadecimal text, so
 * that the seeds can be read.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host/qdisc.h"
#include "tc/fit.h"
#include "tc/installed.h"
#include "tc/snapshot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is kept of them to be put back: the same as itself, also by way of the record. */
static void keep_messages(struct snapshot *snapshot)
{
	static struct snapshot again;
	static struct qdisc qdiscs[SNAPSHOT_MESSAGES_MAX];
	struct qdisc_list list = { 0, qdiscs };
	char text[160];
	json_t *json;

	snapshot_obstacle(snapshot);
	snapshot_text(snapshot, text);
	if (snapshot_difference(snapshot, snapshot, text))
		abort();
	json = snapshot_to_json(snapshot);
	if (json && !snapshot_from_json(json, &again)) {
		if (snapshot_difference(snapshot, &again, text))
			abort();
		snapshot_free(&again);
	}
	json_decref(json);
	for (unsigned i = 0; i < snapshot->count; i++)
		if (!qdisc_parse((const struct nlmsghdr *)snapshot->list[i].bytes,
				 &qdiscs[list.count]))
			list.count++;
	for (unsigned p = 0; p < 16; p++)
		qdisc_path_of(&list, p);
	qdisc_etf_priorities(&list);
}

static bool has_place_of(const struct snapshot *snapshot, const struct nlmsghdr *message)
{
	struct qdisc one, other;

	if (qdisc_parse(message, &one))
		return false;
	for (unsigned i = 0; i < snapshot->count; i++)
		if (!qdisc_parse((const struct nlmsghdr *)snapshot->list[i].bytes, &other) &&
		    one.handle == other.handle && one.parent == other.parent)
			return true;
	return false;
}

static void take_messages(const uint8_t *data, size_t size)
{
	static struct snapshot snapshot;
	static struct installed installed;
	static struct schedule schedule;
	static struct window windows[SCHEDULE_GATES_MAX];
	size_t at = 0;

	memset(&installed, 0, sizeof(installed));
	while (at + sizeof(struct nlmsghdr) <= size) {
		struct nlmsghdr head;
		size_t length;
		void *copy;

		memcpy(&head, data + at, sizeof(head));
		length = head.nlmsg_len;
		if (length < sizeof(head) || length > size - at)
			break;
		/* its own block, so that a read beyond its end is seen */
		copy = malloc(length);
		if (!copy)
			break;
		memcpy(copy, data + at, length);
		installed_take(&installed, copy);
		/* a kernel has one qdisc in a place: two are told apart by no name */
		if (snapshot.count == SNAPSHOT_MESSAGES_MAX || has_place_of(&snapshot, copy))
			free(copy);
		else
			snapshot.list[snapshot.count++] = (struct snapshot_message){ length, copy };
		at += NLMSG_ALIGN(length);
	}
	keep_messages(&snapshot);
	snapshot_free(&snapshot);
	for (int admin = 0; admin < 2; admin++)
		if (!installed_schedule(&installed, admin, NULL, &schedule))
			for (unsigned c = 0; c < schedule.class_count; c++)
				schedule_windows(&schedule, c, windows, SCHEDULE_GATES_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *bytes;
	size_t count = 0;

	if (!size || data[0] != 'x') {
		take_messages(data, size);
		return 0;
	}
	bytes = malloc(size);
	if (!bytes)
		return 0;
	for (size_t i = 1; i + 1 < size; i += 2) {
		char digits[3] = { (char)data[i], (char)data[i + 1], 0 };

		bytes[count++] = (uint8_t)strtoul(digits, NULL, 16);
	}
	take_messages(bytes, count);
	free(bytes);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "engine/sync_hold.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "data/record.h"

#define ROOM_MIN 1024

struct held {
	int64_t at_ns;
	uint8_t record[RECORD_SIZE];
};

struct sync_hold {
	sync_hold_give give;
	void *context;
	size_t room;
	size_t room_max;
	uint64_t head, tail; /* counted; n stands at n % room */
	uint64_t untold;
	struct held *held;
};

struct sync_hold *sync_hold_new(uint64_t records_per_s, sync_hold_give give, void *context)
{
	struct sync_hold *hold = calloc(1, sizeof(*hold));
	uint64_t room = SYNC_HOLD_MAX;

	if (!hold)
		return NULL;
	if (records_per_s < SYNC_HOLD_MAX)
		room = records_per_s * (SYNC_KNOWN_NS / NSEC_PER_MSEC) / 1000;
	if (room < ROOM_MIN)
		room = ROOM_MIN;
	if (room > SYNC_HOLD_MAX)
		room = SYNC_HOLD_MAX;
	hold->give = give;
	hold->context = context;
	hold->room = (size_t)room;
	hold->room_max = records_per_s ? hold->room : SYNC_HOLD_MAX;
	hold->held = malloc(hold->room * sizeof(*hold->held));
	if (!hold->held) {
		free(hold);
		return NULL;
	}
	return hold;
}

void sync_hold_free(struct sync_hold *hold)
{
	if (!hold)
		return;
	free(hold->held);
	free(hold);
}

/* A full one, doubled. Without memory it stays as it is. */
static void grow(struct sync_hold *hold)
{
	size_t first = (size_t)(hold->tail % hold->room), before = hold->room;
	struct held *held = malloc(2 * before * sizeof(*held));

	if (!held)
		return;
	memcpy(held, hold->held + first, (before - first) * sizeof(*held));
	memcpy(held + before - first, hold->held, first * sizeof(*held));
	free(hold->held);
	hold->held = held;
	hold->room = 2 * before;
	hold->tail = 0;
	hold->head = before;
}

static struct held *oldest(struct sync_hold *hold)
{
	return &hold->held[hold->tail % hold->room];
}

static void give_oldest(struct sync_hold *hold, enum sync_trust trust)
{
	struct held *held = oldest(hold);

	hold->tail++;
	hold->untold += trust == SYNC_TRUST_OPEN;
	hold->give(hold->context, held->record, trust == SYNC_TRUST_LOST);
}

void sync_hold_put(struct sync_hold *hold, const void *record, int64_t at_ns)
{
	struct held *held;

	if (hold->head - hold->tail == hold->room && hold->room < hold->room_max)
		grow(hold);
	if (hold->head - hold->tail == hold->room)
		give_oldest(hold, SYNC_TRUST_OPEN);
	held = &hold->held[hold->head++ % hold->room];
	held->at_ns = at_ns;
	memcpy(held->record, record, RECORD_SIZE);
}

size_t sync_hold_pass(struct sync_hold *hold, const struct sync_window *window, size_t max)
{
	while (hold->head != hold->tail && max--) {
		enum sync_trust trust = sync_window_judge(window, oldest(hold)->at_ns);

		if (trust == SYNC_TRUST_OPEN)
			break;
		give_oldest(hold, trust);
	}
	return (size_t)(hold->head - hold->tail);
}

void sync_hold_flush(struct sync_hold *hold, const struct sync_window *window)
{
	while (hold->head != hold->tail)
		give_oldest(hold, sync_window_judge(window, oldest(hold)->at_ns));
}

uint64_t sync_hold_untold(const struct sync_hold *hold)
{
	return hold->untold;
}

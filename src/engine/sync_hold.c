// SPDX-License-Identifier: GPL-2.0-only
#include "engine/sync_hold.h"

#include <stdlib.h>
#include <string.h>

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
	uint64_t head, tail; /* ever put, ever given */
	uint64_t untold;
	struct held held[];
};

struct sync_hold *sync_hold_new(uint64_t records_per_s, sync_hold_give give, void *context)
{
	size_t room = SYNC_HOLD_MAX;
	struct sync_hold *hold;

	/* a second from look to look, and what a look and its reader take */
	if (records_per_s && records_per_s < SYNC_HOLD_MAX / 3 * 2)
		room = (size_t)(records_per_s + records_per_s / 2);
	if (room < ROOM_MIN)
		room = ROOM_MIN;
	hold = malloc(sizeof(*hold) + room * sizeof(hold->held[0]));
	if (!hold)
		return NULL;
	memset(hold, 0, sizeof(*hold));
	hold->give = give;
	hold->context = context;
	hold->room = room;
	return hold;
}

void sync_hold_free(struct sync_hold *hold)
{
	free(hold);
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

// SPDX-License-Identifier: GPL-2.0-only
/* The way back: what a record says was there before. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>

#include "base/clock.h"
#include "host/mac_merge.h"
#include "tc/deploy.h"
#include "tc/request.h"

#define RESTORE_CARRIER_NS (15 * NSEC_PER_SEC)

/* Entering and leaving its TSN mode resets an adapter. */
struct settling {
	struct netlink *nl;
	struct device device;
	bool awaited;
};

static void settle(void *context)
{
	struct settling *settling = context;
	struct timespec moment = ns_to_timespec(DEVICE_RESET_DELAY_NS);
	struct error ignored = ERROR_INIT;

	if (!settling->awaited)
		return;
	nanosleep(&moment, NULL);
	/* a link that does not come once is waited for no more */
	settling->awaited = !device_wait_carrier(settling->nl, &settling->device,
						 RESTORE_CARRIER_NS, &ignored);
}

/* The record keeps the name of its time; the interface may have got another one since. */
static const char *name_now(const struct state *state, char name[IF_NAMESIZE])
{
	return if_indextoname((unsigned int)state->ifindex, name) ? name : state->interface;
}

static int put_back(const struct state *state, const struct snapshot *snapshot, struct error *err)
{
	char buffer[IF_NAMESIZE];
	const char *name = name_now(state, buffer);
	struct netlink *nl = netlink_open(NETLINK_ROUTE, err);
	struct settling settling = { .nl = nl };
	struct device device;
	int result = -1;

	if (!nl)
		return -1;
	if (device_read(nl, name, &device, err))
		goto out;
	settling.device = device;
	settling.awaited = device.link.up && device.nic->mode_switch_resets;
	if (snapshot_restore(nl, state->ifindex, name, snapshot, settle, &settling, err))
		goto out;
	if (state->preemption) {
		struct mac_merge before = {
			.pmac_enabled = json_is_true(json_object_get(state->preemption, "pmac")),
			.tx_enabled = json_is_true(json_object_get(state->preemption, "tx")),
			.verify_enabled =
				json_is_true(json_object_get(state->preemption, "verify")),
		};

		int failed = mac_merge_set(name, &before, err);

		if (failed > 0)
			error_system(err, "%s: frame preemption (MAC merge) cannot be set back",
				     name);
		if (failed)
			goto out;
	}
	if (device.link.up && !snapshot->was_up && device_set_up(nl, &device, false, err))
		goto out;
	result = 0;
out:
	netlink_close(nl);
	return result;
}

/* A failure must not be forgotten: the record says so until a clear succeeds. */
static void mark_broken(const struct state *state)
{
	struct error ignored = ERROR_INIT;
	struct state broken = *state;

	broken.step = STATE_BROKEN;
	state_write(&broken, &ignored);
}

/* The record that comes back: its gates run again, whatever the link did meanwhile. */
static void note_carrier(const struct state *state)
{
	struct error ignored = ERROR_INIT;
	struct netlink *nl = state->previous ? netlink_open(NETLINK_ROUTE, &ignored) : NULL;
	struct link_info link;
	char name[IF_NAMESIZE];

	if (nl && !link_get(nl, name_now(state, name), &link, &ignored))
		json_object_set_new(state->previous, "carrier_changes",
				    json_integer(link.carrier_changes));
	netlink_close(nl);
}

int deploy_take_back(const struct state *state, struct error *err)
{
	if (put_back(state, &state->before, err)) {
		mark_broken(state);
		return -1;
	}
	note_carrier(state);
	return state_revert(state, err);
}

int deploy_clear(const struct state *state, struct error *err)
{
	if (put_back(state, &state->original, err)) {
		mark_broken(state);
		return -1;
	}
	return state_remove(state->interface, err);
}

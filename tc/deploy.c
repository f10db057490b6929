// SPDX-License-Identifier: GPL-2.0-only
#include "tc/deploy.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "host/mac_merge.h"
#include "tc/deployment_json.h"
#include "tc/request.h"
#include "tc/tc_headers.h"

#define RESTART_CARRIER_NS (5 * NSEC_PER_SEC)
#define VERIFY_NS (3 * NSEC_PER_SEC) /* for the peer's answer on frame preemption */
#define LIVE_LEAD_NS (100 * NSEC_PER_MSEC) /* a changed schedule begins no sooner */

struct applying {
	struct netlink *nl;
	struct device *device;
	const struct deployment *deployment;
	const struct deploy_options *options;
	struct deploy_result *result;
	struct state state;
	struct installed installed;
	bool stopped; /* the kernel has stopped the gates of what is installed */
	struct error *err;
};

static void __attribute__((format(printf, 2, 3)))
say(const struct applying *a, const char *format, ...)
{
	char line[400];
	va_list args;

	if (!a->options->say)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	a->options->say(a->options->context, line);
}

static bool same_map(const struct class_map *map, const struct deployment *deployment)
{
	const struct schedule *schedule = &deployment->schedule;

	if (map->classes != schedule->class_count)
		return false;
	for (unsigned p = 0; p < 16; p++)
		if (map->class_of[p] != schedule_class_of(schedule, p))
			return false;
	for (unsigned c = 0; c < map->classes; c++)
		if (map->queue_first[c] != schedule->classes[c].queue_first ||
		    map->queue_count[c] != schedule->classes[c].queue_count)
			return false;
	return true;
}

static bool same_etf(const struct installed *installed, const struct deployment *deployment)
{
	const struct schedule *schedule = &deployment->schedule;
	bool wanted[SCHEDULE_QUEUES_MAX] = { false };

	for (unsigned c = 0; c < schedule->class_count; c++) {
		const struct traffic_class *class = &schedule->classes[c];

		for (unsigned i = 0; class->launch_time && i < class->queue_count; i++) {
			unsigned q = class->queue_first + i;
			const struct installed_queue *queue = &installed->queues[q];

			if (q >= SCHEDULE_QUEUES_MAX || !queue->has_etf ||
			    queue->etf.delta_ns != class->delta_ns ||
			    queue->etf.offload != deployment->etf_offload[c] ||
			    queue->etf.clockid != CLOCK_TAI)
				return false;
			wanted[q] = true;
		}
	}
	for (unsigned q = 0; q < SCHEDULE_QUEUES_MAX; q++)
		if (installed->queues[q].has_etf && !wanted[q])
			return false;
	return true;
}

bool deploy_is_live(const struct installed *installed, bool stopped, const struct device *device,
		    const struct deployment *deployment, char why[160])
{
	const char *reason = NULL;

	why[0] = '\0';
	if (!installed->is_taprio || !deployment_has_gates(deployment))
		reason = installed->has_root && installed->handle
				 ? "another kind of qdisc stands there"
				 : "";
	else if (installed->handle != DEPLOYMENT_HANDLE << 16)
		reason = "it was not installed by tsnpub";
	else if (installed_mode(installed) != deployment->mode)
		reason = "the mode of a running schedule cannot be changed";
	else if (stopped && deployment->mode == SCHEDULE_SOFTWARE)
		/* started again, the kernel would run through all cycles since then in one interrupt */
		reason = "the link went down meanwhile, and the kernel stopped the gates";
	else if (!same_map(&installed->map, deployment))
		reason = "the classes and queues of a running schedule cannot be changed";
	else if (!same_etf(installed, deployment))
		reason = "etf cannot be changed, only deleted and added";
	else if (installed->has_stab && installed->stab_overhead != WIRE_OVERHEAD)
		reason = "its size table is another one";
	else if (device->nic->no_live_change && deployment->mode == SCHEDULE_FULL_OFFLOAD)
		reason = "this NIC takes no second schedule while one runs";
	if (!reason)
		return true;
	snprintf(why, 160, "%s", reason);
	return false;
}

static int64_t choose_base(const struct deployment *deployment, bool live)
{
	const struct schedule *schedule = &deployment->schedule;
	int64_t base, now = tai_now_ns();

	if (schedule->base_kind == BASE_ABSOLUTE)
		return schedule->base_ns;
	if (live)
		return schedule_base_time(schedule, now, LIVE_LEAD_NS);
	/* the last one that is past: the schedule runs at once, and igc's I225 takes no other */
	base = schedule_base_time(schedule, now, 0) - schedule->cycle_ns;
	return base < 0 ? schedule->base_kind == BASE_PHASE ? schedule->base_ns : 0 : base;
}

static int interrupted(const struct applying *a)
{
	if (!a->options->interrupted || !*a->options->interrupted)
		return 0;
	return error_system(a->err, "%s: interrupted", a->device->link.name);
}

static int step(struct applying *a, const char *what)
{
	snprintf(a->state.detail, sizeof(a->state.detail), "%s", what);
	return interrupted(a) || state_write(&a->state, a->err) ? -1 : 0;
}

/* The kernel's answer word for word, and what it means here. */
static int refused(const struct applying *a, int result, const char *what)
{
	const char *meaning = nic_explain(a->device->nic, -result, netlink_extack(a->nl));

	netlink_error(a->err, a->nl, result, "%s: %s refused", a->device->link.name, what);
	if (meaning) {
		size_t used = strlen(a->err->text);

		snprintf(a->err->text + used, sizeof(a->err->text) - used, "; on %s: %s",
			 a->device->nic->name, meaning);
	}
	return -1;
}

/* A change of the NIC's mode may take the link down, a moment after the request was answered. */
static int wait_carrier(struct applying *a)
{
	struct timespec moment = ns_to_timespec(DEVICE_RESET_DELAY_NS);

	if (step(a, "waiting for carrier"))
		return -1;
	if (a->device->nic->mode_switch_resets)
		nanosleep(&moment, NULL);
	return device_wait_carrier(a->nl, a->device, a->options->carrier_ns, a->err);
}

/* Sends the deployment's request of that number: 0, 1 when it has none, or -1. */
static int send_request(struct applying *a, unsigned number)
{
	static _Alignas(8) unsigned char buffer[REQUEST_MAX];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer), *request;
	struct request_info info;
	int result;

	if (!deployment_request(a->deployment, a->device->link.index, a->result->base_ns, number,
				nlh, &info))
		return 1;
	if (step(a, info.name))
		return -1;
	request = netlink_request(a->nl, RTM_NEWQDISC, REQUEST_FLAGS);
	memcpy(mnl_nlmsg_get_payload_tail(request), mnl_nlmsg_get_payload(nlh),
	       mnl_nlmsg_get_payload_len(nlh));
	request->nlmsg_len += (uint32_t)mnl_nlmsg_get_payload_len(nlh);
	result = netlink_talk(a->nl, request, NULL, NULL);
	if (result)
		return refused(a, result, info.name);
	if (netlink_extack(a->nl)[0])
		finding_add(&a->result->notes, FINDING_NOTE, "schedule",
			    "the kernel says of %s: %s", info.name, netlink_extack(a->nl));
	return 0;
}

static int send_requests(struct applying *a, bool live)
{
	unsigned children = 0;
	int result;

	if (send_request(a, 0))
		return -1;
	if (!live && wait_carrier(a))
		return -1;
	if (a->options->after_root && (step(a, "waiting for the clocks") ||
				       a->options->after_root(a->options->context, a->err)))
		return -1;
	/* when live, etf stands as it should already, and could not be changed */
	if (live)
		return 0;
	while (!(result = send_request(a, children + 1)))
		children++;
	if (result < 0 || (children && wait_carrier(a)))
		return -1;
	/* in the kernel it is a timer that moves the gates, and each qdisc put on a queue has stopped it */
	if (children && a->deployment->mode == SCHEDULE_SOFTWARE)
		return send_request(a, 0);
	return 0;
}

static int read_back(struct applying *a)
{
	struct findings differences = { 0 };

	if (step(a, "reading back") || installed_read(a->nl, a->device->link.index,
						      a->device->link.name, &a->installed, a->err))
		return -1;
	installed_compare(&a->installed, a->deployment,
			  a->deployment->mode == SCHEDULE_MQPRIO ? -1 : a->result->base_ns,
			  &differences);
	for (unsigned i = 0; i < differences.count; i++) {
		const struct finding *finding = &differences.list[i];

		if (finding->level == FINDING_ERROR)
			return error_system(a->err, "%s: what was set is not in force: %s%s",
					    a->device->link.name, finding->text,
					    differences.errors > 1 ? " (and more)" : "");
		finding_add(&a->result->notes, finding->level, finding->path, "%s", finding->text);
	}
	return 0;
}

static int remove_former(struct applying *a, bool live, const char *why)
{
	int result;

	if (live || !a->installed.has_root || !a->installed.handle)
		return 0;
	if (a->installed.is_taprio)
		say(a,
		    "the running schedule has to be removed first (%s): until the new one stands, "
		    "a few milliseconds, no "
		    "gates are kept%s",
		    why,
		    a->device->nic->mode_switch_resets
			    ? "; the adapter resets on the way out of TSN mode and back: the link "
			      "is down for seconds"
			    : "");
	if (step(a, "removing what was there"))
		return -1;
	a->result->gap_ns = clock_now_ns(CLOCK_MONOTONIC);
	result = qdisc_delete_root(a->nl, a->device->link.index);
	if (result)
		return refused(a, result, "removing the root qdisc");
	/* with the link down the kernel would take gates for too short */
	return wait_carrier(a);
}

static json_t *preemption_json(const struct mac_merge *state)
{
	return json_pack("{s:b, s:b, s:b}", "pmac", state->pmac_enabled, "tx", state->tx_enabled,
			 "verify", state->verify_enabled);
}

/* Waits for the peer's answer: 0 in any case but an error; `state` has it. */
static int wait_verified(const struct applying *a, struct mac_merge *state)
{
	int64_t end = clock_now_ns(CLOCK_MONOTONIC) + VERIFY_NS;

	for (;;) {
		struct timespec pause = ns_to_timespec(20 * NSEC_PER_MSEC);

		if (mac_merge_get(a->device->link.name, state, a->err) || interrupted(a))
			return -1;
		if (state->verify == MAC_MERGE_VERIFY_SUCCEEDED ||
		    state->verify == MAC_MERGE_VERIFY_FAILED || clock_now_ns(CLOCK_MONOTONIC) > end)
			return 0;
		nanosleep(&pause, NULL);
	}
}

/* Preemptible classes need the MAC merge sublayer, and a peer that has it too: it is asked. */
static int enable_preemption(struct applying *a)
{
	const char *name = a->device->link.name;
	struct mac_merge now,
		wanted = { .pmac_enabled = true, .tx_enabled = true, .verify_enabled = true };
	int absent;

	if (!a->deployment->preemption)
		return 0;
	absent = mac_merge_get(name, &now, a->err);
	if (absent < 0)
		return -1;
	if (absent)
		return error_system(a->err,
				    "%s: this port or kernel has no frame preemption (MAC merge); "
				    "remove preemptible",
				    name);
	if (!a->state.preemption)
		a->state.preemption = preemption_json(&now);
	if (step(a, "frame preemption"))
		return -1;
	absent = mac_merge_set(name, &wanted, a->err);
	if (absent > 0)
		return error_system(a->err, "%s: frame preemption (MAC merge) cannot be set", name);
	if (absent || wait_verified(a, &now))
		return -1;
	if (now.verify == MAC_MERGE_VERIFY_SUCCEEDED)
		return 0;
	if (!a->options->force)
		return error_system(
			a->err,
			"%s: frame preemption is on, but the peer did not confirm it (verify "
			"status: %s); switch it on there first, or remove preemptible; --force "
			"leaves it on, unconfirmed",
			name, mac_merge_verify_name(now.verify));
	finding_add(&a->result->notes, FINDING_WARNING, "schedule.classes",
		    "the peer did not confirm frame preemption (verify status: %s): until it does "
		    "no frame is cut",
		    mac_merge_verify_name(now.verify));
	return 0;
}

static int apply_steps(struct applying *a)
{
	char why[160];
	bool live = deploy_is_live(&a->installed, a->stopped, a->device, a->deployment, why);

	a->result->live = live;
	a->result->base_ns = a->state.base_ns = choose_base(a->deployment, live);
	if (enable_preemption(a) || remove_former(a, live, why) || send_requests(a, live))
		return -1;
	if (a->result->gap_ns)
		a->result->gap_ns = clock_now_ns(CLOCK_MONOTONIC) - a->result->gap_ns;
	if (read_back(a))
		return -1;
	if (a->options->proof &&
	    (step(a, "proof") || a->options->proof(a->options->context, a->err)))
		return -1;
	return interrupted(a);
}

/* Puts back what was there before this apply; the error becomes one line with what failed first. */
static void roll_back(struct applying *a)
{
	struct error again = ERROR_INIT;
	size_t used = strlen(a->err->text);

	if (!deploy_take_back(&a->state, &again)) {
		snprintf(a->err->text + used, sizeof(a->err->text) - used,
			 "; everything is as it was (%s)", a->result->before);
		return;
	}
	snprintf(a->err->text + used, sizeof(a->err->text) - used, "; and the way back failed: %s",
		 again.text);
	a->err->status = STATUS_SYSTEM;
}

/* The record of an earlier apply goes into this one's, so that both can be taken back. */
static int adopt_previous(struct applying *a)
{
	struct state previous;
	int known = state_read(a->device->link.name, &previous, a->err);

	if (known < 0)
		return -1;
	if (known > 0)
		return snapshot_take(a->nl, a->device->link.index, a->device->link.name,
				     &a->state.original, a->err);
	if (previous.step == STATE_APPLYING || previous.step == STATE_BROKEN) {
		state_free(&previous);
		return error_system(a->err,
				    "%s: an earlier apply was cut off; `tsnpub schedule clear %s` "
				    "restores first",
				    a->device->link.name, a->device->link.name);
	}
	if (state_is_held(&previous)) {
		error_system(a->err,
			     "%s: a publisher (process %d, %s) has deployed its schedule for as "
			     "long as it runs; end it "
			     "first, or `tsnpub schedule clear %s`",
			     a->device->link.name, previous.process.pid, previous.file,
			     a->device->link.name);
		state_free(&previous);
		return -1;
	}
	if (previous.step == STATE_UNCONFIRMED && process_lives(previous.guard)) {
		state_free(&previous);
		return error_system(a->err,
				    "%s: an earlier apply waits to be confirmed; `tsnpub schedule "
				    "confirm %s` or clear first",
				    a->device->link.name, a->device->link.name);
	}
	a->stopped = state_link_changed(&previous, a->device->link.carrier_changes);
	a->state.previous = state_to_json(&previous);
	json_object_set_new(a->state.previous, "previous", json_null());
	/* the settings before the first apply are the ones to come back */
	a->state.preemption = previous.preemption;
	previous.preemption = NULL;
	a->state.original = previous.original;
	previous.original.count = 0;
	state_free(&previous);
	return 0;
}

static int begin(struct applying *a)
{
	const char *name = a->device->link.name, *obstacle;
	struct state *state = &a->state;

	snprintf(state->interface, sizeof(state->interface), "%s", name);
	snprintf(state->file, sizeof(state->file), "%s", a->options->file ? a->options->file : "");
	state->ifindex = a->device->link.index;
	state->step = STATE_APPLYING;
	state->process = process_self();
	state->carrier_changes = -1;
	state->deployment = deployment_json(a->deployment);
	if (snapshot_take(a->nl, state->ifindex, name, &state->before, a->err))
		return -1;
	snapshot_text(&state->before, a->result->before);
	if (adopt_previous(a))
		return -1;
	if (a->options->brought_up) {
		state->before.was_up = false;
		if (!state->previous)
			state->original.was_up = false;
	}
	obstacle = snapshot_obstacle(&state->before);
	if (obstacle && !a->options->force)
		return error_system(a->err,
				    "%s: '%s' is installed, whose classes and filters could not be "
				    "put back; remove it (tc "
				    "qdisc del dev %s root), or use --force",
				    name, obstacle, name);
	return installed_read(a->nl, state->ifindex, name, &a->installed, a->err);
}

int deploy_apply(struct netlink *nl, struct device *device, const struct deployment *deployment,
		 int lock, const struct deploy_options *options, struct deploy_result *result,
		 struct error *err)
{
	struct applying *a = calloc(1, sizeof(*a));
	bool guarded = options->confirm_ns || options->hold;
	struct confirm_guard guard = { .socket = -1 };
	int done = -1;

	memset(result, 0, sizeof(*result));
	if (!a)
		return error_errno(err, ENOMEM, "%s", device->link.name);
	a->nl = nl;
	a->device = device;
	a->deployment = deployment;
	a->options = options;
	a->result = result;
	a->err = err;
	if (begin(a))
		goto out;
	if (guarded && confirm_start(&guard, device->link.name, deployment, lock, err))
		goto out;
	a->state.guard = guard.process;
	if (state_write(&a->state, err)) {
		if (guarded)
			confirm_cancel(&guard);
		goto out;
	}
	done = apply_steps(a);
	if (!done) {
		struct link_info link;

		if (!link_get(nl, device->link.name, &link, err))
			a->state.carrier_changes = link.carrier_changes;
		a->state.step = guarded ? STATE_UNCONFIRMED : STATE_APPLIED;
		a->state.detail[0] = '\0';
		a->state.deadline_ns = options->confirm_ns
					       ? clock_now_ns(CLOCK_BOOTTIME) + options->confirm_ns
					       : 0;
		done = state_write(&a->state, err);
	}
	if (!done && options->confirm_ns && confirm_wait_begin(&guard, options->confirm_ns))
		done = error_system(err,
				    "%s: the process that would take the schedule back is gone",
				    device->link.name);
	if (done) {
		roll_back(a);
		if (guarded && guard.socket >= 0)
			confirm_cancel(&guard);
	} else if (options->hold) {
		*options->hold = guard;
	}
out:
	state_free(&a->state);
	free(a);
	return done;
}

/* The interface was removed and one of its name made: what stands on that one is what comes back, and no more. */
static int adopt_anew(struct applying *a)
{
	struct state *state = &a->state;
	const char *name = a->device->link.name;

	snapshot_free(&state->before);
	snapshot_free(&state->original);
	json_decref(state->previous);
	json_decref(state->preemption);
	state->previous = state->preemption = NULL;
	state->ifindex = a->device->link.index;
	if (snapshot_take(a->nl, state->ifindex, name, &state->before, a->err) ||
	    snapshot_take(a->nl, state->ifindex, name, &state->original, a->err))
		return -1;
	return enable_preemption(a);
}

int deploy_restart(const char *interface, const struct deployment *deployment, struct process guard,
		   struct error *err)
{
	static const struct deploy_options options = { .carrier_ns = RESTART_CARRIER_NS };
	struct applying *a = calloc(1, sizeof(*a));
	struct deploy_result *result = calloc(1, sizeof(*result));
	struct device *device = calloc(1, sizeof(*device));
	struct link_info link;
	char renamed[IF_NAMESIZE];
	int done = -1;

	if (!a || !result || !device) {
		error_errno(err, ENOMEM, "%s", interface);
		goto out;
	}
	*a = (struct applying){ .device = device,
				.deployment = deployment,
				.options = &options,
				.result = result,
				.err = err };
	if (state_read_former(interface, &a->state, err)) {
		if (!err->status)
			error_system(err, "%s: the schedule is gone", interface);
		goto out;
	}
	if (a->state.step != STATE_UNCONFIRMED || a->state.guard.pid != guard.pid ||
	    a->state.guard.start != guard.start) {
		error_system(err, "%s: another schedule was applied meanwhile", interface);
		goto out;
	}
	if (if_indextoname((unsigned int)a->state.ifindex, renamed))
		interface = renamed;
	a->nl = netlink_open(NETLINK_ROUTE, err);
	if (!a->nl || device_read(a->nl, interface, device, err) ||
	    device_wait_carrier(a->nl, device, options.carrier_ns, err) ||
	    (device->link.index != a->state.ifindex && adopt_anew(a)) ||
	    installed_read(a->nl, device->link.index, interface, &a->installed, err))
		goto out;
	result->base_ns = a->state.base_ns = choose_base(deployment, false);
	/* while it is at work a link that goes again must not look like the old one */
	a->state.carrier_changes = -1;
	if (remove_former(a, false, "") || send_requests(a, false) || read_back(a) ||
	    link_get(a->nl, interface, &link, err))
		goto out;
	a->state.carrier_changes = link.carrier_changes;
	a->state.detail[0] = '\0';
	done = state_write(&a->state, err);
out:
	if (a) {
		netlink_close(a->nl);
		state_free(&a->state);
	}
	free(a);
	free(result);
	free(device);
	return done;
}

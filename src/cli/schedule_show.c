// SPDX-License-Identifier: GPL-2.0-only
/* tsnpub schedule show: what is installed, in words, numbers and a drawing. */
#include <argp.h>
#include <inttypes.h>
#include <jansson.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "cli/arguments.h"
#include "cli/schedule_command.h"
#include "cli/schedule_show.h"
#include "host/mac_merge.h"
#include "tc/deployment_json.h"
#include "tc/device.h"
#include "tc/installed.h"
#include "tc/timeline.h"

#define INTERFACES_MAX 64
#define STEP_TEXT 512 /* the name of a file, and what to do */

struct show_options {
	const char *interface;
	bool json;
	struct error err;
};

static const struct argp_option options[] = {
	{ "iface", 'i', "IFACE", 0, "the interface (default: all with a schedule)", 0 },
	{ "json", 'j', NULL, 0, "one JSON document instead of text", 0 },
	{ 0 },
};

static const struct argument_place places[] = {
	ARGUMENT_FLAG('j', struct show_options, json),
	ARGUMENT_END,
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct show_options *show = state->input;

	if (key == 'i' || key == ARGP_KEY_ARG)
		return arguments_take_one("interface", &show->interface, arg, &show->err);
	return arguments_store(places, show, key, arg);
}

static const struct argp argp = { options,
				  parse,
				  "[IFACE]",
				  "Shows what is installed: gates that run and that are to come, "
				  "classes, launch-time queues, "
				  "drops, and what else stands there.",
				  NULL,
				  NULL,
				  NULL };

/* All that is known of one interface; large. */
struct view {
	struct device device;
	struct installed installed;
	struct state state;
	bool has_state;
	struct deployment deployment; /* drawn: the running gates */
	bool drawable;
	bool has_preemption;
	struct mac_merge preemption;
};

/* Names of classes as the file had them, from the record. */
static void names_of(const struct state *state, struct schedule *names)
{
	json_t *classes = json_object_get(state->deployment, "classes"), *class;
	size_t i;

	memset(names, 0, sizeof(*names));
	json_array_foreach(classes, i, class)
	{
		const char *name = json_string_value(json_object_get(class, "name"));
		json_t *queues = json_object_get(class, "queues");

		if (i >= SCHEDULE_CLASSES_MAX || !name)
			break;
		snprintf(names->classes[i].name, sizeof(names->classes[i].name), "%s", name);
		printable(names->classes[i].name);
		names->classes[i].queue_first =
			(uint16_t)json_integer_value(json_array_get(queues, 0));
		names->classes[i].queue_count = (uint16_t)json_array_size(queues);
		names->class_count = (unsigned)i + 1;
	}
}

static void make_drawable(struct view *view, bool admin)
{
	struct schedule names;
	struct deployment *deployment = &view->deployment;

	if (view->has_state)
		names_of(&view->state, &names);
	memset(deployment, 0, sizeof(*deployment));
	deployment->nic = view->device.nic;
	deployment->speed_mbps = view->device.speed_mbps ? view->device.speed_mbps : 1000;
	deployment->mode = installed_mode(&view->installed);
	view->drawable = !installed_schedule(
		&view->installed, admin, view->has_state ? &names : NULL, &deployment->schedule);
	for (unsigned c = 0; c < deployment->schedule.class_count; c++) {
		struct traffic_class *class = &deployment->schedule.classes[c];

		deployment->etf_offload[c] = class->etf_offload == CHOICE_ON;
		if (class->max_frame && deployment->mode == SCHEDULE_FULL_OFFLOAD)
			class->max_frame -= deployment->nic->max_sdu_short;
	}
}

static const char *step_text(const struct state *state, char buffer[STEP_TEXT])
{
	char left[DURATION_TEXT];
	int64_t ns = state->deadline_ns - clock_now_ns(CLOCK_BOOTTIME);

	if (state->step == STATE_APPLYING && process_lives(state->process))
		snprintf(buffer, STEP_TEXT, "an apply is at work on it (process %d, %s)",
			 state->process.pid, state->detail);
	else if (state->step == STATE_APPLYING)
		snprintf(buffer, STEP_TEXT,
			 "an apply (process %d, %s) was cut off at '%s'; `tsnpub schedule clear "
			 "%s` restores what was there",
			 state->process.pid, state->file, state->detail, state->interface);
	else if (state->step == STATE_BROKEN)
		snprintf(buffer, STEP_TEXT,
			 "a rollback failed; `tsnpub schedule clear %s` tries again",
			 state->interface);
	else if (state_is_held(state))
		snprintf(buffer, STEP_TEXT,
			 "applied from %s for as long as process %d runs, then taken back",
			 state->file, state->process.pid);
	else if (state->step == STATE_UNCONFIRMED && process_lives(state->guard))
		snprintf(buffer, STEP_TEXT,
			 "applied from %s; taken back in %s unless `tsnpub schedule confirm %s`",
			 state->file,
			 format_duration(ns > 0 ? ns / NSEC_PER_SEC * NSEC_PER_SEC : 0, left),
			 state->interface);
	else if (state->step == STATE_UNCONFIRMED)
		snprintf(buffer, STEP_TEXT,
			 "applied from %s, not confirmed, and the process that would take it back "
			 "is gone; confirm or clear",
			 state->file);
	else
		snprintf(buffer, STEP_TEXT, "applied by tsnpub from %s", state->file);
	return buffer;
}

static bool gates_stopped(const struct view *view)
{
	return view->has_state && view->installed.is_taprio &&
	       installed_mode(&view->installed) == SCHEDULE_SOFTWARE &&
	       state_link_changed(&view->state, view->device.link.carrier_changes);
}

static void print_gates(const struct view *view, const struct gate_list *gates, bool admin)
{
	char cycle[DURATION_TEXT], base[DURATION_TEXT], into[DURATION_TEXT];
	int64_t now = tai_now_ns();

	format_duration(gates->cycle_ns, cycle);
	format_duration(gates->base_ns, base);
	if (admin && gates->base_ns <= now)
		printf("  to come: cycle %s, base time %s TAI, with the next cycle\n", cycle, base);
	else if (admin)
		printf("  to come: cycle %s, base time %s TAI, in %s\n", cycle, base,
		       format_duration((gates->base_ns - now) / 1000 * 1000, into));
	else if (gates_stopped(view))
		printf("  cycle %s, base time %s TAI; the gates stand still: the link went down "
		       "meanwhile, and the kernel stops them then; apply again\n",
		       cycle, base);
	else if (gates->base_ns > now)
		printf("  cycle %s, base time %s TAI, begins in %s\n", cycle, base,
		       format_duration((gates->base_ns - now) / 1000 * 1000, into));
	else if (gates->cycle_ns > 0)
		printf("  cycle %s, base time %s TAI; now %s into cycle %lld\n", cycle, base,
		       format_duration((now - gates->base_ns) % gates->cycle_ns, into),
		       (long long)((now - gates->base_ns) / gates->cycle_ns));
	if (gates->extension_ns)
		printf("  cycle-time-extension %s\n", format_duration(gates->extension_ns, into));
	if (gates->truncated)
		printf("  (more gates than are read, or commands other than SetGateStates)\n");
	if (view->drawable) {
		timeline_text(stdout, &view->deployment, NULL, 0);
	}
}

static void print_counter(const char *label, bool known, uint64_t value)
{
	if (known)
		printf(", %s %" PRIu64, label, value);
	else
		printf(", %s not counted by this driver", label);
}

static void print_queues(const struct view *view)
{
	const struct installed *installed = &view->installed;
	const struct schedule *schedule = &view->deployment.schedule;
	char delta[DURATION_TEXT];

	for (unsigned c = 0; view->drawable && c < schedule->class_count; c++) {
		const struct traffic_class *class = &schedule->classes[c];
		char queues[16], priorities[24];

		printf("  %s: priorities %s, queues %s%s", class->name,
		       schedule_priority_text(class, priorities),
		       schedule_queue_text(class, queues),
		       class->preemptible ? ", preemptible" : "");
		if (class->max_frame)
			printf(", frames up to %u bytes", class->max_frame);
		printf("\n");
		for (unsigned i = 0; i < class->queue_count; i++) {
			unsigned q = class->queue_first + i;
			const struct installed_queue *queue = &installed->queues[q];

			if (q >= SCHEDULE_QUEUES_MAX)
				break;
			printf("    queue %u: ", q);
			if (queue->has_etf)
				printf("etf%s, delta %s, %u dropped, %u overlimits",
				       queue->etf.offload ? " offload" : "",
				       format_duration(queue->etf.delta_ns, delta),
				       queue->stats.drops, queue->stats.overlimits);
			else
				printf("%s", queue->kind[0] ? queue->kind : "no qdisc listed");
			printf(", %" PRIu64 " frames", queue->stats.packets);
			if (!queue->has_etf)
				printf(", %u dropped", queue->stats.drops);
			if (installed_mode(installed) == SCHEDULE_FULL_OFFLOAD) {
				print_counter("window drops", queue->class_stats.has_window_drops,
					      queue->class_stats.window_drops);
				print_counter("overruns",
					      queue->class_stats.has_overruns &&
						      view->device.nic->counts_overruns,
					      queue->class_stats.overruns);
			}
			printf("\n");
		}
	}
	/* gates in the NIC: frames do not pass the root, whose counters stay 0 */
	if (installed->stats.known && installed_mode(installed) != SCHEDULE_FULL_OFFLOAD)
		printf("  in all: %" PRIu64 " frames, %u dropped, %u overlimits\n",
		       installed->stats.packets, installed->stats.drops,
		       installed->stats.overlimits);
}

static void print_view(struct view *view)
{
	const struct installed *installed = &view->installed;
	char text[STEP_TEXT];

	printf("%s: %s", view->device.link.name, view->device.nic->name);
	if (view->device.speed_mbps)
		printf(", %u Mb/s", view->device.speed_mbps);
	printf("%s\n", view->device.link.running ? ""
		       : view->device.link.up    ? ", no carrier"
						 : ", down");
	if (view->has_state)
		printf("  %s\n", step_text(&view->state, text));
	if (!installed->is_taprio && !installed->is_mqprio) {
		printf("  no schedule%s; installed is %s%s\n",
		       view->has_state && view->state.step == STATE_APPLIED
			       ? ", another program removed it"
			       : "",
		       installed->has_root ? installed->kind : "nothing",
		       installed->has_root && !installed->handle ? " (the kernel's default)" : "");
	} else {
		printf("  %s %x: mode %s (%s)%s\n", installed->kind, installed->handle >> 16,
		       schedule_mode_name(installed_mode(installed)),
		       deployment_where(&view->deployment),
		       installed->is_mqprio && installed->mqprio_hw ? ", in hardware" : "");
		if (installed_launch_ignored(installed, view->device.nic))
			printf("  launch times are ignored: %s\n", nic_launch_ignored);
		if (installed->taprio.has_oper)
			print_gates(view, &installed->taprio.oper, false);
		else if (installed->is_taprio)
			printf("  no gates run yet\n");
		print_queues(view);
		if (installed->taprio.has_admin) {
			make_drawable(view, true);
			print_gates(view, &installed->taprio.admin, true);
			make_drawable(view, false);
		}
	}
	if (view->has_preemption)
		printf("  frame preemption: %s, verify %s, sent preemptibly now: %s, fragments "
		       "from %u bytes\n",
		       view->preemption.tx_enabled     ? "on"
		       : view->preemption.pmac_enabled ? "received only"
						       : "off",
		       mac_merge_verify_name(view->preemption.verify),
		       view->preemption.tx_active ? "yes" : "no", view->preemption.tx_min_fragment);
	for (unsigned i = 0; i < installed->foreign_count; i++)
		printf("  not a schedule's: %s %x: on %x:%x\n", installed->foreign[i].kind,
		       installed->foreign[i].handle >> 16, installed->foreign[i].parent >> 16,
		       installed->foreign[i].parent & 0xffff);
}

static json_t *counter(bool known, uint64_t value)
{
	return known ? json_integer((json_int_t)value) : json_null();
}

static json_t *gates_json(const struct gate_list *gates)
{
	int64_t now = tai_now_ns();
	json_t *list = json_array();

	for (unsigned i = 0; i < gates->count; i++)
		json_array_append_new(list, json_pack("{s:i, s:I}", "mask",
						      (int)gates->gates[i].open, "duration_ns",
						      (json_int_t)gates->gates[i].duration_ns));
	return json_pack("{s:I, s:I, s:I, s:o, s:o}", "base_ns", (json_int_t)gates->base_ns,
			 "cycle_ns", (json_int_t)gates->cycle_ns, "extension_ns",
			 (json_int_t)gates->extension_ns, "cycle_number",
			 gates->cycle_ns > 0 && now >= gates->base_ns
				 ? json_integer((now - gates->base_ns) / gates->cycle_ns)
				 : json_null(),
			 "gates", list);
}

static json_t *queues_json(const struct view *view)
{
	json_t *list = json_array();

	for (unsigned q = 0; q < SCHEDULE_QUEUES_MAX; q++) {
		const struct installed_queue *queue = &view->installed.queues[q];
		json_t *object;

		if (!queue->kind[0])
			continue;
		object = json_pack("{s:i, s:s, s:I, s:i, s:i, s:o, s:o}", "queue", (int)q, "qdisc",
				   queue->kind, "packets", (json_int_t)queue->stats.packets,
				   "drops", (int)queue->stats.drops, "overlimits",
				   (int)queue->stats.overlimits, "window_drops",
				   counter(queue->class_stats.has_window_drops,
					   queue->class_stats.window_drops),
				   "overruns",
				   counter(queue->class_stats.has_overruns &&
						   view->device.nic->counts_overruns,
					   queue->class_stats.overruns));
		if (queue->has_etf)
			json_object_set_new(object, "etf",
					    json_pack("{s:i, s:b, s:i}", "delta_ns",
						      queue->etf.delta_ns, "offload",
						      queue->etf.offload, "clockid",
						      queue->etf.clockid));
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *view_json(struct view *view)
{
	const struct installed *installed = &view->installed;
	json_t *foreign = json_array(), *root;
	char text[STEP_TEXT];

	for (unsigned i = 0; i < installed->foreign_count; i++)
		json_array_append_new(
			foreign, json_pack("{s:s, s:i, s:i}", "kind", installed->foreign[i].kind,
					   "handle", (int)(installed->foreign[i].handle >> 16),
					   "parent", (int)installed->foreign[i].parent));
	root = json_pack("{s:s, s:s, s:s, s:b, s:b, s:i, s:s, s:o, s:o}", "interface",
			 view->device.link.name, "nic", view->device.nic->name, "driver",
			 view->device.driver.name, "up", view->device.link.up, "carrier",
			 view->device.link.running, "speed_mbps", (int)view->device.speed_mbps,
			 "root", installed->has_root ? installed->kind : "", "queues",
			 queues_json(view), "foreign", foreign);
	if (view->has_preemption)
		json_object_set_new(root, "preemption",
				    json_pack("{s:b, s:b, s:s}", "enabled",
					      view->preemption.tx_enabled, "active",
					      view->preemption.tx_active, "verify",
					      mac_merge_verify_name(view->preemption.verify)));
	if (gates_stopped(view))
		json_object_set_new(root, "stopped", json_true());
	if (installed_launch_ignored(installed, view->device.nic))
		json_object_set_new(root, "launch_ignored", json_string(nic_launch_ignored));
	if (view->has_state)
		json_object_set_new(root, "record", json_string(step_text(&view->state, text)));
	if (installed->is_taprio || installed->is_mqprio)
		json_object_set_new(root, "mode",
				    json_string(schedule_mode_name(installed_mode(installed))));
	if (view->drawable) {
		json_t *all = deployment_json(&view->deployment);

		json_object_set(root, "classes", json_object_get(all, "classes"));
		json_decref(all);
	}
	if (installed->taprio.has_oper)
		json_object_set_new(root, "oper", gates_json(&installed->taprio.oper));
	if (installed->taprio.has_admin)
		json_object_set_new(root, "admin", gates_json(&installed->taprio.admin));
	return root;
}

static int read_view(struct netlink *nl, const char *name, struct view *view, struct error *err)
{
	struct error ignored = ERROR_INIT;

	memset(view, 0, sizeof(*view));
	if (device_read(nl, name, &view->device, err) ||
	    installed_read(nl, view->device.link.index, name, &view->installed, err))
		return -1;
	/* the record is root's; what is installed is shown to everybody */
	view->has_state = state_read(name, &view->state, &ignored) == 0;
	if (ignored.status)
		message_warn("%s", ignored.text);
	view->has_preemption = !mac_merge_get(name, &view->preemption, &ignored);
	make_drawable(view, false);
	if (!view->drawable && view->installed.taprio.has_admin)
		make_drawable(view, true);
	return 0;
}

struct listing {
	int indices[INTERFACES_MAX];
	unsigned count;
};

static int take_scheduled(const struct nlmsghdr *answer, void *context)
{
	struct listing *listing = context;
	struct qdisc qdisc;
	const struct tcmsg *tcm = mnl_nlmsg_get_payload(answer);

	if (qdisc_parse(answer, &qdisc) ||
	    (strcmp(qdisc.kind, "taprio") != 0 && strcmp(qdisc.kind, "mqprio") != 0 &&
	     strcmp(qdisc.kind, "etf") != 0))
		return 0;
	for (unsigned i = 0; i < listing->count; i++)
		if (listing->indices[i] == tcm->tcm_ifindex)
			return 0;
	if (listing->count < INTERFACES_MAX)
		listing->indices[listing->count++] = tcm->tcm_ifindex;
	return 0;
}

unsigned schedule_interfaces(struct netlink *nl, char names[][16], unsigned room)
{
	struct nlmsghdr *request = netlink_request(nl, RTM_GETQDISC, NLM_F_DUMP);
	struct tcmsg *tcm = mnl_nlmsg_put_extra_header(request, sizeof(*tcm));
	unsigned count = state_list(names, room);
	struct listing listing = { .count = 0 };

	tcm->tcm_family = AF_UNSPEC;
	netlink_talk(nl, request, take_scheduled, &listing);
	for (unsigned i = 0; i < listing.count && count < room; i++) {
		char name[IFNAMSIZ];
		bool known = false;

		if (!if_indextoname((unsigned)listing.indices[i], name))
			continue;
		for (unsigned k = 0; k < count; k++)
			known |= !strcmp(names[k], name);
		if (!known)
			snprintf(names[count++], 16, "%s", name);
	}
	return count;
}

int schedule_show_main(int argc, char **argv)
{
	struct view view;
	struct show_options show = { .err = ERROR_INIT };
	char names[INTERFACES_MAX][16];
	json_t *list = json_array();
	unsigned count = 1;
	int status = STATUS_GOOD;
	struct netlink *nl;

	if (arguments_parse(&argp, argc, argv, &show, &show.err))
		return error_report(&show.err);
	nl = netlink_open(NETLINK_ROUTE, &show.err);
	if (!nl)
		return error_report(&show.err);
	if (show.interface)
		status = schedule_pick_interface(show.interface, names[0], &show.err)
				 ? error_report(&show.err)
				 : 0;
	else
		count = schedule_interfaces(nl, names, INTERFACES_MAX);
	if (!status && !count && !show.json)
		printf("no schedule is installed on any interface\n");
	for (unsigned i = 0; !status && i < count; i++) {
		if (read_view(nl, names[i], &view, &show.err)) {
			status = error_report(&show.err);
			break;
		}
		if (show.json)
			json_array_append_new(list, view_json(&view));
		else
			print_view(&view);
		state_free(&view.state);
	}
	if (!status && show.json) {
		json_dumpf(list, stdout, JSON_INDENT(2));
		putchar('\n');
	}
	json_decref(list);
	netlink_close(nl);
	return status;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "cli/schedule_ready.h"

#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/schedule_command.h"
#include "host/capability.h"
#include "host/link.h"
#include "host/session.h"
#include "tc/validate.h"

int schedule_need_admin(const char *interface, struct error *err)
{
	if (capability_have(CAP_NET_ADMIN))
		return 0;
	return error_system(err,
			    "%s: no permission: CAP_NET_ADMIN is missing; run as root, or setcap "
			    "cap_net_admin+ep on the "
			    "program",
			    interface);
}

int schedule_pick_interface(const char *given, char interface[16], struct error *err)
{
	char names[32][16], list[200] = "";
	unsigned count;

	if (given) {
		if (!link_name_is_good(given))
			return error_input(
				err,
				"interface '%.64s': not an interface name; `ip link` lists them",
				given);
		snprintf(interface, 16, "%s", given);
		return 0;
	}
	count = state_list(names, 32);
	if (!count)
		return error_input(err,
				   "no schedule was applied by tsnpub here; name the interface");
	for (unsigned i = 0; i < count; i++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i ? ", " : "",
			 names[i]);
	if (count > 1)
		return error_input(err,
				   "schedules were applied to %u interfaces; name one of them: %s",
				   count, list);
	snprintf(interface, 16, "%s", names[0]);
	return 0;
}

static int bring_up(struct netlink *nl, struct schedule_ready *ready, int64_t carrier_ns,
		    struct error *err)
{
	if (!ready->device.link.up) {
		if (schedule_need_admin(ready->device.link.name, err) ||
		    device_set_up(nl, &ready->device, true, err))
			return -1;
		ready->brought_up = true;
		message_note("%s: was down, switched on", ready->device.link.name);
	}
	if (!device_wait_carrier(nl, &ready->device, carrier_ns, err))
		return 0;
	return -1;
}

static void take_down_again(struct netlink *nl, struct schedule_ready *ready)
{
	struct error ignored = ERROR_INIT;

	if (ready->brought_up)
		device_set_up(nl, &ready->device, false, &ignored);
	ready->brought_up = false;
}

int schedule_try_ready(struct netlink *nl, struct schedule_ready *ready, int64_t carrier_ns,
		       struct error *err)
{
	const struct schedule *schedule = &ready->file.schedule;
	struct device_facts facts = { .now_ns = tai_now_ns() };
	const struct nic *hinted;
	char advice[256];
	uint32_t speed;

	if (!schedule->interface[0])
		return error_input(
			err, "%s: key 'interface' is missing; add it, such as interface: enp1s0",
			yaml_file_name(ready->file.yaml));
	if (device_read(nl, schedule->interface, &ready->device, err) ||
	    device_check(nl, &ready->device, advice, err))
		return -1;
	if (advice[0])
		message_warn("%s", advice);
	hinted = schedule->driver[0] ? nic_by_name(schedule->driver) : NULL;
	if (hinted && hinted != ready->device.nic)
		message_warn("%s: line %u: schedule.driver: the file is written for %s, %s is %s",
			     yaml_file_name(ready->file.yaml),
			     yaml_file_line(ready->file.yaml, "schedule.driver"), hinted->name,
			     schedule->interface, ready->device.nic->name);
	if (carrier_ns && bring_up(nl, ready, carrier_ns, err)) {
		take_down_again(nl, ready);
		return -1;
	}
	facts.tx_queues = ready->device.tx_queues;
	facts.mtu = ready->device.link.mtu;
	speed = ready->device.speed_mbps ? ready->device.speed_mbps
		: schedule->speed_mbps   ? schedule->speed_mbps
					 : 1000;
	prepare_deployment(&ready->file.schedule, ready->file.streams, ready->file.stream_count,
			   ready->device.nic, speed, &facts, &ready->preparation);
	if (schedule_print_findings(&ready->file, &ready->preparation.findings, true)) {
		take_down_again(nl, ready);
		return STATUS_INPUT;
	}
	return 0;
}

int schedule_get_ready(struct netlink *nl, struct schedule_ready *ready, int64_t carrier_ns)
{
	struct error err = ERROR_INIT;
	int result = schedule_try_ready(nl, ready, carrier_ns, &err);

	return result < 0 ? error_report(&err) : result;
}

/* Interactive sessions, bulk transfer and the rest: the kernel derives these from ssh's type of service. */
static const unsigned ssh_priorities[] = { 0, 2, 6 };

static int refuse_ssh(struct netlink *nl, const struct schedule_ready *ready, bool force,
		      struct error *err)
{
	const struct deployment *deployment = &ready->preparation.deployment;
	char client[SESSION_CLIENT];
	const char *how;
	int route;

	if (!session_ssh_client(client))
		return 0;
	route = device_of_route(nl, client);
	if (route <= 0 || !device_carries(nl, ready->device.link.index, route))
		return 0;
	for (size_t i = 0; i < sizeof(ssh_priorities) / sizeof(ssh_priorities[0]); i++) {
		int class = schedule_class_of(&deployment->schedule, ssh_priorities[i]);

		if (!schedule_silences(deployment, ssh_priorities[i], &how))
			continue;
		if (force) {
			message_warn("%s carries this ssh session, whose class '%s' %s",
				     ready->device.link.name,
				     deployment->schedule.classes[class].name, how);
			return 0;
		}
		return error_input(
			err,
			"%s carries this ssh session (from %s), and class '%s' (priority %u) %s: "
			"you would be "
			"locked out; open that class, or use --force, best with --confirm 60s",
			ready->device.link.name, client, deployment->schedule.classes[class].name,
			ssh_priorities[i], how);
	}
	return 0;
}

int schedule_refuse_silence(struct netlink *nl, const struct schedule_ready *ready, bool force,
			    struct error *err)
{
	const struct deployment *deployment = &ready->preparation.deployment;
	unsigned ptp = deployment->schedule.ptp_priority;
	const char *how;

	if (refuse_ssh(nl, ready, force, err))
		return -1;
	if (!schedule_silences(deployment, ptp, &how) || force)
		return 0;
	return error_input(
		err,
		"class '%s', which carries PTP (priority %u), %s: ptp4l on %s would lose its "
		"clock; move priority "
		"%u to another class, set ptp-priority to ptp4l's socket_priority, or use --force",
		deployment->schedule.classes[schedule_class_of(&deployment->schedule, ptp)].name,
		ptp, how, ready->device.link.name, ptp);
}

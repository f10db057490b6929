// SPDX-License-Identifier: GPL-2.0-only
#include "cli/publish_schedule.h"

#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "cli/schedule_command.h"
#include "cli/schedule_ready.h"
#include "tc/deploy.h"
#include "tc/fit.h"
#include "tc/installed.h"

#define CARRIER_NS (15 * NSEC_PER_SEC)

int publish_schedule_check(const struct config_file *config, struct error *err)
{
	struct schedule_file file;
	bool has_cycle = config->texts.value[PUBLISH_CYCLE];

	for (unsigned i = 0; i < config->texts.stream_count; i++)
		has_cycle |= config->texts.streams[i].period != NULL;
	/* what lies within the cycle needs one, and the command line's is not the schedule's */
	if (!config->schedule || !has_cycle)
		return 0;
	if (schedule_file_convert(config, &file, err))
		return -1;
	free(file.streams);
	return 0;
}

/* The streams of the command line, under the file's schedule. */
static int load(const struct config_file *config, const struct publisher_options *publisher,
		struct schedule_ready *ready, struct error *err)
{
	struct schedule *schedule = &ready->file.schedule;

	if (schedule_file_convert(config, &ready->file, err))
		return -1;
	snprintf(schedule->interface, sizeof(schedule->interface), "%.15s", publisher->ifname);
	if (schedule->stream_cycle_ns != publisher->cycle_ns)
		return error_input(err,
				   "--cycle: with a schedule in the file, the cycle is the file's");
	free(ready->file.streams);
	ready->file.stream_count = publisher->count;
	ready->file.streams = calloc(publisher->count + 1, sizeof(*ready->file.streams));
	if (!ready->file.streams)
		return error_system(err, "no memory for the streams");
	memcpy(ready->file.streams, publisher->streams,
	       publisher->count * sizeof(*publisher->streams));
	return 0;
}

static void say(void *context, const char *line)
{
	(void)context;
	message_note("%s", line);
}

static int deploy(struct netlink *nl, struct schedule_ready *ready, const char *file,
		  struct publish_schedule *schedule, struct error *err)
{
	struct deploy_result result = { 0 };
	struct deploy_options options = { .file = file,
					  .hold = &schedule->hold,
					  .carrier_ns = CARRIER_NS,
					  .brought_up = ready->brought_up,
					  .say = say };
	int lock = state_lock(ready->device.link.name, err), done;

	if (lock < 0)
		return -1;
	done = schedule_refuse_silence(nl, ready, false, err) ||
			       deploy_apply(nl, &ready->device, &ready->preparation.deployment,
					    lock, &options, &result, err)
		       ? -1
		       : 0;
	close(lock);
	if (done)
		return -1;
	schedule->applied = true;
	snprintf(schedule->interface, sizeof(schedule->interface), "%s", ready->device.link.name);
	schedule_print_findings(NULL, &result.notes, true);
	message_note("%s: schedule of %s applied, taken back at the end", schedule->interface,
		     file);
	return 0;
}

/* Gates count from their own base time, launches from the publisher's: the streams as the gates see them. */
static void shift(struct stream *stream, int64_t difference_ns, int64_t cycle_ns)
{
	int64_t at = (stream->offset_ns + difference_ns) % cycle_ns;

	stream->offset_ns = at < 0 ? at + cycle_ns : at;
}

static int compare(const struct installed *installed, const struct schedule *names,
		   const struct publisher_options *publisher, uint32_t mbps, struct error *err)
{
	struct schedule gates;
	char text[FIT_TEXT], a[DURATION_TEXT], b[DURATION_TEXT];
	int64_t difference;
	unsigned wrong = 0;

	if (installed_schedule(installed, installed->taprio.has_admin, names, &gates))
		return 0;
	gates.stream_cycle_ns = publisher->cycle_ns;
	if (!schedule_cycles_agree(&gates)) {
		message_warn("the gates' cycle (%s) and --cycle (%s) are not multiples of one "
			     "another: frames drift through "
			     "the gates",
			     format_duration(gates.cycle_ns, a),
			     format_duration(publisher->cycle_ns, b));
		return publisher->strict
			       ? error_input(
					 err,
					 "--strict: the cycles of gates and streams do not agree")
			       : 0;
	}
	difference = ((publisher->has_base ? publisher->base_ns : 0) - gates.base_ns) %
		     gates.cycle_ns;
	for (unsigned i = 0; i < publisher->count; i++) {
		struct stream stream = publisher->streams[i];
		struct fit fit;

		if (stream.offset_ns == STREAM_ANYWHERE)
			continue;
		shift(&stream, difference,
		      gates.stream_cycle_ns < gates.cycle_ns ? gates.stream_cycle_ns
							     : gates.cycle_ns);
		fit_stream(&gates, &stream, mbps, &fit);
		if (fit.class >= 0 && fit.fits)
			continue;
		wrong++;
		if (publisher->strict)
			return error_input(err, "--strict: stream %u %s", stream.id,
					   fit_text(&gates, &fit, text));
		message_warn("stream %u %s", stream.id, fit_text(&gates, &fit, text));
	}
	(void)wrong;
	return 0;
}

/* Nothing is deployed: do the streams fall into what stands there? */
static int verify(struct netlink *nl, const struct schedule *names,
		  const struct publisher_options *publisher, struct error *err)
{
	struct installed installed;
	struct error ignored = ERROR_INIT;
	struct device device;

	/* what is wrong with the interface, the publisher says */
	if (device_read(nl, publisher->ifname, &device, &ignored) ||
	    installed_read(nl, device.link.index, device.link.name, &installed, &ignored))
		return 0;
	if (installed.is_taprio)
		return compare(&installed, names, publisher,
			       device.speed_mbps ? device.speed_mbps : 1000, err);
	if (names && names->gate_count)
		message_warn("the file has a schedule, but none is installed on %s; --apply "
			     "installs it for this run, "
			     "`tsnpub schedule apply` for good",
			     publisher->ifname);
	return 0;
}

static bool has_unplaced(const struct publisher_options *publisher)
{
	for (unsigned i = 0; i < publisher->count; i++)
		if (publisher->streams[i].offset_ns == STREAM_ANYWHERE)
			return true;
	return false;
}

int publish_schedule_begin(const struct config_file *config, const char *file, bool apply,
			   struct publisher_options *publisher, struct publish_schedule *schedule,
			   struct error *err)
{
	struct schedule_ready *ready = calloc(1, sizeof(*ready));
	bool in_file = config && config->schedule;
	struct netlink *nl = NULL;
	int result = -1;

	memset(schedule, 0, sizeof(*schedule));
	if (!ready)
		return error_system(err, "no memory for the schedule");
	if (apply && !in_file) {
		error_input(err, "--apply: %s; `man 5 tsnpub-schedule` shows how one looks",
			    file ? "no schedule: in the file"
				 : "it takes the schedule of a --config FILE");
		goto out;
	}
	if (has_unplaced(publisher) && !in_file) {
		error_input(err, "offset 'anywhere': only a schedule: in the file can find a "
				 "place; write a time");
		goto out;
	}
	nl = netlink_open(NETLINK_ROUTE, err);
	if (!nl)
		goto out;
	if (in_file) {
		if (load(config, publisher, ready, err))
			goto out;
		if (apply && schedule_need_admin(publisher->ifname, err))
			goto out;
		if (apply || has_unplaced(publisher)) {
			int unready = schedule_try_ready(nl, ready, apply ? CARRIER_NS : 0, err);

			if (unready > 0)
				error_input(err, "%s: the schedule does not hold (see above)",
					    file);
			if (unready)
				goto out;
		}
		memcpy(publisher->streams, ready->file.streams,
		       publisher->count * sizeof(*publisher->streams));
	}
	/* what is wrong by itself must not cost the link a reset */
	if (apply && publisher_check(publisher, &ready->device, err))
		goto refused;
	result = apply ? deploy(nl, ready, file, schedule, err)
		       : verify(nl, in_file ? &ready->file.schedule : NULL, publisher, err);
refused:
	if (result && ready->brought_up) {
		struct error ignored = ERROR_INIT;

		device_set_up(nl, &ready->device, false, &ignored);
	}
out:
	netlink_close(nl);
	free(ready->file.streams);
	free(ready);
	return result;
}

int publish_schedule_restart(void *schedule, struct error *err)
{
	struct publish_schedule *held = schedule;

	if (confirm_is_over(&held->hold))
		return error_system(err,
				    "the schedule was taken back meanwhile by another process");
	return confirm_restart(&held->hold, held->interface, err);
}

bool publish_schedule_lost(struct publish_schedule *schedule, char text[200])
{
	if (!schedule->applied || schedule->lost || !confirm_is_over(&schedule->hold))
		return false;
	schedule->lost = true;
	if (confirm_is_undone(&schedule->hold, schedule->interface))
		snprintf(text, 200,
			 "%s: another process took the schedule back (tsnpub schedule clear): "
			 "frames leave without it from here on",
			 schedule->interface);
	else
		snprintf(text, 200,
			 "%s: the process that would take the schedule back was killed; `tsnpub "
			 "schedule clear %s` does so when this run has ended",
			 schedule->interface, schedule->interface);
	return true;
}

int publish_schedule_end(struct publish_schedule *schedule, struct error *err)
{
	char name[IF_NAMESIZE];
	bool lost, renamed;

	if (!schedule->applied)
		return 0;
	schedule->applied = false;
	lost = schedule->lost || confirm_is_over(&schedule->hold);
	renamed = confirm_name_now(schedule->interface, name);
	if (confirm_release(&schedule->hold, schedule->interface, err))
		return -1;
	if (!renamed && !if_nametoindex(schedule->interface))
		message_note("%s: the interface is gone, and the schedule with it",
			     schedule->interface);
	else if (lost)
		message_note("%s: the schedule is no longer this run's to take back; `tsnpub "
			     "schedule show` tells what stands there",
			     schedule->interface);
	else
		message_note("%s: schedule taken back", renamed ? name : schedule->interface);
	return lost;
}

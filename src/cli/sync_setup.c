// SPDX-License-Identifier: GPL-2.0-only
/* tsnpub sync --print-setup and --start. */
#include <errno.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/scratch.h"
#include "base/units.h"
#include "cli/sync.h"
#include "ptp/setup.h"
#include "ptp/steering.h"
#include "ptp/supervise.h"

#define TEXT_SIZE 16384
#define SETUP_SCRATCH "tsnpub-setup"

static bool has_ipv4(const char *iface)
{
	struct ifaddrs *list;
	bool found = false;

	if (getifaddrs(&list))
		return false;
	for (const struct ifaddrs *i = list; i; i = i->ifa_next)
		found |= i->ifa_addr && i->ifa_addr->sa_family == AF_INET &&
			 !strcmp(i->ifa_name, iface);
	freeifaddrs(list);
	return found;
}

static int gather(const struct sync_options *o, struct setup_facts *facts, struct error *err)
{
	const char *version[] = { NULL, "-v", NULL };
	struct error ignored = ERROR_INIT;

	*facts = (struct setup_facts){ .iface = o->source.iface,
				       .ptp4l = o->ptp4l ? o->ptp4l : "ptp4l",
				       .phc2sys = o->phc2sys ? o->phc2sys : "phc2sys",
				       .socket = o->source.ptp4l.socket,
				       .role = o->bars.role,
				       .gptp = o->gptp,
				       .domain = o->source.ptp4l.domain };
	if (phc_index_of(facts->iface, &facts->phc_index, &facts->hardware_stamps, err))
		return -1;
	if (facts->phc_index >= 0)
		phc_name(facts->phc_index, facts->phc_name);
	facts->has_address = has_ipv4(facts->iface);
	version[0] = facts->ptp4l;
	/* not installed: the text says so */
	supervise_first_line(version, facts->version, sizeof(facts->version), &ignored);
	return 0;
}

static int print_setup(const struct setup_facts *facts, struct error *err)
{
	char *text = malloc(TEXT_SIZE);

	if (!text)
		return error_errno(err, ENOMEM, "cannot write the set-up");
	setup_text(facts, text, TEXT_SIZE);
	fputs(text, stdout);
	free(text);
	return STATUS_GOOD;
}

/* A directory of our own with ptp4l's configuration in it; `path` names the file. */
static int write_config(const struct setup_facts *facts, struct scratch *directory, char *path,
			size_t path_size, struct error *err)
{
	char text[4096];
	FILE *file;
	bool failed;
	int rc;

	scratch_clean(SETUP_SCRATCH);
	rc = scratch_make(directory, SETUP_SCRATCH);

	if (rc)
		return error_errno(err, -rc, "cannot make a directory for ptp4l's configuration");
	snprintf(path, path_size, "%s/ptp4l.cfg", directory->path);
	setup_ptp4l_config(facts, false, text, sizeof(text));
	file = fopen(path, "we");
	if (!file)
		return error_errno(err, errno, "cannot write %s", path);
	failed = fputs(text, file) < 0;
	failed |= fclose(file) != 0;
	return failed ? error_errno(err, errno, "cannot write %s", path) : 0;
}

static void print_line(void *context, const char *name, const char *text)
{
	const char *base = strrchr(name, '/');

	(void)context;
	base = base ? base + 1 : name;
	/* linuxptp's programs begin their lines with their name */
	if (!strncmp(text, base, strlen(base)))
		fprintf(stderr, "%s\n", text);
	else
		fprintf(stderr, "%s: %s\n", base, text);
}

/* Two ptp4l on one socket, or two servos on one clock, fight. */
static int refuse_second(const struct sync_options *o, struct error *err)
{
	struct ptp4l_status status;
	struct ptp4l *client = ptp4l_open(&o->source.ptp4l, &status);

	if (!client)
		return 0;
	ptp4l_close(client);
	return error_system(
		err, "a ptp4l answers at %s already: stop it first, or give another --socket",
		status.socket);
}

/* Once ptp4l answers. Returns true when it is done, or has failed (said). */
static bool set_tai(const struct sync_options *o)
{
	static struct sync_snapshot snapshot;
	struct error err = ERROR_INIT;
	struct sync_source *source = sync_source_open(&o->source, &err);
	int wanted = o->tai_offset;

	if (!source)
		return true;
	if (!o->tai_given) {
		sync_source_read(source, false, &snapshot);
		wanted = snapshot.have_time_properties ? snapshot.time_properties.utc_offset : 0;
	}
	sync_source_close(source);
	if (wanted <= 0)
		return false;
	if (kernel_clock_set_tai(wanted, &err))
		message_warn("%s", err.text);
	else
		message_note("kernel TAI offset: %d s", wanted);
	return true;
}

static int start(const struct sync_options *o, const struct setup_facts *facts, struct error *err)
{
	const char *ptp4l[SETUP_ARGUMENTS], *phc2sys[SETUP_ARGUMENTS];
	int64_t begin = clock_now_ns(CLOCK_MONOTONIC);
	struct scratch directory = SCRATCH_INIT;
	char path[96];
	struct supervisor *supervisor = NULL;
	bool tai_set = !o->set_tai;
	int status = -1;

	if (refuse_second(o, err))
		return -1;
	sync_catch_signals();
	supervisor = supervisor_new(print_line, NULL);
	if (!supervisor)
		return error_errno(err, ENOMEM, "cannot start ptp4l");
	if (write_config(facts, &directory, path, sizeof(path), err))
		goto out;
	setup_ptp4l_command(facts, path, ptp4l);
	if (supervisor_start(supervisor, ptp4l, err))
		goto out;
	if (!setup_phc2sys_command(facts, phc2sys))
		message_note("%s has no PTP clock: phc2sys has nothing to do, ptp4l only measures "
			     "(free_running)",
			     facts->iface);
	else if (supervisor_start(supervisor, phc2sys, err))
		goto out;
	message_note("running until Ctrl-C; `tsnpub sync --iface %s` shows the state",
		     facts->iface);
	while (!sync_interrupted()) {
		if (supervisor_turn(supervisor, NSEC_PER_SEC / 2, err))
			goto out;
		/* not before it has its socket */
		if (!tai_set && clock_now_ns(CLOCK_MONOTONIC) - begin > NSEC_PER_SEC)
			tai_set = set_tai(o);
		if (o->duration_ns && clock_now_ns(CLOCK_MONOTONIC) - begin >= o->duration_ns)
			break;
	}
	status = STATUS_GOOD;
out:
	supervisor_free(supervisor);
	scratch_remove(&directory);
	return status;
}

int sync_setup(const struct sync_options *o, struct error *err)
{
	struct setup_facts facts;

	if (gather(o, &facts, err))
		return -1;
	return o->print_setup ? print_setup(&facts, err) : start(o, &facts, err);
}

// SPDX-License-Identifier: GPL-2.0-only
#include "ptp/setup.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct out {
	char *text;
	size_t size, length; /* length: also of what did not fit */
	bool comments;
};

static void add(struct out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct out *out, const char *format, ...)
{
	size_t left = out->length < out->size ? out->size - out->length : 0;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(left ? out->text + out->length : NULL, left, format, args);
	va_end(args);
	out->length += n > 0 ? (size_t)n : 0;
}

static void setting(struct out *out, const char *why, const char *name, const char *value)
{
	if (out->comments && why)
		add(out, "# %s\n", why);
	add(out, "%-24s %s\n", name, value);
}

int setup_version(const char *version)
{
	long major = strtol(version, NULL, 10);

	return major >= 1 && major < 100 ? (int)major : 0;
}

static void add_gptp(struct out *out, bool hardware)
{
	setting(out, "IEEE 802.1AS (gPTP): its own Ethernet address, peer delay, 8 syncs a second",
		"transportSpecific", "0x1");
	setting(out, NULL, "ptp_dst_mac", "01:80:C2:00:00:0E");
	setting(out, NULL, "network_transport", "L2");
	setting(out, NULL, "delay_mechanism", "P2P");
	setting(out, NULL, "logAnnounceInterval", "0");
	setting(out, NULL, "logSyncInterval", "-3");
	setting(out, NULL, "logMinPdelayReqInterval", "0");
	setting(out, NULL, "syncReceiptTimeout", "3");
	setting(out, NULL, "follow_up_info", "1");
	setting(out, NULL, "path_trace_enabled", "1");
	setting(out, NULL, "assume_two_step", "1");
	if (hardware)
		setting(out, "a neighbour further away (ns) does not speak gPTP (802.1AS)",
			"neighborPropDelayThresh", "800");
	else
		setting(out, "software stamps make any neighbour look far away (ns)",
			"neighborPropDelayThresh", "20000000");
	setting(out, "a little below 0 is measuring noise", "min_neighbor_prop_delay", "-20000000");
}

static void add_default(struct out *out, const struct setup_facts *facts)
{
	if (facts->has_address)
		setting(out, "IEEE 1588 default profile: UDP, end-to-end delay",
			"network_transport", "UDPv4");
	else
		setting(out,
			"IEEE 1588 over Ethernet: the interface has no IPv4 address for the "
			"default "
			"profile's UDP. The other side needs the same",
			"network_transport", "L2");
	setting(out, NULL, "delay_mechanism", "E2E");
	setting(out, "8 syncs a second: settles sooner, follows the crystal better",
		"logSyncInterval", "-3");
	setting(out, NULL, "logMinDelayReqInterval", "-3");
}

static void add_role(struct out *out, const struct setup_facts *facts)
{
	/* 4.0 renamed both; 3.x knows the old names only, 4.x takes them as well */
	bool renamed = setup_version(facts->version) >= 4;

	switch (facts->role) {
	case SYNC_ROLE_SLAVE:
		setting(out,
			"never becomes master: a lost grandmaster is not replaced by this clock",
			renamed ? "clientOnly" : "slaveOnly", "1");
		break;
	case SYNC_ROLE_MASTER:
		setting(out, "never follows another: this clock is the reference",
			renamed ? "serverOnly" : "masterOnly", "1");
		setting(out, "wins against the usual 128 and 248", "priority1", "100");
		break;
	case SYNC_ROLE_ANY:
		if (facts->gptp)
			setting(out, "the best clock of all becomes grandmaster (BMCA)",
				"priority1", "248");
		break;
	}
	if (facts->gptp && facts->role != SYNC_ROLE_SLAVE)
		setting(out, NULL, "gmCapable", "1");
}

size_t setup_ptp4l_config(const struct setup_facts *facts, bool comments, char *text, size_t size)
{
	bool hardware = facts->phc_index >= 0 && facts->hardware_stamps;
	struct out out = { text, size, 0, comments };
	char number[16];

	if (size)
		text[0] = '\0';
	add(&out, "[global]\n");
	if (facts->gptp)
		add_gptp(&out, hardware);
	else
		add_default(&out, facts);
	add_role(&out, facts);
	if (facts->domain > 0) {
		snprintf(number, sizeof(number), "%d", facts->domain);
		setting(&out, NULL, "domainNumber", number);
	}
	if (hardware) {
		setting(&out, "under load a stamp can take longer than the default 1 or 10 ms",
			"tx_timestamp_timeout", "50");
		setting(&out, "slews what is below 20 us, so that launch times stay in order",
			"first_step_threshold", "0.00002");
		setting(&out, NULL, "step_threshold", "0.00002");
	} else {
		setting(&out, "the interface has no hardware stamps: good to some 10 us",
			"time_stamping", "software");
		setting(&out,
			"measures only. Without this line ptp4l steers the system clock itself",
			"free_running", "1");
	}
	if (setup_version(facts->version) >= 4)
		setting(&out,
			"some NICs do not stamp the messages of PTP 2.1, which is 4.x's default",
			"ptp_minor_version", "0");
	setting(&out, "one line a second in the log", "summary_interval", "0");
	return out.length;
}

void setup_ptp4l_command(const struct setup_facts *facts, const char *config_path,
			 const char *argv[SETUP_ARGUMENTS])
{
	static char read_only[PTP4L_SOCKET_SIZE];
	int n = 0;

	argv[n++] = facts->ptp4l;
	argv[n++] = "-f";
	argv[n++] = config_path;
	argv[n++] = "-i";
	argv[n++] = facts->iface;
	if (facts->socket) {
		argv[n++] = "--uds_address";
		argv[n++] = facts->socket;
		/* 4.x has a second one, which must not be another instance's */
		if (setup_version(facts->version) >= 4) {
			snprintf(read_only, sizeof(read_only), "%.100sro", facts->socket);
			argv[n++] = "--uds_ro_address";
			argv[n++] = read_only;
		}
	}
	argv[n++] = "-m";
	argv[n++] = "-q";
	argv[n] = NULL;
}

bool setup_phc2sys_command(const struct setup_facts *facts, const char *argv[SETUP_ARGUMENTS])
{
	static char domain[16];
	int n = 0;

	argv[0] = NULL;
	if (facts->phc_index < 0 || !facts->hardware_stamps)
		return false;
	argv[n++] = facts->phc2sys;
	switch (facts->role) {
	case SYNC_ROLE_SLAVE:
		argv[n++] = "-s";
		argv[n++] = facts->iface;
		argv[n++] = "-c";
		argv[n++] = "CLOCK_REALTIME";
		argv[n++] = "-w";
		break;
	case SYNC_ROLE_MASTER:
		argv[n++] = "-s";
		argv[n++] = "CLOCK_REALTIME";
		argv[n++] = "-c";
		argv[n++] = facts->iface;
		argv[n++] = "-w";
		break;
	case SYNC_ROLE_ANY:
		argv[n++] = "-a";
		argv[n++] = "-rr";
		break;
	}
	if (facts->gptp) {
		argv[n++] = "--transportSpecific";
		argv[n++] = "1";
	}
	if (facts->domain > 0) {
		snprintf(domain, sizeof(domain), "%d", facts->domain);
		argv[n++] = "-n";
		argv[n++] = domain;
	}
	if (facts->socket) {
		argv[n++] = "-z";
		argv[n++] = facts->socket;
	}
	argv[n++] = "-m";
	argv[n++] = "-q";
	argv[n] = NULL;
	return true;
}

static void add_command(struct out *out, const char *const *argv)
{
	add(out, "   ");
	for (int i = 0; argv[i]; i++)
		add(out, " %s", argv[i]);
	add(out, "\n");
}

static void add_found(struct out *out, const struct setup_facts *facts)
{
	static const char *const roles[] = { "slave or grandmaster, as the best clock decides",
					     "slave", "grandmaster" };

	add(out, "# %s: ", facts->iface);
	if (facts->phc_index >= 0)
		add(out, "/dev/ptp%d%s%s%s", facts->phc_index, facts->phc_name[0] ? " " : "",
		    facts->phc_name,
		    facts->hardware_stamps ? ", hardware time stamps"
					   : ", which stamps no frames: software time stamps");
	else
		add(out, "no PTP clock: software time stamps");
	add(out, "\n# linuxptp %s\n# profile %s, role: %s\n\n",
	    facts->version[0] ? facts->version : "not found: install it (apt install linuxptp)",
	    facts->gptp ? "gptp (IEEE 802.1AS)" : "default (IEEE 1588)", roles[facts->role]);
}

static void add_phc2sys_reason(struct out *out, const struct setup_facts *facts)
{
	switch (facts->role) {
	case SYNC_ROLE_SLAVE:
		add(out,
		    "# The NIC launches by its PHC, the program wakes by the system clock: phc2sys "
		    "makes the latter follow\n# (-w: once ptp4l is in sync; the UTC offset is "
		    "ptp4l's). No NTP daemon beside it.\n");
		break;
	case SYNC_ROLE_MASTER:
		add(out,
		    "# The system clock (from NTP, say) is the reference: phc2sys makes the PHC "
		    "follow it, in TAI.\n");
		break;
	case SYNC_ROLE_ANY:
		add(out,
		    "# -a follows ptp4l's port states; -rr lets the system clock be steered, and "
		    "be the source on a grandmaster.\n");
		break;
	}
}

size_t setup_text(const struct setup_facts *facts, char *text, size_t size)
{
	struct out out = { text, size, 0, true };
	const char *argv[SETUP_ARGUMENTS];
	char config[4096], path[64];

	if (size)
		text[0] = '\0';
	add_found(&out, facts);
	snprintf(path, sizeof(path), "/etc/linuxptp/%s.cfg", facts->iface);
	setup_ptp4l_config(facts, true, config, sizeof(config));
	add(&out, "# 1. %s\n\n%s\n# 2. ptp4l\n\n", path, config);
	setup_ptp4l_command(facts, path, argv);
	add_command(&out, argv);
	add(&out, "\n# 3. phc2sys\n");
	if (setup_phc2sys_command(facts, argv)) {
		add_phc2sys_reason(&out, facts);
		add(&out, "\n");
		add_command(&out, argv);
	} else {
		add(&out, "# Nothing to do without a PTP clock.\n");
	}
	add(&out,
	    "\n# 4. CLOCK_TAI. phc2sys sets the kernel's TAI offset only when the grandmaster "
	    "calls its UTC "
	    "offset valid\n# and its time traceable; most do not.\n\n    tsnpub sync "
	    "--set-tai-offset%s\n",
	    facts->role == SYNC_ROLE_MASTER ? "=37" : "");
	add(&out, "\n# 5. Is it good?\n\n    tsnpub sync --iface %s%s%s --wait 60s\n", facts->iface,
	    facts->socket ? " --socket " : "", facts->socket ? facts->socket : "");
	return out.length;
}

// SPDX-License-Identifier: GPL-2.0-only
/* The rows of the verdict about what ptp4l says. */
#include "ptp/checks.h"

#include <inttypes.h>
#include <string.h>

static enum sync_result not_asked(struct sync_check *check)
{
	REASON(check, "ptp4l does not answer");
	return SYNC_NOT_APPLICABLE;
}

static enum sync_result not_told(struct sync_check *check, const char *what)
{
	REASON(check, "ptp4l did not tell its %s", what);
	FIX(check, "try again; if it stays so, look at ptp4l's log");
	return SYNC_UNKNOWN;
}

enum sync_result check_ptp4l(const struct sync_view *v, struct sync_check *check)
{
	const struct ptp4l_status *status = &v->s->ptp4l;

	if (v->answers) {
		VALUE(check, "%s, domain %u, transportSpecific %u%s", status->socket,
		      status->domain, status->transport_specific,
		      status->transport_specific == 1 ? " (gPTP)" : "");
		if (status->read_only)
			REASON(check, "read-only socket: ptp4l does not tell its interfaces there");
		return SYNC_OK;
	}
	VALUE(check, "%s", status->socket);
	switch (status->fault) {
	case PTP4L_ABSENT:
		REASON(check, "no ptp4l: there is no such socket");
		FIX(check,
		    "start ptp4l (`tsnpub sync --print-setup` prints the command), or name its "
		    "uds_address with --socket");
		break;
	case PTP4L_STALE:
		REASON(check, "no ptp4l: the socket was left behind by one that ended");
		FIX(check, "start ptp4l again");
		break;
	case PTP4L_NOT_SOCKET:
		REASON(check, "not ptp4l's socket: %s", status->detail);
		FIX(check, "name ptp4l's uds_address with --socket");
		break;
	case PTP4L_FORBIDDEN:
		REASON(check, "no permission to write to the socket");
		FIX(check, "run as root, or set uds_file_mode 0660 and a group in ptp4l's "
			   "configuration (linuxptp 4: uds_ro_file_mode 0666 for reading alone)");
		return SYNC_UNKNOWN;
	case PTP4L_NO_PATH:
		REASON(check, "no socket of our own can be made for the answers: %s",
		       status->detail);
		FIX(check, "make /run, $XDG_RUNTIME_DIR or /tmp writable");
		return SYNC_UNKNOWN;
	case PTP4L_SILENT:
		REASON(check, "it takes messages and answers none: %s", status->detail);
		FIX(check, "if --domain or --transport-specific is given, is it what ptp4l uses "
			   "(domainNumber, transportSpecific)? Else ptp4l hangs: restart it");
		break;
	case PTP4L_STRANGE:
	case PTP4L_GARBAGE:
		REASON(check, "what listens there is no ptp4l, or an unknown version: %s",
		       status->detail);
		FIX(check, "name ptp4l's uds_address with --socket");
		break;
	case PTP4L_GONE:
		REASON(check, "ptp4l went away: %s", status->detail);
		FIX(check, "see its log (journalctl -u ptp4l), start it again");
		break;
	case PTP4L_REFUSED:
	case PTP4L_FINE:
		REASON(check, "it refuses to answer: %s", status->detail);
		FIX(check, "see ptp4l's log");
		break;
	}
	return SYNC_WRONG;
}

static const char *fix_of_state(unsigned int state)
{
	switch (state) {
	case PORT_FAULTY:
		return "see ptp4l's log: link down, or transmit time stamps missing "
		       "(tx_timestamp_timeout 10; linuxptp 4: ptp_minor_version 0)";
	case PORT_LISTENING:
		return "no master is heard: is one running in this domain, with the same "
		       "network_transport and profile, on this cable?";
	case PORT_UNCALIBRATED:
		return "wait: the servo is settling; it stays so with free_running 1, and when "
		       "delay "
		       "requests are not answered (same delay_mechanism on both sides?)";
	case PORT_DISABLED:
		return "the port is switched off in ptp4l";
	default:
		return "wait some seconds; see ptp4l's log if it stays so";
	}
}

/*
 * Without a clock of its own a port only compares, where free_running keeps ptp4l from steering the system clock: it then
 * stays UNCALIBRATED, and the offset tells whether all is well. Without an answer about the delay there is no offset.
 */
static bool compares_only(const struct sync_view *v)
{
	const struct mgmt_port *port = &v->port->ds;

	if (!v->software || v->phc || v->s->hardware_stamps)
		return false;
	return port->delay_mechanism == DELAY_P2P
		       ? port->peer_delay_ns != 0
		       : v->s->have_current && v->s->current.mean_path_delay_ns != 0;
}

enum sync_result check_port(const struct sync_view *v, struct sync_check *check)
{
	unsigned int state;

	if (!v->answers)
		return not_asked(check);
	if (!v->port) {
		if (!v->s->port_count)
			return not_told(check, "ports");
		if (!v->s->port_names_known) {
			VALUE(check, "%d ports", v->s->port_count);
			REASON(check, "which of them is %s is told on the read-write socket only",
			       v->s->iface[0] ? v->s->iface : "meant");
			FIX(check, "run as root");
			return SYNC_UNKNOWN;
		}
		REASON(check, "ptp4l does not run on %s", v->s->iface);
		FIX(check,
		    "start ptp4l with -i %s; where another ptp4l has it, name that one's "
		    "uds_address with --socket",
		    v->s->iface);
		return SYNC_WRONG;
	}
	state = v->port->ds.state;
	VALUE(check, "%s%sport %u %s", v->s->iface, v->s->iface[0] ? " " : "", v->port->ds.id.port,
	      port_state_name(state));
	LIMIT(check, "%s",
	      v->bars->role == SYNC_ROLE_SLAVE    ? "SLAVE"
	      : v->bars->role == SYNC_ROLE_MASTER ? "MASTER"
						  : "SLAVE or MASTER");
	if (state == PORT_SLAVE && v->bars->role != SYNC_ROLE_MASTER)
		return SYNC_OK;
	if (state == PORT_MASTER && v->bars->role != SYNC_ROLE_SLAVE)
		return SYNC_OK;
	if (state == PORT_UNCALIBRATED && v->bars->role != SYNC_ROLE_MASTER && compares_only(v)) {
		REASON(check, "ptp4l compares and does not steer (free_running), or is settling: "
			      "the offset tells");
		return SYNC_OK;
	}
	/* another port of this clock has the better path to the same master */
	if (state == PORT_PASSIVE && v->slave && v->bars->role == SYNC_ROLE_ANY)
		return SYNC_OK;
	if (state == PORT_MASTER) {
		REASON(check, "it serves time instead of following a master");
		FIX(check, "is a better master running? With clientOnly 1 (3.1: slaveOnly 1) ptp4l "
			   "never becomes master");
	} else if (state == PORT_SLAVE) {
		REASON(check, "it follows a better master");
		FIX(check,
		    "give this clock a lower priority1, or serverOnly 1 (3.1: masterOnly 1)");
	} else {
		REASON(check, "the port does not synchronise");
		FIX(check, "%s", fix_of_state(state));
	}
	return SYNC_WRONG;
}

enum sync_result check_timestamping(const struct sync_view *v, struct sync_check *check)
{
	if (!v->answers)
		return not_asked(check);
	if (!v->port || !v->port->have_properties) {
		REASON(check, v->port ? "told on the read-write socket only" : "no port");
		return SYNC_NOT_APPLICABLE;
	}
	VALUE(check, "%s", port_timestamping_name(v->port->properties.timestamping));
	if (!v->software)
		return SYNC_OK;
	if (v->s->hardware_stamps) {
		REASON(check,
		       "%s could stamp in hardware: software stamps are good to tens of us only",
		       v->s->iface);
		FIX(check, "start ptp4l without -S (time_stamping hardware)");
		return SYNC_WRONG;
	}
	REASON(check, "%s has no hardware stamps", v->s->iface[0] ? v->s->iface : "the interface");
	return SYNC_OK;
}

enum sync_result check_grandmaster(const struct sync_view *v, struct sync_check *check)
{
	char gm[CLOCK_IDENTITY_TEXT], before[CLOCK_IDENTITY_TEXT];

	if (!v->answers)
		return not_asked(check);
	if (!v->s->have_parent || !v->s->have_time_status)
		return not_told(check, "parent data set");
	format_clock_identity(v->s->parent.gm, gm);
	if (v->own_grandmaster)
		VALUE(check, "%s (this clock), class %u", gm, v->s->parent.gm_quality.class);
	else
		VALUE(check, "%s, class %u, %u %s away", gm, v->s->parent.gm_quality.class,
		      v->s->have_current ? v->s->current.steps_removed : 0,
		      v->s->current.steps_removed == 1 ? "step" : "steps");
	if (v->own_grandmaster && (v->s->began_as_slave || v->bars->role == SYNC_ROLE_SLAVE ||
				   (v->s->have_default && v->s->default_ds.slave_only))) {
		if (v->s->began_as_slave)
			REASON(check, "the grandmaster %s is lost: this clock runs free (holdover)",
			       format_clock_identity(v->s->gm_before, before));
		else
			REASON(check, "no grandmaster is heard");
		FIX(check, "is the grandmaster up, in the same domain, and the cable in?");
		return SYNC_WRONG;
	}
	if (!v->own_grandmaster && !v->follows) {
		REASON(check,
		       "no master is heard any more: this was the last one, the clock runs free "
		       "(holdover)");
		FIX(check, "is the grandmaster up, in the same domain, and the cable in?");
		return SYNC_WRONG;
	}
	if (v->s->gm_changed) {
		REASON(check, "another grandmaster took over from %s",
		       format_clock_identity(v->s->gm_before, before));
		FIX(check, "wait until offset and path delay have settled");
		return SYNC_WRONG;
	}
	if (v->s->parent.gm_quality.class >= 187)
		REASON(check,
		       "its clock class says that it is bound to no reference (such as GNSS)");
	return SYNC_OK;
}

enum sync_result check_offset(const struct sync_view *v, struct sync_check *check)
{
	char offset[DURATION_TEXT], limit[DURATION_TEXT];

	if (!v->answers)
		return not_asked(check);
	if (!v->s->have_time_status)
		return not_told(check, "time status");
	if (v->own_grandmaster) {
		REASON(check, "this clock is the grandmaster");
		return SYNC_NOT_APPLICABLE;
	}
	if (!v->follows) {
		REASON(check, "no port follows a master");
		return SYNC_NOT_APPLICABLE;
	}
	VALUE(check, "%s", sync_offset_text(v->s->time_status.master_offset_ns, offset));
	LIMIT(check, "%s", format_duration(v->limit_ns, limit));
	if (sync_magnitude(v->s->time_status.master_offset_ns) <= v->limit_ns)
		return SYNC_OK;
	REASON(check, "too far from the master");
	FIX(check,
	    "wait for the servo; if it stays: asymmetric path, bad stamps, or a switch that does "
	    "not speak PTP in between%s",
	    v->software ? "; with software stamps set --limit to what they give" : "");
	return SYNC_WRONG;
}

enum sync_result check_fresh(const struct sync_view *v, struct sync_check *check)
{
	char age[DURATION_TEXT], limit[DURATION_TEXT];
	int64_t interval_ns = NSEC_PER_SEC;
	int64_t bar_ns;

	if (!v->answers)
		return not_asked(check);
	if (v->own_grandmaster || !v->s->have_time_status) {
		REASON(check, v->own_grandmaster ? "this clock is the grandmaster"
						 : "ptp4l did not tell its time status");
		return SYNC_NOT_APPLICABLE;
	}
	if (!v->s->have_ingress_age) {
		REASON(check, "the stamping clock cannot be read");
		FIX(check, "%s", "run as root, so that the PHC can be read");
		return v->phc ? SYNC_UNKNOWN : SYNC_NOT_APPLICABLE;
	}
	if (v->port && v->port->ds.log_sync_interval >= -8 && v->port->ds.log_sync_interval <= 5)
		interval_ns = v->port->ds.log_sync_interval >= 0
				      ? NSEC_PER_SEC << v->port->ds.log_sync_interval
				      : NSEC_PER_SEC >> -v->port->ds.log_sync_interval;
	/* three may be lost (syncReceiptTimeout), and ptp4l needs a moment */
	bar_ns = 4 * interval_ns + 500 * NSEC_PER_MSEC;
	VALUE(check, "last sync %s ago",
	      format_duration(v->s->ingress_age_ns / NSEC_PER_MSEC * NSEC_PER_MSEC, age));
	LIMIT(check, "%s", format_duration(bar_ns, limit));
	/* negative: stamped a moment after the clock was read, or the clock was set back */
	if (v->s->ingress_age_ns <= bar_ns && v->s->ingress_age_ns >= -bar_ns)
		return SYNC_OK;
	REASON(check, "no sync message arrives: the offset above is an old one");
	FIX(check,
	    "is the master up and the cable in? After a step of the clock: wait for the next sync");
	return SYNC_WRONG;
}

enum sync_result check_delay(const struct sync_view *v, struct sync_check *check)
{
	char delay[DURATION_TEXT];
	int64_t delay_ns;
	bool peer;

	if (!v->answers)
		return not_asked(check);
	peer = v->port && v->port->ds.delay_mechanism == DELAY_P2P;
	if (!peer && v->own_grandmaster) {
		REASON(check, "this clock is the grandmaster");
		return SYNC_NOT_APPLICABLE;
	}
	if (!peer && !v->s->have_current)
		return not_told(check, "current data set");
	delay_ns = peer ? v->port->ds.peer_delay_ns : v->s->current.mean_path_delay_ns;
	VALUE(check, "%s%s", sync_offset_text(delay_ns, delay),
	      peer ? " to the peer" : " to the master");
	if (peer && v->s->ptp4l.transport_specific == 1 && v->port->have_np) {
		LIMIT(check, "%" PRIu32 "ns", v->port->np.neighbor_delay_limit_ns);
		if (!v->port->np.as_capable) {
			REASON(check, "the neighbour is not 802.1AS capable");
			FIX(check,
			    "does it answer peer delay requests, within neighborPropDelayThresh? "
			    "A switch that does not speak gPTP in between swallows or delays them");
			return SYNC_WRONG;
		}
	}
	/* a little below zero is noise; more is an asymmetry or a wrong stamp */
	if (delay_ns < -v->limit_ns) {
		REASON(check, "a negative path delay: stamps are wrong, or egressLatency and "
			      "ingressLatency too large");
		FIX(check, "check the latency corrections in ptp4l's configuration");
		return SYNC_WRONG;
	}
	return SYNC_OK;
}

enum sync_result check_timescale(const struct sync_view *v, struct sync_check *check)
{
	const struct mgmt_time_properties *t = &v->s->time_properties;

	if (!v->answers)
		return not_asked(check);
	if (!v->s->have_time_properties)
		return not_told(check, "time properties");
	VALUE(check, "%s, UTC offset %d s %s, %s", t->ptp_timescale ? "PTP" : "arbitrary",
	      t->utc_offset, t->utc_offset_valid ? "valid" : "not valid",
	      t->time_traceable ? "traceable" : "not traceable");
	if (v->software) {
		/* ptp4l with software stamps moves CLOCK_REALTIME, and says so by "arbitrary" */
		REASON(check, "software stamps: the grandmaster's system clock, UTC");
		return SYNC_OK;
	}
	LIMIT(check, "PTP");
	if (!t->ptp_timescale) {
		REASON(check, "the grandmaster's time is not TAI");
		FIX(check, "on the grandmaster: timeSource and ptp_timescale "
			   "(pmc: SET GRANDMASTER_SETTINGS_NP ... ptpTimescale 1)");
		return SYNC_WRONG;
	}
	if (!t->utc_offset_valid || !t->time_traceable)
		REASON(check, "so phc2sys will not set the kernel's TAI offset");
	return SYNC_OK;
}

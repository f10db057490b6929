// SPDX-License-Identifier: GPL-2.0-only
#include "ptp/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/scratch.h"

/* CLOCK_TAI against CLOCK_MONOTONIC_RAW at one moment. */
struct tai_point {
	int64_t raw_ns, tai_ns;
};

struct sync_source {
	struct sync_source_config config;
	struct ptp4l *client;
	unsigned int connections;
	struct ptp4l_status status; /* of the open client */
	char phc_iface[SYNC_IFACE_SIZE]; /* whose PHC is open */
	int phc_fd, phc_index;
	char phc_error[192];
	bool have_tai, have_point;
	struct tai_point tai;
	struct phc_point point;
	struct steering steering;
	bool looked_at_proc;
	bool have_gm, began_as_slave, seen_state;
	uint8_t gm[8];
};

struct sync_source *sync_source_open(const struct sync_source_config *config, struct error *err)
{
	struct sync_source *source = calloc(1, sizeof(*source));
	int index;

	if (!source) {
		error_errno(err, ENOMEM, "cannot watch the clocks");
		return NULL;
	}
	scratch_clean(PTP4L_SCRATCH);
	source->config = *config;
	source->phc_fd = -1;
	source->phc_index = PHC_INDEX_UNKNOWN;
	if (config->iface && phc_index_of(config->iface, &index, NULL, err)) {
		free(source);
		return NULL;
	}
	return source;
}

void sync_source_close(struct sync_source *source)
{
	if (!source)
		return;
	ptp4l_close(source->client);
	if (source->phc_fd >= 0)
		close(source->phc_fd);
	free(source);
}

struct ptp4l *sync_source_ptp4l(struct sync_source *source)
{
	return source->client;
}

unsigned int sync_source_connections(const struct sync_source *source)
{
	return source->connections;
}

static struct sync_port *find_port(struct sync_snapshot *s, unsigned int number)
{
	for (int i = 0; i < s->port_count; i++)
		if (s->ports[i].ds.id.port == number)
			return &s->ports[i];
	return NULL;
}

/* Asks for one data set of the clock. Returns true when it came; a dead ptp4l ends the asking. */
static bool get_one(struct sync_source *source, uint16_t id, struct mgmt_tlv *tlv,
		    struct ptp4l_status *status)
{
	int n;

	if (status->fault != PTP4L_FINE && status->fault != PTP4L_REFUSED)
		return false;
	n = ptp4l_get(source->client, id, tlv, 1, 1, status);
	if (n == -PTP4L_REFUSED) /* this one only: an old version, or a read-only socket */
		status->fault = PTP4L_FINE;
	else if (n < 0)
		status->fault = (enum ptp4l_fault) - n;
	return n > 0;
}

static int get_ports(struct sync_source *source, uint16_t id, struct mgmt_tlv *tlv, int ports,
		     struct ptp4l_status *status)
{
	int n;

	if (status->fault != PTP4L_FINE || ports <= 0)
		return 0;
	n = ptp4l_get(source->client, id, tlv, PTP4L_PORTS_MAX, ports, status);
	if (n == -PTP4L_REFUSED)
		status->fault = PTP4L_FINE;
	else if (n < 0)
		status->fault = (enum ptp4l_fault) - n;
	return n > 0 ? n : 0;
}

static void read_ports(struct sync_source *source, struct sync_snapshot *s)
{
	struct mgmt_tlv tlv[PTP4L_PORTS_MAX];
	int ports = s->default_ds.ports;
	int n;

	if (ports > PTP4L_PORTS_MAX)
		ports = PTP4L_PORTS_MAX;
	n = get_ports(source, MGMT_PORT_DATA_SET, tlv, ports, &s->ptp4l);
	for (int i = 0; i < n; i++)
		s->ports[s->port_count++].ds = tlv[i].data.port;
	n = get_ports(source, MGMT_PORT_PROPERTIES_NP, tlv, s->port_count, &s->ptp4l);
	for (int i = 0; i < n; i++) {
		struct sync_port *port = find_port(s, tlv[i].data.properties.id.port);

		if (!port)
			continue;
		port->properties = tlv[i].data.properties;
		port->have_properties = true;
		s->port_names_known = true;
	}
	n = get_ports(source, MGMT_PORT_HWCLOCK_NP, tlv, s->port_count, &s->ptp4l);
	for (int i = 0; i < n; i++) {
		struct sync_port *port = find_port(s, tlv[i].data.hwclock.id.port);

		if (!port)
			continue;
		port->hwclock = tlv[i].data.hwclock;
		port->have_hwclock = true;
	}
	/* does not say which port it is about: only asked where there is one */
	if (s->port_count == 1 &&
	    get_ports(source, MGMT_PORT_DATA_SET_NP, tlv, 1, &s->ptp4l) == 1) {
		s->ports[0].np = tlv[0].data.port_np;
		s->ports[0].have_np = true;
	}
}

/* Which port is meant: the given interface's, else the one that follows a master, else the first. */
static void choose_port(struct sync_source *source, struct sync_snapshot *s)
{
	const char *iface = source->config.iface;

	s->port = -1;
	for (int i = 0; i < s->port_count && s->port < 0; i++) {
		const struct sync_port *port = &s->ports[i];

		if (iface ? port->have_properties && !strcmp(port->properties.iface, iface)
			  : port->ds.state == PORT_SLAVE)
			s->port = i;
	}
	if (s->port < 0 && s->port_count &&
	    (!iface || (!s->port_names_known && s->port_count == 1)))
		s->port = 0;
	if (!iface && s->port >= 0 && s->ports[s->port].have_properties)
		snprintf(s->iface, sizeof(s->iface), "%s", s->ports[s->port].properties.iface);
}

static void read_ptp4l(struct sync_source *source, struct sync_snapshot *s)
{
	struct mgmt_tlv tlv;

	if (!source->client) {
		source->client = ptp4l_open(&source->config.ptp4l, &s->ptp4l);
		if (!source->client)
			return;
		source->status = s->ptp4l;
		source->connections++;
	}
	s->ptp4l = source->status;
	s->have_default = get_one(source, MGMT_DEFAULT_DATA_SET, &tlv, &s->ptp4l);
	if (s->have_default)
		s->default_ds = tlv.data.default_ds;
	s->have_time_status = get_one(source, MGMT_TIME_STATUS_NP, &tlv, &s->ptp4l);
	if (s->have_time_status)
		s->time_status = tlv.data.time_status;
	s->have_parent = get_one(source, MGMT_PARENT_DATA_SET, &tlv, &s->ptp4l);
	if (s->have_parent)
		s->parent = tlv.data.parent;
	s->have_current = get_one(source, MGMT_CURRENT_DATA_SET, &tlv, &s->ptp4l);
	if (s->have_current)
		s->current = tlv.data.current;
	s->have_time_properties = get_one(source, MGMT_TIME_PROPERTIES_DATA_SET, &tlv, &s->ptp4l);
	if (s->have_time_properties)
		s->time_properties = tlv.data.time_properties;
	if (s->have_default)
		read_ports(source, s);
	choose_port(source, s);
	if (s->ptp4l.fault != PTP4L_FINE) {
		/* it may come back as another process: begin anew next time */
		ptp4l_close(source->client);
		source->client = NULL;
	}
}

/* Opens the PHC of the interface; again when the interface or its PHC changed (driver reloaded). */
static void open_phc(struct sync_source *source, struct sync_snapshot *s)
{
	struct error err = ERROR_INIT;
	int index = PHC_INDEX_NONE;

	s->phc_index = PHC_INDEX_UNKNOWN;
	if (!s->iface[0])
		return;
	if (phc_index_of(s->iface, &index, &s->hardware_stamps, &err))
		index = PHC_INDEX_NONE;
	s->phc_index = index;
	if (source->phc_fd >= 0 &&
	    (index != source->phc_index || strcmp(s->iface, source->phc_iface))) {
		close(source->phc_fd);
		source->phc_fd = -1;
		source->have_point = false;
	}
	source->phc_index = index;
	snprintf(source->phc_iface, sizeof(source->phc_iface), "%s", s->iface);
	if (index < 0 || source->phc_fd >= 0)
		return;
	source->phc_fd = phc_open(index, &err);
	if (source->phc_fd < 0)
		snprintf(source->phc_error, sizeof(source->phc_error), "%s", err.text);
}

static void read_frequency(struct sync_source *source, struct sync_snapshot *s)
{
	struct phc_point now;
	bool before = source->have_point;

	if (phc_point(source->phc_fd, &now))
		return;
	if (!before && source->config.frequency_ns > 0) {
		struct timespec pause = ns_to_timespec(source->config.frequency_ns);

		source->point = now;
		source->have_point = true;
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
		if (phc_point(source->phc_fd, &now))
			return;
	}
	if (source->have_point) {
		s->frequency_ppb = phc_frequency_ppb(&source->point, &now,
						     &s->frequency_uncertainty_ppb);
		s->have_frequency = true;
		if (before &&
		    __builtin_sub_overflow(now.phc_ns - source->point.phc_ns,
					   now.raw_ns - source->point.raw_ns, &s->phc_step_ns) == 0)
			s->have_phc_step = true;
	}
	source->point = now;
	source->have_point = true;
}

static void read_phc(struct sync_source *source, struct sync_snapshot *s)
{
	struct error err = ERROR_INIT;

	open_phc(source, s);
	if (s->phc_index < 0)
		return;
	phc_name(s->phc_index, s->phc_name);
	if (source->phc_fd < 0) {
		snprintf(s->phc_error, sizeof(s->phc_error), "%s", source->phc_error);
		return;
	}
	read_frequency(source, s);
	if (phc_read(source->phc_fd, &s->phc, &err)) {
		snprintf(s->phc_error, sizeof(s->phc_error), "%s", err.text);
		/* a NIC that was unplugged: opened anew next time */
		close(source->phc_fd);
		source->phc_fd = -1;
		source->have_point = false;
		return;
	}
	s->have_phc = true;
}

/* CLOCK_TAI between two close readings of CLOCK_MONOTONIC_RAW. */
static struct tai_point read_tai(void)
{
	struct tai_point best = { 0, 0 };
	int64_t best_window = INT64_MAX;

	for (int i = 0; i < 10; i++) {
		int64_t before = clock_now_ns(CLOCK_MONOTONIC_RAW);
		int64_t tai = tai_now_ns();
		int64_t window = clock_now_ns(CLOCK_MONOTONIC_RAW) - before;

		if (window < best_window) {
			best_window = window;
			best.raw_ns = before + window / 2;
			best.tai_ns = tai;
		}
	}
	return best;
}

static void read_steps(struct sync_source *source, struct sync_snapshot *s)
{
	struct tai_point now = read_tai();

	if (source->have_tai) {
		s->have_before = true;
		s->elapsed_ns = now.raw_ns - source->tai.raw_ns;
		s->tai_step_ns = now.tai_ns - source->tai.tai_ns - s->elapsed_ns;
	}
	source->tai = now;
	source->have_tai = true;
	s->tai_ns = now.tai_ns;
}

void sync_source_glance(struct sync_source *source, struct sync_snapshot *s)
{
	struct error err = ERROR_INIT;

	s->have_phc_step = s->gm_changed = s->have_before = false;
	/* a PHC that went away is the next snapshot's affair */
	if (source->phc_fd >= 0)
		s->have_phc = phc_read(source->phc_fd, &s->phc, &err) == 0;
	kernel_clock_read(&s->kernel);
	read_steps(source, s);
}

/* The last sync's receive time is in the time of the clock that stamped it. */
static void read_ingress_age(struct sync_snapshot *s, int64_t asked_ns)
{
	int64_t now;

	if (!s->have_time_status || !s->time_status.gm_present)
		return;
	if (s->port >= 0 && s->ports[s->port].have_properties &&
	    s->ports[s->port].properties.timestamping == PORT_STAMPS_SOFTWARE)
		now = clock_now_ns(CLOCK_REALTIME);
	else if (s->have_phc)
		now = s->tai_ns + s->phc.tai_offset_ns;
	else
		return;
	/* not what went by since ptp4l was asked: measuring the frequency takes its time */
	now -= clock_now_ns(CLOCK_MONOTONIC) - asked_ns;
	s->have_ingress_age = !__builtin_sub_overflow(now, s->time_status.ingress_ns,
						      &s->ingress_age_ns);
}

static void follow_grandmaster(struct sync_source *source, struct sync_snapshot *s)
{
	if (!s->have_time_status || s->ptp4l.fault != PTP4L_FINE)
		return;
	if (!source->seen_state) {
		source->seen_state = true;
		source->began_as_slave = s->time_status.gm_present;
		memcpy(source->gm, s->time_status.gm, sizeof(source->gm));
		source->have_gm = true;
	}
	source->began_as_slave |= s->time_status.gm_present;
	s->began_as_slave = source->began_as_slave;
	memcpy(s->gm_before, source->gm, sizeof(s->gm_before));
	if (!s->time_status.gm_present)
		return;
	s->gm_changed = source->have_gm &&
			memcmp(source->gm, s->time_status.gm, sizeof(source->gm));
	memcpy(source->gm, s->time_status.gm, sizeof(source->gm));
	source->have_gm = true;
}

void sync_source_read(struct sync_source *source, bool full, struct sync_snapshot *s)
{
	int64_t asked_ns;

	memset(s, 0, sizeof(*s));
	s->port = -1;
	s->iface_given = source->config.iface != NULL;
	if (s->iface_given)
		snprintf(s->iface, sizeof(s->iface), "%s", source->config.iface);
	read_ptp4l(source, s);
	asked_ns = clock_now_ns(CLOCK_MONOTONIC);
	read_phc(source, s);
	kernel_clock_read(&s->kernel);
	if (full || !source->looked_at_proc) {
		steering_read(source->config.proc ? source->config.proc : "/proc",
			      &source->steering);
		source->looked_at_proc = true;
	}
	s->steering = source->steering;
	read_steps(source, s);
	read_ingress_age(s, asked_ns);
	follow_grandmaster(source, s);
}

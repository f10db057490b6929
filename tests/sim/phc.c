// SPDX-License-Identifier: GPL-2.0-only
/*
 * The PTP hardware clock of a port: an exact linear map of raw time.
 *
 * phc(raw) = phc0 + floor((raw - raw0) * mult + frac0), in 2^-48 ns. Each change of frequency or
 * time starts a new map at the present instant and carries the fraction over, so nothing is lost
 * by rounding however often a servo adjusts. The last few maps are kept: an event whose model time
 * lies before a change is converted by the map that was in force then.
 */
#include <linux/math64.h>
#include <linux/timekeeping.h>
#include "tsnsim.h"

#define ONE	BIT_ULL(TSNSIM_PHC_SHIFT)

static struct tsnsim_port *to_port(struct ptp_clock_info *info)
{
	return container_of(info, struct tsnsim_port, phc.info);
}

/* raw must not lie before m->raw0. */
static s64 map_at(const struct tsnsim_phc_map *m, s64 raw, u64 *frac)
{
	unsigned __int128 sum;

	sum = (unsigned __int128)(u64)(raw - m->raw0) * m->mult + m->frac0;
	if (frac)
		*frac = (u64)sum & (ONE - 1);
	return m->phc0 + (s64)(u64)(sum >> TSNSIM_PHC_SHIFT);
}

s64 tsnsim_phc_at(const struct tsnsim_port *port, s64 raw)
{
	const struct tsnsim_phc_map *m = port->phc.map;
	int i;

	for (i = 0; i < TSNSIM_PHC_MAPS - 1 && raw < m[i].raw0; i++)
		;
	if (raw < m[i].raw0)	/* older than all that is kept: only before the port existed */
		return m[i].phc0 - (m[i].raw0 - raw);
	return map_at(&m[i], raw, NULL);
}

s64 tsnsim_phc_to_raw(const struct tsnsim_port *port, s64 phc)
{
	const struct tsnsim_phc_map *m = port->phc.map;
	s64 raw;

	if (phc <= m->phc0)
		return m->raw0 - min_t(s64, m->phc0 - phc, m->raw0);
	if (phc - m->phc0 > S64_MAX / 4)
		return TSNSIM_NEVER;
	raw = m->raw0 + (s64)mul_u64_u64_div_u64(phc - m->phc0, ONE, m->mult);
	while (map_at(m, raw, NULL) < phc)
		raw++;
	while (raw > m->raw0 && map_at(m, raw - 1, NULL) >= phc)
		raw--;
	return raw;
}

/* Starts a new map now; the caller then changes its phc0 or mult. */
static struct tsnsim_phc_map *map_restart(struct tsnsim_port *port)
{
	struct tsnsim_phc_map *m = port->phc.map, next = m[0];
	s64 now = tsnsim_raw_now();

	next.phc0 = map_at(&m[0], now, &next.frac0);
	next.raw0 = now;
	/* Two changes at one instant would leave a map of no length behind. */
	if (now > m[0].raw0)
		memmove(&m[1], &m[0], sizeof(*m) * (TSNSIM_PHC_MAPS - 1));
	m[0] = next;
	tsnsim_port_decided(port, now);
	return &m[0];
}

/* (1 + drift / 1e9) * (1 + scaled_ppm / (65536 * 1e6)) in 2^-48; both factors fit 63 bits. */
static u64 phc_mult(const struct tsnsim_phc *phc)
{
	s64 crystal = (s64)ONE + div_s64((s64)phc->drift_ppb * (1LL << 39), 1953125);
	s64 servo = (s64)ONE + div_s64((s64)phc->scaled_ppm * (1LL << 26), 15625);

	return (u64)(((unsigned __int128)crystal * servo) >> TSNSIM_PHC_SHIFT);
}

/*
 * All changes run the wire first, so that what is due leaves by the old map, and afterwards,
 * because the timers were set by it.
 */
static int phc_adjfine(struct ptp_clock_info *info, long scaled_ppm)
{
	struct tsnsim_port *port = to_port(info);
	unsigned long flags;

	raw_spin_lock_irqsave(&port->pair->lock, flags);
	tsnsim_wire_run(port->pair);
	port->phc.scaled_ppm = scaled_ppm;
	map_restart(port)->mult = phc_mult(&port->phc);
	tsnsim_wire_run(port->pair);
	raw_spin_unlock_irqrestore(&port->pair->lock, flags);
	tsnsim_kick(port->pair);
	return 0;
}

void tsnsim_phc_set_drift(struct tsnsim_port *port, s32 ppb)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&port->pair->lock, flags);
	tsnsim_wire_run(port->pair);
	port->phc.drift_ppb = ppb;
	map_restart(port)->mult = phc_mult(&port->phc);
	tsnsim_wire_run(port->pair);
	raw_spin_unlock_irqrestore(&port->pair->lock, flags);
	tsnsim_kick(port->pair);
}

int tsnsim_phc_step(struct tsnsim_port *port, s64 ns)
{
	struct tsnsim_phc_map *m;
	unsigned long flags;
	int err = -ERANGE;
	s64 phc;

	raw_spin_lock_irqsave(&port->pair->lock, flags);
	tsnsim_wire_run(port->pair);
	m = map_restart(port);
	if (!check_add_overflow(m->phc0, ns, &phc) && phc >= 0 && phc <= TSNSIM_MAX_PHC_NS) {
		m->phc0 = phc;
		err = 0;
	}
	tsnsim_wire_run(port->pair);
	raw_spin_unlock_irqrestore(&port->pair->lock, flags);
	tsnsim_kick(port->pair);
	return err;
}

static int phc_adjtime(struct ptp_clock_info *info, s64 delta)
{
	return tsnsim_phc_step(to_port(info), delta);
}

static int phc_gettimex(struct ptp_clock_info *info, struct timespec64 *ts,
			struct ptp_system_timestamp *sts)
{
	struct tsnsim_port *port = to_port(info);
	unsigned long flags;
	s64 ns;

	raw_spin_lock_irqsave(&port->pair->lock, flags);
	ptp_read_system_prets(sts);
	ns = tsnsim_raw_now();
	ptp_read_system_postts(sts);
	ns = tsnsim_phc_at(port, ns);
	raw_spin_unlock_irqrestore(&port->pair->lock, flags);
	*ts = ns_to_timespec64(ns);
	return 0;
}

static int phc_settime(struct ptp_clock_info *info, const struct timespec64 *ts)
{
	struct tsnsim_port *port = to_port(info);
	s64 ns = timespec64_to_ns(ts);
	struct tsnsim_phc_map *m;
	unsigned long flags;

	if (ns < 0 || ns > TSNSIM_MAX_PHC_NS)
		return -ERANGE;
	raw_spin_lock_irqsave(&port->pair->lock, flags);
	tsnsim_wire_run(port->pair);
	m = map_restart(port);
	m->phc0 = ns;
	m->frac0 = 0;
	tsnsim_wire_run(port->pair);
	raw_spin_unlock_irqrestore(&port->pair->lock, flags);
	tsnsim_kick(port->pair);
	return 0;
}

/* One snapshot gives system and raw time of the same instant, and the PHC is a function of raw. */
static int phc_crosststamp(struct ptp_clock_info *info, struct system_device_crosststamp *cts)
{
	struct tsnsim_port *port = to_port(info);
	struct system_time_snapshot snap;
	unsigned long flags;

	raw_spin_lock_irqsave(&port->pair->lock, flags);
	ktime_get_snapshot(&snap);
	cts->device = ns_to_ktime(tsnsim_phc_at(port, ktime_to_ns(snap.raw)));
	raw_spin_unlock_irqrestore(&port->pair->lock, flags);
	cts->sys_realtime = snap.real;
	cts->sys_monoraw = snap.raw;
	return 0;
}

s64 tsnsim_snapshot_tai(const struct system_time_snapshot *snap)
{
	return ktime_to_ns(snap->real) + ktime_to_ns(ktime_mono_to_any(0, TK_OFFS_TAI)) -
	       ktime_to_ns(ktime_mono_to_any(0, TK_OFFS_REAL));
}

int tsnsim_phc_register(struct tsnsim_port *port, s64 offset_ns, s32 drift_ppb)
{
	struct tsnsim_phc *phc = &port->phc;
	int i;

	phc->info = (struct ptp_clock_info) {
		.owner = THIS_MODULE,
		.max_adj = TSNSIM_MAX_ADJ_PPB,
		.adjfine = phc_adjfine,
		.adjtime = phc_adjtime,
		.gettimex64 = phc_gettimex,
		.settime64 = phc_settime,
		.getcrosststamp = port->model->crosststamp ? phc_crosststamp : NULL,
	};
	strscpy(phc->info.name, port->dev->name, sizeof(phc->info.name));
	phc->drift_ppb = drift_ppb;
	phc->map[0] = (struct tsnsim_phc_map) {
		.raw0 = tsnsim_epoch_raw,
		.phc0 = tsnsim_epoch_tai + offset_ns,
		.mult = phc_mult(phc),
	};
	for (i = 1; i < TSNSIM_PHC_MAPS; i++)
		phc->map[i] = phc->map[0];

	phc->clock = ptp_clock_register(&phc->info, NULL);
	if (IS_ERR(phc->clock)) {
		int err = PTR_ERR(phc->clock);

		phc->clock = NULL;
		return err;
	}
	return phc->clock ? 0 : -EOPNOTSUPP;
}

void tsnsim_phc_unregister(struct tsnsim_port *port)
{
	if (port->phc.clock)
		ptp_clock_unregister(port->phc.clock);
	port->phc.clock = NULL;
}

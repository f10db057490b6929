// SPDX-License-Identifier: GPL-2.0-only
/*
 * ethtool: identity, link, rings, coalescing, EEE, time stamping, statistics.
 *
 * The driver's name is "tsnsim"; the model is in the firmware version, so that a tool's table of
 * NICs can map the pair (driver, firmware) to the row of the part.
 */
#include <linux/linkmode.h>
#include "tsnsim.h"

#define MAX_USECS	10000
#define MAX_LPI_TIMER_US 1000000

static bool igc_or_igb(const struct tsnsim_port *port)
{
	return port->model->driver == TSNSIM_DRIVER_IGC || port->model->driver == TSNSIM_DRIVER_IGB;
}

static void get_drvinfo(struct net_device *dev, struct ethtool_drvinfo *info)
{
	struct tsnsim_port *port = netdev_priv(dev);

	strscpy(info->driver, TSNSIM_NAME, sizeof(info->driver));
	strscpy(info->fw_version, port->model->name, sizeof(info->fw_version));
	snprintf(info->bus_info, sizeof(info->bus_info), "pair%d-port%d", port->pair->index,
		 port->index);
}

static const struct {
	u32 mbps;
	int bit;
} speeds[] = {
	{ 100, ETHTOOL_LINK_MODE_100baseT_Full_BIT },
	{ 1000, ETHTOOL_LINK_MODE_1000baseT_Full_BIT },
	{ 2500, ETHTOOL_LINK_MODE_2500baseT_Full_BIT },
};

static int get_link_ksettings(struct net_device *dev, struct ethtool_link_ksettings *s)
{
	struct tsnsim_port *port = netdev_priv(dev);
	bool up = netif_carrier_ok(dev);
	int i;

	ethtool_link_ksettings_zero_link_mode(s, supported);
	ethtool_link_ksettings_add_link_mode(s, supported, Autoneg);
	ethtool_link_ksettings_add_link_mode(s, supported, TP);
	for (i = 0; i < ARRAY_SIZE(speeds); i++)
		if (speeds[i].mbps <= port->model->max_speed_mbps)
			__set_bit(speeds[i].bit, s->link_modes.supported);
	linkmode_copy(s->link_modes.advertising, s->link_modes.supported);
	s->base.speed = up ? READ_ONCE(port->pair->speed_mbps) : SPEED_UNKNOWN;
	s->base.duplex = up ? DUPLEX_FULL : DUPLEX_UNKNOWN;
	s->base.port = PORT_TP;
	s->base.autoneg = port->autoneg;
	return 0;
}

static int set_link_ksettings(struct net_device *dev, const struct ethtool_link_ksettings *s)
{
	struct tsnsim_port *port = netdev_priv(dev);
	u32 mbps = s->base.speed;
	int i;

	if (s->base.duplex != DUPLEX_FULL && s->base.duplex != DUPLEX_UNKNOWN)
		return -EINVAL;
	if (s->base.autoneg == AUTONEG_ENABLE) {
		/* the best mode that is advertised; both ends of the cable follow */
		mbps = 0;
		for (i = 0; i < ARRAY_SIZE(speeds); i++)
			if (test_bit(speeds[i].bit, s->link_modes.advertising) &&
			    speeds[i].mbps <= port->model->max_speed_mbps &&
			    speeds[i].mbps <= port->peer->model->max_speed_mbps)
				mbps = speeds[i].mbps;
	}
	i = tsnsim_pair_set_speed(port->pair, mbps);
	if (i)
		return i;
	port->autoneg = s->base.autoneg;
	return 0;
}

static void get_ringparam(struct net_device *dev, struct ethtool_ringparam *ring,
			  struct kernel_ethtool_ringparam *kernel_ring,
			  struct netlink_ext_ack *extack)
{
	struct tsnsim_port *port = netdev_priv(dev);

	ring->rx_max_pending = 4096;
	ring->tx_max_pending = 4096;
	ring->rx_pending = port->rx_ring_size;
	ring->tx_pending = port->tx_ring_size;
}

static int set_ringparam(struct net_device *dev, struct ethtool_ringparam *ring,
			 struct kernel_ethtool_ringparam *kernel_ring,
			 struct netlink_ext_ack *extack)
{
	struct tsnsim_port *port = netdev_priv(dev);
	unsigned long flags;

	if (ring->rx_mini_pending || ring->rx_jumbo_pending)
		return -EINVAL;
	if (ring->rx_pending < 64 || ring->tx_pending < 64) {
		NL_SET_ERR_MSG_MOD(extack, "rings have 64 to 4096 entries");
		return -EINVAL;
	}
	raw_spin_lock_irqsave(&port->pair->lock, flags);
	port->rx_ring_size = ring->rx_pending;
	port->tx_ring_size = ring->tx_pending;
	raw_spin_unlock_irqrestore(&port->pair->lock, flags);
	/* a queue that was full before may have room now */
	if (netif_running(dev))
		netif_tx_wake_all_queues(dev);
	return 0;
}

static int get_coalesce(struct net_device *dev, struct ethtool_coalesce *c,
			struct kernel_ethtool_coalesce *kc, struct netlink_ext_ack *extack)
{
	struct tsnsim_port *port = netdev_priv(dev);

	c->rx_coalesce_usecs = port->coalesce.rx_coalesce_usecs;
	c->tx_coalesce_usecs = port->coalesce.tx_coalesce_usecs;
	return 0;
}

static int set_coalesce(struct net_device *dev, struct ethtool_coalesce *c,
			struct kernel_ethtool_coalesce *kc, struct netlink_ext_ack *extack)
{
	struct tsnsim_port *port = netdev_priv(dev);
	unsigned long flags;

	if (c->rx_coalesce_usecs > MAX_USECS || c->tx_coalesce_usecs > MAX_USECS) {
		NL_SET_ERR_MSG_MOD(extack, "at most 10000 us");
		return -EINVAL;
	}
	if (igc_or_igb(port)) {
		u32 usecs = c->rx_coalesce_usecs;

		/* 0: off, 1 and 3: adaptive; the queues of a vector share one setting */
		if (usecs == 2 || (usecs > 3 && usecs < 10))
			return -EINVAL;
		if (c->tx_coalesce_usecs != port->coalesce.tx_coalesce_usecs) {
			NL_SET_ERR_MSG_MOD(extack,
					   "Queue Pair mode enabled, both Rx and Tx coalescing controlled by rx-usecs");
			return -EINVAL;
		}
	}
	raw_spin_lock_irqsave(&port->pair->lock, flags);
	port->coalesce.rx_coalesce_usecs = c->rx_coalesce_usecs;
	port->coalesce.tx_coalesce_usecs = igc_or_igb(port) ? c->rx_coalesce_usecs :
							      c->tx_coalesce_usecs;
	raw_spin_unlock_irqrestore(&port->pair->lock, flags);
	return 0;
}

static int get_eee(struct net_device *dev, struct ethtool_keee *eee)
{
	struct tsnsim_port *port = netdev_priv(dev);

	if (port->model->driver == TSNSIM_DRIVER_ENETC)
		return -EOPNOTSUPP;
	*eee = port->eee;
	eee->eee_active = eee->eee_enabled && port->peer->eee.eee_enabled &&
			  netif_carrier_ok(dev);
	return 0;
}

/* Tw_sys_tx of IEEE 802.3-2018 table 78-4 (2.5 Gb/s: 802.3bz). */
static s64 wake_time_ns(u32 speed_mbps)
{
	switch (speed_mbps) {
	case 100:
		return 30000;
	case 1000:
		return 16500;
	default:
		return 29440;
	}
}

s64 tsnsim_eee_wake_ns(const struct tsnsim_port *port, s64 idle_ns)
{
	const struct ethtool_keee *eee = &port->eee;

	if (!eee->eee_enabled || !eee->tx_lpi_enabled || !port->peer->eee.eee_enabled ||
	    idle_ns <= (s64)eee->tx_lpi_timer * NSEC_PER_USEC)
		return 0;
	return wake_time_ns(port->pair->speed_mbps);
}

static int set_eee(struct net_device *dev, struct ethtool_keee *eee)
{
	struct tsnsim_port *port = netdev_priv(dev);
	bool lpi = eee->tx_lpi_enabled, bounce = false;
	unsigned long flags;

	if (port->model->driver == TSNSIM_DRIVER_ENETC)
		return -EOPNOTSUPP;
	if (igc_or_igb(port)) {
		/* on or off as a whole; the link is negotiated anew */
		if (port->eee.eee_enabled ? (!lpi || eee->tx_lpi_timer) : !eee->eee_enabled) {
			netdev_err(dev, "Setting EEE options is not supported\n");
			return -EINVAL;
		}
		lpi = eee->eee_enabled;
		eee->tx_lpi_timer = 0;
		bounce = port->eee.eee_enabled != eee->eee_enabled;
	}
	if (eee->tx_lpi_timer > MAX_LPI_TIMER_US) {
		netdev_err(dev, "tx-timer %u refused: at most %d us\n", eee->tx_lpi_timer,
			   MAX_LPI_TIMER_US);
		return -ERANGE;
	}
	raw_spin_lock_irqsave(&port->pair->lock, flags);
	tsnsim_wire_run(port->pair);
	port->eee.eee_enabled = eee->eee_enabled;
	port->eee.tx_lpi_enabled = lpi;
	port->eee.tx_lpi_timer = eee->tx_lpi_timer;
	tsnsim_port_decided(port, tsnsim_raw_now());
	tsnsim_port_silent(port, tsnsim_raw_now());
	tsnsim_wire_run(port->pair);
	raw_spin_unlock_irqrestore(&port->pair->lock, flags);
	tsnsim_kick(port->pair);
	if (bounce && netif_running(dev))
		tsnsim_port_reset(port);
	return 0;
}

static void get_channels(struct net_device *dev, struct ethtool_channels *ch)
{
	struct tsnsim_port *port = netdev_priv(dev);

	ch->max_combined = port->n_rxq;
	ch->combined_count = port->n_rxq;
	ch->max_tx = port->n_txq - port->n_rxq;
	ch->tx_count = ch->max_tx;
}

static int get_ts_info(struct net_device *dev, struct kernel_ethtool_ts_info *info)
{
	struct tsnsim_port *port = netdev_priv(dev);

	info->so_timestamping = SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_RX_SOFTWARE |
				SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_TX_HARDWARE |
				SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE;
	info->phc_index = port->phc.clock ? ptp_clock_index(port->phc.clock) : -1;
	info->tx_types = BIT(HWTSTAMP_TX_OFF) | BIT(HWTSTAMP_TX_ON);
	info->rx_filters = BIT(HWTSTAMP_FILTER_NONE) | BIT(HWTSTAMP_FILTER_ALL);
	return 0;
}

/*
 * Counters bear the names that they have in the real driver, and a model has those of its driver
 * only; those that begin with sim_ are our own. "ideal" has them all.
 */
#define IGC	BIT(TSNSIM_DRIVER_IGC)
#define IGB	BIT(TSNSIM_DRIVER_IGB)
#define ENETC	BIT(TSNSIM_DRIVER_ENETC)
#define INTEL	(IGC | IGB)
#define ALL	(INTEL | ENETC)

struct counter {
	u8 drivers;
	const char *name;	/* with %d of some kind for the queue's number */
	size_t offset;
};

#define PORT(drivers_, name_, field_) \
	{ drivers_, name_, offsetof(struct tsnsim_port_stats, field_) }
#define TXQ(drivers_, name_, field_) \
	{ drivers_, name_, offsetof(struct tsnsim_txq, field_) }
#define VEC(drivers_, name_, field_) \
	{ drivers_, name_, offsetof(struct tsnsim_vec, field_) }

static const struct counter port_counters[] = {
	PORT(INTEL, "tx_packets", tx_packets),
	PORT(INTEL, "tx_bytes", tx_bytes),
	PORT(INTEL, "tx_dropped", tx_dropped),
	PORT(INTEL, "rx_crc_errors", rx_crc_errors),
	PORT(INTEL, "rx_missed_errors", rx_missed),
	PORT(INTEL, "rx_long_length_errors", rx_oversize),
	PORT(INTEL, "tx_hwtstamp_timeouts", tx_hwtstamp_timeouts),
	PORT(INTEL, "tx_hwtstamp_skipped", tx_hwtstamp_skipped),
	PORT(IGC, "tx_lpi_counter", lpi_wakes),
	PORT(IGC, "qbv_config_change_errors", qbv_config_change_errors),
	PORT(ENETC, "SI tx frames", tx_packets),
	PORT(ENETC, "SI tx octets", tx_bytes),
	PORT(ENETC, "MAC rx fcs errors", rx_crc_errors),
	PORT(ALL, "sim_tx_hwtstamps", tx_hwtstamps),
	PORT(ALL, "sim_tx_empty_frames", tx_empty_frames),
	PORT(ALL, "sim_launch_late", launch_late),
	PORT(ALL, "sim_rx_filtered", rx_filtered),
	PORT(ALL, "sim_cable_lost", cable_lost),
};

static const struct counter txq_counters[] = {
	TXQ(INTEL, "tx_queue_%d_packets", packets),
	TXQ(INTEL, "tx_queue_%d_bytes", bytes),
	TXQ(ENETC, "Tx ring %2d frames", packets),
	TXQ(ENETC, "Tx window drop %2d frames", window_drops),
	TXQ(ALL, "sim_tx_queue_%d_sdu_drops", sdu_drops),
	TXQ(ALL, "sim_tx_queue_%d_closed_drops", closed_drops),
};

static const struct counter vec_counters[] = {
	VEC(INTEL, "rx_queue_%d_packets", rx_packets),
	VEC(INTEL, "rx_queue_%d_bytes", rx_bytes),
	VEC(ENETC, "Rx ring %2d frames", rx_packets),
	VEC(ENETC, "Rx ring %2d XDP drops", xdp_drop),
	VEC(ENETC, "Rx ring %2d redirects", xdp_redirect),
	VEC(ALL, "sim_rx_queue_%d_xdp_pass", xdp_pass),
	VEC(ALL, "sim_rx_queue_%d_xdp_drop", xdp_drop),
	VEC(ALL, "sim_rx_queue_%d_xdp_tx", xdp_tx),
	VEC(ALL, "sim_rx_queue_%d_xdp_redirect", xdp_redirect),
};

static bool has_counter(const struct tsnsim_port *port, const struct counter *c)
{
	return port->model->driver == TSNSIM_DRIVER_NONE || c->drivers & BIT(port->model->driver);
}

/*
 * Goes through all counters of the port in order. Writes the names (names), the values (values,
 * lock held) or neither; returns how many there are.
 */
static int counters(struct tsnsim_port *port, u8 *names, u64 *values)
{
	static const struct {
		const struct counter *c;
		int n;
	} groups[] = {
		{ port_counters, ARRAY_SIZE(port_counters) },
		{ txq_counters, ARRAY_SIZE(txq_counters) },
		{ vec_counters, ARRAY_SIZE(vec_counters) },
	};
	const int times[] = { 1, port->n_txq, port->n_rxq };
	int g, i, k, n = 0;

	for (g = 0; g < ARRAY_SIZE(groups); g++)
		for (i = 0; i < times[g]; i++) {
			const void *bases[] = { &port->stats, &port->txq[i], &port->vec[i] };

			for (k = 0; k < groups[g].n; k++) {
				const struct counter *c = &groups[g].c[k];

				if (!has_counter(port, c))
					continue;
				if (names)
					ethtool_sprintf(&names, c->name, i);
				if (values)
					*values++ = READ_ONCE(*(const u64 *)(bases[g] + c->offset));
				n++;
			}
		}
	return n;
}

static int get_sset_count(struct net_device *dev, int sset)
{
	return sset == ETH_SS_STATS ? counters(netdev_priv(dev), NULL, NULL) : -EOPNOTSUPP;
}

static void get_strings(struct net_device *dev, u32 sset, u8 *data)
{
	if (sset == ETH_SS_STATS)
		counters(netdev_priv(dev), data, NULL);
}

static void get_ethtool_stats(struct net_device *dev, struct ethtool_stats *stats, u64 *data)
{
	struct tsnsim_port *port = netdev_priv(dev);
	unsigned long flags;

	raw_spin_lock_irqsave(&port->pair->lock, flags);
	counters(port, NULL, data);
	raw_spin_unlock_irqrestore(&port->pair->lock, flags);
}

const struct ethtool_ops tsnsim_ethtool_ops = {
	.supported_coalesce_params = ETHTOOL_COALESCE_USECS,
	.get_drvinfo		= get_drvinfo,
	.get_link		= ethtool_op_get_link,
	.get_link_ksettings	= get_link_ksettings,
	.set_link_ksettings	= set_link_ksettings,
	.get_ringparam		= get_ringparam,
	.set_ringparam		= set_ringparam,
	.get_coalesce		= get_coalesce,
	.set_coalesce		= set_coalesce,
	.get_eee		= get_eee,
	.set_eee		= set_eee,
	.get_channels		= get_channels,
	.get_ts_info		= get_ts_info,
	.get_sset_count		= get_sset_count,
	.get_strings		= get_strings,
	.get_ethtool_stats	= get_ethtool_stats,
	.get_mm			= tsnsim_get_mm,
	.set_mm			= tsnsim_set_mm,
};

void tsnsim_ethtool_init(struct tsnsim_port *port)
{
	int i;

	port->autoneg = AUTONEG_ENABLE;
	tsnsim_merge_init(port);
	if (igc_or_igb(port)) {	/* adaptive, which holds nothing back here */
		port->coalesce.rx_coalesce_usecs = 3;
		port->coalesce.tx_coalesce_usecs = 3;
	}
	for (i = 0; i < ARRAY_SIZE(speeds); i++)
		if (speeds[i].mbps <= port->model->max_speed_mbps)
			__set_bit(speeds[i].bit, port->eee.supported);
	linkmode_copy(port->eee.advertised, port->eee.supported);
}

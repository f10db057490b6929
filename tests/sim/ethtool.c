// SPDX-License-Identifier: GPL-2.0-only
/*
 * ethtool: identity, link, rings, coalescing, EEE, time stamping, statistics.
 *
 * The driver's name is "tsnsim"; the model is in the firmware version, so that a tool's table of
 * NICs can map the pair (driver, firmware) to the row of the part.
 */
#include <linux/linkmode.h>
#include "tsnsim.h"

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

	ring->rx_max_pending = ring->tx_max_pending = 4096;
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

	if (c->rx_coalesce_usecs > 10000 || c->tx_coalesce_usecs > 10000) {
		NL_SET_ERR_MSG_MOD(extack, "at most 10000 us");
		return -EINVAL;
	}
	port->coalesce.rx_coalesce_usecs = c->rx_coalesce_usecs;
	port->coalesce.tx_coalesce_usecs = c->tx_coalesce_usecs;
	return 0;
}

static int get_eee(struct net_device *dev, struct ethtool_keee *eee)
{
	struct tsnsim_port *port = netdev_priv(dev);

	*eee = port->eee;
	eee->eee_active = eee->eee_enabled && netif_carrier_ok(dev);
	return 0;
}

static int set_eee(struct net_device *dev, struct ethtool_keee *eee)
{
	struct tsnsim_port *port = netdev_priv(dev);

	port->eee.eee_enabled = eee->eee_enabled;
	port->eee.tx_lpi_enabled = eee->tx_lpi_enabled;
	port->eee.tx_lpi_timer = eee->tx_lpi_timer;
	linkmode_and(port->eee.advertised, eee->advertised, port->eee.supported);
	return 0;
}

static void get_channels(struct net_device *dev, struct ethtool_channels *ch)
{
	struct tsnsim_port *port = netdev_priv(dev);

	ch->max_combined = ch->combined_count = port->n_rxq;
	ch->max_tx = ch->tx_count = port->n_txq - port->n_rxq;
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

/* Names as the real drivers have them where they count the same thing; sim_ is our own. */
#define PORT_STAT(name_, field_) { name_, offsetof(struct tsnsim_port_stats, field_) }
static const struct {
	char name[ETH_GSTRING_LEN];
	size_t offset;
} port_stats[] = {
	PORT_STAT("tx_packets", tx_packets),
	PORT_STAT("tx_bytes", tx_bytes),
	PORT_STAT("tx_dropped", tx_dropped),
	PORT_STAT("rx_crc_errors", rx_crc_errors),
	PORT_STAT("rx_missed_errors", rx_missed),
	PORT_STAT("rx_length_errors", rx_oversize),
	PORT_STAT("tx_hwtstamp_timeouts", tx_hwtstamp_timeouts),
	PORT_STAT("tx_hwtstamp_skipped", tx_hwtstamp_skipped),
	PORT_STAT("qbv_config_change_errors", qbv_config_change_errors),
	PORT_STAT("sim_tx_hwtstamps", tx_hwtstamps),
	PORT_STAT("sim_tx_empty_frames", tx_empty_frames),
	PORT_STAT("sim_launch_late", launch_late),
	PORT_STAT("sim_rx_filtered", rx_filtered),
	PORT_STAT("sim_cable_lost", cable_lost),
};

static int get_sset_count(struct net_device *dev, int sset)
{
	struct tsnsim_port *port = netdev_priv(dev);

	if (sset != ETH_SS_STATS)
		return -EOPNOTSUPP;
	return ARRAY_SIZE(port_stats) + 5 * port->n_txq + 6 * port->n_rxq;
}

static void get_strings(struct net_device *dev, u32 sset, u8 *data)
{
	struct tsnsim_port *port = netdev_priv(dev);
	int i;

	if (sset != ETH_SS_STATS)
		return;
	for (i = 0; i < ARRAY_SIZE(port_stats); i++)
		ethtool_puts(&data, port_stats[i].name);
	for (i = 0; i < port->n_txq; i++) {
		ethtool_sprintf(&data, "tx_queue_%d_packets", i);
		ethtool_sprintf(&data, "tx_queue_%d_bytes", i);
		ethtool_sprintf(&data, "Tx window drop %2d frames", i);
		ethtool_sprintf(&data, "sim_tx_queue_%d_sdu_drops", i);
		ethtool_sprintf(&data, "sim_tx_queue_%d_closed_drops", i);
	}
	for (i = 0; i < port->n_rxq; i++) {
		ethtool_sprintf(&data, "rx_queue_%d_packets", i);
		ethtool_sprintf(&data, "rx_queue_%d_bytes", i);
		ethtool_sprintf(&data, "sim_rx_queue_%d_xdp_pass", i);
		ethtool_sprintf(&data, "sim_rx_queue_%d_xdp_drop", i);
		ethtool_sprintf(&data, "sim_rx_queue_%d_xdp_tx", i);
		ethtool_sprintf(&data, "sim_rx_queue_%d_xdp_redirect", i);
	}
}

static void get_ethtool_stats(struct net_device *dev, struct ethtool_stats *stats, u64 *data)
{
	struct tsnsim_port *port = netdev_priv(dev);
	unsigned long flags;
	int i;

	raw_spin_lock_irqsave(&port->pair->lock, flags);
	for (i = 0; i < ARRAY_SIZE(port_stats); i++)
		*data++ = *(u64 *)((u8 *)&port->stats + port_stats[i].offset);
	for (i = 0; i < port->n_txq; i++) {
		*data++ = port->txq[i].packets;
		*data++ = port->txq[i].bytes;
		*data++ = port->txq[i].window_drops;
		*data++ = port->txq[i].sdu_drops;
		*data++ = port->txq[i].closed_drops;
	}
	raw_spin_unlock_irqrestore(&port->pair->lock, flags);
	for (i = 0; i < port->n_rxq; i++) {
		*data++ = READ_ONCE(port->vec[i].rx_packets);
		*data++ = READ_ONCE(port->vec[i].rx_bytes);
		*data++ = READ_ONCE(port->vec[i].xdp_pass);
		*data++ = READ_ONCE(port->vec[i].xdp_drop);
		*data++ = READ_ONCE(port->vec[i].xdp_tx);
		*data++ = READ_ONCE(port->vec[i].xdp_redirect);
	}
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
	port->coalesce.rx_coalesce_usecs = 3;
	port->coalesce.tx_coalesce_usecs = 3;
	for (i = 0; i < ARRAY_SIZE(speeds); i++)
		if (speeds[i].mbps <= port->model->max_speed_mbps)
			__set_bit(speeds[i].bit, port->eee.supported);
	linkmode_copy(port->eee.advertised, port->eee.supported);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The MAC merge sublayer (IEEE 802.3 clause 99) as far as ethtool sees it: what is asked for, and
 * whether the peer confirms it. No frame is ever cut in the model.
 */
#include "tsnsim.h"

#define VERIFY_MS 10
#define VERIFY_TRIES 3
#define FRAGMENT_MIN 60		/* bytes without FCS */

/* The peer answers at once; without an answer it is asked three times. */
static enum ethtool_mm_verify_status verify_status(const struct tsnsim_port *port)
{
	s64 asked = tsnsim_raw_now() - port->mm_raw;

	if (!port->mm.verify_enabled)
		return ETHTOOL_MM_VERIFY_STATUS_DISABLED;
	if (!port->mm.tx_enabled || !netif_carrier_ok(port->dev))
		return ETHTOOL_MM_VERIFY_STATUS_INITIAL;
	if (port->peer->model->preemption && READ_ONCE(port->peer->mm.pmac_enabled))
		return ETHTOOL_MM_VERIFY_STATUS_SUCCEEDED;
	return asked < VERIFY_TRIES * port->mm.verify_time * NSEC_PER_MSEC ?
		       ETHTOOL_MM_VERIFY_STATUS_VERIFYING :
		       ETHTOOL_MM_VERIFY_STATUS_FAILED;
}

int tsnsim_get_mm(struct net_device *dev, struct ethtool_mm_state *state)
{
	struct tsnsim_port *port = netdev_priv(dev);

	if (!port->model->preemption)
		return -EOPNOTSUPP;
	state->verify_time = port->mm.verify_time;
	state->max_verify_time = 128;
	state->verify_status = verify_status(port);
	state->pmac_enabled = port->mm.pmac_enabled;
	state->tx_enabled = port->mm.tx_enabled;
	state->verify_enabled = port->mm.verify_enabled;
	state->tx_active = port->mm.tx_enabled && netif_carrier_ok(dev) &&
			   (state->verify_status == ETHTOOL_MM_VERIFY_STATUS_SUCCEEDED ||
			    state->verify_status == ETHTOOL_MM_VERIFY_STATUS_DISABLED);
	state->tx_min_frag_size = port->mm.tx_min_frag_size;
	state->rx_min_frag_size = FRAGMENT_MIN;
	return 0;
}

/* The core has checked what every part refuses, such as TX without pMAC. */
int tsnsim_set_mm(struct net_device *dev, struct ethtool_mm_cfg *cfg,
		  struct netlink_ext_ack *extack)
{
	struct tsnsim_port *port = netdev_priv(dev);

	if (!port->model->preemption)
		return -EOPNOTSUPP;
	port->mm_raw = tsnsim_raw_now();
	port->mm = *cfg;
	return 0;
}

void tsnsim_merge_init(struct tsnsim_port *port)
{
	port->mm.verify_time = VERIFY_MS;
	port->mm.tx_min_frag_size = FRAGMENT_MIN;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The net_device of a port: life cycle, transmit path, link state.
 */
#include <linux/if_vlan.h>
#include <linux/rtnetlink.h>
#include "tsnsim.h"

atomic_t tsnsim_frames_alive = ATOMIC_INIT(0);

struct tsnsim_frame *tsnsim_frame_alloc(u32 len)
{
	u32 padded = max_t(u32, len, ETH_ZLEN);
	struct tsnsim_frame *f;

	f = kmalloc(struct_size(f, data, padded), GFP_ATOMIC | __GFP_NOWARN);
	if (!f)
		return NULL;
	atomic_inc(&tsnsim_frames_alive);
	memset(f, 0, sizeof(*f));
	memset(f->data + len, 0, padded - len);
	INIT_LIST_HEAD(&f->node);
	f->len = padded;
	f->slot = -1;
	return f;
}

void tsnsim_frame_free(struct tsnsim_frame *f)
{
	if (!f)
		return;
	tsnsim_frame_free(f->twin);	/* which has none itself */
	kfree(f);
	atomic_dec(&tsnsim_frames_alive);
}

void tsnsim_port_twin(struct tsnsim_port *port, struct tsnsim_frame *f)
{
	if (!READ_ONCE(port->n_duplicates))
		return;
	f->twin = tsnsim_frame_alloc(f->len);
	if (f->twin)
		memcpy(f->twin->data, f->data, f->len);
}

void tsnsim_port_queue(struct tsnsim_port *port, struct tsnsim_frame *f)
{
	struct tsnsim_txq *q = &port->txq[f->queue];

	f->enq_raw = tsnsim_raw_now();
	f->wire_ns = tsnsim_bytes_ns(port->pair->speed_mbps,
				     TSNSIM_PREAMBLE + f->len + ETH_FCS_LEN);
	tsnsim_fault_frame(port, f);
	list_add_tail(&f->node, &q->ring);
	q->used++;
}

bool tsnsim_port_refuses(struct tsnsim_port *port, const struct tsnsim_frame *f)
{
	struct tsnsim_txq *q = &port->txq[f->queue];
	bool tagged = f->data[12] == 0x81 && f->data[13] == 0x00;
	u32 tag = tagged && port->model->sdu_without_tag ? VLAN_HLEN : 0;

	if (q->gate_closed) {	/* igc counts these nowhere */
		q->closed_drops++;
		return true;
	}
	if (q->max_frame && f->len > q->max_frame + tag)
		q->sdu_drops++;
	else if (port->pair->link_up &&
		 !(port->tsn_active && f->len > TSNSIM_TSN_MAX_FRAME))
		return false;
	port->stats.tx_dropped++;
	return true;
}

static netdev_tx_t port_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct tsnsim_port *port = netdev_priv(dev);
	u16 queue = skb_get_queue_mapping(skb);
	struct tsnsim_txq *q = &port->txq[queue];
	struct tsnsim_pair *pair = port->pair;
	struct tsnsim_launch_notes notes = { };
	struct tsnsim_frame *f, *empty = NULL;
	bool refused, full, launch;
	unsigned long flags;
	s64 txtime = 0;

	f = tsnsim_frame_alloc(skb->len);
	if (!f || skb_copy_bits(skb, 0, f->data, skb->len))
		goto drop;
	f->queue = queue;
	tsnsim_port_twin(port, f);

	raw_spin_lock_irqsave(&pair->lock, flags);
	if (port->admin)	/* it may have taken over, and closed the queue */
		tsnsim_wire_run(pair);
	launch = q->launch_on;
	if (launch) {
		txtime = ktime_to_ns(skb->tstamp);
		f->enq_raw = tsnsim_raw_now();
		tsnsim_launch_encode(port, f, txtime, &notes);
	}
	refused = tsnsim_port_refuses(port, f);
	if (!refused)	/* a frame that does not leave takes no stamp's place */
		f->slot = tsnsim_stamp_request(port, skb);
	raw_spin_unlock_irqrestore(&pair->lock, flags);

	if (launch)
		skb_txtime_consumed(skb);
	if (notes.near_cycle_end)
		netdev_warn(dev, "Packet with txtime=%lld may not be honoured\n", txtime);
	if (notes.insert_empty && !refused) {
		empty = tsnsim_frame_alloc(ETH_ZLEN);
		if (empty) {
			memset(empty->data, 0, ETH_ZLEN);
			empty->queue = queue;
			empty->driver_made = true;
		}
	}
	if (refused)
		goto free;
	skb_tx_timestamp(skb);

	raw_spin_lock_irqsave(&pair->lock, flags);
	refused = !pair->link_up;	/* it may have gone down meanwhile */
	if (refused) {
		tsnsim_stamp_cancel(port, f->slot);
		port->stats.tx_dropped++;
	} else {
		if (empty) {
			port->stats.tx_empty_frames++;
			tsnsim_port_queue(port, empty);
			empty = NULL;
		}
		f->skb = skb;
		tsnsim_port_queue(port, f);
		tsnsim_wire_run(pair);
	}
	full = q->used >= port->tx_ring_size;
	raw_spin_unlock_irqrestore(&pair->lock, flags);

	if (refused)
		goto free;
	if (full) {
		netif_stop_subqueue(dev, queue);
		/* pairs with the barrier behind the completion: one of both sees the other */
		smp_mb();
		if (READ_ONCE(q->used) < port->tx_ring_size)
			netif_start_subqueue(dev, queue);
	}
	tsnsim_kick(pair);
	return NETDEV_TX_OK;

drop:
	raw_spin_lock_irqsave(&pair->lock, flags);
	port->stats.tx_dropped++;
	raw_spin_unlock_irqrestore(&pair->lock, flags);
free:
	tsnsim_frame_free(empty);
	tsnsim_frame_free(f);
	dev_kfree_skb_any(skb);
	tsnsim_kick(pair);
	return NETDEV_TX_OK;
}

/* A wake-up of the worker for each frame would be a third of the work that a frame makes. */
void tsnsim_port_tidy(struct tsnsim_port *port)
{
	queue_delayed_work(system_wq, &port->garbage_work, msecs_to_jiffies(10));
}

/* Drops all queued frames and those on the cable towards the port. Lock held. */
static void port_flush(struct tsnsim_port *port)
{
	struct tsnsim_frame *f;
	int i;

	for (i = 0; i < port->n_txq; i++) {
		list_for_each_entry(f, &port->txq[i].ring, node) {
			struct tsnsim_done *done;

			port->stats.tx_dropped++;
			port->kick |= BIT(i);
			if (!f->skb) {
				port->txq[i].used--;
				continue;
			}
			done = tsnsim_done(f->skb);
			memset(done, 0, sizeof(*done));
			done->queue = i;
			done->slot = f->slot;
			f->skb->next = NULL;
			*port->vec[i].done_tail = f->skb;
			port->vec[i].done_tail = &f->skb->next;
			f->skb = NULL;
		}
		list_splice_tail_init(&port->txq[i].ring, &port->garbage);
	}
	list_splice_tail_init(&port->flight, &port->garbage);
	tsnsim_port_tidy(port);
}

static void garbage_work(struct work_struct *work)
{
	struct tsnsim_port *port = container_of(to_delayed_work(work), struct tsnsim_port,
						garbage_work);
	struct tsnsim_frame *f, *next;
	struct tsnsim_sched *s, *next_s;
	unsigned long flags;
	LIST_HEAD(frames);
	LIST_HEAD(scheds);

	raw_spin_lock_irqsave(&port->pair->lock, flags);
	list_splice_init(&port->garbage, &frames);
	list_splice_init(&port->retired, &scheds);
	raw_spin_unlock_irqrestore(&port->pair->lock, flags);
	list_for_each_entry_safe(f, next, &frames, node)
		tsnsim_frame_free(f);
	list_for_each_entry_safe(s, next_s, &scheds, retired)
		kfree(s);
}

void tsnsim_link_update(struct tsnsim_pair *pair)
{
	struct tsnsim_port *a = pair->port[0], *b = pair->port[1];
	bool up = pair->plugged && !pair->negotiating && !pair->going && a->open && b->open &&
		  !a->bouncing && !b->bouncing;

	if (up == pair->link_up)
		return;
	pair->link_up = up;
	if (up) {
		tsnsim_port_decided(a, tsnsim_raw_now());
		tsnsim_port_decided(b, tsnsim_raw_now());
		tsnsim_port_silent(a, tsnsim_raw_now());
		tsnsim_port_silent(b, tsnsim_raw_now());
	} else {
		port_flush(a);
		port_flush(b);
	}
	tsnsim_wire_run(pair);
	queue_work(system_wq, &pair->link_work);
}

static void bounce_work(struct work_struct *work)
{
	struct tsnsim_port *port = container_of(to_delayed_work(work), struct tsnsim_port,
						bounce_work);
	unsigned long flags;

	raw_spin_lock_irqsave(&port->pair->lock, flags);
	port->bouncing = false;
	tsnsim_link_update(port->pair);
	raw_spin_unlock_irqrestore(&port->pair->lock, flags);
}

void tsnsim_port_reset(struct tsnsim_port *port)
{
	unsigned long flags;
	int i;

	raw_spin_lock_irqsave(&port->pair->lock, flags);
	port->bouncing = true;
	tsnsim_link_update(port->pair);
	/* igc sets the start of the cycles anew, by what the PHC shows then */
	for (i = 0; i < port->n_txq; i++)
		port->txq[i].hw_cycle = S64_MIN;
	raw_spin_unlock_irqrestore(&port->pair->lock, flags);
	tsnsim_kick(port->pair);
	/* seen at once by whoever asked for the reset, not only when the work has run */
	netif_carrier_off(port->dev);
	netif_carrier_off(port->peer->dev);
	tsnsim_phc_step(port, tsnsim_reset_step_ns);
	mod_delayed_work(system_wq, &port->bounce_work, msecs_to_jiffies(tsnsim_bounce_ms));
}

static void reset_work(struct work_struct *work)
{
	struct tsnsim_port *port = container_of(work, struct tsnsim_port, reset_work);

	netdev_warn(port->dev, "transmit timed out, resetting\n");
	tsnsim_port_reset(port);
}

static void port_tx_timeout(struct net_device *dev, unsigned int txqueue)
{
	struct tsnsim_port *port = netdev_priv(dev);

	queue_work(system_wq, &port->reset_work);
}

static int port_open(struct net_device *dev)
{
	struct tsnsim_port *port = netdev_priv(dev);
	unsigned long flags;
	int err;

	err = tsnsim_rx_open(port);
	if (err)
		return err;
	netif_tx_start_all_queues(dev);
	raw_spin_lock_irqsave(&port->pair->lock, flags);
	port->open = true;
	tsnsim_link_update(port->pair);
	raw_spin_unlock_irqrestore(&port->pair->lock, flags);
	return 0;
}

static int port_stop(struct net_device *dev)
{
	struct tsnsim_port *port = netdev_priv(dev);
	unsigned long flags;

	netif_tx_disable(dev);
	raw_spin_lock_irqsave(&port->pair->lock, flags);
	port->open = false;
	tsnsim_link_update(port->pair);
	port_flush(port);
	raw_spin_unlock_irqrestore(&port->pair->lock, flags);
	netif_carrier_off(dev);
	/* the link is down, so nobody arms them again */
	hrtimer_cancel(&port->tx_timer);
	hrtimer_cancel(&port->rx_timer);
	tsnsim_rx_close(port);
	tsnsim_stamps_stop(port);	/* its NAPI could still have put a late stamp in */
	return 0;
}

static void port_set_rx_mode(struct net_device *dev)
{
	struct tsnsim_port *port = netdev_priv(dev);
	struct netdev_hw_addr *ha;
	unsigned long flags;

	raw_spin_lock_irqsave(&port->pair->lock, flags);
	port->promisc = dev->flags & IFF_PROMISC;
	port->allmulti = dev->flags & IFF_ALLMULTI || netdev_mc_count(dev) > TSNSIM_MAX_MC;
	port->n_mc = 0;
	netdev_for_each_mc_addr(ha, dev) {
		if (port->n_mc == TSNSIM_MAX_MC)
			break;
		ether_addr_copy(port->mc[port->n_mc++], ha->addr);
	}
	raw_spin_unlock_irqrestore(&port->pair->lock, flags);
}

static int port_change_mtu(struct net_device *dev, int mtu)
{
	struct tsnsim_port *port = netdev_priv(dev);

	if (rtnl_dereference(port->xdp_prog) && mtu > ETH_DATA_LEN) {
		netdev_dbg(dev, "Jumbo frames not supported with XDP");
		return -EINVAL;
	}
	WRITE_ONCE(dev->mtu, mtu);
	return 0;
}

static void port_get_stats64(struct net_device *dev, struct rtnl_link_stats64 *st)
{
	struct tsnsim_port *port = netdev_priv(dev);
	unsigned long flags;
	int i;

	raw_spin_lock_irqsave(&port->pair->lock, flags);
	st->tx_packets = port->stats.tx_packets;
	st->tx_bytes = port->stats.tx_bytes;
	st->tx_dropped = port->stats.tx_dropped;
	st->rx_crc_errors = port->stats.rx_crc_errors;
	st->rx_missed_errors = port->stats.rx_missed;
	st->rx_errors = st->rx_crc_errors;
	raw_spin_unlock_irqrestore(&port->pair->lock, flags);
	for (i = 0; i < port->n_rxq; i++) {
		st->rx_packets += READ_ONCE(port->vec[i].rx_packets);
		st->rx_bytes += READ_ONCE(port->vec[i].rx_bytes);
	}
}

static int port_add_vlan(struct net_device *dev, __be16 proto, u16 vid)
{
	struct tsnsim_port *port = netdev_priv(dev);

	set_bit(vid, port->vlans);
	return 0;
}

static int port_remove_vlan(struct net_device *dev, __be16 proto, u16 vid)
{
	struct tsnsim_port *port = netdev_priv(dev);

	clear_bit(vid, port->vlans);
	return 0;
}

static const struct net_device_ops port_ops = {
	.ndo_open		= port_open,
	.ndo_stop		= port_stop,
	.ndo_start_xmit		= port_xmit,
	.ndo_set_rx_mode	= port_set_rx_mode,
	.ndo_vlan_rx_add_vid	= port_add_vlan,
	.ndo_vlan_rx_kill_vid	= port_remove_vlan,
	.ndo_set_mac_address	= eth_mac_addr,
	.ndo_validate_addr	= eth_validate_addr,
	.ndo_change_mtu		= port_change_mtu,
	.ndo_get_stats64	= port_get_stats64,
	.ndo_tx_timeout		= port_tx_timeout,
	.ndo_setup_tc		= tsnsim_setup_tc,
	.ndo_bpf		= tsnsim_bpf,
	.ndo_xdp_xmit		= tsnsim_xdp_xmit,
	.ndo_hwtstamp_get	= tsnsim_hwtstamp_get,
	.ndo_hwtstamp_set	= tsnsim_hwtstamp_set,
};

static void port_init(struct tsnsim_port *port)
{
	int i;

	for (i = 0; i < TSNSIM_MAX_QUEUES; i++) {
		struct tsnsim_vec *vec = &port->vec[i];

		INIT_LIST_HEAD(&port->txq[i].ring);
		port->txq[i].gate = i;
		vec->port = port;
		vec->irq = -1;
		tsnsim_irq_init(vec);
		INIT_LIST_HEAD(&vec->rx);
		vec->done_tail = &vec->done;
	}
	INIT_LIST_HEAD(&port->flight);
	INIT_LIST_HEAD(&port->garbage);
	INIT_LIST_HEAD(&port->retired);
	INIT_DELAYED_WORK(&port->garbage_work, garbage_work);
	INIT_WORK(&port->reset_work, reset_work);
	INIT_DELAYED_WORK(&port->bounce_work, bounce_work);
	hrtimer_init(&port->tx_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
	hrtimer_init(&port->rx_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
	port->tx_timer.function = tsnsim_tx_timer;
	port->rx_timer.function = tsnsim_rx_timer;
	port->tx_ring_size = 256;
	port->rx_ring_size = 256;
}

struct tsnsim_port *tsnsim_port_create(struct tsnsim_pair *pair, int index,
				       const struct tsnsim_model *model, unsigned int queues)
{
	u8 mac[ETH_ALEN] = { 0x02, 't', 's', 'n', pair->index, index + 1 };
	unsigned int n_txq = queues ?: model->tx_queues;
	unsigned int n_rxq = min_t(unsigned int, n_txq, model->rx_queues);
	struct tsnsim_port *port;
	struct net_device *dev;
	int i, err;

	dev = alloc_etherdev_mqs(sizeof(*port), n_txq, n_rxq);
	if (!dev)
		return ERR_PTR(-ENOMEM);
	port = netdev_priv(dev);
	port->dev = dev;
	port->pair = pair;
	port->index = index;
	port->model = model;
	port->n_txq = n_txq;
	port->n_rxq = n_rxq;
	port->n_vec = max(n_txq, n_rxq);
	port_init(port);
	tsnsim_stamps_init(port);
	tsnsim_tc_init(port);
	tsnsim_ethtool_init(port);
	tsnsim_xdp_init(port);

	snprintf(dev->name, sizeof(dev->name), "tsn%d", 2 * pair->index + index);
	eth_hw_addr_set(dev, mac);
	dev->netdev_ops = &port_ops;
	dev->ethtool_ops = &tsnsim_ethtool_ops;
	dev->watchdog_timeo = 5 * HZ;
	dev->min_mtu = ETH_MIN_MTU;
	dev->max_mtu = 9216;
	/* a transmitted skb is kept with its cb until it is stamped */
	dev->priv_flags &= ~IFF_TX_SKB_SHARING;
	dev->features |= NETIF_F_HW_TC | NETIF_F_RXHASH;
	dev->hw_features |= dev->features | NETIF_F_HW_VLAN_CTAG_RX;
	if (model->vlan_strip)
		dev->features |= NETIF_F_HW_VLAN_CTAG_RX;
	if (model->vlan_filter) {
		dev->hw_features |= NETIF_F_HW_VLAN_CTAG_FILTER;
		dev->features |= NETIF_F_HW_VLAN_CTAG_FILTER;
	}
	netif_carrier_off(dev);
	for (i = 0; i < port->n_vec; i++) {
		err = tsnsim_irq_alloc(&port->vec[i]);
		if (err)
			goto free;
		netif_napi_add(dev, &port->vec[i].napi, tsnsim_poll);
	}
	return port;
free:
	while (i--)
		tsnsim_irq_release(&port->vec[i]);
	free_netdev(dev);
	return ERR_PTR(err);
}

void tsnsim_port_unregister(struct tsnsim_port *port)
{
	if (port->dev->reg_state == NETREG_REGISTERED)
		unregister_netdev(port->dev);
	tsnsim_phc_unregister(port);
	cancel_work_sync(&port->reset_work);
	cancel_delayed_work_sync(&port->bounce_work);
	cancel_delayed_work_sync(&port->slot_work);
	hrtimer_cancel(&port->tx_timer);
	hrtimer_cancel(&port->rx_timer);
}

void tsnsim_port_free(struct tsnsim_port *port)
{
	int i;

	/* an interrupt that was raised just before may still be on its way to another CPU */
	for (i = 0; i < port->n_vec; i++)
		hrtimer_cancel(&port->vec[i].hold_timer);
	kick_all_cpus_sync();
	cancel_delayed_work_sync(&port->garbage_work);
	garbage_work(&port->garbage_work.work);
	kfree(port->oper);
	kfree(port->admin);
	for (i = 0; i < port->n_vec; i++)
		tsnsim_irq_release(&port->vec[i]);
	free_netdev(port->dev);
}

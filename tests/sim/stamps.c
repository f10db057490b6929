// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hardware time stamps: configuration, the TX stamp registers of a part, delivery to the socket.
 */
#include "tsnsim.h"

#define SLOT_TIMEOUT	(15 * HZ)	/* as long as igc and igb wait for a stamp */

int tsnsim_hwtstamp_get(struct net_device *dev, struct kernel_hwtstamp_config *cfg)
{
	struct tsnsim_port *port = netdev_priv(dev);

	*cfg = port->hwtstamp;
	return 0;
}

int tsnsim_hwtstamp_set(struct net_device *dev, struct kernel_hwtstamp_config *cfg,
			struct netlink_ext_ack *extack)
{
	struct tsnsim_port *port = netdev_priv(dev);

	if (cfg->tx_type != HWTSTAMP_TX_OFF && cfg->tx_type != HWTSTAMP_TX_ON)
		return -ERANGE;
	/* all or none, as the parts: a narrower filter is widened and told back */
	if (cfg->rx_filter != HWTSTAMP_FILTER_NONE)
		cfg->rx_filter = HWTSTAMP_FILTER_ALL;
	port->hwtstamp = *cfg;
	WRITE_ONCE(port->tx_stamps_on, cfg->tx_type == HWTSTAMP_TX_ON);
	WRITE_ONCE(port->rx_stamps_on, cfg->rx_filter == HWTSTAMP_FILTER_ALL);
	return 0;
}

s8 tsnsim_stamp_request(struct tsnsim_port *port, struct sk_buff *skb)
{
	int i;

	if (!(skb_shinfo(skb)->tx_flags & SKBTX_HW_TSTAMP) || !port->tx_stamps_on)
		return -1;
	for (i = 0; i < port->model->stamp_slots && port->slot[i].busy; i++)
		;
	if (port->model->stamp_slots && i == port->model->stamp_slots) {
		port->stats.tx_hwtstamp_skipped++;
		return -1;
	}
	skb_shinfo(skb)->tx_flags |= SKBTX_IN_PROGRESS;
	if (!port->model->stamp_slots)
		return -1;
	port->slot[i] = (struct tsnsim_slot) { .busy = true };
	return i;
}

void tsnsim_stamp_cancel(struct tsnsim_port *port, s8 slot)
{
	if (slot >= 0)
		port->slot[slot].busy = false;
}

static void slot_release(struct tsnsim_port *port, s8 slot)
{
	unsigned long flags;

	if (slot < 0)
		return;
	raw_spin_lock_irqsave(&port->pair->lock, flags);
	tsnsim_stamp_cancel(port, slot);
	raw_spin_unlock_irqrestore(&port->pair->lock, flags);
}

static void deliver(struct tsnsim_port *port, struct sk_buff *skb)
{
	struct tsnsim_done *done = tsnsim_done(skb);
	struct skb_shared_hwtstamps stamp = { .hwtstamp = ns_to_ktime(done->stamp_phc) };
	unsigned long flags;

	/* free the register first: whoever reads the stamp may ask for the next one at once */
	raw_spin_lock_irqsave(&port->pair->lock, flags);
	tsnsim_stamp_cancel(port, done->slot);
	port->stats.tx_hwtstamps++;
	raw_spin_unlock_irqrestore(&port->pair->lock, flags);
	skb_tstamp_tx(skb, &stamp);
	if (done->repeat)
		skb_tstamp_tx(skb, &stamp);
}

static void stamp_lost(struct tsnsim_port *port, s8 slot)
{
	unsigned long flags;

	if (slot < 0)
		return;
	raw_spin_lock_irqsave(&port->pair->lock, flags);
	port->slot[slot].lost = true;
	port->slot[slot].since = jiffies;
	raw_spin_unlock_irqrestore(&port->pair->lock, flags);
	mod_delayed_work(system_wq, &port->slot_work, SLOT_TIMEOUT);
}

/* A register whose stamp never came is given up after the time-out, and counted. */
static void slot_work(struct work_struct *work)
{
	struct tsnsim_port *port = container_of(to_delayed_work(work), struct tsnsim_port,
						slot_work);
	bool again = false;
	unsigned long flags;
	int i;

	raw_spin_lock_irqsave(&port->pair->lock, flags);
	for (i = 0; i < port->model->stamp_slots; i++) {
		struct tsnsim_slot *s = &port->slot[i];

		if (!s->busy || !s->lost)
			continue;
		if (time_before(jiffies, s->since + SLOT_TIMEOUT)) {
			again = true;
			continue;
		}
		s->busy = false;
		port->stats.tx_hwtstamp_timeouts++;
	}
	raw_spin_unlock_irqrestore(&port->pair->lock, flags);
	if (again)
		schedule_delayed_work(&port->slot_work, HZ);
}

static enum hrtimer_restart late_timer(struct hrtimer *t)
{
	struct tsnsim_port *port = container_of(t, struct tsnsim_port, late_timer);
	ktime_t now = ktime_get(), next = KTIME_MAX;
	struct sk_buff_head due;
	struct sk_buff *skb, *tmp;
	unsigned long flags;

	__skb_queue_head_init(&due);
	spin_lock_irqsave(&port->late_stamps.lock, flags);
	skb_queue_walk_safe(&port->late_stamps, skb, tmp) {
		s64 at = tsnsim_done(skb)->delay_ns;

		if (at <= now) {
			__skb_unlink(skb, &port->late_stamps);
			__skb_queue_tail(&due, skb);
		} else {
			next = min(next, at);
		}
	}
	/* under the lock, since a stamp that comes meanwhile sets the timer too */
	if (next != KTIME_MAX)
		hrtimer_start(t, next, HRTIMER_MODE_ABS_SOFT);
	spin_unlock_irqrestore(&port->late_stamps.lock, flags);
	while ((skb = __skb_dequeue(&due))) {
		deliver(port, skb);
		dev_consume_skb_any(skb);
	}
	return HRTIMER_NORESTART;
}

static void deliver_later(struct tsnsim_port *port, struct sk_buff *skb)
{
	ktime_t at = ktime_add_ns(ktime_get(), tsnsim_done(skb)->delay_ns);
	unsigned long flags;

	/* from here on delay_ns is the time at which to deliver */
	tsnsim_done(skb)->delay_ns = at;
	spin_lock_irqsave(&port->late_stamps.lock, flags);
	__skb_queue_tail(&port->late_stamps, skb);
	if (!hrtimer_is_queued(&port->late_timer) ||
	    hrtimer_get_expires(&port->late_timer) > at)
		hrtimer_start(&port->late_timer, at, HRTIMER_MODE_ABS_SOFT);
	spin_unlock_irqrestore(&port->late_stamps.lock, flags);
}

void tsnsim_stamp_complete(struct tsnsim_port *port, struct sk_buff *skb, int budget)
{
	struct tsnsim_done *done = tsnsim_done(skb);

	if (done->stamp && !done->lose && done->delay_ns) {
		deliver_later(port, skb);
		return;
	}
	if (!done->stamp)
		slot_release(port, done->slot);
	else if (done->lose)
		stamp_lost(port, done->slot);
	else
		deliver(port, skb);
	napi_consume_skb(skb, budget);
}

void tsnsim_stamps_init(struct tsnsim_port *port)
{
	port->hwtstamp = (struct kernel_hwtstamp_config) {
		.tx_type = HWTSTAMP_TX_OFF, .rx_filter = HWTSTAMP_FILTER_NONE,
	};
	INIT_DELAYED_WORK(&port->slot_work, slot_work);
	skb_queue_head_init(&port->late_stamps);
	hrtimer_init(&port->late_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	port->late_timer.function = late_timer;
}

/* The port is closed and its NAPI has stopped. */
void tsnsim_stamps_stop(struct tsnsim_port *port)
{
	unsigned long flags;
	int i;

	cancel_delayed_work_sync(&port->slot_work);
	hrtimer_cancel(&port->late_timer);
	skb_queue_purge(&port->late_stamps);
	raw_spin_lock_irqsave(&port->pair->lock, flags);
	for (i = 0; i < TSNSIM_MAX_SLOTS; i++)
		port->slot[i].busy = false;
	raw_spin_unlock_irqrestore(&port->pair->lock, flags);
}

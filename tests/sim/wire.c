// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wire of a pair: which frame leaves when, how long it takes, when it arrives.
 *
 * A departure at model time t is decided once real time has reached t, from the frames that had
 * been handed over by t. No frame that comes later can change the decision, so the outcome does
 * not depend on how late a timer fired. An instant of departure is the start of the preamble; it
 * is what a launch time, a gate and a TX stamp name. The lock is held in every function but
 * tsnsim_kick() and the timer callbacks.
 */
#include <linux/if_vlan.h>
#include "tsnsim.h"

struct departure {
	struct tsnsim_txq *q;
	s64 raw;
	s64 phc;
};

/*
 * When could the head of queue q leave, not before that raw time? raw is TSNSIM_NEVER if its gate
 * never lets it. At a change of the clock or of a schedule wire_free_raw is moved up to that
 * instant, because everything before it has been decided: so no old map is needed here.
 */
static struct departure head_departure(struct tsnsim_port *port, struct tsnsim_txq *q,
				       s64 not_before)
{
	struct tsnsim_frame *f = list_first_entry(&q->ring, struct tsnsim_frame, node);
	struct departure d = { .q = q, .raw = max(not_before, f->enq_raw) };
	s64 phc, t;

	d.phc = tsnsim_phc_at(port, d.raw);
	if (f->has_launch && f->launch_phc + f->late_ns > d.phc) {
		/* The stamp is the launch time itself: raw is rounded to whole ns, it is not. */
		d.phc = f->launch_phc + f->late_ns;
		d.raw = max(d.raw, tsnsim_phc_to_raw(port, d.phc));
	} else if (f->late_ns) {
		d.raw = max(d.raw, f->enq_raw + f->late_ns);
		d.phc = tsnsim_phc_at(port, d.raw);
	}
	if (!port->oper && !port->admin)
		return d;
	phc = d.phc;
	t = tsnsim_gate_earliest(port->oper, port->admin, BIT(q->gate), phc, f->wire_ns,
				 port->model->strict_cycle);
	if (t == TSNSIM_NEVER) {
		d.raw = TSNSIM_NEVER;
	} else if (t > phc) {
		d.phc = t;
		d.raw = max(d.raw, tsnsim_phc_to_raw(port, t));
	}
	return d;
}

static bool goes_before(const struct departure *a, const struct departure *b)
{
	const struct tsnsim_frame *fa, *fb;

	if (a->raw != b->raw)
		return a->raw < b->raw;
	if (a->q->prio != b->q->prio)
		return a->q->prio > b->q->prio;
	fa = list_first_entry(&a->q->ring, struct tsnsim_frame, node);
	fb = list_first_entry(&b->q->ring, struct tsnsim_frame, node);
	return fa->enq_raw < fb->enq_raw;
}

static void garbage(struct tsnsim_port *port, struct tsnsim_frame *f)
{
	if (list_empty(&port->garbage))
		tsnsim_port_tidy(port);
	list_add_tail(&f->node, &port->garbage);
}

/* Hands the skb of a frame that left (or was dropped) back to its vector for completion. */
static void complete_tx(struct tsnsim_port *port, struct tsnsim_frame *f, bool stamped, s64 phc)
{
	struct tsnsim_vec *vec = &port->vec[f->queue];
	struct tsnsim_done *done;

	if (!f->skb) {	/* made by the driver or an XDP frame: nobody waits for it but the stack */
		port->txq[f->queue].used--;
		if (netif_tx_queue_stopped(netdev_get_tx_queue(port->dev, f->queue)))
			port->kick |= BIT(f->queue);
		return;
	}
	done = tsnsim_done(f->skb);
	done->stamp_phc = phc;
	done->queue = f->queue;
	done->slot = f->slot;
	done->stamp = stamped && (skb_shinfo(f->skb)->tx_flags & SKBTX_IN_PROGRESS);
	done->lose = f->stamp_lose;
	done->repeat = f->stamp_repeat;
	done->delay_ns = f->stamp_delay_ns;
	f->skb->next = NULL;
	*vec->done_tail = f->skb;
	vec->done_tail = &f->skb->next;
	f->skb = NULL;
	/* what throttles has another interrupt for TX stamps */
	if (port->model->throttles)
		port->kick |= BIT(f->queue);
	else
		port->kick_tx |= BIT(f->queue);
}

static void fly(struct tsnsim_port *to, struct tsnsim_frame *f)
{
	struct tsnsim_frame *at;

	list_for_each_entry_reverse(at, &to->flight, node)
		if (at->arrive_raw <= f->arrive_raw)
			break;
	list_add(&f->node, &at->node);
}

/* A frame held back by a reorder fault arrives right behind the next one that counts. */
static void overtake(struct tsnsim_port *to, const struct tsnsim_frame *f, s64 gap)
{
	struct tsnsim_frame *held;

	if (!f->counted)
		return;
	list_for_each_entry(held, &to->flight, node) {
		if (!held->reorder || held == f)
			continue;
		held->reorder = false;
		held->mark_raw = f->mark_raw + f->wire_ns + gap;
		held->arrive_raw = f->arrive_raw + gap + held->wire_ns;
		list_del(&held->node);
		fly(to, held);
		return;
	}
}

static void depart(struct tsnsim_port *port, const struct departure *d)
{
	struct tsnsim_frame *f = list_first_entry(&d->q->ring, struct tsnsim_frame, node);
	struct tsnsim_pair *pair = port->pair;
	struct tsnsim_port *to = port->peer;
	s64 gap = tsnsim_bytes_ns(pair->speed_mbps, TSNSIM_IFG);

	list_del(&f->node);
	port->wire_free_raw = d->raw + f->wire_ns + gap;
	port->idle_raw = port->wire_free_raw;
	port->stats.tx_packets++;
	port->stats.tx_bytes += f->len;
	d->q->packets++;
	d->q->bytes += f->len;
	if (f->has_launch && d->phc > f->launch_phc)
		port->stats.launch_late++;
	tsnsim_fault_departed(port, f, d->phc);
	complete_tx(port, f, true, d->phc);

	f->depart_raw = d->raw;
	f->mark_raw = d->raw + pair->length_ns + f->delay_ns;
	f->arrive_raw = f->mark_raw + f->wire_ns;
	if (f->lose) {
		port->stats.cable_lost++;
		garbage(port, f);
		return;
	}
	if (f->reorder) {	/* at the latest after a second, if nothing follows */
		f->mark_raw += NSEC_PER_SEC;
		f->arrive_raw += NSEC_PER_SEC;
	}
	fly(to, f);
	if (f->twin && f->duplicate) {
		struct tsnsim_frame *twin = f->twin;

		f->twin = NULL;
		/* both bear what else happens to this frame */
		memcpy(twin->data, f->data, f->len);
		twin->bad_fcs = f->bad_fcs;
		twin->wire_ns = f->wire_ns;
		twin->mark_raw = f->mark_raw + f->wire_ns + gap;
		twin->arrive_raw = f->arrive_raw + f->wire_ns + gap;
		fly(to, twin);
	}
	if (!f->reorder)
		overtake(to, f, gap);
}

/* A frame that no window is wide enough for: counted and dropped, or stuck for ever. */
static bool drop_misfit(struct tsnsim_port *port, struct tsnsim_txq *q)
{
	struct tsnsim_frame *f = list_first_entry(&q->ring, struct tsnsim_frame, node);

	if (!port->model->window_drops)
		return false;
	if (port->model->closed_waits &&
	    !(port->oper && tsnsim_gate_opens(port->oper, BIT(q->gate))) &&
	    !(port->admin && tsnsim_gate_opens(port->admin, BIT(q->gate))))
		return false;
	list_del(&f->node);
	q->window_drops++;
	port->stats.tx_dropped++;
	complete_tx(port, f, false, 0);
	garbage(port, f);
	return true;
}

/* The head that leaves first, not before that raw time. Has a frame been dropped, ask again. */
static bool first_departure(struct tsnsim_port *port, s64 not_before, struct departure *best,
			    bool *dropped)
{
	bool found = false;
	int i;

	for (i = 0; i < port->n_txq; i++) {
		struct departure d;

		if (list_empty(&port->txq[i].ring))
			continue;
		d = head_departure(port, &port->txq[i], not_before);
		if (d.raw == TSNSIM_NEVER) {
			*dropped |= drop_misfit(port, &port->txq[i]);
			continue;
		}
		if (!found || goes_before(&d, best)) {
			*best = d;
			found = true;
		}
	}
	return found;
}

/* Lets everything leave that is due by now. Returns the next departure or TSNSIM_NEVER. */
static s64 run_tx(struct tsnsim_port *port, s64 now)
{
	struct departure best;
	bool found, dropped;
	s64 wake;

	for (;;) {
		dropped = false;
		found = first_departure(port, port->wire_free_raw, &best, &dropped);
		wake = found ? tsnsim_eee_wake_ns(port, best.raw - port->idle_raw) : 0;
		if (wake)	/* the first who wants to leave wakes the link, for all */
			found = first_departure(port, best.raw + wake, &best, &dropped);
		if (found && best.raw <= now) {
			port->stats.lpi_wakes += !!wake;
			depart(port, &best);
		} else if (!dropped) {
			return found ? best.raw : TSNSIM_NEVER;
		}
	}
}

static bool wanted(const struct tsnsim_port *port, const struct tsnsim_frame *f)
{
	u32 i;

	if (port->promisc)
		return true;
	if (port->dev->features & NETIF_F_HW_VLAN_CTAG_FILTER &&
	    f->data[12] == 0x81 && f->data[13] == 0x00) {
		u16 vid = (f->data[14] << 8 | f->data[15]) & VLAN_VID_MASK;

		/* VLAN 0 is no VLAN, but a priority alone */
		if (vid && !test_bit(vid, port->vlans))
			return false;
	}
	if (!is_multicast_ether_addr(f->data))
		return ether_addr_equal(f->data, port->dev->dev_addr);
	if (port->allmulti || is_broadcast_ether_addr(f->data))
		return true;
	for (i = 0; i < port->n_mc; i++)
		if (ether_addr_equal(f->data, port->mc[i]))
			return true;
	return false;
}

/* Receive side scaling: IP flows are spread by their addresses, all else goes to queue 0. */
static u8 rx_queue(const struct tsnsim_port *port, const struct tsnsim_frame *f)
{
	const u8 *p = f->data + 2 * ETH_ALEN;
	u32 sum = 0, i, from, len;

	if (p[0] == 0x81 && p[1] == 0x00 && f->len >= 60)
		p += VLAN_HLEN;
	if (p[0] == 0x08 && p[1] == 0x00) {
		from = 12;
		len = 8;
	} else if (p[0] == 0x86 && p[1] == 0xdd) {
		from = 8;
		len = 32;
	} else {
		return 0;
	}
	p += 2 + from;
	if (p + len > f->data + f->len)
		return 0;
	for (i = 0; i < len; i++)
		sum = sum * 31 + p[i];
	return (sum ^ sum >> 16) % port->n_rxq;
}

static void arrive(struct tsnsim_port *port, struct tsnsim_frame *f)
{
	struct tsnsim_vec *vec;

	list_del(&f->node);
	if (!port->open) {
		garbage(port, f);
		return;
	}
	if (f->bad_fcs) {
		port->stats.rx_crc_errors++;
		garbage(port, f);
		return;
	}
	if (f->len > port->dev->mtu + ETH_HLEN + VLAN_HLEN) {
		port->stats.rx_oversize++;
		garbage(port, f);
		return;
	}
	if (!wanted(port, f)) {
		port->stats.rx_filtered++;
		garbage(port, f);
		return;
	}
	f->queue = rx_queue(port, f);
	vec = &port->vec[f->queue];
	if (vec->rx_len >= port->rx_ring_size) {
		port->stats.rx_missed++;
		garbage(port, f);
		return;
	}
	f->rx_phc = tsnsim_phc_at(port, port->pair->rx_stamp_end ?
				  f->mark_raw + f->wire_ns : f->mark_raw);
	list_add_tail(&f->node, &vec->rx);
	vec->rx_len++;
	port->kick_rx |= BIT(f->queue);
}

static s64 run_rx(struct tsnsim_port *port, s64 now)
{
	struct tsnsim_frame *f;

	while (!list_empty(&port->flight)) {
		f = list_first_entry(&port->flight, struct tsnsim_frame, node);
		if (f->arrive_raw > now)
			return f->arrive_raw;
		arrive(port, f);
	}
	return TSNSIM_NEVER;
}

static void arm(struct hrtimer *timer, s64 *armed, s64 raw, s64 raw_now, ktime_t mono_now)
{
	if (raw == *armed && hrtimer_is_queued(timer))
		return;
	*armed = raw;
	if (raw == TSNSIM_NEVER) {
		hrtimer_try_to_cancel(timer);
		return;
	}
	/*
	 * Raw and mono differ by the servo's few ppm only. If the timer comes early by that much,
	 * nothing is due yet and it is armed again.
	 */
	hrtimer_start(timer, ktime_add_ns(mono_now, max(raw - raw_now, 0LL)),
		      HRTIMER_MODE_ABS_HARD);
}

static void promote(struct tsnsim_port *port, s64 now)
{
	struct tsnsim_sched *old;
	int i;

	if (!port->admin || tsnsim_phc_at(port, now) < port->admin->start)
		return;
	old = port->oper;
	port->oper = port->admin;
	port->admin = NULL;
	for (i = 0; i < port->n_txq; i++)
		port->txq[i].gate_closed = port->txq[i].admin_closed;
	/* what did not leave by the old schedule must not leave in its past by the new one */
	tsnsim_port_decided(port, now);
	if (old) {
		list_add_tail(&old->retired, &port->retired);
		tsnsim_port_tidy(port);
	}
}

void tsnsim_wire_run(struct tsnsim_pair *pair)
{
	s64 tx[2], rx[2], now = tsnsim_raw_now();
	ktime_t mono = ktime_get();
	int i;

	if (!pair->link_up) {
		hrtimer_try_to_cancel(&pair->port[0]->tx_timer);
		hrtimer_try_to_cancel(&pair->port[1]->tx_timer);
		hrtimer_try_to_cancel(&pair->port[0]->rx_timer);
		hrtimer_try_to_cancel(&pair->port[1]->rx_timer);
		return;
	}
	for (i = 0; i < 2; i++)
		tx[i] = run_tx(pair->port[i], now);
	for (i = 0; i < 2; i++)
		rx[i] = run_rx(pair->port[i], now);
	for (i = 0; i < 2; i++) {
		struct tsnsim_port *port = pair->port[i];

		/* only after all departures before the change were decided */
		promote(port, now);
		arm(&port->tx_timer, &port->tx_armed, tx[i], now, mono);
		arm(&port->rx_timer, &port->rx_armed, rx[i], now, mono);
	}
}

/* The vectors of a port that may interrupt now. Lock held. */
static u32 take_kicks(struct tsnsim_port *port)
{
	u32 kick = port->kick, held = port->kick_rx | port->kick_tx;
	s64 now = tsnsim_raw_now();
	int v;

	for (v = 0; port->open && held >> v; v++) {
		u32 rx = port->kick_rx & BIT(v) ? port->coalesce.rx_coalesce_usecs : U32_MAX;
		u32 tx = port->kick_tx & BIT(v) ? port->coalesce.tx_coalesce_usecs : U32_MAX;

		if (held & BIT(v) && tsnsim_irq_allowed(&port->vec[v], min(rx, tx), now))
			kick |= BIT(v);
	}
	port->kick = 0;
	port->kick_rx = 0;
	port->kick_tx = 0;
	return port->open ? kick : 0;
}

void tsnsim_kick(struct tsnsim_pair *pair)
{
	unsigned long flags;
	u32 kick;
	int i, v;

	for (i = 0; i < 2; i++) {
		struct tsnsim_port *port = pair->port[i];

		if (!(READ_ONCE(port->kick) | READ_ONCE(port->kick_rx) | READ_ONCE(port->kick_tx)))
			continue;
		raw_spin_lock_irqsave(&pair->lock, flags);
		kick = take_kicks(port);
		raw_spin_unlock_irqrestore(&pair->lock, flags);
		for (v = 0; kick >> v; v++)
			if (kick & BIT(v))
				tsnsim_irq_raise(&pair->port[i]->vec[v]);
	}
}

static enum hrtimer_restart timer_fired(struct tsnsim_pair *pair)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&pair->lock, flags);
	tsnsim_wire_run(pair);
	raw_spin_unlock_irqrestore(&pair->lock, flags);
	tsnsim_kick(pair);
	return HRTIMER_NORESTART;
}

enum hrtimer_restart tsnsim_tx_timer(struct hrtimer *t)
{
	return timer_fired(container_of(t, struct tsnsim_port, tx_timer)->pair);
}

enum hrtimer_restart tsnsim_rx_timer(struct hrtimer *t)
{
	return timer_fired(container_of(t, struct tsnsim_port, rx_timer)->pair);
}

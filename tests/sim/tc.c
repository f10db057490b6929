// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the qdiscs ask of a port: etf, mqprio and taprio offload, with the refusals of each part.
 */
#include <linux/if_vlan.h>
#include "tsnsim.h"

/* Gate bit and priority of each queue follow from the offloads in force. Lock held. */
static void queues_update(struct tsnsim_port *port)
{
	const struct tsnsim_model *m = port->model;
	bool launch = false;
	int i, tc;

	for (i = 0; i < port->n_txq; i++) {
		port->txq[i].gate = i;
		port->txq[i].prio = 0;
		launch |= port->txq[i].launch_on;
	}
	for (tc = 0; tc < port->n_tc; tc++)
		for (i = port->tc_offset[tc]; i < port->tc_offset[tc] + port->tc_count[tc]; i++) {
			if (!m->gate_per_txq)
				port->txq[i].gate = tc;
			if (!m->queue0_first || port->mqprio_on)
				port->txq[i].prio = tc;
		}
	if (m->queue0_first && !port->mqprio_on && (port->taprio_on || launch))
		for (i = 0; i < port->n_txq; i++)
			port->txq[i].prio = port->n_txq - i;
}

static void classes_set(struct tsnsim_port *port, const struct tc_mqprio_qopt *qopt)
{
	port->n_tc = qopt->num_tc;
	port->stack_queues = 0;
	memcpy(port->tc_count, qopt->count, sizeof(port->tc_count));
	memcpy(port->tc_offset, qopt->offset, sizeof(port->tc_offset));
	if (port->n_tc)
		port->stack_queues = qopt->offset[port->n_tc - 1] + qopt->count[port->n_tc - 1];
}

static bool classes_fit(struct tsnsim_port *port, const struct tc_mqprio_qopt *qopt)
{
	int tc;

	if (qopt->num_tc > TC_MAX_QUEUE)
		return false;
	for (tc = 0; tc < qopt->num_tc; tc++)
		if (qopt->offset[tc] + qopt->count[tc] > port->n_txq)
			return false;
	return true;
}

/* igc has a legacy and a TSN transmit mode; to go from one to the other it resets itself. */
static void mode_apply(struct tsnsim_port *port)
{
	bool want = port->taprio_on || port->mqprio_on;
	unsigned long flags;
	int i;

	if (!port->model->tsn_mode)
		return;
	for (i = 0; i < port->n_txq; i++)
		want |= port->txq[i].launch_on;
	if (want == port->tsn_active)
		return;
	raw_spin_lock_irqsave(&port->pair->lock, flags);
	port->tsn_active = want;
	raw_spin_unlock_irqrestore(&port->pair->lock, flags);
	if (netif_running(port->dev))
		tsnsim_port_reset(port);
}

static int setup_etf(struct tsnsim_port *port, const struct tc_etf_qopt_offload *etf)
{
	const struct tsnsim_model *m = port->model;
	unsigned long flags;

	if (m->etf_needs_tc && !netdev_get_num_tc(port->dev))
		return -EOPNOTSUPP;
	if (etf->queue < 0 || etf->queue >= port->n_txq || etf->queue >= m->launch_queues)
		return -EINVAL;
	if (m->etf_excludes_taprio && port->taprio_on)
		return -EBUSY;
	raw_spin_lock_irqsave(&port->pair->lock, flags);
	tsnsim_wire_run(port->pair);
	port->txq[etf->queue].launch_on = etf->enable;
	port->txq[etf->queue].last_ff_cycle = 0;
	port->txq[etf->queue].last_tx_cycle = 0;
	port->txq[etf->queue].hw_cycle = S64_MIN;
	queues_update(port);
	raw_spin_unlock_irqrestore(&port->pair->lock, flags);
	tsnsim_kick(port->pair);
	mode_apply(port);
	return 0;
}

static int setup_mqprio(struct tsnsim_port *port, struct tc_mqprio_qopt_offload *mqprio)
{
	struct tc_mqprio_qopt *qopt = &mqprio->qopt;
	const struct tsnsim_model *m = port->model;
	struct net_device *dev = port->dev;
	unsigned long flags;
	int err, tc;

	if (!m->mqprio)
		return -EOPNOTSUPP;
	if (qopt->num_tc && m->one_queue_per_tc) {
		if (qopt->num_tc != port->n_txq) {
			NL_SET_ERR_MSG_FMT_MOD(mqprio->extack, "Only %d traffic classes supported",
					       port->n_txq);
			return -EOPNOTSUPP;
		}
		for (tc = 0; tc < qopt->num_tc; tc++)
			if (qopt->count[tc] != 1) {
				NL_SET_ERR_MSG_MOD(mqprio->extack,
						   "Only one queue per TC supported");
				return -EOPNOTSUPP;
			}
	}
	if (mqprio->preemptible_tcs && !m->preemption) {
		NL_SET_ERR_MSG_MOD(mqprio->extack, "Preemption is not supported yet");
		return -EOPNOTSUPP;
	}
	if (!classes_fit(port, qopt))
		return -EINVAL;

	if (!qopt->num_tc) {
		netdev_reset_tc(dev);
	} else {
		err = netdev_set_num_tc(dev, qopt->num_tc);
		for (tc = 0; !err && tc < qopt->num_tc; tc++)
			err = netdev_set_tc_queue(dev, tc, qopt->count[tc], qopt->offset[tc]);
		if (err) {
			netdev_reset_tc(dev);
			return err;
		}
		qopt->hw = TC_MQPRIO_HW_OFFLOAD_TCS;
	}
	raw_spin_lock_irqsave(&port->pair->lock, flags);
	tsnsim_wire_run(port->pair);
	classes_set(port, qopt);
	port->mqprio_on = qopt->num_tc;
	queues_update(port);
	tsnsim_port_decided(port, tsnsim_raw_now());	/* under taprio gates change */
	tsnsim_wire_run(port->pair);
	raw_spin_unlock_irqrestore(&port->pair->lock, flags);
	tsnsim_kick(port->pair);
	mode_apply(port);
	return 0;
}

/* igc knows one start and one end for each queue: a queue may open once in a cycle. */
static bool gates_contiguous(const struct tsnsim_port *port,
			     const struct tc_taprio_qopt_offload *qopt)
{
	u32 seen = 0, before = 0;
	size_t n;

	for (n = 0; n < qopt->num_entries; n++) {
		u32 mask = qopt->entries[n].gate_mask & (BIT(port->n_txq) - 1);

		if (qopt->entries[n].command != TC_TAPRIO_CMD_SET_GATES)
			return false;
		if (mask & seen & ~before)
			return false;
		seen |= mask;
		before = mask;
	}
	return true;
}

static int taprio_check(struct tsnsim_port *port, const struct tc_taprio_qopt_offload *qopt,
			s64 now_phc)
{
	const struct tsnsim_model *m = port->model;
	s64 base = ktime_to_ns(qopt->base_time);
	int i;

	if (m->etf_excludes_taprio)
		for (i = 0; i < port->n_txq; i++)
			if (port->txq[i].launch_on)
				return -EBUSY;
	if (base < 0 && !m->negative_base)
		return -ERANGE;
	if (m->no_live_replace && port->taprio_on)
		return -EALREADY;
	if (qopt->cycle_time_extension && !m->cycle_extension)
		return -EINVAL;
	if (base >= now_phc && m->past_base_only)
		return -EINVAL;
	if (!qopt->num_entries || qopt->num_entries > m->max_gates)
		return -EINVAL;
	/* the upper bounds are those of the 32-bit fields of ENETC; base keeps sums in 63 bits */
	if (!qopt->cycle_time || qopt->cycle_time > U32_MAX ||
	    qopt->cycle_time_extension > U32_MAX ||
	    base > S64_MAX / 2 || base < -(S64_MAX / 2))
		return -EINVAL;
	if (m->contiguous_gates && !gates_contiguous(port, qopt))
		return -EINVAL;
	if (!classes_fit(port, &qopt->mqprio.qopt))
		return -EINVAL;
	return 0;
}

static void max_sdu_set(struct tsnsim_port *port, const struct tc_taprio_qopt_offload *qopt)
{
	int i, tc;

	for (i = 0; i < port->n_txq; i++)
		port->txq[i].max_frame = 0;
	if (port->model->gate_per_txq) {
		for (i = 0; i < port->n_txq; i++)
			if (qopt->max_sdu[i])
				port->txq[i].max_frame = qopt->max_sdu[i] +
							 port->model->sdu_header;
		return;
	}
	for (tc = 0; tc < port->n_tc; tc++)
		for (i = port->tc_offset[tc]; i < port->tc_offset[tc] + port->tc_count[tc]; i++)
			if (qopt->max_sdu[tc])
				port->txq[i].max_frame = qopt->max_sdu[tc] +
							 port->model->sdu_header;
}

/* Retires the schedules; they are freed in process context. Lock held. */
static void scheds_retire(struct tsnsim_port *port, bool oper)
{
	if (port->admin)
		list_add_tail(&port->admin->retired, &port->retired);
	port->admin = NULL;
	if (oper && port->oper)
		list_add_tail(&port->oper->retired, &port->retired);
	if (oper)
		port->oper = NULL;
	tsnsim_port_tidy(port);
}

static void queues_reset_cycles(struct tsnsim_port *port)
{
	int i;

	for (i = 0; i < port->n_txq; i++) {
		port->txq[i].hw_cycle = S64_MIN;
		port->txq[i].last_ff_cycle = 0;
		port->txq[i].last_tx_cycle = 0;
	}
}

static int taprio_replace(struct tsnsim_port *port, struct tc_taprio_qopt_offload *qopt)
{
	struct tsnsim_pair *pair = port->pair;
	struct tsnsim_sched *s;
	unsigned long flags;
	s64 now_phc, now;
	int err, i;

	raw_spin_lock_irqsave(&pair->lock, flags);
	now_phc = tsnsim_phc_at(port, tsnsim_raw_now());
	raw_spin_unlock_irqrestore(&pair->lock, flags);
	err = taprio_check(port, qopt, now_phc);
	if (err)
		return err;
	s = tsnsim_sched_build(qopt, now_phc);
	if (!s)
		return -ENOMEM;

	raw_spin_lock_irqsave(&pair->lock, flags);
	tsnsim_wire_run(pair);
	if (port->taprio_on && s->base < now_phc)
		port->stats.qbv_config_change_errors++;
	scheds_retire(port, false);
	port->admin = s;
	port->taprio_on = true;
	classes_set(port, &qopt->mqprio.qopt);
	queues_update(port);
	queues_reset_cycles(port);
	max_sdu_set(port, qopt);
	for (i = 0; i < port->n_txq; i++) {
		struct tsnsim_txq *q = &port->txq[i];

		q->admin_closed = port->model->drop_closed &&
				  !tsnsim_gate_opens(s, BIT(q->gate));
		if (s->base <= now_phc)		/* as igc: not only when the cycle begins */
			q->gate_closed = q->admin_closed;
	}
	now = tsnsim_raw_now();
	tsnsim_port_decided(port, now);
	tsnsim_wire_run(pair);
	raw_spin_unlock_irqrestore(&pair->lock, flags);
	tsnsim_kick(pair);
	mode_apply(port);
	return 0;
}

static int taprio_destroy(struct tsnsim_port *port)
{
	static const struct tc_mqprio_qopt none;
	struct tsnsim_pair *pair = port->pair;
	unsigned long flags;
	int i;

	raw_spin_lock_irqsave(&pair->lock, flags);
	tsnsim_wire_run(pair);
	scheds_retire(port, true);
	port->taprio_on = false;
	classes_set(port, &none);
	queues_update(port);
	queues_reset_cycles(port);
	for (i = 0; i < port->n_txq; i++) {
		port->txq[i].max_frame = 0;
		port->txq[i].gate_closed = false;
		port->txq[i].admin_closed = false;
		port->txq[i].window_drops = 0;	/* as enetc; igc has none */
	}
	port->stats.qbv_config_change_errors = 0;
	tsnsim_port_decided(port, tsnsim_raw_now());
	tsnsim_wire_run(pair);
	raw_spin_unlock_irqrestore(&pair->lock, flags);
	tsnsim_kick(pair);
	mode_apply(port);
	return 0;
}

static int taprio_stats(struct tsnsim_port *port, int queue, struct tc_taprio_qopt_stats *st)
{
	unsigned long flags;
	int i;

	if (queue >= port->n_txq)
		return -EINVAL;
	/* What the driver does not fill in stays absent in the dump. No gate ever cuts a frame. */
	if (port->model->overruns)
		st->tx_overruns = 0;
	if (!port->model->window_drops)
		return 0;
	st->window_drops = 0;
	raw_spin_lock_irqsave(&port->pair->lock, flags);
	for (i = 0; i < port->n_txq; i++)
		if (queue < 0 || i == queue)
			st->window_drops += port->txq[i].window_drops;
	raw_spin_unlock_irqrestore(&port->pair->lock, flags);
	return 0;
}

static int setup_taprio(struct tsnsim_port *port, struct tc_taprio_qopt_offload *qopt)
{
	if (!port->model->taprio)
		return -EOPNOTSUPP;
	switch (qopt->cmd) {
	case TAPRIO_CMD_REPLACE:
		return taprio_replace(port, qopt);
	case TAPRIO_CMD_DESTROY:
		return taprio_destroy(port);
	case TAPRIO_CMD_STATS:
		return taprio_stats(port, -1, &qopt->stats);
	case TAPRIO_CMD_QUEUE_STATS:
		return taprio_stats(port, qopt->queue_stats.queue, &qopt->queue_stats.stats);
	default:
		return -EOPNOTSUPP;
	}
}

static int query_caps(struct tsnsim_port *port, struct tc_query_caps_base *base)
{
	const struct tsnsim_model *m = port->model;

	switch (base->type) {
	case TC_SETUP_QDISC_MQPRIO: {
		struct tc_mqprio_caps *caps = base->caps;

		if (!m->caps_mqprio)
			return -EOPNOTSUPP;
		caps->validate_queue_counts = true;
		return 0;
	}
	case TC_SETUP_QDISC_TAPRIO: {
		struct tc_taprio_caps *caps = base->caps;

		if (!m->caps_taprio)
			return -EOPNOTSUPP;
		caps->broken_mqprio = m->broken_mqprio;
		caps->supports_queue_max_sdu = m->queue_max_sdu;
		caps->gate_mask_per_txq = m->gate_per_txq;
		return 0;
	}
	default:
		return -EOPNOTSUPP;
	}
}

int tsnsim_setup_tc(struct net_device *dev, enum tc_setup_type type, void *data)
{
	struct tsnsim_port *port = netdev_priv(dev);

	switch (type) {
	case TC_QUERY_CAPS:
		return query_caps(port, data);
	case TC_SETUP_QDISC_ETF:
		return setup_etf(port, data);
	case TC_SETUP_QDISC_MQPRIO:
		return setup_mqprio(port, data);
	case TC_SETUP_QDISC_TAPRIO:
		return setup_taprio(port, data);
	default:
		return -EOPNOTSUPP;
	}
}

void tsnsim_tc_init(struct tsnsim_port *port)
{
	queues_reset_cycles(port);
}

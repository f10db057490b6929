// SPDX-License-Identifier: GPL-2.0-only
/*
 * Native XDP and the metadata kfuncs.
 */
#include <linux/bpf_trace.h>
#include <linux/filter.h>
#include <linux/jhash.h>
#include "tsnsim.h"

/* Puts one linear frame on the wire from softirq context, as the drivers do: by CPU. */
static bool xdp_transmit(struct tsnsim_port *port, const void *data, u32 len)
{
	u16 queue = smp_processor_id() % port->n_txq;
	struct netdev_queue *nq = netdev_get_tx_queue(port->dev, queue);
	struct tsnsim_frame *f;
	unsigned long flags;
	bool sent = false;

	f = tsnsim_frame_alloc(len);
	if (!f)
		return false;
	memcpy(f->data, data, len);
	f->queue = queue;
	tsnsim_port_twin(port, f);

	__netif_tx_lock(nq, smp_processor_id());
	txq_trans_cond_update(nq);
	raw_spin_lock_irqsave(&port->pair->lock, flags);
	if (port->txq[queue].used >= port->tx_ring_size) {
		port->stats.tx_dropped++;
	} else if (!tsnsim_port_refuses(port, f)) {
		tsnsim_port_queue(port, f);
		tsnsim_wire_run(port->pair);
		sent = true;
	}
	raw_spin_unlock_irqrestore(&port->pair->lock, flags);
	__netif_tx_unlock(nq);
	if (!sent)
		tsnsim_frame_free(f);
	tsnsim_kick(port->pair);
	return sent;
}

enum tsnsim_verdict tsnsim_xdp_run(struct tsnsim_vec *vec, struct bpf_prog *prog,
				   struct tsnsim_xdp_buff *x)
{
	struct net_device *dev = vec->port->dev;
	u32 act = bpf_prog_run_xdp(prog, &x->xdp);

	switch (act) {
	case XDP_PASS:
		vec->xdp_pass++;
		return TSNSIM_PASS;
	case XDP_TX:
		if (!xdp_transmit(vec->port, x->xdp.data, x->xdp.data_end - x->xdp.data))
			break;
		vec->xdp_tx++;
		return TSNSIM_CONSUMED;
	case XDP_REDIRECT:
		if (xdp_do_redirect(dev, &x->xdp, prog))
			break;
		vec->xdp_redirect++;
		return TSNSIM_REDIRECTED;
	case XDP_DROP:
		vec->xdp_drop++;
		return TSNSIM_CONSUMED;
	default:
		bpf_warn_invalid_xdp_action(dev, prog, act);
		fallthrough;
	case XDP_ABORTED:
		break;
	}
	trace_xdp_exception(dev, prog, act);
	vec->xdp_err++;
	return TSNSIM_CONSUMED;
}

int tsnsim_xdp_xmit(struct net_device *dev, int n, struct xdp_frame **frames, u32 flags)
{
	struct tsnsim_port *port = netdev_priv(dev);
	int i;

	if (unlikely(!netif_carrier_ok(dev)))
		return -ENETDOWN;
	if (unlikely(flags & ~XDP_XMIT_FLAGS_MASK))
		return -EINVAL;
	for (i = 0; i < n; i++) {
		if (!xdp_transmit(port, frames[i]->data, frames[i]->len))
			break;
		xdp_return_frame_rx_napi(frames[i]);
	}
	return i;
}

static int xdp_set_prog(struct tsnsim_port *port, struct bpf_prog *prog,
			struct netlink_ext_ack *extack)
{
	const struct tsnsim_model *m = port->model;
	struct bpf_prog *old;

	if (prog && port->dev->mtu > ETH_DATA_LEN) {
		NL_SET_ERR_MSG_MOD(extack, "Jumbo frames not supported");
		return -EOPNOTSUPP;
	}
	if (prog && m->xdp_takes_rings) {
		u32 stack = port->n_tc ? port->stack_queues : num_possible_cpus();

		if (stack + num_possible_cpus() > port->n_txq) {
			NL_SET_ERR_MSG_FMT_MOD(extack,
					       "Reserving %d XDP TXQs leaves under %d for stack (total %d)",
					       num_possible_cpus(), stack, port->n_txq);
			return -EBUSY;
		}
	}
	old = rtnl_dereference(port->xdp_prog);
	rcu_assign_pointer(port->xdp_prog, prog);
	if (old)
		bpf_prog_put(old);
	return 0;
}

int tsnsim_bpf(struct net_device *dev, struct netdev_bpf *bpf)
{
	switch (bpf->command) {
	case XDP_SETUP_PROG:
		return xdp_set_prog(netdev_priv(dev), bpf->prog, bpf->extack);
	default:
		return -EOPNOTSUPP;
	}
}

static int xmo_timestamp(const struct xdp_md *ctx, u64 *timestamp)
{
	const struct tsnsim_xdp_buff *x = (const void *)ctx;

	if (!READ_ONCE(x->port->rx_stamps_on))
		return -ENODATA;
	*timestamp = x->rx_phc;
	return 0;
}

static int xmo_hash(const struct xdp_md *ctx, u32 *hash, enum xdp_rss_hash_type *type)
{
	const struct tsnsim_xdp_buff *x = (const void *)ctx;

	if (!(x->port->dev->features & NETIF_F_RXHASH))
		return -ENODATA;
	*hash = jhash(x->xdp.data, min_t(u32, x->xdp.data_end - x->xdp.data, ETH_HLEN), 0);
	*type = XDP_RSS_TYPE_L2;
	return 0;
}

static const struct xdp_metadata_ops ops_stamp_hash = {
	.xmo_rx_timestamp = xmo_timestamp,
	.xmo_rx_hash = xmo_hash,
};

void tsnsim_xdp_init(struct tsnsim_port *port)
{
	struct net_device *dev = port->dev;

	dev->xdp_features = NETDEV_XDP_ACT_BASIC | NETDEV_XDP_ACT_REDIRECT |
			    NETDEV_XDP_ACT_NDO_XMIT;
	if (port->model->xdp_kfuncs)
		dev->xdp_metadata_ops = &ops_stamp_hash;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * NAPI of a vector: departed skbs are stamped and freed, arrived frames become skbs.
 */
#include <linux/if_vlan.h>
#include <net/page_pool/helpers.h>
#include "tsnsim.h"

struct arrived {
	u8 *data;
	u32 len;
	bool tagged;	/* a tag was taken off */
	u16 tci;
	s64 rx_phc;
};

/* With rx-vlan-offload the tag leaves the frame before XDP sees it, as on the parts. */
static struct arrived unwrap(const struct tsnsim_port *port, struct tsnsim_frame *f)
{
	struct arrived a = { .data = f->data, .len = f->len, .rx_phc = f->rx_phc };

	if (!(port->dev->features & NETIF_F_HW_VLAN_CTAG_RX) ||
	    f->data[12] != 0x81 || f->data[13] != 0x00)
		return a;
	a.tagged = true;
	a.tci = f->data[14] << 8 | f->data[15];
	memmove(f->data + VLAN_HLEN, f->data, 2 * ETH_ALEN);
	a.data += VLAN_HLEN;
	a.len -= VLAN_HLEN;
	return a;
}

static void give(struct tsnsim_vec *vec, struct sk_buff *skb, const struct arrived *a)
{
	struct tsnsim_port *port = vec->port;

	skb_record_rx_queue(skb, vec - port->vec);
	if (READ_ONCE(port->rx_stamps_on)) {
		skb_hwtstamps(skb)->hwtstamp = ns_to_ktime(a->rx_phc);
		vec->rx_hwtstamps++;
	}
	skb->protocol = eth_type_trans(skb, port->dev);
	if (a->tagged)
		__vlan_hwaccel_put_tag(skb, htons(ETH_P_8021Q), a->tci);
	napi_gro_receive(&vec->napi, skb);
}

static bool receive_plain(struct tsnsim_vec *vec, const struct arrived *a)
{
	struct sk_buff *skb = napi_alloc_skb(&vec->napi, a->len);

	if (!skb)
		return false;
	skb_put_data(skb, a->data, a->len);
	give(vec, skb, a);
	return true;
}

static bool receive_xdp(struct tsnsim_vec *vec, struct bpf_prog *prog, const struct arrived *a,
			bool *redirected)
{
	struct tsnsim_xdp_buff x = { .port = vec->port, .rx_phc = a->rx_phc };
	struct sk_buff *skb;
	struct page *page;
	u32 meta;

	if (a->len > PAGE_SIZE - XDP_PACKET_HEADROOM -
		     SKB_DATA_ALIGN(sizeof(struct skb_shared_info)))
		return false;
	page = page_pool_dev_alloc_pages(vec->pool);
	if (!page)
		return false;
	xdp_init_buff(&x.xdp, PAGE_SIZE, &vec->xdp_rxq);
	xdp_prepare_buff(&x.xdp, page_address(page), XDP_PACKET_HEADROOM, a->len, true);
	memcpy(x.xdp.data, a->data, a->len);

	switch (tsnsim_xdp_run(vec, prog, &x)) {
	case TSNSIM_REDIRECTED:
		*redirected = true;
		return true;
	case TSNSIM_CONSUMED:
		page_pool_recycle_direct(vec->pool, page);
		return true;
	case TSNSIM_PASS:
		break;
	}
	skb = napi_build_skb(x.xdp.data_hard_start, PAGE_SIZE);
	if (!skb) {
		page_pool_recycle_direct(vec->pool, page);
		return false;
	}
	skb_mark_for_recycle(skb);
	skb_reserve(skb, x.xdp.data - x.xdp.data_hard_start);
	skb_put(skb, x.xdp.data_end - x.xdp.data);
	meta = x.xdp.data - x.xdp.data_meta;
	if (meta)
		skb_metadata_set(skb, meta);
	give(vec, skb, a);
	return true;
}

static void complete_list(struct tsnsim_vec *vec, struct sk_buff *done, int budget)
{
	struct netdev_queue *txq;
	struct sk_buff *skb;
	u16 queue = vec - vec->port->vec;

	while ((skb = done)) {
		done = skb->next;
		skb_mark_not_on_list(skb);
		tsnsim_stamp_complete(vec->port, skb, budget);
	}
	txq = netdev_get_tx_queue(vec->port->dev, queue);
	/* pairs with the barrier in the transmit path */
	smp_mb();
	if (netif_tx_queue_stopped(txq) && READ_ONCE(vec->port->open) &&
	    READ_ONCE(vec->port->txq[queue].used) < vec->port->tx_ring_size / 2)
		netif_tx_wake_queue(txq);
}

int tsnsim_poll(struct napi_struct *napi, int budget)
{
	struct tsnsim_vec *vec = container_of(napi, struct tsnsim_vec, napi);
	struct tsnsim_port *port = vec->port;
	struct tsnsim_frame *f, *next;
	struct bpf_prog *prog = rcu_dereference_bh(port->xdp_prog);
	struct sk_buff *done, *skb;
	bool redirected = false;
	u64 missed = 0;
	unsigned long flags;
	LIST_HEAD(frames);
	int n = 0;

	raw_spin_lock_irqsave(&port->pair->lock, flags);
	done = vec->done;
	vec->done = NULL;
	vec->done_tail = &vec->done;
	for (skb = done; skb; skb = skb->next)
		port->txq[vec - port->vec].used--;
	while (n < budget && !list_empty(&vec->rx)) {
		list_move_tail(vec->rx.next, &frames);
		vec->rx_len--;
		n++;
	}
	raw_spin_unlock_irqrestore(&port->pair->lock, flags);

	complete_list(vec, done, budget);
	list_for_each_entry_safe(f, next, &frames, node) {
		struct arrived a = unwrap(port, f);

		vec->rx_packets++;
		vec->rx_bytes += f->len;
		if (!(prog ? receive_xdp(vec, prog, &a, &redirected) : receive_plain(vec, &a)))
			missed++;
		tsnsim_frame_free(f);
	}
	if (redirected)
		xdp_do_flush();
	if (missed) {
		raw_spin_lock_irqsave(&port->pair->lock, flags);
		port->stats.rx_missed += missed;
		raw_spin_unlock_irqrestore(&port->pair->lock, flags);
	}
	if (n < budget)
		napi_complete_done(napi, n);
	return n;
}

static int vec_open(struct tsnsim_vec *vec, int nr)
{
	struct page_pool_params params = {
		.pool_size = 256, .nid = NUMA_NO_NODE,
		.netdev = vec->port->dev, .napi = &vec->napi,
	};
	int err;

	vec->pool = page_pool_create(&params);
	if (IS_ERR(vec->pool)) {
		err = PTR_ERR(vec->pool);
		vec->pool = NULL;
		return err;
	}
	err = xdp_rxq_info_reg(&vec->xdp_rxq, vec->port->dev, nr, vec->napi.napi_id);
	if (err)
		goto pool;
	err = xdp_rxq_info_reg_mem_model(&vec->xdp_rxq, MEM_TYPE_PAGE_POOL, vec->pool);
	if (err)
		goto rxq;
	err = tsnsim_irq_request(vec, nr);
	if (err)
		goto rxq;
	napi_enable(&vec->napi);
	return 0;
rxq:
	xdp_rxq_info_unreg(&vec->xdp_rxq);
pool:
	page_pool_destroy(vec->pool);
	vec->pool = NULL;
	return err;
}

static void vec_close(struct tsnsim_vec *vec)
{
	struct tsnsim_port *port = vec->port;
	struct tsnsim_frame *f, *next;
	struct sk_buff *done, *skb;
	unsigned long flags;
	LIST_HEAD(frames);

	tsnsim_irq_free(vec);
	napi_disable(&vec->napi);
	raw_spin_lock_irqsave(&port->pair->lock, flags);
	done = vec->done;
	vec->done = NULL;
	vec->done_tail = &vec->done;
	list_splice_init(&vec->rx, &frames);
	vec->rx_len = 0;
	port->txq[vec - port->vec].used = 0;
	raw_spin_unlock_irqrestore(&port->pair->lock, flags);
	while ((skb = done)) {
		done = skb->next;
		skb_mark_not_on_list(skb);
		dev_kfree_skb_any(skb);
	}
	list_for_each_entry_safe(f, next, &frames, node)
		tsnsim_frame_free(f);
	xdp_rxq_info_unreg(&vec->xdp_rxq);
	page_pool_destroy(vec->pool);
	vec->pool = NULL;
}

int tsnsim_rx_open(struct tsnsim_port *port)
{
	int i, err;

	for (i = 0; i < port->n_vec; i++) {
		err = vec_open(&port->vec[i], i);
		if (err) {
			while (i--)
				vec_close(&port->vec[i]);
			return err;
		}
	}
	return 0;
}

void tsnsim_rx_close(struct tsnsim_port *port)
{
	int i;

	for (i = 0; i < port->n_vec; i++)
		vec_close(&port->vec[i]);
}

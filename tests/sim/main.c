// SPDX-License-Identifier: GPL-2.0-only
/*
 * tsnsim: module parameters, creation and removal of pairs.
 *
 *   modprobe tsnsim model=i225 pairs=1 length_ns=500 speed_mbps=1000
 *
 * Pair N has the ports tsn<2N> and tsn<2N+1>. model, phc_offset_ns and phc_drift_ppb take one
 * value for each port; ports without one take the last that is given (model) or 0.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include "tsnsim.h"

#define MAX_PORTS	(2 * TSNSIM_MAX_PAIRS)
#define MAX_OFFSET_NS	(3600LL * NSEC_PER_SEC)

static unsigned int pairs = 1;
module_param(pairs, uint, 0444);
MODULE_PARM_DESC(pairs, "Pairs of ports, 1 to 8 (1)");

static char *model[MAX_PORTS];
static unsigned int n_model;
module_param_array(model, charp, &n_model, 0444);
MODULE_PARM_DESC(model, "ideal, i225, i226, i210 or ls1028a, for each port (ideal)");

static unsigned int length_ns = 500;
module_param(length_ns, uint, 0444);
MODULE_PARM_DESC(length_ns, "Propagation delay of the cables, 0 to 1000000 ns (500)");

static unsigned int speed_mbps = 1000;
module_param(speed_mbps, uint, 0444);
MODULE_PARM_DESC(speed_mbps, "Link speed: 100, 1000 or 2500 Mb/s (1000)");

static unsigned int queues;
module_param(queues, uint, 0444);
MODULE_PARM_DESC(queues, "TX queues, 1 to 8, fewer than the model has; 0: as the model (0)");

static long long phc_offset_ns[MAX_PORTS];
static int n_offset;

static int param_set_s64(const char *val, const struct kernel_param *kp)
{
	return kstrtoll(val, 0, (long long *)kp->arg);
}

static int param_get_s64(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%lld\n", *(long long *)kp->arg);
}

static const struct kernel_param_ops param_ops_s64 = {
	.set = param_set_s64,
	.get = param_get_s64,
};

#define param_check_s64(name, p) __param_check(name, p, long long)
module_param_array_named(phc_offset_ns, phc_offset_ns, s64, &n_offset, 0444);
MODULE_PARM_DESC(phc_offset_ns, "PHC minus CLOCK_TAI at load, for each port, up to an hour (0)");

static int phc_drift_ppb[MAX_PORTS];
static int n_drift;
module_param_array(phc_drift_ppb, int, &n_drift, 0444);
MODULE_PARM_DESC(phc_drift_ppb, "Error of each port's crystal, -1000000 to 1000000 (0)");

unsigned int tsnsim_bounce_ms = 100;
module_param_named(bounce_ms, tsnsim_bounce_ms, uint, 0444);
MODULE_PARM_DESC(bounce_ms, "How long the link is down after a reset, 1 to 10000 ms (100)");

unsigned int tsnsim_reset_step_ns = 1000;
module_param_named(reset_step_ns, tsnsim_reset_step_ns, uint, 0444);
MODULE_PARM_DESC(reset_step_ns, "How far a reset moves the PHC, 0 to 1000000 ns (1000)");

s64 tsnsim_epoch_raw, tsnsim_epoch_tai;

static struct tsnsim_pair *all[TSNSIM_MAX_PAIRS];

static void link_work(struct work_struct *work)
{
	struct tsnsim_pair *pair = container_of(work, struct tsnsim_pair, link_work);
	int i;

	for (i = 0; i < 2; i++) {
		if (READ_ONCE(pair->link_up))
			netif_carrier_on(pair->port[i]->dev);
		else
			netif_carrier_off(pair->port[i]->dev);
	}
	tsnsim_kick(pair);
}

static bool speed_possible(u32 mbps, const struct tsnsim_model *a, const struct tsnsim_model *b)
{
	return (mbps == 100 || mbps == 1000 || mbps == 2500) &&
	       mbps <= a->max_speed_mbps && mbps <= b->max_speed_mbps;
}

int tsnsim_pair_set_speed(struct tsnsim_pair *pair, u32 mbps)
{
	unsigned long flags;
	bool bounce;

	if (!speed_possible(mbps, pair->port[0]->model, pair->port[1]->model))
		return -EINVAL;
	raw_spin_lock_irqsave(&pair->lock, flags);
	bounce = pair->link_up && pair->speed_mbps != mbps;
	if (bounce) {	/* the link is negotiated anew; what was queued is lost */
		pair->negotiating = true;
		tsnsim_link_update(pair);
	}
	pair->speed_mbps = mbps;
	raw_spin_unlock_irqrestore(&pair->lock, flags);
	if (!bounce)
		return 0;
	flush_work(&pair->link_work);
	raw_spin_lock_irqsave(&pair->lock, flags);
	pair->negotiating = false;
	tsnsim_link_update(pair);
	raw_spin_unlock_irqrestore(&pair->lock, flags);
	flush_work(&pair->link_work);
	return 0;
}

static void pair_destroy(struct tsnsim_pair *pair)
{
	unsigned long flags;
	int i;

	raw_spin_lock_irqsave(&pair->lock, flags);
	pair->going = true;
	if (pair->port[0] && pair->port[1])
		tsnsim_link_update(pair);
	raw_spin_unlock_irqrestore(&pair->lock, flags);
	/* one that has seen the link up must not tell so when the port is gone */
	flush_work(&pair->link_work);
	for (i = 0; i < 2; i++)
		if (pair->port[i])
			tsnsim_port_unregister(pair->port[i]);
	cancel_work_sync(&pair->link_work);
	for (i = 0; i < 2; i++)
		if (pair->port[i])
			tsnsim_port_free(pair->port[i]);
	kfree(pair);
}

static struct tsnsim_pair *pair_create(int index)
{
	struct tsnsim_pair *pair;
	int i, err;

	pair = kzalloc(sizeof(*pair), GFP_KERNEL);
	if (!pair)
		return ERR_PTR(-ENOMEM);
	raw_spin_lock_init(&pair->lock);
	INIT_WORK(&pair->link_work, link_work);
	pair->index = index;
	pair->length_ns = length_ns;
	pair->speed_mbps = speed_mbps;
	pair->plugged = true;
	for (i = 0; i < 2; i++) {
		int nr = 2 * index + i;
		const char *name = n_model ? model[min_t(int, nr, n_model - 1)] : "ideal";
		struct tsnsim_port *port;

		port = tsnsim_port_create(pair, i, tsnsim_model_find(name), queues);
		if (IS_ERR(port)) {
			err = PTR_ERR(port);
			goto destroy;
		}
		pair->port[i] = port;
	}
	pair->port[0]->peer = pair->port[1];
	pair->port[1]->peer = pair->port[0];
	for (i = 0; i < 2; i++) {
		err = tsnsim_phc_register(pair->port[i], phc_offset_ns[2 * index + i],
					  phc_drift_ppb[2 * index + i]);
		if (!err)
			err = register_netdev(pair->port[i]->dev);
		if (err)
			goto destroy;
	}
	tsnsim_debugfs_pair(pair);
	return pair;
destroy:
	pair_destroy(pair);
	return ERR_PTR(err);
}

static int params_check(void)
{
	int i;

	if (!pairs || pairs > TSNSIM_MAX_PAIRS) {
		pr_err(TSNSIM_NAME ": pairs=%u refused: want 1 to %d\n", pairs, TSNSIM_MAX_PAIRS);
		return -ERANGE;
	}
	for (i = 0; i < n_model; i++) {
		if (!tsnsim_model_find(model[i])) {
			char names[64];

			tsnsim_model_names(names, sizeof(names));
			pr_err(TSNSIM_NAME ": model=%s refused: want one of %s\n", model[i], names);
			return -EINVAL;
		}
		if (queues > tsnsim_model_find(model[i])->tx_queues) {
			pr_err(TSNSIM_NAME ": queues=%u refused: %s has %d\n", queues, model[i],
			       tsnsim_model_find(model[i])->tx_queues);
			return -ERANGE;
		}
	}
	if (!n_model && queues > tsnsim_models[0].tx_queues) {
		pr_err(TSNSIM_NAME ": queues=%u refused: %s has %d\n", queues,
		       tsnsim_models[0].name, tsnsim_models[0].tx_queues);
		return -ERANGE;
	}
	if (length_ns > 1000000) {
		pr_err(TSNSIM_NAME ": length_ns=%u refused: want 0 to 1000000\n", length_ns);
		return -ERANGE;
	}
	for (i = 0; i < 2 * pairs; i++) {
		const char *name = n_model ? model[min_t(int, i, n_model - 1)] : "ideal";
		const struct tsnsim_model *m = tsnsim_model_find(name);

		if (!speed_possible(speed_mbps, m, m)) {
			pr_err(TSNSIM_NAME ": speed_mbps=%u refused: want 100, 1000 or 2500, %s has at most %u\n",
			       speed_mbps, name, m->max_speed_mbps);
			return -EINVAL;
		}
		if (phc_offset_ns[i] > MAX_OFFSET_NS || phc_offset_ns[i] < -MAX_OFFSET_NS) {
			pr_err(TSNSIM_NAME ": phc_offset_ns=%lld refused: at most an hour\n",
			       phc_offset_ns[i]);
			return -ERANGE;
		}
		if (phc_drift_ppb[i] > TSNSIM_MAX_DRIFT_PPB ||
		    phc_drift_ppb[i] < -TSNSIM_MAX_DRIFT_PPB) {
			pr_err(TSNSIM_NAME ": phc_drift_ppb=%d refused: want -1000000 to 1000000\n",
			       phc_drift_ppb[i]);
			return -ERANGE;
		}
	}
	if (!tsnsim_bounce_ms || tsnsim_bounce_ms > 10000) {
		pr_err(TSNSIM_NAME ": bounce_ms=%u refused: want 1 to 10000\n", tsnsim_bounce_ms);
		return -ERANGE;
	}
	if (tsnsim_reset_step_ns > 1000000) {
		pr_err(TSNSIM_NAME ": reset_step_ns=%u refused: want 0 to 1000000\n",
		       tsnsim_reset_step_ns);
		return -ERANGE;
	}
	return 0;
}

static void destroy_all(void)
{
	int i;

	for (i = 0; i < TSNSIM_MAX_PAIRS; i++)
		if (all[i])
			pair_destroy(all[i]);
	WARN(atomic_read(&tsnsim_frames_alive), TSNSIM_NAME ": %d frames leaked\n",
	     atomic_read(&tsnsim_frames_alive));
}

static int __init tsnsim_init(void)
{
	struct system_time_snapshot snap;
	int i, err;

	err = params_check();
	if (err)
		return err;
	ktime_get_snapshot(&snap);
	tsnsim_epoch_raw = ktime_to_ns(snap.raw);
	tsnsim_epoch_tai = tsnsim_snapshot_tai(&snap);
	tsnsim_debugfs_init();
	err = tsnsim_culprit_init(tsnsim_debugfs_root);
	if (err)
		goto debugfs;
	for (i = 0; i < pairs; i++) {
		all[i] = pair_create(i);
		if (IS_ERR(all[i])) {
			err = PTR_ERR(all[i]);
			all[i] = NULL;
			goto pairs;
		}
	}
	return 0;
pairs:
	tsnsim_debugfs_exit();
	destroy_all();
	tsnsim_culprit_exit();
	return err;
debugfs:
	tsnsim_debugfs_exit();
	return err;
}

static void __exit tsnsim_exit(void)
{
	tsnsim_debugfs_exit();
	destroy_all();
	tsnsim_culprit_exit();
}

module_init(tsnsim_init);
module_exit(tsnsim_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Pairs of simulated TSN ports with the limits of real parts");

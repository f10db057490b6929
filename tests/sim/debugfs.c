// SPDX-License-Identifier: GPL-2.0-only
/*
 * Knobs in debugfs:
 *
 *   tsnsim/pairN/length_ns      propagation delay of the cable, 0 to 1000000 ns
 *   tsnsim/pairN/speed_mbps     100, 1000 or 2500
 *   tsnsim/pairN/carrier        1: plugged, 0: unplugged
 *   tsnsim/pairN/rx_stamp_at    "start": an RX stamp names the arrival of the preamble (as the
 *                               parts do, after their own correction); "end": of the last bit
 *   tsnsim/tsnN/phc_drift_ppb   error of the crystal, -1000000 to 1000000
 *   tsnsim/tsnN/phc_step_ns     write: moves the PHC once
 *   tsnsim/tsnN/phc_to_tai_ns   read: PHC minus CLOCK_TAI at one instant, each of them cut off to a
 *                               nanosecond: one less or more from look to look where either runs
 *                               at another rate than the TSC, which counts nanoseconds
 *   tsnsim/tsnN/faults, fault_ethertype   see faults.c
 */
#include <linux/debugfs.h>
#include <linux/timekeeping.h>
#include "tsnsim.h"

struct dentry *tsnsim_debugfs_root;

#define MAX_LENGTH_NS	1000000
#define MAX_STEP_NS	(3600LL * NSEC_PER_SEC)

static int refuse(const char *what, s64 value, const char *range)
{
	pr_err(TSNSIM_NAME ": %s %lld refused: want %s\n", what, value, range);
	return -ERANGE;
}

static int length_get(void *data, u64 *val)
{
	*val = ((struct tsnsim_pair *)data)->length_ns;
	return 0;
}

static int length_set(void *data, u64 val)
{
	struct tsnsim_pair *pair = data;
	unsigned long flags;

	if (val > MAX_LENGTH_NS)
		return refuse("length_ns", val, "0 to 1000000");
	raw_spin_lock_irqsave(&pair->lock, flags);
	tsnsim_wire_run(pair);
	pair->length_ns = val;
	raw_spin_unlock_irqrestore(&pair->lock, flags);
	tsnsim_kick(pair);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(length_fops, length_get, length_set, "%llu\n");

static int speed_get(void *data, u64 *val)
{
	*val = ((struct tsnsim_pair *)data)->speed_mbps;
	return 0;
}

static int speed_set(void *data, u64 val)
{
	int err = val > U32_MAX ? -EINVAL : tsnsim_pair_set_speed(data, val);

	if (err)
		pr_err(TSNSIM_NAME ": speed_mbps %llu refused: want 100, 1000 or 2500, and both ports able\n",
		       val);
	return err;
}
DEFINE_DEBUGFS_ATTRIBUTE(speed_fops, speed_get, speed_set, "%llu\n");

static int carrier_get(void *data, u64 *val)
{
	*val = ((struct tsnsim_pair *)data)->plugged;
	return 0;
}

static int carrier_set(void *data, u64 val)
{
	struct tsnsim_pair *pair = data;
	unsigned long flags;

	if (val > 1)
		return refuse("carrier", val, "0 or 1");
	raw_spin_lock_irqsave(&pair->lock, flags);
	tsnsim_wire_run(pair);
	pair->plugged = val;
	tsnsim_link_update(pair);
	raw_spin_unlock_irqrestore(&pair->lock, flags);
	tsnsim_kick(pair);
	flush_work(&pair->link_work);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(carrier_fops, carrier_get, carrier_set, "%llu\n");

static ssize_t stamp_at_read(struct file *file, char __user *user, size_t len, loff_t *pos)
{
	struct tsnsim_pair *pair = file->private_data;
	const char *text = READ_ONCE(pair->rx_stamp_end) ? "end\n" : "start\n";

	return simple_read_from_buffer(user, len, pos, text, strlen(text));
}

static ssize_t stamp_at_write(struct file *file, const char __user *user, size_t len,
			      loff_t *pos)
{
	struct tsnsim_pair *pair = file->private_data;
	char buf[16];

	if (len >= sizeof(buf))
		return -EINVAL;
	if (copy_from_user(buf, user, len))
		return -EFAULT;
	buf[len] = '\0';
	if (sysfs_streq(buf, "start")) {
		WRITE_ONCE(pair->rx_stamp_end, false);
	} else if (sysfs_streq(buf, "end")) {
		WRITE_ONCE(pair->rx_stamp_end, true);
	} else {
		pr_err(TSNSIM_NAME ": rx_stamp_at refused: want start or end\n");
		return -EINVAL;
	}
	return len;
}

static const struct file_operations stamp_at_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = stamp_at_read,
	.write = stamp_at_write,
};

static int drift_get(void *data, u64 *val)
{
	*val = (s64)((struct tsnsim_port *)data)->phc.drift_ppb;
	return 0;
}

static int drift_set(void *data, u64 val)
{
	s64 ppb = val;

	if (ppb < -TSNSIM_MAX_DRIFT_PPB || ppb > TSNSIM_MAX_DRIFT_PPB)
		return refuse("phc_drift_ppb", ppb, "-1000000 to 1000000");
	tsnsim_phc_set_drift(data, ppb);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE_SIGNED(drift_fops, drift_get, drift_set, "%lld\n");

static int step_set(void *data, u64 val)
{
	s64 ns = val;

	if (ns < -MAX_STEP_NS || ns > MAX_STEP_NS)
		return refuse("phc_step_ns", ns, "at most an hour");
	if (tsnsim_phc_step(data, ns))
		return refuse("phc_step_ns", ns, "a PHC between 0 and 146 years");
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE_SIGNED(step_fops, NULL, step_set, "%lld\n");

static int to_tai_get(void *data, u64 *val)
{
	struct tsnsim_port *port = data;
	struct system_time_snapshot snap;
	unsigned long flags;
	s64 tai;

	raw_spin_lock_irqsave(&port->pair->lock, flags);
	ktime_get_snapshot(&snap);
	tai = tsnsim_snapshot_tai(&snap);
	*val = tsnsim_phc_at(port, ktime_to_ns(snap.raw)) - tai;
	raw_spin_unlock_irqrestore(&port->pair->lock, flags);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE_SIGNED(to_tai_fops, to_tai_get, NULL, "%lld\n");

static int ethertype_get(void *data, u64 *val)
{
	*val = ((struct tsnsim_port *)data)->fault_ethertype;
	return 0;
}

static int ethertype_set(void *data, u64 val)
{
	struct tsnsim_port *port = data;
	unsigned long flags;

	if (val > U16_MAX)
		return refuse("fault_ethertype", val, "0 to 0xffff");
	raw_spin_lock_irqsave(&port->pair->lock, flags);
	port->fault_ethertype = val;
	raw_spin_unlock_irqrestore(&port->pair->lock, flags);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(ethertype_fops, ethertype_get, ethertype_set, "0x%04llx\n");

void tsnsim_debugfs_pair(struct tsnsim_pair *pair)
{
	char name[16];
	int i;

	snprintf(name, sizeof(name), "pair%d", pair->index);
	pair->debugfs = debugfs_create_dir(name, tsnsim_debugfs_root);
	debugfs_create_file_unsafe("length_ns", 0600, pair->debugfs, pair, &length_fops);
	debugfs_create_file_unsafe("speed_mbps", 0600, pair->debugfs, pair, &speed_fops);
	debugfs_create_file_unsafe("carrier", 0600, pair->debugfs, pair, &carrier_fops);
	debugfs_create_file("rx_stamp_at", 0600, pair->debugfs, pair, &stamp_at_fops);
	for (i = 0; i < 2; i++) {
		struct tsnsim_port *port = pair->port[i];
		struct dentry *dir;

		snprintf(name, sizeof(name), "tsn%d", 2 * pair->index + i);
		dir = debugfs_create_dir(name, tsnsim_debugfs_root);
		port->debugfs = dir;
		debugfs_create_file_unsafe("phc_drift_ppb", 0600, dir, port, &drift_fops);
		debugfs_create_file_unsafe("phc_step_ns", 0200, dir, port, &step_fops);
		debugfs_create_file_unsafe("phc_to_tai_ns", 0400, dir, port, &to_tai_fops);
		debugfs_create_file_unsafe("fault_ethertype", 0600, dir, port, &ethertype_fops);
		debugfs_create_file("faults", 0600, dir, port, &tsnsim_fault_fops);
	}
}

void tsnsim_debugfs_init(void)
{
	tsnsim_debugfs_root = debugfs_create_dir(TSNSIM_NAME, NULL);
}

/* Waits for writes that are under way. */
void tsnsim_debugfs_exit(void)
{
	debugfs_remove_recursive(tsnsim_debugfs_root);
}

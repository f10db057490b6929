// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults on frames and stamps, armed through the debugfs file "faults" of the sending port:
 *
 *   lose N               the cable loses the N-th frame
 *   duplicate N          it arrives twice, the copy right behind it
 *   reorder N            it arrives right behind the next frame that counts and is not lost, or a
 *                        second late if none follows
 *   corrupt N            its FCS is wrong: the receiver counts rx_crc_errors and drops it
 *   corrupt N OFFSET     the byte at OFFSET is inverted, the FCS is right
 *   delay N NS           it spends NS longer on the cable
 *   late N NS            it leaves NS after its launch time
 *   stamp-lose N         no TX stamp of the N-th frame that asks for one
 *   stamp-repeat N       its stamp is delivered twice
 *   stamp-delay N NS     its stamp is delivered NS later
 *   clear                forgets all faults, armed and done
 *
 * N counts from 1, over the frames that the stack hands over after the fault was armed and that
 * match the EtherType in "fault_ethertype" (0: all). Reading tells what was hit: the TX stamp of
 * the frame. One line, one command.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include "tsnsim.h"

#define ARG_NONE	0
#define ARG_NS		1
#define ARG_OFFSET	2

static const struct {
	const char *name;
	u8 arg;
	bool on_stamp;
} kinds[TSNSIM_FAULT_KINDS] = {
	[TSNSIM_FAULT_LOSE] = { "lose" },
	[TSNSIM_FAULT_DUPLICATE] = { "duplicate" },
	[TSNSIM_FAULT_REORDER] = { "reorder" },
	[TSNSIM_FAULT_CORRUPT] = { "corrupt", ARG_OFFSET },
	[TSNSIM_FAULT_DELAY] = { "delay", ARG_NS },
	[TSNSIM_FAULT_LATE] = { "late", ARG_NS },
	[TSNSIM_FAULT_STAMP_LOSE] = { "stamp-lose", ARG_NONE, true },
	[TSNSIM_FAULT_STAMP_REPEAT] = { "stamp-repeat", ARG_NONE, true },
	[TSNSIM_FAULT_STAMP_DELAY] = { "stamp-delay", ARG_NS, true },
};

#define MAX_NS		(10LL * NSEC_PER_SEC)

static u16 ethertype(const struct tsnsim_frame *f)
{
	const u8 *p = f->data + 2 * ETH_ALEN;

	if (p[0] == 0x81 && p[1] == 0x00)
		p += 4;
	return p[0] << 8 | p[1];
}

static void hit(struct tsnsim_port *port, struct tsnsim_frame *f, struct tsnsim_fault *fault)
{
	switch (fault->kind) {
	case TSNSIM_FAULT_LOSE:
		f->lose = true;
		break;
	case TSNSIM_FAULT_DUPLICATE:
		f->duplicate = true;
		port->n_duplicates--;
		break;
	case TSNSIM_FAULT_REORDER:
		f->reorder = true;
		break;
	case TSNSIM_FAULT_CORRUPT:
		if (fault->arg < 0)
			f->bad_fcs = true;
		else if (fault->arg < f->len)
			f->data[fault->arg] ^= 0xff;
		break;
	case TSNSIM_FAULT_DELAY:
		f->delay_ns += fault->arg;
		break;
	case TSNSIM_FAULT_LATE:
		f->late_ns += fault->arg;
		break;
	case TSNSIM_FAULT_STAMP_LOSE:
		f->stamp_lose = true;
		break;
	case TSNSIM_FAULT_STAMP_REPEAT:
		f->stamp_repeat = true;
		break;
	case TSNSIM_FAULT_STAMP_DELAY:
		f->stamp_delay_ns += fault->arg;
		break;
	default:
		break;
	}
	fault->done = true;
	f->fault_era = port->fault_era;
	f->faults |= BIT_ULL(fault - port->fault);
}

void tsnsim_fault_frame(struct tsnsim_port *port, struct tsnsim_frame *f)
{
	bool stamp = f->skb && skb_shinfo(f->skb)->tx_flags & SKBTX_IN_PROGRESS;
	u32 i;

	/* what a driver inserts is no frame of the stack's */
	if (f->driver_made || (port->fault_ethertype && ethertype(f) != port->fault_ethertype))
		return;
	f->counted = true;
	port->fault_frames++;
	if (stamp)
		port->fault_stamps++;
	for (i = 0; i < port->n_faults; i++) {
		struct tsnsim_fault *fault = &port->fault[i];
		bool on_stamp = kinds[fault->kind].on_stamp;
		u64 count = on_stamp ? port->fault_stamps : port->fault_frames;

		if (!fault->done && (stamp || !on_stamp) && count == fault->first + fault->n)
			hit(port, f, fault);
	}
}

void tsnsim_fault_departed(struct tsnsim_port *port, struct tsnsim_frame *f, s64 tx_phc)
{
	u32 i;

	BUILD_BUG_ON(TSNSIM_MAX_FAULTS > BITS_PER_TYPE(f->faults));
	/* an older era: cleared while the frame was queued */
	if (!f->faults || f->fault_era != port->fault_era)
		return;
	for (i = 0; i < port->n_faults; i++)
		if (f->faults & BIT_ULL(i))
			port->fault[i].tx_phc = tx_phc;
}

static int arm_fault(struct tsnsim_port *port, char *cmd)
{
	struct tsnsim_fault fault = { .arg = -1 };
	char *word = strsep(&cmd, " \t");
	unsigned long flags;
	int err = 0;
	u64 n, arg;

	if (!strcmp(word, "clear")) {
		raw_spin_lock_irqsave(&port->pair->lock, flags);
		port->n_faults = 0;
		port->n_duplicates = 0;
		port->fault_era++;
		raw_spin_unlock_irqrestore(&port->pair->lock, flags);
		return cmd && *skip_spaces(cmd) ? -EINVAL : 0;
	}
	for (fault.kind = 0; fault.kind < TSNSIM_FAULT_KINDS; fault.kind++)
		if (!strcmp(word, kinds[fault.kind].name))
			break;
	if (fault.kind == TSNSIM_FAULT_KINDS)
		return -EINVAL;
	word = strsep(&cmd, " \t");
	if (!word || kstrtou64(word, 10, &n))
		return -EINVAL;
	if (!n || n > U32_MAX)
		return -ERANGE;
	fault.n = n;
	word = strsep(&cmd, " \t");
	if (!word && kinds[fault.kind].arg == ARG_NS)
		return -EINVAL;
	if (word) {
		if (kinds[fault.kind].arg == ARG_NONE || kstrtou64(word, 10, &arg))
			return -EINVAL;
		if (arg > (kinds[fault.kind].arg == ARG_NS ? MAX_NS : 9216))
			return -ERANGE;
		fault.arg = arg;
	}
	if (cmd)
		return -EINVAL;

	raw_spin_lock_irqsave(&port->pair->lock, flags);
	if (port->n_faults == TSNSIM_MAX_FAULTS) {
		err = -ENOSPC;
	} else {
		fault.first = kinds[fault.kind].on_stamp ? port->fault_stamps :
							   port->fault_frames;
		port->fault[port->n_faults++] = fault;
		if (fault.kind == TSNSIM_FAULT_DUPLICATE)
			port->n_duplicates++;
	}
	raw_spin_unlock_irqrestore(&port->pair->lock, flags);
	return err;
}

static ssize_t fault_write(struct file *file, const char __user *user, size_t len, loff_t *pos)
{
	struct tsnsim_port *port = ((struct seq_file *)file->private_data)->private;
	char buf[64], shown[64];
	int err;

	if (len >= sizeof(buf))
		return -EINVAL;
	if (copy_from_user(buf, user, len))
		return -EFAULT;
	buf[len] = '\0';
	strim(buf);
	strscpy(shown, buf, sizeof(shown));
	err = arm_fault(port, skip_spaces(buf));
	if (err) {
		netdev_err(port->dev, "fault \"%*pE\" refused: %s\n", (int)strlen(shown), shown,
			   err == -ERANGE ? "out of range" :
			   err == -ENOSPC ? "too many faults, write clear" :
			   "want KIND N [NS|OFFSET] or clear");
		return err;
	}
	return len;
}

static int fault_show(struct seq_file *seq, void *unused)
{
	struct tsnsim_port *port = seq->private;
	struct tsnsim_fault fault;
	unsigned long flags;
	bool more;
	u32 i;

	for (i = 0; ; i++) {
		raw_spin_lock_irqsave(&port->pair->lock, flags);
		more = i < port->n_faults;
		if (more)
			fault = port->fault[i];
		raw_spin_unlock_irqrestore(&port->pair->lock, flags);
		if (!more)
			return 0;
		seq_printf(seq, "%s %llu", kinds[fault.kind].name, fault.n);
		if (fault.arg >= 0)
			seq_printf(seq, " %lld", fault.arg);
		if (!fault.done)
			seq_puts(seq, " armed\n");
		else if (!fault.tx_phc)
			seq_puts(seq, " queued\n");
		else
			seq_printf(seq, " hit tx=%lld\n", fault.tx_phc);
	}
}

static int fault_open(struct inode *inode, struct file *file)
{
	return single_open(file, fault_show, inode->i_private);
}

const struct file_operations tsnsim_fault_fops = {
	.owner = THIS_MODULE,
	.open = fault_open,
	.read = seq_read,
	.write = fault_write,
	.llseek = seq_lseek,
	.release = single_release,
};

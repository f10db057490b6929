// SPDX-License-Identifier: GPL-2.0-only
/*
 * What steals a CPU from a real-time thread, on demand:
 *
 *   culprit/irq       "NAME CPU HOLD_US [COUNT PERIOD_US]": a hard interrupt handler under NAME, in
 *                     /proc/interrupts and the irq tracepoints, holds CPU for HOLD_US, COUNT times
 *   culprit/softirq   "CPU HOLD_US [COUNT PERIOD_US]": a tasklet does
 *   culprit/irqs_off  "CPU HOLD_US [COUNT PERIOD_US]": a section with interrupts disabled does
 *   culprit/count     how often it has struck since the module was loaded
 *
 * The first strike comes one period (or, without one, a millisecond) after the write.
 */
#include <linux/cpu.h>
#include <linux/ctype.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/mutex.h>
#include "tsnsim.h"

#define MAX_HOLD_US	100000
#define MAX_PERIOD_US	10000000
#define MAX_COUNT	1000000

enum weapon { WEAPON_IRQ, WEAPON_SOFTIRQ, WEAPON_IRQS_OFF };

static DEFINE_MUTEX(culprit_mutex);
static struct {
	enum weapon weapon;
	u32 hold_us;
	u32 period_us;
	u32 left;
	u32 cpu;
	struct hrtimer timer;
	struct tasklet_struct tasklet;
	int irq;
	bool requested;
	char name[32];
} culprit;
static u64 culprit_count;

/*
 * Busy, because that is what a handler that holds the CPU is. Not by cpu_relax(): an emulated
 * CPU leaves its generated code at each of them, which takes the host a hundred times as long
 * as what the guest sees of it.
 */
static void hold(void)
{
	u64 until = ktime_get_raw_ns() + culprit.hold_us * 1000ULL;

	WRITE_ONCE(culprit_count, culprit_count + 1);
	while (ktime_get_raw_ns() < until)
		asm volatile(".rept 200; nop; .endr");
}

static irqreturn_t culprit_handler(int irq, void *data)
{
	hold();
	return IRQ_HANDLED;
}

static void culprit_tasklet(struct tasklet_struct *t)
{
	hold();
}

static enum hrtimer_restart culprit_timer(struct hrtimer *t)
{
	switch (culprit.weapon) {
	case WEAPON_IRQ:
		generic_handle_irq(culprit.irq);
		break;
	case WEAPON_SOFTIRQ:
		tasklet_hi_schedule(&culprit.tasklet);
		break;
	case WEAPON_IRQS_OFF:
		hold();		/* a hard timer runs with interrupts disabled */
		break;
	}
	if (!--culprit.left)
		return HRTIMER_NORESTART;
	hrtimer_forward_now(t, ns_to_ktime(culprit.period_us * 1000ULL));
	return HRTIMER_RESTART;
}

static void culprit_start(void *unused)
{
	hrtimer_start(&culprit.timer, ns_to_ktime(culprit.period_us * 1000ULL),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

static void culprit_stop(void)
{
	hrtimer_cancel(&culprit.timer);
	tasklet_kill(&culprit.tasklet);
}

/* The kernel makes a directory of the name beside these, and warns if there is one already. */
static bool name_taken(const char *name)
{
	static const char *const taken[] = {
		".", "..", "affinity_hint", "effective_affinity", "effective_affinity_list",
		"node", "smp_affinity", "smp_affinity_list", "spurious",
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(taken); i++)
		if (!strcmp(name, taken[i]))
			return true;
	return false;
}

static int name_set(const char *name)
{
	const char *p;
	int err;

	if (!*name || strlen(name) >= sizeof(culprit.name) || name_taken(name))
		return -EINVAL;
	for (p = name; *p; p++)
		if (!isgraph(*p) || *p == '/')
			return -EINVAL;
	if (culprit.requested && !strcmp(culprit.name, name))
		return 0;
	if (culprit.requested)
		free_irq(culprit.irq, &culprit);
	strscpy(culprit.name, name, sizeof(culprit.name));
	/* not threaded on the rt kernel either: it is to hold the CPU in hard interrupt context */
	err = request_irq(culprit.irq, culprit_handler, IRQF_NO_THREAD, culprit.name, &culprit);
	culprit.requested = !err;
	return err;
}

static int number(char **line, u32 min, u32 max, u32 *value)
{
	char *word = strsep(line, " \t");
	u64 v;

	if (!word || kstrtou64(word, 10, &v))
		return -EINVAL;
	if (v < min || v > max)
		return -ERANGE;
	*value = v;
	return 0;
}

static int strike(enum weapon weapon, char *line)
{
	u32 cpu, hold_us, count = 1, period_us = 1000;
	char *name = NULL;
	int err;

	if (weapon == WEAPON_IRQ)
		name = strsep(&line, " \t");
	err = number(&line, 0, nr_cpu_ids - 1, &cpu);
	if (!err)
		err = number(&line, 1, MAX_HOLD_US, &hold_us);
	if (!err && line) {
		err = number(&line, 1, MAX_COUNT, &count);
		if (!err)
			err = number(&line, 1, MAX_PERIOD_US, &period_us);
	}
	if (err)
		return err;
	if (line)
		return -EINVAL;
	/* else the CPU would never come back */
	if (count > 1 && period_us < 2 * hold_us)
		return -ERANGE;

	culprit_stop();
	if (name) {
		err = name_set(name);
		if (err)
			return err;
	}
	culprit.weapon = weapon;
	culprit.cpu = cpu;
	culprit.hold_us = hold_us;
	culprit.left = count;
	culprit.period_us = period_us;
	return smp_call_function_single(cpu, culprit_start, NULL, true) ? -ERANGE : 0;
}

#define HELP_WORDS \
	"want [NAME] CPU HOLD_US [COUNT PERIOD_US], NAME of at most 31 printable characters, no " \
	"'/', and none of the names in /proc/irq/0"
#define HELP_RANGE \
	"out of range (CPU online, HOLD_US 1-100000, COUNT 1-1000000, PERIOD_US 1-10000000 " \
	"and at least twice HOLD_US)"

static ssize_t weapon_write(struct file *file, const char __user *user, size_t len, loff_t *pos)
{
	enum weapon weapon = (unsigned long)file_inode(file)->i_private;
	char buf[96], shown[96];
	int err;

	if (len >= sizeof(buf))
		return -EINVAL;
	if (copy_from_user(buf, user, len))
		return -EFAULT;
	buf[len] = '\0';
	strim(buf);
	strscpy(shown, buf, sizeof(shown));
	mutex_lock(&culprit_mutex);
	err = strike(weapon, buf);
	mutex_unlock(&culprit_mutex);
	if (err) {
		pr_err(TSNSIM_NAME ": culprit \"%*pE\" refused: %s\n", (int)strlen(shown), shown,
		       err == -ERANGE ? HELP_RANGE : HELP_WORDS);
		return err;
	}
	return len;
}

static const struct file_operations weapon_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = weapon_write,
	.llseek = noop_llseek,
};

int tsnsim_culprit_init(struct dentry *root)
{
	struct dentry *dir;
	int irq = tsnsim_irq_line();

	if (irq < 0)
		return irq;
	culprit.irq = irq;
	irq_set_chip_and_handler(irq, &dummy_irq_chip, handle_simple_irq);
	irq_clear_status_flags(irq, IRQ_NOREQUEST | IRQ_NOPROBE);
	hrtimer_init(&culprit.timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	culprit.timer.function = culprit_timer;
	tasklet_setup(&culprit.tasklet, culprit_tasklet);

	dir = debugfs_create_dir("culprit", root);
	debugfs_create_file("irq", 0200, dir, (void *)(unsigned long)WEAPON_IRQ, &weapon_fops);
	debugfs_create_file("softirq", 0200, dir, (void *)(unsigned long)WEAPON_SOFTIRQ,
			    &weapon_fops);
	debugfs_create_file("irqs_off", 0200, dir, (void *)(unsigned long)WEAPON_IRQS_OFF,
			    &weapon_fops);
	debugfs_create_u64("count", 0400, dir, &culprit_count);
	return 0;
}

/* The debugfs files are gone. */
void tsnsim_culprit_exit(void)
{
	culprit_stop();
	if (culprit.requested)
		free_irq(culprit.irq, &culprit);
	irq_free_desc(culprit.irq);
}

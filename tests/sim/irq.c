// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupt lines in software: each vector has an entry in /proc/interrupts with an affinity that
 * is obeyed, and on the rt kernel a handler thread, as a vector of a real part has.
 */
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include "tsnsim.h"

static int vec_set_affinity(struct irq_data *d, const struct cpumask *mask, bool force)
{
	struct tsnsim_vec *vec = irq_data_get_irq_chip_data(d);
	unsigned int cpu = cpumask_first_and(mask, cpu_online_mask);

	if (cpu >= nr_cpu_ids)
		return -EINVAL;
	WRITE_ONCE(vec->irq_cpu, cpu);
	irq_data_update_effective_affinity(d, cpumask_of(cpu));
	return IRQ_SET_MASK_OK;
}

static void vec_nop(struct irq_data *d)
{
}

static struct irq_chip vec_chip = {
	.name = TSNSIM_NAME,
	.irq_mask = vec_nop,
	.irq_unmask = vec_nop,
	.irq_set_affinity = vec_set_affinity,
	.flags = IRQCHIP_SKIP_SET_WAKE | IRQCHIP_ONESHOT_SAFE,
};

static irqreturn_t vec_handler(int irq, void *data)
{
	struct tsnsim_vec *vec = data;

	napi_schedule(&vec->napi);
	return IRQ_HANDLED;
}

static void vec_ipi(void *data)
{
	struct tsnsim_vec *vec = data;

	generic_handle_irq(vec->irq);
}

/* Without an owner: an interrupt in use must not keep the module from being unloaded. */
int tsnsim_irq_line(void)
{
	return __irq_alloc_descs(-1, 0, 1, NUMA_NO_NODE, NULL, NULL);
}

int tsnsim_irq_alloc(struct tsnsim_vec *vec)
{
	int irq = tsnsim_irq_line();

	if (irq < 0)
		return irq;
	irq_set_chip_and_handler(irq, &vec_chip, handle_simple_irq);
	irq_set_chip_data(irq, vec);
	irq_clear_status_flags(irq, IRQ_NOREQUEST | IRQ_NOPROBE);
	INIT_CSD(&vec->csd, vec_ipi, vec);
	vec->irq = irq;
	return 0;
}

void tsnsim_irq_release(struct tsnsim_vec *vec)
{
	if (vec->irq >= 0)
		irq_free_desc(vec->irq);
	vec->irq = -1;
}

int tsnsim_irq_request(struct tsnsim_vec *vec, int nr)
{
	snprintf(vec->irq_name, sizeof(vec->irq_name), "%s-TxRx-%d", vec->port->dev->name, nr);
	return request_irq(vec->irq, vec_handler, 0, vec->irq_name, vec);
}

void tsnsim_irq_free(struct tsnsim_vec *vec)
{
	/* the port is closed: nobody sets the timer again */
	hrtimer_cancel(&vec->hold_timer);
	vec->held = false;
	/* an interrupt may still be on its way to another CPU */
	kick_all_cpus_sync();
	free_irq(vec->irq, vec);
}

bool tsnsim_irq_allowed(struct tsnsim_vec *vec, u32 usecs, s64 now)
{
	struct tsnsim_port *port = vec->port;
	s64 due;

	if (usecs <= 3 || vec->rx_len >= port->rx_ring_size / 2)
		goto now;
	due = port->model->throttles ? vec->last_irq_raw : now;
	due += usecs * NSEC_PER_USEC;
	if (due <= now)
		goto now;
	if (!vec->held || due < vec->held_until) {
		vec->held = true;
		vec->held_until = due;
		hrtimer_start(&vec->hold_timer, ktime_add_ns(ktime_get(), due - now),
			      HRTIMER_MODE_ABS_HARD);
	}
	return false;
now:
	vec->last_irq_raw = now;
	return true;
}

static enum hrtimer_restart hold_timer(struct hrtimer *t)
{
	struct tsnsim_vec *vec = container_of(t, struct tsnsim_vec, hold_timer);
	struct tsnsim_pair *pair = vec->port->pair;
	unsigned long flags;

	raw_spin_lock_irqsave(&pair->lock, flags);
	vec->held = false;
	vec->last_irq_raw = tsnsim_raw_now();
	raw_spin_unlock_irqrestore(&pair->lock, flags);
	tsnsim_irq_raise(vec);
	return HRTIMER_NORESTART;
}

void tsnsim_irq_init(struct tsnsim_vec *vec)
{
	hrtimer_init(&vec->hold_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
	vec->hold_timer.function = hold_timer;
}

void tsnsim_irq_raise(struct tsnsim_vec *vec)
{
	unsigned int cpu = READ_ONCE(vec->irq_cpu);
	bool hard = in_hardirq();

	/*
	 * The handler raises a softirq. A hard interrupt runs it at its end; elsewhere the end of a
	 * section with softirqs disabled does.
	 */
	if (!hard)
		local_bh_disable();
	preempt_disable();
	if (!cpu_online(cpu))
		cpu = smp_processor_id();
	if (hard && cpu == smp_processor_id())
		generic_handle_irq(vec->irq);
	else	/* -EBUSY: one is pending, and it will find what is new */
		smp_call_function_single_async(cpu, &vec->csd);
	preempt_enable();
	if (!hard)
		local_bh_enable();
}

// SPDX-License-Identifier: GPL-2.0-only
/* Late wake-ups collected, and what can be done about their culprits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/blame_report.h"

static void add_culprit(struct blame_tally *tally, const struct blame_part *part)
{
	struct blame_culprit *c;

	for (size_t i = 0; i < tally->culprit_count; i++) {
		c = &tally->culprits[i];
		if (!blame_same(&c->part, part))
			continue;
		c->times++;
		c->total_ns += part->ns;
		if (part->ns > c->part.ns)
			c->part = *part;
		return;
	}
	if (tally->culprit_count == BLAME_CULPRITS) {
		tally->other_ns += part->ns;
		return;
	}
	c = &tally->culprits[tally->culprit_count++];
	c->part = *part;
	c->times = 1;
	c->total_ns = part->ns;
}

static void add_worst(struct blame_tally *tally, const struct blame_case *late,
		      const struct blame_part *parts, size_t count)
{
	int64_t late_ns = late->awake - late->due;
	size_t place = tally->worst_count;
	struct blame_late *worst;

	while (place > 0 && tally->worst[place - 1].late_ns < late_ns)
		place--;
	if (place == BLAME_WORST)
		return;
	if (tally->worst_count < BLAME_WORST)
		tally->worst_count++;
	memmove(&tally->worst[place + 1], &tally->worst[place],
		(tally->worst_count - place - 1) * sizeof(*worst));
	worst = &tally->worst[place];
	memset(worst, 0, sizeof(*worst));
	worst->late_ns = late_ns;
	worst->due = late->due;
	for (size_t i = 0; i < count; i++)
		if (i < BLAME_LATE_PARTS)
			worst->parts[worst->count++] = parts[i];
		else
			worst->rest_ns += parts[i].ns;
}

int64_t blame_tally_add(struct blame_tally *tally, const struct blame_case *late)
{
	struct blame_part parts[BLAME_PARTS_MAX];
	size_t count = blame_split(late, parts);

	for (size_t i = 0; i < count; i++)
		add_culprit(tally, &parts[i]);
	tally->late++;
	tally->late_ns += late->awake - late->due;
	add_worst(tally, late, parts, count);
	return late->awake - late->due;
}

void blame_collect(struct blame *blame, struct blame_tally *tally)
{
	struct blame_case late;

	while (blame_take(blame, &late)) {
		if (late.due >= tally->begin_ns && (!tally->end_ns || late.due < tally->end_ns))
			blame_tally_add(tally, &late);
		blame_release(blame);
	}
	tally->unkept = blame_unkept(blame);
}

static const char *softirq_advice(uint32_t vector)
{
	switch (vector) {
	case 2: /* NET_TX */
	case 3: /* NET_RX */
		return "move the network device's interrupts and queues to other CPUs (tsnpub "
		       "doctor "
		       "--iface NAME --fix), or receive by busy polling";
	case 1: /* TIMER */
	case 8: /* HRTIMER */
		return "boot with isolcpus and nohz_full for this CPU, and start what sets timers "
		       "on "
		       "others";
	case 4: /* BLOCK */
	case 5: /* IRQ_POLL */
		return "move the disk's interrupts to other CPUs: tsnpub doctor --fix";
	case 9: /* RCU */
		return "boot with rcu_nocbs for this CPU";
	case 7: /* SCHED */
		return "boot with isolcpus for this CPU: it then takes no part in load balancing";
	default:
		return "find the driver that raises it (its interrupt stands in `tsnpub latency "
		       "--blame`) and move that interrupt away";
	}
}

char *blame_advice(const struct blame_part *part, int cpu, const char *others,
		   char buffer[BLAME_ADVICE])
{
	buffer[0] = '\0';
	switch (part->category) {
	case BLAME_PART_IRQ:
		if (*others)
			snprintf(buffer, BLAME_ADVICE,
				 "move it: echo %s > /proc/irq/%u/smp_affinity_list", others,
				 part->number);
		else
			snprintf(buffer, BLAME_ADVICE, "there is no other CPU to move it to");
		break;
	case BLAME_PART_VECTOR:
		if (part->number == BLAME_LOCAL_TIMER)
			snprintf(buffer, BLAME_ADVICE,
				 "keep other timers and the tick off: boot with isolcpus=%d "
				 "nohz_full=%d",
				 cpu, cpu);
		else if (part->number == BLAME_THERMAL)
			snprintf(buffer, BLAME_ADVICE, "mend the cooling");
		else
			snprintf(buffer, BLAME_ADVICE,
				 "other CPUs ask this one to do something: boot with isolcpus=%d "
				 "nohz_full=%d rcu_nocbs=%d",
				 cpu, cpu, cpu);
		break;
	case BLAME_PART_TIMER:
		snprintf(buffer, BLAME_ADVICE,
			 "a driver's timer: see whose by its symbol, and start that driver's user "
			 "on %s%s",
			 *others ? "CPU " : "another machine", others);
		break;
	case BLAME_PART_SOFTIRQ:
		snprintf(buffer, BLAME_ADVICE, "%s", softirq_advice(part->number));
		break;
	case BLAME_PART_THREAD:
		if (part->priority && *others)
			snprintf(buffer, BLAME_ADVICE,
				 "taskset -p -c %s %u, or lower its priority: chrt -f -p 1 %u",
				 others, part->number, part->number);
		else if (*others)
			snprintf(
				buffer, BLAME_ADVICE,
				"it was in kernel code that is not preempted: taskset -p -c %s %u, "
				"and use a PREEMPT_RT kernel",
				others, part->number);
		else
			snprintf(buffer, BLAME_ADVICE, "lower its priority: chrt -o -p 0 %u",
				 part->number);
		break;
	case BLAME_PART_IRQS_OFF:
		snprintf(buffer, BLAME_ADVICE,
			 "taskset -p -c %s %u; `--tracer irqsoff` shows the code",
			 *others ? others : "OTHER-CPU", part->number);
		break;
	case BLAME_PART_UNSEEN:
		snprintf(buffer, BLAME_ADVICE,
			 "tsnpub latency --tracer hwlat tells firmware (SMI) from sleep states; in "
			 "a "
			 "virtual machine it is the hypervisor");
		break;
	case BLAME_PART_AWAY:
		snprintf(buffer, BLAME_ADVICE,
			 "nothing held this CPU: look at the sender (its launch error, its "
			 "--blame), the switches between, and the NIC's interrupt moderation");
		break;
	case BLAME_PART_OWN:
		snprintf(buffer, BLAME_ADVICE,
			 "its work of the cycle before took too long: a longer "
			 "cycle, or less to do");
		break;
	default:
		break;
	}
	return buffer;
}

struct symbol_search {
	const uint64_t *addresses;
	char (*symbols)[BLAME_TEXT];
	uint64_t *best;
	size_t count;
};

static void look_at_symbol(struct symbol_search *search, uint64_t address, const char *name)
{
	for (size_t i = 0; i < search->count; i++) {
		if (!search->addresses[i] || address > search->addresses[i] ||
		    address < search->best[i] || search->addresses[i] - address > 0x100000)
			continue;
		search->best[i] = address;
		snprintf(search->symbols[i], BLAME_TEXT, "%.*s", (int)strcspn(name, "\n"), name);
		for (char *c = search->symbols[i]; *c; c++)
			if (*c < ' ' || *c > '~')
				*c = ' ';
	}
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "ffffffff81000000 T name\t[module]": there are 200,000 of these. */
static void parse_symbol(struct symbol_search *search, const char *line)
{
	uint64_t address = 0;
	int digit;

	for (; (digit = hex_digit(*line)) >= 0; line++)
		address = address << 4 | (uint64_t)digit;
	/* addresses are 0 where they are kept secret */
	if (address && line[0] == ' ' && line[1] && strchr("tTwW", line[1]) && line[2] == ' ')
		look_at_symbol(search, address, line + 3);
}

void blame_symbols(int kallsyms, const uint64_t *addresses, char (*symbols)[BLAME_TEXT],
		   size_t count)
{
	struct symbol_search search = { addresses, symbols, NULL, count };
	bool wanted = false;
	char line[512];
	FILE *file = NULL;
	int fd;

	for (size_t i = 0; i < count; i++) {
		symbols[i][0] = '\0';
		wanted |= addresses[i] != 0;
	}
	if (!wanted || kallsyms < 0 || lseek(kallsyms, 0, SEEK_SET) < 0)
		return;
	search.best = calloc(count, sizeof(*search.best));
	fd = dup(kallsyms);
	if (fd >= 0 && !(file = fdopen(fd, "r")))
		close(fd);
	while (file && search.best && fgets(line, sizeof(line), file))
		parse_symbol(&search, line);
	if (file)
		fclose(file);
	free(search.best);
}

// SPDX-License-Identifier: GPL-2.0-only
#include "host/irq.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/facts.h"

#define INTERRUPTS_MAX (16 * 1024 * 1024)
#define COLUMNS_MAX CPULIST_MAX

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : line + strlen(line);
}

/* "           CPU0       CPU1": which CPU each column is. */
static int read_columns(const char *line, int columns[COLUMNS_MAX])
{
	const char *end = next_line(line);
	int count = 0;

	for (const char *at = line; (at = strstr(at, "CPU")) && at < end; at += 3)
		if (count < COLUMNS_MAX && isdigit((unsigned char)at[3]))
			columns[count++] = atoi(at + 3);
	return count;
}

/* The last field: fields are apart by two spaces or more. */
static void read_name(const char *at, const char *end, char name[IRQ_NAME])
{
	const char *start = at;
	size_t length;

	while (end > at && isspace((unsigned char)end[-1]))
		end--;
	for (const char *p = at; p + 1 < end; p++)
		if (p[0] == ' ' && p[1] == ' ')
			start = p + 2;
	while (start < end && *start == ' ')
		start++;
	length = (size_t)(end - start);
	if (length >= IRQ_NAME)
		length = IRQ_NAME - 1;
	memcpy(name, start, length);
	name[length] = '\0';
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)name[i] < ' ' || name[i] == 0x7f)
			name[i] = '?';
}

static bool read_row(const char *line, const int *columns, int column_count,
		     const struct cpulist *cpus, struct irq *irq)
{
	const char *end = next_line(line), *at = line;
	size_t length;

	memset(irq, 0, sizeof(*irq));
	while (*at == ' ')
		at++;
	length = strcspn(at, ": \n");
	if (!length || at[length] != ':' || length >= sizeof(irq->label))
		return false;
	memcpy(irq->label, at, length);
	irq->number = isdigit((unsigned char)irq->label[0]) ? atoi(irq->label) : -1;
	at += length + 1;
	for (int i = 0; i < column_count; i++) {
		unsigned long long value;
		char *after;

		while (*at == ' ')
			at++;
		/* ERR and MIS have one number for the machine */
		if (!isdigit((unsigned char)*at))
			break;
		value = strtoull(at, &after, 10);
		if (cpulist_has(cpus, columns[i]))
			irq->count += value;
		at = after;
	}
	read_name(at, end, irq->name);
	return true;
}

int irq_parse(const char *text, const struct cpulist *cpus, struct irq **list)
{
	int *columns = calloc(COLUMNS_MAX, sizeof(*columns));
	int column_count, count = 0, room = 0;
	struct irq *rows = NULL;

	*list = NULL;
	if (!columns)
		return -ENOMEM;
	column_count = read_columns(text, columns);
	for (const char *line = next_line(text); *line; line = next_line(line)) {
		struct irq irq;

		if (!read_row(line, columns, column_count, cpus, &irq))
			continue;
		if (count == room) {
			struct irq *grown;

			room = room ? 2 * room : 64;
			grown = realloc(rows, (size_t)room * sizeof(*rows));
			if (!grown) {
				free(rows);
				free(columns);
				return -ENOMEM;
			}
			rows = grown;
		}
		rows[count++] = irq;
	}
	free(columns);
	*list = rows;
	return count;
}

int irq_list(const char *root, const struct cpulist *cpus, struct irq **list)
{
	char *text = fact_file(root, "/proc/interrupts", INTERRUPTS_MAX);
	int count;

	*list = NULL;
	if (!text)
		return -ENOENT;
	count = irq_parse(text, cpus, list);
	free(text);
	for (int i = 0; i < count; i++) {
		struct irq *irq = &(*list)[i];

		if (irq->number < 0)
			continue;
		irq->known = !fact_cpulist(root, &irq->allowed, "/proc/irq/%d/smp_affinity_list",
					   irq->number);
		irq->effective = irq->allowed;
		/* empty where the interrupt was never started */
		if (irq->known && fact_cpulist(root, &irq->effective,
					       "/proc/irq/%d/effective_affinity_list", irq->number))
			irq->effective = irq->allowed;
		/* some controllers move an interrupt only when it comes the next time, and show the old place until then */
		if (!cpulist_empty(&irq->effective) &&
		    !cpulist_overlap(&irq->effective, &irq->allowed))
			irq->effective = irq->allowed;
	}
	return count;
}

const struct irq *irq_find(const struct irq *list, int count, const char *label)
{
	for (int i = 0; i < count; i++)
		if (!strcmp(list[i].label, label))
			return &list[i];
	return NULL;
}

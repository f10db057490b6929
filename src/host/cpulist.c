// SPDX-License-Identifier: GPL-2.0-only
#include "host/cpulist.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define WORDS (CPULIST_MAX / 64)

static const char *read_cpu(const char *text, unsigned *cpu)
{
	*cpu = 0;
	if (!isdigit((unsigned char)*text))
		return NULL;
	for (; isdigit((unsigned char)*text); text++) {
		if (*cpu > 100000)
			return NULL;
		*cpu = *cpu * 10 + (unsigned)(*text - '0');
	}
	return text;
}

static const char *skip_space(const char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

int cpulist_parse(const char *text, struct cpulist *list)
{
	struct cpulist result = { 0 };

	memset(list, 0, sizeof(*list));
	text = skip_space(text);
	if (!*text || !strcmp(text, "(null)") || !strcmp(text, "(null)\n"))
		return 0;
	for (;;) {
		unsigned first, last;

		text = read_cpu(text, &first);
		if (!text)
			return -1;
		last = first;
		if (*text == '-') {
			text = read_cpu(text + 1, &last);
			if (!text || last < first)
				return -1;
		}
		for (unsigned cpu = first; cpu <= last && cpu < CPULIST_MAX; cpu++)
			cpulist_add(&result, (int)cpu);
		if (*text != ',')
			break;
		text++;
	}
	if (*skip_space(text))
		return -1;
	*list = result;
	return 0;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int cpulist_parse_mask(const char *text, struct cpulist *list)
{
	struct cpulist result = { 0 };
	const char *end;
	int bit = 0;

	memset(list, 0, sizeof(*list));
	text = skip_space(text);
	end = text + strcspn(text, " \t\r\n");
	if (end == text || *skip_space(end))
		return -1;
	while (end > text) {
		int value;

		end--;
		if (*end == ',')
			continue;
		value = hex_value(*end);
		if (value < 0)
			return -1;
		for (int i = 0; i < 4; i++)
			if (value & 1 << i)
				cpulist_add(&result, bit + i);
		bit += 4;
	}
	*list = result;
	return 0;
}

char *cpulist_format(const struct cpulist *list, char *buffer, size_t size)
{
	size_t used = 0;

	buffer[0] = '\0';
	for (int first = cpulist_next(list, -1); first >= 0;) {
		char range[24];
		int last = first;
		size_t length;

		while (cpulist_has(list, last + 1))
			last++;
		if (last == first)
			snprintf(range, sizeof(range), "%s%d", used ? "," : "", first);
		else
			snprintf(range, sizeof(range), "%s%d-%d", used ? "," : "", first, last);
		length = strlen(range);
		if (used + length + sizeof("...") > size) {
			snprintf(buffer + used, size - used, "...");
			break;
		}
		memcpy(buffer + used, range, length + 1);
		used += length;
		first = cpulist_next(list, last);
	}
	return buffer;
}

char *cpulist_format_mask(const struct cpulist *list, char *buffer, size_t size)
{
	int last = cpulist_last(list);
	size_t used = 0;

	buffer[0] = '\0';
	for (int word = last < 0 ? 0 : last / 32; word >= 0 && used + 10 < size; word--) {
		uint32_t value = (uint32_t)(list->bits[word / 2] >> (word % 2 ? 32 : 0));

		used += (size_t)snprintf(buffer + used, size - used, used ? ",%08x" : "%x", value);
	}
	return buffer;
}

bool cpulist_has(const struct cpulist *list, int cpu)
{
	return cpu >= 0 && cpu < CPULIST_MAX && list->bits[cpu / 64] >> (cpu % 64) & 1;
}

void cpulist_add(struct cpulist *list, int cpu)
{
	if (cpu >= 0 && cpu < CPULIST_MAX)
		list->bits[cpu / 64] |= 1ULL << (cpu % 64);
}

bool cpulist_empty(const struct cpulist *list)
{
	return cpulist_next(list, -1) < 0;
}

int cpulist_count(const struct cpulist *list)
{
	int count = 0;

	for (int i = 0; i < WORDS; i++)
		count += __builtin_popcountll(list->bits[i]);
	return count;
}

int cpulist_next(const struct cpulist *list, int cpu)
{
	for (cpu++; cpu < CPULIST_MAX; cpu++)
		if (cpulist_has(list, cpu))
			return cpu;
	return -1;
}

int cpulist_last(const struct cpulist *list)
{
	for (int cpu = CPULIST_MAX - 1; cpu >= 0; cpu--)
		if (cpulist_has(list, cpu))
			return cpu;
	return -1;
}

bool cpulist_equal(const struct cpulist *a, const struct cpulist *b)
{
	return !memcmp(a, b, sizeof(*a));
}

bool cpulist_overlap(const struct cpulist *a, const struct cpulist *b)
{
	for (int i = 0; i < WORDS; i++)
		if (a->bits[i] & b->bits[i])
			return true;
	return false;
}

struct cpulist cpulist_and(const struct cpulist *a, const struct cpulist *b)
{
	struct cpulist result;

	for (int i = 0; i < WORDS; i++)
		result.bits[i] = a->bits[i] & b->bits[i];
	return result;
}

struct cpulist cpulist_without(const struct cpulist *a, const struct cpulist *b)
{
	struct cpulist result;

	for (int i = 0; i < WORDS; i++)
		result.bits[i] = a->bits[i] & ~b->bits[i];
	return result;
}

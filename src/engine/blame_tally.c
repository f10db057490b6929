// SPDX-License-Identifier: GPL-2.0-only
/* Late wake-ups collected, and the names of what the kernel ran in them. */
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
	tally->ordinary = late->ordinary;
	add_worst(tally, late, parts, count);
	return late->awake - late->due;
}

void blame_collect(struct blame *blame, struct blame_tally *tally)
{
	struct blame_case late;

	while (blame_take(blame, &late)) {
		blame_tally_add(tally, &late);
		blame_release(blame);
	}
	tally->unkept = blame_unkept(blame);
}

/* A symbol further away than this is not that of the address. */
#define SYMBOL_REACH 0x100000

struct symbol_search {
	const uint64_t *addresses;
	char (*symbols)[BLAME_TEXT];
	uint64_t *best;
	size_t count;
	uint64_t lowest, highest; /* symbols outside are nobody's */
};

static void look_at_symbol(struct symbol_search *search, uint64_t address, const char *name)
{
	size_t length = strcspn(name, "\n");

	if (length >= BLAME_TEXT)
		length = BLAME_TEXT - 1;
	for (size_t i = 0; i < search->count; i++) {
		if (!search->addresses[i] || address > search->addresses[i] ||
		    address < search->best[i] || search->addresses[i] - address > SYMBOL_REACH)
			continue;
		search->best[i] = address;
		memcpy(search->symbols[i], name, length);
		search->symbols[i][length] = '\0';
	}
}

static void make_printable(char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			*text = ' ';
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "ffffffff81000000 T name\t[module]": there are 200,000 of these. */
static void parse_symbol(struct symbol_search *search, const char *line)
{
	const char *type = strchr(line, ' ');
	uint64_t address = 0;
	int digit;

	/* most are data */
	if (!type || !type[1] || !strchr("tTwW", type[1]) || type[2] != ' ')
		return;
	for (; (digit = hex_digit(*line)) >= 0; line++)
		address = address << 4 | (uint64_t)digit;
	/* addresses are 0 where they are kept secret */
	if (line == type && address && address >= search->lowest && address <= search->highest)
		look_at_symbol(search, address, type + 3);
}

void blame_symbols(int kallsyms, const uint64_t *addresses, char (*symbols)[BLAME_TEXT],
		   size_t count)
{
	struct symbol_search search = { addresses, symbols, NULL, count, UINT64_MAX, 0 };
	char line[512];
	FILE *file = NULL;
	int fd;

	for (size_t i = 0; i < count; i++) {
		symbols[i][0] = '\0';
		if (addresses[i] > search.highest)
			search.highest = addresses[i];
		if (addresses[i] && addresses[i] < search.lowest)
			search.lowest = addresses[i];
	}
	search.lowest -= search.lowest > SYMBOL_REACH ? SYMBOL_REACH : search.lowest;
	if (!search.highest || kallsyms < 0 || lseek(kallsyms, 0, SEEK_SET) < 0)
		return;
	search.best = calloc(count, sizeof(*search.best));
	fd = dup(kallsyms);
	if (fd >= 0 && !(file = fdopen(fd, "r")))
		close(fd);
	while (file && search.best && fgets(line, sizeof(line), file))
		parse_symbol(&search, line);
	for (size_t i = 0; i < count; i++)
		make_printable(symbols[i]);
	if (file)
		fclose(file);
	free(search.best);
}

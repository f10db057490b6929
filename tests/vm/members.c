// SPDX-License-Identifier: GPL-2.0-only
/*
 * members FILE: the members of a document that the program wrote, which has one member a line, as words for the shell:
 * "value=([PATH]='TEXT' ...) members='PATH ...'", where the first of a path counts. A path has the names on the way, with a
 * dot between; an element of a list goes by its number, that of a figure by the figure's name and source (see read_json in
 * guest/lab.bash). Lines before the document are passed over.
 */
#include <ctype.h>
#include <search.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 16
#define WORDS 65536

struct level {
	char path[256];
	unsigned int elements;
	bool is_list;
};

static struct level levels[DEPTH];
static unsigned int depth;
static char figure[64];
static char *paths[WORDS];
static unsigned int n_paths;

static void say(const char *path, const char *text)
{
	char *own = strdup(path);
	ENTRY *found;

	if (!own || n_paths == WORDS)
		exit(3);
	found = hsearch((ENTRY){ .key = own }, ENTER);
	if (!found)
		exit(3);
	if (found->key != own) { /* not the first of this path */
		free(own);
		return;
	}
	paths[n_paths++] = own;
	printf("[%s]='", path);
	for (; *text; text++)
		fputs(*text == '\'' ? "'\\''" : (char[]){ *text, '\0' }, stdout);
	fputs("' ", stdout);
}

/* An element is named by what it holds: "figures.3" becomes "figures.launch_error.hw". */
static void name_element(struct level *element, const char *source)
{
	size_t end = strlen(element->path);

	while (end && isdigit((unsigned char)element->path[end - 1]))
		end--;
	snprintf(element->path + end, sizeof(element->path) - end, "%s.%s", figure, source);
	figure[0] = '\0';
}

/* One line without the spaces before it and the comma behind it. */
static void member(char *line)
{
	struct level *in = &levels[depth];
	char key[64] = "", path[sizeof(in->path)], *quote;
	size_t length;

	if (*line == '}' || *line == ']') {
		depth -= !!depth;
		return;
	}
	if (in->is_list)
		snprintf(key, sizeof(key), "%u", in->elements++);
	quote = *line == '"' ? strchr(line + 1, '"') : NULL;
	if (quote && !strncmp(quote, "\": ", 3)) {
		snprintf(key, sizeof(key), "%.*s", (int)(quote - line - 1), line + 1);
		line = quote + 3;
	}
	snprintf(path, sizeof(path), "%.180s%s%s", in->path, *in->path ? "." : "", key);
	if (!strcmp(line, "{") || !strcmp(line, "[")) {
		if (++depth == DEPTH)
			exit(3);
		strcpy(levels[depth].path, path);
		levels[depth].elements = 0;
		levels[depth].is_list = *line == '[';
		return;
	}
	length = strlen(line);
	if (length && line[length - 1] == '"')
		line[--length] = '\0';
	line += *line == '"';
	if (!strcmp(key, "figure"))
		snprintf(figure, sizeof(figure), "%s", line);
	if (!strcmp(key, "source") && *figure)
		name_element(in, line);
	say(path, line);
}

int main(int argc, char **argv)
{
	FILE *in = argc == 2 ? fopen(argv[1], "r") : NULL;
	bool begun = false;
	char *line = NULL, *text;
	size_t size = 0;
	ssize_t length;

	if (!in || !hcreate(4096)) {
		puts("value=() members="); /* nothing of an older document */
		perror("members");
		return 2;
	}
	fputs("value=(", stdout);
	while ((length = getline(&line, &size, in)) >= 0) {
		if (length && line[length - 1] == '\n')
			line[--length] = '\0';
		if (!begun) {
			begun = !strcmp(line, "{");
			continue;
		}
		if (length && line[length - 1] == ',')
			line[--length] = '\0';
		for (text = line; *text == ' '; text++)
			;
		member(text);
	}
	fputs(") members='", stdout);
	for (unsigned int i = 0; i < n_paths; i++)
		printf("%s%s", i ? " " : "", paths[i]);
	puts("'");
	return 0;
}

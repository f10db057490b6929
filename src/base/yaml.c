// SPDX-License-Identifier: GPL-2.0-only
#include "base/yaml.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

#define DEPTH_MAX 12
#define NODES_MAX 100000
#define KEYS_MAX 1000 /* in one mapping: each is compared with all before it */

enum kind {
	KIND_VALUE,
	KIND_LIST,
	KIND_MAPPING
};

/* One value of the document: where it stands. Children of a mapping have a key, those of a sequence a number. */
struct node {
	enum kind kind;
	uint32_t parent;
	uint32_t line;
	uint32_t index;
	char *key;
};

struct yaml_file {
	char *name;
	char *text;
	size_t size;
	struct node *nodes; /* [0] is the root */
	uint32_t count;
	uint32_t room;
};

static int add_node(struct yaml_file *file, uint32_t parent, uint32_t line, uint32_t index,
		    const char *key, struct error *err)
{
	struct node *node;

	if (file->count == NODES_MAX)
		return error_input(err, "%s: line %u: more than %d values; split the file",
				   file->name, line, NODES_MAX);
	if (file->count == file->room) {
		uint32_t room = file->room ? file->room * 2 : 64;
		struct node *nodes = realloc(file->nodes, room * sizeof(*nodes));

		if (!nodes)
			return error_errno(err, ENOMEM, "%s", file->name);
		file->nodes = nodes;
		file->room = room;
	}
	node = &file->nodes[file->count];
	*node = (struct node){ .parent = parent, .line = line, .index = index };
	if (key) {
		node->key = strdup(key);
		if (!node->key)
			return error_errno(err, ENOMEM, "%s", file->name);
	}
	file->count++;
	return 0;
}

/* An open mapping or sequence while the document is walked through. */
struct level {
	uint32_t node;
	uint32_t children;
	bool mapping;
	char *key; /* of the value that comes next; NULL: a key comes next */
};

static bool key_is_taken(const struct yaml_file *file, const struct level *level, const char *key)
{
	for (uint32_t i = level->node + 1; i < file->count; i++)
		if (file->nodes[i].parent == level->node && file->nodes[i].key &&
		    !strcmp(file->nodes[i].key, key))
			return true;
	return false;
}

/* Takes one event in. Returns 1 at the stream's end, 0 to go on, -1 with the error. */
static int walk_event(struct yaml_file *file, const yaml_event_t *event, struct level *levels,
		      int *depth, unsigned *documents, struct error *err)
{
	uint32_t line = (uint32_t)event->start_mark.line + 1;
	struct level *level = *depth ? &levels[*depth - 1] : NULL;
	const yaml_char_t *anchor = NULL, *tag = NULL;
	bool opens = false;

	switch (event->type) {
	case YAML_STREAM_END_EVENT:
		return 1;
	case YAML_DOCUMENT_START_EVENT:
		if (++*documents > 1)
			return error_input(err,
					   "%s: line %u: a second document begins; keep one "
					   "document to a file",
					   file->name, line);
		return 0;
	case YAML_ALIAS_EVENT:
		return error_input(err,
				   "%s: line %u: '*%.32s': anchors and aliases are not read; write "
				   "the value out",
				   file->name, line, (const char *)event->data.alias.anchor);
	case YAML_MAPPING_END_EVENT:
	case YAML_SEQUENCE_END_EVENT:
		--*depth;
		return 0;
	case YAML_SCALAR_EVENT:
		anchor = event->data.scalar.anchor;
		tag = event->data.scalar.tag;
		if (strlen((const char *)event->data.scalar.value) != event->data.scalar.length)
			return error_input(err,
					   "%s: line %u: a NUL character in a value; remove it",
					   file->name, line);
		break;
	case YAML_MAPPING_START_EVENT:
		anchor = event->data.mapping_start.anchor;
		tag = event->data.mapping_start.tag;
		opens = true;
		break;
	case YAML_SEQUENCE_START_EVENT:
		anchor = event->data.sequence_start.anchor;
		tag = event->data.sequence_start.tag;
		opens = true;
		break;
	default:
		return 0;
	}
	if (anchor)
		return error_input(err,
				   "%s: line %u: '&%.32s': anchors and aliases are not read; write "
				   "the value out",
				   file->name, line, (const char *)anchor);
	if (tag)
		return error_input(err, "%s: line %u: '%.48s': tags are not read; remove it",
				   file->name, line, (const char *)tag);
	if (level && level->mapping && !level->key) {
		const char *key = (const char *)event->data.scalar.value;

		if (event->type != YAML_SCALAR_EVENT)
			return error_input(
				err, "%s: line %u: a list or a mapping as a key; write a name",
				file->name, line);
		if (strpbrk(key, "\n\r\t\b\f\v\a\033"))
			return error_input(
				err,
				"%s: line %u: '%.64s': a control character in a key; remove it",
				file->name, line, key);
		if (level->children == KEYS_MAX)
			return error_input(err,
					   "%s: line %u: more than %d keys in one mapping; is it "
					   "the right file?",
					   file->name, line, KEYS_MAX);
		if (key_is_taken(file, level, key))
			return error_input(
				err,
				"%s: line %u: key '%.64s' stands here a second time; remove one",
				file->name, line, key);
		level->key = strdup(key);
		return level->key ? 0 : error_errno(err, ENOMEM, "%s", file->name);
	}

	uint32_t parent = level ? level->node : 0;
	int result = add_node(file, parent, line, level && !level->mapping ? level->children : 0,
			      level ? level->key : NULL, err);

	if (level) {
		free(level->key);
		level->key = NULL;
		level->children++;
	}
	if (result)
		return -1;
	if (!opens)
		return 0;
	file->nodes[file->count - 1].kind = event->type == YAML_MAPPING_START_EVENT ? KIND_MAPPING
										    : KIND_LIST;
	if (*depth == DEPTH_MAX)
		return error_input(err, "%s: line %u: nested more than %d deep", file->name, line,
				   DEPTH_MAX);
	levels[(*depth)++] = (struct level){ .node = file->count - 1,
					     .mapping = event->type == YAML_MAPPING_START_EVENT };
	return 0;
}

static int index_lines(struct yaml_file *file, struct error *err)
{
	struct level levels[DEPTH_MAX] = { 0 };
	unsigned documents = 0;
	yaml_parser_t parser;
	int depth = 0, result;

	if (!yaml_parser_initialize(&parser))
		return error_errno(err, ENOMEM, "%s", file->name);
	yaml_parser_set_input_string(&parser, (const unsigned char *)file->text, file->size);
	do {
		yaml_event_t event;

		if (!yaml_parser_parse(&parser, &event)) {
			size_t line = parser.problem_mark.line + 1;

			result = error_input(err, "%s: line %zu: not YAML: %s%s%s", file->name,
					     line, parser.problem ? parser.problem : "unreadable",
					     parser.context ? " " : "",
					     parser.context ? parser.context : "");
			break;
		}
		result = walk_event(file, &event, levels, &depth, &documents, err);
		yaml_event_delete(&event);
	} while (!result);
	yaml_parser_delete(&parser);
	for (int i = 0; i < DEPTH_MAX; i++)
		free(levels[i].key);
	if (result < 0)
		return -1;
	if (!file->count)
		return error_input(err,
				   "%s: the file is empty; `man tsnpub-publish` and `man 5 "
				   "tsnpub-schedule` show what to write",
				   file->name);
	return 0;
}

struct yaml_file *yaml_file_from_text(const char *name, const char *text, size_t size,
				      struct error *err)
{
	struct yaml_file *file = calloc(1, sizeof(*file));
	unsigned line = 1;

	if (!file)
		goto no_memory;
	file->name = strdup(name);
	file->text = malloc(size + 1);
	if (!file->name || !file->text)
		goto no_memory;
	memcpy(file->text, text, size);
	file->text[size] = '\0';
	file->size = size;
	if (size > YAML_SIZE_MAX) {
		error_input(err,
			    "%s: larger than %d KiB; no configuration needs that: is it the right "
			    "file?",
			    name, YAML_SIZE_MAX >> 10);
		goto fail;
	}
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '\n')
			line++;
		if ((c < 0x20 && c != '\n' && c != '\t' && c != '\r') || c == 0x7f) {
			error_input(err, "%s: line %u: byte 0x%02x: a binary file, not YAML", name,
				    line, c);
			goto fail;
		}
	}
	if (index_lines(file, err))
		goto fail;
	return file;
no_memory:
	error_errno(err, ENOMEM, "%s", name);
fail:
	yaml_file_close(file);
	return NULL;
}

struct yaml_file *yaml_file_open(const char *path, struct error *err)
{
	const char *name = strcmp(path, "-") ? path : "standard input";
	struct yaml_file *file = NULL;
	char *text = NULL;
	size_t size = 0;
	struct stat st;
	int fd;

	fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : STDIN_FILENO;
	if (fd < 0) {
		error_errno(err, errno, "%s: cannot be opened", name);
		if (errno == ENOENT || errno == EISDIR || errno == ENOTDIR || errno == ENAMETOOLONG)
			err->status = STATUS_INPUT;
		return NULL;
	}
	if (fstat(fd, &st) || S_ISDIR(st.st_mode) || S_ISBLK(st.st_mode)) {
		error_input(err, "%s: not a file; name a YAML file", name);
		goto out;
	}
	text = malloc(YAML_SIZE_MAX + 1);
	if (!text) {
		error_errno(err, ENOMEM, "%s", name);
		goto out;
	}
	/* one byte more than is allowed, to see that there is more */
	while (size <= YAML_SIZE_MAX) {
		ssize_t n = read(fd, text + size, YAML_SIZE_MAX + 1 - size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			error_errno(err, errno, "%s: cannot be read", name);
			goto out;
		}
		if (n == 0)
			break;
		size += (size_t)n;
	}
	file = yaml_file_from_text(name, text, size, err);
out:
	free(text);
	if (fd != STDIN_FILENO)
		close(fd);
	return file;
}

void yaml_file_close(struct yaml_file *file)
{
	if (!file)
		return;
	for (uint32_t i = 0; i < file->count; i++)
		free(file->nodes[i].key);
	free(file->nodes);
	free(file->text);
	free(file->name);
	free(file);
}

/* libcyaml tells its reasons through its log only: the first error, then where. */
struct reason {
	char text[160];
	char where[96];
	unsigned line;
};

static void keep_reason(cyaml_log_t level, void *context, const char *format, va_list args)
{
	struct reason *reason = context;
	char text[256];
	const char *place;

	if (level < CYAML_LOG_ERROR)
		return;
	vsnprintf(text, sizeof(text), format, args);
	text[strcspn(text, "\n")] = '\0';
	place = strstr(text, "(line: ");
	if (place) {
		const char *key = strchr(text, '\'');

		if (reason->line)
			return;
		reason->line = (unsigned)strtoul(place + 7, NULL, 10);
		if (key)
			snprintf(reason->where, sizeof(reason->where), "%.*s",
				 (int)strcspn(key + 1, "'"), key + 1);
		return;
	}
	if (!reason->text[0] && !strstr(text, "Backtrace"))
		snprintf(reason->text, sizeof(reason->text), "%s",
			 strncmp(text, "Load: ", 6) ? text : text + 6);
}

static const cyaml_config_t *config_with(struct reason *reason, cyaml_config_t *config)
{
	*config = (cyaml_config_t){
		.log_fn = keep_reason,
		.log_ctx = reason,
		.mem_fn = cyaml_mem,
		.log_level = CYAML_LOG_ERROR,
		.flags = CYAML_CFG_NO_ALIAS,
	};
	return config;
}

/* The manual page that lists the keys beside a node. */
static const char *page_of(const struct yaml_file *file, uint32_t node)
{
	uint32_t top = node;

	while (file->nodes[top].parent)
		top = file->nodes[top].parent;
	return top != node && file->nodes[top].key && !strcmp(file->nodes[top].key, "schedule")
		       ? "5 tsnpub-schedule"
		       : "tsnpub-publish";
}

/* As yaml_file_line() takes it; ": " behind it, nothing for the root. */
static void path_of(const struct yaml_file *file, uint32_t node, char path[128])
{
	const struct node *here = &file->nodes[node];

	path[0] = '\0';
	if (!node)
		return;
	path_of(file, here->parent, path);
	if (path[0])
		path[strlen(path) - 2] = '\0';
	if (here->key)
		snprintf(path + strlen(path), 128 - strlen(path), "%s%.40s: ", path[0] ? "." : "",
			 here->key);
	else
		snprintf(path + strlen(path), 128 - strlen(path), "[%u]: ", here->index);
}

/* A list where a number belongs, and the like: the first such value of that name on that line. */
static int wrong_kind(const struct yaml_file *file, const struct reason *reason, struct error *err)
{
	static const struct {
		const char *wanted, *name, *fix;
	} kinds[] = {
		[KIND_VALUE] = { "Expecting STRING", "a single value",
				 "write one value, without brackets or dashes" },
		[KIND_LIST] = { "Expecting SEQUENCE", "a list",
				"write it in brackets, as in [a, b]" },
		[KIND_MAPPING] = { "Expecting MAPPING", "a mapping",
				   "write keys with their values, as in {key: value}" },
	};
	unsigned wanted = KIND_VALUE;
	char path[128] = "";
	const char *got = strstr(reason->text, "event: ");
	enum kind is = !got                              ? KIND_VALUE
		       : !strncmp(got + 7, "SEQ", 3)     ? KIND_LIST
		       : !strncmp(got + 7, "MAPPING", 7) ? KIND_MAPPING
							 : KIND_VALUE;

	while (wanted < KIND_MAPPING &&
	       strncmp(reason->text, kinds[wanted].wanted, strlen(kinds[wanted].wanted)) != 0)
		wanted++;
	for (uint32_t i = 1; i < file->count && reason->where[0]; i++) {
		const struct node *node = &file->nodes[i];

		if (node->line != reason->line || node->kind != is)
			continue;
		/* libcyaml counts the members of a list from 1 */
		if (node->key ? strncmp(node->key, reason->where, strlen(reason->where)) != 0
			      : node->index + 1 != strtoul(reason->where, NULL, 10))
			continue;
		path_of(file, i, path);
		break;
	}
	return error_input(err, "%s: line %u: %swrong kind of value: %s, where %s belongs; %s",
			   file->name, reason->line, path, kinds[is].name, kinds[wanted].name,
			   kinds[wanted].fix);
}

int yaml_file_load(const struct yaml_file *file, const cyaml_schema_value_t *schema, void **data,
		   struct error *err)
{
	struct reason reason = { 0 };
	cyaml_config_t config;
	cyaml_err_t result;
	const char *value;

	*data = NULL;
	result = cyaml_load_data((const uint8_t *)file->text, file->size,
				 config_with(&reason, &config), schema, data, NULL);
	if (result == CYAML_OK)
		return 0;
	value = strrchr(reason.text, ':');
	value = value && value[1] == ' ' ? value + 2 : "";
	if (!reason.line)
		reason.line = 1;
	if (strstr(reason.text, "Unexpected key")) {
		const char *page = "tsnpub-publish";

		/* libcyaml names the line of the key before it */
		for (uint32_t i = 1; i < file->count; i++)
			if (file->nodes[i].key && !strcmp(file->nodes[i].key, value) &&
			    file->nodes[i].line >= reason.line) {
				reason.line = file->nodes[i].line;
				page = page_of(file, i);
				break;
			}
		return error_input(err, "%s: line %u: unknown key '%.64s'; `man %s` lists the keys",
				   file->name, reason.line, value, page);
	}
	if (strstr(reason.text, "Missing required"))
		return error_input(err, "%s: line %u: key '%.64s' is missing; add it", file->name,
				   reason.line, value);
	if (strstr(reason.text, "Expecting"))
		return wrong_kind(file, &reason, err);
	return error_input(err, "%s: line %u: %s%s%s%s", file->name, reason.line,
			   reason.where[0] ? "'" : "", reason.where, reason.where[0] ? "': " : "",
			   reason.text[0] ? reason.text : cyaml_strerror(result));
}

void yaml_file_free(const cyaml_schema_value_t *schema, void *data)
{
	struct reason reason = { 0 };
	cyaml_config_t config;

	cyaml_free(config_with(&reason, &config), schema, data, 0);
}

/* Follows the path as far as it exists. Returns the node; *whole says whether that is all of it. */
static uint32_t find(const struct yaml_file *file, const char *path, bool *whole)
{
	uint32_t at = 0;

	*whole = true;
	while (*path) {
		size_t length = strcspn(path, ".[");
		char *rest;
		uint32_t index = 0, i;
		bool number = *path == '[';

		if (number) {
			index = (uint32_t)strtoul(path + 1, &rest, 10);
			path = *rest == ']' ? rest + 1 : rest;
		}
		for (i = 1; i < file->count; i++) {
			const struct node *node = &file->nodes[i];

			if (node->parent != at)
				continue;
			if (number ? !node->key && node->index == index
				   : node->key && strlen(node->key) == length &&
					     !strncmp(node->key, path, length))
				break;
		}
		if (i == file->count) {
			*whole = false;
			return at;
		}
		at = i;
		if (!number)
			path += length;
		if (*path == '.')
			path++;
	}
	return at;
}

unsigned yaml_file_line(const struct yaml_file *file, const char *path)
{
	bool whole;

	return file->nodes[find(file, path, &whole)].line;
}

int yaml_file_has(const struct yaml_file *file, const char *path)
{
	bool whole;

	find(file, path, &whole);
	return whole;
}

const char *yaml_file_name(const struct yaml_file *file)
{
	return file->name;
}

char *yaml_file_what(const struct yaml_file *file, const char *path, char buffer[YAML_WHAT])
{
	snprintf(buffer, YAML_WHAT, "%s: line %u: %s", file->name, yaml_file_line(file, path),
		 path);
	return buffer;
}

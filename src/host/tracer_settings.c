// SPDX-License-Identifier: GPL-2.0-only
#include "host/tracer_settings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/facts.h"

static const char *const known[] = {
	"osnoise/cpus",
	"osnoise/stop_tracing_us",
	"osnoise/stop_tracing_total_us",
	"hwlat_detector/mode",
};

int tracer_write(const char *directory, const char *name, const char *text)
{
	char path[256];
	size_t length = strlen(text);
	int fd, result = 0;

	if (snprintf(path, sizeof(path), "%s/%s", directory, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, length) != (ssize_t)length)
		result = errno ? -errno : -EIO;
	if (close(fd) && !result)
		result = -errno;
	return result;
}

/* "[none] round-robin per-cpu": the chosen word stands in brackets. */
static void keep_choice(char *text)
{
	char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;

	if (!close)
		return;
	*close = '\0';
	memmove(text, open + 1, strlen(open + 1) + 1);
}

static int read_setting(const char *tracefs, const char *name, char *value, size_t size)
{
	int result = fact_text(tracefs, value, size, "/%s", name);

	if (result < 0)
		return result;
	keep_choice(value);
	return 0;
}

int tracer_share(struct tracer_settings *settings, const char *tracefs, const char *name,
		 const char *becomes)
{
	struct tracer_shared *s = &settings->shared[settings->count];
	int result;

	if (settings->count == TRACER_SHARED_MAX)
		return -ENOSPC;
	result = read_setting(tracefs, name, s->was, sizeof(s->was));
	if (result < 0)
		return result;
	s->name = name;
	snprintf(s->becomes, sizeof(s->becomes), "%s", becomes);
	s->later[0] = '\0';
	settings->count++;
	return 0;
}

void tracer_put_back(const struct tracer_settings *settings, const char *tracefs)
{
	for (int i = settings->count; i-- > 0;)
		tracer_write(tracefs, settings->shared[i].name, settings->shared[i].was);
}

int tracer_note(const struct tracer_settings *settings, const char *path)
{
	char directory[256], text[2048];
	char *slash;
	size_t used = 0;
	int fd, result = 0;

	if (snprintf(directory, sizeof(directory), "%s", path) >= (int)sizeof(directory))
		return -ENAMETOOLONG;
	slash = strrchr(directory, '/');
	if (slash && slash > directory) {
		*slash = '\0';
		if (mkdir(directory, 0755) && errno != EEXIST)
			return -errno;
	}
	for (int i = 0; i < settings->count; i++) {
		const struct tracer_shared *s = &settings->shared[i];

		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s|%s|%s|%s\n", s->name,
					 s->was, s->becomes, s->later);
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (write(fd, text, used) != (ssize_t)used)
		result = errno ? -errno : -EIO;
	close(fd);
	return result;
}

/* The next field, up to a bar or the end of the line; NULL: there is none. */
static char *field(char **line)
{
	return *line ? strsep(line, "|\n") : NULL;
}

/* A line of the note, as far as it is ours and still in force. Returns the setting's name, or NULL. */
static const char *recover_one(const char *tracefs, char *line)
{
	const char *name = field(&line), *was = field(&line), *becomes = field(&line),
		   *later = field(&line);
	char now[256];

	if (!later)
		return NULL;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(name, known[i]))
			continue;
		if (read_setting(tracefs, known[i], now, sizeof(now)) < 0 || !strcmp(now, was) ||
		    (strcmp(now, becomes) && strcmp(now, later)) ||
		    tracer_write(tracefs, known[i], was))
			return NULL;
		return known[i];
	}
	return NULL;
}

int tracer_recover(const char *path, const char *tracefs, char *names, size_t size)
{
	FILE *file = fopen(path, "re");
	char line[512];
	size_t used = 0;
	int count = 0;

	names[0] = '\0';
	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file)) {
		const char *name = recover_one(tracefs, line);

		if (!name)
			continue;
		if (used < size)
			used += (size_t)snprintf(names + used, size - used, "%s%s",
						 count ? ", " : "", name);
		count++;
	}
	fclose(file);
	unlink(path);
	return count;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "base/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOKED_AT_MAX 10000 /* entries of a place: /tmp may hold anything */
#define RANDOM_PART 7 /* ".XXXXXX" */
#define ATTEMPTS 4

static unsigned int list_places(const char *places[3])
{
	const char *user = getenv("XDG_RUNTIME_DIR");
	unsigned int count = 0;

	places[count++] = "/run";
	if (user && user[0] == '/')
		places[count++] = user;
	places[count++] = "/tmp";
	return count;
}

/* Of this user, a directory, and still the one at that path. */
static bool is_ours(int fd, const char *path)
{
	struct stat here, there;

	return !fstat(fd, &here) && S_ISDIR(here.st_mode) && here.st_uid == geteuid() &&
	       !lstat(path, &there) && here.st_ino == there.st_ino && here.st_dev == there.st_dev;
}

/* Directories in it stay, and then it stays too: none of ours has any. */
static void empty_and_remove(int fd, const char *path)
{
	int listed = dup(fd);
	DIR *directory = listed >= 0 ? fdopendir(listed) : NULL;
	const struct dirent *entry;

	if (!directory) {
		if (listed >= 0)
			close(listed);
		return;
	}
	rewinddir(directory);
	while ((entry = readdir(directory)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			unlinkat(fd, entry->d_name, 0);
	closedir(directory);
	rmdir(path);
}

static void remove_if_dead(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return;
	/* another user's is not to be touched, and cannot be locked for ever by us */
	if (is_ours(fd, path) && !flock(fd, LOCK_EX | LOCK_NB) && is_ours(fd, path))
		empty_and_remove(fd, path);
	close(fd);
}

static void remove_dead(const char *place, const char *name)
{
	DIR *directory = opendir(place);
	size_t length = strlen(name);
	const struct dirent *entry;

	if (!directory)
		return;
	for (int i = 0; i < LOOKED_AT_MAX && (entry = readdir(directory)); i++) {
		char path[SCRATCH_PATH + 256];

		if (strncmp(entry->d_name, name, length) || entry->d_name[length] != '.' ||
		    strlen(entry->d_name) != length + RANDOM_PART)
			continue;
		snprintf(path, sizeof(path), "%s/%s", place, entry->d_name);
		remove_if_dead(path);
	}
	closedir(directory);
}

static int make_in(struct scratch *scratch, const char *place, const char *name)
{
	int err = EEXIST;

	for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
		int length = snprintf(scratch->path, sizeof(scratch->path), "%s/%s.XXXXXX", place,
				      name);

		if (length >= (int)sizeof(scratch->path))
			return -ENAMETOOLONG;
		if (!mkdtemp(scratch->path))
			return -errno;
		scratch->fd = open(scratch->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		/* before it was locked, another one may have taken it for a dead one's */
		if (scratch->fd >= 0 && !flock(scratch->fd, LOCK_EX | LOCK_NB) &&
		    is_ours(scratch->fd, scratch->path))
			return 0;
		err = scratch->fd < 0 ? errno : EEXIST;
		if (scratch->fd >= 0)
			close(scratch->fd);
		scratch->fd = -1;
		rmdir(scratch->path);
	}
	return -err;
}

void scratch_clean(const char *name)
{
	const char *places[3];
	unsigned int count = list_places(places);

	for (unsigned int i = 0; i < count; i++)
		remove_dead(places[i], name);
}

int scratch_make(struct scratch *scratch, const char *name)
{
	const char *places[3];
	unsigned int count = list_places(places);
	int err = 0;

	for (unsigned int i = 0; i < count; i++) {
		err = make_in(scratch, places[i], name);
		if (!err)
			return 0;
	}
	scratch->path[0] = '\0';
	return err;
}

void scratch_remove(struct scratch *scratch)
{
	if (scratch->path[0])
		empty_and_remove(scratch->fd, scratch->path);
	if (scratch->fd >= 0)
		close(scratch->fd);
	scratch->path[0] = '\0';
	scratch->fd = -1;
}

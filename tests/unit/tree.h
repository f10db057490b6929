/* SPDX-License-Identifier: GPL-2.0-only */
/* Made-up /proc and /sys trees. */
#ifndef TREE_H
#define TREE_H

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* An empty tree; tree_remove() takes it away. */
static inline char *tree_make(char root[64])
{
	strcpy(root, "/tmp/tsnpub-tree-XXXXXX");
	return mkdtemp(root);
}

static inline void tree_write(const char *root, const char *path, const char *text)
{
	char name[1024];
	FILE *file;

	snprintf(name, sizeof(name), "%s%s", root, path);
	for (char *slash = name + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(name, 0755);
		*slash = '/';
	}
	file = fopen(name, "w");
	if (!file || fputs(text, file) == EOF || fclose(file)) {
		perror(name);
		abort();
	}
}

static inline char *tree_read(const char *root, const char *path, char *text, size_t size)
{
	char name[1024];
	FILE *file;
	size_t length = 0;

	snprintf(name, sizeof(name), "%s%s", root, path);
	file = fopen(name, "r");
	if (file) {
		length = fread(text, 1, size - 1, file);
		fclose(file);
	}
	text[length] = '\0';
	return text;
}

static inline int tree_remove_one(const char *path, const struct stat *st, int type,
				  struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline void tree_remove(const char *root)
{
	nftw(root, tree_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#endif

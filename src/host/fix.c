// SPDX-License-Identifier: GPL-2.0-only
#include "host/fix.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/facts.h"

#define STATE_VERSION 1
#define STATE_MAX (4 * 1024 * 1024)
#define ENTRIES_MAX 10000

struct entry {
	struct change was; /* value: the former one */
	char set[CHANGE_TEXT];
	uint64_t netns; /* inode; 0: not a matter of namespaces */
	bool ours; /* applied by this run */
	char before[CHANGE_TEXT]; /* what this run found: the rollback's aim */
	bool pending; /* noted, not known to be written: it may still be as before */
	bool kept; /* was in the file before this run */
};

struct fix {
	struct changer changer;
	char path[FACT_PATH_MAX];
	int lock_fd;
	uint64_t netns;
	char boot_id[64];
	struct entry *entries;
	size_t count;
};

static uint64_t own_netns(void)
{
	struct stat st;

	return stat("/proc/self/ns/net", &st) ? 0 : (uint64_t)st.st_ino;
}

/* Devices, and the files that belong to them, are those of one network namespace. */
static bool of_namespace(const struct change *change)
{
	return change->kind == CHANGE_ETHTOOL || change->kind == CHANGE_FEATURE ||
	       (change->kind == CHANGE_FILE && (!strncmp(change->target, "/sys/class/net/", 15) ||
						!strncmp(change->target, "/proc/sys/net/", 14)));
}

static bool copy_string(const json_t *object, const char *key, char *text, size_t size)
{
	const char *value = json_string_value(json_object_get(object, key));

	if (!value || strlen(value) >= size || strpbrk(value, "\n\r"))
		return false;
	strcpy(text, value);
	return true;
}

static bool read_entry(const json_t *object, struct entry *entry)
{
	char kind[16];
	int number;

	memset(entry, 0, sizeof(*entry));
	if (!copy_string(object, "kind", kind, sizeof(kind)) ||
	    !copy_string(object, "target", entry->was.target, sizeof(entry->was.target)) ||
	    !copy_string(object, "key", entry->was.key, sizeof(entry->was.key)) ||
	    !copy_string(object, "was", entry->was.value, sizeof(entry->was.value)) ||
	    !copy_string(object, "set", entry->set, sizeof(entry->set)))
		return false;
	number = change_kind_find(kind);
	if (number < 0)
		return false;
	entry->was.kind = (enum change_kind)number;
	entry->pending = json_object_get(object, "before");
	if (entry->pending && !copy_string(object, "before", entry->before, sizeof(entry->before)))
		return false;
	entry->netns = (uint64_t)json_integer_value(json_object_get(object, "netns"));
	entry->kept = true;
	/* nothing outside of these is ever written to */
	if (entry->was.kind == CHANGE_FILE &&
	    ((strncmp(entry->was.target, "/proc/", 6) && strncmp(entry->was.target, "/sys/", 5)) ||
	     strstr(entry->was.target, "..")))
		return false;
	if (entry->was.kind == CHANGE_SERVICE && strcmp(entry->was.target, "irqbalance"))
		return false;
	return true;
}

static int load(struct fix *fix, struct error *err)
{
	json_error_t reason;
	json_t *root, *list, *object;
	char boot_id[64];
	struct stat st;
	size_t index;
	int fd = open(fix->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int result = -1;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return error_errno(err, errno, "cannot read %s", fix->path);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > STATE_MAX ||
	    (st.st_mode & 022) || (st.st_uid && st.st_uid != geteuid())) {
		close(fd);
		return error_system(err,
				    "%s is no state file of the doctor (a regular file that only "
				    "root or its user can write to); remove it to give up the undo",
				    fix->path);
	}
	root = json_loadfd(fd, JSON_REJECT_DUPLICATES, &reason);
	close(fd);
	if (!root)
		return error_system(err,
				    "%s is damaged (line %d: %s); remove it to give up the undo",
				    fix->path, reason.line, reason.text);
	if (json_integer_value(json_object_get(root, "version")) != STATE_VERSION) {
		error_system(err, "%s is of another version; use the tsnpub that wrote it",
			     fix->path);
		goto out;
	}
	/* after a reboot all is as it was before anyway */
	if (copy_string(root, "boot_id", boot_id, sizeof(boot_id)) && fix->boot_id[0] &&
	    strcmp(boot_id, fix->boot_id)) {
		result = 0;
		goto out;
	}
	list = json_object_get(root, "changes");
	if (!json_is_array(list) || json_array_size(list) > ENTRIES_MAX) {
		error_system(err,
			     "%s is damaged: no list of changes; remove it to give up the undo",
			     fix->path);
		goto out;
	}
	fix->entries = calloc(json_array_size(list) + 1, sizeof(*fix->entries));
	if (!fix->entries) {
		error_errno(err, ENOMEM, "%s", fix->path);
		goto out;
	}
	json_array_foreach(list, index, object)
	{
		if (!read_entry(object, &fix->entries[fix->count])) {
			error_system(
				err,
				"%s is damaged: change %zu is none of the doctor's; remove it to "
				"give up the undo",
				fix->path, index);
			goto out;
		}
		fix->count++;
	}
	result = 0;
out:
	json_decref(root);
	return result;
}

static int save(struct fix *fix, struct error *err)
{
	json_t *list = json_array(), *root;
	char temporary[FACT_PATH_MAX + 8];
	int fd, reason = 0;
	FILE *out;

	for (size_t i = 0; i < fix->count; i++) {
		const struct entry *e = &fix->entries[i];

		json_t *object = json_pack("{s:s,s:s,s:s,s:s,s:s,s:I,s:s*}", "kind",
					   change_kind_name(e->was.kind), "target", e->was.target,
					   "key", e->was.key, "was", e->was.value, "set", e->set,
					   "netns", (json_int_t)e->netns, "before",
					   e->pending ? e->before : NULL);

		json_array_append_new(list, object);
	}
	if (json_array_size(list) != fix->count) {
		json_decref(list);
		return error_errno(err, ENOMEM, "cannot write %s", fix->path);
	}
	if (!fix->count) {
		json_decref(list);
		if (unlink(fix->path) && errno != ENOENT)
			return error_errno(err, errno, "cannot remove %s", fix->path);
		return 0;
	}
	root = json_pack("{s:i,s:s,s:o}", "version", STATE_VERSION, "boot_id", fix->boot_id,
			 "changes", list);
	snprintf(temporary, sizeof(temporary), "%s.new", fix->path);
	unlink(temporary);
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	/* with a buffer: json_dumpfd() writes each token by itself */
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out || !root || json_dumpf(root, out, JSON_INDENT(1)) || fflush(out) || fsync(fd))
		reason = errno ? errno : EIO;
	if (out)
		fclose(out);
	else if (fd >= 0)
		close(fd);
	if (!reason && rename(temporary, fix->path))
		reason = errno;
	json_decref(root);
	if (reason) {
		unlink(temporary);
		return error_errno(err, reason, "cannot write %s; nothing is changed", fix->path);
	}
	return 0;
}

struct fix *fix_open(const char *root, bool create, struct error *err)
{
	struct fix *fix = calloc(1, sizeof(*fix));
	char lock[FACT_PATH_MAX + 8], *slash;

	if (!fix) {
		error_errno(err, ENOMEM, "state of the doctor");
		return NULL;
	}
	fix->changer.root = root;
	fix->lock_fd = -1;
	fix->netns = own_netns();
	fact_text(root, fix->boot_id, sizeof(fix->boot_id), "/proc/sys/kernel/random/boot_id");
	if (snprintf(fix->path, sizeof(fix->path), "%s%s", root, FIX_STATE) >=
	    (int)sizeof(fix->path)) {
		error_input(err, "the root's name is too long");
		goto fail;
	}
	slash = strrchr(fix->path, '/');
	*slash = '\0';
	if (create && mkdir(fix->path, 0755) && errno != EEXIST) {
		error_errno(err, errno, "cannot make %s to keep the former values in", fix->path);
		goto fail;
	}
	*slash = '/';
	snprintf(lock, sizeof(lock), "%s.lock", fix->path);
	fix->lock_fd = open(lock, O_RDWR | (create ? O_CREAT : 0) | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fix->lock_fd < 0 && !create && errno == ENOENT)
		return fix; /* never was any */
	if (fix->lock_fd < 0) {
		error_errno(err, errno, "cannot open %s%s", lock,
			    errno == EACCES ? " (run as root)" : "");
		goto fail;
	}
	if (flock(fix->lock_fd, LOCK_EX | LOCK_NB)) {
		error_system(err, "another tsnpub doctor is changing settings; wait for its end");
		goto fail;
	}
	if (load(fix, err) < 0)
		goto fail;
	return fix;

fail:
	fix_close(fix);
	return NULL;
}

void fix_close(struct fix *fix)
{
	if (!fix)
		return;
	changer_close(&fix->changer);
	if (fix->lock_fd >= 0)
		close(fix->lock_fd);
	free(fix->entries);
	free(fix);
}

size_t fix_count(const struct fix *fix)
{
	return fix->count;
}

static struct entry *find(struct fix *fix, const struct change *change)
{
	uint64_t netns = of_namespace(change) ? fix->netns : 0;

	for (size_t i = 0; i < fix->count; i++) {
		struct entry *e = &fix->entries[i];

		if (e->was.kind == change->kind && e->netns == netns &&
		    !strcmp(e->was.target, change->target) && !strcmp(e->was.key, change->key))
			return e;
	}
	return NULL;
}

static void drop(struct fix *fix, struct entry *entry)
{
	size_t index = (size_t)(entry - fix->entries);

	fix->count--;
	memmove(entry, entry + 1, (fix->count - index) * sizeof(*entry));
}

/* Notes the former value in the file, before anything is changed. */
static int note(struct fix *fix, const struct change *change, const char *now, struct error *err)
{
	struct entry *entry = find(fix, change);
	struct entry *grown;

	if (!entry) {
		grown = realloc(fix->entries, (fix->count + 1) * sizeof(*grown));
		if (!grown)
			return error_errno(err, ENOMEM, "state of the doctor");
		fix->entries = grown;
		entry = &fix->entries[fix->count++];
		memset(entry, 0, sizeof(*entry));
		entry->was = *change;
		entry->netns = of_namespace(change) ? fix->netns : 0;
		snprintf(entry->was.value, sizeof(entry->was.value), "%s", now);
	}
	/* the oldest former value stays: that is what undo goes back to */
	snprintf(entry->set, sizeof(entry->set), "%s", change->value);
	snprintf(entry->before, sizeof(entry->before), "%s", now);
	entry->ours = entry->pending = true;
	return save(fix, err);
}

/* Puts one change of this run back. */
static int put_back(struct fix *fix, const struct change *change, struct error *err)
{
	struct entry *entry = find(fix, change);
	char now[CHANGE_TEXT];

	if (!entry || !entry->ours)
		return 0;
	/* a write that was refused has left it as it was */
	if (change_read(&fix->changer, change, now, err) < 0)
		return -1;
	if (!change_same(change, now, entry->before) &&
	    change_write(&fix->changer, change, entry->before, err) < 0)
		return -1;
	entry->ours = entry->pending = false;
	if (entry->kept)
		snprintf(entry->set, sizeof(entry->set), "%s", entry->before);
	else
		drop(fix, entry);
	return save(fix, err);
}

int fix_apply(struct fix *fix, const struct change *changes, size_t count, size_t *made,
	      size_t *refused, struct error *err)
{
	struct error second = ERROR_INIT;
	char now[CHANGE_TEXT];
	bool unsaved = false;
	size_t i;
	int result;

	for (i = 0; i < count; i++) {
		const struct change *change = &changes[i];
		struct error why = ERROR_INIT;

		result = change_read(&fix->changer, change, now, &why);
		if (result == CHANGE_ABSENT)
			continue;
		if (result < 0) {
			*err = why;
			goto fail;
		}
		if (change_same(change, now, change->value))
			continue;
		if (note(fix, change, now, err) < 0)
			goto fail;
		result = change_write(&fix->changer, change, change->value, &why);
		if (!result) {
			/* the next one that is noted puts this into the file */
			find(fix, change)->pending = false;
			unsaved = true;
			if (made)
				(*made)++;
			continue;
		}
		/* a write that was taken with another value must be taken back as well */
		if (result == CHANGE_ABSENT || change->optional) {
			put_back(fix, change, &second);
			if (refused)
				(*refused)++;
			continue;
		}
		*err = why;
		i++;
		goto fail;
	}
	/* all is done: where the file cannot tell so, it still tells what to go back to */
	if (unsaved)
		save(fix, &second);
	return 0;

fail:
	while (i-- > 0)
		if (put_back(fix, &changes[i], &second) < 0)
			message_warn("cannot put a setting back: %s", second.text);
	return -1;
}

int fix_rollback(struct fix *fix, struct error *err)
{
	int result = 0;

	for (size_t i = fix->count; i-- > 0;) {
		struct change change = fix->entries[i].was;

		if (fix->entries[i].ours && put_back(fix, &change, err) < 0)
			result = -1;
	}
	return result;
}

static enum fix_undone undo_one(struct fix *fix, struct entry *entry, char text[CHANGE_TEXT])
{
	struct error why = ERROR_INIT;
	int result;

	text[0] = '\0';
	if (entry->netns && entry->netns != fix->netns)
		return FIX_ELSEWHERE;
	result = change_read(&fix->changer, &entry->was, text, &why);
	if (result == CHANGE_ABSENT || (result < 0 && why.status == STATUS_INPUT))
		return FIX_GONE;
	if (result < 0)
		goto failed;
	/* already as it was: a run that was killed before it wrote */
	if (change_same(&entry->was, text, entry->was.value))
		return FIX_RESTORED;
	if (!change_same(&entry->was, text, entry->set) &&
	    !(entry->pending && change_same(&entry->was, text, entry->before)))
		return FIX_CHANGED_SINCE;
	result = change_write(&fix->changer, &entry->was, entry->was.value, &why);
	if (result == CHANGE_ABSENT)
		return FIX_GONE;
	if (!result)
		return FIX_RESTORED;
failed:
	snprintf(text, CHANGE_TEXT, "%s", why.text);
	return FIX_FAILED;
}

int fix_undo(struct fix *fix,
	     void (*report)(const struct change *, enum fix_undone, const char *, void *),
	     void *context, struct error *err)
{
	for (size_t i = fix->count; i-- > 0;) {
		struct change was = fix->entries[i].was;
		char text[CHANGE_TEXT];
		enum fix_undone result = undo_one(fix, &fix->entries[i], text);

		if (result != FIX_ELSEWHERE && result != FIX_FAILED) {
			drop(fix, &fix->entries[i]);
			if (save(fix, err) < 0)
				return -1;
		}
		report(&was, result, text, context);
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "report/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER (1 << 18)

bool output_is_log(const char *path)
{
	static const char suffix[] = ".tsnlog";
	size_t length = strlen(path);
	char magic[8] = { 0 };
	struct stat st;
	FILE *file;
	bool log;

	if (length >= strlen(suffix) && !strcmp(path + length - strlen(suffix), suffix))
		return true;
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	file = fopen(path, "re");
	if (!file)
		return false;
	log = fread(magic, 1, sizeof(magic), file) == sizeof(magic) &&
	      !memcmp(magic, "TSNLOG\r\n", sizeof(magic));
	fclose(file);
	return log;
}

bool output_is_same(const char *a, const char *b)
{
	struct stat first, second;

	if (!a || !b || !strcmp(a, "-") || !strcmp(b, "-"))
		return false;
	if (!strcmp(a, b))
		return true;
	return !stat(a, &first) && !stat(b, &second) && S_ISREG(first.st_mode) &&
	       first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

/* A file without a name, in the directory of `path`: a killed run leaves nothing. */
static int open_nameless(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *directory = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	int fd = directory ? open(directory, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0644) : -1;

	free(directory);
	return fd;
}

static int open_file(struct output *o, const char *what, struct error *err)
{
	bool direct = false;
	struct stat st;
	int fd;

	if (!stat(o->path, &st)) {
		if (S_ISDIR(st.st_mode))
			return error_input(err, "%s '%.128s': a directory; name a file", what,
					   o->path);
		direct = !S_ISREG(st.st_mode);
	}
	if (!direct && asprintf(&o->partial, "%s.%d.tmp", o->path, (int)getpid()) < 0) {
		o->partial = NULL;
		return error_errno(err, ENOMEM, "%s '%.128s'", what, o->path);
	}
	fd = direct ? open(o->path, O_WRONLY | O_CLOEXEC) : open_nameless(o->path);
	o->nameless = !direct && fd >= 0;
	if (!direct && fd < 0) /* file systems such as NFS have no such files */
		fd = open(o->partial, O_WRONLY | O_CLOEXEC | O_CREAT | O_EXCL, 0644);
	if (fd >= 0)
		o->file = fdopen(fd, "w");
	if (o->file)
		return 0;
	error_file(err, errno, o->path, "%s '%.128s': cannot write it", what, o->path);
	if (fd >= 0) {
		close(fd);
		if (!direct && !o->nameless)
			unlink(o->partial);
	}
	free(o->partial);
	o->partial = NULL;
	return -1;
}

int output_open(struct output *o, const char *what, const char *path, struct error *err)
{
	char *real;
	int result;

	memset(o, 0, sizeof(*o));
	if (!strcmp(path, "-")) {
		o->file = stdout;
		o->is_stdout = true;
		return 0;
	}
	if (!*path)
		return error_input(err, "%s '': no file name", what);
	if (output_is_log(path))
		return error_input(err,
				   "%s '%.128s': a log is not overwritten; "
				   "name the file to write, then the logs",
				   what, path);
	/* through links, so that a linked file is replaced and not the link */
	real = realpath(path, NULL);
	o->path = real ? real : strdup(path);
	if (!o->path)
		return error_errno(err, ENOMEM, "%s '%.128s'", what, path);
	result = open_file(o, what, err);
	if (result) {
		free(o->path);
		memset(o, 0, sizeof(*o));
		return result;
	}
	setvbuf(o->file, NULL, _IOFBF, BUFFER);
	return 0;
}

/* Gives the complete file its name, in place of what had it before. */
static int take_name(const struct output *o)
{
	char self[32];

	if (!o->partial)
		return 0;
	if (o->nameless) {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", fileno(o->file));
		if (linkat(AT_FDCWD, self, AT_FDCWD, o->partial, AT_SYMLINK_FOLLOW))
			return errno;
	}
	if (!rename(o->partial, o->path))
		return 0;
	return errno;
}

int output_commit(struct output *o, struct error *err)
{
	int error = 0;

	if (!o->file)
		return 0;
	errno = 0;
	if (fflush(o->file) || ferror(o->file))
		error = errno ? errno : EIO;
	if (o->is_stdout) {
		o->file = NULL;
		return error ? error_errno(err, error, "cannot write to stdout") : 0;
	}
	if (!error)
		error = take_name(o);
	if (fclose(o->file) && !error)
		error = errno;
	o->file = NULL;
	if (error) {
		error_file(err, error, o->path, "'%.128s': cannot write it", o->path);
		output_abort(o);
		return -1;
	}
	free(o->path);
	free(o->partial);
	memset(o, 0, sizeof(*o));
	return 0;
}

void output_abort(struct output *o)
{
	if (o->file && !o->is_stdout)
		fclose(o->file);
	/* a nameless one has this name for a moment only, while it is moved into place */
	if (o->partial)
		unlink(o->partial);
	free(o->path);
	free(o->partial);
	memset(o, 0, sizeof(*o));
}

int output_stdout_done(struct error *err)
{
	if (fflush(stdout))
		return error_errno(err, errno, "cannot write to stdout");
	/* an earlier piece failed: its reason is gone */
	return ferror(stdout) ? error_system(err, "cannot write to stdout: part of it is lost") : 0;
}

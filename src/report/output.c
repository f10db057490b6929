// SPDX-License-Identifier: GPL-2.0-only
#include "report/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER (1 << 18)

static bool is_log(const char *path)
{
	char magic[8] = { 0 };
	FILE *file = fopen(path, "re");
	bool log;

	if (!file)
		return false;
	log = fread(magic, 1, sizeof(magic), file) == sizeof(magic) &&
	      !memcmp(magic, "TSNLOG\r\n", sizeof(magic));
	fclose(file);
	return log;
}

static int open_file(struct output *o, const char *what, struct error *err)
{
	struct stat st;
	bool direct = false;
	int fd;

	if (!stat(o->path, &st)) {
		if (S_ISDIR(st.st_mode))
			return error_input(err, "%s '%.128s': a directory; name a file", what,
					   o->path);
		if (S_ISREG(st.st_mode) && is_log(o->path))
			return error_input(err,
					   "%s '%.128s': this is a log and is not overwritten; name "
					   "another file, then the logs",
					   what, o->path);
		direct = !S_ISREG(st.st_mode);
	}
	if (!direct && asprintf(&o->partial, "%s.%d.tmp", o->path, (int)getpid()) < 0) {
		o->partial = NULL;
		return error_errno(err, ENOMEM, "%s '%.128s'", what, o->path);
	}
	fd = open(direct ? o->path : o->partial,
		  O_WRONLY | O_CLOEXEC | (direct ? 0 : O_CREAT | O_EXCL), 0644);
	if (fd >= 0)
		o->file = fdopen(fd, "w");
	if (o->file)
		return 0;
	error_errno(err, errno, "%s '%.128s': cannot write it", what, o->path);
	if (fd >= 0) {
		close(fd);
		if (!direct)
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

int output_commit(struct output *o, struct error *err)
{
	int error = 0;

	if (!o->file)
		return 0;
	if (fflush(o->file) || ferror(o->file))
		error = errno ? errno : EIO;
	if (o->is_stdout) {
		o->file = NULL;
		return error ? error_errno(err, error, "cannot write to stdout") : 0;
	}
	if (fclose(o->file) && !error)
		error = errno;
	o->file = NULL;
	if (!error && o->partial && rename(o->partial, o->path))
		error = errno;
	if (error)
		error_errno(err, error, "'%.128s': cannot write it", o->path);
	if (error && o->partial)
		unlink(o->partial);
	free(o->path);
	free(o->partial);
	memset(o, 0, sizeof(*o));
	return error ? -1 : 0;
}

void output_abort(struct output *o)
{
	if (o->file && !o->is_stdout)
		fclose(o->file);
	if (o->partial)
		unlink(o->partial);
	free(o->path);
	free(o->partial);
	memset(o, 0, sizeof(*o));
}

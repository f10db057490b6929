// SPDX-License-Identifier: GPL-2.0-only
#include "report/plot.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SVG_MAX (16L << 20)

extern char **environ;

static int run_gnuplot(int script, int drawing, struct error *err)
{
	/* -d: no start-up files of the user's */
	char *const argv[] = { "gnuplot", "-d", "-", NULL };
	posix_spawn_file_actions_t actions;
	int status, error;
	pid_t pid;

	if (posix_spawn_file_actions_init(&actions))
		return error_errno(err, ENOMEM, "gnuplot");
	posix_spawn_file_actions_adddup2(&actions, script, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, drawing, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1, 0);
	error = posix_spawnp(&pid, "gnuplot", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (error == ENOENT)
		return error_system(err, "gnuplot is not installed: apt install gnuplot-nox");
	if (error)
		return error_errno(err, error, "gnuplot: cannot start it");
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_errno(err, errno, "gnuplot");
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return error_system(err, "gnuplot failed (%s %d)",
				    WIFEXITED(status) ? "status" : "signal",
				    WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	return 0;
}

static char *read_svg(FILE *drawing, struct error *err)
{
	long size = fseek(drawing, 0, SEEK_END) ? -1 : ftell(drawing);
	char *text, *svg;

	if (size <= 0 || size > SVG_MAX) {
		error_system(err, "gnuplot drew nothing of use (%ld bytes)", size);
		return NULL;
	}
	text = malloc((size_t)size + 1);
	rewind(drawing);
	if (!text || fread(text, 1, (size_t)size, drawing) != (size_t)size) {
		free(text);
		error_errno(err, text ? EIO : ENOMEM, "gnuplot");
		return NULL;
	}
	text[size] = '\0';
	svg = strstr(text, "<svg");
	if (!svg)
		error_system(err, "gnuplot drew no SVG");
	else
		memmove(text, svg, strlen(svg) + 1);
	if (svg)
		return text;
	free(text);
	return NULL;
}

char *plot_svg(FILE *script, struct error *err)
{
	FILE *drawing = tmpfile();
	char *svg = NULL;

	if (!drawing) {
		error_errno(err, errno, "gnuplot: no temporary file");
		return NULL;
	}
	if (fflush(script) || fseek(script, 0, SEEK_SET) || lseek(fileno(script), 0, SEEK_SET))
		error_errno(err, errno, "gnuplot: cannot write its script");
	else if (!run_gnuplot(fileno(script), fileno(drawing), err))
		svg = read_svg(drawing, err);
	fclose(drawing);
	return svg;
}

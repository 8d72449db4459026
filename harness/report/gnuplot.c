/* Running gnuplot; see the header. */
#include "gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "quote.h"

/* Arrays came with 5.2. */
#define LEAST_VERSION 5.2

/* A picture takes a tenth of a second. */
#define LIMIT_MS 20000
#define LOOK_MS	 5

extern char **environ;

/* Files without a name: what goes in, and what comes out. */
struct streams {
	FILE *in, *out, *errors;
};

static int open_streams(struct streams *s, struct sv_err *err)
{
	*s = (struct streams){tmpfile(), tmpfile(), tmpfile()};
	if (s->in == NULL || s->out == NULL || s->errors == NULL)
		return sv_err_set(err, SV_EOUTPUT, "plot: temporary file: %s",
		    strerror(errno));
	return 0;
}

static void close_streams(struct streams *s)
{
	if (s->in != NULL)
		fclose(s->in);
	if (s->out != NULL)
		fclose(s->out);
	if (s->errors != NULL)
		fclose(s->errors);
}

/* Wait for a child of ours, not for ever. */
static int await(pid_t child, int *status, struct sv_err *err)
{
	const struct timespec pause = {0, LOOK_MS * 1000000L};

	for (int waited = 0; waited < LIMIT_MS; waited += LOOK_MS) {
		pid_t ended = waitpid(child, status, WNOHANG);

		if (ended == child)
			return 0;
		if (ended < 0 && errno != EINTR)
			return sv_err_set(err, SV_EOUTPUT,
			    "wait for gnuplot: %s", strerror(errno));
		nanosleep(&pause, NULL);
	}
	kill(child, SIGKILL);
	waitpid(child, status, 0);
	return sv_err_set(err, SV_EOUTPUT, "gnuplot did not end within %d s",
	    LIMIT_MS / 1000);
}

/* Run with these words. *status is as waitpid gives it. */
static int run(
    char *const *words, struct streams *s, int *status, struct sv_err *err)
{
	posix_spawn_file_actions_t actions;
	pid_t child;
	int cause;

	rewind(s->in);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fileno(s->in), 0);
	posix_spawn_file_actions_adddup2(&actions, fileno(s->out), 1);
	posix_spawn_file_actions_adddup2(&actions, fileno(s->errors), 2);
	cause = posix_spawnp(&child, words[0], &actions, NULL, words, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (cause == ENOENT || cause == EACCES)
		return sv_err_set(err, SV_EOUTPUT,
		    "gnuplot is not installed: install it (Debian: "
		    "gnuplot-nox) to get pictures");
	if (cause != 0)
		return sv_err_set(
		    err, SV_EOUTPUT, "start gnuplot: %s", strerror(cause));
	return await(child, status, err);
}

/* All of a stream, terminated; malloc'd, *n bytes. */
static char *contents(FILE *file, size_t *n)
{
	long size;
	char *bytes;

	*n = 0;
	if (fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0)
		return NULL;
	rewind(file);
	bytes = malloc((size_t)size + 1);
	if (bytes == NULL)
		return NULL;
	*n = fread(bytes, 1, (size_t)size, file);
	bytes[*n] = '\0';
	return bytes;
}

int sv_gnuplot_check(struct sv_err *err)
{
	static char name[] = "gnuplot", flag[] = "--version";
	char *words[] = {name, flag, NULL};
	struct streams s;
	int status, code = open_streams(&s, err);
	char *said = NULL;
	size_t n;
	double version = 0.0;

	if (code == 0)
		code = run(words, &s, &status, err);
	if (code == 0)
		said = contents(s.out, &n);
	if (said != NULL)
		sscanf(said, "gnuplot %lf", &version);
	if (code == 0 && version < LEAST_VERSION)
		code = sv_err_set(err, SV_EOUTPUT,
		    "gnuplot %.1f or newer is needed to draw; this one says "
		    "\"%.40s\"",
		    LEAST_VERSION, said != NULL ? strtok(said, "\n") : "");
	free(said);
	close_streams(&s);
	return code;
}

/* The last line that says something, as the cause. */
static int refused(FILE *errors, struct sv_err *err)
{
	char line[240], last[240] = "it does not say why";

	rewind(errors);
	while (fgets(line, sizeof line, errors) != NULL)
		if (strspn(line, " \t\n^") != strlen(line))
			sv_quote_cut(
			    last, sizeof last, line + strspn(line, " \t"), 160);
	return sv_err_set(err, SV_EOUTPUT, "gnuplot could not draw: %s", last);
}

int sv_gnuplot_draw(const struct sv_figure *f, enum sv_picture picture,
    char **bytes, size_t *n, struct sv_err *err)
{
	static char name[] = "gnuplot", defaults[] = "-d", from[] = "-";
	char *words[] = {name, defaults, from, NULL};
	struct streams s;
	int status = 0, code = open_streams(&s, err);

	if (code == 0)
		code = sv_gnuplot_script(f, picture, s.in, err);
	if (code == 0 && fflush(s.in) != 0)
		code = sv_err_set(err, SV_EOUTPUT, "plot: temporary file: %s",
		    strerror(errno));
	if (code == 0)
		code = run(words, &s, &status, err);
	if (code == 0 && (!WIFEXITED(status) || WEXITSTATUS(status) != 0))
		code = refused(s.errors, err);
	if (code == 0) {
		*bytes = contents(s.out, n);
		if (*bytes == NULL)
			code = sv_err_set(
			    err, SV_ERESOURCE, "plot: out of memory");
		else if (*n == 0) {
			free(*bytes);
			code = refused(s.errors, err);
		}
	}
	close_streams(&s);
	return code;
}

/*
 * Result files on a disk: the new file is there whole or the old one stays.
 * Knows nothing of what is in them.
 */
#include "result.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Names tried before giving up: as many leftovers of a killed one. */
#define MAX_TEMPORARIES 100

/* The error that errno tells of. */
static int failed(const char *what, const char *path, struct sv_err *err)
{
	if (errno == ENOMEM)
		return sv_err_set(
		    err, SV_ERESOURCE, "%s %s: out of memory", what, path);
	return sv_err_set(
	    err, SV_EOUTPUT, "%s %s: %s", what, path, strerror(errno));
}

/*
 * Where to put the file, as a new string: the target of a symbolic link, else
 * path itself. NULL on failure, *code then says why. A file that is there
 * keeps its permissions: *keeps says so, and *mode holds them.
 */
static char *find_target(
    const char *path, bool *keeps, mode_t *mode, int *code, struct sv_err *err)
{
	struct stat info = {0};
	char *target = NULL;

	*keeps = false;
	*mode = 0666;
	errno = 0;
	if (lstat(path, &info) != 0 && errno == ENOENT) {
		target = strdup(path);
	} else if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
		/* A rename would put a file in the place of /dev/null. */
		*code = sv_err_set(err, SV_EOUTPUT,
		    "write %s: it exists and is not a regular file", path);
		return NULL;
	} else {
		*keeps = true;
		*mode = info.st_mode & 0777;
		target = realpath(path, NULL);
	}
	if (target == NULL)
		*code = failed("write", path, err);
	return target;
}

/* The folder that a path is in; a new string, NULL when out of memory. */
static char *folder_of(const char *path)
{
	char *copy = strdup(path);
	char *folder = copy != NULL ? strdup(dirname(copy)) : NULL;

	free(copy);
	return folder;
}

/*
 * A new file in the folder, which nobody else can have opened. Its name does
 * not grow with the target's, which may be as long as names can be. Gives the
 * descriptor, -1 on failure, and the name as a new string.
 */
static int create_temporary(const char *folder, mode_t mode, char **name)
{
	int fd = -1;

	for (int i = 0; i < MAX_TEMPORARIES && fd < 0; i++) {
		if (asprintf(name, "%s/.stave-%ld-%d.tmp", folder,
			(long)getpid(), i) < 0) {
			*name = NULL;
			errno = ENOMEM;
			return -1;
		}
		fd = open(*name,
		    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
		if (fd >= 0)
			break;
		free(*name);
		*name = NULL;
		if (errno != EEXIST)
			break;
	}
	return fd;
}

/* Print, and have it on the disk before it gets its name. Closes fd. */
static int fill(const struct sv_result *r, int fd, const char *path,
    enum sv_keep keep, struct sv_err *err)
{
	struct sv_err cause;
	FILE *out = fdopen(fd, "w");
	int code;

	if (out == NULL) {
		code = failed("write", path, err);
		close(fd);
		return code;
	}
	code = sv_result_print(r, out, keep, &cause);
	if (code != 0)
		sv_err_set(err, code, "write %s: %s", path, cause.text);
	else if (fsync(fd) != 0)
		code = failed("sync", path, err);
	if (fclose(out) != 0 && code == 0)
		code = failed("close", path, err);
	return code;
}

/*
 * Make the rename durable. The file is in its place by now: a file system
 * that cannot sync a folder makes nothing undone.
 */
static void sync_folder(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)fsync(fd);
	close(fd);
}

int sv_result_write(const struct sv_result *r, const char *path,
    enum sv_keep keep, struct sv_err *err)
{
	bool keeps;
	mode_t mode;
	int fd, code = 0;
	char *folder = NULL, *temporary = NULL;
	char *target = find_target(path, &keeps, &mode, &code, err);

	if (target == NULL)
		return code;
	folder = folder_of(target);
	fd = folder != NULL ? create_temporary(folder, mode, &temporary) : -1;
	if (fd < 0) {
		code = failed("write", path, err);
		goto free_names;
	}
	/* What the mask took away; a file system without modes is no error. */
	if (keeps)
		(void)fchmod(fd, mode);
	code = fill(r, fd, path, keep, err);
	if (code == 0 && rename(temporary, target) != 0)
		code = failed("replace", path, err);
	if (code == 0)
		sync_folder(folder);
	else
		(void)unlink(temporary);

free_names:
	free(temporary);
	free(folder);
	free(target);
	return code;
}

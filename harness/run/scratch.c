/* A run's measuring files; see the header. */
#include "scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "stave/tree.h"

#define PREFIX "stave-data-"
#define SUFFIX ".lock"
/* What a lock says, so that nobody else's folder is ever taken for ours. */
#define OWNER  "stave keeps measuring files beside this lock\n"

/* Whether a lock file that is open is one of ours and no run holds it. */
static bool is_left(int fd)
{
	char text[sizeof OWNER] = "";

	return read(fd, text, sizeof text - 1) == (ssize_t)sizeof OWNER - 1 &&
	       strcmp(text, OWNER) == 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
}

/* Remove the folder first: a lock without one is swept the next time. */
static void remove_both(const char *folder, const char *lock)
{
	if (sv_tree_remove(folder) == 0)
		unlink(lock);
}

static bool is_lock_name(const char *name)
{
	size_t n = strlen(name), prefix = strlen(PREFIX);

	return n > prefix + strlen(SUFFIX) &&
	       strncmp(name, PREFIX, prefix) == 0 &&
	       strcmp(name + n - strlen(SUFFIX), SUFFIX) == 0;
}

unsigned sv_scratch_sweep(const char *parent)
{
	DIR *list = opendir(parent);
	struct dirent *entry;
	unsigned removed = 0;

	while (list != NULL && (entry = readdir(list)) != NULL) {
		char lock[PATH_MAX + 2], folder[PATH_MAX + 2];
		int fd;

		if (!is_lock_name(entry->d_name))
			continue;
		snprintf(lock, sizeof lock, "%s/%s", parent, entry->d_name);
		snprintf(folder, sizeof folder, "%.*s",
		    (int)(strlen(lock) - strlen(SUFFIX)), lock);
		fd = open(lock, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0 && is_left(fd)) {
			remove_both(folder, lock);
			removed++;
		}
		if (fd >= 0)
			close(fd);
	}
	if (list != NULL)
		closedir(list);
	return removed;
}

/*
 * Between making the lock and locking it another run may sweep it away: what
 * is locked must still be there by its name.
 */
static int take_lock(struct sv_scratch *scratch)
{
	struct stat ours, named;

	scratch->lock_fd =
	    open(scratch->lock, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (scratch->lock_fd < 0)
		return -1;
	if (flock(scratch->lock_fd, LOCK_EX | LOCK_NB) != 0 ||
	    write(scratch->lock_fd, OWNER, sizeof OWNER - 1) !=
		(ssize_t)sizeof OWNER - 1 ||
	    fstat(scratch->lock_fd, &ours) != 0 ||
	    stat(scratch->lock, &named) != 0 || ours.st_ino != named.st_ino)
		return -1;
	return 0;
}

int sv_scratch_open(
    struct sv_scratch *scratch, const char *parent, struct sv_err *err)
{
	struct timespec now;
	int code = 0;

	*scratch = (struct sv_scratch){.lock_fd = -1};
	clock_gettime(CLOCK_REALTIME, &now);
	if (asprintf(&scratch->folder, "%s/" PREFIX "%ld-%lx%08lx", parent,
		(long)getpid(), (long)now.tv_sec, now.tv_nsec) < 0)
		scratch->folder = NULL;
	if (scratch->folder == NULL ||
	    asprintf(&scratch->lock, "%s" SUFFIX, scratch->folder) < 0)
		scratch->lock = NULL;
	if (scratch->lock == NULL)
		code = sv_err_set(err, SV_ERESOURCE, "folder: out of memory");
	else if (take_lock(scratch) != 0 || mkdir(scratch->folder, 0700) != 0)
		code = sv_err_set(err, SV_EOUTPUT, "make %s: %s",
		    scratch->folder, strerror(errno));
	if (code != 0)
		sv_scratch_close(scratch);
	return code;
}

void sv_scratch_close(struct sv_scratch *scratch)
{
	if (scratch->lock != NULL && scratch->lock_fd >= 0)
		remove_both(scratch->folder, scratch->lock);
	if (scratch->lock_fd >= 0)
		close(scratch->lock_fd);
	free(scratch->folder);
	free(scratch->lock);
	*scratch = (struct sv_scratch){.lock_fd = -1};
}

/*
 * Starting a worker, and making sure that nothing of it is left.
 */
#ifndef STAVE_CHILD_H
#define STAVE_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "stave/err.h"

#define SV_WORKER_PATH_BYTES 4096

/* A running worker. Descriptors are non-blocking, and -1 once closed. */
struct sv_child {
	pid_t pid;
	int wire_fd; /* its descriptor 3 */
	int log_fd;  /* its stdout and stderr */
	int exit_fd; /* readable when it has ended; -1 on old kernels */
	bool reaped;
	int status; /* as of waitpid, once reaped */
};

/*
 * Path of a backend's worker: $STAVE_WORKER_DIR, else ../libexec/stave beside
 * the installed program, else the program's own folder. Errors: SV_EDEVICE
 * when there is none.
 */
SV_MUST_CHECK int sv_worker_path(
    const char *backend, char out[SV_WORKER_PATH_BYTES], struct sv_err *err);

/*
 * Start path in a process group of its own. Errors: SV_EDEVICE when it cannot
 * be executed, SV_ESYSTEM.
 */
SV_MUST_CHECK int sv_spawn(const char *path, char *const argv[],
    struct sv_child *out, struct sv_err *err);

/* Reap without waiting; true once it has ended. */
bool sv_child_ended(struct sv_child *);

/*
 * Kill the whole group, reap, close. Then kill and reap what left the group:
 * sv_spawn_adopt makes orphans our children, so that they can be found.
 */
void sv_child_finish(struct sv_child *);

/* Become the parent of orphaned grandchildren (on), or no longer. */
void sv_spawn_adopt(bool on);

#endif

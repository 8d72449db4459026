/* Processes; see the header. Knows nothing of what they say. */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stave/wire.h"

extern char **environ;

/* Above the descriptors that the child gets, so that none is overwritten. */
#define LEAST_FD 16

int sv_worker_path(
    const char *backend, char out[SV_WORKER_PATH_BYTES], struct sv_err *err)
{
	const char *chosen = getenv("STAVE_WORKER_DIR");
	char self[PATH_MAX] = "";
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	const char *bin = n > 0 ? dirname(self) : ".";
	char folder[SV_WORKER_PATH_BYTES];

	for (size_t i = 0; i < 2; i++) {
		if (chosen != NULL)
			snprintf(folder, sizeof folder, "%s", chosen);
		else if (i == 0)
			snprintf(
			    folder, sizeof folder, "%s/../libexec/stave", bin);
		else
			snprintf(folder, sizeof folder, "%s", bin);
		if (snprintf(out, SV_WORKER_PATH_BYTES, "%s/stave-worker-%s",
			folder, backend) < SV_WORKER_PATH_BYTES &&
		    access(out, X_OK) == 0)
			return 0;
	}
	return sv_err_set(err, SV_EDEVICE,
	    "backend \"%.40s\": this installation has no worker for it "
	    "(stave-worker-%.40s)",
	    backend, backend);
}

/* A pipe whose ends survive no exec and overwrite no low descriptor. */
static int high_pipe(int ends[2])
{
	int low[2];

	if (pipe2(low, O_CLOEXEC) != 0)
		return -1;
	for (int i = 0; i < 2; i++) {
		ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, LEAST_FD);
		close(low[i]);
	}
	if (ends[0] >= 0 && ends[1] >= 0)
		return fcntl(ends[0], F_SETFL, O_NONBLOCK);
	if (ends[0] >= 0)
		close(ends[0]);
	if (ends[1] >= 0)
		close(ends[1]);
	return -1;
}

/*
 * glibc's posix_spawn waits until exec has succeeded or failed and gives the
 * child's errno back: what a close-on-exec error pipe is made for.
 */
static int start(
    const char *path, char *const argv[], int wire, int log, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, usual;
	int failed;

	sigemptyset(&none);
	sigemptyset(&usual);
	for (int s = 1; s < 32; s++)
		if (s != SIGKILL && s != SIGSTOP)
			sigaddset(&usual, s);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP |
						  POSIX_SPAWN_SETSIGMASK |
						  POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &usual);
	failed = posix_spawn_file_actions_addopen(
	    &actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (failed == 0)
		failed = posix_spawn_file_actions_adddup2(
		    &actions, log, STDOUT_FILENO);
	if (failed == 0)
		failed = posix_spawn_file_actions_adddup2(
		    &actions, log, STDERR_FILENO);
	if (failed == 0)
		failed = posix_spawn_file_actions_adddup2(
		    &actions, wire, SV_WIRE_FD);
	if (failed == 0)
		failed = posix_spawn(
		    pid, path, &actions, &attributes, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return failed;
}

int sv_spawn(const char *path, char *const argv[], struct sv_child *out,
    struct sv_err *err)
{
	int wire[2] = {-1, -1}, log[2] = {-1, -1}, failed;
	pid_t pid;

	if (high_pipe(wire) != 0 || high_pipe(log) != 0) {
		failed = sv_err_set(err, SV_ESYSTEM,
		    "open the pipes of a worker: %s%s", strerror(errno),
		    errno == EINVAL || errno == EMFILE
			? "; more open files must be allowed (ulimit -n)"
			: "");
		goto close_pipes;
	}
	failed = start(path, argv, wire[1], log[1], &pid);
	if (failed != 0) {
		failed = sv_err_set(
		    err, SV_EDEVICE, "start %s: %s", path, strerror(failed));
		goto close_pipes;
	}
	close(wire[1]);
	close(log[1]);
	*out = (struct sv_child){.pid = pid,
	    .wire_fd = wire[0],
	    .log_fd = log[0],
	    .exit_fd = (int)syscall(SYS_pidfd_open, pid, 0)};
	return 0;

close_pipes:
	for (int i = 0; i < 2; i++) {
		if (wire[i] >= 0)
			close(wire[i]);
		if (log[i] >= 0)
			close(log[i]);
	}
	return failed;
}

bool sv_child_ended(struct sv_child *child)
{
	if (!child->reaped &&
	    waitpid(child->pid, &child->status, WNOHANG) == child->pid)
		child->reaped = true;
	return child->reaped;
}

/*
 * Kill and reap every child that we have, which while a run is on are
 * orphans that left their group. One that forks as it is killed is caught on
 * the next pass.
 */
static void clear_orphans(void)
{
	char path[64];
	bool found;

	snprintf(
	    path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
	do {
		FILE *file = fopen(path, "re");
		long pid;

		found = false;
		while (file != NULL && fscanf(file, "%ld", &pid) == 1) {
			kill((pid_t)pid, SIGKILL);
			found = waitpid((pid_t)pid, NULL, 0) > 0 || found;
		}
		if (file != NULL)
			fclose(file);
	} while (found);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		continue;
}

void sv_child_finish(struct sv_child *child)
{
	int *fds[] = {&child->wire_fd, &child->log_fd, &child->exit_fd};

	/*
	 * The group may outlive its leader. A reaped leader's number could
	 * only be taken again once the group is gone as well.
	 */
	kill(-child->pid, SIGKILL);
	while (!child->reaped) {
		if (waitpid(child->pid, &child->status, 0) == child->pid ||
		    errno != EINTR)
			child->reaped = true;
	}
	for (size_t i = 0; i < 3; i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
	clear_orphans();
}

void sv_spawn_adopt(bool on)
{
	prctl(PR_SET_CHILD_SUBREAPER, on ? 1 : 0, 0, 0, 0);
}

/*
 * The folder of measuring files: gone with its run, and where the run was
 * killed, at the next start; nobody else's is touched.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmocka_all.h"
#include "scratch.h"
#include "stave/tree.h"

static char parent[64];

static int make_parent(void **state)
{
	(void)state;
	snprintf(parent, sizeof parent, "/tmp/stave-scratch-XXXXXX");
	return mkdtemp(parent) == NULL ? -1 : 0;
}

static int remove_parent(void **state)
{
	(void)state;
	return sv_tree_remove(parent);
}

static void put(const char *folder, const char *name)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fputs("x", file) < 0, 0);
	assert_int_equal(fclose(file), 0);
}

static bool is_empty(const char *folder)
{
	/* The folder itself goes only when nothing is in it. */
	bool empty = rmdir(folder) == 0;

	if (empty)
		assert_int_equal(mkdir(folder, 0700), 0);
	return empty;
}

static void a_closed_folder_leaves_nothing(void **state)
{
	struct sv_scratch scratch;
	struct sv_err err;
	char inside[512];

	(void)state;
	assert_int_equal(sv_scratch_open(&scratch, parent, &err), 0);
	snprintf(inside, sizeof inside, "%s/000", scratch.folder);
	assert_int_equal(mkdir(inside, 0700), 0);
	put(inside, "000001");
	put(scratch.folder, "samples");
	sv_scratch_close(&scratch);
	assert_true(is_empty(parent));
	sv_scratch_close(&scratch);
}

static void a_living_runs_folder_stays(void **state)
{
	struct sv_scratch scratch;
	struct sv_err err;

	(void)state;
	assert_int_equal(sv_scratch_open(&scratch, parent, &err), 0);
	put(scratch.folder, "samples");
	assert_int_equal(sv_scratch_sweep(parent), 0);
	assert_int_equal(access(scratch.folder, F_OK), 0);
	sv_scratch_close(&scratch);
}

static void a_killed_runs_folder_goes_at_the_next_start(void **state)
{
	pid_t child = fork();
	int status;

	(void)state;
	if (child == 0) {
		struct sv_scratch scratch;
		struct sv_err err;

		if (sv_scratch_open(&scratch, parent, &err) == 0)
			put(scratch.folder, "samples");
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_false(is_empty(parent));
	assert_int_equal(sv_scratch_sweep(parent), 1);
	assert_true(is_empty(parent));
}

/* A folder of that name without our lock, and a lock that is not ours. */
static void what_is_not_ours_stays(void **state)
{
	char folder[128], lock[160];

	(void)state;
	snprintf(folder, sizeof folder, "%s/stave-data-1-2", parent);
	snprintf(lock, sizeof lock, "%s.lock", folder);
	assert_int_equal(mkdir(folder, 0700), 0);
	put(folder, "thesis");
	assert_int_equal(sv_scratch_sweep(parent), 0);
	put(parent, "stave-data-1-2.lock");
	assert_int_equal(sv_scratch_sweep(parent), 0);
	assert_int_equal(access(folder, F_OK), 0);
	assert_int_equal(unlink(lock), 0);
	assert_int_equal(sv_tree_remove(folder), 0);
}

static void a_parent_that_takes_no_folder_is_an_error(void **state)
{
	struct sv_scratch scratch = {.lock_fd = -1};
	struct sv_err err = {0};

	(void)state;
	assert_int_equal(sv_scratch_open(&scratch, "/proc", &err), SV_EOUTPUT);
	assert_non_null(strstr(err.text, "/proc/stave-data-"));
	assert_null(scratch.folder);
	assert_int_equal(sv_scratch_sweep("/nowhere/at/all"), 0);
	sv_scratch_close(&scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_closed_folder_leaves_nothing),
	    cmocka_unit_test(a_living_runs_folder_stays),
	    cmocka_unit_test(a_killed_runs_folder_goes_at_the_next_start),
	    cmocka_unit_test(what_is_not_ours_stays),
	    cmocka_unit_test(a_parent_that_takes_no_folder_is_an_error),
	};

	return cmocka_run_group_tests(tests, make_parent, remove_parent) != 0;
}

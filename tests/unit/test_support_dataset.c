/*
 * Samples on disk in every layout: what was written is read, they are found
 * again, they can be put out of memory, and what cannot be made leaves
 * nothing.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmocka_all.h"
#include "dataset.h"
#include "pattern.h"
#include "stave/tree.h"

#define SAMPLES 40
#define BYTES	9000

static char folder[64];

static int make_folder(void **state)
{
	(void)state;
	/* Beside the program, which lies on a disk more often than /tmp. */
	snprintf(folder, sizeof folder, "stave-dataset-XXXXXX");
	return mkdtemp(folder) == NULL ? -1 : 0;
}

static int remove_folder(void **state)
{
	(void)state;
	return sv_tree_remove(folder);
}

static size_t fill(void *state, size_t index, unsigned char *buffer)
{
	++*(size_t *)state;
	sv_pattern_fill(buffer, BYTES, index);
	return BYTES;
}

static struct sv_dataset_spec spec_of(enum sv_layout layout, size_t *made)
{
	return (struct sv_dataset_spec){.name = "test",
	    .layout = layout,
	    .n = SAMPLES,
	    .bytes = BYTES,
	    .contents = fill,
	    .state = made};
}

static void read_all(struct sv_dataset *dataset, bool direct)
{
	struct sv_reader *reader, *other;
	struct sv_err err;

	/* As threads have them; one that is closed takes nothing along. */
	assert_int_equal(sv_reader_open(dataset, direct, &other, &err), 0);
	assert_int_equal(sv_reader_open(dataset, direct, &reader, &err), 0);
	sv_reader_close(other);
	for (size_t i = 0; i < SAMPLES; i++) {
		size_t at = i * 7 % SAMPLES, bytes;
		const unsigned char *data;

		assert_int_equal(
		    sv_reader_read(reader, at, &data, &bytes, &err), 0);
		assert_int_equal(bytes, BYTES);
		assert_int_equal(sv_pattern_check(data, bytes, at), BYTES);
	}
	sv_reader_close(reader);
}

static void try_layout(enum sv_layout layout)
{
	size_t made = 0, all[SAMPLES];
	struct sv_dataset_spec spec = spec_of(layout, &made);
	struct sv_dataset *dataset;
	struct sv_err err = {0};
	double share = -1.0;
	int code = sv_dataset_possible(folder, &spec, &err);

	if (code == SV_EUNSUPPORTED) {
		print_message("left out: %s\n", err.text);
		return;
	}
	for (size_t i = 0; i < SAMPLES; i++)
		all[i] = i;
	for (int again = 0; again < 2; again++) {
		assert_int_equal(
		    sv_dataset_open(folder, &spec, &dataset, &err), 0);
		read_all(dataset, again == 1);
		assert_int_equal(made, SAMPLES);
		if (again == 0)
			sv_dataset_close(dataset);
	}
	assert_int_equal(
	    sv_dataset_resident(dataset, all, SAMPLES, &share, &err), 0);
	assert_true(share >= 0.0 && share <= 1.0);
	if (sv_dataset_can_drop(folder)) {
		assert_int_equal(
		    sv_dataset_drop(dataset, all, SAMPLES, &err), 0);
		assert_int_equal(
		    sv_dataset_resident(dataset, all, SAMPLES, &share, &err),
		    0);
		assert_true(share == 0.0);
		read_all(dataset, false);
		assert_int_equal(
		    sv_dataset_resident(dataset, all, SAMPLES, &share, &err),
		    0);
		assert_true(share > 0.5);
	}
	sv_dataset_close(dataset);
}

static void files_come_back(void **state)
{
	(void)state;
	try_layout(SV_LAYOUT_FILES);
}

static void a_packed_file_comes_back(void **state)
{
	(void)state;
	try_layout(SV_LAYOUT_PACKED);
}

static void an_lmdb_comes_back(void **state)
{
	(void)state;
	try_layout(SV_LAYOUT_LMDB);
}

static void a_disk_that_is_too_small_is_said_beforehand(void **state)
{
	size_t made = 0;
	struct sv_dataset_spec spec = spec_of(SV_LAYOUT_PACKED, &made);
	struct sv_err err = {0};

	(void)state;
	spec.n = (size_t)1 << 44;
	assert_int_equal(
	    sv_dataset_possible(folder, &spec, &err), SV_ERESOURCE);
	assert_non_null(strstr(err.text, "MiB are free"));
}

/* A limit on file size stands for a disk that fills up on the way. */
static void what_cannot_be_made_whole_is_removed(void **state)
{
	struct rlimit before, small = {4 * BYTES, 4 * BYTES};
	size_t made = 0;
	struct sv_dataset_spec spec = spec_of(SV_LAYOUT_PACKED, &made);
	struct sv_dataset *dataset = NULL;
	struct sv_err err = {0};
	char path[160];

	(void)state;
	spec.name = "cut";
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small.rlim_max = before.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	int code = sv_dataset_open(folder, &spec, &dataset, &err);

	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(code, SV_ERESOURCE);
	assert_null(dataset);
	snprintf(path, sizeof path, "%s/cut-packed-%dx%d.new", folder, SAMPLES,
	    BYTES);
	assert_int_not_equal(access(path, F_OK), 0);
}

static void a_folder_that_is_not_there_is_said(void **state)
{
	size_t made = 0;
	struct sv_dataset_spec spec = spec_of(SV_LAYOUT_FILES, &made);
	struct sv_err err = {0};

	(void)state;
	assert_int_equal(
	    sv_dataset_possible(NULL, &spec, &err), SV_EUNSUPPORTED);
	assert_non_null(strstr(err.text, "--storage-path"));
	assert_int_equal(
	    sv_dataset_possible("/nowhere", &spec, &err), SV_ESYSTEM);
	assert_int_not_equal(sv_dataset_possible("/proc", &spec, &err), 0);
	assert_false(sv_dataset_can_drop("/nowhere"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(files_come_back),
	    cmocka_unit_test(a_packed_file_comes_back),
	    cmocka_unit_test(an_lmdb_comes_back),
	    cmocka_unit_test(a_disk_that_is_too_small_is_said_beforehand),
	    cmocka_unit_test(what_cannot_be_made_whole_is_removed),
	    cmocka_unit_test(a_folder_that_is_not_there_is_said),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder) != 0;
}

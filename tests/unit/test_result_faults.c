/*
 * Memory that runs out and disks that fail, one call after the other. The
 * build puts these calls between the room and libc (--wrap), and jansson
 * takes its memory from here too.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_all.h"
#include "files.h"
#include "lossless.h"
#include "result.h"
#include "stave/units.h"

#define FULL SV_TEST_FIXTURES "/result/valid/full.json"

/* Longer than any token of the file. */
#define LONG_KEY 5000

/* The call that fails next: the n-th from now on, 0 for none. */
static struct countdown {
	const char *call; /* NULL: an allocation */
	unsigned long left;
	unsigned long seen; /* of jansson's */
	bool failed;
	int cause;
} planned;

/*
 * Jansson 2.14 does not look whether its buffer for the token at hand could
 * grow, and writes beyond it: that allocation never fails here. It comes only
 * while the first key is read, which is longer than all other tokens.
 */
static bool grows_the_token(size_t n)
{
	return planned.seen < 20 && n > 16 && n < 4 * LONG_KEY &&
	       (n & (n - 1)) == 0;
}

static bool is_due(const char *call)
{
	bool alike =
	    planned.call == call || (planned.call != NULL && call != NULL &&
					strcmp(planned.call, call) == 0);

	if (!alike || planned.left == 0 || --planned.left > 0)
		return false;
	planned.failed = true;
	errno = planned.cause;
	return true;
}

static void plan(const char *call, unsigned long nth, int cause)
{
	planned = (struct countdown){.call = call, .left = nth, .cause = cause};
}

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t n);
char *__real_strdup(const char *text);
int __real_fsync(int fd);
int __real_fclose(FILE *file);
int __real_rename(const char *from, const char *to);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t n);
char *__wrap_strdup(const char *text);
int __wrap_fsync(int fd);
int __wrap_fclose(FILE *file);
int __wrap_rename(const char *from, const char *to);

void *__wrap_malloc(size_t n)
{
	return is_due(NULL) ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return is_due(NULL) ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t n)
{
	return is_due(NULL) ? NULL : __real_realloc(old, n);
}

char *__wrap_strdup(const char *text)
{
	return is_due(NULL) ? NULL : __real_strdup(text);
}

static void *jansson_malloc(size_t n)
{
	planned.seen++;
	return grows_the_token(n) ? __real_malloc(n) : __wrap_malloc(n);
}

int __wrap_fsync(int fd)
{
	return is_due("fsync") ? -1 : __real_fsync(fd);
}

/* A close that fails has closed all the same. */
int __wrap_fclose(FILE *file)
{
	bool due = is_due("fclose");
	int cause = errno, code = __real_fclose(file);

	if (due)
		errno = cause;
	return due ? EOF : code;
}

int __wrap_rename(const char *from, const char *to)
{
	return is_due("rename") ? -1 : __real_rename(from, to);
}

/* Run with the 1st, 2nd, … allocation failing until none is left to fail. */
static void fail_each_allocation(
    int (*act)(void *data, struct sv_err *err), void *data)
{
	unsigned long nth = 0;
	bool failed;

	do {
		struct sv_err err = {0};
		int code;

		plan(NULL, ++nth, ENOMEM);
		code = act(data, &err);
		failed = planned.failed;
		plan(NULL, 0, 0);
		if (code != 0 && code != SV_ERESOURCE)
			print_error("allocation %lu: code %d, %s\n", nth, code,
			    err.text);
		assert_true(code == 0 || code == SV_ERESOURCE);
		if (code != 0)
			assert_non_null(strstr(err.text, "out of memory"));
		assert_true(failed || code == 0);
	} while (failed);
	print_message("%lu allocations failed in turn\n", nth - 1);
	assert_true(nth > 3);
}

struct text {
	const char *bytes;
	size_t n;
	json_t *tree;
};

static int parse(void *data, struct sv_err *err)
{
	const struct text *text = data;
	struct sv_result *r = NULL;
	json_t *after;
	char lost[SV_LOSSLESS_PATH];
	int code = sv_result_parse(text->bytes, text->n, "t", &r, err);

	if (code != 0)
		return code;
	plan(NULL, 0, 0);
	/* What is read although memory ran out must be whole. */
	after = sv_result_to_json(r, SV_KEEP_ALL);
	assert_true(sv_lossless(text->tree, after, lost, 0));
	json_decref(after);
	sv_result_free(r);
	return 0;
}

static int read_file(void *data, struct sv_err *err)
{
	struct sv_result *r = NULL;
	int code = sv_result_read(data, &r, err);

	if (code == 0)
		sv_result_free(r);
	return code;
}

static int print(void *data, struct sv_err *err)
{
	static char room[1 << 16];
	FILE *out = fmemopen(room, sizeof room, "w");
	int code;

	if (out == NULL)
		return sv_err_set(err, SV_ERESOURCE, "out of memory");
	code = sv_result_print(data, out, SV_KEEP_ALL, err);
	__real_fclose(out);
	return code;
}

static int build(void *data, struct sv_err *err)
{
	const struct sv_result *from = data;
	struct sv_result *r = sv_result_new();
	int code =
	    r != NULL ? 0 : sv_err_set(err, SV_ERESOURCE, "out of memory");

	for (size_t i = 0; code == 0 && i < from->n_measurements; i++)
		code = sv_result_add(r, &from->measurements[i], err);
	if (code == 0)
		code = sv_result_add_skipped(r, &from->skipped[0], err);
	if (code == 0)
		code = sv_result_add_failure(r, &from->failures[0], err);
	sv_result_free(r);
	return code;
}

struct place {
	struct sv_result *r;
	const char *path;
};

static int write_file(void *data, struct sv_err *err)
{
	const struct place *place = data;

	return sv_result_write(place->r, place->path, SV_KEEP_ALL, err);
}

static struct sv_result *read_full(void)
{
	struct sv_result *r = NULL;
	struct sv_err err;

	assert_int_equal(sv_result_read(FULL, &r, &err), 0);
	return r;
}

/* The full file behind a long unknown key. */
static char *with_a_long_key(size_t *n)
{
	char *full = sv_slurp(FULL, NULL), *text, *key = malloc(LONG_KEY + 1);

	assert_non_null(key);
	memset(key, 'k', LONG_KEY);
	key[LONG_KEY] = '\0';
	assert_true(asprintf(&text, "{\"%s\":0,%s", key, full + 1) > 0);
	*n = strlen(text);
	free(key);
	free(full);
	return text;
}

static void parsing_survives_every_failed_allocation(void **state)
{
	struct text text;
	char *bytes = with_a_long_key(&text.n);

	(void)state;
	text.bytes = bytes;
	text.tree = json_loadb(bytes, text.n, 0, NULL);
	fail_each_allocation(parse, &text);
	json_decref(text.tree);
	free(bytes);
}

/* What is plain throughout is read by the fast reader alone. */
static void fast_parsing_survives_every_failed_allocation(void **state)
{
	struct text text;
	char *bytes = sv_slurp(SV_TEST_FIXTURES "/cli/a.json", &text.n);

	(void)state;
	text.bytes = bytes;
	text.tree = json_loadb(bytes, text.n, 0, NULL);
	fail_each_allocation(parse, &text);
	json_decref(text.tree);
	free(bytes);
}

static void reading_survives_every_failed_allocation(void **state)
{
	char *folder = sv_new_folder(), path[4096];
	size_t n;
	char *bytes = with_a_long_key(&n);

	(void)state;
	snprintf(path, sizeof path, "%s/r.json", folder);
	sv_spill(path, bytes, n);
	fail_each_allocation(read_file, path);
	free(bytes);
	sv_drop_folder(folder);
}

static void building_survives_every_failed_allocation(void **state)
{
	struct sv_result *r = read_full();

	(void)state;
	fail_each_allocation(build, r);
	sv_result_free(r);
}

static void printing_survives_every_failed_allocation(void **state)
{
	struct sv_result *r = read_full();

	(void)state;
	fail_each_allocation(print, r);
	sv_result_free(r);
}

static void writing_survives_every_failed_allocation(void **state)
{
	char *folder = sv_new_folder(), path[4096];
	struct place place = {read_full(), path};

	(void)state;
	snprintf(path, sizeof path, "%s/r.json", folder);
	fail_each_allocation(write_file, &place);
	assert_int_equal(sv_count_entries(folder), 1);
	sv_result_free(place.r);
	sv_drop_folder(folder);
}

/* The old file must be as it was, and alone. */
static void assert_untouched(const char *call, int cause, const char *what)
{
	char *folder = sv_new_folder(), path[4096], *kept;
	struct sv_result *r = read_full();
	struct sv_err err = {0};

	snprintf(path, sizeof path, "%s/r.json", folder);
	sv_spill(path, "old", 3);
	plan(call, 1, cause);
	assert_int_equal(
	    sv_result_write(r, path, SV_KEEP_ALL, &err), SV_EOUTPUT);
	plan(NULL, 0, 0);
	assert_non_null(strstr(err.text, what));
	assert_non_null(strstr(err.text, path));
	assert_non_null(strstr(err.text, strerror(cause)));
	kept = sv_slurp(path, NULL);
	assert_string_equal(kept, "old");
	assert_int_equal(sv_count_entries(folder), 1);
	free(kept);
	sv_result_free(r);
	sv_drop_folder(folder);
}

static void a_disk_that_is_full_at_the_sync_keeps_the_old_file(void **state)
{
	(void)state;
	assert_untouched("fsync", ENOSPC, "sync ");
}

static void a_disk_that_is_full_at_the_close_keeps_the_old_file(void **state)
{
	(void)state;
	assert_untouched("fclose", ENOSPC, "close ");
}

static void a_rename_that_fails_keeps_the_old_file(void **state)
{
	(void)state;
	assert_untouched("rename", EIO, "replace ");
}

/* The file is there by then; that the folder cannot be synced undoes nothing.
 */
static void a_folder_that_cannot_be_synced_is_no_failure(void **state)
{
	char *folder = sv_new_folder(), path[4096];
	struct sv_result *r = read_full(), *again = NULL;
	struct sv_err err = {0};

	(void)state;
	snprintf(path, sizeof path, "%s/r.json", folder);
	plan("fsync", 2, EINVAL);
	assert_int_equal(sv_result_write(r, path, SV_KEEP_ALL, &err), 0);
	assert_true(planned.failed);
	assert_int_equal(sv_result_read(path, &again, &err), 0);
	sv_result_free(again);
	sv_result_free(r);
	sv_drop_folder(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(parsing_survives_every_failed_allocation),
	    cmocka_unit_test(fast_parsing_survives_every_failed_allocation),
	    cmocka_unit_test(reading_survives_every_failed_allocation),
	    cmocka_unit_test(building_survives_every_failed_allocation),
	    cmocka_unit_test(printing_survives_every_failed_allocation),
	    cmocka_unit_test(writing_survives_every_failed_allocation),
	    cmocka_unit_test(
		a_disk_that_is_full_at_the_sync_keeps_the_old_file),
	    cmocka_unit_test(
		a_disk_that_is_full_at_the_close_keeps_the_old_file),
	    cmocka_unit_test(a_rename_that_fails_keeps_the_old_file),
	    cmocka_unit_test(a_folder_that_cannot_be_synced_is_no_failure),
	};

	json_set_alloc_funcs(jansson_malloc, free);
	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}

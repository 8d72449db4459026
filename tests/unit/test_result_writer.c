/* What is written: its numbers, its bytes, and how it takes a file's place. */
#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmocka_all.h"
#include "files.h"
#include "random.h"
#include "result.h"
#include "stave/units.h"

#define FULL SV_TEST_FIXTURES "/result/valid/full.json"

static struct sv_result *read_valid(const char *path)
{
	struct sv_result *r = NULL;
	struct sv_err err = {0};

	if (sv_result_read(path, &r, &err) != 0)
		print_error("%s\n", err.text);
	assert_non_null(r);
	return r;
}

/* The text of a result; the caller frees it. */
static char *print(const struct sv_result *r, enum sv_keep keep)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);
	struct sv_err err;

	assert_non_null(out);
	assert_int_equal(sv_result_print(r, out, keep, &err), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static struct sv_result *reread(const struct sv_result *r)
{
	char *text = print(r, SV_KEEP_ALL);
	struct sv_result *again = NULL;
	struct sv_err err = {0};

	if (sv_result_parse(text, strlen(text), "again", &again, &err) != 0)
		print_error("%s\n", err.text);
	assert_non_null(again);
	free(text);
	return again;
}

static struct sv_result *new_result(void)
{
	struct sv_result *r = sv_result_new();

	assert_non_null(r);
	r->run.id = "r";
	r->run.origin = "measured";
	return r;
}

static uint64_t bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	return bits;
}

/* Finite doubles of every kind, then as many at random as fit. */
static void fill_with_doubles(double *values, size_t n)
{
	static const double special[] = {0.0, -0.0, 1.0, -1.0, 0.1, 1.0 / 3.0,
	    DBL_MIN, DBL_MAX, -DBL_MAX, DBL_EPSILON, 5e-324, -5e-324, 1e308,
	    1e-308, 2.2250738585072011e-308, 9007199254740993.0, 1e15, 1e16,
	    1e17, 123456789012345678.0, 5e-7, 268435456.0};
	size_t n_special = sizeof special / sizeof *special;
	uint64_t state = 1;

	memcpy(values, special, sizeof special);
	for (size_t i = n_special; i < n;) {
		uint64_t bits = test_random(&state);

		memcpy(&values[i], &bits, sizeof bits);
		i += isfinite(values[i]) ? 1 : 0;
	}
}

static void doubles_come_back_bit_by_bit(void **state)
{
	enum {
		N = 20000
	};
	double *values = malloc(N * sizeof *values);
	struct sv_result *r = new_result(), *again;
	struct sv_measurement m = {.bench = "b",
	    .metric = "m",
	    .unit = SV_UNIT_SECONDS,
	    .rounds = values,
	    .n_rounds = N,
	    .summary = {N, 0.5, {NAN, NAN}, NAN, -DBL_MAX, 5e-324, NAN, NAN},
	    .source = -1};
	struct sv_err err;

	(void)state;
	assert_non_null(values);
	fill_with_doubles(values, N);
	assert_int_equal(sv_result_add(r, &m, &err), 0);
	again = reread(r);
	for (size_t i = 0; i < N; i++)
		assert_int_equal(bits_of(again->measurements[0].rounds[i]),
		    bits_of(values[i]));
	assert_int_equal(bits_of(again->measurements[0].summary.max), 1);
	sv_result_free(again);
	sv_result_free(r);
	free(values);
}

static void what_is_unknown_is_written_as_null(void **state)
{
	struct sv_result *r = new_result();
	struct sv_measurement m = {.bench = "b",
	    .metric = "m",
	    .unit = SV_UNIT_SECONDS,
	    .summary = {0, 1.0, {NAN, NAN}, NAN, NAN, NAN, NAN, NAN},
	    .source = -1};
	struct sv_failure failure = {
	    .bench = "b", .reason = "r", .kind = "exit", .value = NAN};
	struct sv_err err;
	char *text;

	(void)state;
	assert_int_equal(sv_result_add(r, &m, &err), 0);
	assert_int_equal(sv_result_add_failure(r, &failure, &err), 0);
	text = print(r, SV_KEEP_ALL);
	assert_non_null(strstr(text,
	    "\"summary\":{\"n\":0,\"median\":1.0,\"ci95\":null,\"mad\":null,"
	    "\"min\":null,\"max\":null,\"p05\":null,\"p95\":null},"
	    "\"reference\":null"));
	assert_non_null(strstr(text, "\"exit\":null"));
	assert_null(strstr(text, "nan"));
	sv_result_free(reread(r));
	free(text);
	sv_result_free(r);
}

static void the_same_result_gives_the_same_bytes(void **state)
{
	struct sv_result *r = read_valid(FULL), *again = reread(r);
	char *first = print(r, SV_KEEP_ALL), *second = print(r, SV_KEEP_ALL);
	char *third = print(again, SV_KEEP_ALL);

	(void)state;
	assert_string_equal(first, second);
	assert_string_equal(first, third);
	free(first);
	free(second);
	free(third);
	sv_result_free(again);
	sv_result_free(r);
}

static void a_measurement_takes_one_line(void **state)
{
	struct sv_result *r = read_valid(FULL);
	char *text = print(r, SV_KEEP_ALL), *line = text;
	size_t n = 0;

	(void)state;
	while ((line = strstr(line, "\n{\"id\":\"")) != NULL) {
		line += 1 + strcspn(line + 1, "\n");
		assert_true(line[-1] == '}' || line[-1] == ',');
		n++;
	}
	assert_int_equal(n, r->n_measurements);
	free(text);
	sv_result_free(r);
}

static void samples_can_be_left_out(void **state)
{
	struct sv_result *r = read_valid(FULL);
	char *text = print(r, SV_KEEP_SUMMARY);
	struct sv_result *again = NULL;
	struct sv_err err;

	(void)state;
	assert_null(strstr(text, "\"samples\""));
	assert_int_equal(
	    sv_result_parse(text, strlen(text), "t", &again, &err), 0);
	assert_int_equal(again->measurements[0].n_samples, 0);
	assert_int_equal(again->measurements[0].n_rounds, 6);
	sv_result_free(again);
	free(text);
	sv_result_free(r);
}

/* 60 measurements of 6 rounds of 100 samples. */
static void a_usual_run_takes_at_most_two_megabytes(void **state)
{
	double samples[100], rounds[6];
	struct sv_series series[6];
	struct sv_result_param param = {"i", NULL, 0};
	struct sv_result *r = new_result();
	struct sv_measurement m = {.bench = "b",
	    .metric = "m",
	    .params = &param,
	    .n_params = 1,
	    .unit = SV_UNIT_SECONDS,
	    .rounds = rounds,
	    .n_rounds = 6,
	    .samples = series,
	    .n_samples = 6,
	    .summary = {6, 1.0 / 3e5, {NAN, NAN}, NAN, NAN, NAN, NAN, NAN},
	    .source = -1};
	struct sv_err err;
	char *text;

	(void)state;
	for (size_t i = 0; i < 100; i++)
		samples[i] = 1.0 / (3e5 + (double)i);
	for (size_t i = 0; i < 6; i++) {
		rounds[i] = 1.0 / 3e5;
		series[i] = (struct sv_series){samples, 100};
	}
	for (; param.number < 60; param.number++)
		assert_int_equal(sv_result_add(r, &m, &err), 0);
	text = print(r, SV_KEEP_ALL);
	assert_true(strlen(text) < 2u << 20);
	free(text);
	sv_result_free(r);
}

static void unwritable_text_never_reaches_the_writer(void **state)
{
	struct sv_result *r = new_result(), *again;

	(void)state;
	r->run.label = sv_result_text(r, "caf\xe9");
	again = reread(r);
	assert_string_equal(again->run.label, "caf\xef\xbf\xbd");
	sv_result_free(again);
	sv_result_free(r);
}

static void a_file_is_created_and_replaced_whole(void **state)
{
	char *folder = sv_new_folder(), path[4096], *first, *second;
	struct sv_result *r = read_valid(FULL);
	struct sv_err err;

	(void)state;
	snprintf(path, sizeof path, "%s/r.json", folder);
	assert_int_equal(sv_result_write(r, path, SV_KEEP_ALL, &err), 0);
	first = sv_slurp(path, NULL);
	sv_spill(path, "something longer than the new file? no.", 39);
	assert_int_equal(sv_result_write(r, path, SV_KEEP_ALL, &err), 0);
	second = sv_slurp(path, NULL);
	assert_string_equal(first, second);
	assert_int_equal(sv_count_entries(folder), 1);
	free(first);
	free(second);
	sv_result_free(r);
	sv_drop_folder(folder);
}

static mode_t mode_of(const char *path)
{
	struct stat info;

	assert_int_equal(stat(path, &info), 0);
	return info.st_mode & 07777;
}

static void a_replaced_file_keeps_its_permissions(void **state)
{
	char *folder = sv_new_folder(), path[4096];
	struct sv_result *r = read_valid(FULL);
	mode_t mask = umask(027);
	struct sv_err err;

	(void)state;
	snprintf(path, sizeof path, "%s/r.json", folder);
	assert_int_equal(sv_result_write(r, path, SV_KEEP_ALL, &err), 0);
	assert_int_equal(mode_of(path), 0640);
	assert_int_equal(chmod(path, 0606), 0);
	assert_int_equal(sv_result_write(r, path, SV_KEEP_ALL, &err), 0);
	assert_int_equal(mode_of(path), 0606);
	umask(mask);
	sv_result_free(r);
	sv_drop_folder(folder);
}

static void a_symbolic_link_stays_and_its_target_is_replaced(void **state)
{
	char *folder = sv_new_folder(), path[4096], link[4096];
	struct sv_result *r = read_valid(FULL), *again;
	struct stat info;
	struct sv_err err;

	(void)state;
	snprintf(path, sizeof path, "%s/r.json", folder);
	snprintf(link, sizeof link, "%s/latest.json", folder);
	sv_spill(path, "old", 3);
	assert_int_equal(symlink("r.json", link), 0);
	assert_int_equal(sv_result_write(r, link, SV_KEEP_ALL, &err), 0);
	assert_int_equal(lstat(link, &info), 0);
	assert_true(S_ISLNK(info.st_mode));
	again = read_valid(path);
	sv_result_free(again);
	sv_result_free(r);
	sv_drop_folder(folder);
}

static void a_name_as_long_as_names_can_be_is_written(void **state)
{
	char *folder = sv_new_folder(), path[4096], name[256];
	struct sv_result *r = read_valid(FULL);
	struct sv_err err;

	(void)state;
	memset(name, 'n', 255);
	name[255] = '\0';
	snprintf(path, sizeof path, "%s/%s", folder, name);
	assert_int_equal(sv_result_write(r, path, SV_KEEP_ALL, &err), 0);
	assert_int_equal(sv_count_entries(folder), 1);
	sv_result_free(r);
	sv_drop_folder(folder);
}

static void assert_not_written(
    const struct sv_result *r, const char *path, const char *fragment)
{
	struct sv_err err = {0};

	assert_int_equal(
	    sv_result_write(r, path, SV_KEEP_ALL, &err), SV_EOUTPUT);
	if (strstr(err.text, fragment) == NULL)
		print_error("%s\n", err.text);
	assert_non_null(strstr(err.text, fragment));
	assert_non_null(strstr(err.text, path));
}

static void what_is_no_regular_file_is_never_replaced(void **state)
{
	char *folder = sv_new_folder(), pipe[4096], link[4096];
	struct sv_result *r = read_valid(FULL);
	const char *why = "it exists and is not a regular file";
	struct stat info;

	(void)state;
	snprintf(pipe, sizeof pipe, "%s/pipe", folder);
	snprintf(link, sizeof link, "%s/link", folder);
	assert_int_equal(mkfifo(pipe, 0600), 0);
	assert_int_equal(symlink("/dev/null", link), 0);
	assert_not_written(r, "/dev/null", why);
	assert_not_written(r, "/dev/full", why);
	assert_not_written(r, folder, why);
	assert_not_written(r, pipe, why);
	assert_not_written(r, link, why);
	assert_int_equal(stat("/dev/null", &info), 0);
	assert_true(S_ISCHR(info.st_mode));
	assert_int_equal(sv_count_entries(folder), 2);
	sv_result_free(r);
	sv_drop_folder(folder);
}

static void a_place_that_cannot_hold_a_file_is_an_error(void **state)
{
	char *folder = sv_new_folder(), path[4096];
	struct sv_result *r = read_valid(FULL);

	(void)state;
	snprintf(path, sizeof path, "%s/nowhere/r.json", folder);
	assert_not_written(r, path, strerror(ENOENT));
	snprintf(path, sizeof path, "%s/dangling", folder);
	assert_int_equal(symlink("nowhere/r.json", path), 0);
	assert_not_written(r, path, strerror(ENOENT));
	assert_not_written(r, "", strerror(ENOENT));
	assert_not_written(r, FULL "/r.json", strerror(ENOTDIR));
	assert_int_equal(sv_count_entries(folder), 1);
	sv_result_free(r);
	sv_drop_folder(folder);
}

/* The limit on file sizes stands for a full disk. */
static void a_full_disk_leaves_the_old_file_and_nothing_beside(void **state)
{
	char *folder = sv_new_folder(), path[4096], *kept;
	struct sv_result *r = read_valid(FULL);
	struct rlimit before, small;
	struct sv_err err = {0};
	int code;

	(void)state;
	snprintf(path, sizeof path, "%s/r.json", folder);
	sv_spill(path, "old", 3);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = before;
	small.rlim_cur = 1000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	code = sv_result_write(r, path, SV_KEEP_ALL, &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(code, SV_EOUTPUT);
	assert_non_null(strstr(err.text, strerror(EFBIG)));
	kept = sv_slurp(path, NULL);
	assert_string_equal(kept, "old");
	assert_int_equal(sv_count_entries(folder), 1);
	free(kept);
	sv_result_free(r);
	sv_drop_folder(folder);
}

static void printing_to_a_full_device_is_an_error(void **state)
{
	struct sv_result *r = read_valid(FULL);
	FILE *out = fopen("/dev/full", "w");
	struct sv_err err = {0};

	(void)state;
	assert_non_null(out);
	assert_int_equal(
	    sv_result_print(r, out, SV_KEEP_ALL, &err), SV_EOUTPUT);
	assert_non_null(strstr(err.text, strerror(ENOSPC)));
	fclose(out);
	sv_result_free(r);
}

/* For the check by an independent validator, which runs after this. */
static void what_the_product_writes_is_left_for_the_validator(void **state)
{
	struct sv_result *r = read_valid(FULL);
	struct sv_err err;

	(void)state;
	assert_int_equal(
	    sv_result_write(
		r, SV_TEST_BINARY_DIR "/written_full.json", SV_KEEP_ALL, &err),
	    0);
	sv_result_free(r);
	r = read_valid(SV_TEST_FIXTURES "/result/valid/only_a_median.json");
	assert_int_equal(
	    sv_result_write(r, SV_TEST_BINARY_DIR "/written_partial.json",
		SV_KEEP_SUMMARY, &err),
	    0);
	sv_result_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(doubles_come_back_bit_by_bit),
	    cmocka_unit_test(what_is_unknown_is_written_as_null),
	    cmocka_unit_test(the_same_result_gives_the_same_bytes),
	    cmocka_unit_test(a_measurement_takes_one_line),
	    cmocka_unit_test(samples_can_be_left_out),
	    cmocka_unit_test(a_usual_run_takes_at_most_two_megabytes),
	    cmocka_unit_test(unwritable_text_never_reaches_the_writer),
	    cmocka_unit_test(a_file_is_created_and_replaced_whole),
	    cmocka_unit_test(a_replaced_file_keeps_its_permissions),
	    cmocka_unit_test(a_symbolic_link_stays_and_its_target_is_replaced),
	    cmocka_unit_test(a_name_as_long_as_names_can_be_is_written),
	    cmocka_unit_test(what_is_no_regular_file_is_never_replaced),
	    cmocka_unit_test(a_place_that_cannot_hold_a_file_is_an_error),
	    cmocka_unit_test(
		a_full_disk_leaves_the_old_file_and_nothing_beside),
	    cmocka_unit_test(printing_to_a_full_device_is_an_error),
	    cmocka_unit_test(what_the_product_writes_is_left_for_the_validator),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}

/*
 * What the reader takes and what it refuses, each refusal one clear line: a
 * corpus of small files, and files that no corpus should hold.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmocka_all.h"
#include "files.h"
#include "lossless.h"
#include "near.h"
#include "result.h"

#define CORPUS SV_TEST_FIXTURES "/result"

/* One line that names the file. */
static void assert_clear_line(const struct sv_err *err, const char *name)
{
	assert_null(strpbrk(err->text, "\n\r\t"));
	assert_non_null(strstr(err->text, name));
	assert_true(strlen(err->text) < sizeof err->text - 1);
}

static void assert_refused(const char *path, const char *fragment)
{
	struct sv_result *untouched = (struct sv_result *)&untouched;
	struct sv_result *r = untouched;
	struct sv_err err = {0};
	int code = sv_result_read(path, &r, &err);

	if (code != SV_EINPUT || strstr(err.text, fragment) == NULL)
		print_error("%s: code %d, \"%s\" without \"%s\"\n", path, code,
		    err.text, fragment);
	assert_int_equal(code, SV_EINPUT);
	assert_int_equal(err.code, SV_EINPUT);
	assert_non_null(strstr(err.text, fragment));
	assert_clear_line(&err, path);
	assert_ptr_equal(r, untouched);
}

static struct sv_result *read_valid(const char *path)
{
	struct sv_result *r = NULL;
	struct sv_err err = {0};

	if (sv_result_read(path, &r, &err) != 0)
		print_error("%s\n", err.text);
	assert_non_null(r);
	return r;
}

static struct sv_result *parse_valid(const char *text)
{
	struct sv_result *r = NULL;
	struct sv_err err = {0};

	if (sv_result_parse(text, strlen(text), "text", &r, &err) != 0)
		print_error("%s\n", err.text);
	assert_non_null(r);
	return r;
}

static size_t each_json(const char *folder, void (*visit)(const char *path))
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	char path[4096];
	size_t n = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		size_t length = strlen(entry->d_name);

		if (length < 5 ||
		    strcmp(entry->d_name + length - 5, ".json") != 0)
			continue;
		snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		visit(path);
		n++;
	}
	closedir(dir);
	return n;
}

static void visit_invalid(const char *path)
{
	char note[4096], *fragment;

	snprintf(note, sizeof note, "%.*s.txt", (int)(strlen(path) - 5), path);
	fragment = sv_slurp(note, NULL);
	fragment[strcspn(fragment, "\n")] = '\0';
	assert_true(strlen(fragment) > 0);
	assert_refused(path, fragment);
	free(fragment);
}

static void every_invalid_file_is_refused_as_its_note_says(void **state)
{
	(void)state;
	assert_true(each_json(CORPUS "/invalid", visit_invalid) >= 100);
}

static void visit_valid(const char *path)
{
	struct sv_result *r = read_valid(path);
	json_t *before = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
	json_t *after = sv_result_to_json(r, SV_KEEP_ALL);
	char lost[SV_LOSSLESS_PATH] = "";

	assert_non_null(before);
	assert_non_null(after);
	if (!sv_lossless(before, after, lost, 0))
		print_error("%s: lost %s\n", path, lost);
	assert_true(sv_lossless(before, after, lost, 0));
	json_decref(before);
	json_decref(after);
	sv_result_free(r);
}

static void every_valid_file_is_read_and_nothing_of_it_lost(void **state)
{
	(void)state;
	assert_true(each_json(CORPUS "/valid", visit_valid) >= 12);
}

static void a_full_file_is_in_the_model_field_by_field(void **state)
{
	struct sv_result *r = read_valid(CORPUS "/valid/full.json");
	const struct sv_measurement *m;

	(void)state;
	assert_string_equal(r->run.label, "desk, before the move");
	assert_string_equal(r->run.version, "0.1.0");
	assert_true(r->run.complete);
	assert_int_equal(r->run.n_sources, 2);
	assert_string_equal(r->run.sources[1].title, "Another");
	assert_null(r->run.sources[1].where);
	assert_int_equal(r->n_measurements, 5);
	m = sv_result_find(r, "transfer/bandwidth?bytes=268435456&direction="
			      "h2d&memory=pinned");
	assert_ptr_equal(m, &r->measurements[0]);
	assert_int_equal(m->n_params, 3);
	assert_int_equal(m->params[0].number, 268435456);
	assert_string_equal(m->params[2].text, "pinned");
	assert_true(m->higher_is_better);
	assert_int_equal(m->n_rounds, 6);
	assert_int_equal(m->n_samples, 6);
	assert_int_equal(m->samples[1].n, 3);
	assert_near(m->samples[1].values[2], 12.39e9, 0.0);
	assert_true(m->has_reference);
	assert_near(m->reference, 25e9, 0.0);
	assert_int_equal(m->check, SV_CHECK_PASS);
	assert_int_equal(m->source, -1);
	m = &r->measurements[1];
	assert_false(m->higher_is_better);
	assert_int_equal(m->inner, 512);
	assert_int_equal(m->n_flags, 2);
	assert_string_equal(m->flags[1], "drift");
	assert_int_equal(r->measurements[2].check, SV_CHECK_FAIL);
	assert_int_equal(r->measurements[2].source, 1);
	assert_true(isnan(r->measurements[3].summary.ci95.lo));
	assert_string_equal(r->skipped[0].code, "unsupported");
	assert_string_equal(r->failures[0].kind, "signal");
	assert_near(r->failures[0].value, 11.0, 0.0);
	assert_string_equal(
	    json_string_value(sv_result_field(r->machine, "storage.transport")),
	    "nvme");
	sv_result_free(r);
}

static void what_rounds_imply_is_filled_in(void **state)
{
	struct sv_result *r = read_valid(CORPUS "/valid/only_rounds.json");
	const struct sv_summary *s = &r->measurements[0].summary;

	(void)state;
	assert_int_equal(s->n, 3);
	assert_near(s->median, 2.0, 0.0);
	assert_true(isnan(s->ci95.lo) && isnan(s->ci95.hi));
	assert_true(isnan(s->mad) && isnan(s->min));
	sv_result_free(r);
}

static void an_interval_that_is_null_stays_unknown(void **state)
{
	struct sv_result *said =
	    read_valid(CORPUS "/valid/no_interval_said.json");
	struct sv_result *unsaid = parse_valid(
	    "{\"schema\":\"stave.result/1\",\"run\":{\"id\":\"r\",\"complete\":"
	    "true,\"origin\":\"measured\"},\"machine\":{},\"device\":{},"
	    "\"measurements\":[{\"bench\":\"b\",\"metric\":\"m\",\"unit\":\"s\""
	    ",\"better\":\"lower\",\"rounds\":[6,5,4,3,2,1]}]}");

	(void)state;
	assert_true(isnan(said->measurements[0].summary.ci95.lo));
	assert_near(said->measurements[0].summary.median, 3.5, 0.0);
	assert_near(unsaid->measurements[0].summary.ci95.lo, 1.0, 0.0);
	assert_near(unsaid->measurements[0].summary.ci95.hi, 6.0, 0.0);
	sv_result_free(said);
	sv_result_free(unsaid);
}

static void a_missing_file_is_refused(void **state)
{
	(void)state;
	assert_refused(CORPUS "/valid/not_there.json", strerror(ENOENT));
	assert_refused(CORPUS "/valid/full.json/x", strerror(ENOTDIR));
}

static void a_folder_and_a_device_are_refused(void **state)
{
	(void)state;
	assert_refused(CORPUS, "expected a result file, found a folder");
	assert_refused("/dev/null", "expected a result file, found a device");
	assert_refused("/dev/zero", "expected a result file, found a device");
}

static void a_pipe_without_a_writer_is_empty_not_a_wait(void **state)
{
	char *folder = sv_new_folder(), path[4096];

	(void)state;
	snprintf(path, sizeof path, "%s/pipe", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_refused(path, "found an empty file");
	sv_drop_folder(folder);
}

/* `stave show <(zcat result.json.gz)` */
static void a_pipe_is_read_to_its_end(void **state)
{
	char *text = sv_slurp(CORPUS "/valid/full.json", NULL);
	size_t n = strlen(text);
	struct sv_result *r;
	char path[64];
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], text, n), n);
	close(ends[1]);
	snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
	r = read_valid(path);
	assert_int_equal(r->n_measurements, 5);
	sv_result_free(r);
	close(ends[0]);
	free(text);
}

/* A sparse file: its size is there, its bytes take no disk. */
static void make_sparse(const char *path, off_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, size), 0);
	close(fd);
}

static void a_huge_file_is_refused(void **state)
{
	char *folder = sv_new_folder(), path[4096];

	(void)state;
	snprintf(path, sizeof path, "%s/huge.json", folder);
	make_sparse(path, (off_t)100 << 20);
	assert_refused(path, ": line 1, column 1: expected JSON, found: ");
	make_sparse(path, (off_t)1 << 40);
	assert_refused(path, "expected at most 256 MiB, found a larger file");
	sv_drop_folder(folder);
}

static void assert_text_refused(
    const char *text, size_t n, const char *fragment)
{
	struct sv_result *r = NULL;
	struct sv_err err = {0};

	assert_int_equal(
	    sv_result_parse(text, n, "deep.json", &r, &err), SV_EINPUT);
	assert_null(r);
	assert_clear_line(&err, "deep.json");
	if (strstr(err.text, fragment) == NULL)
		print_error("%s\n", err.text);
	assert_non_null(strstr(err.text, fragment));
}

static void deep_nesting_is_refused(void **state)
{
	size_t n = 1000000;
	char *text = malloc(2 * n);

	(void)state;
	assert_non_null(text);
	memset(text, '[', n);
	memset(text + n, ']', n);
	assert_text_refused(text, 2 * n, "maximum parsing depth reached");
	for (size_t i = 0; i + 5 < n; i += 5)
		memcpy(text + i, "{\"a\":", 5);
	assert_text_refused(text, n, "maximum parsing depth reached");
	free(text);
}

static void a_file_cut_anywhere_is_refused(void **state)
{
	size_t n;
	char *text = sv_slurp(CORPUS "/valid/full.json", &n);
	struct sv_err err;

	(void)state;
	for (size_t cut = 0; cut + 2 < n; cut++) {
		struct sv_result *r = NULL;

		if (sv_result_parse(text, cut, "cut", &r, &err) != SV_EINPUT)
			print_error("cut at %zu of %zu was read\n", cut, n);
		assert_null(r);
	}
	free(text);
}

static void a_name_and_a_key_of_any_length_leave_the_cause_readable(
    void **state)
{
	size_t n = 100000;
	char *text = malloc(n + 400);
	size_t used = (size_t)sprintf(text,
	    "{\"schema\":\"stave.result/1\",\"run\":{\"id\":\"r\",\"complete\":"
	    "true,\"origin\":\"measured\"},\"machine\":{},\"device\":{},"
	    "\"measurements\":[{\"bench\":\"b\",\"metric\":\"m\",\"unit\":\"s\""
	    ",\"better\":\"lower\",\"params\":{\"");

	(void)state;
	memset(text + used, 'k', n);
	strcpy(text + used + n, "\":null}}]}");
	assert_text_refused(
	    text, strlen(text), "expected text or a whole number, found null");
	strcpy(text + used + n, "\":1}}]}");
	assert_text_refused(text, strlen(text), "id: expected at most 1023");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_invalid_file_is_refused_as_its_note_says),
	    cmocka_unit_test(every_valid_file_is_read_and_nothing_of_it_lost),
	    cmocka_unit_test(a_full_file_is_in_the_model_field_by_field),
	    cmocka_unit_test(what_rounds_imply_is_filled_in),
	    cmocka_unit_test(an_interval_that_is_null_stays_unknown),
	    cmocka_unit_test(a_missing_file_is_refused),
	    cmocka_unit_test(a_folder_and_a_device_are_refused),
	    cmocka_unit_test(a_pipe_without_a_writer_is_empty_not_a_wait),
	    cmocka_unit_test(a_pipe_is_read_to_its_end),
	    cmocka_unit_test(a_huge_file_is_refused),
	    cmocka_unit_test(deep_nesting_is_refused),
	    cmocka_unit_test(a_file_cut_anywhere_is_refused),
	    cmocka_unit_test(
		a_name_and_a_key_of_any_length_leave_the_cause_readable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}

/* Result files: read, refused, written, and read again. */
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmocka_all.h"
#include "near.h"
#include "result.h"
#include "sample_result.h"

static struct sv_result *parse(const char *text)
{
	struct sv_result *r = NULL;
	struct sv_err err = {0};
	int code = sv_result_parse(text, strlen(text), "t", &r, &err);

	if (code != 0)
		print_error("%s\n", err.text);
	assert_int_equal(code, 0);
	return r;
}

static void a_whole_file_is_read(void **state)
{
	struct sv_result *r = parse(sample_result);
	const struct sv_measurement *m =
	    sv_result_find(r, "transfer/bandwidth?bytes=4096&direction=h2d");

	(void)state;
	assert_int_equal(r->n_measurements, 2);
	assert_non_null(m);
	assert_int_equal(m->n_rounds, 3);
	assert_int_equal(m->samples[1].n, 2);
	assert_true(m->higher_is_better && m->has_reference);
	assert_string_equal(m->reference_what, "the link");
	assert_int_equal(m->check, SV_CHECK_PASS);
	assert_true(isnan(m->summary.ci95.lo));
	assert_int_equal(m->source, 0);
	assert_string_equal(r->run.sources[0].title, "T");
	assert_string_equal(r->failures[0].kind, "signal");
	assert_near(r->failures[0].value, 11.0, 0.0);
	assert_near(json_number_value(
			sv_result_field(r->device, "pcie.under_load.width")),
	    8.0, 0.0);
	assert_null(sv_result_field(r->device, "pcie.under_load.none"));
	m = sv_result_find(r, "launch/submit");
	assert_non_null(m);
	assert_near(m->summary.median, 2.5e-6, 0.0);
	assert_null(sv_result_find(r, "launch/gap"));
	sv_result_free(r);
}

/* The text with the first `old` replaced. */
static char *replaced(const char *old, const char *new)
{
	const char *at = strstr(sample_result, old);
	char *out;

	assert_non_null(at);
	assert_true(asprintf(&out, "%.*s%s%s", (int)(at - sample_result),
			sample_result, new, at + strlen(old)) > 0);
	return out;
}

static void what_is_wrong_is_named_with_its_place(void **state)
{
	static const struct {
		const char *old, *new, *says;
	} cases[] = {
	    {"stave.result/1", "stave.result/2", "schema"},
	    {"\"complete\": true", "\"complete\": 1", "complete"},
	    {"\"published\"", "\"guessed\"", "origin"},
	    {"\"machine\": {", "\"macxine\": {", "machine"},
	    {"\"measurements\": [", "\"measurement\": [", "measurements"},
	    {"\"higher\"", "\"up\"", "measurements[0]: better"},
	    {"\"B/s\"", "\"GB/s\"", "measurements[0]: unit"},
	    {"[1.5e9, 1.25e9, 1.375e9]", "[1.5e9, \"x\", 1.375e9]",
		"rounds[1]"},
	    {"[1.5e9, 1.25e9, 1.375e9]", "[1.5e9, null, 1.375e9]", "rounds[1]"},
	    {"[1.5e9, 1.25e9, 1.375e9]", "[1.5e9, 1.25e9]", "samples"},
	    {"\"median\": 1.375e9", "\"median\": 1.6e9", "summary.median"},
	    {"\"n\": 3", "\"n\": 4", "summary.n"},
	    {"\"n\": 3", "\"n\": -1", "n: expected a whole number"},
	    {"\"n\": 3", "\"n\": 3.5", "n: expected a whole number"},
	    {"bytes=4096&", "bytes=4097&", "id"},
	    {"\"bytes\": 4096", "\"bytes\": 4096.5", "params.bytes"},
	    {"\"bytes\": 4096", "\"bytes\": true", "params.bytes"},
	    {"\"inner\": 128", "\"inner\": -1", "inner"},
	    {"\"source\": 0", "\"source\": 1", "source"},
	    {"\"pass\"", "\"maybe\"", "check.status"},
	    {"[\"noisy\"]", "[3]", "flags[0]"},
	    {"\"ci95\": null", "\"ci95\": [2, 1]", "ci95"},
	    {"\"ci95\": null", "\"ci95\": [1]", "ci95"},
	    {"\"value\": 2e9", "\"value\": null", "reference"},
	    {"2.5e-6", "null", "measurements[1]"},
	    {"2.5e-6", "NaN", "line"},
	    {"2.5e-6", "1e999", "line"},
	    {"2.5e-6", "-", "line"},
	    {"\"code\": \"unsupported\"", "\"kode\": \"u\"",
		"skipped[0]: code"},
	    {"\"round\": 2}]}\n", "\"round\": 2}]} {}", "line"},
	    {"\"round\": 2}]}\n", "\"round\": 2}]", "line"},
	    {"\"id\": \"r1\"", "\"id\": \"r1\", \"id\": \"r2\"", "line"},
	    {"{\"schema\"", "\xef\xbb\xbf{\"schema\"", "line"},
	    {"\"one\", \"profile\"", "\"\xff\", \"profile\"", "line"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char *text = replaced(cases[i].old, cases[i].new);
		struct sv_result *r = NULL;
		struct sv_err err = {0};
		int code = sv_result_parse(text, strlen(text), "t", &r, &err);

		if (code == 0 || strstr(err.text, cases[i].says) == NULL)
			print_error("case %zu: %s\n", i, err.text);
		assert_int_equal(code, SV_EINPUT);
		assert_non_null(strstr(err.text, cases[i].says));
		assert_null(strchr(err.text, '\n'));
		assert_null(r);
		free(text);
	}
}

static void two_measurements_of_one_id_are_refused(void **state)
{
	char *text = replaced("\"launch\", \"metric\": \"submit\"",
	    "\"transfer\", \"metric\": \"bandwidth\", \"params\": "
	    "{\"bytes\": 4096, \"direction\": \"h2d\"}");
	struct sv_result *r = NULL;
	struct sv_err err;

	(void)state;
	assert_int_equal(
	    sv_result_parse(text, strlen(text), "t", &r, &err), SV_EINPUT);
	assert_non_null(strstr(err.text, "measurements[1]"));
	free(text);
}

static void what_is_no_file_is_refused(void **state)
{
	struct sv_result *r = NULL;
	struct sv_err err;

	(void)state;
	assert_int_equal(sv_result_read("/", &r, &err), SV_EINPUT);
	assert_int_equal(
	    sv_result_read("/nowhere/at/all", &r, &err), SV_EINPUT);
	assert_non_null(strstr(err.text, "/nowhere/at/all"));
	assert_int_equal(sv_result_read("/dev/null", &r, &err), SV_EINPUT);
	assert_non_null(strstr(err.text, "empty"));
}

/* A name in a folder of this test's own. */
static char folder[64];

static const char *path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

static void what_is_written_reads_back_the_same(void **state)
{
	struct sv_result *r = parse(sample_result), *again;
	struct sv_err err;
	json_t *before, *after;

	(void)state;
	assert_int_equal(
	    sv_result_write(r, path_of("a.json"), SV_KEEP_ALL, &err), 0);
	assert_int_equal(sv_result_read(path_of("a.json"), &again, &err), 0);
	before = sv_result_to_json(r, SV_KEEP_ALL);
	after = sv_result_to_json(again, SV_KEEP_ALL);
	assert_true(json_equal(before, after));
	/* Keys that this version does not know are still there. */
	assert_non_null(sv_result_field(after, "run.seed"));
	assert_non_null(json_object_get(
	    json_array_get(json_object_get(after, "failures"), 0), "round"));
	json_decref(before);
	json_decref(after);
	sv_result_free(again);
	sv_result_free(r);
}

static void every_double_survives(void **state)
{
	static const double odd[] = {0.1, 1.0 / 3.0, 5e-324,
	    2.2250738585072e-308, 1.7976931348623157e308, -0.0,
	    123456789.123456789, 1e-17, 3.0};
	struct sv_result *r = sv_result_new(), *again;
	struct sv_err err;
	const size_t n = sizeof odd / sizeof odd[0];
	struct sv_measurement m = {.bench = "b",
	    .metric = "m",
	    .unit = "s",
	    .rounds = odd,
	    .n_rounds = n,
	    .source = -1};

	(void)state;
	m.summary = (struct sv_summary){.n = n,
	    .median = 0.1,
	    .ci95 = {NAN, NAN},
	    .mad = NAN,
	    .min = NAN,
	    .max = NAN,
	    .p05 = NAN,
	    .p95 = NAN};
	r->run.id = r->run.label = "x";
	assert_int_equal(sv_result_add(r, &m, &err), 0);
	assert_int_equal(sv_result_add(r, &m, &err), SV_EINPUT);
	assert_int_equal(
	    sv_result_write(r, path_of("d.json"), SV_KEEP_ALL, &err), 0);
	assert_int_equal(sv_result_read(path_of("d.json"), &again, &err), 0);
	assert_memory_equal(again->measurements[0].rounds, odd, sizeof odd);
	sv_result_free(again);
	sv_result_free(r);
}

static void samples_are_dropped_on_request(void **state)
{
	struct sv_result *r = parse(sample_result);
	json_t *tree = sv_result_to_json(r, SV_KEEP_SUMMARY);
	json_t *first =
	    json_array_get(json_object_get(tree, "measurements"), 0);

	(void)state;
	assert_null(json_object_get(first, "samples"));
	assert_int_equal(json_array_size(json_object_get(first, "rounds")), 3);
	json_decref(tree);
	sv_result_free(r);
}

static void a_device_is_never_replaced(void **state)
{
	struct sv_result *r = parse(sample_result);
	struct sv_err err;
	struct stat info;

	(void)state;
	assert_int_equal(
	    sv_result_write(r, "/dev/full", SV_KEEP_ALL, &err), SV_EOUTPUT);
	assert_int_equal(stat("/dev/full", &info), 0);
	assert_true(S_ISCHR(info.st_mode));
	assert_int_equal(
	    sv_result_write(r, folder, SV_KEEP_ALL, &err), SV_EOUTPUT);
	assert_int_equal(
	    sv_result_write(r, path_of("no/where"), SV_KEEP_ALL, &err),
	    SV_EOUTPUT);
	sv_result_free(r);
}

static void a_full_disk_leaves_the_old_file(void **state)
{
	struct sv_result *r = parse(sample_result), *old;
	struct rlimit before, tiny;
	struct sv_err err;

	(void)state;
	assert_int_equal(
	    sv_result_write(r, path_of("f.json"), SV_KEEP_ALL, &err), 0);
	/* The kernel refuses to write on, as a full disk does. */
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	tiny = before;
	tiny.rlim_cur = 100;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tiny), 0);
	assert_int_equal(
	    sv_result_write(r, path_of("f.json"), SV_KEEP_ALL, &err),
	    SV_EOUTPUT);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_non_null(strstr(err.text, "f.json"));
	assert_int_equal(sv_result_read(path_of("f.json"), &old, &err), 0);
	sv_result_free(old);
	sv_result_free(r);
}

static void nothing_temporary_is_left(void **state)
{
	char command[160];

	(void)state;
	snprintf(
	    command, sizeof command, "test -z \"$(ls %s | grep tmp)\"", folder);
	assert_int_equal(system(command), 0);
}

static void ids_sort_their_keys(void **state)
{
	const struct sv_result_param params[] = {
	    {"b", NULL, -5}, {"a", "x", 0}, {"B", NULL, 1}};
	struct sv_err err;
	char id[64];

	(void)state;
	assert_int_equal(
	    sv_result_id(id, sizeof id, "w", "m", params, 3, &err), 0);
	assert_string_equal(id, "w/m?B=1&a=x&b=-5");
	assert_int_equal(
	    sv_result_id(id, sizeof id, "w", "m", params, 0, &err), 0);
	assert_string_equal(id, "w/m");
	assert_int_equal(
	    sv_result_id(id, 8, "w", "m", params, 3, &err), SV_EINPUT);
	assert_int_equal(
	    sv_result_id(id, sizeof id, "", "m", params, 0, &err), SV_EINPUT);
}

/* Every file of the scenarios that are shared beside the checkout. */
static void shared_scenarios_read_and_write_back(void **state)
{
	static const char *const names[] = {"S01-launch-bound/a.json",
	    "S08-numa/b.json", "N06-idle-gen1/b.json", "S11-reset/b.json"};
	char path[512];

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct sv_result *r;
		struct sv_err err = {0};
		json_t *file, *tree;

		snprintf(path, sizeof path, "%s/../../../shared/cases/%s",
		    SV_TEST_FIXTURES, names[i]);
		if (access(path, R_OK) != 0)
			skip();
		assert_int_equal(sv_result_read(path, &r, &err), 0);
		file = json_load_file(path, 0, NULL);
		tree = sv_result_to_json(r, SV_KEEP_ALL);
		/* What they leave out is written as nothing, so add it. */
		assert_true(json_object_size(tree) >= json_object_size(file));
		assert_true(json_equal(json_object_get(tree, "machine"),
		    json_object_get(file, "machine")));
		assert_true(json_equal(json_object_get(tree, "measurements"),
		    json_object_get(file, "measurements")));
		json_decref(file);
		json_decref(tree);
		sv_result_free(r);
	}
}

static int make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof folder, "/tmp/stave-test-XXXXXX");
	return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
	char command[96];

	(void)state;
	snprintf(command, sizeof command, "rm -r %s", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_whole_file_is_read),
	    cmocka_unit_test(what_is_wrong_is_named_with_its_place),
	    cmocka_unit_test(two_measurements_of_one_id_are_refused),
	    cmocka_unit_test(what_is_no_file_is_refused),
	    cmocka_unit_test(what_is_written_reads_back_the_same),
	    cmocka_unit_test(every_double_survives),
	    cmocka_unit_test(samples_are_dropped_on_request),
	    cmocka_unit_test(a_device_is_never_replaced),
	    cmocka_unit_test(a_full_disk_leaves_the_old_file),
	    cmocka_unit_test(nothing_temporary_is_left),
	    cmocka_unit_test(ids_sort_their_keys),
	    cmocka_unit_test(shared_scenarios_read_and_write_back),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder) != 0;
}

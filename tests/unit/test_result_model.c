/* Canonical ids, adding, finding, and what a result owns. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cmocka_all.h"
#include "result.h"
#include "stave/units.h"

static const double six[] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0};

/* A measurement that is in order; tests spoil one thing of it. */
static struct sv_measurement good_one(void)
{
	return (struct sv_measurement){.bench = "memory",
	    .metric = "bandwidth",
	    .unit = SV_UNIT_BYTES_PER_SECOND,
	    .higher_is_better = true,
	    .rounds = six,
	    .n_rounds = 6,
	    .summary = {6, 3.5, {1.0, 6.0}, 1.5, 1.0, 6.0, 1.25, 5.75},
	    .source = -1};
}

static void assert_id(
    const struct sv_result_param *params, size_t n, const char *expected)
{
	char id[SV_RESULT_MAX_ID];
	struct sv_err err = {0};

	assert_int_equal(
	    sv_result_id(id, sizeof id, "b", "m", params, n, &err), 0);
	assert_string_equal(id, expected);
}

static void assert_no_id(const char *bench, const char *metric,
    const struct sv_result_param *params, size_t n, const char *fragment)
{
	char id[32] = "untouched";
	struct sv_err err = {0};

	assert_int_equal(
	    sv_result_id(id, sizeof id, bench, metric, params, n, &err),
	    SV_EINPUT);
	if (strstr(err.text, fragment) == NULL)
		print_error("%s\n", err.text);
	assert_non_null(strstr(err.text, fragment));
}

static void ids_sort_their_keys_bytewise(void **state)
{
	const struct sv_result_param params[] = {{"b", NULL, 2}, {"a", "x", 0},
	    {"B", NULL, -1}, {"a1", NULL, 3}, {"_", "y", 0}};

	(void)state;
	assert_id(params, 5, "b/m?B=-1&_=y&a=x&a1=3&b=2");
}

static void an_id_without_parameters_has_no_question_mark(void **state)
{
	(void)state;
	assert_id(NULL, 0, "b/m");
}

static void whole_numbers_are_plain_over_their_full_range(void **state)
{
	const struct sv_result_param params[] = {{"high", NULL, INT64_MAX},
	    {"low", NULL, INT64_MIN}, {"zero", NULL, 0}};

	(void)state;
	assert_id(params, 3,
	    "b/m?high=9223372036854775807&low=-9223372036854775808&zero=0");
}

static void an_ambiguous_part_makes_no_id(void **state)
{
	static const char *const bad_names[] = {
	    "", "a b", "a?", "a&b", "a/b", "a=b", "a\n", "\177"};
	struct sv_result_param param = {"k", "1&j=2", 0};

	(void)state;
	assert_no_id("b", "m", &param, 1, "value of a parameter: expected");
	for (size_t i = 0; i < sizeof bad_names / sizeof *bad_names; i++) {
		param = (struct sv_result_param){bad_names[i], NULL, 1};
		assert_no_id(bad_names[i], "m", NULL, 0, "bench: expected");
		assert_no_id("b", bad_names[i], NULL, 0, "metric: expected");
		assert_no_id("b", "m", &param, 1, "name of a parameter");
	}
}

static void a_key_that_is_there_twice_makes_no_id(void **state)
{
	const struct sv_result_param params[] = {
	    {"k", NULL, 1}, {"j", NULL, 1}, {"k", NULL, 2}};

	(void)state;
	assert_no_id("b", "m", params, 3, "params: k is there twice");
}

static void an_id_that_does_not_fit_is_an_error_not_a_shorter_id(void **state)
{
	const struct sv_result_param param = {"key", NULL, 12345678};
	char id[64];
	struct sv_err err;
	size_t full = strlen("bench/metric?key=12345678");

	(void)state;
	assert_int_equal(
	    sv_result_id(id, full + 1, "bench", "metric", &param, 1, &err), 0);
	for (size_t size = 1; size <= full; size++) {
		assert_int_equal(
		    sv_result_id(id, size, "bench", "metric", &param, 1, &err),
		    SV_EINPUT);
		assert_non_null(strstr(err.text, "id: expected at most"));
	}
}

static void a_result_copies_what_it_is_given(void **state)
{
	struct sv_result *r = sv_result_new();
	char bench[] = "memory", detail[] = "compared";
	const char *flag = detail;
	double rounds[6];
	const struct sv_measurement *found;
	struct sv_measurement m = good_one();
	struct sv_err err;

	(void)state;
	assert_non_null(r);
	memcpy(rounds, six, sizeof rounds);
	m.bench = bench;
	m.check_detail = detail;
	m.flags = &flag;
	m.n_flags = 1;
	m.rounds = rounds;
	assert_int_equal(sv_result_add(r, &m, &err), 0);
	memset(bench, 'x', sizeof bench - 1);
	memset(detail, 'x', sizeof detail - 1);
	memset(rounds, 0, sizeof rounds);
	found = sv_result_find(r, "memory/bandwidth");
	assert_non_null(found);
	assert_string_equal(found->bench, "memory");
	assert_string_equal(found->check_detail, "compared");
	assert_string_equal(found->flags[0], "compared");
	assert_memory_equal(found->rounds, six, sizeof six);
	sv_result_free(r);
}

static void thousands_of_measurements_are_all_found(void **state)
{
	struct sv_result *r = sv_result_new();
	struct sv_result_param param = {"i", NULL, 0};
	struct sv_measurement m = good_one();
	char id[SV_RESULT_MAX_ID];
	struct sv_err err;

	(void)state;
	assert_null(sv_result_find(r, "memory/bandwidth"));
	m.params = &param;
	m.n_params = 1;
	for (param.number = 0; param.number < 5000; param.number++)
		assert_int_equal(sv_result_add(r, &m, &err), 0);
	assert_int_equal(r->n_measurements, 5000);
	for (int i = 0; i < 5000; i++) {
		snprintf(id, sizeof id, "memory/bandwidth?i=%d", i);
		assert_ptr_equal(sv_result_find(r, id), &r->measurements[i]);
	}
	assert_null(sv_result_find(r, "memory/bandwidth?i=5000"));
	sv_result_free(r);
}

static void a_second_measurement_of_the_same_id_is_refused(void **state)
{
	struct sv_result *r = sv_result_new();
	struct sv_measurement m = good_one();
	struct sv_err err;

	(void)state;
	assert_int_equal(sv_result_add(r, &m, &err), 0);
	assert_int_equal(sv_result_add(r, &m, &err), SV_EINPUT);
	assert_string_equal(
	    err.text, "measurement memory/bandwidth: there already");
	assert_int_equal(r->n_measurements, 1);
	sv_result_free(r);
}

static void assert_refused(struct sv_measurement m, const char *fragment)
{
	struct sv_result *r = sv_result_new();
	struct sv_err err = {0};

	assert_int_equal(sv_result_add(r, &m, &err), SV_EINPUT);
	if (strstr(err.text, fragment) == NULL)
		print_error("%s\n", err.text);
	assert_non_null(strstr(err.text, fragment));
	assert_int_equal(r->n_measurements, 0);
	sv_result_free(r);
}

/* What could not be read back is not taken in. */
static void a_measurement_that_no_file_may_hold_is_refused(void **state)
{
	const double spoiled[] = {1.0, NAN, 3.0, 4.0, 5.0, 6.0};
	const struct sv_series series[] = {{spoiled, 2}, {six, 6}};
	struct sv_measurement m;

	(void)state;
	m = good_one();
	m.unit = "GB/s";
	assert_refused(m, "unit: expected a base unit");
	m = good_one();
	m.inner = UINT64_MAX;
	assert_refused(m, "inner: expected at most");
	m = good_one();
	m.rounds = spoiled;
	assert_refused(m, "rounds[1]: expected a finite number");
	m = good_one();
	m.samples = series;
	m.n_samples = 2;
	assert_refused(m, "samples: expected one list a round (6), found 2");
	m.n_rounds = 2;
	assert_refused(m, "samples[0][1]: expected a finite number");
	m = good_one();
	m.has_reference = true;
	m.reference = INFINITY;
	assert_refused(m, "reference.value: expected a finite number");
	m = good_one();
	m.summary.median = NAN;
	assert_refused(m, "summary.median: expected a number");
	m = good_one();
	m.summary.ci95.lo = NAN;
	assert_refused(m, "summary.ci95: expected two numbers or none");
	m = good_one();
	m.summary.p95 = INFINITY;
	assert_refused(m, "summary.p95: expected a finite number or null");
}

static void a_failure_ends_in_one_of_three_ways(void **state)
{
	struct sv_result *r = sv_result_new();
	struct sv_failure failure = {
	    .bench = "sync", .reason = "gone", .kind = "", .value = 0.0};
	struct sv_err err;

	(void)state;
	assert_int_equal(sv_result_add_failure(r, &failure, &err), SV_EINPUT);
	failure.kind = "signal";
	assert_int_equal(sv_result_add_failure(r, &failure, &err), 0);
	assert_int_equal(r->n_failures, 1);
	sv_result_free(r);
}

static void text_that_is_no_utf8_is_mended(void **state)
{
	static const struct {
		const char *text, *mended;
	} all[] = {
	    {"plain", "plain"},
	    {"", ""},
	    {"\xc2\xb5s \xe2\x82\xac \xf0\x9f\x98\x80",
		"\xc2\xb5s \xe2\x82\xac \xf0\x9f\x98\x80"},
	    {"\xff", "\xef\xbf\xbd"},
	    {"a\xc2", "a\xef\xbf\xbd"},
	    {"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"},
	    {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},
	    {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
	    {"\xf4\x90\x80\x80",
		"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
	};
	struct sv_result *r = sv_result_new();

	(void)state;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		assert_string_equal(
		    sv_result_text(r, all[i].text), all[i].mended);
	assert_null(sv_result_text(r, NULL));
	sv_result_free(r);
}

static void arena_storage_is_zeroed_aligned_and_apart(void **state)
{
	struct sv_result *r = sv_result_new();
	unsigned char *all[400];

	(void)state;
	for (size_t i = 0; i < 400; i++) {
		size_t n = i % 7 == 0 ? 70000 : i;

		all[i] = sv_result_bytes(r, n);
		assert_non_null(all[i]);
		assert_int_equal((uintptr_t)all[i] % _Alignof(max_align_t), 0);
		for (size_t j = 0; j < n; j++)
			assert_int_equal(all[i][j], 0);
		memset(all[i], (int)(i % 256), n);
	}
	for (size_t i = 0; i < 400; i++)
		for (size_t j = 0; j < (i % 7 == 0 ? 70000 : i); j++)
			if (all[i][j] != i % 256)
				fail();
	assert_null(sv_result_bytes(r, SIZE_MAX));
	sv_result_free(r);
}

static void a_field_is_found_by_its_dotted_path(void **state)
{
	json_t *tree = json_pack("{s:{s:{s:i}, s:n}, s:s}", "pcie",
	    "under_load", "width", 16, "bottleneck", "name", "card");

	(void)state;
	assert_int_equal(
	    json_integer_value(sv_result_field(tree, "pcie.under_load.width")),
	    16);
	assert_string_equal(
	    json_string_value(sv_result_field(tree, "name")), "card");
	assert_null(sv_result_field(tree, "pcie.bottleneck"));
	assert_null(sv_result_field(tree, "pcie.under_load.width.x"));
	assert_null(sv_result_field(tree, "nothing.here"));
	assert_null(sv_result_field(tree, ""));
	assert_null(sv_result_field(NULL, "name"));
	json_decref(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ids_sort_their_keys_bytewise),
	    cmocka_unit_test(an_id_without_parameters_has_no_question_mark),
	    cmocka_unit_test(whole_numbers_are_plain_over_their_full_range),
	    cmocka_unit_test(an_ambiguous_part_makes_no_id),
	    cmocka_unit_test(a_key_that_is_there_twice_makes_no_id),
	    cmocka_unit_test(
		an_id_that_does_not_fit_is_an_error_not_a_shorter_id),
	    cmocka_unit_test(a_result_copies_what_it_is_given),
	    cmocka_unit_test(thousands_of_measurements_are_all_found),
	    cmocka_unit_test(a_second_measurement_of_the_same_id_is_refused),
	    cmocka_unit_test(a_measurement_that_no_file_may_hold_is_refused),
	    cmocka_unit_test(a_failure_ends_in_one_of_three_ways),
	    cmocka_unit_test(text_that_is_no_utf8_is_mended),
	    cmocka_unit_test(arena_storage_is_zeroed_aligned_and_apart),
	    cmocka_unit_test(a_field_is_found_by_its_dotted_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}

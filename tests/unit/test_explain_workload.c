/* Workload files: what they ask for, what is refused, and how it is said. */
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "expression.h"
#include "files.h"
#include "near.h"
#include "random.h"
#include "workload.h"
#include "workload_survives.h"

static struct sv_workload *read_fixture(const char *name)
{
	char path[4096];
	struct sv_workload *w = NULL;
	struct sv_err err;

	snprintf(path, sizeof path, SV_TEST_FIXTURES "/workload/%s.json", name);
	if (sv_workload_read(path, &w, &err) != 0)
		fail_msg("%s", err.text);
	return w;
}

static double value_of(const char *text, double batch)
{
	struct sv_expression *e = NULL;
	struct sv_err err;
	double value;

	if (sv_expression_new(text, &e, &err) != 0)
		fail_msg("%s: %s", text, err.text);
	value = sv_expression_at(e, batch);
	sv_expression_free(e);
	return value;
}

static void expressions_follow_the_rules_of_arithmetic(void **state)
{
	(void)state;
	assert_near(value_of("B*196", 3), 588.0, 0.0);
	assert_near(value_of("1+2*3-4/2", 1), 5.0, 0.0);
	assert_near(value_of("10-4-3", 1), 3.0, 0.0);
	assert_near(value_of("64/4/2", 1), 8.0, 0.0);
	assert_near(value_of("-(B+1)*-2", 4), 10.0, 0.0);
	assert_near(value_of(" ( ( B ) ) ", 7), 7.0, 0.0);
	assert_near(value_of("1.5e3+.5", 1), 1500.5, 0.0);
	assert_true(isinf(value_of("1/(B-1)", 1)));
}

static void bad_expressions_say_where_and_what(void **state)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
	    {"", "column 1: expected a number, B or (, found the end"},
	    {"B*", "column 3: expected a number, B or (, found the end"},
	    {"(B+1", "column 5: expected ), found the end"},
	    {"B B", "column 3: expected +, -, *, / or the end, found \"B\""},
	    {"0x10", "column 2: expected +, -, *, / or the end, found \"x\""},
	    {"inf", "column 1: expected a number, B or (, found \"i\""},
	    {"1e999", "column 1: expected a number that a double holds, "
		      "found \"1\""},
	    {"2**3", "column 3: expected a number, B or (, found \"*\""},
	    {"((((((((((((((((((((1))))))))))))))))))))",
		"column 17: expected at most 16 levels, found \"(\""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct sv_expression *e = NULL;
		struct sv_err err;

		assert_int_equal(
		    sv_expression_new(bad[i].text, &e, &err), SV_EINPUT);
		assert_string_equal(err.text, bad[i].why);
		assert_null(e);
	}
}

static void a_long_expression_is_refused(void **state)
{
	char text[400] = "1";
	struct sv_expression *e = NULL;
	struct sv_err err;

	(void)state;
	for (size_t i = 0; i < 70; i++)
		strcat(text, "+1");
	assert_int_equal(sv_expression_new(text, &e, &err), SV_EINPUT);
	assert_non_null(strstr(err.text, "64 operations"));
	memset(text, ' ', 300);
	assert_int_equal(sv_expression_new(text, &e, &err), SV_EINPUT);
	assert_non_null(strstr(err.text, "200 characters"));
}

static void every_term_comes_out_in_the_demand(void **state)
{
	struct sv_workload *w = read_fixture("full");
	const struct sv_workload_defaults *d = sv_workload_defaults(w);
	struct sv_demand demand;
	struct sv_err err;

	(void)state;
	assert_string_equal(sv_workload_name(w), "every-term");
	assert_non_null(sv_workload_title(w));
	assert_null(sv_workload_not_modelled(w)[0]);
	assert_int_equal(d->batch, 64);
	assert_int_equal(d->gpus, 2);
	assert_int_equal(d->memory, SV_MEMORY_PAGEABLE);
	assert_false(d->prefetch);
	assert_int_equal(sv_workload_demand(w, 10, &demand, &err), 0);
	assert_int_equal(demand.n_gemm, 2);
	assert_false(demand.gemm_is_typical);
	assert_near(demand.gemm[0].m, 1960.0, 0.0);
	assert_near(demand.gemm[0].count, 6.0, 0.0);
	assert_near(demand.gemm[1].m, 5.5, 0.0);
	assert_near(demand.gemm[1].n, 64.0, 0.0);
	assert_near(demand.gemm[1].k, 16.0, 0.0);
	assert_near(demand.memory_bytes.fp32, 6000.0, 0.0);
	assert_near(demand.memory_bytes.amp, 4000.0, 0.0);
	assert_near(demand.kernels, 480.0, 0.0);
	assert_near(demand.dispatch_factor, 2.5, 0.0);
	assert_near(demand.h2d_bytes, 1505280.0, 0.0);
	assert_near(demand.d2h_bytes, 4.0, 0.0);
	assert_near(demand.resets, 0.1, 0.0);
	assert_near(demand.working_set_bytes, 1020000.0, 0.0);
	assert_near(demand.sample_files, 20.0, 0.0);
	assert_near(demand.sample_bytes, 1100000.0, 0.0);
	assert_string_equal(demand.work, "standard");
	assert_near(demand.gradient_bytes, 51200000.0, 0.0);
	assert_true(demand.bf16);
	sv_demand_fini(&demand);
	sv_workload_free(w);
}

static void a_typical_shape_is_counted_from_the_work(void **state)
{
	struct sv_workload *w = read_fixture("typical");
	struct sv_demand demand;
	struct sv_err err;

	(void)state;
	assert_int_equal(sv_workload_demand(w, 8, &demand, &err), 0);
	assert_true(demand.gemm_is_typical);
	assert_int_equal(demand.n_gemm, 1);
	assert_near(demand.gemm[0].m, 800.0, 0.0);
	assert_near(2.0 * demand.gemm[0].m * demand.gemm[0].n *
			demand.gemm[0].k * demand.gemm[0].count,
	    8 * 2.0e9, 1e-12);
	/* One precision alone holds for both. */
	assert_near(demand.memory_bytes.fp32, 56.0, 0.0);
	assert_near(demand.dispatch_factor, 1.0, 0.0);
	sv_demand_fini(&demand);
	sv_workload_free(w);
}

static bool lists(const struct sv_workload *w, const char *term)
{
	const char *const *left_out = sv_workload_not_modelled(w);

	for (; *left_out != NULL; left_out++)
		if (strcmp(*left_out, term) == 0)
			return true;
	return false;
}

static void what_is_left_out_is_named_until_it_is_set(void **state)
{
	struct sv_workload *w = read_fixture("typical");
	struct sv_err err;

	(void)state;
	assert_true(lists(w, "kernels_per_step"));
	assert_true(lists(w, "sample"));
	assert_true(lists(w, "gradient_bytes"));
	assert_false(lists(w, "gemm"));
	assert_false(lists(w, "memory_bytes_per_sample"));
	assert_int_equal(sv_workload_set(w, "kernels_per_step", "7", &err), 0);
	assert_false(lists(w, "kernels_per_step"));
	sv_workload_free(w);
}

static void fields_are_set_by_name(void **state)
{
	static const char *const pairs[][2] = {{"precision", "tf32"},
	    {"defaults.batch", "17"}, {"memory", "pinned"}, {"prefetch", "on"},
	    {"loader_workers", "0"}, {"resets_per_step", "0.5"},
	    {"sample.work", "heavy"}, {"memory_bytes_per_sample.amp", "1"},
	    {"memory_bytes_per_step", "9"}, {"working_set_bytes.fixed", "0"},
	    {"amp_dtype", "fp16"}};
	struct sv_workload *w = read_fixture("full");
	const struct sv_workload_defaults *d = sv_workload_defaults(w);
	struct sv_demand demand;
	struct sv_err err;

	(void)state;
	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
		if (sv_workload_set(w, pairs[i][0], pairs[i][1], &err) != 0)
			fail_msg("%s", err.text);
	assert_string_equal(d->precision, "tf32");
	assert_int_equal(d->batch, 17);
	assert_int_equal(d->memory, SV_MEMORY_PINNED);
	assert_true(d->prefetch);
	assert_int_equal(sv_workload_demand(w, 2, &demand, &err), 0);
	assert_near(demand.resets, 0.5, 0.0);
	assert_string_equal(demand.work, "heavy");
	assert_near(demand.memory_bytes.amp, 11.0, 0.0);
	assert_near(demand.memory_bytes.fp32, 409.0, 0.0);
	assert_near(demand.working_set_bytes, 4000.0, 0.0);
	assert_false(demand.bf16);
	sv_demand_fini(&demand);
	sv_workload_free(w);
	w = read_fixture("typical");
	assert_int_equal(sv_workload_set(w, "gemm_shape.m", "B*7", &err), 0);
	assert_int_equal(sv_workload_demand(w, 2, &demand, &err), 0);
	assert_near(demand.gemm[0].m, 14.0, 0.0);
	sv_demand_fini(&demand);
	sv_workload_free(w);
}

static void a_wrong_setting_is_a_usage_error(void **state)
{
	static const char *const bad[][3] = {
	    {"presicion", "fp32", "no field"},
	    {"precision", "fp8", "fp32, tf32, fp16, bf16 or amp"},
	    {"batch", "0", "from 1 to"},
	    {"batch", "2.5", "a whole number"},
	    {"resets_per_step", "-1", "from 0 to"},
	    {"resets_per_step", "1x", "from 0 to"},
	    {"resets_per_step", "nan", "from 0 to"},
	    {"sample", "3", "no field"},
	    {"gemm_flop_per_sample", "3", "no field"},
	    {"gemm_shape.m", "3", "no field"},
	};
	struct sv_workload *w = read_fixture("full");
	struct sv_err err;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		assert_int_equal(
		    sv_workload_set(w, bad[i][0], bad[i][1], &err), SV_EUSAGE);
		if (strstr(err.text, bad[i][2]) == NULL)
			fail_msg("%s", err.text);
	}
	sv_workload_free(w);
	w = read_fixture("typical");
	assert_int_equal(
	    sv_workload_set(w, "gemm_shape.m", "B**", &err), SV_EUSAGE);
	assert_int_equal(sv_workload_set(w, "gemm_shape.m", "0", &err), 0);
	struct sv_demand demand;

	assert_int_equal(sv_workload_demand(w, 2, &demand, &err), SV_EINPUT);
	assert_non_null(strstr(err.text, "gemm_shape.m: expected a positive"));
	sv_workload_free(w);
}

static void refusals_name_the_place(void **state)
{
	static const struct {
		const char *body, *why;
	} bad[] = {
	    {"[]", "x: expected an object, found an array"},
	    {"{\"name\":\"n\"}", "x: schema: expected text, found nothing"},
	    {"{\"schema\":\"stave.workload/2\",\"name\":\"n\"}",
		"x: schema: expected \"stave.workload/1\", found "
		"\"stave.workload/2\""},
	    {"{\"schema\":\"stave.workload/1\"}",
		"x: name: expected text, found nothing"},
	    {"{\"schema\":\"stave.workload/1\",\"name\":\"n\","
	     "\"defaults\":{\"precision\":\"int8\"}}",
		"x: defaults.precision: expected fp32, tf32, fp16, bf16 or "
		"amp, found \"int8\""},
	    {"{\"schema\":\"stave.workload/1\",\"name\":\"n\","
	     "\"gemm\":[{\"m\":\"B\",\"n\":\"2\",\"k\":\"B^2\","
	     "\"count\":1}]}",
		"x: gemm[0].k: column 2: expected +, -, *, / or the end, "
		"found \"^\""},
	    {"{\"schema\":\"stave.workload/1\",\"name\":\"n\","
	     "\"gemm\":[{\"m\":\"B\",\"n\":\"2\",\"k\":\"2\"}]}",
		"x: gemm[0].count: expected an expression in B or a number, "
		"found nothing"},
	    {"{\"schema\":\"stave.workload/1\",\"name\":\"n\","
	     "\"gemm_flop_per_sample\":1}",
		"x: gemm_shape: expected an object, found nothing"},
	    {"{\"schema\":\"stave.workload/1\",\"name\":\"n\","
	     "\"gemm_flop_per_sample\":1,\"gemm\":[]}",
		"x: gemm: expected no gemm_flop_per_sample beside it"},
	    {"{\"schema\":\"stave.workload/1\",\"name\":\"n\","
	     "\"kernels_per_step\":-3}",
		"x: kernels_per_step: expected 0 or more, found -3"},
	    {"{\"schema\":", "x: line 1, column 10: expected JSON, found: "},
	    {"", "x: expected a workload, found an empty file"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct sv_workload *w = NULL;
		struct sv_err err;

		assert_int_equal(sv_workload_parse(bad[i].body,
				     strlen(bad[i].body), "x", &w, &err),
		    SV_EINPUT);
		/* How the JSON library goes on is its own affair. */
		if (strncmp(err.text, bad[i].why, strlen(bad[i].why)) != 0)
			fail_msg("%s", err.text);
	}
}

static void shipped_names_are_found_and_others_refused(void **state)
{
	char **names = NULL;
	struct sv_workload *w = NULL;
	struct sv_err err;

	(void)state;
	setenv("STAVE_WORKLOAD_DIR", SV_TEST_FIXTURES "/workload", 1);
	assert_int_equal(sv_workload_shipped(&names, &err), 0);
	assert_string_equal(names[0], "full");
	assert_string_equal(names[1], "typical");
	assert_null(names[2]);
	free(names);
	assert_int_equal(sv_workload_read("typical", &w, &err), 0);
	sv_workload_free(w);
	assert_int_equal(sv_workload_read("typicall", &w, &err), SV_EINPUT);
	assert_non_null(strstr(err.text, "stave list workloads"));
	setenv("STAVE_WORKLOAD_DIR", "/nowhere", 1);
	assert_int_equal(sv_workload_shipped(&names, &err), SV_EINPUT);
	unsetenv("STAVE_WORKLOAD_DIR");
}

/* Bytes changed, removed and put in, the same ones every time. */
static void damaged_files_are_refused_or_sound(void **state)
{
	static const char *const tokens[] = {"B", "/", "(", "-", "0", "1e308",
	    "null", "\"", "{", "[", ",", "1e-320", "\\u0000", "\xff"};
	size_t n, read_count = 0;
	char *seed = sv_slurp(SV_TEST_FIXTURES "/workload/full.json", &n);
	char *bytes = malloc(n + 64);

	(void)state;
	assert_non_null(bytes);
	for (uint64_t i = 0; i < 4000; i++) {
		uint64_t random = i;
		size_t at = (size_t)(test_random(&random) % n), length = n;
		const char *token = tokens[test_random(&random) %
					   (sizeof tokens / sizeof tokens[0])];
		size_t gone = (size_t)(test_random(&random) % 3);
		bool accepted;

		gone = gone < n - at ? gone : n - at;
		memcpy(bytes, seed, at);
		memcpy(bytes + at, token, strlen(token));
		memcpy(bytes + at + strlen(token), seed + at + gone,
		    n - at - gone);
		length = n - gone + strlen(token);
		if (!sv_workload_survives(bytes, length, &accepted))
			fail_msg("mutant %llu", (unsigned long long)i);
		read_count += accepted ? 1 : 0;
	}
	print_message("%zu of 4000 were read\n", read_count);
	assert_true(read_count > 200 && read_count < 3000);
	free(bytes);
	free(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(expressions_follow_the_rules_of_arithmetic),
	    cmocka_unit_test(bad_expressions_say_where_and_what),
	    cmocka_unit_test(a_long_expression_is_refused),
	    cmocka_unit_test(every_term_comes_out_in_the_demand),
	    cmocka_unit_test(a_typical_shape_is_counted_from_the_work),
	    cmocka_unit_test(what_is_left_out_is_named_until_it_is_set),
	    cmocka_unit_test(fields_are_set_by_name),
	    cmocka_unit_test(a_wrong_setting_is_a_usage_error),
	    cmocka_unit_test(refusals_name_the_place),
	    cmocka_unit_test(shipped_names_are_found_and_others_refused),
	    cmocka_unit_test(damaged_files_are_refused_or_sound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}

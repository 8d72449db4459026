/* What is set against what, and what differs beside the figures. */
#include <stdlib.h>

#include "compare.h"
#include "results.h"

static const struct sv_compare_options usual = {
    .alpha = 0.05, .min_effect = 0.02};
static const struct sv_measurement gemm = {.bench = "gemm",
    .metric = "throughput",
    .unit = "FLOP/s",
    .higher_is_better = true};
static const struct sv_measurement copy = {.bench = "memory",
    .metric = "bandwidth",
    .unit = "B/s",
    .higher_is_better = true};

static struct sv_comparison *compare(
    const struct sv_result *a, const struct sv_result *b)
{
	struct sv_comparison *c = NULL;
	struct sv_err err = {0};

	assert_int_equal(sv_compare(a, b, &usual, &c, &err), 0);
	return c;
}

static void release(
    struct sv_comparison *c, struct sv_result *a, struct sv_result *b)
{
	sv_comparison_free(c);
	sv_result_free(a);
	sv_result_free(b);
}

/* A GEMM with a parameter more, or the plain one for NULL. */
static void add_gemm(struct sv_result *r, const char *name, const char *value)
{
	struct sv_result_param params[2] = {
	    {"precision", "fp16", 0}, {name, value, 0}};
	struct sv_measurement m = gemm;

	m.params = params;
	m.n_params = name != NULL ? 2 : 1;
	test_add_around(r, &m, 1e14, 1e-3, 6);
}

static void another_way_to_add_up_is_a_mismatch(void **state)
{
	struct sv_result *a = test_result("a", "x", "one");
	struct sv_result *b = test_result("b", "x", "one");
	struct sv_comparison *c;

	(void)state;
	add_gemm(a, "accumulate", "fp32");
	add_gemm(b, "accumulate", "fp16");
	c = compare(a, b);
	assert_int_equal(c->n_pairs, 0);
	assert_int_equal(c->n_mismatched, 1);
	assert_int_equal(c->n_only_a, 0);
	assert_int_equal(c->n_only_b, 0);
	assert_string_equal(c->mismatched[0].id,
	    "gemm/throughput?accumulate=fp32&precision=fp16");
	assert_string_equal(
	    c->mismatched[0].why, "accumulate differs: fp32 against fp16");
	release(c, a, b);
}

static void what_one_side_leaves_open_is_a_mismatch_and_the_rest_is_unpaired(
    void **state)
{
	struct sv_result *a = test_result("a", "x", "one");
	struct sv_result *b = test_result("b", "x", "one");
	struct sv_comparison *c;

	(void)state;
	add_gemm(a, NULL, NULL);
	add_gemm(b, "software", "torch-2");
	add_gemm(b, "software", "torch-3");
	test_add_around(b, &copy, 1.0, 1e-3, 6);
	c = compare(a, b);
	assert_int_equal(c->n_mismatched, 1);
	assert_string_equal(c->mismatched[0].why,
	    "software differs: not stated against torch-2");
	assert_int_equal(c->n_only_b, 2);
	assert_string_equal(
	    c->only_b[0], "gemm/throughput?precision=fp16&software=torch-3");
	assert_string_equal(c->only_b[1], "memory/bandwidth");
	release(c, a, b);
}

static void another_library_is_a_mismatch_and_another_version_is_not(
    void **state)
{
	struct sv_result *a = test_result("a", "x", "one");
	struct sv_result *b = test_result("b", "x", "one");
	struct sv_result *host = test_result("host", "x", "one");
	struct sv_comparison *c;

	(void)state;
	json_object_set_new(
	    a->device, "libraries", json_pack("{s:s}", "cublas", "12.4.0"));
	json_object_set_new(
	    b->device, "libraries", json_pack("{s:s}", "cublas", "13.1.0"));
	json_object_set_new(host->device, "libraries",
	    json_pack("{s:s}", "blas", "OpenBLAS 0.3.21 DYNAMIC_ARCH"));
	add_gemm(a, NULL, NULL);
	add_gemm(b, NULL, NULL);
	add_gemm(host, NULL, NULL);
	test_add_around(a, &copy, 1.0, 1e-3, 6);
	test_add_around(host, &copy, 1.0, 1e-3, 6);
	c = compare(a, b);
	assert_int_equal(c->n_pairs, 1);
	assert_int_equal(c->n_confounders, 1);
	assert_string_equal(c->confounders[0].field, "device.libraries.cublas");
	sv_comparison_free(c);
	c = compare(a, host);
	/* A copy has no library to differ in. */
	assert_int_equal(c->n_pairs, 1);
	assert_string_equal(c->pairs[0].a->bench, "memory");
	assert_int_equal(c->n_mismatched, 1);
	assert_string_equal(c->mismatched[0].why,
	    "the libraries differ: cuBLAS against OpenBLAS");
	release(c, a, host);
	sv_result_free(b);
}

static void what_a_measurement_says_of_itself_counts(void **state)
{
	struct sv_result *a = test_result("a", "x", "one");
	struct sv_result *b = test_result("b", "x", "one");
	struct sv_measurement m = gemm;
	struct sv_comparison *c;

	(void)state;
	m.extra = json_pack("{s:s}", "accumulate", "fp32");
	test_add_around(a, &m, 1.0, 1e-3, 6);
	json_decref(m.extra);
	m.extra = json_pack("{s:s}", "accumulate", "fp16");
	test_add_around(b, &m, 1.0, 1e-3, 6);
	json_decref(m.extra);
	c = compare(a, b);
	assert_int_equal(c->n_pairs, 0);
	assert_string_equal(
	    c->mismatched[0].why, "accumulate differs: fp32 against fp16");
	release(c, a, b);
}

static enum sv_scope scope_of(struct sv_result *take_a, struct sv_result *b)
{
	struct sv_comparison *c = compare(take_a, b);
	enum sv_scope scope = c->scope;

	sv_comparison_free(c);
	sv_result_free(take_a);
	return scope;
}

static void the_card_is_spoken_of_only_where_the_host_is_the_same(void **state)
{
	struct sv_result *b = test_result("b", "x", "one");
	struct sv_result *kernel = test_result("kernel", "x", "one");
	struct sv_result *slot = test_result("slot", "x", "one");

	(void)state;
	json_object_set_new(
	    b->machine, "os", json_pack("{s:s}", "kernel", "6.1"));
	json_object_set_new(
	    kernel->machine, "os", json_pack("{s:s}", "kernel", "6.8"));
	json_object_set_new(
	    b->device, "pcie", json_pack("{s:i}", "slot_max_width", 16));
	json_object_set_new(
	    slot->device, "pcie", json_pack("{s:i}", "slot_max_width", 4));
	assert_int_equal(
	    scope_of(test_result("a", "x", "one"), b), SV_SCOPE_SETTINGS);
	assert_int_equal(
	    scope_of(test_result("a", "x", "two"), b), SV_SCOPE_CARD);
	assert_int_equal(
	    scope_of(test_result("a", "y", "two"), b), SV_SCOPE_SYSTEM);
	assert_int_equal(
	    scope_of(test_result("a", NULL, "two"), b), SV_SCOPE_UNKNOWN);
	assert_int_equal(scope_of(kernel, b), SV_SCOPE_SYSTEM);
	assert_int_equal(scope_of(slot, b), SV_SCOPE_SYSTEM);
	sv_result_free(b);
}

static void numbers_that_wander_a_little_are_no_confounders(void **state)
{
	struct sv_result *a = test_result("a", "x", "one");
	struct sv_result *b = test_result("b", "x", "one");
	struct sv_comparison *c;

	(void)state;
	json_object_set_new(a->machine, "memory",
	    json_pack("{s:I}", "total_bytes", (json_int_t)68719476736));
	json_object_set_new(b->machine, "memory",
	    json_pack("{s:I}", "total_bytes", (json_int_t)68619476736));
	json_object_set_new(
	    a->device, "power", json_pack("{s:i}", "limit_w", 350));
	json_object_set_new(
	    b->device, "power", json_pack("{s:f}", "limit_w", 350.0));
	c = compare(a, b);
	assert_int_equal(c->n_confounders, 0);
	sv_comparison_free(c);
	json_object_set_new(
	    json_object_get(b->device, "power"), "limit_w", json_integer(349));
	c = compare(a, b);
	assert_int_equal(c->n_confounders, 1);
	assert_string_equal(c->confounders[0].field, "device.power.limit_w");
	assert_string_equal(c->confounders[0].b, "349");
	release(c, a, b);
}

/* Three bytes each: the hundredth byte is inside a character. */
#define LONG_LABEL \
	"€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€"

static void a_long_label_is_cut_between_characters(void **state)
{
	struct sv_result *a = test_result(LONG_LABEL, "x", "one");
	struct sv_result *b = test_result("b", "x", "one");
	struct sv_comparison *c = compare(a, b);
	json_t *empty = sv_comparison_json(c), *full;

	(void)state;
	/* What is no UTF-8 no JSON holds. */
	assert_non_null(empty);
	sv_comparison_free(c);
	test_add_around(a, &copy, 1.0, 1e-3, 6);
	test_add_around(b, &copy, 1.0, 1e-3, 6);
	c = compare(a, b);
	full = sv_comparison_json(c);
	assert_non_null(full);
	json_decref(empty);
	json_decref(full);
	release(c, a, b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(another_way_to_add_up_is_a_mismatch),
	    cmocka_unit_test(
		what_one_side_leaves_open_is_a_mismatch_and_the_rest_is_unpaired),
	    cmocka_unit_test(
		another_library_is_a_mismatch_and_another_version_is_not),
	    cmocka_unit_test(what_a_measurement_says_of_itself_counts),
	    cmocka_unit_test(
		the_card_is_spoken_of_only_where_the_host_is_the_same),
	    cmocka_unit_test(a_long_label_is_cut_between_characters),
	    cmocka_unit_test(numbers_that_wander_a_little_are_no_confounders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}

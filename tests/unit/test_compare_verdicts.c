/* Verdicts: never noise for a difference, never a guess without spread. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "compare.h"
#include "near.h"
#include "random.h"
#include "stave/order.h"

static const struct sv_compare_options usual = {0.05, 0.02};

/* A result with n measurements of 10 rounds around the values given. */
static struct sv_result *make(const char *label, const char *cpu, size_t n,
    const double *medians, double noise, uint64_t seed)
{
	struct sv_result *r = sv_result_new();
	struct sv_err err;

	r->run.id = r->run.label = label;
	json_object_set_new(
	    r->machine, "cpu", json_pack("{s:s}", "model", cpu));
	for (size_t i = 0; i < n; i++) {
		const struct sv_result_param p = {"i", NULL, (int64_t)i};
		double rounds[10];
		struct sv_measurement m = {.bench = i % 2 ? "launch" : "memory",
		    .metric = i % 2 ? "submit" : "bandwidth",
		    .params = &p,
		    .n_params = 1,
		    .unit = i % 2 ? "s" : "B/s",
		    .higher_is_better = i % 2 == 0,
		    .rounds = rounds,
		    .n_rounds = 10,
		    .source = -1};

		for (size_t j = 0; j < 10; j++)
			rounds[j] =
			    medians[i] * (1.0 + noise * test_normal(&seed));
		double sorted[10];

		memcpy(sorted, rounds, sizeof sorted);
		sv_order_sort(sorted, 10);
		m.summary = (struct sv_summary){.n = 10,
		    .median = sv_order_median(sorted, 10),
		    .ci95 = {NAN, NAN},
		    .mad = NAN,
		    .min = NAN,
		    .max = NAN,
		    .p05 = NAN,
		    .p95 = NAN};
		assert_int_equal(sv_result_add(r, &m, &err), 0);
	}
	return r;
}

static struct sv_comparison *compare(
    const struct sv_result *a, const struct sv_result *b)
{
	struct sv_comparison *c = NULL;
	struct sv_err err = {0};

	assert_int_equal(sv_compare(a, b, &usual, &c, &err), 0);
	return c;
}

static void better_is_faster_whichever_way_better_is(void **state)
{
	const double before[] = {1e9, 1e-6, 1e9, 1e-6};
	const double after[] = {1.5e9, 0.5e-6, 0.5e9, 2e-6};
	struct sv_result *a = make("a", "x", 4, before, 0.005, 1);
	struct sv_result *b = make("b", "x", 4, after, 0.005, 2);
	struct sv_comparison *c = compare(a, b);

	(void)state;
	/* Sorted by id: launch i=1, i=3, memory i=0, i=2. */
	assert_int_equal(c->pairs[0].verdict, SV_FASTER);
	assert_near(c->pairs[0].ratio, 2.0, 0.02);
	assert_int_equal(c->pairs[1].verdict, SV_SLOWER);
	assert_int_equal(c->pairs[2].verdict, SV_FASTER);
	assert_near(c->pairs[2].ratio, 1.5, 0.02);
	assert_int_equal(c->pairs[3].verdict, SV_SLOWER);
	assert_int_equal(c->counts[SV_FASTER], 2);
	assert_int_equal(c->n_confounders, 0);
	sv_comparison_free(c);
	sv_result_free(a);
	sv_result_free(b);
}

static void swapping_inverts_every_ratio_and_verdict(void **state)
{
	static const enum sv_verdict inverse[] = {
	    SV_SLOWER, SV_FASTER, SV_SAME, SV_UNCLEAR};
	double before[20], after[20];
	uint64_t seed = 4;
	struct sv_result *a, *b;
	struct sv_comparison *ab, *ba;

	(void)state;
	for (size_t i = 0; i < 20; i++) {
		before[i] = 1.0 + test_uniform(&seed);
		after[i] = before[i] * (0.9 + 0.2 * test_uniform(&seed));
	}
	a = make("a", "x", 20, before, 0.02, 5);
	b = make("b", "x", 20, after, 0.02, 6);
	ab = compare(a, b);
	ba = compare(b, a);
	for (size_t i = 0; i < 20; i++) {
		assert_near(
		    ab->pairs[i].ratio, 1.0 / ba->pairs[i].ratio, 1e-12);
		assert_near(ab->pairs[i].lo, 1.0 / ba->pairs[i].hi, 1e-12);
		assert_int_equal(
		    ab->pairs[i].verdict, inverse[ba->pairs[i].verdict]);
	}
	sv_comparison_free(ab);
	sv_comparison_free(ba);
	sv_result_free(a);
	sv_result_free(b);
}

static void noise_is_no_difference(void **state)
{
	unsigned called = 0, reports = 0;
	double same[50];

	(void)state;
	for (size_t i = 0; i < 50; i++)
		same[i] = 1.0;
	for (unsigned run = 0; run < 40; run++) {
		struct sv_result *a = make("a", "x", 50, same, 0.03, 100 + run);
		struct sv_result *b = make("b", "x", 50, same, 0.03, 900 + run);
		struct sv_comparison *c = compare(a, b);
		size_t n = c->counts[SV_FASTER] + c->counts[SV_SLOWER];

		called += n;
		reports += n > 0;
		sv_comparison_free(c);
		sv_result_free(a);
		sv_result_free(b);
	}
	assert_true(called <= 40 * 50 * 5 / 100);
	assert_true(reports <= 40 * 15 / 100);
}

static void without_spread_there_is_a_ratio_and_no_verdict(void **state)
{
	const double one[] = {2e9}, two[] = {3e9};
	struct sv_result *a = make("a", "x", 1, one, 0.0, 1);
	struct sv_result *b = make("b", "y", 1, two, 0.0, 1);
	struct sv_comparison *c;
	char *text;

	(void)state;
	a->measurements[0].n_rounds = 0;
	c = compare(a, b);
	assert_int_equal(c->pairs[0].verdict, SV_UNCLEAR);
	assert_string_equal(c->pairs[0].reason, "no_spread");
	assert_near(c->pairs[0].ratio, 1.5, 1e-12);
	assert_int_equal(c->n_confounders, 1);
	assert_string_equal(c->confounders[0].field, "machine.cpu.model");
	text = sv_comparison_text(c);
	assert_non_null(strstr(text, "card plus host"));
	free(text);
	sv_comparison_free(c);
	sv_result_free(a);
	sv_result_free(b);
}

static void what_failed_its_check_is_not_judged(void **state)
{
	const double one[] = {1e9}, two[] = {3e9};
	struct sv_result *a = make("a", "x", 1, one, 0.001, 1);
	struct sv_result *b = make("b", "x", 1, two, 0.001, 2);
	struct sv_comparison *c;

	(void)state;
	b->measurements[0].check = SV_CHECK_FAIL;
	c = compare(a, b);
	assert_int_equal(c->pairs[0].verdict, SV_UNCLEAR);
	assert_string_equal(c->pairs[0].reason, "check_failed");
	sv_comparison_free(c);
	sv_result_free(a);
	sv_result_free(b);
}

static void what_does_not_fit_is_told_apart(void **state)
{
	const double values[] = {1.0, 2.0, 3.0};
	struct sv_result *a = make("a", "x", 3, values, 0.01, 1);
	struct sv_result *b = make("b", "x", 2, values, 0.01, 2);
	struct sv_comparison *c;
	json_t *tree;

	(void)state;
	b->measurements[1].unit = "1";
	c = compare(a, b);
	assert_int_equal(c->n_pairs, 1);
	assert_int_equal(c->n_mismatched, 1);
	assert_int_equal(c->n_only_a, 1);
	assert_string_equal(c->only_a[0], "memory/bandwidth?i=2");
	tree = sv_comparison_json(c);
	assert_string_equal(json_string_value(json_object_get(tree, "schema")),
	    "stave.comparison/1");
	assert_int_equal(json_array_size(json_object_get(
			     json_object_get(tree, "unpaired"), "a")),
	    1);
	json_decref(tree);
	sv_comparison_free(c);
	sv_result_free(a);
	sv_result_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(better_is_faster_whichever_way_better_is),
	    cmocka_unit_test(swapping_inverts_every_ratio_and_verdict),
	    cmocka_unit_test(noise_is_no_difference),
	    cmocka_unit_test(without_spread_there_is_a_ratio_and_no_verdict),
	    cmocka_unit_test(what_failed_its_check_is_not_judged),
	    cmocka_unit_test(what_does_not_fit_is_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}

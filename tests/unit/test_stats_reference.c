/* The statistics against values of SciPy and NumPy; see fixtures/stats. */
#include <jansson.h>
#include <stdlib.h>

#include "cmocka_all.h"
#include "near.h"
#include "stats.h"
#include "stave/order.h"

#define TOLERANCE 1e-9

static json_t *reference;

static double number(json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

/* An array of numbers; the caller frees. */
static double *numbers(json_t *object, const char *key, size_t *n)
{
	json_t *array = json_object_get(object, key);
	double *values = calloc(json_array_size(array) + 1, sizeof *values);

	assert_non_null(values);
	*n = json_array_size(array);
	for (size_t i = 0; i < *n; i++)
		values[i] = json_number_value(json_array_get(array, i));
	return values;
}

static json_t *cases(const char *name)
{
	json_t *list = json_object_get(reference, name);

	assert_true(json_array_size(list) > 0);
	return list;
}

static void quantiles_and_spread_are_numpys(void **state)
{
	json_t *one;
	size_t i, n;

	(void)state;
	json_array_foreach (cases("quantiles"), i, one) {
		double *x = numbers(one, "x", &n);
		const struct sv_rounds rounds = {x, n, NULL, NULL};
		struct sv_estimate e;

		assert_int_equal(sv_stats_estimate(&rounds, &e, NULL), 0);
		assert_near(e.median, number(one, "median"), TOLERANCE);
		assert_near(e.p05, number(one, "p05"), TOLERANCE);
		assert_near(e.p95, number(one, "p95"), TOLERANCE);
		assert_near(e.p99, number(one, "p99"), TOLERANCE);
		assert_near(e.mad, number(one, "mad"), TOLERANCE);
		free(x);
	}
}

static void interval_ranks_are_the_binomials(void **state)
{
	json_t *one;
	size_t i;

	(void)state;
	json_array_foreach (cases("ranks"), i, one)
		assert_int_equal(
		    sv_order_interval_rank((size_t)number(one, "n")),
		    (size_t)number(one, "k"));
}

static void rank_test_is_exact_with_and_without_ties(void **state)
{
	json_t *one;
	size_t i, n_a, n_b;

	(void)state;
	json_array_foreach (cases("mann_whitney"), i, one) {
		double *a = numbers(one, "a", &n_a);
		double *b = numbers(one, "b", &n_b);
		double p, swapped;

		assert_int_equal(
		    sv_stats_mann_whitney(a, n_a, b, n_b, &p, NULL), 0);
		assert_near(p, number(one, "p"), TOLERANCE);
		assert_int_equal(
		    sv_stats_mann_whitney(b, n_b, a, n_a, &swapped, NULL), 0);
		assert_near(swapped, p, 1e-12);
		free(a);
		free(b);
	}
}

static void ratio_and_its_interval_are_those_of_the_differences(void **state)
{
	json_t *one;
	size_t i, n_a, n_b;

	(void)state;
	json_array_foreach (cases("ratios"), i, one) {
		double *a = numbers(one, "a", &n_a);
		double *b = numbers(one, "b", &n_b);
		struct sv_ratio r, inverse;

		assert_int_equal(
		    sv_stats_ratio(a, n_a, b, n_b, 0.95, &r, NULL), 0);
		assert_near(r.ratio, number(one, "ratio"), TOLERANCE);
		assert_int_equal(r.has_interval, number(one, "k") > 0);
		if (r.has_interval) {
			assert_near(r.lo, number(one, "lo"), TOLERANCE);
			assert_near(r.hi, number(one, "hi"), TOLERANCE);
		}
		assert_int_equal(
		    sv_stats_ratio(b, n_b, a, n_a, 0.95, &inverse, NULL), 0);
		assert_near(inverse.ratio, 1.0 / r.ratio, 1e-12);
		free(a);
		free(b);
	}
}

static void trend_is_kendalls(void **state)
{
	json_t *one;
	size_t i, n;

	(void)state;
	json_array_foreach (cases("trends"), i, one) {
		double *x = numbers(one, "x", &n);
		struct sv_trend t;

		assert_int_equal(sv_stats_trend(x, n, &t, NULL), 0);
		assert_near(t.s, number(one, "s"), TOLERANCE);
		assert_near(t.p, number(one, "p"), TOLERANCE);
		free(x);
	}
}

static void corrections_are_those_of_the_papers(void **state)
{
	json_t *one;
	size_t i, n, m;

	(void)state;
	json_array_foreach (cases("adjust"), i, one) {
		double *p = numbers(one, "p", &n);
		double *q = numbers(one, "p", &n);
		double *holm = numbers(one, "holm", &m);
		double *bh = numbers(one, "bh", &m);

		assert_int_equal(sv_stats_holm(p, n, NULL), 0);
		assert_int_equal(sv_stats_benjamini_hochberg(q, n, NULL), 0);
		for (size_t j = 0; j < n; j++) {
			assert_near(p[j], holm[j], TOLERANCE);
			assert_near(q[j], bh[j], TOLERANCE);
		}
		free(p);
		free(q);
		free(holm);
		free(bh);
	}
}

static void quantiles_of_distributions_are_scipys(void **state)
{
	json_t *one;
	size_t i;

	(void)state;
	json_array_foreach (cases("normal"), i, one) {
		double z = sv_stats_normal_quantile(number(one, "tail"));

		/* At one half it is 0, give or take the rounding. */
		assert_near(1.0 + z, 1.0 + number(one, "z"), TOLERANCE);
	}
	json_array_foreach (cases("student"), i, one)
		assert_near(
		    sv_stats_student_quantile((size_t)number(one, "degrees")),
		    number(one, "t"), TOLERANCE);
}

static int load(void **state)
{
	(void)state;
	reference =
	    json_load_file(SV_TEST_FIXTURES "/stats/reference.json", 0, NULL);
	return reference == NULL;
}

static int unload(void **state)
{
	(void)state;
	json_decref(reference);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(quantiles_and_spread_are_numpys),
	    cmocka_unit_test(interval_ranks_are_the_binomials),
	    cmocka_unit_test(rank_test_is_exact_with_and_without_ties),
	    cmocka_unit_test(
		ratio_and_its_interval_are_those_of_the_differences),
	    cmocka_unit_test(trend_is_kendalls),
	    cmocka_unit_test(corrections_are_those_of_the_papers),
	    cmocka_unit_test(quantiles_of_distributions_are_scipys),
	};

	return cmocka_run_group_tests(tests, load, unload) != 0;
}

/* Verdicts: never noise for a difference, never a guess without spread. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "compare.h"
#include "near.h"
#include "random.h"
#include "results.h"

static const struct sv_compare_options usual = {
    .alpha = 0.05, .min_effect = 0.02};

/* A result with n measurements of 10 rounds around the values given. */
static struct sv_result *make(const char *label, const char *cpu, size_t n,
    const double *medians, double noise, uint64_t seed)
{
	struct sv_result *r = test_result(label, cpu, NULL);

	for (size_t i = 0; i < n; i++) {
		const struct sv_result_param p = {"i", NULL, (int64_t)i};
		const struct sv_measurement m = {
		    .bench = i % 2 ? "launch" : "memory",
		    .metric = i % 2 ? "submit" : "bandwidth",
		    .params = &p,
		    .n_params = 1,
		    .unit = i % 2 ? "s" : "B/s",
		    .higher_is_better = i % 2 == 0};
		double rounds[10];

		for (size_t j = 0; j < 10; j++)
			rounds[j] =
			    medians[i] * (1.0 + noise * test_normal(&seed));
		test_add(r, &m, rounds, 10);
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

static const struct sv_measurement bandwidth = {.bench = "memory",
    .metric = "bandwidth",
    .unit = "B/s",
    .higher_is_better = true};
static const struct sv_measurement latency = {
    .bench = "sync", .metric = "wait", .unit = "s"};
static const struct sv_measurement step = {
    .bench = "step", .metric = "time", .unit = "s"};
static const struct sv_measurement gemm = {.bench = "gemm",
    .metric = "throughput",
    .unit = "FLOP/s",
    .higher_is_better = true};

/* A pair of one measurement, judged; everything is freed but what it says. */
struct judged {
	enum sv_verdict verdict;
	char reason[32]; /* "" for none */
	double ratio, ratio_cycles, lo;
	long further;
};

static struct judged judge_results(struct sv_result *take_a,
    struct sv_result *take_b, const struct sv_compare_options *options)
{
	struct sv_comparison *c = NULL;
	struct sv_err err = {0};
	struct judged j;

	assert_int_equal(sv_compare(take_a, take_b, options, &c, &err), 0);
	assert_int_equal(c->n_pairs, 1);
	j = (struct judged){.verdict = c->pairs[0].verdict,
	    .ratio = c->pairs[0].ratio,
	    .ratio_cycles = c->pairs[0].ratio_cycles,
	    .lo = c->pairs[0].lo,
	    .further = c->pairs[0].further};
	if (c->pairs[0].reason != NULL)
		snprintf(j.reason, sizeof j.reason, "%s", c->pairs[0].reason);
	sv_comparison_free(c);
	sv_result_free(take_a);
	sv_result_free(take_b);
	return j;
}

/* b is `factor` times a, both in n rounds that are `step` apart. */
static struct judged judge(
    const struct sv_measurement *model, double factor, double apart, size_t n)
{
	struct sv_result *a = test_result("a", "x", NULL);
	struct sv_result *b = test_result("b", "x", NULL);

	test_add_around(a, model, 1.0, apart, n);
	test_add_around(b, model, factor, apart, n);
	return judge_results(a, b, &usual);
}

static void a_latency_is_the_same_until_it_can_differ_by_a_twentieth(
    void **state)
{
	(void)state;
	assert_int_equal(judge(&bandwidth, 1.03, 1e-3, 10).verdict, SV_FASTER);
	assert_int_equal(judge(&latency, 1.03, 1e-3, 10).verdict, SV_SAME);
	assert_int_equal(judge(&latency, 1.05, 1e-3, 10).verdict, SV_SLOWER);
	assert_int_equal(judge(&step, 1.03, 1e-3, 10).verdict, SV_SLOWER);
	/* Sure, and too small to matter or to be nothing. */
	assert_string_equal(
	    judge(&bandwidth, 1.018, 2e-3, 10).reason, "small_effect");
}

static void what_lacks_rounds_says_how_many(void **state)
{
	struct judged none = judge(&bandwidth, 2.0, 1e-3, 0);
	struct judged one = judge(&bandwidth, 2.0, 1e-3, 1);
	struct judged three = judge(&bandwidth, 2.0, 1e-3, 3);

	(void)state;
	assert_string_equal(none.reason, "no_spread");
	assert_int_equal(none.further, -1);
	assert_string_equal(one.reason, "no_spread");
	assert_near(one.ratio, 2.0, 1e-12);
	assert_true(isnan(one.lo));
	assert_int_equal(one.further, 5);
	assert_string_equal(three.reason, "few_rounds");
	assert_int_equal(three.further, 3);
	/* Four rounds have an interval, and no p that is small enough. */
	assert_string_equal(
	    judge(&bandwidth, 2.0, 1e-3, 4).reason, "few_rounds");
	assert_int_equal(judge(&bandwidth, 2.0, 1e-3, 6).verdict, SV_FASTER);
}

static void noise_says_how_many_rounds_would_decide(void **state)
{
	struct judged close = judge(&bandwidth, 1.001, 9e-3, 6);
	struct judged noisy = judge(&bandwidth, 1.001, 4.5e-2, 6);

	(void)state;
	assert_string_equal(close.reason, "noise");
	assert_string_equal(noisy.reason, "noise");
	assert_true(close.further > 0);
	/* Five times the spread takes 25 times the rounds. */
	assert_true(
	    noisy.further == -1 || noisy.further > 15 * (close.further + 6));
}

static void throttled_on_one_side_is_no_comparison(void **state)
{
	static const char *const flags[] = {"throttled"};
	struct sv_measurement hot = bandwidth;
	struct sv_result *a = test_result("a", "x", NULL);
	struct sv_result *b = test_result("b", "x", NULL);
	struct judged j;

	(void)state;
	hot.flags = flags;
	hot.n_flags = 1;
	test_add_around(a, &bandwidth, 1.0, 1e-3, 10);
	test_add_around(b, &hot, 0.5, 1e-3, 10);
	j = judge_results(a, b, &usual);
	assert_int_equal(j.verdict, SV_UNCLEAR);
	assert_string_equal(j.reason, "throttled");
	assert_near(j.ratio, 0.5, 1e-9);
	/* Sustained against sustained is fair. */
	assert_int_equal(judge(&hot, 0.5, 1e-3, 10).verdict, SV_SLOWER);
}

static void a_lower_clock_is_told_from_slower_silicon(void **state)
{
	struct sv_result *a = test_result("a", "x", NULL);
	struct sv_result *b = test_result("b", "x", NULL);
	struct judged j;

	(void)state;
	json_object_set_new(a->device, "clocks",
	    json_pack("{s:{s:f}}", "under_load", "sm_Hz", 2.0e9));
	json_object_set_new(b->device, "clocks",
	    json_pack("{s:{s:f}}", "under_load", "sm_Hz", 1.5e9));
	test_add_around(a, &gemm, 4e13, 1e-3, 10);
	test_add_around(b, &gemm, 3e13, 1e-3, 10);
	j = judge_results(a, b, &usual);
	assert_int_equal(j.verdict, SV_SLOWER);
	assert_near(j.ratio, 0.75, 1e-9);
	assert_near(j.ratio_cycles, 1.0, 1e-9);
	/* A copy over the bus is not bound by it. */
	assert_true(isnan(judge(&latency, 0.5, 1e-3, 10).ratio_cycles));
}

static void below_the_clocks_resolution_nothing_is_said(void **state)
{
	struct sv_compare_options options = usual;
	struct sv_result *a = test_result("a", "x", NULL);
	struct sv_result *b = test_result("b", "x", NULL);

	(void)state;
	options.min_effect = 0.0;
	test_add_around(a, &bandwidth, 1.0, 1e-5, 10);
	test_add_around(b, &bandwidth, 1.004, 1e-5, 10);
	assert_int_equal(judge_results(a, b, &options).verdict, SV_SAME);
}

static void a_control_that_moves_voids_everything(void **state)
{
	static const char *const controls[] = {"sync/*", NULL};
	struct sv_compare_options options = usual;
	struct sv_result *a = test_result("a", "x", NULL);
	struct sv_result *b = test_result("b", "x", NULL);
	struct sv_comparison *c;
	struct sv_err err;
	char *text;

	(void)state;
	test_add_around(a, &bandwidth, 1.0, 1e-3, 10);
	test_add_around(b, &bandwidth, 2.0, 1e-3, 10);
	test_add_around(a, &latency, 1.0, 1e-3, 10);
	test_add_around(b, &latency, 1.2, 1e-3, 10);
	c = compare(a, b);
	assert_null(c->moved);
	assert_int_equal(c->counts[SV_FASTER], 1);
	sv_comparison_free(c);
	options.controls = controls;
	assert_int_equal(sv_compare(a, b, &options, &c, &err), 0);
	assert_string_equal(c->moved, "sync/wait");
	assert_string_equal(c->pairs[0].reason, "control_moved");
	assert_int_equal(c->pairs[1].verdict, SV_SLOWER);
	text = sv_comparison_text(c);
	assert_non_null(strstr(text, "Nothing here holds"));
	free(text);
	sv_comparison_free(c);
	sv_result_free(a);
	sv_result_free(b);
}

/* Results with n measurements each; what is compared, as JSON. */
static char *compared(size_t n, const size_t *order, double scale)
{
	static const struct sv_measurement *const kinds[] = {
	    &bandwidth, &latency, &gemm, &step};
	struct sv_result *sides[2];
	struct sv_comparison *c;
	char *text;
	json_t *tree;

	for (int side = 0; side < 2; side++) {
		sides[side] = test_result(side ? "b" : "a", "x", NULL);
		for (size_t k = 0; k < n; k++) {
			size_t i = order[k];
			uint64_t seed = 10 * i + (uint64_t)side;
			struct sv_measurement m = *kinds[i % 4];
			struct sv_result_param p = {"i", NULL, (int64_t)i};
			double rounds[8];

			m.params = &p;
			m.n_params = 1;
			for (size_t j = 0; j < 8; j++)
				rounds[j] =
				    scale *
				    (1.0 + side * 0.01 * (double)(i % 9)) *
				    (1.0 + 0.01 * test_normal(&seed));
			test_add(sides[side], &m, rounds, 8);
		}
	}
	c = compare(sides[0], sides[1]);
	tree = sv_comparison_json(c);
	text = json_dumps(tree, JSON_INDENT(1));
	assert_non_null(text);
	json_decref(tree);
	sv_comparison_free(c);
	sv_result_free(sides[0]);
	sv_result_free(sides[1]);
	return text;
}

static void the_order_of_a_file_changes_no_byte(void **state)
{
	static const size_t forth[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
	static const size_t mixed[] = {7, 3, 9, 0, 5, 1, 8, 2, 6, 4};
	char *one = compared(10, forth, 1.0), *other = compared(10, mixed, 1.0);

	(void)state;
	assert_string_equal(one, other);
	free(one);
	free(other);
}

/* Fields of pair i of a comparison as JSON. */
static json_t *pair_of(json_t *comparison, const char *id)
{
	json_t *list = json_object_get(comparison, "pairs"), *pair;
	size_t i;

	json_array_foreach (list, i, pair)
		if (strcmp(json_string_value(json_object_get(pair, "id")),
			id) == 0)
			return pair;
	fail_msg("no pair %s", id);
	return NULL;
}

static void assert_same_fields(
    json_t *one, json_t *other, const char *const *fields, double tolerance)
{
	json_t *a, *b;

	for (; *fields != NULL; fields++) {
		a = json_object_get(one, *fields);
		b = json_object_get(other, *fields);
		if (json_is_real(a) && json_is_real(b))
			assert_near(
			    json_real_value(a), json_real_value(b), tolerance);
		else
			assert_true(json_equal(a, b));
	}
}

static void an_unrelated_measurement_changes_corrections_alone(void **state)
{
	static const char *const fields[] = {
	    "a", "b", "ratio", "ci95", "p", "verdict", "reason", NULL};
	static const size_t order[] = {0, 1, 2, 3, 4, 5, 6, 7};
	char *few = compared(7, order, 1.0), *more = compared(8, order, 1.0);
	json_t *one = json_loads(few, 0, NULL);
	json_t *other = json_loads(more, 0, NULL), *pair;
	size_t i;

	(void)state;
	json_array_foreach (json_object_get(one, "pairs"), i, pair)
		assert_same_fields(pair,
		    pair_of(
			other, json_string_value(json_object_get(pair, "id"))),
		    fields, 0.0);
	json_decref(one);
	json_decref(other);
	free(few);
	free(more);
}

static void the_scale_of_a_unit_changes_nothing(void **state)
{
	static const char *const fields[] = {
	    "ratio", "p", "p_adjusted", "verdict", "reason", NULL};
	static const size_t order[] = {0, 1, 2, 3, 4, 5, 6, 7};
	char *small = compared(8, order, 1.0);
	char *large = compared(8, order, 1e9);
	json_t *one = json_loads(small, 0, NULL);
	json_t *other = json_loads(large, 0, NULL), *pair;
	size_t i;

	(void)state;
	json_array_foreach (json_object_get(one, "pairs"), i, pair)
		assert_same_fields(pair,
		    pair_of(
			other, json_string_value(json_object_get(pair, "id"))),
		    fields, 1e-12);
	json_decref(one);
	json_decref(other);
	free(small);
	free(large);
}

/* Anything that a file may hold: no rounds, zeros, ties, flags, failures. */
static struct sv_result *anything(const char *label, uint64_t *seed)
{
	static const struct sv_measurement *const kinds[] = {
	    &bandwidth, &latency, &gemm, &step};
	static const char *const flags[] = {
	    "throttled", "above_reference", "noisy"};
	struct sv_result *r = test_result(label, "x", NULL);

	for (size_t i = 0; i < 24; i++) {
		struct sv_measurement m = *kinds[i % 4];
		struct sv_result_param p = {"i", NULL, (int64_t)i};
		double rounds[12];
		size_t n = (size_t)(13.0 * test_uniform(seed));
		double middle = test_uniform(seed) < 0.05  ? 0.0
				: test_uniform(seed) < 0.5 ? 1.0
							   : 1.5;
		double spread = 0.1 * test_uniform(seed) * test_uniform(seed);
		size_t flag = (size_t)(6.0 * test_uniform(seed));

		m.params = &p;
		m.n_params = 1;
		m.flags = &flags[flag < 3 ? flag : 0];
		m.n_flags = flag < 3;
		m.check =
		    test_uniform(seed) < 0.05 ? SV_CHECK_FAIL : SV_CHECK_PASS;
		for (size_t j = 0; j < n; j++)
			rounds[j] = middle + spread * test_normal(seed) +
				    (test_uniform(seed) < 0.3 ? 0.0 : 0.001);
		m.summary = test_summary(&middle, 1);
		test_add(r, &m, rounds, n);
	}
	return r;
}

static void assert_sound(const struct sv_pair *p)
{
	assert_int_equal(p->verdict == SV_UNCLEAR, p->reason != NULL);
	assert_true(p->further >= -1);
	assert_true(p->verdict == SV_UNCLEAR || p->further == -1);
	assert_true(p->verdict == SV_UNCLEAR ||
		    (p->lo <= p->ratio && p->ratio <= p->hi));
	assert_true(isnan(p->p) || (p->p >= 0.0 && p->p <= 1.0));
	assert_true(isnan(p->p) || p->p_adjusted >= p->p);
}

static void whatever_is_compared_has_a_reason_and_an_opposite(void **state)
{
	static const enum sv_verdict inverse[] = {
	    SV_SLOWER, SV_FASTER, SV_SAME, SV_UNCLEAR};
	uint64_t seed = 99;
	size_t seen[4] = {0};

	(void)state;
	for (int run = 0; run < 100; run++) {
		struct sv_result *a = anything("a", &seed);
		struct sv_result *b = anything("b", &seed);
		struct sv_comparison *ab = compare(a, b), *ba = compare(b, a);
		json_t *tree = sv_comparison_json(ab);

		assert_non_null(tree);
		json_decref(tree);
		for (size_t i = 0; i < ab->n_pairs; i++) {
			const struct sv_pair *p = &ab->pairs[i];
			const struct sv_pair *q = &ba->pairs[i];

			assert_sound(p);
			assert_int_equal(p->verdict, inverse[q->verdict]);
			assert_true(isnan(p->ratio)
					? isnan(q->ratio)
					: p->log_ratio == -q->log_ratio);
			assert_true(isnan(p->lo) ? isnan(q->lo)
						 : p->log_lo == -q->log_hi);
			assert_true(p->reason == q->reason);
			assert_int_equal(p->further, q->further);
			seen[p->verdict]++;
		}
		sv_comparison_free(ab);
		sv_comparison_free(ba);
		sv_result_free(a);
		sv_result_free(b);
	}
	for (int i = 0; i < 4; i++)
		assert_true(seen[i] > 0);
}

static void worst_and_best_come_first_on_request(void **state)
{
	const double before[] = {1.0, 1.0, 1.0}, after[] = {1.2, 1.0, 0.5};
	struct sv_compare_options options = usual;
	struct sv_result *a = make("a", "x", 3, before, 0.001, 1);
	struct sv_result *b = make("b", "x", 3, after, 0.001, 2);
	struct sv_comparison *c;
	struct sv_err err;

	(void)state;
	options.sort = SV_SORT_WORST;
	assert_int_equal(sv_compare(a, b, &options, &c, &err), 0);
	assert_string_equal(c->order[0]->a->id, "memory/bandwidth?i=2");
	assert_string_equal(c->order[2]->a->id, "memory/bandwidth?i=0");
	sv_comparison_free(c);
	options.sort = SV_SORT_BEST;
	assert_int_equal(sv_compare(a, b, &options, &c, &err), 0);
	assert_string_equal(c->order[0]->a->id, "memory/bandwidth?i=0");
	assert_string_equal(c->order[2]->a->id, "memory/bandwidth?i=2");
	/* The pairs themselves stay by id. */
	assert_string_equal(c->pairs[0].a->id, "launch/submit?i=1");
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
	    cmocka_unit_test(
		a_latency_is_the_same_until_it_can_differ_by_a_twentieth),
	    cmocka_unit_test(what_lacks_rounds_says_how_many),
	    cmocka_unit_test(noise_says_how_many_rounds_would_decide),
	    cmocka_unit_test(throttled_on_one_side_is_no_comparison),
	    cmocka_unit_test(a_lower_clock_is_told_from_slower_silicon),
	    cmocka_unit_test(below_the_clocks_resolution_nothing_is_said),
	    cmocka_unit_test(a_control_that_moves_voids_everything),
	    cmocka_unit_test(the_order_of_a_file_changes_no_byte),
	    cmocka_unit_test(
		an_unrelated_measurement_changes_corrections_alone),
	    cmocka_unit_test(the_scale_of_a_unit_changes_nothing),
	    cmocka_unit_test(whatever_is_compared_has_a_reason_and_an_opposite),
	    cmocka_unit_test(worst_and_best_come_first_on_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}

/*
 * The step model against an event by event simulation, shares against their
 * definition, and readings between measurements.
 */
#include <stdlib.h>
#include <string.h>

#include "attribution.h"
#include "cmocka_all.h"
#include "explain.h"
#include "inputs.h"
#include "near.h"
#include "random.h"
#include "step_model.h"

/* One clock of the host, one of the device, kernel by kernel. */
struct clocks {
	double host, device;
};

static void run_kernels(struct clocks *c, size_t n, const double *device_s,
    double host_s, double latency_s, size_t queue)
{
	double *end = calloc(n, sizeof *end);

	assert_non_null(end);
	for (size_t i = 0; i < n; i++) {
		double start;

		/* The queue is full: the host waits for a place. */
		if (i >= queue && end[i - queue] > c->host)
			c->host = end[i - queue];
		c->host += host_s;
		start = c->host + latency_s;
		if (c->device > start)
			start = c->device;
		end[i] = c->device = start + device_s[i];
	}
	free(end);
}

/* Seconds of a step that ends with a wait, `waits` of them a step. */
static double simulated(size_t kernels, double kernel_s, double host_s,
    double latency_s, size_t waits, double wait_s)
{
	double *device_s = calloc(kernels, sizeof *device_s);
	struct clocks c = {0.0, 0.0};

	assert_non_null(device_s);
	for (size_t i = 0; i < kernels; i++)
		device_s[i] = kernel_s;
	for (size_t w = 0; w < waits; w++) {
		run_kernels(
		    &c, kernels / waits, device_s, host_s, latency_s, 1024);
		if (c.device > c.host)
			c.host = c.device;
		c.host += wait_s;
	}
	free(device_s);
	return c.host;
}

static struct sv_stages plain(
    double kernels, double host_s, double latency_s, double memory_s)
{
	struct sv_stages s = {.memory_s = memory_s};

	s.dispatch.kernels = kernels;
	s.dispatch.host_each_s = host_s;
	s.dispatch.latency_s = latency_s;
	return s;
}

static void the_clocks_agree_with_a_simulation_of_every_kernel(void **state)
{
	static const double kernels[] = {0.5e-6, 2e-6, 9e-6};
	static const double hosts[] = {1e-6, 2.5e-6, 8e-6};
	static const size_t waits[] = {1, 5, 100, 1000};

	(void)state;
	for (size_t k = 0; k < 3; k++)
		for (size_t h = 0; h < 3; h++)
			for (size_t w = 0; w < 4; w++) {
				struct sv_stages s = plain(
				    1000, hosts[h], 4e-6, 1000 * kernels[k]);

				s.sync.count = (double)waits[w];
				s.sync.each_s = 7e-6;
				assert_near(sv_step_time(&s),
				    simulated(1000, kernels[k], hosts[h], 4e-6,
					waits[w], 7e-6),
				    1e-9);
			}
}

static void a_step_without_waits_is_its_slower_clock(void **state)
{
	struct sv_stages s = plain(1000, 3e-6, 5e-6, 2e-3);

	(void)state;
	assert_near(sv_step_time(&s), 3e-3, 1e-12);
	s.memory_s = 8e-3;
	assert_near(sv_step_time(&s), 8e-3, 1e-12);
	/* A wait every tenth step costs a tenth of one. */
	s.sync.count = 0.1;
	s.sync.each_s = 1e-3;
	assert_true(sv_step_time(&s) > 8.1e-3);
	assert_true(sv_step_time(&s) < 8.2e-3);
}

static void small_kernels_take_the_least_there_is(void **state)
{
	const struct sv_gemm_time products[] = {{1e-7, 500.0}, {1e-3, 2.0}};
	struct sv_stages s = plain(1000, 1e-9, 0.0, 1e-6);

	(void)state;
	s.dispatch.floor_s = 2e-6;
	s.gemm.list = products;
	s.gemm.n = 2;
	/* 500 products and 498 other kernels of 2 us, two of 1 ms. */
	assert_near(sv_step_time(&s), 998 * 2e-6 + 2e-3, 1e-12);
	/* A typical product is spread over all of them. */
	s.gemm.is_spread = true;
	assert_near(sv_step_time(&s), 500 * 1e-7 + 2e-3 + 1e-6, 1e-12);
}

static void stages_overlap_as_the_workload_says(void **state)
{
	struct sv_stages s = plain(1.0, 0.0, 0.0, 10e-3);

	(void)state;
	s.transfer.s = 4e-3;
	assert_near(sv_step_time(&s), 14e-3, 1e-12);
	s.transfer.hidden = 0.75;
	assert_near(sv_step_time(&s), 11e-3, 1e-12);
	s.storage_s = 8e-3;
	s.preprocess.s = 12e-3;
	assert_near(sv_step_time(&s), 31e-3, 1e-12);
	s.preprocess.is_async = true;
	assert_near(sv_step_time(&s), 12e-3, 1e-12);
	assert_int_equal(sv_step_limit(&s), SV_PREPROCESS);
	s.preprocess.s = 0.0;
	assert_int_equal(sv_step_limit(&s), SV_MEMORY);
}

/* Random stages; now and then one that is the same on both sides. */
static struct sv_stages random_stages(
    uint64_t *random, const struct sv_stages *other, struct sv_gemm_time *list)
{
	struct sv_stages s = plain(floor(1000 * test_uniform(random)) + 1,
	    1e-5 * test_uniform(random), 1e-5 * test_uniform(random),
	    1e-2 * test_uniform(random));

	s.storage_s = 1e-2 * test_uniform(random);
	s.preprocess.s = 1e-2 * test_uniform(random);
	s.preprocess.is_async = test_random(random) % 2 == 0;
	s.transfer.s = 1e-2 * test_uniform(random);
	s.transfer.hidden = test_uniform(random);
	s.dispatch.floor_s = 2e-6 * test_uniform(random);
	*list = (struct sv_gemm_time){1e-5 * test_uniform(random), 100.0};
	s.gemm.list = list;
	s.gemm.n = 1;
	s.sync.count = floor(3 * test_uniform(random));
	s.sync.each_s = 1e-4 * test_uniform(random);
	s.allocator.count = test_uniform(random) < 0.5 ? 0.0 : 1.0;
	s.allocator.each_s = 1e-3 * test_uniform(random);
	s.exchange_s = 1e-3 * test_uniform(random);
	s.spill_s = test_uniform(random) < 0.8 ? 0.0 : 1e-2;
	s.unexplained_s = 1e-4 * (test_uniform(random) - 0.5);
	for (int c = 0; other != NULL && c < SV_N_COMPONENTS; c++)
		if (test_uniform(random) < 0.2)
			sv_stage_take(&s, other, (enum sv_component)c);
	return s;
}

/* The definition: averages over orders, here 2,000 drawn ones. */
static void share_by_orders(const struct sv_stages *a,
    const struct sv_stages *b, uint64_t *random, double share[SV_N_COMPONENTS])
{
	const int orders = 2000;

	for (int c = 0; c < SV_N_COMPONENTS; c++)
		share[c] = 0.0;
	for (int i = 0; i < orders; i++) {
		int order[SV_N_COMPONENTS];
		struct sv_stages mixed = *a;
		double before = sv_step_time(&mixed);

		for (int c = 0; c < SV_N_COMPONENTS; c++)
			order[c] = c;
		for (int c = SV_N_COMPONENTS - 1; c > 0; c--) {
			int k = (int)(test_random(random) % (uint64_t)(c + 1));
			int kept = order[c];

			order[c] = order[k];
			order[k] = kept;
		}
		for (int c = 0; c < SV_N_COMPONENTS; c++) {
			double after;

			sv_stage_take(&mixed, b, (enum sv_component)order[c]);
			after = sv_step_time(&mixed);
			share[order[c]] += (after - before) / orders;
			before = after;
		}
	}
}

static void shares_are_averages_over_all_orders(void **state)
{
	uint64_t random = 7;

	(void)state;
	for (int i = 0; i < 5; i++) {
		struct sv_gemm_time list_a, list_b;
		struct sv_stages a = random_stages(&random, NULL, &list_a);
		struct sv_stages b = random_stages(&random, &a, &list_b);
		struct sv_attribution exact;
		double drawn[SV_N_COMPONENTS];

		sv_attribute_raw(&a, &b, &exact);
		share_by_orders(&a, &b, &random, drawn);
		for (int c = 0; c < SV_N_COMPONENTS; c++)
			assert_true(fabs(exact.share_s[c] - drawn[c]) < 3e-4);
	}
}

static void shares_add_up_and_flip_to_the_last_digit(void **state)
{
	uint64_t random = 11;

	(void)state;
	for (int i = 0; i < 300; i++) {
		struct sv_gemm_time list_a, list_b;
		struct sv_stages a = random_stages(&random, NULL, &list_a);
		struct sv_stages b = random_stages(&random, &a, &list_b);
		double scale = fmax(sv_step_time(&a), sv_step_time(&b));
		struct sv_attribution there, back;
		double sum = 0.0, reverse = 0.0;

		sv_attribute(&a, &b, scale, &there);
		sv_attribute(&b, &a, scale, &back);
		for (int c = 0; c < SV_N_COMPONENTS; c++) {
			int k = SV_N_COMPONENTS - 1 - c;

			sum += there.share_s[c];
			reverse += there.share_s[k];
			assert_true(there.share_s[c] == -back.share_s[c]);
			if (sv_stage_equal(&a, &b, (enum sv_component)c))
				assert_true(there.share_s[c] == 0.0);
		}
		assert_true(sum == there.b_s - there.a_s);
		assert_true(reverse == there.b_s - there.a_s);
		assert_near(there.b_s, sv_step_time(&b), 1e-12);
	}
}

/* A result with these measurements, one "id value" each. */
struct figure {
	const char *bench, *metric, *unit;
	double value;
	struct sv_result_param params[6];
	size_t n_params;
	const char *flag;
};

static struct sv_result *result_of(const struct figure *figures, size_t n)
{
	struct sv_result *r = sv_result_new();
	struct sv_err err;

	assert_non_null(r);
	r->run.id = "test";
	r->run.label = "test";
	for (size_t i = 0; i < n; i++) {
		const struct figure *f = &figures[i];
		struct sv_measurement m = {.bench = f->bench,
		    .metric = f->metric,
		    .params = f->params,
		    .n_params = f->n_params,
		    .unit = f->unit,
		    .higher_is_better = strcmp(f->unit, "s") != 0,
		    .flags = &f->flag,
		    .n_flags = f->flag != NULL ? 1 : 0,
		    .source = -1};

		m.summary = (struct sv_summary){.n = 0,
		    .median = f->value,
		    .ci95 = {NAN, NAN},
		    .mad = NAN,
		    .min = NAN,
		    .max = NAN,
		    .p05 = NAN,
		    .p95 = NAN};
		if (sv_result_add(r, &m, &err) != 0)
			fail_msg("%s", err.text);
	}
	return r;
}

static struct sv_inputs *inputs_of(const struct sv_result *r)
{
	struct sv_inputs *in = NULL;
	struct sv_err err;

	if (sv_inputs_new(r, &in, &err) != 0)
		fail_msg("%s", err.text);
	return in;
}

static void curves_are_read_between_logarithms(void **state)
{
	const struct figure figures[] = {
	    {"transfer", "bandwidth", "B/s", 1e9,
		{{"bytes", NULL, 1000}, {"direction", "h2d", 0},
		    {"memory", "pinned", 0}},
		3, NULL},
	    {"transfer", "bandwidth", "B/s", 1e11,
		{{"bytes", NULL, 100000}, {"direction", "h2d", 0},
		    {"memory", "pinned", 0}},
		3, NULL},
	    {"transfer", "bandwidth", "B/s", 5e9,
		{{"bytes", NULL, 100000}, {"direction", "h2d", 0},
		    {"memory", "pinned", 0}, {"numa", "far", 0}},
		4, NULL},
	    {"transfer", "bandwidth", "B/s", 7e11,
		{{"bytes", NULL, 200000}, {"direction", "h2d", 0},
		    {"memory", "pinned", 0}},
		3, "above_reference"},
	};
	struct sv_result *r = result_of(figures, 4);
	struct sv_inputs *in = inputs_of(r);
	struct sv_evidence e = {.n = 0};

	(void)state;
	assert_near(
	    sv_curve_at(in, in->medians, SV_CURVE_H2D_PINNED, 10000, &e), 1e10,
	    1e-9);
	assert_int_equal(e.n, 2);
	assert_int_equal(e.quality, SV_INTERPOLATED);
	/* Ends are held, and far beyond them it says so. */
	e = (struct sv_evidence){.n = 0};
	assert_near(sv_curve_at(in, in->medians, SV_CURVE_H2D_PINNED, 1e7, &e),
	    1e11, 1e-9);
	assert_int_equal(e.quality, SV_EXTRAPOLATED);
	/* The node apart, the impossible left out, the absent unknown. */
	assert_near(sv_curve_at(in, in->medians, SV_CURVE_H2D_FAR, 1e5, NULL),
	    5e9, 1e-9);
	assert_true(isnan(
	    sv_curve_at(in, in->medians, SV_CURVE_D2H_PINNED, 1e5, NULL)));
	sv_inputs_free(in);
	sv_result_free(r);
}

#define PRODUCT(m, n, k, count, precision, value)                            \
	{                                                                    \
		"gemm", "throughput", "FLOP/s", value,                       \
		    {{"count", NULL, count}, {"k", NULL, k}, {"m", NULL, m}, \
			{"n", NULL, n}, {"precision", precision, 0}},        \
		    5, NULL                                                  \
	}

static double rate_at(const struct sv_inputs *in, enum sv_precision p, double m,
    double n, double k, double count)
{
	const struct sv_gemm_point shape = {m, n, k, count, 0, 0.0};
	struct sv_gemm_plan plan;

	assert_true(sv_gemm_plan(in, NULL, p, &shape, NAN, &plan, NULL));
	return sv_gemm_plan_rate(&plan, in->medians);
}

static void products_are_read_from_those_alike(void **state)
{
	const struct figure figures[] = {
	    PRODUCT(512, 512, 512, 1, "fp16", 2e13),
	    PRODUCT(2048, 2048, 2048, 1, "fp16", 8e13),
	    PRODUCT(32, 4096, 4096, 1, "fp16", 1e13),
	    PRODUCT(128, 128, 64, 512, "fp16", 1.4e13),
	    PRODUCT(1024, 1024, 1024, 1, "fp32", 1e13)};
	struct sv_result *r = result_of(figures, 5);
	struct sv_inputs *in = inputs_of(r);
	const struct sv_gemm_point shape = {32, 4096, 4096, 1, 0, 0.0};
	struct sv_gemm_plan plan;

	(void)state;
	/* What was measured comes back, cubes and others. */
	assert_near(rate_at(in, SV_FP16, 512, 512, 512, 1), 2e13, 1e-3);
	assert_near(rate_at(in, SV_FP16, 2048, 2048, 2048, 1), 8e13, 1e-3);
	assert_near(rate_at(in, SV_FP16, 32, 4096, 4096, 1), 1e13, 1e-3);
	assert_near(rate_at(in, SV_FP16, 4096, 32, 4096, 1), 1e13, 1e-3);
	assert_near(rate_at(in, SV_FP16, 128, 128, 64, 512), 1.4e13, 1e-3);
	/* Between cubes, on logarithms; a kin of the thin one below a cube. */
	assert_near(rate_at(in, SV_FP16, 1024, 1024, 1024, 1), 4e13, 0.02);
	assert_true(rate_at(in, SV_FP16, 64, 4096, 4096, 1) <
		    rate_at(in, SV_FP16, 1024, 1024, 1024, 1));
	/* bf16 from fp16; tf32, with no peaks known, at half of it. */
	assert_near(rate_at(in, SV_BF16, 2048, 2048, 2048, 1), 8e13, 1e-3);
	assert_near(rate_at(in, SV_TF32, 2048, 2048, 2048, 1), 4e13, 1e-3);
	/* No faster than memory feeds it: 32 FLOP a byte. */
	assert_true(sv_gemm_plan(in, NULL, SV_FP32, &shape, 1e11, &plan, NULL));
	assert_true(sv_gemm_plan_rate(&plan, in->medians) < 1.7e12);
	sv_inputs_free(in);
	sv_result_free(r);
}

static void of_many_figures_for_one_thing_the_middle_one_stands(void **state)
{
	const struct figure figures[] = {
	    {"memory", "bandwidth", "B/s", 9e11,
		{{"op", "copy", 0}, {"tool", "x", 0}}, 2, NULL},
	    {"memory", "bandwidth", "B/s", 5e11,
		{{"op", "copy", 0}, {"tool", "y", 0}}, 2, NULL},
	    {"memory", "bandwidth", "B/s", 8e11,
		{{"op", "copy", 0}, {"tool", "z", 0}}, 2, NULL},
	    {"gemm", "throughput", "FLOP/s", 7e13,
		{{"precision", "fp16", 0}, {"size", "best", 0}}, 2, NULL}};
	struct sv_result *r = result_of(figures, 4);
	struct sv_inputs *in = inputs_of(r);

	(void)state;
	assert_near(sv_curve_at(in, in->medians, SV_CURVE_COPY, 1e6, NULL),
	    8e11, 1e-12);
	/* The best of all sizes is known, how it falls off is not. */
	assert_near(rate_at(in, SV_FP16, 512, 512, 512, 1), 7e13, 1e-9);
	sv_inputs_free(in);
	sv_result_free(r);
}

static struct sv_workload *workload_of(const char *terms)
{
	char text[1000];
	struct sv_workload *w = NULL;
	struct sv_err err;

	snprintf(text, sizeof text,
	    "{\"schema\":\"stave.workload/1\",\"name\":\"w\",\"defaults\":"
	    "{\"batch\":4,\"precision\":\"fp32\"},%s}",
	    terms);
	if (sv_workload_parse(text, strlen(text), "w", &w, &err) != 0)
		fail_msg("%s", err.text);
	return w;
}

/* A card that copies memory, and took so long for a step of it. */
static struct sv_result *card(double copy_Bps, double step_s, bool waits)
{
	const struct figure figures[] = {
	    {"memory", "bandwidth", "B/s", copy_Bps, {{"op", "copy", 0}}, 1,
		NULL},
	    {"step", "time", "s", step_s,
		{{"batch", NULL, 4}, {"habit", "baseline", 0},
		    {"precision", "fp32", 0}, {"workload", "w", 0}},
		4, NULL},
	    {"sync", "readback", "s", 1e-3, {{"wait", "spin", 0}}, 1, NULL},
	};

	return result_of(figures, waits ? 3 : 2);
}

static struct sv_explanation *explain(const struct sv_result *a,
    const struct sv_result *b, const struct sv_workload *w)
{
	struct sv_explain_request request = {
	    .a = a, .b = b, .workload_a = w, .workload_b = w, .draws = 100};
	struct sv_explanation *x = NULL;
	struct sv_err err;

	if (sv_explain(&request, &x, &err) != 0)
		fail_msg("%s", err.text);
	return x;
}

static void a_measured_step_that_agrees_is_said_to(void **state)
{
	struct sv_workload *w =
	    workload_of("\"memory_bytes_per_step\":{\"fp32\":1e9}");
	struct sv_result *a = card(1e11, 10.5e-3, false);
	struct sv_result *b = card(2e11, 5.2e-3, false);
	struct sv_explanation *x = explain(a, b, w);

	(void)state;
	assert_true(x->has_measured_step);
	assert_false(x->is_withheld);
	assert_near(x->a.step_s, 10.5e-3, 1e-9);
	assert_near(x->b.step_s, 5.2e-3, 1e-9);
	assert_near(x->model_error, 1 - 10.0 / 10.5, 1e-6);
	assert_near(x->unexplained_s, 0.2e-3 - 0.5e-3, 1e-6);
	assert_string_equal(x->b.limiting, "memory");
	sv_explanation_free(x);
	sv_result_free(a);
	sv_result_free(b);
	sv_workload_free(w);
}

static void a_measured_step_that_does_not_withholds_the_story(void **state)
{
	struct sv_workload *w =
	    workload_of("\"memory_bytes_per_step\":{\"fp32\":1e9}");
	struct sv_result *a = card(1e11, 10e-3, false);
	struct sv_result *b = card(2e11, 14e-3, false);
	struct sv_explanation *x = explain(a, b, w);
	double sum = 0.0;

	(void)state;
	assert_true(x->is_withheld);
	assert_int_equal(x->verdict, SV_VERDICT_UNKNOWN);
	assert_int_equal(x->n_causes, 1);
	assert_string_equal(x->causes[0].code, "UNEXPLAINED");
	assert_near(x->unexplained_s, 9e-3, 1e-6);
	for (size_t i = 0; i < SV_EXPLAINED_COMPONENTS; i++)
		sum += x->components[i].share_s;
	assert_true(sum == x->b.step_s - x->a.step_s);
	sv_explanation_free(x);
	sv_result_free(a);
	sv_result_free(b);
	sv_workload_free(w);
}

static void what_one_side_lacks_is_left_out_of_both_and_named(void **state)
{
	struct sv_workload *w =
	    workload_of("\"memory_bytes_per_step\":{\"fp32\":1e9},"
			"\"syncs_per_step\":3");
	struct sv_result *a = card(1e11, 10e-3, true);
	struct sv_result *b = card(2e11, 5e-3, false);
	struct sv_explanation *x = explain(a, b, w);
	bool named = false;

	(void)state;
	assert_near(x->a.step_s, 10e-3, 1e-9);
	assert_near(x->b.step_s, 5e-3, 1e-9);
	for (size_t i = 0; i < x->n_not_modelled; i++)
		named = named || strcmp(x->not_modelled[i],
				     "sync (not measured on B)") == 0;
	assert_true(named);
	assert_non_null(strstr(x->next, "--bench sync"));
	sv_explanation_free(x);
	sv_result_free(a);
	sv_result_free(b);
	sv_workload_free(w);
}

static void nothing_in_common_is_refused(void **state)
{
	struct sv_workload *w =
	    workload_of("\"memory_bytes_per_step\":{\"fp32\":1e9}");
	struct sv_result *a = card(1e11, 10e-3, false);
	struct sv_result *b = result_of(NULL, 0);
	struct sv_explain_request request = {
	    .a = a, .b = b, .workload_a = w, .workload_b = w};
	struct sv_explanation *x = NULL;
	struct sv_err err;

	(void)state;
	assert_int_equal(sv_explain(&request, &x, &err), SV_EINPUT);
	assert_null(x);
	assert_non_null(strstr(err.text, "expected measurements"));
	sv_result_free(a);
	sv_result_free(b);
	sv_workload_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		the_clocks_agree_with_a_simulation_of_every_kernel),
	    cmocka_unit_test(a_step_without_waits_is_its_slower_clock),
	    cmocka_unit_test(small_kernels_take_the_least_there_is),
	    cmocka_unit_test(stages_overlap_as_the_workload_says),
	    cmocka_unit_test(shares_are_averages_over_all_orders),
	    cmocka_unit_test(shares_add_up_and_flip_to_the_last_digit),
	    cmocka_unit_test(curves_are_read_between_logarithms),
	    cmocka_unit_test(products_are_read_from_those_alike),
	    cmocka_unit_test(
		of_many_figures_for_one_thing_the_middle_one_stands),
	    cmocka_unit_test(a_measured_step_that_agrees_is_said_to),
	    cmocka_unit_test(a_measured_step_that_does_not_withholds_the_story),
	    cmocka_unit_test(what_one_side_lacks_is_left_out_of_both_and_named),
	    cmocka_unit_test(nothing_in_common_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}

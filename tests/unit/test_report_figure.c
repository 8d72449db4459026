/* What pictures show: chosen right, told apart, and laid out in bounds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "figure.h"
#include "gnuplot.h"

static struct sv_result *new_result(const char *label)
{
	struct sv_result *r = sv_result_new();

	assert_non_null(r);
	r->run.label = sv_result_text(r, label);
	return r;
}

static void add(struct sv_result *r, const char *bench, const char *metric,
    const char *unit, struct sv_result_param *params, size_t n, double value,
    enum sv_check_status check)
{
	const double rounds[] = {0.9 * value, value, 1.1 * value};
	struct sv_err err;
	struct sv_measurement m = {.bench = bench,
	    .metric = metric,
	    .params = params,
	    .n_params = n,
	    .unit = unit,
	    .higher_is_better = true,
	    .rounds = rounds,
	    .n_rounds = 3,
	    .summary = {.n = 3,
		.median = value,
		.ci95 = {0.95 * value, 1.05 * value},
		.mad = NAN,
		.min = NAN,
		.max = NAN,
		.p05 = NAN,
		.p95 = NAN},
	    .check = check,
	    .source = -1};

	if (sv_result_add(r, &m, &err) != 0)
		fail_msg("%s", err.text);
}

static void add_copy(struct sv_result *r, const char *direction,
    const char *kind, int64_t bytes, double value, enum sv_check_status check)
{
	struct sv_result_param params[] = {{"bytes", NULL, bytes},
	    {"direction", direction, 0}, {"memory", kind, 0}};

	add(r, "transfer", "bandwidth", "B/s", params, 3, value, check);
}

static struct sv_figure *make(
    const char *kind, const struct sv_result *a, const struct sv_result *b)
{
	const struct sv_result *both[] = {a, b};
	struct sv_figure *f;
	struct sv_err err;

	assert_int_equal(sv_figure_make(sv_figure_find(kind), both,
			     b != NULL ? 2 : 1, &f, &err),
	    0);
	return f;
}

static char *script(const struct sv_figure *f)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);
	struct sv_err err;

	assert_int_equal(sv_gnuplot_script(f, SV_PICTURE_SVG, out, &err), 0);
	fclose(out);
	return text;
}

static void one_machine_has_a_colour_for_each_direction(void **state)
{
	struct sv_result *r = new_result("box");
	struct sv_figure *f;

	(void)state;
	/* Out of order, and a kind of memory that is not drawn. */
	add_copy(r, "h2d", "pageable", 1 << 20, 8e9, SV_CHECK_NONE);
	add_copy(r, "h2d", "pinned", 1 << 20, 2e10, SV_CHECK_PASS);
	add_copy(r, "h2d", "pinned", 1 << 12, 1e9, SV_CHECK_PASS);
	add_copy(r, "d2h", "pinned", 1 << 20, 2.1e10, SV_CHECK_PASS);
	add_copy(r, "h2d", "mapped", 1 << 20, 1.5e10, SV_CHECK_PASS);
	f = make("transfer", r, NULL);
	assert_non_null(f);
	assert_int_equal(f->n_panels, 1);
	assert_int_equal(f->panels[0].n_traces, 3);
	assert_string_equal(f->panels[0].traces[1].label, "h2d pinned");
	assert_int_equal(f->panels[0].traces[1].n, 2);
	assert_int_equal(f->panels[0].traces[1].dash, 0);
	assert_true(f->panels[0].traces[1].points[0].x == 1 << 12);
	assert_true(f->panels[0].traces[1].points[1].hi == 1.05 * 2e10);
	assert_string_equal(f->panels[0].traces[0].label, "h2d pageable");
	assert_int_equal(f->panels[0].traces[0].colour, 0);
	assert_int_equal(f->panels[0].traces[0].dash, 1);
	assert_string_equal(f->panels[0].traces[2].label, "d2h pinned");
	assert_int_equal(f->panels[0].traces[2].colour, 1);
	assert_non_null(strstr(f->subtitle, "1 figures of other"));
	sv_figure_free(f);
	sv_result_free(r);
}

static void two_machines_have_a_colour_each_and_a_panel_a_direction(
    void **state)
{
	struct sv_result *a = new_result("same"), *b = new_result("same");
	struct sv_figure *f;

	(void)state;
	add_copy(a, "h2d", "pinned", 1 << 20, 2e10, SV_CHECK_PASS);
	add_copy(b, "d2h", "pinned", 1 << 20, 1e10, SV_CHECK_PASS);
	add_copy(b, "h2d", "pinned", 1 << 20, 3e10, SV_CHECK_PASS);
	f = make("transfer", a, b);
	assert_int_equal(f->n_panels, 2);
	assert_string_equal(f->panels[0].title, "h2d");
	assert_int_equal(f->panels[0].n_traces, 2);
	assert_int_equal(f->panels[0].traces[1].colour, 1);
	assert_int_equal(f->panels[1].n_traces, 1);
	assert_int_equal(f->panels[1].traces[0].colour, 1);
	/* Machines of one name are told apart. */
	assert_string_equal(f->names[0], "1: same");
	assert_string_equal(f->names[1], "2: same");
	sv_figure_free(f);
	sv_result_free(a);
	sv_result_free(b);
}

static void what_failed_its_check_is_never_drawn(void **state)
{
	struct sv_result *r = new_result("box");

	(void)state;
	add_copy(r, "h2d", "pinned", 1 << 20, 2e10, SV_CHECK_FAIL);
	assert_null(make("transfer", r, NULL));
	assert_null(make("rounds", r, NULL));
	sv_result_free(r);
}

static void the_link_is_that_under_load(void **state)
{
	struct sv_result *r = new_result("box");
	struct sv_figure *f;

	(void)state;
	json_object_set_new(r->device, "pcie",
	    json_pack("{s:i, s:i, s:{s:i, s:i}}", "generation", 1, "width", 16,
		"under_load", "generation", 3, "width", 8));
	add_copy(r, "h2d", "pinned", 1 << 20, 6e9, SV_CHECK_PASS);
	f = make("transfer", r, NULL);
	assert_int_equal(f->panels[0].n_marks, 1);
	assert_string_equal(f->panels[0].marks[0].label, "link Gen3 x8");
	/* 8 GT/s, 128 of 130 bits, 8 lanes: 7.877 GB/s. */
	assert_true(fabs(f->panels[0].marks[0].at - 7.8769e9) < 1e6);
	sv_figure_free(f);
	sv_result_free(r);
}

static void equal_peaks_share_a_line_and_far_ones_have_none(void **state)
{
	static const char *const names[] = {"fp16", "bf16", "fp64"};
	struct sv_result *r = new_result("box");
	struct sv_figure *f;

	(void)state;
	json_object_set_new(r->device, "peak_flops",
	    json_pack(
		"{s:f, s:f, s:f}", "fp16", 2e14, "bf16", 2e14, "fp64", 9e20));
	for (int i = 0; i < 3; i++) {
		struct sv_result_param params[] = {{"batch", NULL, 1},
		    {"count", NULL, 1}, {"k", NULL, 64}, {"m", NULL, 64},
		    {"n", NULL, 64}, {"precision", names[i], 0},
		    {"shape", "square", 0}};

		add(r, "gemm", "throughput", "FLOP/s", params, 7, 1e14,
		    SV_CHECK_PASS);
	}
	f = make("gemm-size", r, NULL);
	assert_int_equal(f->panels[0].n_traces, 3);
	assert_int_equal(f->panels[0].n_marks, 1);
	assert_string_equal(
	    f->panels[0].marks[0].label, "peak fp16, peak bf16");
	sv_figure_free(f);
	assert_null(make("gemm-batch", r, NULL));
	sv_result_free(r);
}

static void bars_pair_rows_of_machines(void **state)
{
	struct sv_result_param small[] = {{"args_bytes", NULL, 0}};
	struct sv_result_param large[] = {{"args_bytes", NULL, 1024}};
	struct sv_result *a = new_result("a"), *b = new_result("b");
	struct sv_figure *f;

	(void)state;
	add(a, "launch", "submit", "s", small, 1, 2e-6, SV_CHECK_NONE);
	add(a, "launch", "submit", "s", large, 1, 3e-6, SV_CHECK_NONE);
	add(b, "launch", "submit", "s", large, 1, 4e-6, SV_CHECK_NONE);
	add(b, "sync", "loop", "s", NULL, 0, 5e-6, SV_CHECK_NONE);
	f = make("launch", a, b);
	assert_int_equal(f->n_panels, 2);
	assert_int_equal(f->panels[0].n_rows, 2);
	assert_int_equal(f->panels[0].n_traces, 3);
	assert_int_equal(f->panels[0].traces[2].dash, 1);
	assert_string_equal(f->panels[0].traces[2].label, "b args_bytes=1024");
	assert_string_equal(f->panels[1].rows[0], "");
	sv_figure_free(f);
	sv_result_free(a);
	sv_result_free(b);
}

static void too_many_rounds_show_the_widest(void **state)
{
	struct sv_result *r = new_result("box");
	struct sv_figure *f;

	(void)state;
	for (int i = 0; i < 100; i++)
		add_copy(r, "h2d", "pinned", 4096 + i, 1e9 + i, SV_CHECK_PASS);
	f = make("rounds", r, NULL);
	assert_int_equal(f->panels[0].n_rows, 32);
	assert_non_null(strstr(f->subtitle, "32 of 100"));
	sv_figure_free(f);
	sv_result_free(r);
}

static void too_many_curves_keep_those_with_a_course(void **state)
{
	struct sv_result *r = new_result("box");
	struct sv_figure *f;

	(void)state;
	for (int i = 0; i < 14; i++) {
		char direction[8];

		snprintf(direction, sizeof direction, "d%d", i);
		add_copy(r, direction, "pinned", 4096, 1e10, SV_CHECK_PASS);
		if (i % 2 == 1)
			add_copy(
			    r, direction, "pinned", 8192, 1e10, SV_CHECK_PASS);
	}
	f = make("transfer", r, NULL);
	assert_int_equal(f->panels[0].n_traces, 7);
	assert_string_equal(f->panels[0].traces[0].label, "d1 pinned");
	assert_non_null(strstr(f->subtitle, "7 figures of other"));
	sv_figure_free(f);
	sv_result_free(r);
}

/* One size by two tools is two curves of one point, no upright line. */
static void other_parameters_make_other_curves(void **state)
{
	static const char *const tools[] = {"one", "two"};
	struct sv_result *r = new_result("box");
	struct sv_figure *f;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct sv_result_param params[] = {{"bytes", NULL, 4096},
		    {"direction", "h2d", 0}, {"memory", "pinned", 0},
		    {"tool", tools[i], 0}};

		add(r, "transfer", "bandwidth", "B/s", params, 4, 1e10,
		    SV_CHECK_NONE);
	}
	f = make("transfer", r, NULL);
	assert_int_equal(f->panels[0].n_traces, 2);
	assert_string_equal(f->panels[0].traces[1].label, "h2d pinned two");
	sv_figure_free(f);
	sv_result_free(r);
}

static void windows_become_a_course_over_time(void **state)
{
	static const double first[] = {4.0, 2.0}, second[] = {6.0, 2.0};
	static const double rounds[] = {3.0, 4.0};
	const struct sv_series samples[] = {{first, 2}, {second, 2}};
	struct sv_result_param params[] = {
	    {"precision", "fp16", 0}, {"seconds", NULL, 10}};
	struct sv_result *r = new_result("box");
	struct sv_figure *f;
	struct sv_err err;
	struct sv_measurement m = {.bench = "sustain",
	    .metric = "throughput",
	    .params = params,
	    .n_params = 2,
	    .unit = "FLOP/s",
	    .higher_is_better = true,
	    .rounds = rounds,
	    .n_rounds = 2,
	    .samples = samples,
	    .n_samples = 2,
	    .summary = {2, 3.5, {NAN, NAN}, NAN, NAN, NAN, NAN, NAN},
	    .source = -1};
	const struct sv_point *p;

	(void)state;
	assert_int_equal(sv_result_add(r, &m, &err), 0);
	f = make("sustain", r, NULL);
	assert_int_equal(f->panels[0].traces[0].n, 2);
	p = f->panels[0].traces[0].points;
	assert_true(p[0].x == 2.5 && p[1].x == 7.5);
	assert_true(p[0].y == 5.0 && p[0].lo == 4.0 && p[0].hi == 6.0);
	sv_figure_free(f);
	sv_result_free(r);
}

/* Every label of a script stands inside the picture. */
static void labels_stay_inside(void **state)
{
	struct sv_result *r = new_result("box");
	struct sv_figure *f;
	char *text, *at;
	size_t n = 0;

	(void)state;
	/* A dozen curves that end at one place. */
	for (int i = 0; i < 12; i++) {
		char direction[8];

		snprintf(direction, sizeof direction, "d%d", i);
		add_copy(r, direction, "pinned", 1 << 20, 1e10, SV_CHECK_PASS);
	}
	f = make("transfer", r, NULL);
	text = script(f);
	for (at = text; (at = strstr(at, " at screen ")) != NULL; at++) {
		double x, y;

		/* The template has places of its own, by name. */
		if (sscanf(at, " at screen %lf,%lf", &x, &y) != 2)
			continue;
		assert_true(x >= 0.0 && x <= 1.0 && y >= 0.0 && y <= 1.0);
		n++;
	}
	assert_true(n > 12);
	free(text);
	sv_figure_free(f);
	sv_result_free(r);
}

/* Nothing of a label gets out of its quotes. */
static void scripts_hold_labels_in_single_quotes(void **state)
{
	struct sv_result *r =
	    new_result("x'\n`touch pwned`; system('touch pwned')\n!ls\n");
	struct sv_figure *f;
	char *text;

	(void)state;
	add_copy(r, "h2d'\"`x`", "pinned", 1 << 20, 1e10, SV_CHECK_PASS);
	f = make("transfer", r, NULL);
	text = script(f);
	for (char *line = strtok(text, "\n"); line != NULL;
	     line = strtok(NULL, "\n")) {
		bool quoted = false;

		assert_true(line[0] != '!' && line[0] != '`');
		if (line[0] == '#')
			continue;
		for (; *line != '\0'; line++) {
			quoted = quoted != (*line == '\'');
			if (*line == '`')
				assert_true(quoted);
		}
		assert_false(quoted);
	}
	free(text);
	sv_figure_free(f);
	sv_result_free(r);
}

static void a_description_says_the_figures(void **state)
{
	struct sv_result *r = new_result("box");
	struct sv_figure *f;
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	(void)state;
	add_copy(r, "h2d", "pinned", 1 << 20, 2e10, SV_CHECK_PASS);
	f = make("transfer", r, NULL);
	sv_figure_describe(f, out);
	fclose(out);
	assert_non_null(strstr(text, "h2d pinned: 20.0 GB/s at 1 MiB."));
	free(text);
	sv_figure_free(f);
	sv_result_free(r);
}

static struct sv_figure *explained(
    enum sv_figure_explained which, const char *json)
{
	json_t *document = json_loads(json, 0, NULL);
	struct sv_figure *f = NULL;
	struct sv_err err;

	assert_non_null(document);
	assert_int_equal(sv_figure_explained(which, document, &f, &err), 0);
	json_decref(document);
	return f;
}

static const char explanation[] =
    "{\"workload\": \"w'\\n`x`\", \"batch\": 8, \"a\": {\"label\": "
    "\"old\"}, \"b\": {\"label\": \"new\"}, \"components\": ["
    "{\"name\": \"gemm\", \"a_part_s\": 0.6, \"b_part_s\": 0.3}, "
    "{\"name\": \"sync\", \"a_part_s\": 0.001, \"b_part_s\": 0.002}, "
    "{\"name\": \"memory\", \"a_part_s\": 0.399, \"b_part_s\": 0.2}], "
    "\"crossover\": {\"batch\": 4}, \"by_batch\": [{\"batch\": 1, "
    "\"speedup\": 0.8}, {\"batch\": 16, \"speedup\": 1.4}]}";

static void parts_of_a_step_add_up(void **state)
{
	struct sv_figure *f = explained(SV_EXPLAINED_STEP, explanation);
	double ends[2] = {0.0, 0.0};
	char *text;

	(void)state;
	assert_non_null(f);
	/* What is too small to be seen is one part. */
	assert_int_equal(f->n_names, 3);
	assert_string_equal(f->names[0], "gemm");
	assert_string_equal(f->names[2], "other");
	assert_string_equal(f->panels[0].rows[1], "B new");
	for (size_t i = 0; i < f->panels[0].n_traces; i++) {
		const struct sv_trace *t = &f->panels[0].traces[i];

		/* Each begins where the one before ended. */
		assert_true(fabs(t->points[0].x - ends[t->dash]) < 1e-12);
		ends[t->dash] = t->points[0].hi;
	}
	assert_true(fabs(ends[0] - 1.0) < 1e-12);
	assert_true(fabs(ends[1] - 0.502) < 1e-12);
	text = script(f);
	assert_non_null(strstr(text, "'What a step is made of: w'' `x`'"));
	free(text);
	sv_figure_free(f);
}

static void the_crossover_is_marked(void **state)
{
	struct sv_figure *f = explained(SV_EXPLAINED_CROSSOVER, explanation);

	(void)state;
	assert_non_null(f);
	assert_int_equal(f->panels[0].traces[0].n, 2);
	assert_int_equal(f->panels[0].n_marks, 2);
	assert_true(f->panels[0].marks[0].at == 1.0);
	assert_string_equal(f->panels[0].marks[1].label, "crossover: batch 4");
	sv_figure_free(f);
	/* Faster from the first batch on: nothing is crossed. */
	f = explained(SV_EXPLAINED_CROSSOVER,
	    "{\"crossover\": {\"batch\": 1}, \"by_batch\": [{\"batch\": 1, "
	    "\"speedup\": 1.2}, {\"batch\": 4, \"speedup\": 1.3}]}");
	assert_int_equal(f->panels[0].n_marks, 1);
	sv_figure_free(f);
}

static void explanations_of_any_shape_are_survived(void **state)
{
	static const char *const odd[] = {"{}", "[]",
	    "{\"components\": 3, \"by_batch\": {}}",
	    "{\"components\": [1, {}, {\"a_part_s\": \"x\"}, {\"a_part_s\": "
	    "-1}], \"by_batch\": [0, {}, {\"batch\": 0, \"speedup\": 1}, "
	    "{\"batch\": 4, \"speedup\": null}], \"crossover\": 3}"};

	(void)state;
	for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
		assert_null(explained(SV_EXPLAINED_STEP, odd[i]));
		assert_null(explained(SV_EXPLAINED_CROSSOVER, odd[i]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_machine_has_a_colour_for_each_direction),
	    cmocka_unit_test(
		two_machines_have_a_colour_each_and_a_panel_a_direction),
	    cmocka_unit_test(what_failed_its_check_is_never_drawn),
	    cmocka_unit_test(the_link_is_that_under_load),
	    cmocka_unit_test(equal_peaks_share_a_line_and_far_ones_have_none),
	    cmocka_unit_test(bars_pair_rows_of_machines),
	    cmocka_unit_test(too_many_rounds_show_the_widest),
	    cmocka_unit_test(too_many_curves_keep_those_with_a_course),
	    cmocka_unit_test(other_parameters_make_other_curves),
	    cmocka_unit_test(windows_become_a_course_over_time),
	    cmocka_unit_test(labels_stay_inside),
	    cmocka_unit_test(scripts_hold_labels_in_single_quotes),
	    cmocka_unit_test(a_description_says_the_figures),
	    cmocka_unit_test(parts_of_a_step_add_up),
	    cmocka_unit_test(the_crossover_is_marked),
	    cmocka_unit_test(explanations_of_any_shape_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}

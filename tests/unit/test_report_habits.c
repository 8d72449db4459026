/* The table of what habits cost. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "report.h"

struct step {
	const char *precision, *habit;
	double median, half_width;
	enum sv_check_status check;
};

static void add(struct sv_result *r, const struct step *s)
{
	const struct sv_result_param params[] = {{"batch", NULL, 8},
	    {"habit", s->habit, 0}, {"precision", s->precision, 0},
	    {"workload", "net", 0}};
	const double rounds[] = {s->median};
	const struct sv_measurement m = {.bench = "step",
	    .metric = "time",
	    .params = params,
	    .n_params = 4,
	    .unit = "s",
	    .rounds = rounds,
	    .n_rounds = 1,
	    .summary = {.n = 1,
		.median = s->median,
		.ci95 = {s->median - s->half_width, s->median + s->half_width},
		.mad = NAN,
		.min = NAN,
		.max = NAN,
		.p05 = NAN,
		.p95 = NAN},
	    .check = s->check,
	    .source = -1};
	struct sv_err err = {0};

	if (sv_result_add(r, &m, &err) != 0)
		fail_msg("%s", err.text);
}

/* What is shown of these steps; the caller frees it. */
static char *shown(const struct step *steps, size_t n, const char *bench)
{
	const struct sv_report_style plain = {0};
	struct sv_result *r = sv_result_new();
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(r);
	assert_non_null(out);
	for (size_t i = 0; i < n; i++)
		add(r, &steps[i]);
	sv_report_result(r, bench, out, &plain);
	fclose(out);
	sv_result_free(r);
	return text;
}

static void a_habit_is_held_against_the_workloads_own_precision(void **state)
{
	static const struct step steps[] = {
	    {"fp32", "baseline", 4e-3, 1e-5, SV_CHECK_PASS},
	    {"fp16", "baseline", 2e-3, 1e-5, SV_CHECK_PASS},
	    {"fp16", "pageable", 3e-3, 1e-5, SV_CHECK_PASS},
	    {"fp16", "no_prefetch", 2.001e-3, 1e-5, SV_CHECK_PASS},
	    {"fp32", "fp32", 4e-3, NAN, SV_CHECK_PASS},
	};
	char *text = shown(steps, 5, NULL);

	(void)state;
	assert_non_null(strstr(text, "what each habit costs"));
	assert_non_null(strstr(text, "+50.0 %"));
	assert_non_null(strstr(text, "+100.0 %"));
	assert_non_null(strstr(text, "+0.1 %  within the noise"));
	assert_non_null(strstr(text, "no interval"));
	free(text);
}

static void what_failed_its_check_is_not_held_against_anything(void **state)
{
	static const struct step steps[] = {
	    {"fp16", "baseline", 2e-3, 1e-5, SV_CHECK_PASS},
	    {"fp16", "pageable", 3e-3, 1e-5, SV_CHECK_FAIL},
	};
	static const struct step no_baseline[] = {
	    {"fp16", "baseline", 2e-3, 1e-5, SV_CHECK_FAIL},
	    {"fp16", "pageable", 3e-3, 1e-5, SV_CHECK_PASS},
	};
	char *text = shown(steps, 2, NULL);

	(void)state;
	assert_null(strstr(text, "what each habit costs"));
	free(text);
	text = shown(no_baseline, 2, NULL);
	assert_null(strstr(text, "what each habit costs"));
	free(text);
}

static void the_table_belongs_to_the_steps(void **state)
{
	static const struct step steps[] = {
	    {"fp16", "baseline", 2e-3, 1e-5, SV_CHECK_PASS},
	    {"fp16", "pageable", 3e-3, 1e-5, SV_CHECK_PASS},
	};
	char *text = shown(steps, 2, "step");

	(void)state;
	assert_non_null(strstr(text, "what each habit costs"));
	free(text);
	text = shown(steps, 2, "gemm");
	assert_null(strstr(text, "what each habit costs"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		a_habit_is_held_against_the_workloads_own_precision),
	    cmocka_unit_test(
		what_failed_its_check_is_not_held_against_anything),
	    cmocka_unit_test(the_table_belongs_to_the_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}

/*
 * What each bad habit costs: the training steps of a result against the
 * baseline of the same workload and batch, in per cent of its step.
 */
#include <math.h>
#include <string.h>

#include "quantity.h"
#include "report.h"
#include "stave/units.h"
#include "table.h"
#include "text.h"

static const struct sv_result_param *param(
    const struct sv_measurement *m, const char *name)
{
	for (size_t i = 0; i < m->n_params; i++)
		if (strcmp(m->params[i].name, name) == 0)
			return &m->params[i];
	return NULL;
}

static const char *text_of(const struct sv_measurement *m, const char *name)
{
	const struct sv_result_param *p = param(m, name);

	return p != NULL && p->text != NULL ? p->text : "";
}

static bool is_step(const struct sv_measurement *m)
{
	return strcmp(m->bench, "step") == 0 && strcmp(m->metric, "time") == 0;
}

static bool is_bad_habit(const struct sv_measurement *m)
{
	const char *habit = text_of(m, "habit");

	return is_step(m) && habit[0] != '\0' && strcmp(habit, "baseline") != 0;
}

static bool same_task(
    const struct sv_measurement *a, const struct sv_measurement *b)
{
	const struct sv_result_param *i = param(a, "batch");
	const struct sv_result_param *j = param(b, "batch");

	return i != NULL && j != NULL && i->number == j->number &&
	       strcmp(text_of(a, "workload"), text_of(b, "workload")) == 0;
}

/*
 * The precision that a workload is trained in: that of any habit but fp32,
 * which is measured in another.
 */
static const char *own_precision(
    const struct sv_result *r, const struct sv_measurement *habit)
{
	for (size_t i = 0; i < r->n_measurements; i++) {
		const struct sv_measurement *m = &r->measurements[i];

		if (is_bad_habit(m) && same_task(m, habit) &&
		    strcmp(text_of(m, "habit"), "fp32") != 0)
			return text_of(m, "precision");
	}
	return NULL;
}

/* The step without the habit, NULL where it was not measured or is no good. */
static const struct sv_measurement *baseline_of(
    const struct sv_result *r, const struct sv_measurement *habit)
{
	const char *precision = own_precision(r, habit);

	for (size_t i = 0; precision != NULL && i < r->n_measurements; i++) {
		const struct sv_measurement *m = &r->measurements[i];

		if (is_step(m) && same_task(m, habit) &&
		    strcmp(text_of(m, "habit"), "baseline") == 0 &&
		    strcmp(text_of(m, "precision"), precision) == 0)
			return m->check == SV_CHECK_FAIL ? NULL : m;
	}
	return NULL;
}

static void add_row(struct sv_table *t, const struct sv_measurement *habit,
    const struct sv_measurement *baseline)
{
	const struct sv_interval *a = &baseline->summary.ci95;
	const struct sv_interval *b = &habit->summary.ci95;
	double base = baseline->summary.median;
	double cost = habit->summary.median - base;
	char text[SV_QUANTITY_BYTES];

	sv_table_row(t);
	sv_table_cell(t, text_of(habit, "workload"));
	snprintf(text, sizeof text, "%lld",
	    (long long)param(habit, "batch")->number);
	sv_table_cell(t, text);
	sv_table_cell(t, text_of(habit, "habit"));
	sv_table_cell(t, sv_quantity(text, sizeof text, base, SV_UNIT_SECONDS));
	sv_table_cell(t, sv_quantity(text, sizeof text, habit->summary.median,
			     SV_UNIT_SECONDS));
	snprintf(text, sizeof text, "%+.1f %%", 100.0 * cost / base);
	sv_table_cell(t, text);
	/* Intervals that meet say nothing; without any nothing is known. */
	sv_table_cell(t, !isfinite(a->lo) || !isfinite(b->lo) ? "no interval"
			 : a->lo <= b->hi && b->lo <= a->hi ? "within the noise"
							    : "");
}

void sv_report_habits(
    const struct sv_result *r, FILE *out, const struct sv_report_style *style)
{
	struct sv_table *t = NULL;

	for (size_t i = 0; i < r->n_measurements; i++) {
		const struct sv_measurement *m = &r->measurements[i];
		const struct sv_measurement *baseline =
		    is_bad_habit(m) && m->check != SV_CHECK_FAIL
			? baseline_of(r, m)
			: NULL;

		if (baseline == NULL || !(baseline->summary.median > 0.0))
			continue;
		if (t == NULL) {
			t = sv_table_new();
			sv_table_column(t, "workload", SV_LEFT);
			sv_table_column(t, "batch", SV_RIGHT);
			sv_table_column(t, "habit", SV_LEFT);
			sv_table_column(t, "step", SV_RIGHT);
			sv_table_column(t, "with it", SV_RIGHT);
			sv_table_column(t, "costs", SV_RIGHT);
			sv_table_column(t, "", SV_LEFT);
		}
		add_row(t, m, baseline);
	}
	if (t == NULL)
		return;
	fprintf(out, "\n%swhat each habit costs%s\n",
	    style->colour ? "\033[1m" : "", style->colour ? "\033[0m" : "");
	sv_table_print(t, out, style->width, 2);
	sv_table_free(t);
}

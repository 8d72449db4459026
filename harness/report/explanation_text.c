/*
 * An explanation on a screen of 80 columns, readable without colour: what
 * happened, of what the steps are made, why, what it is not, what next.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "quantity.h"
#include "report.h"
#include "stave/units.h"
#include "table.h"
#include "text.h"

#define WIDTH	  80
#define BAR_WIDTH 56

/* A letter and a colour for each component, in the order of the model. */
static const struct {
	char letter;
	const char *colour;
} marks[SV_EXPLAINED_COMPONENTS] = {{'S', "\033[33m"}, {'P', "\033[35m"},
    {'T', "\033[36m"}, {'D', "\033[31m"}, {'G', "\033[32m"}, {'M', "\033[34m"},
    {'Y', "\033[91m"}, {'A', "\033[95m"}, {'X', "\033[96m"}, {'V', "\033[93m"},
    {'?', "\033[90m"}};

static const char *seconds(char *out, double value)
{
	return sv_quantity(out, SV_QUANTITY_BYTES, value, SV_UNIT_SECONDS);
}

static void heading(
    const char *text, FILE *out, const struct sv_report_style *style)
{
	fprintf(out, "\n%s%s%s\n", style->colour ? "\033[1m" : "", text,
	    style->colour ? "\033[0m" : "");
}

static const char *interval_text(
    const struct sv_interval *i, char *out, size_t size)
{
	if (isnan(i->lo) || isnan(i->hi))
		snprintf(out, size, "no interval");
	else
		snprintf(out, size, "95 %%: %.2f to %.2f", i->lo, i->hi);
	return out;
}

static void print_verdict(const struct sv_explanation *x, FILE *out)
{
	char a[SV_QUANTITY_BYTES], b[SV_QUANTITY_BYTES], ci[64], text[900];
	char how[120];

	switch (x->verdict) {
	case SV_B_FASTER:
		snprintf(
		    how, sizeof how, "B is %.2f times as fast", x->speedup);
		break;
	case SV_B_SLOWER:
		snprintf(how, sizeof how, "B is slower, %.2f of A's speed",
		    x->speedup);
		break;
	case SV_NO_DIFFERENCE:
		snprintf(how, sizeof how, "no difference (%.2f)", x->speedup);
		break;
	default:
		snprintf(how, sizeof how,
		    "measured %.2f of A's speed, which the parts do not "
		    "explain",
		    x->speedup);
	}
	snprintf(text, sizeof text,
	    "%.60s, batch %ld, %s%s%s: a step takes %s on A (%.100s) and %s "
	    "on B (%.100s): %s (%s).",
	    x->workload, x->batch,
	    x->precision_a != NULL ? x->precision_a : x->precision,
	    x->precision_a != NULL ? " on A and " : "",
	    x->precision_a != NULL ? x->precision : "", seconds(a, x->a.step_s),
	    x->a.label, seconds(b, x->b.step_s), x->b.label, how,
	    interval_text(&x->speedup_ci95, ci, sizeof ci));
	sv_report_wrapped(text, WIDTH, 0, out);
	if (x->b.limiting == NULL)
		return;
	snprintf(text, sizeof text, "A is limited by %s, B by %s.",
	    x->a.limiting != NULL ? x->a.limiting : "nothing", x->b.limiting);
	sv_report_wrapped(text, WIDTH, 0, out);
}

/* Columns of a bar by largest remainder, so that they fill its length. */
static void columns_of(
    const double *parts, double longest, int columns[SV_EXPLAINED_COMPONENTS])
{
	double sum = 0.0;
	int used = 0;

	for (int i = 0; i < SV_EXPLAINED_COMPONENTS; i++) {
		sum += fmax(parts[i], 0.0);
		columns[i] = (int)lround(sum / longest * BAR_WIDTH) - used;
		used += columns[i];
	}
}

static void print_bar(const char *name, const double *parts, double step_s,
    double longest, FILE *out, const struct sv_report_style *style)
{
	int columns[SV_EXPLAINED_COMPONENTS];
	char text[SV_QUANTITY_BYTES];
	int used = 0;

	columns_of(parts, longest, columns);
	fprintf(out, "  %s |", name);
	for (int i = 0; i < SV_EXPLAINED_COMPONENTS; i++) {
		if (style->colour && columns[i] > 0)
			fputs(marks[i].colour, out);
		for (int k = 0; k < columns[i]; k++, used++)
			fputc(marks[i].letter, out);
		if (style->colour && columns[i] > 0)
			fputs("\033[0m", out);
	}
	fprintf(out, "%*s| %s\n", used < BAR_WIDTH ? BAR_WIDTH - used : 0, "",
	    seconds(text, step_s));
}

/* Whether a component is worth a row: some of either step, or of the gap. */
static bool is_seen(const struct sv_explanation *x, int i)
{
	const struct sv_explained_component *c = &x->components[i];
	double least = 0.0005 * fmax(x->a.step_s, x->b.step_s);

	return fabs(c->a_part_s) > least || fabs(c->b_part_s) > least ||
	       fabs(c->share_s) > least || c->a_s > least || c->b_s > least;
}

static void signed_cell(struct sv_table *t, double value)
{
	char text[SV_QUANTITY_BYTES + 1] = "+";

	if (value == 0.0) {
		sv_table_cell(t, "0");
		return;
	}
	seconds(value > 0.0 ? text + 1 : text, value);
	sv_table_cell(t, text);
}

static void print_components(const struct sv_explanation *x, FILE *out)
{
	struct sv_table *t = sv_table_new();
	char text[SV_QUANTITY_BYTES];

	sv_table_column(t, "", SV_LEFT);
	sv_table_column(t, "part", SV_LEFT);
	sv_table_column(t, "A alone", SV_RIGHT);
	sv_table_column(t, "B alone", SV_RIGHT);
	sv_table_column(t, "of B - A", SV_RIGHT);
	sv_table_column(t, "B with A's", SV_RIGHT);
	sv_table_column(t, "sure", SV_LEFT);
	for (int i = 0; i < SV_EXPLAINED_COMPONENTS; i++) {
		const struct sv_explained_component *c = &x->components[i];
		char letter[2] = {marks[i].letter, '\0'};

		if (!is_seen(x, i))
			continue;
		sv_table_row(t);
		sv_table_cell(t, letter);
		sv_table_cell(t, c->name);
		sv_table_cell(t, seconds(text, c->a_s));
		sv_table_cell(t, seconds(text, c->b_s));
		signed_cell(t, c->share_s);
		sv_table_cell(t, seconds(text, c->if_b_had_a_s));
		sv_table_cell(t, c->confidence);
	}
	sv_table_print(t, out, WIDTH, 2);
	sv_table_free(t);
}

static void print_steps(const struct sv_explanation *x, FILE *out,
    const struct sv_report_style *style)
{
	double a[SV_EXPLAINED_COMPONENTS], b[SV_EXPLAINED_COMPONENTS];
	double longest = fmax(x->a.step_s, x->b.step_s);

	for (int i = 0; i < SV_EXPLAINED_COMPONENTS; i++) {
		a[i] = x->components[i].a_part_s;
		b[i] = x->components[i].b_part_s;
	}
	heading("the step", out, style);
	print_bar("A", a, x->a.step_s, longest, out, style);
	print_bar("B", b, x->b.step_s, longest, out, style);
	fputc('\n', out);
	print_components(x, out);
}

static void labelled(const char *label, const char *text, FILE *out)
{
	fprintf(out, "     %-9s", label);
	sv_report_wrapped(text, WIDTH, 14, out);
}

static void print_cause(const struct sv_cause *c, FILE *out)
{
	char share[SV_QUANTITY_BYTES], step[SV_QUANTITY_BYTES], text[800];

	fprintf(out, "  %zu. ", c->rank);
	snprintf(text, sizeof text, "%s: %s", c->code, c->claim);
	sv_report_wrapped(text, WIDTH, 5, out);
	labelled("remedy", c->remedy, out);
	if (c->gain_speedup > 1.0) {
		snprintf(text, sizeof text,
		    "B's step would take %s, %.2f times as fast%s%s",
		    seconds(step, c->gain_step_s), c->gain_speedup,
		    c->share_s > 0.0 ? "; against A it adds " : "",
		    c->share_s > 0.0 ? seconds(share, c->share_s) : "");
		labelled("gain", text, out);
	}
	labelled("wrong if", c->falsify, out);
}

static void print_causes(const struct sv_explanation *x, FILE *out,
    const struct sv_report_style *style)
{
	char text[800];

	heading(x->is_withheld ? "no story is told" : "what holds B back", out,
	    style);
	for (size_t i = 0; i < x->n_causes; i++)
		print_cause(&x->causes[i], out);
	if (x->n_ruled_out == 0)
		return;
	heading("looked at and ruled out", out, style);
	for (size_t i = 0; i < x->n_ruled_out; i++) {
		snprintf(text, sizeof text, "%s: %s", x->ruled_out[i].code,
		    x->ruled_out[i].why);
		fputs("  ", out);
		sv_report_wrapped(text, WIDTH, 2, out);
	}
}

static void print_batches(const struct sv_explanation *x, FILE *out,
    const struct sv_report_style *style)
{
	struct sv_table *t = sv_table_new();
	char text[SV_QUANTITY_BYTES], ratio[32];

	heading("by batch", out, style);
	sv_table_column(t, "batch", SV_RIGHT);
	sv_table_column(t, "A", SV_RIGHT);
	sv_table_column(t, "B", SV_RIGHT);
	sv_table_column(t, "B's speed over A's", SV_RIGHT);
	for (size_t i = 0; i < x->n_by_batch; i++) {
		sv_table_row(t);
		snprintf(ratio, sizeof ratio, "%ld", x->by_batch[i].batch);
		sv_table_cell(t, ratio);
		sv_table_cell(t, seconds(text, x->by_batch[i].a_s));
		sv_table_cell(t, seconds(text, x->by_batch[i].b_s));
		snprintf(ratio, sizeof ratio, "%.2f", x->by_batch[i].speedup);
		sv_table_cell(t, ratio);
	}
	sv_table_print(t, out, WIDTH, 2);
	sv_table_free(t);
	if (x->crossover > 0)
		fprintf(out, "  B wins from batch %ld on.\n", x->crossover);
	else
		fprintf(out, "  No crossover: %s.\n", x->crossover_why);
}

static void print_rest(const struct sv_explanation *x, FILE *out,
    const struct sv_report_style *style)
{
	char step[SV_QUANTITY_BYTES], a[SV_QUANTITY_BYTES], text[700] = "";
	size_t used = 0;

	if (x->has_what_if) {
		snprintf(text, sizeof text,
		    "what if %.400s: B's step takes %s, %.2f times as fast "
		    "as it is",
		    x->what_if, seconds(step, x->what_if_step_s),
		    x->what_if_speedup);
		fputs("\n  ", out);
		sv_report_wrapped(text, WIDTH, 2, out);
	}
	if (x->has_measured_step) {
		snprintf(text, sizeof text,
		    "measured step: %s on A, %s on B; the model is off by "
		    "%.0f %% at most",
		    seconds(a, x->measured_a_s), seconds(step, x->measured_b_s),
		    100.0 * x->model_error);
		fputs("\n  ", out);
		sv_report_wrapped(text, WIDTH, 2, out);
	}
	used = (size_t)snprintf(text, sizeof text, "not modelled: ");
	for (size_t i = 0; i < x->n_not_modelled && used < sizeof text; i++)
		used += (size_t)snprintf(text + used, sizeof text - used,
		    "%s%s", i == 0 ? "" : ", ", x->not_modelled[i]);
	if (x->n_not_modelled > 0) {
		fputs("\n  ", out);
		sv_report_wrapped(text, WIDTH, 2, out);
	}
	heading("next", out, style);
	fputs("  ", out);
	sv_report_wrapped(x->next, WIDTH, 2, out);
}

void sv_report_explanation(const struct sv_explanation *x, FILE *out,
    const struct sv_report_style *style)
{
	print_verdict(x, out);
	print_steps(x, out, style);
	print_causes(x, out, style);
	print_batches(x, out, style);
	print_rest(x, out, style);
}

void sv_report_explanations(const struct sv_explanation *const *list, size_t n,
    FILE *out, const struct sv_report_style *style)
{
	struct sv_table *t = sv_table_new();
	char text[SV_QUANTITY_BYTES];

	(void)style;
	sv_table_column(t, "workload", SV_LEFT);
	sv_table_column(t, "batch", SV_RIGHT);
	sv_table_column(t, "A", SV_RIGHT);
	sv_table_column(t, "B", SV_RIGHT);
	sv_table_column(t, "B over A", SV_RIGHT);
	sv_table_column(t, "what holds it back", SV_LEFT);
	for (size_t i = 0; i < n; i++) {
		const struct sv_explanation *x = list[i];

		sv_table_row(t);
		sv_table_cell(t, x->workload);
		snprintf(text, sizeof text, "%ld", x->batch);
		sv_table_cell(t, text);
		sv_table_cell(t, seconds(text, x->a.step_s));
		sv_table_cell(t, seconds(text, x->b.step_s));
		snprintf(text, sizeof text, "%.2f", x->speedup);
		sv_table_cell(t, text);
		sv_table_cell(t, x->causes[0].code);
	}
	sv_table_print(t, out, WIDTH, 0);
	sv_table_free(t);
}

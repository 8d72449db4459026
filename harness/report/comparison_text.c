/* A comparison as a table, as Markdown and as CSV. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "quantity.h"
#include "report.h"
#include "table.h"
#include "text.h"

static const char *verdict_text(const struct sv_pair *p, char *out, size_t size)
{
	if (p->reason != NULL)
		snprintf(out, size, "%s (%s)", sv_verdict_name(p->verdict),
		    p->reason);
	else
		snprintf(out, size, "%s", sv_verdict_name(p->verdict));
	return out;
}

static const char *ratio_text(const struct sv_pair *p, char *out, size_t size)
{
	if (isnan(p->ratio))
		snprintf(out, size, "-");
	else
		snprintf(out, size, "%.3f", p->ratio);
	return out;
}

static const char *interval_text(
    const struct sv_pair *p, char *out, size_t size)
{
	if (isnan(p->lo))
		out[0] = '\0';
	else
		snprintf(out, size, "%.3f to %.3f", p->lo, p->hi);
	return out;
}

/*
 * A bar for the ratio, B worse to the left and better to the right of the
 * bar in the middle; full length is a factor of two.
 */
static const char *bar_text(const struct sv_pair *p, char *out, size_t size)
{
	double steps = isnan(p->ratio) ? 0.0 : 5.0 * log2(p->ratio);
	int n = (int)lround(fmin(fmax(steps, -5.0), 5.0));

	snprintf(out, size, "%*s%.*s|%.*s%*s", n < 0 ? 5 + n : 5, "",
	    n < 0 ? -n : 0, "-----", n > 0 ? n : 0, "+++++", n > 0 ? 5 - n : 5,
	    "");
	return out;
}

static void add_row(struct sv_table *t, const struct sv_pair *p, bool bars)
{
	char text[512];

	sv_table_row(t);
	sv_table_cell(t, p->a->metric);
	sv_table_cell(t, sv_report_params(p->a, text, sizeof text));
	sv_table_cell(t,
	    sv_quantity(text, sizeof text, p->a->summary.median, p->a->unit));
	sv_table_cell(t,
	    sv_quantity(text, sizeof text, p->b->summary.median, p->b->unit));
	sv_table_cell(t, ratio_text(p, text, sizeof text));
	if (bars)
		sv_table_cell(t, bar_text(p, text, sizeof text));
	sv_table_cell(t, interval_text(p, text, sizeof text));
	sv_table_cell(t, verdict_text(p, text, sizeof text));
}

static struct sv_table *pair_table(bool bars)
{
	struct sv_table *t = sv_table_new();

	sv_table_column(t, "metric", SV_LEFT);
	sv_table_column(t, "parameters", SV_LEFT);
	sv_table_column(t, "A", SV_RIGHT);
	sv_table_column(t, "B", SV_RIGHT);
	sv_table_column(t, "B better by", SV_RIGHT);
	if (bars)
		sv_table_column(t, "worse|better", SV_LEFT);
	sv_table_column(t, "95 %", SV_RIGHT);
	sv_table_column(t, "verdict", SV_LEFT);
	return t;
}

static void print_confounders(const struct sv_comparison *c, FILE *out,
    const struct sv_report_style *style)
{
	struct sv_table *t = sv_table_new();

	if (c->n_confounders == 0) {
		sv_table_free(t);
		return;
	}
	sv_table_column(t, "what differs beside", SV_LEFT);
	sv_table_column(t, "A", SV_LEFT);
	sv_table_column(t, "B", SV_LEFT);
	for (size_t i = 0; i < c->n_confounders; i++) {
		sv_table_row(t);
		sv_table_cell(t, c->confounders[i].field);
		sv_table_cell(t, c->confounders[i].a);
		sv_table_cell(t, c->confounders[i].b);
	}
	fputc('\n', out);
	sv_table_print(t, out, style->width, 2);
	sv_table_free(t);
}

/* Pairs are sorted by id, so that a bench's are together. */
static size_t print_bench(const struct sv_comparison *c, size_t from, FILE *out,
    const struct sv_report_style *style)
{
	const char *bench = c->pairs[from].a->bench;
	struct sv_table *t = pair_table(true);
	size_t i = from;

	for (; i < c->n_pairs && strcmp(c->pairs[i].a->bench, bench) == 0; i++)
		add_row(t, &c->pairs[i], true);
	fprintf(out, "\n%s%s%s\n", style->colour ? "\033[1m" : "", bench,
	    style->colour ? "\033[0m" : "");
	sv_table_print(t, out, style->width, 2);
	sv_table_free(t);
	return i;
}

void sv_report_comparison(const struct sv_comparison *c, FILE *out,
    const struct sv_report_style *style)
{
	char *text = sv_comparison_text(c);

	if (text != NULL)
		sv_report_wrapped(text, sv_report_columns(style), 0, out);
	free(text);
	print_confounders(c, out, style);
	for (size_t i = 0; i < c->n_pairs;)
		i = print_bench(c, i, out, style);
	for (size_t i = 0; i < c->n_mismatched; i++)
		fprintf(out, "\nnot compared: %s: %s\n", c->mismatched[i].id,
		    c->mismatched[i].why);
	if (c->n_only_a > 0 || c->n_only_b > 0)
		fprintf(out, "\n%zu only in A, %zu only in B\n", c->n_only_a,
		    c->n_only_b);
}

int sv_report_comparison_markdown(
    const struct sv_comparison *c, FILE *out, struct sv_err *err)
{
	char *text = sv_comparison_text(c);
	struct sv_table *t = pair_table(false);

	if (text == NULL || t == NULL) {
		free(text);
		sv_table_free(t);
		return sv_err_set(err, SV_ERESOURCE, "markdown: out of memory");
	}
	fprintf(out, "%s\n\n", text);
	if (c->n_confounders > 0) {
		struct sv_table *f = sv_table_new();

		sv_table_column(f, "what differs beside", SV_LEFT);
		sv_table_column(f, "A", SV_LEFT);
		sv_table_column(f, "B", SV_LEFT);
		for (size_t i = 0; i < c->n_confounders; i++) {
			sv_table_row(f);
			sv_table_cell(f, c->confounders[i].field);
			sv_table_cell(f, c->confounders[i].a);
			sv_table_cell(f, c->confounders[i].b);
		}
		sv_table_print_markdown(f, out);
		sv_table_free(f);
		fputc('\n', out);
	}
	for (size_t i = 0; i < c->n_pairs; i++)
		add_row(t, &c->pairs[i], false);
	sv_table_print_markdown(t, out);
	sv_table_free(t);
	free(text);
	return 0;
}

static void number_cell(struct sv_table *t, double value)
{
	char text[40] = "";

	if (isfinite(value))
		snprintf(text, sizeof text, "%.17g", value);
	sv_table_cell(t, text);
}

void sv_report_comparison_csv(const struct sv_comparison *c, FILE *out)
{
	static const char *const titles[] = {"id", "bench", "metric", "unit",
	    "better", "a", "b", "ratio", "ci95_lo", "ci95_hi", "p",
	    "p_adjusted", "verdict", "reason"};
	struct sv_table *t = sv_table_new();

	for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
		sv_table_column(t, titles[i], SV_LEFT);
	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct sv_pair *p = &c->pairs[i];

		sv_table_row(t);
		sv_table_cell(t, p->a->id);
		sv_table_cell(t, p->a->bench);
		sv_table_cell(t, p->a->metric);
		sv_table_cell(t, p->a->unit);
		sv_table_cell(t, p->a->higher_is_better ? "higher" : "lower");
		number_cell(t, p->a->summary.median);
		number_cell(t, p->b->summary.median);
		number_cell(t, p->ratio);
		number_cell(t, p->lo);
		number_cell(t, p->hi);
		number_cell(t, p->p);
		number_cell(t, p->p_adjusted);
		sv_table_cell(t, sv_verdict_name(p->verdict));
		sv_table_cell(t, p->reason != NULL ? p->reason : "");
	}
	sv_table_print_csv(t, out);
	sv_table_free(t);
}

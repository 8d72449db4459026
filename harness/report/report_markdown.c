/*
 * A report for an issue tracker: short enough for one (64 kB), with the pairs
 * that differ most when there are many.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "folder.h"
#include "quantity.h"
#include "quote.h"
#include "table.h"
#include "text.h"
#include "validity.h"

#define MAX_ROWS 80

static void put_text(FILE *out, const char *before, const char *text)
{
	char cut[800];

	fputs(before, out);
	sv_quote_markdown(out, text != NULL
				   ? sv_quote_cut(cut, sizeof cut, text, 160)
				   : "unknown");
}

static void put_runs(const struct sv_folder *folder, FILE *out)
{
	for (size_t i = 0; i < folder->n_results; i++) {
		const struct sv_result *r = folder->results[i];
		struct sv_validity validity;

		fprintf(out, "- **%s**: ",
		    folder->n_results < 2 ? "Result"
		    : i == 0		  ? "A"
					  : "B");
		put_text(out, "", r->run.label);
		put_text(out, "; ",
		    json_string_value(sv_result_field(r->device, "name")));
		put_text(out, ", driver ",
		    json_string_value(
			sv_result_field(r->device, "driver.version")));
		put_text(out, "; ",
		    json_string_value(
			sv_result_field(r->machine, "cpu.model")));
		put_text(out, ", kernel ",
		    json_string_value(
			sv_result_field(r->machine, "os.kernel")));
		put_text(out, "; stave ", r->run.version);
		fprintf(out, "; %s; ", r->run.origin);
		sv_validity_judge(r, &validity);
		sv_validity_print(&validity, out);
		fputc('\n', out);
	}
}

static int by_size(const void *left, const void *right)
{
	const struct sv_pair *a = *(const struct sv_pair *const *)left;
	const struct sv_pair *b = *(const struct sv_pair *const *)right;
	bool judged_a = a->verdict == SV_FASTER || a->verdict == SV_SLOWER;
	bool judged_b = b->verdict == SV_FASTER || b->verdict == SV_SLOWER;
	double size_a = isnan(a->ratio) ? 0.0 : fabs(log(a->ratio));
	double size_b = isnan(b->ratio) ? 0.0 : fabs(log(b->ratio));

	if (judged_a != judged_b)
		return judged_a ? -1 : 1;
	if (size_a != size_b)
		return size_a > size_b ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int by_place(const void *left, const void *right)
{
	const struct sv_pair *a = *(const struct sv_pair *const *)left;
	const struct sv_pair *b = *(const struct sv_pair *const *)right;

	return a < b ? -1 : a > b;
}

static void add_pair(struct sv_table *t, const struct sv_pair *p)
{
	char text[512];

	sv_table_row(t);
	sv_table_cell(t, p->a->bench);
	sv_report_pair(t, p);
	snprintf(
	    text, sizeof text, isnan(p->ratio) ? "\u2014" : "%.3f", p->ratio);
	sv_table_cell(t, text);
	text[0] = '\0';
	if (!isnan(p->lo))
		snprintf(text, sizeof text, "%.3f to %.3f", p->lo, p->hi);
	sv_table_cell(t, text);
	sv_table_cell(t, sv_verdict_name(p->verdict));
}

static void put_pairs(const struct sv_comparison *c, FILE *out)
{
	static const char *const titles[] = {"bench", "metric", "parameters",
	    "A", "B", "B better by", "95 %", "verdict"};
	const struct sv_pair **pairs = calloc(c->n_pairs + 1, sizeof *pairs);
	size_t n = c->n_pairs < MAX_ROWS ? c->n_pairs : MAX_ROWS;
	struct sv_table *t = sv_table_new();

	for (size_t i = 0; pairs != NULL && i < c->n_pairs; i++)
		pairs[i] = &c->pairs[i];
	if (pairs != NULL) {
		qsort(pairs, c->n_pairs, sizeof *pairs, by_size);
		qsort(pairs, n, sizeof *pairs, by_place);
	}
	for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
		sv_table_column(
		    t, titles[i], i >= 3 && i < 7 ? SV_RIGHT : SV_LEFT);
	for (size_t i = 0; pairs != NULL && i < n; i++)
		add_pair(t, pairs[i]);
	sv_table_print_markdown(t, out);
	if (n < c->n_pairs)
		fprintf(out,
		    "\n%zu pairs that differ less are in comparison.csv.\n",
		    c->n_pairs - n);
	sv_table_free(t);
	free(pairs);
}

static void put_confounders(const struct sv_comparison *c, FILE *out)
{
	struct sv_table *t = sv_table_new();

	sv_table_column(t, "what differs beside", SV_LEFT);
	sv_table_column(t, "A", SV_LEFT);
	sv_table_column(t, "B", SV_LEFT);
	for (size_t i = 0; i < c->n_confounders; i++) {
		char cut[400];

		sv_table_row(t);
		sv_table_cell(t, c->confounders[i].field);
		sv_table_cell(
		    t, sv_quote_cut(cut, sizeof cut, c->confounders[i].a, 80));
		sv_table_cell(
		    t, sv_quote_cut(cut, sizeof cut, c->confounders[i].b, 80));
	}
	if (c->n_confounders > 0) {
		sv_table_print_markdown(t, out);
		fputc('\n', out);
	}
	sv_table_free(t);
}

/* One result alone: its figures. */
static void put_figures(const struct sv_result *r, FILE *out)
{
	static const char *const titles[] = {"bench", "metric", "parameters",
	    "median", "95 %", "rounds", "flags"};
	struct sv_table *t = sv_table_new();
	size_t n =
	    r->n_measurements < 3 * MAX_ROWS ? r->n_measurements : 3 * MAX_ROWS;

	for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
		sv_table_column(
		    t, titles[i], i >= 3 && i < 6 ? SV_RIGHT : SV_LEFT);
	for (size_t i = 0; i < n; i++) {
		const struct sv_measurement *m = &r->measurements[i];
		char text[512];

		sv_table_row(t);
		sv_table_cell(t, m->bench);
		sv_table_cell(t, m->metric);
		sv_table_cell(t, sv_report_params(m, text, sizeof text));
		sv_table_cell(t,
		    sv_quantity(text, sizeof text, m->summary.median, m->unit));
		sv_report_spread(m, text, sizeof text);
		sv_table_cell(t, text);
		snprintf(text, sizeof text, "%zu", m->n_rounds);
		sv_table_cell(t, text);
		sv_report_flags(m, text, sizeof text);
		sv_table_cell(t, text);
	}
	sv_table_print_markdown(t, out);
	if (n < r->n_measurements)
		fprintf(out, "\n%zu more are in result.csv.\n",
		    r->n_measurements - n);
	sv_table_free(t);
}

static void put_lost(const struct sv_folder *folder, FILE *out)
{
	for (size_t i = 0; i < folder->n_results; i++) {
		const struct sv_result *r = folder->results[i];

		for (size_t k = 0; k < r->n_failures && k < MAX_ROWS; k++) {
			put_text(out, "- failed: ", r->failures[k].bench);
			put_text(out, ": ", r->failures[k].reason);
			fputc('\n', out);
		}
		for (size_t k = 0; k < r->n_skipped && k < MAX_ROWS; k++) {
			if (sv_report_skipped_alike(r, k) == 0)
				continue;
			put_text(out, "- not measured: ", r->skipped[k].bench);
			put_text(out, ": ", r->skipped[k].reason);
			fputc('\n', out);
		}
	}
}

void sv_report_markdown(const struct sv_folder *folder, FILE *out)
{
	fputs("## stave report\n\n", out);
	if (folder->comparison != NULL) {
		char *text = sv_comparison_text(folder->comparison);

		if (text != NULL)
			sv_quote_markdown(out, text);
		fputs("\n\n", out);
		free(text);
	}
	put_runs(folder, out);
	fputc('\n', out);
	if (folder->comparison != NULL) {
		put_confounders(folder->comparison, out);
		put_pairs(folder->comparison, out);
	} else {
		put_figures(folder->results[0], out);
	}
	fputc('\n', out);
	put_lost(folder, out);
}

/* A comparison as a table, as Markdown and as CSV; and a machine's floor. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "quantity.h"
#include "report.h"
#include "table.h"
#include "text.h"

static const char *verdict_text(const struct sv_pair *p, char *out, size_t size)
{
	int n = snprintf(out, size, "%s", sv_verdict_name(p->verdict));

	if (p->reason != NULL)
		n += snprintf(out + n, size - (size_t)n, " (%s)", p->reason);
	if (p->further > 0)
		snprintf(out + n, size - (size_t)n, ", %ld more round%s",
		    p->further, p->further == 1 ? "" : "s");
	return out;
}

static const char *ratio_text(double ratio, char *out, size_t size)
{
	if (isnan(ratio))
		out[0] = '\0';
	else
		snprintf(out, size, "%.3f", ratio);
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

/*
 * What is tagged, on which side: "both noisy, A bimodal". A file may hold any
 * text as a flag, so this is as long as it comes out; NULL without memory.
 */
static char *tags_text(const struct sv_pair *p)
{
	const struct sv_measurement *sides[] = {p->a, p->b};
	char *text = NULL;
	size_t size = 0, n = 0;
	FILE *out = open_memstream(&text, &size);

	for (int side = 0; out != NULL && side < 2; side++)
		for (size_t i = 0; i < sides[side]->n_flags; i++) {
			const char *flag = sides[side]->flags[i];
			bool both = sv_measurement_has_flag(sides[!side], flag);

			if (side == 0 || !both)
				fprintf(out, "%s%s %s", n++ > 0 ? ", " : "",
				    both	? "both"
				    : side == 0 ? "A"
						: "B",
				    flag);
		}
	if (out != NULL)
		fclose(out);
	return text;
}

/* The flags of one side, for a machine. */
static char *flags_text(const struct sv_measurement *m)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; out != NULL && i < m->n_flags; i++)
		fprintf(out, "%s%s", i > 0 ? " " : "", m->flags[i]);
	if (out != NULL)
		fclose(out);
	return text;
}

static void add_cell(struct sv_table *t, char *take_text)
{
	sv_table_cell(t, take_text != NULL ? take_text : "");
	free(take_text);
}

/* The columns of pairs; bench and bars where they are wanted. */
struct layout {
	bool bench, bars;
};

static struct sv_table *pair_table(const struct layout *layout)
{
	struct sv_table *t = sv_table_new();

	if (layout->bench)
		sv_table_column(t, "bench", SV_LEFT);
	sv_table_column(t, "metric", SV_LEFT);
	sv_table_column(t, "parameters", SV_LEFT);
	sv_table_column(t, "A", SV_RIGHT);
	sv_table_column(t, "B", SV_RIGHT);
	sv_table_column(t, "B better by", SV_RIGHT);
	if (layout->bars)
		sv_table_column(t, "worse|better", SV_LEFT);
	sv_table_column(t, "95 %", SV_RIGHT);
	sv_table_column(t, "at one clock", SV_RIGHT);
	sv_table_column(t, "tags", SV_LEFT);
	sv_table_column(t, "verdict", SV_LEFT);
	return t;
}

static void add_row(
    struct sv_table *t, const struct sv_pair *p, const struct layout *layout)
{
	char text[512];

	sv_table_row(t);
	if (layout->bench)
		sv_table_cell(t, p->a->bench);
	sv_report_pair(t, p);
	sv_table_cell(t, ratio_text(p->ratio, text, sizeof text));
	if (layout->bars)
		sv_table_cell(t, bar_text(p, text, sizeof text));
	sv_table_cell(t, interval_text(p, text, sizeof text));
	sv_table_cell(t, ratio_text(p->ratio_cycles, text, sizeof text));
	add_cell(t, tags_text(p));
	sv_table_cell(t, verdict_text(p, text, sizeof text));
}

/* What differs beside the figures; NULL where nothing does. */
static struct sv_table *confounder_table(const struct sv_comparison *c)
{
	struct sv_table *t;

	if (c->n_confounders == 0)
		return NULL;
	t = sv_table_new();
	sv_table_column(t, "what differs beside", SV_LEFT);
	sv_table_column(t, "A", SV_LEFT);
	sv_table_column(t, "B", SV_LEFT);
	for (size_t i = 0; i < c->n_confounders; i++) {
		sv_table_row(t);
		sv_table_cell(t, c->confounders[i].field);
		sv_table_cell(t, c->confounders[i].a);
		sv_table_cell(t, c->confounders[i].b);
	}
	return t;
}

/* What has no partner that it may be compared with; NULL where all have. */
static struct sv_table *mismatch_table(const struct sv_comparison *c)
{
	struct sv_table *t;

	if (c->n_mismatched == 0)
		return NULL;
	t = sv_table_new();
	sv_table_column(t, "not compared", SV_LEFT);
	sv_table_column(t, "why", SV_LEFT);
	for (size_t i = 0; i < c->n_mismatched; i++) {
		sv_table_row(t);
		sv_table_cell(t, c->mismatched[i].id);
		sv_table_cell(t, c->mismatched[i].why);
	}
	return t;
}

static void print_table(struct sv_table *take_t, FILE *out,
    const struct sv_report_style *style, size_t indent)
{
	if (take_t != NULL)
		fputc('\n', out);
	sv_table_print(take_t, out, style->width, indent);
	sv_table_free(take_t);
}

/* Pairs are sorted by id, so that a bench's are together. */
static size_t print_bench(const struct sv_comparison *c, size_t from, FILE *out,
    const struct sv_report_style *style)
{
	static const struct layout layout = {.bars = true};
	const char *bench = c->order[from]->a->bench;
	struct sv_table *t = pair_table(&layout);
	size_t i = from;

	for (; i < c->n_pairs && strcmp(c->order[i]->a->bench, bench) == 0; i++)
		add_row(t, c->order[i], &layout);
	fprintf(out, "\n%s%s%s\n", style->colour ? "\033[1m" : "", bench,
	    style->colour ? "\033[0m" : "");
	sv_table_print(t, out, style->width, 2);
	sv_table_free(t);
	return i;
}

static struct sv_table *all_pairs(
    const struct sv_comparison *c, const struct layout *layout)
{
	struct sv_table *t = pair_table(layout);

	for (size_t i = 0; i < c->n_pairs; i++)
		add_row(t, c->order[i], layout);
	return t;
}

void sv_report_comparison(const struct sv_comparison *c, FILE *out,
    const struct sv_report_style *style)
{
	static const struct layout flat = {.bench = true, .bars = true};
	char *text = sv_comparison_text(c);

	if (text != NULL)
		sv_report_wrapped(text, sv_report_columns(style), 0, out);
	free(text);
	print_table(confounder_table(c), out, style, 2);
	if (c->sort != SV_SORT_ID)
		print_table(all_pairs(c, &flat), out, style, 0);
	for (size_t i = 0; c->sort == SV_SORT_ID && i < c->n_pairs;)
		i = print_bench(c, i, out, style);
	print_table(mismatch_table(c), out, style, 2);
	if (c->n_only_a > 0 || c->n_only_b > 0)
		fprintf(out, "\n%zu only in A, %zu only in B\n", c->n_only_a,
		    c->n_only_b);
}

static void print_markdown(struct sv_table *take_t, FILE *out)
{
	if (take_t != NULL)
		fputc('\n', out);
	sv_table_print_markdown(take_t, out);
	sv_table_free(take_t);
}

int sv_report_comparison_markdown(
    const struct sv_comparison *c, FILE *out, struct sv_err *err)
{
	static const struct layout flat = {.bench = true};
	char *text = sv_comparison_text(c);

	if (text == NULL)
		return sv_err_set(err, SV_ERESOURCE, "markdown: out of memory");
	fprintf(out, "%s\n", text);
	free(text);
	print_markdown(confounder_table(c), out);
	print_markdown(all_pairs(c, &flat), out);
	print_markdown(mismatch_table(c), out);
	return 0;
}

static void number_cell(struct sv_table *t, double value)
{
	char text[40] = "";

	if (isfinite(value))
		snprintf(text, sizeof text, "%.17g", value);
	sv_table_cell(t, text);
}

static void add_csv_row(struct sv_table *t, const struct sv_pair *p)
{
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
	number_cell(t, p->ratio_cycles);
	number_cell(t, p->floor);
	number_cell(t, p->further >= 0 ? (double)p->further : NAN);
	add_cell(t, flags_text(p->a));
	add_cell(t, flags_text(p->b));
}

void sv_report_comparison_csv(const struct sv_comparison *c, FILE *out)
{
	static const char *const titles[] = {"id", "bench", "metric", "unit",
	    "better", "a", "b", "ratio", "ci95_lo", "ci95_hi", "p",
	    "p_adjusted", "verdict", "reason", "ratio_cycles", "floor",
	    "further_rounds", "flags_a", "flags_b"};
	struct sv_table *t = sv_table_new();

	for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
		sv_table_column(t, titles[i], SV_LEFT);
	for (size_t i = 0; i < c->n_pairs; i++)
		add_csv_row(t, c->order[i]);
	sv_table_print_csv(t, out);
	sv_table_free(t);
}

static const char *percent_text(double fraction, char *out, size_t size)
{
	snprintf(out, size, "%.2f %%", 100.0 * fraction);
	return out;
}

static struct sv_table *floor_table(const struct sv_floor *floor)
{
	struct sv_table *t = sv_table_new();
	char text[40];

	sv_table_column(t, "id", SV_LEFT);
	sv_table_column(t, "runs", SV_RIGHT);
	sv_table_column(t, "between runs", SV_RIGHT);
	sv_table_column(t, "floor", SV_RIGHT);
	for (size_t i = 0; i < floor->n_entries; i++) {
		const struct sv_floor_entry *e = &floor->entries[i];

		sv_table_row(t);
		sv_table_cell(t, e->id);
		snprintf(text, sizeof text, "%zu", e->runs);
		sv_table_cell(t, text);
		sv_table_cell(t, percent_text(e->between, text, sizeof text));
		sv_table_cell(
		    t, percent_text(expm1(e->limit), text, sizeof text));
	}
	return t;
}

void sv_report_floor(const struct sv_floor *floor, FILE *out,
    const struct sv_report_style *style)
{
	size_t raised = 0;

	for (size_t i = 0; i < floor->n_entries; i++)
		raised += floor->entries[i].limit > 0.0;
	fprintf(out,
	    "%zu runs of one machine, %zu figures: %zu vary from run to run "
	    "by more than their rounds explain.\nTwo runs differ by less than "
	    "the floor 19 times of 20, with nothing changed.%s\n",
	    floor->runs, floor->n_entries, raised,
	    floor->runs < 3 ? " Two runs know little of\nit: the floor is "
			      "wide, and a third narrows it much."
			    : "");
	print_table(floor_table(floor), out, style, 2);
}

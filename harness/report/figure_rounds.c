/*
 * Every round of a measurement against the median of its machine, in per
 * cent: where a run was noisy, and whether it drifted or had two modes. The
 * rows that spread most, when there are more than fit.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "figure.h"
#include "stave/units.h"

#define MAX_ROWS 32

/* A measurement by its id, with the widest spread that any machine has. */
struct row {
	const struct sv_measurement *m; /* of the first machine that has it */
	double spread;
	size_t order;
};

static double spread_of(const struct sv_measurement *m)
{
	double most = 0.0;

	for (size_t i = 0; i < m->n_rounds; i++)
		most = fmax(most, fabs(m->rounds[i] / m->summary.median - 1.0));
	return most;
}

static bool is_chosen(const struct sv_measurement *m)
{
	return m->n_rounds > 1 && m->summary.median != 0.0 &&
	       m->check != SV_CHECK_FAIL;
}

static int by_spread(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (a->spread != b->spread)
		return a->spread > b->spread ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

static int by_order(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	return a->order < b->order ? -1 : a->order > b->order;
}

/* Rows of all results, malloc'd; *n of them. */
static struct row *find_rows(
    const struct sv_result *const *results, size_t n_results, size_t *n)
{
	size_t total = 0, kept = 0;
	struct row *rows;

	for (size_t i = 0; i < n_results; i++)
		total += results[i]->n_measurements;
	rows = calloc(total + 1, sizeof *rows);
	for (size_t i = 0; rows != NULL && i < n_results; i++)
		for (size_t j = 0; j < results[i]->n_measurements; j++) {
			const struct sv_measurement *m =
			    &results[i]->measurements[j];
			bool seen = false;

			for (size_t k = 0; k < i && !seen; k++)
				seen =
				    sv_result_find(results[k], m->id) != NULL;
			if (!seen) {
				rows[kept] = (struct row){m, 0.0, kept};
				kept++;
			}
		}
	*n = kept;
	return rows;
}

static bool add_row(struct sv_figure *f, struct sv_panel *p,
    const struct sv_result *const *results, size_t n, const struct row *row)
{
	char name[SV_FIGURE_TEXT], params[SV_FIGURE_TEXT];
	char text[2 * SV_FIGURE_TEXT + 2];

	sv_figure_params(row->m, params);
	snprintf(text, sizeof text, "%s %s",
	    sv_figure_join(name, row->m->bench, row->m->metric), params);
	if (!sv_panel_row(p, text))
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct sv_measurement *m =
		    sv_result_find(results[i], row->m->id);
		struct sv_trace *t;

		if (m == NULL || !is_chosen(m))
			continue;
		t = sv_panel_trace(p, f->names[i]);
		if (t == NULL)
			return false;
		t->colour = (int)i;
		t->dash = (int)p->n_rows - 1;
		for (size_t j = 0; j < m->n_rounds; j++)
			if (!sv_trace_point(
				t, (struct sv_point){
				       m->rounds[j] / m->summary.median - 1.0,
				       0.0, NAN, NAN}))
				return false;
	}
	return true;
}

int sv_figure_make_rounds(const struct sv_figure_kind *kind,
    const struct sv_result *const *results, size_t n, struct sv_figure *f,
    struct sv_err *err)
{
	size_t found, n_rows = 0;
	struct row *rows = find_rows(results, n, &found);
	struct sv_panel *p = NULL;
	bool good = rows != NULL;

	(void)kind;
	for (size_t i = 0; good && i < found; i++) {
		struct row row = rows[i];
		bool any = false;

		for (size_t k = 0; k < n; k++) {
			const struct sv_measurement *m =
			    sv_result_find(results[k], row.m->id);

			if (m == NULL || !is_chosen(m))
				continue;
			any = true;
			row.spread = fmax(row.spread, spread_of(m));
		}
		if (any)
			rows[n_rows++] = row;
	}
	f->family = SV_FIGURE_STRIP;
	f->unit = SV_UNIT_ONE;
	snprintf(f->title, sizeof f->title, "Rounds against their median");
	snprintf(f->x_title, sizeof f->x_title,
	    "deviation of a round from the median of its machine, %%");
	if (n_rows > MAX_ROWS) {
		snprintf(f->subtitle, sizeof f->subtitle,
		    "the %d of %zu measurements that spread most", MAX_ROWS,
		    n_rows);
		qsort(rows, n_rows, sizeof *rows, by_spread);
		n_rows = MAX_ROWS;
		qsort(rows, n_rows, sizeof *rows, by_order);
	}
	if (good && n_rows > 0) {
		p = sv_figure_panel(f, "");
		good = p != NULL;
	}
	for (size_t i = 0; good && i < n_rows; i++)
		good = add_row(f, p, results, n, &rows[i]);
	free(rows);
	return good ? 0 : sv_err_set(err, SV_ERESOURCE, "plot: out of memory");
}

/* Bars: a panel a metric, a row for each set of parameters, from zero. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "figure.h"

/* More rows than this in a panel are nobody's to read. */
#define MAX_ROWS 24

/*
 * The row of a measurement, which all machines have in common; -1 where there
 * is none yet. ids are those of the rows.
 */
static int row_of(
    const struct sv_panel *p, const char *const *ids, const char *id)
{
	for (size_t i = 0; i < p->n_rows; i++)
		if (ids[i] != NULL && strcmp(ids[i], id) == 0)
			return (int)i;
	return -1;
}

/* Returns whether there was memory. */
static bool add(struct sv_figure *f, struct sv_panel *p,
    const char *ids[static MAX_ROWS], size_t machine,
    const struct sv_measurement *m)
{
	char text[SV_FIGURE_TEXT], label[SV_FIGURE_TEXT];
	struct sv_trace *t;
	int row = row_of(p, ids, m->id);

	sv_figure_params(m, text);
	if (row < 0 && p->n_rows == MAX_ROWS)
		return true;
	if (row < 0) {
		row = (int)p->n_rows;
		ids[row] = m->id;
		if (!sv_panel_row(p, text))
			return false;
	}
	sv_figure_join(label, f->n_names > 1 ? f->names[machine] : "", text);
	t = sv_panel_trace(p, label);
	if (t == NULL)
		return false;
	t->colour = (int)machine;
	t->dash = row;
	return sv_trace_point(t, sv_point_of(m, 0.0));
}

int sv_figure_make_bars(const struct sv_figure_kind *kind,
    const struct sv_result *const *results, size_t n, struct sv_figure *f,
    struct sv_err *err)
{
	const struct sv_bar_spec *spec = kind->spec;
	bool good = true;

	f->family = SV_FIGURE_BARS;
	snprintf(f->title, sizeof f->title, "%s", spec->title);
	for (size_t k = 0; good && spec->panels[k].bench != NULL; k++) {
		struct sv_panel *p = NULL;
		const char *ids[MAX_ROWS] = {NULL};

		for (size_t i = 0; good && i < n; i++)
			for (size_t j = 0;
			     good && j < results[i]->n_measurements; j++) {
				const struct sv_measurement *m =
				    &results[i]->measurements[j];

				if (strcmp(m->bench, spec->panels[k].bench) !=
					0 ||
				    strcmp(m->metric, spec->panels[k].metric) !=
					0 ||
				    m->check == SV_CHECK_FAIL)
					continue;
				f->unit = m->unit;
				if (p == NULL)
					p = sv_figure_panel(
					    f, spec->panels[k].title);
				good = p != NULL && add(f, p, ids, i, m);
			}
	}
	return good ? 0 : sv_err_set(err, SV_ERESOURCE, "plot: out of memory");
}

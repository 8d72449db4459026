/*
 * Pictures of an explanation (stave.explanation/1): what a step is made of on
 * A and on B, and the speed-up by batch with the crossover marked. The
 * document is read as any foreign one is: what is missing is not drawn.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "figure.h"
#include "quote.h"
#include "stave/units.h"

/* Parts below this share of the longer step are one part, "other". */
#define LEAST_SHARE 0.01

static double number_at(json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

/* "title: workload, batch 64"; the workload may be any text. */
static void put_title(struct sv_figure *f, const char *title, json_t *e)
{
	const char *workload =
	    json_string_value(json_object_get(e, "workload"));
	double batch = number_at(e, "batch");
	char cut[120];

	snprintf(f->title, sizeof f->title, "%s: %s", title,
	    sv_quote_cut(
		cut, sizeof cut, workload != NULL ? workload : "?", 28));
	if (f->family == SV_FIGURE_STACK && isfinite(batch))
		snprintf(f->subtitle, sizeof f->subtitle, "batch %.0f", batch);
}

static void name_row(json_t *e, const char *side, const char *letter,
    char out[static SV_FIGURE_TEXT])
{
	const char *label = json_string_value(
	    json_object_get(json_object_get(e, side), "label"));

	sv_figure_join(out, letter, label != NULL ? label : "");
}

/* One part of one row, from where the row has got to. */
static bool add_part(struct sv_figure *f, size_t row, int colour,
    const char *name, double seconds, double ends[2])
{
	char label[SV_FIGURE_TEXT];
	struct sv_trace *t;

	if (!(seconds > 0.0))
		return true;
	sv_figure_join(label, row == 0 ? "A" : "B", name);
	t = sv_panel_trace(&f->panels[0], label);
	if (t == NULL)
		return false;
	t->colour = colour;
	t->dash = (int)row;
	ends[row] += seconds;
	return sv_trace_point(
	    t, (struct sv_point){ends[row] - seconds, seconds, NAN, ends[row]});
}

/* What the next colour stands for; there is room for all of them. */
static void add_name(struct sv_figure *f, const char *name)
{
	sv_quote_cut(f->names[f->n_names++], SV_FIGURE_TEXT, name, 24);
}

static bool add_parts(struct sv_figure *f, json_t *components, double longest)
{
	double ends[2] = {0.0, 0.0}, rest[2] = {0.0, 0.0};
	json_t *one;
	size_t i;
	bool good = true;

	json_array_foreach (components, i, one) {
		double part[2] = {
		    number_at(one, "a_part_s"), number_at(one, "b_part_s")};
		const char *name =
		    json_string_value(json_object_get(one, "name"));
		bool is_small =
		    !(fmax(part[0], part[1]) >= LEAST_SHARE * longest) ||
		    f->n_names + 1 == SV_FIGURE_MAX_RESULTS;

		for (size_t row = 0; good && row < 2; row++)
			if (is_small)
				rest[row] += part[row] > 0.0 ? part[row] : 0.0;
			else
				good = add_part(f, row, (int)f->n_names,
				    name != NULL ? name : "?", part[row], ends);
		if (!is_small)
			add_name(f, name != NULL ? name : "?");
	}
	for (size_t row = 0; good && row < 2; row++)
		good =
		    add_part(f, row, (int)f->n_names, "other", rest[row], ends);
	if (rest[0] > 0.0 || rest[1] > 0.0)
		add_name(f, "other");
	return good;
}

/* False when out of memory, here and below. */
static bool make_step(struct sv_figure *f, json_t *e)
{
	json_t *components = json_object_get(e, "components"), *one;
	double sums[2] = {0.0, 0.0};
	char rows[2][SV_FIGURE_TEXT];
	size_t i;

	json_array_foreach (components, i, one) {
		double a = number_at(one, "a_part_s");
		double b = number_at(one, "b_part_s");

		sums[0] += a > 0.0 ? a : 0.0;
		sums[1] += b > 0.0 ? b : 0.0;
	}
	if (!(fmax(sums[0], sums[1]) > 0.0))
		return true;
	f->family = SV_FIGURE_STACK;
	f->kind = "step-parts";
	f->unit = SV_UNIT_SECONDS;
	put_title(f, "What a step is made of", e);
	name_row(e, "a", "A", rows[0]);
	name_row(e, "b", "B", rows[1]);
	return sv_figure_panel(f, "time of a step") != NULL &&
	       sv_panel_row(&f->panels[0], rows[0]) &&
	       sv_panel_row(&f->panels[0], rows[1]) &&
	       add_parts(f, components, fmax(sums[0], sums[1]));
}

static bool add_mark(
    struct sv_panel *p, const char *label, double at, bool vertical)
{
	struct sv_mark *mark = sv_panel_mark(p, label);

	if (mark == NULL)
		return false;
	mark->at = at;
	mark->vertical = vertical;
	mark->below = true;
	mark->colour = -1;
	return true;
}

static bool make_crossover(struct sv_figure *f, json_t *e)
{
	json_t *batches = json_object_get(e, "by_batch"), *one;
	double crossover = number_at(json_object_get(e, "crossover"), "batch");
	struct sv_panel *p = NULL;
	char label[SV_FIGURE_TEXT];
	bool good = true;
	size_t i;

	f->family = SV_FIGURE_CURVES;
	f->kind = "crossover";
	f->unit = SV_UNIT_ONE;
	f->x_log = true;
	put_title(f, "Speed of B against A by batch", e);
	snprintf(f->x_title, sizeof f->x_title, "batch");
	json_array_foreach (batches, i, one) {
		struct sv_point point = {number_at(one, "batch"),
		    number_at(one, "speedup"), NAN, NAN};

		if (!good || !(point.x >= 1.0) || !(point.y > 0.0) ||
		    !isfinite(point.y))
			continue;
		if (p == NULL) {
			p = sv_figure_panel(f, "");
			good =
			    p != NULL && sv_panel_trace(p, "speed-up") != NULL;
		}
		good = good && sv_trace_point(&p->traces[0], point);
	}
	if (p == NULL || !good)
		return good;
	good = add_mark(p, "as fast as A", 1.0, false);
	/* One at the first batch of all is no crossing. */
	if (crossover > p->traces[0].points[0].x) {
		snprintf(
		    label, sizeof label, "crossover: batch %.0f", crossover);
		good = good && add_mark(p, label, crossover, true);
	}
	add_name(f, "from the model of a step");
	return good;
}

int sv_figure_explained(enum sv_figure_explained which, json_t *explanation,
    struct sv_figure **out, struct sv_err *err)
{
	struct sv_figure *f = calloc(1, sizeof *f);
	bool good = f != NULL;

	*out = NULL;
	if (good) {
		f->names = calloc(SV_FIGURE_MAX_RESULTS, sizeof *f->names);
		good = f->names != NULL &&
		       (which == SV_EXPLAINED_STEP
			       ? make_step(f, explanation)
			       : make_crossover(f, explanation));
	}
	if (!good || f->n_panels == 0 || f->panels[0].n_traces == 0)
		sv_figure_free(f);
	else
		*out = f;
	return good ? 0 : sv_err_set(err, SV_ERESOURCE, "plot: out of memory");
}

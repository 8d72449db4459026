/*
 * Curves: one machine in one panel with a colour for each value of the first
 * parameter; more machines with a colour each and a panel for each value. The
 * second parameter is the dash.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "figure.h"
#include "quote.h"

/*
 * Ceilings further above everything measured would flatten it. A logarithmic
 * axis bears more.
 */
#define FAR_ABOVE     4.0
#define MAX_TRACES    12 /* labels of more do not fit beside a panel */
#define FAR_ABOVE_LOG 12.0

/* Values of a parameter in the order of the files. */
struct values {
	const char *text[16];
	char numbers[16][64];
	size_t n;
};

/* A parameter as text; number is where a number is written. */
static const char *param_text(
    const struct sv_result_param *p, char *number, size_t size)
{
	if (p->text != NULL)
		return p->text;
	snprintf(number, size, "%.40s=%lld", p->name, (long long)p->number);
	return number;
}

/* Whether text is one of the words in a list; there need be no list. */
static bool is_listed(const char *list, const char *text)
{
	size_t n = strlen(text);

	while (list != NULL && list[0] != '\0') {
		size_t word = strcspn(list, " ");

		if (word == n && strncmp(list, text, n) == 0)
			return true;
		list += word;
		list += strspn(list, " ");
	}
	return false;
}

/*
 * Index of a value, added where it is new; -1 where there is no room, or it is
 * none of those that are wanted.
 */
static int index_of(
    struct values *v, const struct sv_result_param *p, const char *wanted)
{
	char number[64];
	const char *text;

	if (p == NULL)
		return 0;
	text = param_text(p, number, sizeof number);
	if (wanted != NULL && !is_listed(wanted, text))
		return -1;
	for (size_t i = 0; i < v->n; i++)
		if (strcmp(v->text[i], text) == 0)
			return (int)i;
	if (v->n == sizeof v->text / sizeof v->text[0])
		return -1;
	if (text == number) {
		memcpy(v->numbers[v->n], number, sizeof number);
		text = v->numbers[v->n];
	}
	v->text[v->n] = text;
	return (int)v->n++;
}

static bool is_chosen(
    const struct sv_curve_spec *spec, const struct sv_measurement *m)
{
	const struct sv_result_param *x = sv_param_of(m, spec->x);
	const struct sv_result_param *only =
	    spec->only != NULL ? sv_param_of(m, spec->only) : NULL;

	if (strcmp(m->bench, spec->bench) != 0 ||
	    strcmp(m->metric, spec->metric) != 0 || x == NULL ||
	    x->text != NULL || m->check == SV_CHECK_FAIL ||
	    /* Near and far nodes are no curve over sizes. */
	    sv_param_of(m, "numa") != NULL ||
	    /* Windows are the samples, which a file need not have kept. */
	    (spec->windows && (m->n_samples == 0 || m->samples[0].n == 0)))
		return false;
	if (spec->only == NULL)
		return true;
	if (only == NULL || only->text == NULL)
		return only == NULL && spec->only_value[0] == '?';
	if (spec->only_value[0] == '!')
		return strcmp(only->text, spec->only_value + 1) != 0;
	return strcmp(only->text,
		   spec->only_value + (spec->only_value[0] == '?')) == 0;
}

static int by_x(const void *left, const void *right)
{
	const struct sv_point *a = left, *b = right;

	return a->x < b->x ? -1 : a->x > b->x;
}

/*
 * Parameters of a product that follow from its others: the sides from size and
 * shape, and one of batch and n, of which the other is x.
 */
static bool is_implied(
    const struct sv_measurement *m, const struct sv_result_param *p)
{
	static const char *const sides[] = {"m", "n", "k", "count", "batch"};

	for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++)
		if (strcmp(p->name, sides[i]) == 0)
			return sv_param_of(m, "shape") != NULL;
	return false;
}

/* The parameters that are neither an axis, nor a panel, nor a dash. */
static void rest_of(const struct sv_curve_spec *spec,
    const struct sv_measurement *m, char out[static SV_FIGURE_TEXT])
{
	char all[4 * SV_FIGURE_TEXT], number[64], cut[100];
	size_t used = 0;

	all[0] = '\0';
	for (size_t i = 0; i < m->n_params; i++) {
		const struct sv_result_param *p = &m->params[i];

		if (strcmp(p->name, spec->x) == 0 ||
		    strcmp(p->name, spec->panel) == 0 ||
		    (spec->dash != NULL && strcmp(p->name, spec->dash) == 0) ||
		    (spec->only != NULL && strcmp(p->name, spec->only) == 0) ||
		    is_implied(m, p) || used + sizeof cut + 1 > sizeof all)
			continue;
		used += (size_t)snprintf(all + used, sizeof all - used, "%s%s",
		    used > 0 ? " " : "",
		    sv_quote_cut(cut, sizeof cut,
			param_text(p, number, sizeof number), 24));
	}
	sv_quote_cut(out, SV_FIGURE_TEXT, all, 48);
}

/*
 * The trace of a colour, a dash and other parameters in a panel; NULL when out
 * of memory.
 */
static struct sv_trace *trace_of(struct sv_panel *p, int colour, int dash,
    const char *rest, const char *label)
{
	struct sv_trace *t;

	for (size_t i = 0; i < p->n_traces; i++)
		if (p->traces[i].colour == colour &&
		    p->traces[i].dash == dash &&
		    strcmp(p->traces[i].rest, rest) == 0)
			return &p->traces[i];
	t = sv_panel_trace(p, label);
	if (t != NULL) {
		t->colour = colour;
		t->dash = dash;
		snprintf(t->rest, sizeof t->rest, "%s", rest);
	}
	return t;
}

/* One value for a window of several rounds, with the least and the most. */
static bool add_window(struct sv_trace *t, const struct sv_measurement *m,
    size_t window, double seconds)
{
	double values[64], lo = INFINITY, hi = -INFINITY, middle = 0.0;
	size_t n = 0;

	for (size_t i = 0; i < m->n_samples && n < 64; i++)
		if (window < m->samples[i].n)
			values[n++] = m->samples[i].values[window];
	for (size_t i = 0; i < n; i++) {
		lo = fmin(lo, values[i]);
		hi = fmax(hi, values[i]);
		middle += values[i] / (double)n;
	}
	return n == 0 ||
	       sv_trace_point(
		   t, (struct sv_point){((double)window + 0.5) * seconds /
					    (double)m->samples[0].n,
			  middle, lo, hi});
}

static bool add_points(const struct sv_curve_spec *spec, struct sv_trace *t,
    const struct sv_measurement *m)
{
	double x = (double)sv_param_of(m, spec->x)->number;
	bool good = true;

	if (!spec->windows)
		return sv_trace_point(t, sv_point_of(m, x));
	for (size_t i = 0; good && i < m->samples[0].n; i++)
		good = add_window(t, m, i, x);
	return good;
}

struct builder {
	const struct sv_curve_spec *spec;
	const struct sv_result *const *results;
	size_t n;
	struct sv_figure *f;
	struct values panels, dashes;
};

/* Add one measurement. Returns whether there was memory. */
static bool add(struct builder *b, size_t machine,
    const struct sv_measurement *m, bool *fits)
{
	const struct sv_curve_spec *spec = b->spec;
	bool one = b->n == 1;
	int value = 0, dash = 0;
	const char *what, *how;
	char name[SV_FIGURE_TEXT], label[SV_FIGURE_TEXT];
	char rest[SV_FIGURE_TEXT];
	struct sv_trace *t;

	if (spec->dash != NULL)
		dash = index_of(
		    &b->dashes, sv_param_of(m, spec->dash), spec->dashes);
	if (dash >= 0)
		value = index_of(&b->panels, sv_param_of(m, spec->panel), NULL);
	*fits = value >= 0 && dash >= 0;
	if (!*fits)
		return true;
	what = b->panels.n > 0 ? b->panels.text[value] : "";
	how = b->dashes.n > 0 ? b->dashes.text[dash] : "";
	while (b->f->n_panels <= (one ? 0 : (size_t)value))
		if (sv_figure_panel(
			b->f, one || b->panels.n == 0
				  ? ""
				  : b->panels.text[b->f->n_panels]) == NULL)
			return false;
	rest_of(spec, m, rest);
	sv_figure_join(name, how, rest);
	sv_figure_join(label, one ? what : b->f->names[machine], name);
	t = trace_of(&b->f->panels[one ? 0 : value], one ? value : (int)machine,
	    dash, rest, label);
	if (t == NULL)
		return false;
	sv_quote_cut(t->end, sizeof t->end, one ? label : name, 28);
	return add_points(spec, t, m);
}

static double highest(const struct sv_panel *p)
{
	double most = 0.0;

	for (size_t i = 0; i < p->n_traces; i++)
		for (size_t j = 0; j < p->traces[i].n; j++)
			most = fmax(most, p->traces[i].points[j].y);
	return most;
}

/*
 * A horizontal mark, unless it is far above the highest figure. Equal ceilings
 * share a mark.
 */
static bool add_ceiling(
    struct sv_panel *p, double at, double far, const char *label, int colour)
{
	struct sv_mark *mark;

	if (!isfinite(at) || at > far * highest(p))
		return true;
	for (size_t i = 0; i < p->n_marks; i++) {
		mark = &p->marks[i];
		if (mark->vertical || fabs(mark->at - at) > 0.01 * at)
			continue;
		mark->colour = -1;
		if (strcmp(mark->label, label) != 0) {
			char both[2 * SV_FIGURE_TEXT + 3];

			snprintf(
			    both, sizeof both, "%s, %s", mark->label, label);
			sv_quote_cut(mark->label, SV_FIGURE_TEXT, both, 48);
		}
		return true;
	}
	mark = sv_panel_mark(p, label);
	if (mark == NULL)
		return false;
	mark->at = at;
	mark->colour = colour;
	return true;
}

static bool add_x_mark(struct builder *b, struct sv_panel *p, size_t machine)
{
	json_t *value =
	    sv_result_field(b->results[machine]->device, b->spec->x_mark);
	struct sv_mark *mark;
	double at = json_is_number(value) ? json_number_value(value) : 0.0;

	if (!(at > 0.0))
		return true;
	for (size_t i = 0; i < p->n_marks; i++)
		if (p->marks[i].vertical && p->marks[i].at == at) {
			p->marks[i].colour = -1;
			return true;
		}
	mark = sv_panel_mark(p, b->spec->x_mark_label);
	if (mark == NULL)
		return false;
	mark->vertical = true;
	mark->at = at;
	mark->colour = b->n == 1 ? -1 : (int)machine;
	return true;
}

/* What the machine could do at best, in each panel. */
static bool add_marks(struct builder *b, size_t machine)
{
	for (size_t i = 0; i < b->panels.n; i++) {
		struct sv_panel *p = &b->f->panels[b->n == 1 ? 0 : i];
		char label[SV_FIGURE_TEXT] = "";
		double at = b->spec->ceiling != NULL
				? b->spec->ceiling(b->results[machine],
				      b->panels.text[i], label, sizeof label)
				: NAN;

		if (!add_ceiling(p, at,
			b->spec->y_log ? FAR_ABOVE_LOG : FAR_ABOVE, label,
			b->n == 1 ? (int)i : (int)machine))
			return false;
	}
	for (size_t i = 0; b->spec->x_mark != NULL && i < b->f->n_panels; i++)
		if (!add_x_mark(b, &b->f->panels[i], machine))
			return false;
	return true;
}

/*
 * A panel has room for so many curves: first points on their own give way,
 * then what came last. Returns how many values go.
 */
static size_t thin_out(struct sv_panel *p)
{
	size_t kept = 0, gone = 0;

	if (p->n_traces <= MAX_TRACES)
		return 0;
	for (size_t i = 0; i < p->n_traces; i++) {
		struct sv_trace *t = &p->traces[i];

		if (t->n > 1 && kept < MAX_TRACES) {
			if (kept != i)
				p->traces[kept] = *t;
			kept++;
		} else {
			gone += t->n;
			free(t->points);
		}
	}
	p->n_traces = kept;
	return gone;
}

static void drop_empty_panels(struct sv_figure *f)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->n_panels; i++) {
		struct sv_panel *p = &f->panels[i];

		if (p->n_traces > 0) {
			f->panels[kept++] = *p;
			continue;
		}
		free(p->traces);
		free(p->marks);
	}
	f->n_panels = kept;
}

/* What is the same at every end says nothing. */
static void clear_equal_ends(struct sv_figure *f)
{
	const char *first = f->panels[0].traces[0].end;

	for (size_t i = 0; i < f->n_panels; i++)
		for (size_t j = 0; j < f->panels[i].n_traces; j++)
			if (strcmp(f->panels[i].traces[j].end, first) != 0)
				return;
	for (size_t i = 0; i < f->n_panels; i++)
		for (size_t j = 0; j < f->panels[i].n_traces; j++)
			f->panels[i].traces[j].end[0] = '\0';
}

static void head(struct builder *b, size_t left_out)
{
	struct sv_figure *f = b->f;

	f->family = SV_FIGURE_CURVES;
	snprintf(f->title, sizeof f->title, "%s", b->spec->title);
	snprintf(f->x_title, sizeof f->x_title, "%s", b->spec->x_title);
	if (left_out > 0)
		snprintf(f->subtitle, sizeof f->subtitle,
		    "%zu figures of other parameters are in the tables alone",
		    left_out);
	f->x_bytes = b->spec->x_bytes;
	f->x_time = b->spec->windows;
	f->x_log = b->spec->x_log;
	f->y_log = b->spec->y_log;
	f->shared_y = b->spec->shared_y;
}

/* Words that are drawn have their dashes by their order there. */
static void seed_dashes(struct values *v, const char *words)
{
	while (words != NULL && words[0] != '\0') {
		size_t n = strcspn(words, " ");

		snprintf(v->numbers[v->n], sizeof v->numbers[0], "%.*s", (int)n,
		    words);
		v->text[v->n] = v->numbers[v->n];
		v->n++;
		words += n;
		words += strspn(words, " ");
	}
}

int sv_figure_make_curves(const struct sv_figure_kind *kind,
    const struct sv_result *const *results, size_t n, struct sv_figure *f,
    struct sv_err *err)
{
	struct builder *b = calloc(1, sizeof *b);
	size_t left_out = 0;
	bool good = b != NULL, fits;

	if (good) {
		b->spec = kind->spec;
		b->results = results;
		b->n = n;
		b->f = f;
		seed_dashes(&b->dashes, b->spec->dashes);
	}
	for (size_t i = 0; good && i < n; i++)
		for (size_t j = 0; good && j < results[i]->n_measurements;
		     j++) {
			const struct sv_measurement *m =
			    &results[i]->measurements[j];

			if (!is_chosen(b->spec, m))
				continue;
			f->unit = m->unit;
			good = add(b, i, m, &fits);
			left_out += !fits;
		}
	for (size_t i = 0; good && i < f->n_panels; i++)
		for (size_t j = 0; j < f->panels[i].n_traces; j++)
			qsort(f->panels[i].traces[j].points,
			    f->panels[i].traces[j].n, sizeof(struct sv_point),
			    by_x);
	for (size_t i = 0; good && i < f->n_panels; i++)
		left_out += thin_out(&f->panels[i]);
	for (size_t i = 0; good && f->n_panels > 0 && i < n; i++)
		good = add_marks(b, i);
	drop_empty_panels(f);
	if (good && n > 1 && f->n_panels > 0)
		clear_equal_ends(f);
	if (good)
		head(b, left_out);
	free(b);
	return good ? 0 : sv_err_set(err, SV_ERESOURCE, "plot: out of memory");
}

/*
 * From a figure to a script: everything that has a place in the picture gets
 * it here, so that labels can be kept apart. Lengths are pixels of the SVG,
 * counted from the lower left corner.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assets.h"
#include "gnuplot.h"
#include "quantity.h"
#include "quote.h"
#include "stave/units.h"

#define WIDTH	   960.0
#define FONT	   13.0
#define SMALL	   12.0
#define COLUMN	   6.6	/* a character of the small font, on average */
#define LINE	   14.0 /* least distance of two labels */
#define MAX_LABELS 64
#define HIGH	   640.0 /* what is higher gets two columns */
#define INK	   "#1b1f24"
#define MUTED	   "#59636e"
#define GRID	   "#d8dee4"

/* See plots/style.gp. */
static const char *const palette[] = {"#0072b2", "#d55e00", "#009e73",
    "#cc79a7", "#e69f00", "#56b4e9", "#5b5b5b", "#8c510a"};
#define N_PALETTE (sizeof palette / sizeof palette[0])

/* Filled forms, one a colour: colour is never the only difference. */
static const int shapes[N_PALETTE] = {7, 5, 9, 13, 11, 15, 7, 5};

struct frame {
	double left, right, bottom, top; /* of the plotting area */
	double x0, x1, y0, y1;
	double scale; /* that values are divided by */
	char unit[24];
};

struct layout {
	const struct sv_figure *f;
	FILE *out;
	double height;
	struct frame *frames; /* one a panel */
	int n_labels;
};

static const char *colour_of(int colour)
{
	return colour < 0 ? MUTED : palette[(size_t)colour % N_PALETTE];
}

static double text_width(const char *text)
{
	size_t n = 0;

	for (; *text != '\0'; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return (double)n * COLUMN;
}

struct style {
	const char *align, *colour;
	double size;
	bool upright;
};

static void put_label(struct layout *l, const char *text, double x, double y,
    const struct style *style)
{
	if (text[0] == '\0')
		return;
	fprintf(l->out, "set label %d ", ++l->n_labels);
	sv_quote_gnuplot(l->out, text, 0);
	fprintf(l->out,
	    " at screen %.5f,%.5f %s%s noenhanced front textcolor rgb '%s' "
	    "font ',%.0f'\n",
	    x / WIDTH, y / l->height, style->align,
	    style->upright ? " rotate by 90" : "", style->colour, style->size);
}

static double x_at(const struct layout *l, const struct frame *a, double x)
{
	double share = l->f->x_log ? log(x / a->x0) / log(a->x1 / a->x0)
				   : (x - a->x0) / (a->x1 - a->x0);

	return a->left + share * (a->right - a->left);
}

static double y_at(const struct layout *l, const struct frame *a, double y)
{
	double share = l->f->y_log ? log(y / a->y0) / log(a->y1 / a->y0)
				   : (y - a->y0) / (a->y1 - a->y0);

	return a->bottom + fmin(fmax(share, 0.0), 1.0) * (a->top - a->bottom);
}

struct placed {
	const char *text;
	double x, y;
	int colour;
};

static int by_y(const void *left, const void *right)
{
	const struct placed *a = left, *b = right;

	return a->y < b->y ? -1 : a->y > b->y;
}

/* Move labels apart, no more than needed, and keep them inside. */
static void spread(struct placed *labels, size_t n, double low, double high)
{
	qsort(labels, n, sizeof *labels, by_y);
	for (size_t i = 0; i < n; i++) {
		double least = i == 0 ? low : labels[i - 1].y + LINE;

		labels[i].y = fmax(labels[i].y, least);
	}
	for (size_t i = n; i-- > 0;) {
		double most = i + 1 == n ? high : labels[i + 1].y - LINE;

		labels[i].y = fmin(labels[i].y, most);
	}
}

static void put_placed(struct layout *l, const struct placed *labels, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put_label(l, labels[i].text, labels[i].x, labels[i].y,
		    &(struct style){
			"left", colour_of(labels[i].colour), SMALL, false});
}

/* Title, subtitle and, where colours are machines, who is who. */
static double header_height(const struct sv_figure *f)
{
	return 36.0 + (f->subtitle[0] != '\0' ? 18.0 : 0.0) +
	       (f->n_names > 1 ? 20.0 * ceil((double)f->n_names / 3.0) : 0.0);
}

static void put_header(struct layout *l)
{
	const struct sv_figure *f = l->f;
	double y = l->height - 18.0;

	put_label(l, f->title, 12.0, y,
	    &(struct style){"left", INK, FONT + 3.0, false});
	if (f->subtitle[0] != '\0')
		put_label(l, f->subtitle, 12.0, y -= 20.0,
		    &(struct style){"left", MUTED, SMALL, false});
	if (f->n_names < 2) {
		/* One machine: its name is at the end of the title's line. */
		put_label(l, f->names[0], WIDTH - 12.0, l->height - 18.0,
		    &(struct style){"right", MUTED, SMALL, false});
		return;
	}
	y -= 20.0;
	for (size_t i = 0; i < f->n_names; i++) {
		char text[SV_FIGURE_TEXT + 8];
		static const char *const forms[N_PALETTE] = {"\u25cf", "\u25a0",
		    "\u25b2", "\u25c6", "\u25bc", "\u2b1f", "\u25cf", "\u25a0"};

		snprintf(text, sizeof text, "%s %s", forms[i % N_PALETTE],
		    f->names[i]);
		put_label(l, text, 12.0 + 316.0 * (double)(i % 3),
		    y - 20.0 * floor((double)i / 3.0),
		    &(struct style){"left", colour_of((int)i), FONT, false});
	}
}

/* Labels at the ends of curves, unless they say nothing. */
static double end_labels_width(const struct sv_figure *f)
{
	double most = 0.0;

	for (size_t i = 0; i < f->n_panels; i++)
		for (size_t j = 0; j < f->panels[i].n_traces; j++)
			most =
			    fmax(most, text_width(f->panels[i].traces[j].end));
	return most;
}

/* The range of values in a panel, widened by the other arguments. */
static void widen(const struct sv_panel *p, double *least, double *most)
{
	for (size_t i = 0; i < p->n_traces; i++)
		for (size_t j = 0; j < p->traces[i].n; j++) {
			const struct sv_point *at = &p->traces[i].points[j];

			*least = fmin(*least, at->y);
			*most = fmax(*most, at->y);
			/* A hopeless interval must not flatten the rest. */
			if (at->hi < 1.5 * at->y)
				*most = fmax(*most, at->hi);
		}
	for (size_t i = 0; i < p->n_marks; i++)
		if (!p->marks[i].vertical) {
			*least = fmin(*least, p->marks[i].at);
			*most = fmax(*most, p->marks[i].at);
		}
}

static void widen_x(const struct sv_panel *p, double *least, double *most)
{
	for (size_t i = 0; i < p->n_traces; i++)
		for (size_t j = 0; j < p->traces[i].n; j++) {
			*least = fmin(*least, p->traces[i].points[j].x);
			*most = fmax(*most, p->traces[i].points[j].x);
		}
}

static void range_of_curves(const struct sv_figure *f, struct frame *frames)
{
	double all_least = INFINITY, all_most = 0.0;
	double x0 = INFINITY, x1 = -INFINITY;

	for (size_t i = 0; i < f->n_panels; i++) {
		widen(&f->panels[i], &all_least, &all_most);
		widen_x(&f->panels[i], &x0, &x1);
	}
	for (size_t i = 0; i < f->n_panels; i++) {
		double least = INFINITY, most = 0.0;
		struct frame *a = &frames[i];

		widen(&f->panels[i], &least, &most);
		if (f->shared_y) {
			least = all_least;
			most = all_most;
		}
		if (!(most > 0.0))
			most = 1.0;
		if (!(least > 0.0))
			least = most / 1e3;
		a->scale =
		    sv_quantity_prefix(a->unit, sizeof a->unit, most, f->unit);
		a->y0 = f->y_log ? least / 1.6 / a->scale : 0.0;
		a->y1 = (f->y_log ? most * 1.8 : most * 1.1) / a->scale;
		a->x0 = f->x_log    ? fmax(x0, 1.0) / 1.25
			: f->x_time ? 0.0
				    : x0 - 0.3;
		a->x1 = f->x_log ? x1 * 1.25 : x1 + 0.3;
	}
}

static void lay_out_curves(struct layout *l)
{
	const struct sv_figure *f = l->f;
	size_t columns = f->n_panels > 1 ? 2 : 1;
	size_t rows = (f->n_panels + columns - 1) / columns;
	double cell = WIDTH / (double)columns;
	double high = columns == 1 ? 344.0 : 240.0;
	double ends = end_labels_width(f);

	l->height = header_height(f) + (high + 4.0) * (double)rows;
	for (size_t i = 0; i < f->n_panels; i++) {
		double left = cell * (double)(i % columns);
		double top = l->height - header_height(f) -
			     (high + 4.0) * floor((double)i / (double)columns);

		l->frames[i].left = left + 68.0;
		l->frames[i].right =
		    left + cell - (ends > 0.0 ? ends + 16.0 : 20.0);
		l->frames[i].top = top - 26.0;
		l->frames[i].bottom = top - high + 48.0;
	}
	range_of_curves(f, l->frames);
}

static double row_height(const struct sv_figure *f)
{
	switch (f->family) {
	case SV_FIGURE_BARS:
		return 14.0 * (double)f->n_names + 8.0;
	case SV_FIGURE_STACK:
		return 40.0;
	default:
		return 7.0 * (double)f->n_names + 10.0;
	}
}

static double rows_width(const struct sv_figure *f)
{
	double most = 40.0;

	for (size_t i = 0; i < f->n_panels; i++)
		for (size_t j = 0; j < f->panels[i].n_rows; j++)
			most = fmax(most, text_width(f->panels[i].rows[j]));
	return most + 18.0;
}

static void range_of_bars(
    const struct sv_figure *f, size_t panel, struct frame *a)
{
	const struct sv_panel *p = &f->panels[panel];
	double most = 0.0, ends = 0.0;

	for (size_t i = 0; i < p->n_traces; i++) {
		most = fmax(most, p->traces[i].points[0].y);
		if (isfinite(p->traces[i].points[0].hi))
			ends = fmax(ends, p->traces[i].points[0].hi);
	}
	if (!(most > 0.0))
		most = 1.0;
	a->scale = sv_quantity_prefix(a->unit, sizeof a->unit, most, f->unit);
	/* A hopeless interval must not flatten every bar. */
	a->x1 = 1.03 * fmin(fmax(most, ends), 2.0 * most) / a->scale;
}

static void range_of_stack(
    const struct sv_panel *p, const char *unit, struct frame *a)
{
	double most = 0.0;

	for (size_t i = 0; i < p->n_traces; i++)
		most = fmax(most, p->traces[i].points[0].hi);
	a->scale = sv_quantity_prefix(a->unit, sizeof a->unit, most, unit);
	a->x1 = 1.02 * most / a->scale;
}

static double range_of_strip(const struct sv_panel *p)
{
	double most = 0.01;

	for (size_t i = 0; i < p->n_traces; i++)
		for (size_t j = 0; j < p->traces[i].n; j++)
			most = fmax(most, fabs(p->traces[i].points[j].x));
	return 105.0 * fmin(most, 0.5);
}

/* Height of a panel with its title and its axis. */
static double panel_height(const struct sv_figure *f, size_t panel)
{
	return 54.0 + row_height(f) * (double)f->panels[panel].n_rows;
}

/*
 * Panels below each other, in two columns where one would be too high: the
 * first panel of the second column, or n_panels.
 */
static size_t second_column(const struct sv_figure *f, double *height)
{
	double total = 0.0, first = 0.0;
	size_t at = 0;

	for (size_t i = 0; i < f->n_panels; i++)
		total += panel_height(f, i);
	*height = total;
	if (total < HIGH || f->n_panels < 2)
		return f->n_panels;
	while (
	    at < f->n_panels && first + panel_height(f, at) / 2.0 < total / 2.0)
		first += panel_height(f, at++);
	*height = fmax(first, total - first);
	return at;
}

static void lay_out_rows(struct layout *l)
{
	const struct sv_figure *f = l->f;
	bool bars = f->family != SV_FIGURE_STRIP;
	double high, top, left = 0.0, text = rows_width(f);
	size_t second = second_column(f, &high);
	double cell = second < f->n_panels ? WIDTH / 2.0 : WIDTH;

	l->height = header_height(f) + high;
	top = l->height - header_height(f);
	for (size_t i = 0; i < f->n_panels; i++) {
		struct frame *a = &l->frames[i];
		double rows = (double)f->panels[i].n_rows;

		if (i == second) {
			left = cell;
			top = l->height - header_height(f);
		}
		/* A bar is worth more than the end of a long name. */
		a->left = left + fmin(text, 0.45 * cell);
		a->right = left + cell - (bars ? 76.0 : 20.0);
		a->top = top - (bars ? 24.0 : 6.0);
		a->bottom = a->top - row_height(f) * rows;
		a->y0 = -rows + 0.5;
		a->y1 = 0.5;
		top -= panel_height(f, i);
		if (f->family == SV_FIGURE_BARS) {
			range_of_bars(f, i, a);
		} else if (f->family == SV_FIGURE_STACK) {
			range_of_stack(&f->panels[i], f->unit, a);
		} else {
			a->x1 = range_of_strip(&f->panels[i]);
			a->x0 = -a->x1;
			a->scale = 1.0;
		}
	}
}

static void label_curves(struct layout *l, size_t panel)
{
	const struct sv_panel *p = &l->f->panels[panel];
	const struct frame *a = &l->frames[panel];
	struct placed labels[MAX_LABELS] = {{0}};
	size_t n = 0, uprights = 0;

	for (size_t i = 0; i < p->n_traces && n < MAX_LABELS; i++) {
		const struct sv_trace *t = &p->traces[i];
		const struct sv_point *end = &t->points[t->n - 1];

		if (t->end[0] != '\0')
			labels[n++] = (struct placed){t->end, a->right + 8.0,
			    y_at(l, a, end->y / a->scale), t->colour};
	}
	spread(labels, n, a->bottom, a->top);
	put_placed(l, labels, n);
	n = 0;
	for (size_t i = 0; i < p->n_marks && n < MAX_LABELS; i++) {
		const struct sv_mark *m = &p->marks[i];

		if (m->vertical)
			put_label(l, m->label, x_at(l, a, m->at) + 4.0,
			    a->bottom + 10.0 + LINE * (double)uprights++,
			    &(struct style){
				"left", colour_of(m->colour), SMALL, false});
		else
			labels[n++] = (struct placed){m->label, a->left + 8.0,
			    y_at(l, a, m->at / a->scale) +
				(m->below ? -10.0 : 8.0),
			    m->colour};
	}
	spread(labels, n, a->bottom, a->top + 8.0);
	put_placed(l, labels, n);
	put_label(l, l->f->x_title, (a->left + a->right) / 2.0,
	    a->bottom - 36.0, &(struct style){"center", MUTED, SMALL, false});
	put_label(l, strcmp(a->unit, "/s") == 0 ? "1/s" : a->unit,
	    a->left - 54.0, (a->bottom + a->top) / 2.0,
	    &(struct style){"center", MUTED, SMALL, true});
}

/* Where the bar of a machine stands in its row, and half its height. */
static double bar_place(
    const struct sv_figure *f, const struct sv_trace *t, double *half)
{
	double share = 14.0 / row_height(f);

	*half = 0.43 * share;
	return -(double)t->dash +
	       share * ((double)(f->n_names - 1) / 2.0 - (double)t->colour);
}

/* A value to the right of where its bar ends. */
static void put_value(struct layout *l, const struct frame *a, double value,
    double end, double y, int colour)
{
	char text[SV_QUANTITY_BYTES];

	put_label(l, sv_quantity(text, sizeof text, value, l->f->unit),
	    fmin(x_at(l, a, end / a->scale), a->right) + 6.0, y_at(l, a, y),
	    &(struct style){"left", colour_of(colour), SMALL, false});
}

/* What each bar, or each row of parts, comes to. */
static void label_values(struct layout *l, size_t panel)
{
	const struct sv_panel *p = &l->f->panels[panel];
	const struct frame *a = &l->frames[panel];
	double half, totals[2] = {0.0, 0.0};

	for (size_t i = 0; i < p->n_traces; i++) {
		const struct sv_trace *t = &p->traces[i];
		const struct sv_point *at = &t->points[0];

		if (l->f->family == SV_FIGURE_BARS)
			put_value(l, a, at->y,
			    isfinite(at->hi) ? at->hi : at->y,
			    bar_place(l->f, t, &half), t->colour);
		else if (l->f->family == SV_FIGURE_STACK && t->dash < 2)
			totals[t->dash] = fmax(totals[t->dash], at->hi);
	}
	for (int row = 0; row < 2; row++)
		if (totals[row] > 0.0)
			put_value(
			    l, a, totals[row], totals[row], -(double)row, -1);
}

static void label_rows(struct layout *l, size_t panel)
{
	const struct sv_panel *p = &l->f->panels[panel];
	const struct frame *a = &l->frames[panel];

	for (size_t i = 0; i < p->n_rows; i++)
		put_label(l, p->rows[i], a->left - 8.0, y_at(l, a, -(double)i),
		    &(struct style){"right", INK, SMALL, false});
	label_values(l, panel);
	put_label(l, l->f->x_title, (a->left + a->right) / 2.0,
	    a->bottom - 34.0, &(struct style){"center", MUTED, SMALL, false});
}

static void put_titles(struct layout *l)
{
	for (size_t i = 0; i < l->f->n_panels; i++) {
		const struct frame *a = &l->frames[i];
		char text[SV_FIGURE_TEXT + 32];
		bool bars = l->f->family == SV_FIGURE_BARS ||
			    l->f->family == SV_FIGURE_STACK;

		snprintf(text, sizeof text, "%s%s%s", l->f->panels[i].title,
		    bars ? ", " : "", bars ? a->unit : "");
		put_label(l, text, a->left, a->top + 12.0,
		    &(struct style){"left", INK, FONT, false});
		if (l->f->family == SV_FIGURE_CURVES)
			label_curves(l, i);
		else
			label_rows(l, i);
	}
}

/* The place of a machine's rounds within their row. */
static double strip_place(const struct sv_figure *f, const struct sv_trace *t)
{
	return -(double)t->dash +
	       7.0 / row_height(f) *
		   ((double)(f->n_names - 1) / 2.0 - (double)t->colour);
}

/* A point as the template of its family has its columns. */
static void put_point(struct layout *l, const struct frame *a,
    const struct sv_trace *t, const struct sv_point *p)
{
	double half, place = bar_place(l->f, t, &half);
	double y = p->y / a->scale;
	double lo = isfinite(p->lo) ? p->lo / a->scale : y;
	double hi = isfinite(p->hi) ? p->hi / a->scale : y;
	double limit = a->x1 / 1.02, x = 100.0 * p->x;

	switch (l->f->family) {
	case SV_FIGURE_CURVES:
		fprintf(l->out, "%.9g %.9g %.9g %.9g\n", p->x, y, lo, hi);
		break;
	case SV_FIGURE_BARS:
		fprintf(l->out, "%.9g %.9g %.9g %.9g %.9g\n", place, y, lo, hi,
		    half);
		break;
	case SV_FIGURE_STRIP:
		fprintf(l->out, "%.9g %.9g %d\n", fmin(fmax(x, -limit), limit),
		    strip_place(l->f, t), fabs(x) > limit);
		break;
	case SV_FIGURE_STACK:
		fprintf(l->out, "%d %.9g %.9g 0.36\n", -t->dash,
		    p->x / a->scale, hi);
		break;
	}
}

/* One block of data: points of a curve, a bar, or a row of a strip. */
static void put_trace(struct layout *l, size_t panel, const struct sv_trace *t)
{
	for (size_t i = 0; i < t->n; i++)
		put_point(l, &l->frames[panel], t, &t->points[i]);
	fputs("\n\n", l->out);
}

static void put_mark(struct layout *l, size_t panel, const struct sv_mark *m)
{
	const struct frame *a = &l->frames[panel];

	if (m->vertical)
		fprintf(l->out, "%.9g %.9g\n%.9g %.9g\n\n\n", m->at, a->y0,
		    m->at, a->y1);
	else
		fprintf(l->out, "%.9g %.9g\n%.9g %.9g\n\n\n", a->x0,
		    m->at / a->scale, a->x1, m->at / a->scale);
}

static void put_data(struct layout *l)
{
	const struct sv_figure *f = l->f;

	fputs("$data << END_OF_DATA\n", l->out);
	for (size_t i = 0; i < f->n_panels; i++) {
		for (size_t j = 0; j < f->panels[i].n_traces; j++)
			put_trace(l, i, &f->panels[i].traces[j]);
		for (size_t j = 0; j < f->panels[i].n_marks; j++)
			put_mark(l, i, &f->panels[i].marks[j]);
		/* A strip has its middle marked. */
		if (f->family == SV_FIGURE_STRIP)
			put_mark(l, i,
			    &(struct sv_mark){.vertical = true, .at = 0.0});
	}
	fputs("END_OF_DATA\n", l->out);
}

/* An array of one number a panel, at an offset into its frame. */
static void put_array(
    struct layout *l, const char *name, size_t offset, double divisor)
{
	fprintf(l->out, "array %s[%zu] = [", name, l->f->n_panels);
	for (size_t i = 0; i < l->f->n_panels; i++) {
		double value;

		memcpy(
		    &value, (const char *)&l->frames[i] + offset, sizeof value);
		fprintf(l->out, "%s%.9g", i > 0 ? ", " : "", value / divisor);
	}
	fputs("]\n", l->out);
}

static void put_frames(struct layout *l)
{
	put_array(l, "L", offsetof(struct frame, left), WIDTH);
	put_array(l, "R", offsetof(struct frame, right), WIDTH);
	put_array(l, "B", offsetof(struct frame, bottom), l->height);
	put_array(l, "T", offsetof(struct frame, top), l->height);
	put_array(l, "X0", offsetof(struct frame, x0), 1.0);
	put_array(l, "X1", offsetof(struct frame, x1), 1.0);
	put_array(l, "Y0", offsetof(struct frame, y0), 1.0);
	put_array(l, "Y1", offsetof(struct frame, y1), 1.0);
}

static size_t marks_of(const struct sv_figure *f, size_t panel)
{
	return f->panels[panel].n_marks + (f->family == SV_FIGURE_STRIP);
}

/* Which blocks of the data belong to which panel: first and last. */
static void put_blocks(struct layout *l)
{
	static const char *const names[] = {
	    "TRACE0", "TRACE1", "MARK0", "MARK1"};

	for (int which = 0; which < 4; which++) {
		size_t block = 0;

		fprintf(
		    l->out, "array %s[%zu] = [", names[which], l->f->n_panels);
		for (size_t i = 0; i < l->f->n_panels; i++) {
			long first = (long)block;
			long marks = first + (long)l->f->panels[i].n_traces;
			long last = marks + (long)marks_of(l->f, i);
			const long bounds[] = {
			    first, marks - 1, marks, last - 1};

			fprintf(
			    l->out, "%s%ld", i > 0 ? ", " : "", bounds[which]);
			block = (size_t)last;
		}
		fputs("]\n", l->out);
	}
}

/* Colour, dash and shape of every block, in the order of the data. */
static void put_looks(struct layout *l)
{
	static const char *const names[] = {"C", "D", "S"};
	size_t n = 0;

	for (size_t i = 0; i < l->f->n_panels; i++)
		n += l->f->panels[i].n_traces + marks_of(l->f, i);
	for (int which = 0; which < 3; which++) {
		const char *comma = "";

		fprintf(l->out, "array %s[%zu] = [", names[which], n + 1);
		for (size_t i = 0; i < l->f->n_panels; i++) {
			const struct sv_panel *p = &l->f->panels[i];

			for (size_t j = 0; j < p->n_traces + marks_of(l->f, i);
			     j++) {
				int colour =
				    j < p->n_traces ? p->traces[j].colour
				    : j - p->n_traces < p->n_marks
					? p->marks[j - p->n_traces].colour
					: -1;
				int dash =
				    j < p->n_traces ? p->traces[j].dash : 0;

				if (which == 0)
					fprintf(l->out, "%s'%s'", comma,
					    colour_of(colour));
				else
					fprintf(l->out, "%s%d", comma,
					    which == 1 ? dash % 5 + 1
					    : colour < 0
						? 7
						: shapes[(size_t)colour %
							 N_PALETTE]);
				comma = ", ";
			}
		}
		/* gnuplot looks at one more where a loop is empty. */
		fprintf(l->out, "%s]\n", which == 0 ? ", '" INK "'" : ", 1");
	}
}

static int by_value(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* Ticks where there are points, as many as have room. Needs room for all. */
static void put_x_ticks(struct layout *l, double *values)
{
	const struct sv_figure *f = l->f;
	const struct frame *a = &l->frames[0];
	size_t n = 0, kept = 0;
	double last = -INFINITY;
	const char *comma = "";

	for (size_t i = 0; i < f->n_panels; i++)
		for (size_t j = 0; j < f->panels[i].n_traces; j++)
			for (size_t k = 0; k < f->panels[i].traces[j].n; k++)
				values[n++] =
				    f->panels[i].traces[j].points[k].x;
	qsort(values, n, sizeof *values, by_value);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || values[i] != values[kept - 1])
			values[kept++] = values[i];
	fputs("set xtics (", l->out);
	for (size_t i = 0; i < kept; i++) {
		char text[SV_QUANTITY_BYTES];

		if (x_at(l, a, values[i]) - last < 56.0)
			continue;
		last = x_at(l, a, values[i]);
		if (f->x_bytes)
			sv_quantity_size(text, sizeof text, values[i]);
		else
			snprintf(text, sizeof text, "%g", values[i]);
		fprintf(l->out, "%s'%s' %.17g", comma, text, values[i]);
		comma = ", ";
	}
	fputs(")\n", l->out);
}

/* Decades alone leave a short logarithmic axis without a number. */
static void put_y_ticks(struct layout *l)
{
	double span = 0.0;

	for (size_t i = 0; i < l->f->n_panels; i++)
		span = fmax(span, log10(l->frames[i].y1 / l->frames[i].y0));
	if (span > 4.0)
		return;
	fputs("set ytics (", l->out);
	for (int decade = -3; decade <= 6; decade++)
		for (int k = 0; k < 3; k++)
			fprintf(l->out, "%s%g",
			    decade > -3 || k > 0 ? ", " : "",
			    (k == 0	 ? 1.0
				: k == 1 ? 2.0
					 : 5.0) *
				pow(10.0, decade));
	fputs(")\n", l->out);
}

static size_t count_points(const struct sv_figure *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n_panels; i++)
		for (size_t j = 0; j < f->panels[i].n_traces; j++)
			n += f->panels[i].traces[j].n;
	return n;
}

static void put_terminal(struct layout *l, enum sv_picture picture)
{
	if (picture == SV_PICTURE_SVG)
		fprintf(l->out,
		    "set terminal svg size %.0f,%.0f dynamic font "
		    "'sans-serif,%.0f' background rgb 'white'\n",
		    WIDTH, l->height, FONT);
	else
		/* Twice as fine, for paper and for good screens. */
		fprintf(l->out,
		    "set terminal pngcairo size %.0f,%.0f fontscale 1.5 "
		    "linewidth 2 pointscale 2 font 'sans-serif,%.0f' "
		    "background rgb 'white'\n",
		    2.0 * WIDTH, 2.0 * l->height, FONT);
}

static const char *template_of(enum sv_figure_family family)
{
	switch (family) {
	case SV_FIGURE_CURVES:
		return sv_asset_curves_gp;
	case SV_FIGURE_BARS:
		return sv_asset_bars_gp;
	case SV_FIGURE_STRIP:
		return sv_asset_strip_gp;
	case SV_FIGURE_STACK:
		return sv_asset_stack_gp;
	}
	return "";
}

int sv_gnuplot_script(const struct sv_figure *f, enum sv_picture picture,
    FILE *out, struct sv_err *err)
{
	struct layout l = {.f = f, .out = out};
	double *values = calloc(count_points(f) + 1, sizeof *values);
	int code = 0;

	l.frames = calloc(f->n_panels, sizeof *l.frames);
	if (values == NULL || l.frames == NULL) {
		code = sv_err_set(err, SV_ERESOURCE, "plot: out of memory");
		goto free_all;
	}
	if (f->family == SV_FIGURE_CURVES)
		lay_out_curves(&l);
	else
		lay_out_rows(&l);
	put_terminal(&l, picture);
	fprintf(out, "INK = '%s'\nGRID = '%s'\nPANELS = %zu\n", INK, GRID,
	    f->n_panels);
	fputs(sv_asset_style_gp, out);
	if (f->family == SV_FIGURE_CURVES && f->x_log)
		fputs("set logscale x 2\n", out);
	if (f->family == SV_FIGURE_CURVES && f->y_log)
		fputs("set logscale y 10\n", out);
	if (f->family == SV_FIGURE_CURVES && f->y_log)
		put_y_ticks(&l);
	if (f->family == SV_FIGURE_CURVES && !f->x_time)
		put_x_ticks(&l, values);
	put_header(&l);
	put_titles(&l);
	put_data(&l);
	put_frames(&l);
	put_blocks(&l);
	put_looks(&l);
	fputs(template_of(f->family), out);

free_all:
	free(values);
	free(l.frames);
	return code;
}

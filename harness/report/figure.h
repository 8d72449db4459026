/*
 * Figures: what a picture shows, chosen from results, before anything is
 * drawn. Pure data; gnuplot.h draws it and pages describe it.
 *
 * Figures whose check failed are never chosen; a value without an interval
 * has NaN for its ends.
 */
#ifndef STAVE_FIGURE_H
#define STAVE_FIGURE_H

#include <stdbool.h>
#include <stddef.h>

#include "result.h"

/* As many as there are colours that everybody can tell apart. */
#define SV_FIGURE_MAX_RESULTS 8

/* Columns of text that have room in a picture. */
#define SV_FIGURE_TEXT 200

enum sv_figure_family {
	SV_FIGURE_CURVES, /* values against sizes, batches, workers */
	SV_FIGURE_BARS,	  /* costs, from zero */
	SV_FIGURE_STRIP,  /* every round of many measurements */
	SV_FIGURE_STACK,  /* parts of a whole: points are begin, length */
};

struct sv_point {
	double x, y, lo, hi;
};

/* A curve, a bar (its one point), or the rounds of one row of a strip. */
struct sv_trace {
	char label[SV_FIGURE_TEXT];
	char end[SV_FIGURE_TEXT]; /* what stands at a curve's end, or "" */
	int colour;		  /* of the palette, from 0 */
	int dash; /* from 0; also the row of a bar or of a strip */
	char rest[SV_FIGURE_TEXT]; /* parameters without a place of their own */
	struct sv_point *points;
	size_t n;
};

/* A line for orientation: a ceiling, or the size of a cache. */
struct sv_mark {
	char label[SV_FIGURE_TEXT];
	double at;
	bool vertical;
	bool below; /* its label */
	int colour; /* -1: that of the text */
};

struct sv_panel {
	char title[SV_FIGURE_TEXT];
	struct sv_trace *traces;
	size_t n_traces;
	struct sv_mark *marks;
	size_t n_marks;
	char (*rows)[SV_FIGURE_TEXT]; /* of bars and strips */
	size_t n_rows;
};

struct sv_figure {
	enum sv_figure_family family;
	const char *kind; /* static */
	char title[SV_FIGURE_TEXT], subtitle[SV_FIGURE_TEXT];
	char x_title[SV_FIGURE_TEXT];
	const char *unit; /* of the values, as in units.h; static */
	bool x_bytes, x_time, x_log, y_log, shared_y;
	/* What the colours stand for: machines, or parts. */
	char (*names)[SV_FIGURE_TEXT];
	size_t n_names;
	struct sv_panel *panels;
	size_t n_panels;
};

/* Kinds of figures; ends with a NULL name. */
struct sv_figure_kind {
	const char *name, *what;
	int (*make)(const struct sv_figure_kind *,
	    const struct sv_result *const *results, size_t n,
	    struct sv_figure *, struct sv_err *);
	const void *spec;
};
extern const struct sv_figure_kind sv_figure_kinds[];
const struct sv_figure_kind *sv_figure_find(const char *name);

/*
 * Choose what the kind shows of 1 to SV_FIGURE_MAX_RESULTS results. *out is
 * NULL where they have nothing of it. Errors: SV_ERESOURCE.
 */
SV_MUST_CHECK int sv_figure_make(const struct sv_figure_kind *,
    const struct sv_result *const *results, size_t n, struct sv_figure **out,
    struct sv_err *err);
void sv_figure_free(struct sv_figure *);

/*
 * What a document of stave.explanation/1 shows: the parts of a step, or the
 * speed-up by batch with its crossover. *out is NULL where it has neither.
 * Errors: SV_ERESOURCE.
 */
enum sv_figure_explained {
	SV_EXPLAINED_STEP,
	SV_EXPLAINED_CROSSOVER,
};
SV_MUST_CHECK int sv_figure_explained(enum sv_figure_explained,
    json_t *explanation, struct sv_figure **out, struct sv_err *err);

/* What the picture says, in words: for those who do not see it. */
void sv_figure_describe(const struct sv_figure *, FILE *out);

/* For the files of figures: each returns NULL when out of memory. */
struct sv_panel *sv_figure_panel(struct sv_figure *, const char *title);
struct sv_trace *sv_panel_trace(struct sv_panel *, const char *label);
struct sv_mark *sv_panel_mark(struct sv_panel *, const char *label);
/* Parameters in few letters, words without their names; returns out. */
char *sv_figure_params(
    const struct sv_measurement *, char out[static SV_FIGURE_TEXT]);
/* Two names as one, each cut to 28 columns; returns out. */
char *sv_figure_join(
    char out[static SV_FIGURE_TEXT], const char *a, const char *b);
/* The text of a row as it will stand there, cut; returns out. */
char *sv_figure_row_text(char out[static SV_FIGURE_TEXT], const char *text);
bool sv_panel_row(struct sv_panel *, const char *text);
bool sv_trace_point(struct sv_trace *, struct sv_point);

/* The value, its interval and, for curves, where it stands. */
struct sv_point sv_point_of(const struct sv_measurement *, double x);
const struct sv_result_param *sv_param_of(
    const struct sv_measurement *, const char *name);

int sv_figure_make_curves(const struct sv_figure_kind *,
    const struct sv_result *const *, size_t n, struct sv_figure *,
    struct sv_err *);
int sv_figure_make_bars(const struct sv_figure_kind *,
    const struct sv_result *const *, size_t n, struct sv_figure *,
    struct sv_err *);
int sv_figure_make_rounds(const struct sv_figure_kind *,
    const struct sv_result *const *, size_t n, struct sv_figure *,
    struct sv_err *);

/* What a kind of curves takes from a result. */
struct sv_curve_spec {
	const char *title, *x_title, *bench, *metric;
	const char *x, *panel, *dash; /* parameters; the last may be NULL */
	const char *dashes;	      /* words that are drawn; NULL: all */
	/* Only with this parameter, and this value; "!v": any other value,
	 * "?v": this value or no such parameter. */
	const char *only, *only_value;
	bool x_bytes, x_log, y_log, shared_y;
	/* x is time within samples that are windows of x seconds together. */
	bool windows;
	/* Fields of the device for a ceiling, and for a mark on x. */
	double (*ceiling)(const struct sv_result *, const char *panel,
	    char *label, size_t size);
	const char *x_mark, *x_mark_label;
};

/* What a kind of bars takes: metrics in the order of its panels. */
struct sv_bar_spec {
	const char *title;
	struct {
		const char *bench, *metric, *title;
	} panels[12];
};

#endif

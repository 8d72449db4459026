/*
 * The page of a report: one HTML file that needs nothing else. Pure output of
 * what it is given. Every text of a result passes quote.h; the policy in the
 * page's head lets no script run but the page's own.
 */
#ifndef STAVE_PAGE_H
#define STAVE_PAGE_H

#include <stddef.h>
#include <stdio.h>

#include "compare.h"
#include "figure.h"
#include "result.h"

/* A figure with its drawing, or with why there is none. */
struct sv_page_picture {
	const struct sv_figure *figure;
	const char *svg; /* NULL: not drawn */
	size_t n_svg;
};

struct sv_page {
	const struct sv_result *const
	    *results; /* A, and B where there is one */
	size_t n_results;
	const struct sv_comparison *comparison; /* NULL for one result */
	const struct sv_page_picture *pictures;
	size_t n_pictures;
	const char *picture_note; /* why pictures are missing, or NULL */
	/* Documents of stave.explanation/1, one a workload; none: no section.
	 */
	json_t *const *explanations;
	size_t n_explanations;
	/* Their pictures one after the other, and how many each has. */
	const struct sv_page_picture *explained;
	const size_t *n_explained;
	/* "A (label)", or the label of one result; sv_page_print fills it. */
	char names[2][SV_FIGURE_TEXT];
};

/* Errors: SV_ERESOURCE. */
SV_MUST_CHECK int sv_page_print(
    const struct sv_page *, FILE *out, struct sv_err *err);

/* Parts of the page, each in a file of its own. */

/* The two machines field by field, differences marked. */
int sv_page_machines(const struct sv_page *, FILE *out, struct sv_err *err);
/* All pairs of a comparison, or all figures of one result. */
void sv_page_pairs(const struct sv_page *, FILE *out);
void sv_page_figures(const struct sv_result *, FILE *out);
/* What was odd, not measured, lost. */
void sv_page_flags(const struct sv_page *, FILE *out);
SV_MUST_CHECK int sv_page_explanations(
    const struct sv_page *, FILE *out, struct sv_err *err);
/* One picture with its description; prefix: of its ids, like no other's. */
SV_MUST_CHECK int sv_page_picture(const struct sv_page_picture *,
    const char *prefix, const char *note, FILE *out, struct sv_err *err);

/*
 * An SVG of gnuplot's within a page: ids get a prefix of their own, titles
 * that only repeat the script go. Returns false, and prints nothing, where it
 * holds anything but plain drawing.
 */
bool sv_page_svg(const char *svg, size_t n, const char *prefix,
    const char *label, FILE *out);

/* A row's beginning and end are the caller's; text NULL prints a dash. */
void sv_page_cell(FILE *out, const char *class, const char *text);
/* With the value that sorting goes by. */
void sv_page_number(FILE *out, double value, const char *text);

#endif

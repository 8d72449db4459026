/*
 * Drawing by gnuplot, an external program. It gets a script on standard input
 * and answers with the picture on standard output: no shell, no file names,
 * and no text of a result but in single quotes.
 */
#ifndef STAVE_GNUPLOT_H
#define STAVE_GNUPLOT_H

#include <stdio.h>

#include "figure.h"

enum sv_picture {
	SV_PICTURE_SVG,
	SV_PICTURE_PNG,
};

/* The whole script, templates included. Errors: SV_ERESOURCE. */
SV_MUST_CHECK int sv_gnuplot_script(
    const struct sv_figure *, enum sv_picture, FILE *out, struct sv_err *err);

/*
 * Whether there is a gnuplot that can draw. Errors: SV_EOUTPUT where it is
 * absent or too old; the text says which and what to do.
 */
SV_MUST_CHECK int sv_gnuplot_check(struct sv_err *err);

/*
 * Draw; *bytes is malloc'd, *n of them. Errors: SV_EOUTPUT where gnuplot is
 * absent, fails (the text holds what it said) or does not end; SV_ERESOURCE.
 */
SV_MUST_CHECK int sv_gnuplot_draw(const struct sv_figure *, enum sv_picture,
    char **bytes, size_t *n, struct sv_err *err);

#endif

/*
 * One result in the formats of other tools. Figures are those of the file, in
 * SI base units and full precision; what a format cannot hold is left out and
 * the format's own comments say so.
 */
#ifndef STAVE_EXPORT_H
#define STAVE_EXPORT_H

#include <stdio.h>

#include "result.h"

enum sv_export_format {
	SV_EXPORT_CSV,	       /* one line a measurement, for spreadsheets */
	SV_EXPORT_OPENMETRICS, /* Prometheus' textfile collector */
	SV_EXPORT_BENCHFMT,    /* Go's benchstat */
	SV_EXPORT_GBENCH,      /* Google Benchmark's tools */
};

/* Format by its name on the command line; -1 where there is none. */
int sv_export_format(const char *name);

/* Errors: SV_ERESOURCE. Whether it was written, out's error state knows. */
SV_MUST_CHECK int sv_export(const struct sv_result *, enum sv_export_format,
    FILE *out, struct sv_err *err);

/* Each of the formats; the table in export.c is their only user. */
SV_MUST_CHECK int sv_export_csv(
    const struct sv_result *, FILE *out, struct sv_err *err);
SV_MUST_CHECK int sv_export_openmetrics(
    const struct sv_result *, FILE *out, struct sv_err *err);
SV_MUST_CHECK int sv_export_benchfmt(
    const struct sv_result *, FILE *out, struct sv_err *err);
SV_MUST_CHECK int sv_export_gbench(
    const struct sv_result *, FILE *out, struct sv_err *err);

#endif

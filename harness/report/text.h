/* Pieces of text that several reports share. Inside the room only. */
#ifndef STAVE_REPORT_TEXT_H
#define STAVE_REPORT_TEXT_H

#include <stddef.h>

#include "report.h"
#include "result.h"
#include "table.h"

/* Parameters as "name=value …", sizes with their unit; returns out. */
const char *sv_report_params(
    const struct sv_measurement *, char *out, size_t size);

/*
 * The table of what habits cost, where a result has training steps with and
 * without them; else nothing.
 */
void sv_report_habits(
    const struct sv_result *, FILE *out, const struct sv_report_style *);

/* Columns that prose is set in: no more than are read with ease. */
size_t sv_report_columns(const struct sv_report_style *);

/*
 * Print text in lines of at most width columns, broken at spaces, and end the
 * last one. indent: spaces before each line but the first, which the caller
 * has begun and filled as far.
 */
void sv_report_wrapped(
    const char *text, size_t width, size_t indent, FILE *out);

/* Cells of a pair: metric, parameters, A's figure and B's. */
void sv_report_pair(struct sv_table *, const struct sv_pair *);

/* "± 1.3 %", half the interval's width against the median; "" without one. */
void sv_report_spread(const struct sv_measurement *, char *out, size_t size);

/* "CHECK FAILED, noisy, …"; "" without any. */
void sv_report_flags(const struct sv_measurement *, char *out, size_t size);

/*
 * How many skips have the bench and the reason of skip i; 0 where an earlier
 * one has them too.
 */
size_t sv_report_skipped_alike(const struct sv_result *, size_t i);

#endif

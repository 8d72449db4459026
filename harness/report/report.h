/*
 * Results and comparisons as text for people. Pure output: nothing is decided
 * here.
 */
#ifndef STAVE_REPORT_H
#define STAVE_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "checklist.h"
#include "compare.h"
#include "explain.h"
#include "result.h"

struct sv_report_style {
	size_t width; /* columns of the terminal, 0 for no limit */
	bool colour;
};

/* One result; bench: that one alone, or NULL for all. */
void sv_report_result(const struct sv_result *, const char *bench, FILE *out,
    const struct sv_report_style *);

/* What was found first, what could not be told last. */
void sv_report_checklist(
    const struct sv_checklist *, FILE *out, const struct sv_report_style *);

/* The same as JUnit XML, for CI systems. */
void sv_report_junit(const struct sv_checklist *, FILE *out);

void sv_report_comparison(
    const struct sv_comparison *, FILE *out, const struct sv_report_style *);
/* Summary, confounders and the table of pairs. Errors: SV_ERESOURCE. */
SV_MUST_CHECK int sv_report_comparison_markdown(
    const struct sv_comparison *, FILE *out, struct sv_err *err);
/* One line a pair, SI base units, full precision. */
void sv_report_comparison_csv(const struct sv_comparison *, FILE *out);

/* What a machine's own runs differ by. */
void sv_report_floor(
    const struct sv_floor *, FILE *out, const struct sv_report_style *);
/* One workload in full: verdict, bars, causes, what was ruled out. */
void sv_report_explanation(
    const struct sv_explanation *, FILE *out, const struct sv_report_style *);
/* Several workloads of the same two results, a line each. */
void sv_report_explanations(const struct sv_explanation *const *, size_t n,
    FILE *out, const struct sv_report_style *);

#endif

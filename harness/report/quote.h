/*
 * Text of strangers, made harmless for each place that it goes to. Labels,
 * names and details come from files that anybody may have written; every
 * writer of this room passes them through here and through nothing else.
 */
#ifndef STAVE_QUOTE_H
#define STAVE_QUOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* As content of an HTML, SVG or XML element or of an attribute in quotes. */
void sv_quote_html(FILE *out, const char *text);

/*
 * A CSV cell, RFC 4180, without what follows it. formula: whether text that a
 * spreadsheet would take for a formula (= + - @ first) gets an apostrophe
 * before it; not for cells that hold numbers of ours.
 */
void sv_quote_csv(FILE *out, const char *text, bool formula);

/* In a line of Markdown: no markup, no line break. */
void sv_quote_markdown(FILE *out, const char *text);

/*
 * A gnuplot string in single quotes, where gnuplot replaces nothing: control
 * characters become spaces, at most max_columns are kept (0: all).
 */
void sv_quote_gnuplot(FILE *out, const char *text, size_t max_columns);

/* A label value of OpenMetrics, in double quotes. */
void sv_quote_metric(FILE *out, const char *text);

/*
 * A name of Prometheus or OpenMetrics, [a-zA-Z_][a-zA-Z0-9_]*: what is none
 * becomes "_". Returns whether the text was such a name.
 */
bool sv_quote_metric_name(char *out, size_t size, const char *text);

/*
 * A part of a benchmark name for benchstat: bytes that end a name or divide
 * it become %XX.
 */
void sv_quote_bench_name(FILE *out, const char *text);

/* Text on one line: control characters become spaces. */
void sv_quote_line(FILE *out, const char *text);

/* Bytes as Base64 (RFC 4648). */
void sv_quote_base64(FILE *out, const void *bytes, size_t n);

/* A finite number, with as few digits as read back the same. */
void sv_quote_number(FILE *out, double value);

/*
 * Copy text with at most max_columns columns, an ellipsis in place of the
 * rest and spaces in place of control characters. Returns out.
 */
char *sv_quote_cut(char *out, size_t size, const char *text, size_t columns);

#endif

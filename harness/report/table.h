/*
 * Tables on a terminal, in Markdown and in CSV: columns as wide as their
 * content needs, numbers to the right.
 */
#ifndef STAVE_TABLE_H
#define STAVE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define SV_TABLE_MAX_COLUMNS 24

enum sv_align {
	SV_LEFT,
	SV_RIGHT,
};

struct sv_table;

/* NULL when out of memory; every function accepts NULL and does nothing. */
struct sv_table *sv_table_new(void);
void sv_table_free(struct sv_table *);

void sv_table_column(struct sv_table *, const char *title, enum sv_align);
/* Begin a row; cells are added from left to right, missing ones are empty. */
void sv_table_row(struct sv_table *);
void sv_table_cell(struct sv_table *, const char *text);

/*
 * Print as columns of text. width: columns of the terminal, 0 for no limit;
 * the widest left-aligned column gives way. indent: spaces before each line.
 */
void sv_table_print(
    const struct sv_table *, FILE *out, size_t width, size_t indent);
void sv_table_print_markdown(const struct sv_table *, FILE *out);
/* RFC 4180, with a header line. */
void sv_table_print_csv(const struct sv_table *, FILE *out);

/* Columns that a UTF-8 text takes on a terminal. */
size_t sv_text_width(const char *text);

#endif

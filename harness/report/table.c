/* Tables; see the header. */
#include "table.h"

#include <stdlib.h>
#include <string.h>

#include "quote.h"

#define GAP	   2
#define LEAST_LEFT 8 /* a column that gives way keeps this much */

struct sv_table {
	const char *titles[SV_TABLE_MAX_COLUMNS];
	enum sv_align aligns[SV_TABLE_MAX_COLUMNS];
	size_t n_columns, n_rows, room, at; /* at: next cell of the last row */
	char **cells; /* [n_rows][SV_TABLE_MAX_COLUMNS], NULL: empty */
};

struct sv_table *sv_table_new(void)
{
	return calloc(1, sizeof(struct sv_table));
}

void sv_table_free(struct sv_table *t)
{
	if (t == NULL)
		return;
	for (size_t i = 0; i < t->n_rows * SV_TABLE_MAX_COLUMNS; i++)
		free(t->cells[i]);
	free(t->cells);
	free(t);
}

void sv_table_column(struct sv_table *t, const char *title, enum sv_align align)
{
	if (t == NULL || t->n_columns == SV_TABLE_MAX_COLUMNS)
		return;
	t->titles[t->n_columns] = title;
	t->aligns[t->n_columns++] = align;
}

void sv_table_row(struct sv_table *t)
{
	if (t == NULL)
		return;
	if (t->n_rows == t->room) {
		size_t room = t->room == 0 ? 32 : 2 * t->room;
		char **larger = realloc(
		    t->cells, room * SV_TABLE_MAX_COLUMNS * sizeof *t->cells);

		/* A table short of a row shows the rows it has. */
		if (larger == NULL)
			return;
		memset(larger + t->room * SV_TABLE_MAX_COLUMNS, 0,
		    (room - t->room) * SV_TABLE_MAX_COLUMNS * sizeof *larger);
		t->cells = larger;
		t->room = room;
	}
	t->n_rows++;
	t->at = 0;
}

void sv_table_cell(struct sv_table *t, const char *text)
{
	if (t == NULL || t->n_rows == 0 || t->at == SV_TABLE_MAX_COLUMNS)
		return;
	t->cells[(t->n_rows - 1) * SV_TABLE_MAX_COLUMNS + t->at++] =
	    strdup(text);
}

static const char *cell(const struct sv_table *t, size_t row, size_t column)
{
	const char *text = t->cells[row * SV_TABLE_MAX_COLUMNS + column];

	return text != NULL ? text : "";
}

size_t sv_text_width(const char *text)
{
	size_t width = 0;

	/* Bytes that begin a character; ours are all one column wide. */
	for (; *text != '\0'; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

/* What a terminal must not be given: control characters become spaces. */
static void put_text(FILE *out, const char *text, size_t columns)
{
	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		if ((c & 0xc0) != 0x80) {
			if (columns == 0)
				return;
			columns--;
		}
		fputc(c < 0x20 || c == 0x7f ? ' ' : c, out);
	}
}

static void put_spaces(FILE *out, size_t n)
{
	while (n-- > 0)
		fputc(' ', out);
}

static void put_cell(
    FILE *out, const char *text, size_t width, enum sv_align align, bool last)
{
	size_t needs = sv_text_width(text);
	size_t pad = needs < width ? width - needs : 0;

	if (align == SV_RIGHT)
		put_spaces(out, pad);
	if (needs > width && width > 1) {
		put_text(out, text, width - 1);
		fputs("…", out);
	} else {
		put_text(out, text, width);
	}
	if (align == SV_LEFT && !last)
		put_spaces(out, pad);
}

/* Take what is too much from the widest left-aligned column. */
static void shrink(
    const struct sv_table *t, size_t *widths, size_t width, size_t indent)
{
	size_t total = indent, widest = SV_TABLE_MAX_COLUMNS;

	for (size_t i = 0; i < t->n_columns; i++) {
		/* A column that is left out has no width and no gap. */
		if (widths[i] == 0)
			continue;
		total += widths[i] + (total > indent ? GAP : 0);
		if (t->aligns[i] == SV_LEFT &&
		    (widest == SV_TABLE_MAX_COLUMNS ||
			widths[i] > widths[widest]))
			widest = i;
	}
	if (width == 0 || total <= width || widest == SV_TABLE_MAX_COLUMNS)
		return;
	size_t excess = total - width;

	widths[widest] = widths[widest] > excess + LEAST_LEFT
			     ? widths[widest] - excess
			     : LEAST_LEFT;
}

/* Whether a column has anything in it; one that has not is left out. */
static bool is_used(const struct sv_table *t, size_t column)
{
	for (size_t row = 0; row < t->n_rows; row++)
		if (cell(t, row, column)[0] != '\0')
			return true;
	return false;
}

void sv_table_print(
    const struct sv_table *t, FILE *out, size_t width, size_t indent)
{
	size_t widths[SV_TABLE_MAX_COLUMNS] = {0};
	size_t last = 0;

	if (t == NULL || t->n_rows == 0)
		return;
	for (size_t i = 0; i < t->n_columns; i++) {
		if (!is_used(t, i))
			continue;
		last = i;
		widths[i] = sv_text_width(t->titles[i]);
		for (size_t row = 0; row < t->n_rows; row++) {
			size_t needs = sv_text_width(cell(t, row, i));

			if (needs > widths[i])
				widths[i] = needs;
		}
	}
	shrink(t, widths, width, indent);
	for (size_t row = 0; row <= t->n_rows; row++) {
		put_spaces(out, indent);
		for (size_t i = 0; i <= last; i++) {
			if (!is_used(t, i))
				continue;
			put_cell(out,
			    row == 0 ? t->titles[i] : cell(t, row - 1, i),
			    widths[i], t->aligns[i], i == last);
			if (i < last)
				put_spaces(out, GAP);
		}
		fputc('\n', out);
	}
}

static void put_markdown(FILE *out, const char *text)
{
	fputc(' ', out);
	sv_quote_markdown(out, text);
	fputs(" |", out);
}

void sv_table_print_markdown(const struct sv_table *t, FILE *out)
{
	if (t == NULL)
		return;
	fputc('|', out);
	for (size_t i = 0; i < t->n_columns; i++)
		put_markdown(out, t->titles[i]);
	fputs("\n|", out);
	for (size_t i = 0; i < t->n_columns; i++)
		fputs(t->aligns[i] == SV_RIGHT ? " ---: |" : " --- |", out);
	fputc('\n', out);
	for (size_t row = 0; row < t->n_rows; row++) {
		fputc('|', out);
		for (size_t i = 0; i < t->n_columns; i++)
			put_markdown(out, cell(t, row, i));
		fputc('\n', out);
	}
}

static void put_csv(FILE *out, const char *text, bool last)
{
	/* Numbers are cells of a table too, negative ones among them. */
	sv_quote_csv(out, text, false);
	fputs(last ? "\r\n" : ",", out);
}

void sv_table_print_csv(const struct sv_table *t, FILE *out)
{
	if (t == NULL)
		return;
	for (size_t i = 0; i < t->n_columns; i++)
		put_csv(out, t->titles[i], i + 1 == t->n_columns);
	for (size_t row = 0; row < t->n_rows; row++)
		for (size_t i = 0; i < t->n_columns; i++)
			put_csv(out, cell(t, row, i), i + 1 == t->n_columns);
}

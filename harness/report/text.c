/* Prose on a terminal, and what tables share; see the header. */
#include "text.h"

#include <string.h>

#include "quantity.h"

#define COLUMNS 80

size_t sv_report_columns(const struct sv_report_style *style)
{
	return style->width > 0 && style->width < COLUMNS ? style->width
							  : COLUMNS;
}

/* What a terminal must not be given becomes spaces. */
static void put_word(const char *word, size_t n, FILE *out)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)word[i];

		fputc(c < 0x20 || c == 0x7f ? ' ' : c, out);
	}
}

void sv_report_wrapped(const char *text, size_t width, size_t indent, FILE *out)
{
	size_t column = indent;
	char word[1024];

	while (*text != '\0') {
		size_t n = strcspn(text, " "), wide;

		snprintf(word, sizeof word, "%.*s", (int)n, text);
		wide = sv_text_width(word);
		if (column > indent && column + 1 + wide > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			fputc(' ', out);
			column++;
		}
		put_word(text, n, out);
		column += wide;
		text += n;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

void sv_report_pair(struct sv_table *t, const struct sv_pair *p)
{
	char text[512];

	sv_table_cell(t, p->a->metric);
	sv_table_cell(t, sv_report_params(p->a, text, sizeof text));
	sv_table_cell(t,
	    sv_quantity(text, sizeof text, p->a->summary.median, p->a->unit));
	sv_table_cell(t,
	    sv_quantity(text, sizeof text, p->b->summary.median, p->b->unit));
}

/* Quoting; see the header. */
#include "quote.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "result.h"

#define ELLIPSIS "\u2026"

/* Without the locale, which may take other bytes for letters. */
static bool is_control(char c)
{
	return (unsigned char)c < 0x20 || c == 0x7f;
}

static bool is_graphic(char c)
{
	return (unsigned char)c > 0x20 && (unsigned char)c < 0x7f;
}

static bool begins_character(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

static bool is_name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_';
}

/*
 * Print the character that text begins with, which is not of ASCII, or U+FFFD
 * for a byte that begins none: somebody may have cut through one. Returns
 * where text goes on.
 */
static const char *put_wide(FILE *out, const char *text)
{
	size_t n = sv_utf8_length(text);

	if (n == 0) {
		fputs("\ufffd", out);
		return text + 1;
	}
	fwrite(text, 1, n, out);
	return text + n;
}

static bool is_wide(char c)
{
	return ((unsigned char)c & 0x80) != 0;
}

/* An ASCII character of HTML. */
static void put_html(FILE *out, char c)
{
	switch (c) {
	case '&':
		fputs("&amp;", out);
		break;
	case '<':
		fputs("&lt;", out);
		break;
	case '>':
		fputs("&gt;", out);
		break;
	case '"':
		fputs("&quot;", out);
		break;
	case '\'':
		fputs("&#39;", out);
		break;
	default:
		/* XML and HTML know no other control characters. */
		fputc(is_control(c) && c != '\n' ? ' ' : c, out);
	}
}

void sv_quote_html(FILE *out, const char *text)
{
	while (*text != '\0')
		if (is_wide(*text))
			text = put_wide(out, text);
		else
			put_html(out, *text++);
}

void sv_quote_csv(FILE *out, const char *text, bool formula)
{
	bool guard =
	    formula && text[0] != '\0' && strchr("=+-@\t\r", text[0]) != NULL;
	bool quotes = strpbrk(text, ",\"\r\n") != NULL;

	if (quotes)
		fputc('"', out);
	if (guard)
		fputc('\'', out);
	while (*text != '\0') {
		if (is_wide(*text)) {
			text = put_wide(out, text);
			continue;
		}
		if (*text == '"')
			fputc('"', out);
		fputc(*text++, out);
	}
	if (quotes)
		fputc('"', out);
}

void sv_quote_markdown(FILE *out, const char *text)
{
	while (*text != '\0') {
		if (is_wide(*text)) {
			text = put_wide(out, text);
			continue;
		}
		if (strchr("|\\`*_<>[]#&~", *text) != NULL)
			fputc('\\', out);
		fputc(is_control(*text) ? ' ' : *text, out);
		text++;
	}
}

void sv_quote_gnuplot(FILE *out, const char *text, size_t max_columns)
{
	char cut[512];

	fputc('\'', out);
	if (max_columns > 0)
		text = sv_quote_cut(cut, sizeof cut, text, max_columns);
	for (; *text != '\0'; text++) {
		if (*text == '\'')
			fputc('\'', out);
		fputc(is_control(*text) ? ' ' : *text, out);
	}
	fputc('\'', out);
}

void sv_quote_metric(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text != '\0'; text++)
		if (*text == '\n')
			fputs("\\n", out);
		else if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else
			fputc(is_control(*text) ? ' ' : *text, out);
	fputc('"', out);
}

bool sv_quote_metric_name(char *out, size_t size, const char *text)
{
	bool plain = text[0] != '\0';
	size_t n = 0;

	if (text[0] >= '0' && text[0] <= '9') {
		plain = false;
		out[n++] = '_';
	}
	for (; *text != '\0' && n + 1 < size; text++) {
		plain = plain && is_name_byte(*text);
		out[n++] = is_name_byte(*text) ? *text : '_';
	}
	out[n] = '\0';
	return plain && *text == '\0';
}

void sv_quote_bench_name(FILE *out, const char *text)
{
	for (; *text != '\0'; text++)
		if (is_graphic(*text) && strchr("/%", *text) == NULL)
			fputc(*text, out);
		else
			fprintf(out, "%%%02X", (unsigned char)*text);
}

void sv_quote_line(FILE *out, const char *text)
{
	for (; *text != '\0'; text++)
		fputc(is_control(*text) ? ' ' : *text, out);
}

void sv_quote_base64(FILE *out, const void *bytes, size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *from = bytes;

	for (size_t i = 0; i < n; i += 3) {
		size_t left = n - i;
		uint32_t word = (uint32_t)from[i] << 16 |
				(left > 1 ? (uint32_t)from[i + 1] << 8 : 0) |
				(left > 2 ? from[i + 2] : 0);

		fputc(digits[word >> 18], out);
		fputc(digits[word >> 12 & 63], out);
		fputc(left > 1 ? digits[word >> 6 & 63] : '=', out);
		fputc(left > 2 ? digits[word & 63] : '=', out);
	}
}

void sv_quote_number(FILE *out, double value)
{
	char text[40];

	/* 17 digits always do. */
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	fputs(text, out);
}

char *sv_quote_cut(char *out, size_t size, const char *text, size_t columns)
{
	/* The place to cut at, should the text turn out too long. */
	size_t n = 0, seen = 0, keep = 0;
	bool whole = true;

	for (; *text != '\0'; text++) {
		if (begins_character(*text)) {
			if (seen + 1 == columns)
				keep = n;
			seen++;
		}
		if (seen > columns || n + sizeof ELLIPSIS >= size) {
			whole = false;
			break;
		}
		out[n++] = is_control(*text) ? ' ' : *text;
	}
	if (seen > columns) {
		n = keep;
	} else if (!whole && !begins_character(*text)) {
		/* No room for all of a character: it goes altogether. */
		while (n > 0 && !begins_character(out[n - 1]))
			n--;
		n -= n > 0;
	}
	if (!whole) {
		memcpy(out + n, ELLIPSIS, sizeof ELLIPSIS - 1);
		n += sizeof ELLIPSIS - 1;
	}
	out[n] = '\0';
	return out;
}

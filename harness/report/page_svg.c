/* Gnuplot's SVG inside an HTML page; see page.h. */
#include <stdlib.h>
#include <string.h>

#include "page.h"
#include "quote.h"

/* All that its drawings consist of. Nothing here runs or loads anything. */
static const char *const plain[] = {"svg", "title", "desc", "g", "rect", "defs",
    "circle", "path", "use", "filter", "feFlood", "feComposite", "text",
    "tspan", "polygon"};

static bool is_plain_element(const char *name, const char *end)
{
	size_t n = strcspn(name, " \t\r\n/>");

	if (n > (size_t)(end - name))
		return false;
	for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
		if (strlen(plain[i]) == n && strncmp(plain[i], name, n) == 0)
			return true;
	return false;
}

/* Whether a tag, up to its end, has attributes that do nothing. */
static bool is_plain_tag(const char *tag, const char *end)
{
	for (const char *at = tag; at < end; at++) {
		if (strncmp(at, " on", 3) == 0)
			return false;
		/* What is drawn again must be of the same drawing. */
		if (strncmp(at, "href=", 5) == 0 && at[6] != '#')
			return false;
	}
	return true;
}

static bool is_plain_drawing(const char *svg, const char *end)
{
	for (const char *at = svg; at < end; at++) {
		const char *close;

		if (*at != '<')
			continue;
		close = strchr(at, '>');
		if (close == NULL ||
		    !is_plain_element(at + (at[1] == '/' ? 2 : 1), end) ||
		    !is_plain_tag(at, close))
			return false;
	}
	return true;
}

static bool starts(const char *at, const char *word)
{
	return strncmp(at, word, strlen(word)) == 0;
}

/* Behind the element that begins here. */
static const char *behind(const char *at, const char *end, const char *closing)
{
	const char *found = strstr(at, closing);

	return found == NULL ? end : found + strlen(closing);
}

/* The attribute value after a name, copied; "" where there is none. */
static void attribute(const char *tag, const char *name, char *out, size_t size)
{
	const char *at = strstr(tag, name), *close = strchr(tag, '>');
	size_t n = 0;

	if (at != NULL && close != NULL && at < close)
		for (at += strlen(name);
		     *at != '"' && *at != '\0' && n + 1 < size;)
			out[n++] = *at++;
	out[n] = '\0';
}

/* What is left out of the page; returns where to go on, NULL: at. */
static const char *skipped(const char *at, const char *end)
{
	if (starts(at, "<title>"))
		return behind(at, end, "</title>");
	if (starts(at, "<desc>"))
		return behind(at, end, "</desc>");
	/* The page has a background of its own. */
	if (starts(at, "<rect") &&
	    strstr(at, "fill=\"#ffffff\"/>") == strstr(at, "fill=\""))
		return behind(at, end, "/>");
	return NULL;
}

/* Copy a tag, its ids made the page's own; returns where to go on. */
static const char *copy_tag(
    const char *at, const char *end, const char *prefix, FILE *out)
{
	static const char *const ids[] = {"id='", "id=\"", "href='#"};

	while (at < end && *at != '>') {
		size_t i = 0;

		if (starts(at, "xlink:href"))
			at += strlen("xlink:");
		while (i < 3 && !starts(at, ids[i]))
			i++;
		if (i < 3) {
			fprintf(out, "%s%s", ids[i], prefix);
			at += strlen(ids[i]);
		} else {
			fputc(*at++, out);
		}
	}
	return at;
}

bool sv_page_svg(
    const char *svg, size_t n, const char *prefix, const char *label, FILE *out)
{
	const char *start = strstr(svg, "<svg"), *end = svg + n;
	const char *inside = start != NULL ? strchr(start, '>') : NULL;
	char box[80];

	if (inside == NULL || !is_plain_drawing(start, end))
		return false;
	attribute(start, "viewBox=\"", box, sizeof box);
	fputs("<svg role=\"img\" viewBox=\"", out);
	sv_quote_html(out, box);
	fputs("\" aria-label=\"", out);
	sv_quote_html(out, label);
	fputs("\">", out);
	/* Text between tags is gnuplot's own escaping of ours. */
	for (const char *at = inside + 1; at < end;) {
		const char *next = *at == '<' ? skipped(at, end) : NULL;

		if (next != NULL)
			at = next;
		else if (*at == '<')
			at = copy_tag(at, end, prefix, out);
		else
			fputc(*at++, out);
	}
	return true;
}

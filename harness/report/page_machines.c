/* Machines side by side, field by field; see page.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "page.h"
#include "quantity.h"
#include "quote.h"
#include "stave/units.h"

#define MAX_PATH 200

/* Fields that differ whenever two runs do, and mean nothing by it. */
static const char *const expected[] = {"machine.memory.available_bytes",
    "device.memory_free_bytes", "machine.storage.path", "device.uuid",
    "device.serial", "device.index", "device.pci_address"};

/* The names of all fields of all results, sorted, each once. */
struct fields {
	char (*paths)[MAX_PATH];
	size_t n, room;
	bool failed;
};

static void add_path(struct fields *f, const char *path)
{
	if (f->n == f->room) {
		size_t room = f->room == 0 ? 128 : 2 * f->room;
		void *larger = realloc(f->paths, room * sizeof *f->paths);

		if (larger == NULL) {
			f->failed = true;
			return;
		}
		f->paths = larger;
		f->room = room;
	}
	snprintf(f->paths[f->n++], MAX_PATH, "%s", path);
}

/* Objects are gone into; lists are values. */
static void add_fields(struct fields *f, const char *path, json_t *object)
{
	const char *key;
	json_t *value;

	json_object_foreach (object, key, value) {
		char inner[MAX_PATH];

		/* It has a section of its own. */
		if (strcmp(key, "unknown") == 0)
			continue;
		/* A name with a dot is no path, one too long none to show. */
		if (strchr(key, '.') != NULL ||
		    snprintf(inner, sizeof inner, "%s.%s", path, key) >=
			(int)sizeof inner)
			continue;
		if (json_is_object(value) && json_object_size(value) > 0)
			add_fields(f, inner, value);
		else
			add_path(f, inner);
	}
}

static int by_path(const void *left, const void *right)
{
	return strcmp(left, right);
}

static json_t *value_at(const struct sv_result *r, const char *path)
{
	bool machine = strncmp(path, "machine.", 8) == 0;
	json_t *value = sv_result_field(
	    machine ? r->machine : r->device, path + (machine ? 8 : 7));

	/* The other one may have an object here, which is gone into. */
	return json_is_object(value) && json_object_size(value) > 0 ? NULL
								    : value;
}

static bool ends_with(const char *path, const char *end)
{
	size_t n = strlen(path), m = strlen(end);

	return n >= m && strcmp(path + n - m, end) == 0;
}

/* A number with the unit that its name ends in. */
static void number_text(const char *path, double value, char *out, size_t size)
{
	if (ends_with(path, "_bytes"))
		sv_quantity_size(out, size, value);
	else if (ends_with(path, "_Bps"))
		sv_quantity(out, size, value, SV_UNIT_BYTES_PER_SECOND);
	else if (ends_with(path, "_Hz"))
		sv_quantity(out, size, value, SV_UNIT_HERTZ);
	else if (ends_with(path, "_s"))
		sv_quantity(out, size, value, SV_UNIT_SECONDS);
	else if (ends_with(path, "_w"))
		sv_quantity(out, size, value, SV_UNIT_WATT);
	else if (strstr(path, ".peak_flops.") != NULL)
		sv_quantity(out, size, value, SV_UNIT_FLOP_PER_SECOND);
	else
		snprintf(out, size, "%.10g", value);
}

/* A value as people read it; malloc'd, NULL when out of memory. */
static char *value_text(const char *path, json_t *value)
{
	char text[SV_QUANTITY_BYTES];

	if (value == NULL)
		return strdup("unknown");
	if (json_is_string(value))
		return strdup(json_string_value(value));
	if (!json_is_number(value))
		return json_dumps(value,
		    JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(6));
	number_text(path, json_number_value(value), text, sizeof text);
	return strdup(text);
}

static bool is_expected(const char *path)
{
	for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
		if (strcmp(expected[i], path) == 0)
			return true;
	return false;
}

static bool put_row(const struct sv_page *page, const char *path, FILE *out)
{
	json_t *a = value_at(page->results[0], path);
	json_t *b = page->n_results > 1 ? value_at(page->results[1], path) : a;
	char *texts[2] = {value_text(path, a), value_text(path, b)};
	bool good = texts[0] != NULL && texts[1] != NULL;
	/* As shown: 1 and 1.0 are one value that two programs wrote. */
	bool differs = good && strcmp(texts[0], texts[1]) != 0;

	if (!good || (a == NULL && b == NULL))
		goto free_texts;
	fputs(differs && !is_expected(path) ? "<tr class=\"differs\">" : "<tr>",
	    out);
	fputs("<th scope=\"row\">", out);
	sv_quote_html(out, path);
	fputs("</th>", out);
	for (size_t i = 0; i < page->n_results; i++)
		sv_page_cell(out, "v", texts[i]);
	if (page->n_results > 1)
		fprintf(out, "<td>%s</td>",
		    !differs ? ""
		    : is_expected(path)
			? "expected"
			: "<span class=\"mark\">differs</span>");
	fputs("</tr>\n", out);

free_texts:
	free(texts[0]);
	free(texts[1]);
	return good;
}

static void put_head(const struct sv_page *page, FILE *out)
{
	bool two = page->n_results > 1;

	if (two)
		fputs("<div class=\"controls\" data-for=\"machines-table\">"
		      "<label>Search <input type=\"search\"></label>"
		      "<label><input type=\"checkbox\"> only what "
		      "differs</label><span class=\"muted small\" "
		      "role=\"status\"></span></div>\n",
		    out);
	fputs("<div class=\"scroll tall\" tabindex=\"0\" role=\"region\" "
	      "aria-label=\"Machines\"><table id=\"machines-table\">"
	      "<caption>What was recorded of the machine and the device",
	    out);
	if (two)
		fputs("; rows that differ are marked", out);
	fputs("</caption><thead><tr><th scope=\"col\">field</th>", out);
	for (size_t i = 0; i < page->n_results; i++) {
		fputs("<th scope=\"col\" class=\"v\">", out);
		sv_quote_html(out, page->names[i]);
		fputs("</th>", out);
	}
	if (two)
		fputs("<th scope=\"col\">differs</th>", out);
	fputs("</tr></thead><tbody>\n", out);
}

/* What could not be read, and why. */
static void put_unknown(const struct sv_page *page, size_t i, FILE *out)
{
	json_t *lists[] = {
	    json_object_get(page->results[i]->machine, "unknown"),
	    json_object_get(page->results[i]->device, "unknown")};
	size_t total = json_array_size(lists[0]) + json_array_size(lists[1]);

	if (total == 0)
		return;
	fputs("<details><summary>Fields that could not be read of ", out);
	sv_quote_html(out, page->names[i]);
	fprintf(out, ": %zu</summary><ul class=\"small\">", total);
	for (int which = 0; which < 2; which++) {
		json_t *one;
		size_t k;

		json_array_foreach (lists[which], k, one) {
			const char *field =
			    json_string_value(json_object_get(one, "field"));
			const char *why =
			    json_string_value(json_object_get(one, "why"));

			fputs(which == 0 ? "<li>machine." : "<li>device.", out);
			sv_quote_html(out, field != NULL ? field : "?");
			fputs(": ", out);
			sv_quote_html(out, why != NULL ? why : "?");
			fputs("</li>", out);
		}
	}
	fputs("</ul></details>\n", out);
}

int sv_page_machines(const struct sv_page *page, FILE *out, struct sv_err *err)
{
	struct fields f = {0};
	bool good;

	for (size_t i = 0; i < page->n_results; i++) {
		add_fields(&f, "machine", page->results[i]->machine);
		add_fields(&f, "device", page->results[i]->device);
	}
	good = !f.failed;
	if (f.n > 0)
		qsort(f.paths, f.n, sizeof *f.paths, by_path);
	put_head(page, out);
	for (size_t i = 0; good && i < f.n; i++)
		if (i == 0 || strcmp(f.paths[i], f.paths[i - 1]) != 0)
			good = put_row(page, f.paths[i], out);
	fputs("</tbody></table></div>\n", out);
	for (size_t i = 0; i < page->n_results; i++)
		put_unknown(page, i, out);
	free(f.paths);
	return good ? 0
		    : sv_err_set(err, SV_ERESOURCE, "report: out of memory");
}

/* One result on a terminal: who, what, figures, and what is missing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "quantity.h"
#include "quote.h"
#include "report.h"
#include "stave/units.h"
#include "table.h"
#include "text.h"

static void param_value(const struct sv_result_param *p, char *out, size_t size)
{
	if (p->text != NULL)
		sv_quote_cut(out, size, p->text, 40);
	else if (strcmp(p->name, "bytes") == 0)
		sv_quantity_size(out, size, (double)p->number);
	else
		snprintf(out, size, "%lld", (long long)p->number);
}

const char *sv_report_params(
    const struct sv_measurement *m, char *out, size_t size)
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < m->n_params; i++) {
		const struct sv_result_param *p = &m->params[i];
		char name[80], value[168], piece[sizeof name + sizeof value];

		param_value(p, value, sizeof value);
		snprintf(piece, sizeof piece, "%s%s=%s", i > 0 ? " " : "",
		    sv_quote_cut(name, sizeof name, p->name, 40), value);
		/* Whole pieces alone: no half of a character. */
		if (used + strlen(piece) + sizeof "\u2026" > size) {
			snprintf(out + used, size - used, "\u2026");
			break;
		}
		used += (size_t)snprintf(out + used, size - used, "%s", piece);
	}
	return out;
}

/* One line of a terminal is room enough for any name. */
#define MAX_NAME 160

/* Text of the file, fit for a terminal; a new buffer at each call in a line. */
static const char *shown(const char *text, char *out)
{
	return text == NULL ? "unknown"
			    : sv_quote_cut(out, 4 * MAX_NAME, text, MAX_NAME);
}

static const char *text_at(json_t *object, const char *path, char *out)
{
	return shown(json_string_value(sv_result_field(object, path)), out);
}

static double number_at(json_t *object, const char *path)
{
	json_t *value = sv_result_field(object, path);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

static void print_head(const struct sv_result *r, FILE *out)
{
	char device_bytes[SV_QUANTITY_BYTES], host_bytes[SV_QUANTITY_BYTES];
	char text[3][4 * MAX_NAME];
	const char *kind;
	size_t unknown =
	    json_array_size(json_object_get(r->machine, "unknown")) +
	    json_array_size(json_object_get(r->device, "unknown"));

	fprintf(out, "%s  (%s, profile %s, stave %s)\n",
	    shown(r->run.label, text[0]), r->run.origin,
	    shown(r->run.profile, text[1]), shown(r->run.version, text[2]));
	fprintf(out, "  measured  %s to %s%s\n", shown(r->run.started, text[0]),
	    shown(r->run.finished, text[1]),
	    r->run.complete ? "" : ", INCOMPLETE");
	fprintf(out, "  device    %s: %s, %s\n",
	    text_at(r->device, "backend", text[0]),
	    text_at(r->device, "name", text[1]),
	    sv_quantity_size(device_bytes, sizeof device_bytes,
		number_at(r->device, "memory_bytes")));
	fprintf(out, "  machine   %s, %s, %s, kernel %s\n",
	    text_at(r->machine, "cpu.model", text[0]),
	    sv_quantity_size(host_bytes, sizeof host_bytes,
		number_at(r->machine, "memory.total_bytes")),
	    text_at(r->machine, "os.distribution", text[1]),
	    text_at(r->machine, "os.kernel", text[2]));
	kind = text_at(r->machine, "virtualisation.kind", text[0]);
	if (strcmp(kind, "none") != 0)
		fprintf(out, "  inside    %s (%s)\n", kind,
		    text_at(r->machine, "virtualisation.detail", text[1]));
	if (unknown > 0)
		fprintf(out,
		    "  unknown   %zu fields could not be read; --json says "
		    "why\n",
		    unknown);
}

void sv_report_spread(const struct sv_measurement *m, char *out, size_t size)
{
	const struct sv_summary *s = &m->summary;
	double half = (s->ci95.hi - s->ci95.lo) / 2.0;

	out[0] = '\0';
	if (!isfinite(half))
		return;
	/* A share may be near 0, where per cent of it mean nothing. */
	if (strcmp(m->unit, SV_UNIT_ONE) == 0)
		snprintf(out, size, "± %.3f", half);
	else if (s->median != 0.0)
		snprintf(
		    out, size, "± %.1f %%", 100.0 * half / fabs(s->median));
}

void sv_report_flags(const struct sv_measurement *m, char *out, size_t size)
{
	char flag[168];
	size_t used = 0;

	out[0] = '\0';
	if (m->check == SV_CHECK_FAIL)
		used += (size_t)snprintf(out, size, "CHECK FAILED");
	for (size_t i = 0; i < m->n_flags; i++) {
		sv_quote_cut(flag, sizeof flag, m->flags[i], 40);
		/* Whole flags alone. */
		if (used + strlen(flag) + 3 > size)
			break;
		used += (size_t)snprintf(out + used, size - used, "%s%s",
		    used > 0 ? ", " : "", flag);
	}
}

static void add_row(struct sv_table *t, const struct sv_measurement *m)
{
	char text[512];

	sv_table_row(t);
	sv_table_cell(t, m->metric);
	sv_table_cell(t, sv_report_params(m, text, sizeof text));
	sv_table_cell(
	    t, sv_quantity(text, sizeof text, m->summary.median, m->unit));
	sv_report_spread(m, text, sizeof text);
	sv_table_cell(t, text);
	if (m->has_reference && m->reference > 0.0)
		snprintf(text, sizeof text, "%.0f %%",
		    100.0 * m->summary.median / m->reference);
	else
		text[0] = '\0';
	sv_table_cell(t, text);
	sv_report_flags(m, text, sizeof text);
	sv_table_cell(t, text);
}

static void print_bench(const struct sv_result *r, const char *bench, FILE *out,
    const struct sv_report_style *style)
{
	struct sv_table *t = sv_table_new();

	sv_table_column(t, "metric", SV_LEFT);
	sv_table_column(t, "parameters", SV_LEFT);
	sv_table_column(t, "median", SV_RIGHT);
	sv_table_column(t, "95 %", SV_RIGHT);
	sv_table_column(t, "of ref.", SV_RIGHT);
	sv_table_column(t, "flags", SV_LEFT);
	for (size_t i = 0; i < r->n_measurements; i++)
		if (strcmp(r->measurements[i].bench, bench) == 0)
			add_row(t, &r->measurements[i]);
	fprintf(out, "\n%s%s%s\n", style->colour ? "\033[1m" : "", bench,
	    style->colour ? "\033[0m" : "");
	sv_table_print(t, out, style->width, 2);
	sv_table_free(t);
}

/* Whether the bench has come up before measurement i. */
static bool seen_before(const struct sv_result *r, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (strcmp(r->measurements[j].bench,
			r->measurements[i].bench) == 0)
			return true;
	return false;
}

size_t sv_report_skipped_alike(const struct sv_result *r, size_t i)
{
	const struct sv_skipped *s = &r->skipped[i];
	size_t alike = 0;

	for (size_t j = 0; j < r->n_skipped; j++) {
		bool same = strcmp(s->bench, r->skipped[j].bench) == 0 &&
			    strcmp(s->reason, r->skipped[j].reason) == 0;

		if (same && j < i)
			return 0;
		alike += same;
	}
	return alike;
}

static void print_skipped(const struct sv_result *r, FILE *out)
{
	if (r->n_skipped > 0)
		fprintf(out, "\nnot measured\n");
	for (size_t i = 0; i < r->n_skipped; i++) {
		size_t alike = sv_report_skipped_alike(r, i);

		if (alike == 0)
			continue;
		fprintf(out, "  %s (%zu): ", r->skipped[i].bench, alike);
		sv_quote_line(out, r->skipped[i].reason);
		fputc('\n', out);
	}
}

static void print_failures(const struct sv_result *r, FILE *out)
{
	if (r->n_failures > 0)
		fprintf(out, "\nFAILED\n");
	for (size_t i = 0; i < r->n_failures; i++) {
		const struct sv_failure *f = &r->failures[i];
		const char *id =
		    json_string_value(json_object_get(f->extra, "case"));
		char *params =
		    id == NULL && f->params != NULL
			? json_dumps(f->params, JSON_COMPACT | JSON_SORT_KEYS)
			: NULL;

		fprintf(out, "  %s%s%s: ", id != NULL ? id : f->bench,
		    params != NULL ? " " : "", params != NULL ? params : "");
		sv_quote_line(out, f->reason);
		fputc('\n', out);
		free(params);
	}
}

void sv_report_result(const struct sv_result *r, const char *bench, FILE *out,
    const struct sv_report_style *style)
{
	print_head(r, out);
	for (size_t i = 0; i < r->n_measurements; i++)
		if (!seen_before(r, i) &&
		    (bench == NULL ||
			strcmp(bench, r->measurements[i].bench) == 0))
			print_bench(r, r->measurements[i].bench, out, style);
	if (bench == NULL || strcmp(bench, "step") == 0)
		sv_report_habits(r, out, style);
	if (bench == NULL)
		print_skipped(r, out);
	print_failures(r, out);
}

/*
 * CSV: one line a measurement, a column for every parameter that any of them
 * has, so that a spreadsheet can filter and pivot.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "export.h"
#include "quote.h"

static int by_name(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Names of parameters, each once, sorted; malloc'd, *n of them. */
static const char **param_names(const struct sv_result *r, size_t *n)
{
	size_t total = 0, kept = 0;
	const char **names;

	for (size_t i = 0; i < r->n_measurements; i++)
		total += r->measurements[i].n_params;
	names = calloc(total + 1, sizeof *names);
	if (names == NULL)
		return NULL;
	total = 0;
	for (size_t i = 0; i < r->n_measurements; i++)
		for (size_t j = 0; j < r->measurements[i].n_params; j++)
			names[total++] = r->measurements[i].params[j].name;
	qsort(names, total, sizeof *names, by_name);
	for (size_t i = 0; i < total; i++)
		if (i == 0 || strcmp(names[i], names[kept - 1]) != 0)
			names[kept++] = names[i];
	*n = kept;
	return names;
}

/* Every cell but the first comes after a comma. */
static void put_text(FILE *out, const char *text)
{
	fputc(',', out);
	if (text != NULL)
		sv_quote_csv(out, text, true);
}

static void put_number(FILE *out, double value)
{
	fputc(',', out);
	if (isfinite(value))
		sv_quote_number(out, value);
}

static void put_param(
    FILE *out, const struct sv_measurement *m, const char *name)
{
	for (size_t i = 0; i < m->n_params; i++) {
		const struct sv_result_param *p = &m->params[i];

		if (strcmp(p->name, name) != 0)
			continue;
		if (p->text != NULL)
			put_text(out, p->text);
		else
			fprintf(out, ",%lld", (long long)p->number);
		return;
	}
	fputc(',', out);
}

static void put_flags(FILE *out, const struct sv_measurement *m)
{
	char text[512];
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < m->n_flags && used < sizeof text; i++)
		used += (size_t)snprintf(text + used, sizeof text - used,
		    "%s%s", i > 0 ? " " : "", m->flags[i]);
	put_text(out, text);
}

static void put_row(FILE *out, const struct sv_result *r,
    const struct sv_measurement *m, const char *const *names, size_t n)
{
	static const char *const checks[] = {"none", "pass", "fail"};
	const struct sv_summary *s = &m->summary;

	sv_quote_csv(out, r->run.label != NULL ? r->run.label : "", true);
	put_text(out, r->run.origin);
	put_text(out, json_string_value(sv_result_field(r->device, "name")));
	put_text(out, m->id);
	put_text(out, m->bench);
	put_text(out, m->metric);
	for (size_t i = 0; i < n; i++)
		put_param(out, m, names[i]);
	put_text(out, m->unit);
	put_text(out, m->higher_is_better ? "higher" : "lower");
	fprintf(out, ",%zu", m->n_rounds);
	put_number(out, s->median);
	put_number(out, s->ci95.lo);
	put_number(out, s->ci95.hi);
	put_number(out, s->mad);
	put_number(out, s->min);
	put_number(out, s->max);
	put_number(out, s->p05);
	put_number(out, s->p95);
	put_number(out, m->has_reference ? m->reference : NAN);
	put_text(out, m->has_reference ? m->reference_what : NULL);
	put_flags(out, m);
	put_text(out, checks[m->check]);
	fputs("\r\n", out);
}

int sv_export_csv(const struct sv_result *r, FILE *out, struct sv_err *err)
{
	size_t n;
	const char **names = param_names(r, &n);

	if (names == NULL)
		return sv_err_set(err, SV_ERESOURCE, "export: out of memory");
	fputs("label,origin,device,id,bench,metric", out);
	for (size_t i = 0; i < n; i++) {
		fputs(",param.", out);
		sv_quote_csv(out, names[i], false);
	}
	fputs(",unit,better,rounds,median,ci95_lo,ci95_hi,mad,min,max,p05,p95,"
	      "reference,reference_what,flags,check\r\n",
	    out);
	for (size_t i = 0; i < r->n_measurements; i++)
		put_row(out, r, &r->measurements[i], names, n);
	free(names);
	return 0;
}

/*
 * OpenMetrics text, written so that Prometheus' older text format reads it
 * too (node_exporter's textfile collector): gauges alone, no timestamps.
 *
 * A family is stave_BENCH_METRIC_UNIT; the figure, its interval and its
 * reference are told apart by the label "stat". Figures whose check failed
 * are left out, and counted.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "export.h"
#include "quote.h"
#include "stave/units.h"

#define MAX_NAME 256

static const struct {
	const char *unit, *name;
} units[] = {
    {SV_UNIT_SECONDS, "seconds"},
    {SV_UNIT_BYTES, "bytes"},
    {SV_UNIT_BYTES_PER_SECOND, "bytes_per_second"},
    {SV_UNIT_FLOP_PER_SECOND, "flop_per_second"},
    {SV_UNIT_PER_SECOND, "per_second"},
    {SV_UNIT_HERTZ, "hertz"},
    {SV_UNIT_WATT, "watts"},
    {SV_UNIT_ONE, "ratio"},
};

struct entry {
	char family[MAX_NAME];
	const char *unit; /* as OpenMetrics names it */
	const struct sv_measurement *m;
	size_t order; /* in the file */
	bool renamed; /* some name had to be changed */
};

static const char *unit_name(const char *unit)
{
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (strcmp(units[i].unit, unit) == 0)
			return units[i].name;
	return "ratio";
}

static int by_family(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	int order = strcmp(a->family, b->family);

	return order != 0 ? order : a->order < b->order ? -1 : 1;
}

static void make_entry(
    struct entry *e, const struct sv_measurement *m, size_t order)
{
	char bench[80], metric[80];

	e->m = m;
	e->order = order;
	e->unit = unit_name(m->unit);
	e->renamed = !sv_quote_metric_name(bench, sizeof bench, m->bench);
	if (!sv_quote_metric_name(metric, sizeof metric, m->metric))
		e->renamed = true;
	snprintf(e->family, sizeof e->family, "stave_%s_%s_%s", bench, metric,
	    e->unit);
}

/* Which run, on what: on every sample, so that files can lie side by side. */
static void put_identity(FILE *out, const struct sv_result *r)
{
	const char *device =
	    json_string_value(sv_result_field(r->device, "name"));

	fputs("device=", out);
	sv_quote_metric(out, device != NULL ? device : "");
	fputs(",label=", out);
	sv_quote_metric(out, r->run.label != NULL ? r->run.label : "");
}

/* Names of parameters get a prefix: "device" may be one. */
static bool put_params(FILE *out, const struct sv_measurement *m)
{
	bool plain = true;

	for (size_t i = 0; i < m->n_params; i++) {
		const struct sv_result_param *p = &m->params[i];
		char name[80];

		if (!sv_quote_metric_name(name, sizeof name, p->name)) {
			plain = false;
			continue;
		}
		fprintf(out, ",param_%s=", name);
		if (p->text != NULL)
			sv_quote_metric(out, p->text);
		else
			fprintf(out, "\"%lld\"", (long long)p->number);
	}
	return plain;
}

static void put_sample(FILE *out, const struct sv_result *r,
    const struct entry *e, const char *stat, double value)
{
	if (!isfinite(value))
		return;
	fprintf(out, "%s{", e->family);
	put_identity(out, r);
	/* What names cannot say, the id does. */
	if (!put_params(out, e->m) || e->renamed) {
		fputs(",id=", out);
		sv_quote_metric(out, e->m->id);
	}
	fprintf(out, ",stat=\"%s\"} ", stat);
	sv_quote_number(out, value);
	fputc('\n', out);
}

static void put_head(
    FILE *out, const char *family, const char *unit, const char *help)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s gauge\n", family, help, family);
	if (unit != NULL)
		fprintf(out, "# UNIT %s %s\n", family, unit);
}

static void put_entries(
    FILE *out, const struct sv_result *r, const struct entry *entries, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct entry *e = &entries[i];

		if (i == 0 || strcmp(e->family, entries[i - 1].family) != 0)
			put_head(out, e->family, e->unit,
			    e->m->higher_is_better
				? "measured by stave; higher is better"
				: "measured by stave; lower is better");
		put_sample(out, r, e, "median", e->m->summary.median);
		put_sample(out, r, e, "ci95_low", e->m->summary.ci95.lo);
		put_sample(out, r, e, "ci95_high", e->m->summary.ci95.hi);
		if (e->m->has_reference)
			put_sample(out, r, e, "reference", e->m->reference);
	}
}

static void put_count(
    FILE *out, const struct sv_result *r, const char *state, size_t n)
{
	fputs("stave_cases{", out);
	put_identity(out, r);
	fprintf(out, ",state=\"%s\"} %zu\n", state, n);
}

static void put_run(FILE *out, const struct sv_result *r, size_t bad)
{
	const char *backend =
	    json_string_value(sv_result_field(r->device, "backend"));
	struct tm t = {0};

	put_head(out, "stave_run", NULL, "what was run; always 1");
	fputs("stave_run{", out);
	put_identity(out, r);
	fputs(",backend=", out);
	sv_quote_metric(out, backend != NULL ? backend : "");
	fputs(",origin=", out);
	sv_quote_metric(out, r->run.origin);
	fputs(",version=", out);
	sv_quote_metric(out, r->run.version != NULL ? r->run.version : "");
	fputs("} 1\n", out);
	if (r->run.finished != NULL &&
	    strptime(r->run.finished, "%Y-%m-%dT%H:%M:%S", &t) != NULL) {
		put_head(out, "stave_run_finished_seconds", "seconds",
		    "when the run ended, since 1970");
		fputs("stave_run_finished_seconds{", out);
		put_identity(out, r);
		fprintf(out, "} %lld\n", (long long)timegm(&t));
	}
	put_head(out, "stave_cases", NULL, "cases of the run, by their end");
	put_count(out, r, "measured", r->n_measurements - bad);
	put_count(out, r, "check_failed", bad);
	put_count(out, r, "skipped", r->n_skipped);
	put_count(out, r, "failed", r->n_failures);
}

int sv_export_openmetrics(
    const struct sv_result *r, FILE *out, struct sv_err *err)
{
	struct entry *entries = calloc(r->n_measurements + 1, sizeof *entries);
	size_t n = 0;

	if (entries == NULL)
		return sv_err_set(err, SV_ERESOURCE, "export: out of memory");
	for (size_t i = 0; i < r->n_measurements; i++)
		if (r->measurements[i].check != SV_CHECK_FAIL)
			make_entry(&entries[n++], &r->measurements[i], i);
	qsort(entries, n, sizeof *entries, by_family);
	put_run(out, r, r->n_measurements - n);
	put_entries(out, r, entries, n);
	fputs("# EOF\n", out);
	free(entries);
	return 0;
}

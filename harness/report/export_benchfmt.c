/*
 * Go's benchmark format, read by benchstat: a line for every round, since the
 * round is what may be compared. A figure whose check failed is left out.
 * Source: golang.org/design/14313-benchmark-format, and the "Unit" lines of
 * golang.org/x/perf/benchfmt.
 */
#include <math.h>
#include <string.h>

#include "export.h"
#include "quote.h"
#include "stave/units.h"

/* Names that benchstat scales and knows the direction of, where it has some. */
static const struct {
	const char *unit, *name;
	bool higher;
} units[] = {
    {SV_UNIT_SECONDS, "sec/op", false},
    {SV_UNIT_BYTES, "B", false},
    {SV_UNIT_BYTES_PER_SECOND, "B/s", true},
    {SV_UNIT_FLOP_PER_SECOND, "FLOP/s", true},
    {SV_UNIT_PER_SECOND, "op/s", true},
    {SV_UNIT_HERTZ, "Hz", true},
    {SV_UNIT_WATT, "W", false},
    {SV_UNIT_ONE, "ratio", true},
};

#define N_UNITS (sizeof units / sizeof units[0])

static size_t unit_of(const struct sv_measurement *m)
{
	size_t i = 0;

	while (i + 1 < N_UNITS && strcmp(units[i].unit, m->unit) != 0)
		i++;
	return i;
}

/* A unit has one direction in a file: the rarer one gets a name of its own. */
static const char *suffix(const struct sv_measurement *m)
{
	if (m->higher_is_better == units[unit_of(m)].higher)
		return "";
	return m->higher_is_better ? "-higher" : "-lower";
}

/*
 * What was run, as a comment: benchstat would make a table of its own for
 * every value of a key, and two machines could not be set side by side.
 */
static void put_key(FILE *out, const char *key, const char *value)
{
	if (value == NULL)
		return;
	fprintf(out, "# %s: ", key);
	sv_quote_line(out, value);
	fputc('\n', out);
}

/* Each unit that is used, once for each of its directions. */
static void put_units(FILE *out, const struct sv_result *r)
{
	bool told[N_UNITS][2] = {{false}};

	for (size_t i = 0; i < r->n_measurements; i++) {
		const struct sv_measurement *m = &r->measurements[i];
		bool *done = &told[unit_of(m)][m->higher_is_better];

		if (!*done)
			fprintf(out, "Unit %s%s better=%s assume=nothing\n",
			    units[unit_of(m)].name, suffix(m),
			    m->higher_is_better ? "higher" : "lower");
		*done = true;
	}
}

static void put_line(FILE *out, const struct sv_measurement *m, double value)
{
	/* A name that does not begin with a capital is no benchmark's. */
	fputs("BenchmarkStave/", out);
	sv_quote_bench_name(out, m->bench);
	fputc('/', out);
	sv_quote_bench_name(out, m->metric);
	for (size_t i = 0; i < m->n_params; i++) {
		const struct sv_result_param *p = &m->params[i];

		fputc('/', out);
		sv_quote_bench_name(out, p->name);
		fputc('=', out);
		if (p->text != NULL)
			sv_quote_bench_name(out, p->text);
		else
			fprintf(out, "%lld", (long long)p->number);
	}
	fprintf(
	    out, " %llu ", (unsigned long long)(m->inner > 0 ? m->inner : 1));
	sv_quote_number(out, value);
	fprintf(out, " %s%s\n", units[unit_of(m)].name, suffix(m));
}

int sv_export_benchfmt(const struct sv_result *r, FILE *out, struct sv_err *err)
{
	(void)err;
	put_key(out, "label", r->run.label);
	put_key(out, "origin", r->run.origin);
	put_key(out, "device",
	    json_string_value(sv_result_field(r->device, "name")));
	put_key(out, "cpu",
	    json_string_value(sv_result_field(r->machine, "cpu.model")));
	put_key(out, "stave", r->run.version);
	put_units(out, r);
	for (size_t i = 0; i < r->n_measurements; i++) {
		const struct sv_measurement *m = &r->measurements[i];

		if (m->check == SV_CHECK_FAIL)
			continue;
		for (size_t j = 0; j < m->n_rounds; j++)
			put_line(out, m, m->rounds[j]);
		if (m->n_rounds == 0)
			put_line(out, m, m->summary.median);
	}
	return 0;
}

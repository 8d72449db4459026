/*
 * What makes a measurement acceptable, whether a file states it or a run made
 * it. A summary that its own rounds contradict means damage: it is refused,
 * never repaired.
 */
#include "store.h"

#include <inttypes.h>
#include <math.h>

#include "stave/units.h"

static int check_numbers(
    const char *field, const double *values, size_t n, struct sv_err *err)
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(values[i]))
			return sv_err_set(err, SV_EINPUT,
			    "%s[%zu]: expected a finite number, found %g",
			    field, i, values[i]);
	return 0;
}

static int check_samples(const struct sv_measurement *m, struct sv_err *err)
{
	char field[48];
	int code = 0;

	if (m->n_samples != 0 && m->n_samples != m->n_rounds)
		return sv_err_set(err, SV_EINPUT,
		    "samples: expected one list a round (%zu), found %zu",
		    m->n_rounds, m->n_samples);
	for (size_t i = 0; i < m->n_samples && code == 0; i++) {
		snprintf(field, sizeof field, "samples[%zu]", i);
		code = check_numbers(
		    field, m->samples[i].values, m->samples[i].n, err);
	}
	return code;
}

/* lo ≤ hi, where both are known. */
static int check_order(const char *lo_field, double lo, const char *hi_field,
    double hi, struct sv_err *err)
{
	if (lo > hi)
		return sv_err_set(err, SV_EINPUT,
		    "summary.%s: expected at most summary.%s, %.17g, "
		    "found %.17g",
		    lo_field, hi_field, hi, lo);
	return 0;
}

static int check_known(const struct sv_summary *s, struct sv_err *err)
{
	const struct {
		const char *field;
		double value;
	} all[] = {{"median", s->median}, {"ci95[0]", s->ci95.lo},
	    {"ci95[1]", s->ci95.hi}, {"mad", s->mad}, {"min", s->min},
	    {"max", s->max}, {"p05", s->p05}, {"p95", s->p95}};

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		if (isinf(all[i].value))
			return sv_err_set(err, SV_EINPUT,
			    "summary.%s: expected a finite number or null, "
			    "found %g",
			    all[i].field, all[i].value);
	if (isnan(s->ci95.lo) != isnan(s->ci95.hi))
		return sv_err_set(err, SV_EINPUT,
		    "summary.ci95: expected two numbers or none, found one");
	if (s->mad < 0.0)
		return sv_err_set(err, SV_EINPUT,
		    "summary.mad: expected 0 or more, found %.17g", s->mad);
	return 0;
}

static int check_against_rounds(
    const struct sv_measurement *m, struct sv_err *err)
{
	double lo = INFINITY, hi = -INFINITY;

	for (size_t i = 0; i < m->n_rounds; i++) {
		lo = fmin(lo, m->rounds[i]);
		hi = fmax(hi, m->rounds[i]);
	}
	if (m->summary.n != m->n_rounds)
		return sv_err_set(err, SV_EINPUT,
		    "summary.n: expected %zu, the number of rounds, found %zu",
		    m->n_rounds, m->summary.n);
	if (m->summary.median < lo || m->summary.median > hi)
		return sv_err_set(err, SV_EINPUT,
		    "summary.median: expected a value between the smallest "
		    "and largest round, %.17g and %.17g, found %.17g",
		    lo, hi, m->summary.median);
	return 0;
}

static int check_summary(const struct sv_measurement *m, struct sv_err *err)
{
	const struct sv_summary *s = &m->summary;
	int code;

	if (isnan(s->median))
		return sv_err_set(err, SV_EINPUT,
		    "summary.median: expected a number where there are no "
		    "rounds, found none");
	if ((code = check_known(s, err)) != 0 ||
	    (m->n_rounds > 0 && (code = check_against_rounds(m, err)) != 0) ||
	    (code = check_order(
		 "ci95[0]", s->ci95.lo, "median", s->median, err)) != 0 ||
	    (code = check_order(
		 "median", s->median, "ci95[1]", s->ci95.hi, err)) != 0 ||
	    (code = check_order("min", s->min, "max", s->max, err)) != 0)
		return code;
	return check_order("p05", s->p05, "p95", s->p95, err);
}

int sv_measurement_check(const struct sv_measurement *m, struct sv_err *err)
{
	int code;

	if (m->unit == NULL || !sv_unit_known(m->unit))
		return sv_err_set(err, SV_EINPUT,
		    "unit: expected a base unit such as s or B/s, found "
		    "\"%.40s\"",
		    m->unit != NULL ? m->unit : "");
	if (m->inner > INT64_MAX)
		return sv_err_set(err, SV_EINPUT,
		    "inner: expected at most %" PRId64 ", found %" PRIu64,
		    INT64_MAX, m->inner);
	if (m->has_reference && !isfinite(m->reference))
		return sv_err_set(err, SV_EINPUT,
		    "reference.value: expected a finite number, found %g",
		    m->reference);
	if ((code = check_numbers("rounds", m->rounds, m->n_rounds, err)) != 0)
		return code;
	if ((code = check_samples(m, err)) != 0)
		return code;
	return check_summary(m, err);
}

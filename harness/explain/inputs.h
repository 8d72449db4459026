/*
 * Measured figures as inputs of the step model. An input is a weighted
 * geometric mean of a few measurements, so that interpolation between sizes,
 * and a resampled set of medians, are the same arithmetic.
 */
#ifndef STAVE_INPUTS_H
#define STAVE_INPUTS_H

#include <stdbool.h>
#include <stddef.h>

#include "result.h"

#define SV_INPUT_MAX_FROM 4

struct sv_input {
	size_t n;			  /* 0: not measured */
	size_t from[SV_INPUT_MAX_FROM];	  /* indices of measurements */
	double weight[SV_INPUT_MAX_FROM]; /* sum to 1 */
	bool extrapolated;
};

/* A required parameter: text, or the number where text is NULL. */
struct sv_wanted {
	const char *name;
	const char *text;
	double number;
};

/* Which measurement is looked for. Parameters not named may be anything. */
struct sv_query {
	const char *bench, *metric;
	const struct sv_wanted *wanted;
	size_t n_wanted;
	/*
	 * Parameter to interpolate over on a log scale, and where; NULL
	 * takes the first match. Beyond the measured ends the nearest end
	 * stands, and the input says that it is extrapolated.
	 */
	const char *over;
	double at;
	bool use_flagged; /* also what a check or flag speaks against */
};

/* Look an input up; n is 0 in what comes back when nothing matches. */
struct sv_input sv_input_find(
    const struct sv_result *, const struct sv_query *);

/*
 * Rate of one matrix product in FLOP/s, interpolated over the cube root of
 * m·n·k among the square products of that precision; a product measured with
 * exactly these sizes is taken as it is.
 */
struct sv_input sv_input_gemm(const struct sv_result *, const char *precision,
    double m, double n, double k, bool use_flagged);

/*
 * Value of an input, medians[i] being that of measurement i. NaN where the
 * input was not measured.
 */
double sv_input_value(const struct sv_input *, const double *medians);

/* The medians of a result's measurements; malloc'd, NULL on no memory. */
double *sv_input_medians(const struct sv_result *);

/*
 * Resample: medians of rounds drawn with replacement, one call a draw. A
 * measurement without rounds keeps its median. *state is the generator's.
 */
void sv_input_resample(
    const struct sv_result *, unsigned long long *state, double *medians);

#endif

/*
 * How many rounds more would decide. A plan, not a promise: it takes the
 * ratio and the spread of today for the truth, and aims at nine times of
 * ten.
 */
#include <math.h>
#include <string.h>

#include "stats.h"
#include "verdict.h"

/* A sixth is the least that gives an interval and passes Holm over a dozen. */
#define LEAST_ROUNDS 6
/* More than this nobody measures: say that none would decide. */
#define MOST_ROUNDS  500
/* z of nine times of ten. */
#define POWER_Z	     1.2815515655446004

/* Least rounds on each side whose smallest p passes m tests at a level. */
static double rounds_to_test(double level, size_t m)
{
	size_t n = 1;

	while (n < MOST_ROUNDS &&
	       sv_stats_mann_whitney_least_p(n, n) * (double)m >= level)
		n++;
	return (double)n;
}

/* Rounds at which the interval leaves `margin` with the power wanted. */
static double rounds_for_margin(
    double rounds, double deviation, double z, double margin)
{
	double wanted = margin / (z + POWER_Z);

	if (!(wanted > 0.0))
		return INFINITY;
	return rounds * (deviation / wanted) * (deviation / wanted);
}

static double rounds_wanted(const struct sv_pair *pair, size_t tests)
{
	double n =
	    (double)(pair->a->n_rounds < pair->b->n_rounds ? pair->a->n_rounds
							   : pair->b->n_rounds);
	double z = sv_stats_normal_quantile(0.025);
	size_t m = tests > 0 ? tests : 1;
	double z_test = sv_stats_normal_quantile(pair->level / 2.0 / (double)m);
	/* Of the ratio's logarithm, as the interval shows it. */
	double deviation = (pair->log_hi - pair->log_lo) / 2.0 / z;
	double floor = isnan(pair->floor) ? 0.0 : log1p(pair->floor);
	double size = fabs(pair->log_ratio);
	double same = rounds_for_margin(
	    n, deviation, z, log1p(pair->effect) - size - floor);
	double apart = fmax(rounds_for_margin(n, deviation, z, size - floor),
	    rounds_for_margin(n, deviation, z_test, size));

	/* Between the two effects either answer may come, the nearer first. */
	if (size < log1p(pair->least))
		return same;
	return fmin(same, fmax(apart, rounds_to_test(pair->level, m)));
}

/* Whether more of the same can decide: no rounds make a wrong figure right. */
static bool is_decidable(const char *reason)
{
	static const char *const reasons[] = {"few_rounds", "noise",
	    "small_effect", "many_tests", "within_floor", "no_spread"};

	for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
		if (strcmp(reasons[i], reason) == 0)
			return true;
	return false;
}

long sv_pair_further(const struct sv_pair *pair, size_t tests)
{
	size_t a = pair->a->n_rounds, b = pair->b->n_rounds;
	size_t rounds = a < b ? a : b;
	double wanted;

	if (pair->reason == NULL || !is_decidable(pair->reason))
		return -1;
	/* Figures without any rounds are others': nobody adds to them. */
	if (isnan(pair->log_lo))
		return rounds > 0 && rounds < LEAST_ROUNDS
			   ? LEAST_ROUNDS - (long)rounds
			   : -1;
	wanted = ceil(rounds_wanted(pair, tests));
	if (!(wanted <= MOST_ROUNDS))
		return -1;
	return wanted > (double)rounds ? (long)wanted - (long)rounds : 1;
}

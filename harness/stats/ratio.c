/*
 * The Hodges-Lehmann ratio and its interval. On a log scale, so that the
 * ratio of B to A and of A to B are each other's inverse.
 *
 * Source: Hodges & Lehmann 1963; interval by inverting the Mann-Whitney test.
 */
#include "stats.h"

#include <math.h>
#include <stdlib.h>

#include "rank_test.h"
#include "stave/order.h"

/*
 * Rank k of the interval's ends among the sorted differences: the most that
 * leaves at most (1 − level)/2 on either side; 0 where even the extremes
 * leave more.
 */
static int interval_rank(
    size_t n_a, size_t n_b, double level, size_t *rank, struct sv_err *err)
{
	size_t n = n_a + n_b;
	double tail = (1.0 - level) / 2.0;

	if (n > SV_RANK_EXACT_MAX) {
		double product = (double)n_a * (double)n_b;
		double spread = sqrt(product * (double)(n + 1) / 12.0);
		double k = floor(
		    product / 2.0 - sv_stats_normal_quantile(tail) * spread);

		*rank = k >= 1.0 ? (size_t)k : 0;
		return 0;
	}
	double *counts = sv_rank_counts(n_a, n_b), total = 0.0, below = 0.0;

	if (counts == NULL)
		return sv_err_set(err, SV_ERESOURCE, "ratio: out of memory");
	for (size_t u = 0; u <= n_a * n_b; u++)
		total += counts[u];
	*rank = 0;
	for (size_t u = 0; u <= n_a * n_b; u++) {
		below += counts[u];
		if (below / total > tail)
			break;
		*rank = u + 1;
	}
	free(counts);
	return 0;
}

static int check_positive(
    const double *values, size_t n, const char *set, struct sv_err *err)
{
	if (n == 0)
		return sv_err_set(
		    err, SV_EINPUT, "ratio: set %s is empty", set);
	for (size_t i = 0; i < n; i++)
		if (!(values[i] > 0.0) || !isfinite(values[i]))
			return sv_err_set(err, SV_EINPUT,
			    "ratio: value %zu of set %s: expected a positive "
			    "number, found %g",
			    i, set, values[i]);
	return 0;
}

int sv_stats_ratio(const double *a, size_t n_a, const double *b, size_t n_b,
    double level, struct sv_ratio *out, struct sv_err *err)
{
	size_t n = n_a * n_b, rank = 0;
	struct sv_ratio found = {0};
	double *differences;
	int code;

	if ((code = check_positive(a, n_a, "A", err)) != 0 ||
	    (code = check_positive(b, n_b, "B", err)) != 0 ||
	    (code = interval_rank(n_a, n_b, level, &rank, err)) != 0)
		return code;
	differences = calloc(n + n_b, sizeof *differences);
	if (differences == NULL)
		return sv_err_set(err, SV_ERESOURCE, "ratio: out of memory");
	double *logs = differences + n;

	for (size_t j = 0; j < n_b; j++)
		logs[j] = log(b[j]);
	for (size_t i = 0; i < n_a; i++) {
		double log_a = log(a[i]);

		for (size_t j = 0; j < n_b; j++)
			differences[i * n_b + j] = logs[j] - log_a;
	}
	sv_order_sort(differences, n);
	found.log_ratio = sv_order_median(differences, n);
	found.ratio = exp(found.log_ratio);
	if (rank > 0) {
		found.has_interval = true;
		found.log_lo = differences[rank - 1];
		found.log_hi = differences[n - rank];
		found.lo = exp(found.log_lo);
		found.hi = exp(found.log_hi);
	}
	free(differences);
	*out = found;
	return 0;
}

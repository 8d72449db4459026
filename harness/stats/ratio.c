/*
 * The Hodges-Lehmann ratio and its interval. On a log scale, so that the
 * ratio of B to A and of A to B are each other's inverse.
 *
 * Source: Hodges & Lehmann 1963; interval by inverting the Mann-Whitney test.
 */
#include "stats.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

/* The logarithms of n values in ascending order. */
static void sorted_logs(const double *values, size_t n, double *logs)
{
	for (size_t i = 0; i < n; i++)
		logs[i] = log(values[i]);
	sv_order_sort(logs, n);
}

/* Two ascending sets of logarithms. */
struct logs {
	const double *a, *b;
	size_t n_a, n_b;
};

/* How many of the differences b − a are at most x. */
static size_t count_up_to(const struct logs *l, double x)
{
	size_t count = 0, j = 0;

	/* As a grows, so does the b that stays within x. */
	for (size_t i = 0; i < l->n_a; i++) {
		while (j < l->n_b && l->b[j] - l->a[i] <= x)
			j++;
		count += j;
	}
	return count;
}

/* Doubles as whole numbers that are in the same order, and back. */
static int64_t place_of(double x)
{
	int64_t bits;

	memcpy(&bits, &x, sizeof bits);
	return bits < 0 ? INT64_MIN - bits : bits;
}

static double at_place(int64_t place)
{
	int64_t bits = place < 0 ? INT64_MIN - place : place;
	double x;

	memcpy(&x, &bits, sizeof x);
	return x;
}

/*
 * The k-th smallest difference, exactly, without making them all: bisection
 * over the doubles between the extremes.
 */
static double difference(const struct logs *l, size_t k)
{
	int64_t lo = place_of(l->b[0] - l->a[l->n_a - 1]);
	int64_t hi = place_of(l->b[l->n_b - 1] - l->a[0]);

	while (lo < hi) {
		/* Both may be far from 0 on their side: no overflow. */
		int64_t middle = lo / 2 + hi / 2 + (lo % 2 + hi % 2) / 2;

		if (middle == hi)
			middle--;
		if (count_up_to(l, at_place(middle)) >= k)
			hi = middle;
		else
			lo = middle + 1;
	}
	return at_place(lo);
}

int sv_stats_ratio(const double *a, size_t n_a, const double *b, size_t n_b,
    double level, struct sv_ratio *out, struct sv_err *err)
{
	size_t n = n_a * n_b, rank = 0;
	struct sv_ratio found = {0};
	double *logs;
	int code;

	if ((code = check_positive(a, n_a, "A", err)) != 0 ||
	    (code = check_positive(b, n_b, "B", err)) != 0 ||
	    (code = interval_rank(n_a, n_b, level, &rank, err)) != 0)
		return code;
	logs = calloc(n_a + n_b + 1, sizeof *logs);
	if (logs == NULL)
		return sv_err_set(err, SV_ERESOURCE, "ratio: out of memory");
	const struct logs l = {logs, logs + n_a, n_a, n_b};

	sorted_logs(a, n_a, logs);
	sorted_logs(b, n_b, logs + n_a);
	found.log_ratio =
	    0.5 * (difference(&l, (n + 1) / 2) + difference(&l, n / 2 + 1));
	found.ratio = exp(found.log_ratio);
	if (rank > 0) {
		found.has_interval = true;
		found.log_lo = difference(&l, rank);
		found.log_hi = difference(&l, n + 1 - rank);
		found.lo = exp(found.log_lo);
		found.hi = exp(found.log_hi);
	}
	free(logs);
	*out = found;
	return 0;
}

/*
 * Order statistics that the worker (to know when to stop) and the harness (to
 * judge) must define alike: the median, the quantile, and the ranks of the
 * distribution-free confidence interval for the median. Everything else of
 * the statistics lives in the harness.
 */
#ifndef STAVE_ORDER_H
#define STAVE_ORDER_H

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

static inline int sv_order_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sort n values (finite) in place, ascending. */
static inline void sv_order_sort(double *values, size_t n)
{
	qsort(values, n, sizeof *values, sv_order_compare);
}

/*
 * Quantile q (0…1) of n ≥ 1 sorted values, linear between the two nearest
 * order statistics. Source: Hyndman & Fan 1996, definition 7 (the default of
 * R and NumPy).
 */
static inline double sv_order_quantile(const double *sorted, size_t n, double q)
{
	double position = q * (double)(n - 1);
	size_t below = (size_t)position;

	if (below + 1 >= n)
		return sorted[n - 1];
	return sorted[below] +
	       (position - (double)below) * (sorted[below + 1] - sorted[below]);
}

/* Median of n ≥ 1 sorted values. */
static inline double sv_order_median(const double *sorted, size_t n)
{
	if (n % 2 == 1)
		return sorted[n / 2];
	return 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
}

/*
 * Rank k (1-based) such that [x(k), x(n+1-k)] covers the median of a
 * continuous distribution with probability ≥ 0.95; 0 where no such rank
 * exists (n < 6). Exact binomial below n = 50, normal approximation from
 * there on. Source: method notes section 1, scheme 4.
 */
static inline size_t sv_order_interval_rank(size_t n)
{
	if (n >= 50) {
		double rank = floor(((double)n - 1.96 * sqrt((double)n)) / 2.0);

		return rank < 1.0 ? 1 : (size_t)rank;
	}
	double term = ldexp(1.0, -(int)n); /* P(exactly i below), i = 0 */
	double tail = 0.0;
	size_t rank = 0;

	for (size_t i = 0; i < n / 2; i++) {
		tail += term;
		if (1.0 - 2.0 * tail < 0.95)
			break;
		rank = i + 1;
		term *= (double)(n - i) / (double)(i + 1);
	}
	return rank;
}

/*
 * Lag-1 autocorrelation of n values in the order they were taken; 0 where it
 * is undefined (n < 3 or no spread).
 */
static inline double sv_order_lag1(const double *values, size_t n)
{
	double mean = 0.0, square = 0.0, product = 0.0;

	if (n < 3)
		return 0.0;
	for (size_t i = 0; i < n; i++)
		mean += values[i] / (double)n;
	for (size_t i = 0; i < n; i++) {
		double d = values[i] - mean;

		square += d * d;
		if (i + 1 < n)
			product += d * (values[i + 1] - mean);
	}
	/* Equal values leave the rounding of their mean as "spread". */
	double nothing = 1e-13 * mean;

	return square > (double)n * nothing * nothing ? product / square : 0.0;
}

#endif

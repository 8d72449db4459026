/*
 * Mann-Whitney: do values of one set tend to be larger than those of the
 * other? Exact for the numbers of rounds that occur, ties included by
 * mid-ranks; a normal approximation beyond.
 *
 * Source: Mann & Whitney 1947.
 */
#include "rank_test.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "stats.h"

struct ranked {
	double value;
	bool of_a;
};

static int by_value(const void *left, const void *right)
{
	double x = ((const struct ranked *)left)->value;
	double y = ((const struct ranked *)right)->value;

	return (x > y) - (x < y);
}

/* Doubled mid-ranks of sorted values; returns the sum of t³ − t over ties. */
static double rank_values(
    const struct ranked *sorted, size_t n, unsigned *doubled)
{
	double ties = 0.0;

	for (size_t i = 0; i < n;) {
		size_t end = i + 1;

		while (end < n && sorted[end].value == sorted[i].value)
			end++;
		double t = (double)(end - i);

		for (size_t j = i; j < end; j++)
			doubled[j] = (unsigned)(i + end + 1);
		ties += t * t * t - t;
		i = end;
	}
	return ties;
}

/* n over k, as a double. */
static double choices(size_t n, size_t k)
{
	double ways = 1.0;

	for (size_t i = 1; i <= k; i++)
		ways = ways * (double)(n - k + i) / (double)i;
	return ways;
}

/*
 * Two-sided p from the ways to get less than what was observed, exactly that,
 * and all of them: twice the smaller tail, both with what was observed.
 */
static double two_sided(double less, double equal, double all)
{
	return fmin(1.0, 2.0 * fmin(less + equal, all - less) / all);
}

/* Two-sided p of U, which is a whole number without ties. */
static int untied_p(size_t n_a, size_t n_b, size_t u, double *p)
{
	double *counts = sv_rank_counts(n_a, n_b), less = 0.0;
	/* Symmetric: the lower tail is the more exact one. */
	size_t low = u < n_a * n_b - u ? u : n_a * n_b - u;

	if (counts == NULL)
		return SV_ERESOURCE;
	for (size_t i = 0; i < low; i++)
		less += counts[i];
	*p = two_sided(less, counts[low], choices(n_a + n_b, n_a));
	free(counts);
	return 0;
}

/* Two-sided p of a sum of doubled mid-ranks; from below when it is low. */
static int tied_p(
    unsigned *doubled, size_t n, size_t n_a, size_t observed, double *p)
{
	double less = 0.0, *counts;
	size_t mean = n_a * (n + 1);

	if (observed > mean) {
		/* Ranks from the other end: the same draw, a low sum. */
		for (size_t i = 0; i < n; i++)
			doubled[i] = (unsigned)(2 * (n + 1)) - doubled[i];
		observed = 2 * mean - observed;
	}
	counts = sv_rank_sum_counts(doubled, n, n_a, observed);
	if (counts == NULL)
		return SV_ERESOURCE;
	for (size_t s = 0; s < observed; s++)
		less += counts[s];
	*p = two_sided(less, counts[observed], choices(n, n_a));
	free(counts);
	return 0;
}

static double normal_p(double n_a, double n_b, double rank_sum, double ties)
{
	double n = n_a + n_b;
	double u = rank_sum - n_a * (n_a + 1.0) / 2.0;
	double variance = n_a * n_b / 12.0 * (n + 1.0 - ties / (n * (n - 1.0)));
	double distance = fabs(u - n_a * n_b / 2.0) - 0.5;

	if (variance <= 0.0)
		return 1.0;
	return fmin(1.0, erfc(distance / sqrt(variance) / sqrt(2.0)));
}

int sv_stats_mann_whitney(const double *a, size_t n_a, const double *b,
    size_t n_b, double *p, struct sv_err *err)
{
	size_t n = n_a + n_b, observed = 0;
	struct ranked *all = NULL;
	unsigned *doubled = NULL;
	double ties;
	int code = SV_ERESOURCE;

	if (n_a == 0 || n_b == 0)
		return sv_err_set(err, SV_EINPUT, "rank test: an empty set");
	all = malloc(n * sizeof *all);
	doubled = malloc(n * sizeof *doubled);
	if (all == NULL || doubled == NULL)
		goto free_ranks;
	for (size_t i = 0; i < n; i++)
		all[i] = i < n_a ? (struct ranked){a[i], true}
				 : (struct ranked){b[i - n_a], false};
	qsort(all, n, sizeof *all, by_value);
	ties = rank_values(all, n, doubled);
	for (size_t i = 0; i < n; i++)
		if (all[i].of_a)
			observed += doubled[i];
	code = 0;
	if (ties == 0.0 && n <= SV_RANK_EXACT_MAX)
		code = untied_p(n_a, n_b, (observed - n_a * (n_a + 1)) / 2, p);
	else if (ties > 0.0 && n <= SV_RANK_EXACT_MAX_TIED)
		code = tied_p(doubled, n, n_a, observed, p);
	else
		*p = normal_p(
		    (double)n_a, (double)n_b, (double)observed / 2.0, ties);

free_ranks:
	free(all);
	free(doubled);
	return code == 0 ? 0
			 : sv_err_set(err, code, "rank test: out of memory");
}

double sv_stats_mann_whitney_least_p(size_t n_a, size_t n_b)
{
	return fmin(1.0, 2.0 / choices(n_a + n_b, n_a));
}

/*
 * Mann-Whitney: do values of one set tend to be larger than those of the
 * other? Exact for the numbers of rounds that occur, ties included; a normal
 * approximation beyond.
 *
 * Source: Mann & Whitney 1947; ties by the permutation distribution of
 * mid-ranks (Streitberg & Röhmel 1986, the shift algorithm).
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

double *sv_rank_sum_counts(
    const unsigned *doubled_ranks, size_t n, size_t n_a, size_t *max_sum)
{
	size_t top = 0, width;
	double *ways, *counts;

	for (size_t i = 0; i < n; i++)
		top += doubled_ranks[i];
	width = top + 1;
	/* ways[j · width + s]: draws of j ranks with sum s. */
	ways = calloc((n_a + 1) * width, sizeof *ways);
	counts = malloc(width * sizeof *counts);
	if (ways == NULL || counts == NULL) {
		free(ways);
		free(counts);
		return NULL;
	}
	ways[0] = 1.0;
	for (size_t i = 0; i < n; i++) {
		size_t rank = doubled_ranks[i];
		size_t most = i + 1 < n_a ? i + 1 : n_a;

		for (size_t j = most; j >= 1; j--)
			for (size_t s = rank; s < width; s++)
				ways[j * width + s] +=
				    ways[(j - 1) * width + s - rank];
	}
	for (size_t s = 0; s < width; s++)
		counts[s] = ways[n_a * width + s];
	free(ways);
	*max_sum = top;
	return counts;
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

static int exact_p(const unsigned *doubled, size_t n, size_t n_a,
    size_t observed, double *p, struct sv_err *err)
{
	size_t top;
	double *counts = sv_rank_sum_counts(doubled, n, n_a, &top);
	double total = 0.0, below = 0.0, above = 0.0;

	if (counts == NULL)
		return sv_err_set(
		    err, SV_ERESOURCE, "rank test: out of memory");
	for (size_t s = 0; s <= top; s++) {
		total += counts[s];
		if (s <= observed)
			below += counts[s];
		if (s >= observed)
			above += counts[s];
	}
	free(counts);
	*p = fmin(1.0, 2.0 * fmin(below, above) / total);
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
	if (all == NULL || doubled == NULL) {
		sv_err_set(err, code, "rank test: out of memory");
		goto free_ranks;
	}
	for (size_t i = 0; i < n; i++)
		all[i] = i < n_a ? (struct ranked){a[i], true}
				 : (struct ranked){b[i - n_a], false};
	qsort(all, n, sizeof *all, by_value);
	ties = rank_values(all, n, doubled);
	for (size_t i = 0; i < n; i++)
		if (all[i].of_a)
			observed += doubled[i];
	if (n <= SV_RANK_EXACT_MAX) {
		code = exact_p(doubled, n, n_a, observed, p, err);
	} else {
		*p = normal_p(
		    (double)n_a, (double)n_b, (double)observed / 2.0, ties);
		code = 0;
	}

free_ranks:
	free(all);
	free(doubled);
	return code;
}

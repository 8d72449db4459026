/*
 * Counting out the null distribution of the Mann-Whitney statistic.
 *
 * Source: Mann & Whitney 1947; the generating function of U is a Gaussian
 * binomial coefficient (e.g. Andrews, The Theory of Partitions, chapter 3);
 * with ties, the shift algorithm of Streitberg & Röhmel 1986.
 */
#include "rank_test.h"

#include <stdlib.h>

/*
 * From the counts of a set of k − 1 against m to those of k against m:
 * multiply by 1 − x^(m+k), divide by 1 − x^k. Only up to the middle, where
 * everything adds up to more and rounding stays harmless; the other half is
 * its mirror.
 */
static void extend(const double *from, size_t k, size_t m, double *to)
{
	size_t degree = k * m, known = (k - 1) * m;

	for (size_t u = 0; u <= degree / 2; u++) {
		double ways = u <= known ? from[u] : 0.0;

		if (u >= m + k && u - (m + k) <= known)
			ways -= from[u - (m + k)];
		if (u >= k)
			ways += to[u - k];
		to[u] = ways;
	}
	for (size_t u = degree / 2 + 1; u <= degree; u++)
		to[u] = to[degree - u];
}

double *sv_rank_counts(size_t n_a, size_t n_b)
{
	size_t k_max = n_a < n_b ? n_a : n_b, m = n_a < n_b ? n_b : n_a;
	double *from = calloc(n_a * n_b + 1, sizeof *from);
	double *to = calloc(n_a * n_b + 1, sizeof *to), *swapped;

	if (from == NULL || to == NULL) {
		free(from);
		free(to);
		return NULL;
	}
	from[0] = 1.0;
	for (size_t k = 1; k <= k_max; k++) {
		extend(from, k, m, to);
		swapped = from;
		from = to;
		to = swapped;
	}
	free(to);
	return from;
}

double *sv_rank_sum_counts(
    const unsigned *doubled_ranks, size_t n, size_t n_a, size_t most)
{
	size_t width = most + 1, reached = 0;
	/* ways[j · width + s]: draws of j ranks with sum s. */
	double *ways = calloc((n_a + 1) * width, sizeof *ways);
	double *counts = malloc(width * sizeof *counts);

	if (ways == NULL || counts == NULL) {
		free(ways);
		free(counts);
		return NULL;
	}
	ways[0] = 1.0;
	for (size_t i = 0; i < n; i++) {
		size_t rank = doubled_ranks[i];
		size_t draws = i + 1 < n_a ? i + 1 : n_a;

		reached += rank;
		size_t end = reached < most ? reached : most;

		for (size_t j = draws; j >= 1; j--)
			for (size_t s = rank; s <= end; s++)
				ways[j * width + s] +=
				    ways[(j - 1) * width + s - rank];
	}
	for (size_t s = 0; s < width; s++)
		counts[s] = ways[n_a * width + s];
	free(ways);
	return counts;
}

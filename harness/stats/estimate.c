/*
 * What one set of rounds says: point, interval, spread. Intervals are
 * distribution-free, from order statistics; the rounds are the unit, since
 * samples of one process resemble each other more than the next process.
 */
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stave/order.h"

/* Largest block, and how alike neighbouring block medians may be. */
#define MAX_BLOCK 64
#define MAX_LAG1  0.3

/* A sorted copy; NULL when out of memory. */
static double *sorted_copy(const double *values, size_t n)
{
	double *copy = malloc((n > 0 ? n : 1) * sizeof *copy);

	if (copy == NULL)
		return NULL;
	if (n > 0)
		memcpy(copy, values, n * sizeof *copy);
	sv_order_sort(copy, n);
	return copy;
}

int sv_stats_median(
    const double *values, size_t n, double *out, struct sv_err *err)
{
	double *sorted = sorted_copy(values, n);

	if (sorted == NULL)
		return sv_err_set(
		    err, SV_ERESOURCE, "median of %zu: out of memory", n);
	*out = sv_order_median(sorted, n);
	free(sorted);
	return 0;
}

/* All samples of all rounds, sorted; the rounds where no sample was kept. */
static double *pooled(const struct sv_rounds *rounds, size_t *n)
{
	size_t total = 0;
	double *all;

	for (size_t i = 0; rounds->samples != NULL && i < rounds->n; i++)
		total += rounds->n_samples[i];
	if (total == 0) {
		*n = rounds->n;
		return sorted_copy(rounds->medians, rounds->n);
	}
	all = malloc(total * sizeof *all);
	if (all == NULL)
		return NULL;
	total = 0;
	for (size_t i = 0; i < rounds->n; i++) {
		if (rounds->n_samples[i] == 0)
			continue;
		memcpy(all + total, rounds->samples[i],
		    rounds->n_samples[i] * sizeof *all);
		total += rounds->n_samples[i];
	}
	sv_order_sort(all, total);
	*n = total;
	return all;
}

/* Median absolute deviation; sorted is overwritten with the deviations. */
static double deviation(double *sorted, size_t n, double median)
{
	for (size_t i = 0; i < n; i++)
		sorted[i] = fabs(sorted[i] - median);
	sv_order_sort(sorted, n);
	return sv_order_median(sorted, n);
}

static void describe_samples(
    const double *sorted, size_t n, struct sv_estimate *out)
{
	double q1 = sv_order_quantile(sorted, n, 0.25);
	double q3 = sv_order_quantile(sorted, n, 0.75);
	double fence = 3.0 * (q3 - q1);

	out->min = sorted[0];
	out->max = sorted[n - 1];
	out->p05 = sv_order_quantile(sorted, n, 0.05);
	out->p95 = sv_order_quantile(sorted, n, 0.95);
	out->p99 = sv_order_quantile(sorted, n, 0.99);
	for (size_t i = 0; i < n; i++)
		if (sorted[i] < q1 - fence || sorted[i] > q3 + fence)
			out->outliers++;
}

int sv_stats_estimate(
    const struct sv_rounds *rounds, struct sv_estimate *out, struct sv_err *err)
{
	struct sv_estimate estimate = {.n = rounds->n};
	double *medians = NULL, *samples = NULL;
	size_t n_samples = 0, rank;
	int code = SV_ERESOURCE;

	if (rounds->n == 0)
		return sv_err_set(err, SV_EINPUT, "estimate: no round");
	medians = sorted_copy(rounds->medians, rounds->n);
	samples = pooled(rounds, &n_samples);
	if (medians == NULL || samples == NULL) {
		sv_err_set(err, code, "estimate: out of memory");
		goto free_copies;
	}
	estimate.median = sv_order_median(medians, rounds->n);
	rank = sv_order_interval_rank(rounds->n);
	if (rank > 0) {
		estimate.has_interval = true;
		estimate.ci_lo = medians[rank - 1];
		estimate.ci_hi = medians[rounds->n - rank];
	}
	estimate.mad = deviation(medians, rounds->n, estimate.median);
	describe_samples(samples, n_samples, &estimate);
	*out = estimate;
	code = 0;

free_copies:
	free(medians);
	free(samples);
	return code;
}

/* Medians of consecutive whole blocks, into out; scratch holds one block. */
static size_t block_medians(
    const double *values, size_t n, size_t block, double *scratch, double *out)
{
	size_t blocks = n / block;

	for (size_t i = 0; i < blocks; i++) {
		memcpy(scratch, values + i * block, block * sizeof *scratch);
		sv_order_sort(scratch, block);
		out[i] = sv_order_median(scratch, block);
	}
	return blocks;
}

int sv_stats_block_interval(const double *values, size_t n, size_t block,
    struct sv_block_interval *out, struct sv_err *err)
{
	double *medians, *scratch;
	struct sv_block_interval found = {.block = block};
	size_t rank;

	if (block == 0 || n < block)
		return sv_err_set(err, SV_EINPUT,
		    "block interval: %zu samples make no block of %zu", n,
		    block);
	medians = malloc(n * sizeof *medians);
	scratch = malloc(n * sizeof *scratch);
	if (medians == NULL || scratch == NULL) {
		free(medians);
		free(scratch);
		return sv_err_set(
		    err, SV_ERESOURCE, "block interval: out of memory");
	}
	for (;;) {
		found.blocks =
		    block_medians(values, n, found.block, scratch, medians);
		found.lag1 = sv_order_lag1(medians, found.blocks);
		if (fabs(found.lag1) <= MAX_LAG1 ||
		    found.block * 2 > MAX_BLOCK || found.block * 2 > n)
			break;
		found.block *= 2;
	}
	sv_order_sort(medians, found.blocks);
	found.median = sv_order_median(medians, found.blocks);
	rank = sv_order_interval_rank(found.blocks);
	if (rank > 0) {
		found.has_interval = true;
		found.lo = medians[rank - 1];
		found.hi = medians[found.blocks - rank];
	}
	free(medians);
	free(scratch);
	*out = found;
	return 0;
}

/*
 * Corrections for many tests at once: Holm where one false alarm is one too
 * many, Benjamini-Hochberg where a known share of them is acceptable.
 *
 * Source: Holm 1979; Benjamini & Hochberg 1995.
 */
#include "stats.h"

#include <math.h>
#include <stdlib.h>

struct indexed {
	double p;
	size_t index;
};

static int by_p(const void *left, const void *right)
{
	const struct indexed *a = left, *b = right;

	if (a->p != b->p)
		return a->p < b->p ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

static struct indexed *order(const double *p, size_t n)
{
	struct indexed *sorted = malloc((n > 0 ? n : 1) * sizeof *sorted);

	if (sorted == NULL)
		return NULL;
	for (size_t i = 0; i < n; i++)
		sorted[i] = (struct indexed){p[i], i};
	qsort(sorted, n, sizeof *sorted, by_p);
	return sorted;
}

int sv_stats_holm(double *p, size_t n, struct sv_err *err)
{
	struct indexed *sorted = order(p, n);
	double most = 0.0;

	if (sorted == NULL)
		return sv_err_set(err, SV_ERESOURCE, "Holm: out of memory");
	for (size_t i = 0; i < n; i++) {
		most = fmax(most, fmin(1.0, (double)(n - i) * sorted[i].p));
		p[sorted[i].index] = most;
	}
	free(sorted);
	return 0;
}

int sv_stats_benjamini_hochberg(double *p, size_t n, struct sv_err *err)
{
	struct indexed *sorted = order(p, n);
	double least = 1.0;

	if (sorted == NULL)
		return sv_err_set(
		    err, SV_ERESOURCE, "Benjamini-Hochberg: out of memory");
	for (size_t i = n; i-- > 0;) {
		least = fmin(least, (double)n / (double)(i + 1) * sorted[i].p);
		p[sorted[i].index] = least;
	}
	free(sorted);
	return 0;
}

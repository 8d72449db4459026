/*
 * Mann-Kendall: do values rise or fall with time? Exact without ties for the
 * numbers of rounds that occur, since a normal approximation says nothing
 * useful about six.
 *
 * Source: Mann 1945, Kendall 1975.
 */
#include "stats.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define EXACT_MAX 50

/*
 * Two-sided p of S without ties: orders of n values with each number of
 * inversions, as shares of all orders.
 */
static double exact_p(size_t n, double s)
{
	double share[EXACT_MAX * (EXACT_MAX - 1) / 2 + 1] = {1.0};
	size_t most = 0;
	double pairs = (double)n * (double)(n - 1) / 2.0;
	/* S = pairs − 2 · inversions; the tail where |S| is at least this. */
	size_t inversions = (size_t)((pairs - fabs(s)) / 2.0);
	double tail = 0.0;

	for (size_t m = 2; m <= n; m++) {
		size_t next = most + m - 1;

		/* Placing the m-th value adds 0 … m − 1 inversions. */
		for (size_t k = next + 1; k-- > 0;) {
			double sum = 0.0;

			for (size_t d = 0; d < m && d <= k; d++)
				if (k - d <= most)
					sum += share[k - d];
			share[k] = sum / (double)m;
		}
		most = next;
	}
	for (size_t k = 0; k <= inversions && k <= most; k++)
		tail += share[k];
	return fmin(1.0, 2.0 * tail);
}

int sv_stats_trend(
    const double *values, size_t n, struct sv_trend *out, struct sv_err *err)
{
	double s = 0.0, variance;
	bool tied = false;

	if (n < 3)
		return sv_err_set(
		    err, SV_EINPUT, "trend: expected 3 values, found %zu", n);
	variance = (double)n * (double)(n - 1) * (double)(2 * n + 5);
	for (size_t i = 0; i < n; i++) {
		double before = 0.0, alike = 1.0;

		for (size_t j = 0; j < n; j++) {
			if (j > i)
				s += (values[j] > values[i]) -
				     (values[j] < values[i]);
			if (j != i && values[j] == values[i]) {
				alike += 1.0;
				if (j < i)
					before += 1.0;
			}
		}
		/* Each group of equal values counts once, at its first. */
		if (alike > 1.0 && before == 0.0) {
			tied = true;
			variance -= alike * (alike - 1.0) * (2.0 * alike + 5.0);
		}
	}
	variance /= 18.0;
	out->s = s;
	if (!tied && n <= EXACT_MAX)
		out->p = exact_p(n, s);
	else if (variance <= 0.0 || s == 0.0)
		out->p = 1.0;
	else
		out->p = erfc((fabs(s) - 1.0) / sqrt(variance) / sqrt(2.0));
	return 0;
}

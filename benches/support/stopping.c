/* The stopping rule; see the header for where it comes from. */
#include "stopping.h"

#include <math.h>
#include <string.h>

#include "stave/order.h"

/* How alike neighbouring block medians may be before blocks are doubled. */
#define MAX_LAG1   0.3
/* Less gain than this when the samples double means that it is noise. */
#define LEAST_GAIN 0.10
#define WARM_AGREE 0.01

/* Block medians into the front of scratch; values[] are not moved. */
static size_t block_medians(
    const double *values, size_t n, size_t block, double *scratch)
{
	double one[SV_STOP_MAX_BLOCK];
	size_t blocks = n / block;

	for (size_t i = 0; i < blocks; i++) {
		memcpy(one, values + i * block, block * sizeof *one);
		sv_order_sort(one, block);
		scratch[i] = sv_order_median(one, block);
	}
	return blocks;
}

/* Relative half-width of the interval, infinite while there is none. */
static double half_width(const double *values, size_t n, double *scratch)
{
	size_t block = SV_STOP_BLOCK, blocks, rank;

	for (;;) {
		blocks = block_medians(values, n, block, scratch);
		if (fabs(sv_order_lag1(scratch, blocks)) <= MAX_LAG1 ||
		    2 * block > SV_STOP_MAX_BLOCK)
			break;
		block *= 2;
	}
	if (blocks < SV_STOP_MIN_BLOCKS)
		return INFINITY;
	sv_order_sort(scratch, blocks);
	rank = sv_order_interval_rank(blocks);
	return 0.5 * (scratch[blocks - rank] - scratch[rank - 1]) /
	       fabs(sv_order_median(scratch, blocks));
}

enum sv_stop sv_stopping_judge(struct sv_stopping *stopping,
    const double *values, size_t n, double *scratch)
{
	double width;

	if (n < SV_STOP_BLOCK * SV_STOP_MIN_BLOCKS || n % SV_STOP_BLOCK != 0)
		return SV_GO_ON;
	width = half_width(values, n, scratch);
	if (width <= stopping->target)
		return SV_STOP_SETTLED;
	if (!isfinite(width))
		return SV_GO_ON;
	if (stopping->checked_samples == 0) {
		stopping->checked_samples = n;
		stopping->checked_width = width;
	} else if (n >= 2 * stopping->checked_samples) {
		bool shrank =
		    width < (1.0 - LEAST_GAIN) * stopping->checked_width;

		stopping->checked_samples = n;
		stopping->checked_width = width;
		if (!shrank)
			return SV_STOP_NOISY;
	}
	return SV_GO_ON;
}

bool sv_stopping_warm(const double *values, size_t n, double *scratch)
{
	size_t blocks = block_medians(values, n, SV_STOP_BLOCK, scratch);

	if (blocks < 3)
		return false;
	double lo = scratch[blocks - 1], hi = lo;

	for (size_t i = blocks - 3; i < blocks; i++) {
		lo = fmin(lo, scratch[i]);
		hi = fmax(hi, scratch[i]);
	}
	return hi - lo <= WARM_AGREE * fabs(hi);
}

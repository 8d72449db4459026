/*
 * What is odd about a measurement. Flags are shown, and nothing is deleted
 * because of one.
 */
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stave/order.h"

/* Fewer values than this cannot show two modes. */
#define MODES_MIN_VALUES 20
#define MINOR_MODE_LEAST 0.10
/*
 * Splitting any single hump in two gives two "modes" with an Ashman D above
 * 2 (2.65 for a normal one); what tells two humps is the valley: the middle
 * half between the means holds 31 % of a normal hump, 25 % of a flat one.
 */
#define ASHMAN_LEAST	 2.0
#define VALLEY_MOST	 0.15
#define DRIFT_P		 0.01
#define JUMP_DEVIATIONS	 10.0
/* Scale of the MAD to a standard deviation for normal noise. */
#define MAD_TO_SIGMA	 1.4826

struct split {
	double mean[2], variance[2];
	size_t n[2];
};

/* The two-cluster split of sorted values with the least spread within. */
static struct split best_split(const double *sorted, size_t n)
{
	struct split best = {0};
	double sum = 0.0, square = 0.0, left = 0.0, left_square = 0.0;
	double least = INFINITY;
	double origin = sorted[n / 2];

	for (size_t i = 0; i < n; i++) {
		double x = sorted[i] - origin;

		sum += x;
		square += x * x;
	}
	for (size_t i = 0; i + 1 < n; i++) {
		double x = sorted[i] - origin;
		double n_left = (double)(i + 1), n_right = (double)(n - i - 1);

		left += x;
		left_square += x * x;
		double right = sum - left;
		double in_left = left_square - left * left / n_left;
		double in_right =
		    square - left_square - right * right / n_right;

		if (in_left + in_right >= least)
			continue;
		least = in_left + in_right;
		best = (struct split){
		    .mean = {origin + left / n_left, origin + right / n_right},
		    .variance = {fmax(in_left, 0.0) / n_left,
			fmax(in_right, 0.0) / n_right},
		    .n = {i + 1, n - i - 1}};
	}
	return best;
}

static void find_modes(const double *sorted_logs, size_t n, double effect,
    struct sv_stats_flags *out)
{
	struct split s = best_split(sorted_logs, n);
	double apart = s.mean[1] - s.mean[0];
	double spread = sqrt(s.variance[0] + s.variance[1]);
	double minor = (double)(s.n[0] < s.n[1] ? s.n[0] : s.n[1]) / (double)n;
	double from = s.mean[0] + apart / 4.0, to = s.mean[1] - apart / 4.0;
	size_t valley = 0;

	for (size_t i = 0; i < n; i++)
		if (sorted_logs[i] > from && sorted_logs[i] < to)
			valley++;
	if (minor < MINOR_MODE_LEAST || apart < log1p(effect) ||
	    (spread > 0.0 && sqrt(2.0) * apart / spread <= ASHMAN_LEAST) ||
	    (double)valley > VALLEY_MOST * (double)n)
		return;
	out->bimodal = true;
	out->mode_lo = exp(s.mean[0]);
	out->mode_hi = exp(s.mean[1]);
	out->minor_share = minor;
}

/* Sorted logarithms of every sample, or of the rounds; NULL: no memory. */
static double *sorted_logs(const struct sv_rounds *rounds, size_t *n)
{
	size_t total = 0, at = 0;
	double *logs;

	for (size_t i = 0; rounds->samples != NULL && i < rounds->n; i++)
		total += rounds->n_samples[i];
	logs = malloc((total > 0 ? total : rounds->n + 1) * sizeof *logs);
	if (logs == NULL)
		return NULL;
	for (size_t i = 0; i < rounds->n; i++) {
		if (total == 0) {
			logs[at++] = log(rounds->medians[i]);
			continue;
		}
		for (size_t j = 0; j < rounds->n_samples[i]; j++)
			logs[at++] = log(rounds->samples[i][j]);
	}
	sv_order_sort(logs, at);
	*n = at;
	return logs;
}

static bool all_positive(const struct sv_rounds *rounds)
{
	for (size_t i = 0; i < rounds->n; i++) {
		if (!(rounds->medians[i] > 0.0))
			return false;
		for (size_t j = 0;
		     rounds->samples != NULL && j < rounds->n_samples[i]; j++)
			if (!(rounds->samples[i][j] > 0.0))
				return false;
	}
	return true;
}

static int find_drift(const struct sv_rounds *rounds, double effect,
    struct sv_stats_flags *out, struct sv_err *err)
{
	size_t third = rounds->n / 3;
	struct sv_trend trend;
	double first, last;
	int code;

	if (rounds->n < 6)
		return 0;
	if ((code = sv_stats_trend(rounds->medians, rounds->n, &trend, err)) !=
		0 ||
	    (code = sv_stats_median(rounds->medians, third, &first, err)) !=
		0 ||
	    (code = sv_stats_median(
		 rounds->medians + rounds->n - third, third, &last, err)) != 0)
		return code;
	out->drift =
	    trend.p < DRIFT_P && fabs(last - first) > effect * fabs(first);
	return 0;
}

static void find_jump(const struct sv_rounds *rounds,
    const struct sv_estimate *estimate, double effect,
    struct sv_stats_flags *out)
{
	double far = fmax(JUMP_DEVIATIONS * MAD_TO_SIGMA * estimate->mad,
	    effect * fabs(estimate->median));

	if (!estimate->has_interval)
		return;
	for (size_t i = 0; i < rounds->n; i++)
		if (fabs(rounds->medians[i] - estimate->median) > far)
			out->jump = true;
}

int sv_stats_flag(const struct sv_rounds *rounds, double effect, double target,
    struct sv_stats_flags *out, struct sv_err *err)
{
	struct sv_stats_flags flags = {0};
	struct sv_estimate estimate;
	double *logs;
	size_t n;
	int code = sv_stats_estimate(rounds, &estimate, err);

	if (code != 0)
		return code;
	if (estimate.has_interval)
		flags.noisy = (estimate.ci_hi - estimate.ci_lo) / 2.0 >
			      target * fabs(estimate.median);
	if (all_positive(rounds)) {
		logs = sorted_logs(rounds, &n);
		if (logs == NULL)
			return sv_err_set(
			    err, SV_ERESOURCE, "flags: out of memory");
		if (n >= MODES_MIN_VALUES)
			find_modes(logs, n, effect, &flags);
		free(logs);
	}
	code = find_drift(rounds, effect, &flags, err);
	if (code != 0)
		return code;
	find_jump(rounds, &estimate, effect, &flags);
	*out = flags;
	return 0;
}

/*
 * Statistics of the method notes, section 1: pure functions on arrays. No
 * allocation survives a call; NaN never goes in (callers check).
 */
#ifndef STAVE_STATS_H
#define STAVE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stave/err.h"

/* One sample set: what the rounds of one measurement say. */
struct sv_estimate {
	size_t n;	     /* rounds */
	double median;	     /* of the round medians */
	bool has_interval;   /* n ≥ 6 */
	double ci_lo, ci_hi; /* 95 %, order statistics of the rounds */
	double mad;	     /* median absolute deviation of the rounds */
	double min, max;     /* of the raw samples, else of the rounds */
	double p05, p95, p99;
	size_t outliers; /* raw samples beyond Tukey's 3 × IQR fence */
};

/* A set of rounds; samples may be NULL, or n_rounds arrays. */
struct sv_rounds {
	const double *medians;
	size_t n;
	const double *const *samples;
	const size_t *n_samples;
};

/* Errors: SV_EINPUT when there is no round, SV_ERESOURCE. */
SV_MUST_CHECK int sv_stats_estimate(
    const struct sv_rounds *, struct sv_estimate *out, struct sv_err *err);

/* Median of n ≥ 1 values in any order. Errors: SV_ERESOURCE. */
SV_MUST_CHECK int sv_stats_median(
    const double *values, size_t n, double *out, struct sv_err *err);

/*
 * Interval for the median of a series whose neighbours may resemble each
 * other: blocks are doubled (from block up to 64) until the lag-1
 * autocorrelation of the block medians is at most 0.3 in size, then the
 * order-statistic interval is taken over block medians.
 */
struct sv_block_interval {
	size_t block;  /* samples a block */
	size_t blocks; /* whole blocks; a rest is left out */
	double lag1;   /* of the block medians, at that block size */
	double median; /* of the block medians */
	bool has_interval;
	double lo, hi;
};
SV_MUST_CHECK int sv_stats_block_interval(const double *values, size_t n,
    size_t block, struct sv_block_interval *out, struct sv_err *err);

/* Flags of one measurement; what each means is in the method notes. */
struct sv_stats_flags {
	bool noisy;   /* interval half-width over the target */
	bool bimodal; /* two modes: Ashman D > 2, minor ≥ 10 %, apart by δ */
	double mode_lo, mode_hi, minor_share; /* where bimodal */
	bool drift; /* Mann–Kendall p < .01 and thirds apart by δ */
	bool jump;  /* one round far from its neighbours */
};

/*
 * effect: δ, the smallest relative difference that matters (0.02 for
 * throughput, 0.05 for latency); target: relative half-width wanted.
 */
SV_MUST_CHECK int sv_stats_flag(const struct sv_rounds *, double effect,
    double target, struct sv_stats_flags *out, struct sv_err *err);

/* Mann–Kendall trend test: S and two-sided p (ties corrected). */
struct sv_trend {
	double s;
	double p;
};
SV_MUST_CHECK int sv_stats_trend(
    const double *values, size_t n, struct sv_trend *out, struct sv_err *err);

/*
 * Hodges–Lehmann ratio b/a of two sets of positive values: exp of the median
 * of all n_a·n_b log differences, with the interval between the k-th
 * differences from either end, k from the exact distribution of the
 * Mann–Whitney statistic (95 %). Errors: SV_EINPUT for an empty set or a
 * value that is not positive, SV_ERESOURCE.
 */
struct sv_ratio {
	double ratio;
	bool has_interval; /* false when n_a, n_b are too few for level */
	double lo, hi;
	/* Natural logarithms of the three: exactly those of a/b, negated. */
	double log_ratio, log_lo, log_hi;
};
SV_MUST_CHECK int sv_stats_ratio(const double *a, size_t n_a, const double *b,
    size_t n_b, double level, struct sv_ratio *out, struct sv_err *err);

/*
 * Two-sided Mann–Whitney p: exact (permutation distribution of the rank sum,
 * ties included by mid-ranks) up to n_a + n_b = 100 (60 with ties), beyond
 * that normal with tie and continuity correction.
 */
SV_MUST_CHECK int sv_stats_mann_whitney(const double *a, size_t n_a,
    const double *b, size_t n_b, double *p, struct sv_err *err);

/* The least p that sets of these sizes can give: they lie wholly apart. */
double sv_stats_mann_whitney_least_p(size_t n_a, size_t n_b);

/* The z that a standard normal value exceeds with this probability. */
double sv_stats_normal_quantile(double upper_tail);
/* 97.5 % quantile of Student's t; degrees ≥ 1, from 30 on that of 30. */
double sv_stats_student_quantile(size_t degrees);

/* Adjust n p-values in place (order kept). Errors: SV_ERESOURCE. */
SV_MUST_CHECK int sv_stats_holm(double *p, size_t n, struct sv_err *err);
SV_MUST_CHECK int sv_stats_benjamini_hochberg(
    double *p, size_t n, struct sv_err *err);

/*
 * The next number of a seeded sequence; *state is its only state. Source:
 * splitmix64, Steele, Lea & Flood 2014.
 */
uint64_t sv_stats_random(uint64_t *state);

#endif
